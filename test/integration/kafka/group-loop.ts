import { systemClock } from '../../../src/engine/system-clock.ts'
import { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import type { SecurityOptions } from '../../../src/kafka/connection/security-options.ts'
import {
  GroupMember,
  type AssignmentRound,
  type GroupAssignment,
  type GroupEvent,
  type GroupMemberOptions,
} from '../../../src/kafka/group/group-member.ts'
import { assignSticky, type AssignableUnit } from '../../../src/kafka/group/sticky-assignor.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { sameTopicPartition, type TopicPartition } from '../../../src/model/topic-partition.ts'
import { eventually } from '../../support/condition.ts'

const TURN_MS = 20
/** Well below the rebalance timeout of 60 s that some of the tests are about. */
const PATIENCE_MS = 30_000

/** How a loop of a test differs from the usual one. */
export interface LoopOptions extends Partial<GroupMemberOptions> {
  readonly bootstrapServers: string
  readonly groupId: string
  readonly topic: string
  readonly partitions?: number
  readonly security?: SecurityOptions
}

/** What a stream thread does with its member, and nothing else: takes events, gives up, rejoins. */
export class GroupLoop {
  readonly cluster: Cluster
  readonly member: GroupMember
  /** Every event, in order. */
  readonly events: GroupEvent[] = []
  /** What the member may process now. */
  owned: readonly TopicPartition[] = []
  /** What `owned` was after each change. */
  readonly history: (readonly TopicPartition[])[] = []
  /** Off: events stay where they are, and nobody polls. */
  running = true
  /** Off: a rebalance is noted, and the test decides when to join. */
  rejoins = true
  /** Called at each change of `owned`. */
  onOwned: () => void = () => {}
  /** Waited for by the leader before it assigns. */
  beforeAssign: () => Promise<void> = () => Promise.resolve()
  readonly groupId: string
  readonly #options: LoopOptions
  readonly #turns: NodeJS.Timeout
  #joins = 0

  private constructor(cluster: Cluster, options: LoopOptions) {
    this.cluster = cluster
    this.#options = options
    this.groupId = options.groupId
    this.member = new GroupMember({
      cluster,
      clock: systemClock,
      logger: SILENT_LOGGER,
      random: () => 0.5,
      groupInstanceId: null,
      sessionTimeoutMs: 6_000,
      rebalanceTimeoutMs: 10_000,
      heartbeatIntervalMs: 100,
      firstHeartbeatMs: 100,
      maxPollIntervalMs: 60_000,
      protocolName: 'millrace-test',
      assign: async round => {
        await this.beforeAssign()
        return assignTopic(round, options.topic, options.partitions ?? 4)
      },
      onWake: () => {
        setImmediate(() => this.turn())
      },
      ...options,
    })
    this.#turns = setInterval(() => this.turn(), TURN_MS)
  }

  static async start(options: LoopOptions): Promise<GroupLoop> {
    const loop = await GroupLoop.open(options)
    loop.join()
    return loop
  }

  /** As `start`, without joining. */
  static async open(options: LoopOptions): Promise<GroupLoop> {
    const [first = ''] = options.bootstrapServers.split(',')
    const cluster = new Cluster({
      bootstrapServers: [
        { host: first.slice(0, first.lastIndexOf(':')), port: Number(first.slice(first.lastIndexOf(':') + 1)) },
      ],
      clientId: 'group-test',
      security: options.security ?? { protocol: 'PLAINTEXT' },
      clock: systemClock,
      requestTimeoutMs: 5_000,
      logger: SILENT_LOGGER,
    })
    await cluster.connect(30_000)
    return new GroupLoop(cluster, options)
  }

  /** Joins with what is owned, with bytes of its own each time. */
  join(): void {
    this.#joins += 1
    const userData = Buffer.from(`join ${String(this.#joins)} of ${String(process.hrtime.bigint())}`)
    this.member.join({ topics: [this.#options.topic], owned: this.owned, userData })
  }

  /** One turn of the loop. */
  turn(): void {
    if (!this.running) return
    this.member.polled()
    for (let event = this.member.nextEvent(); event !== undefined; event = this.member.nextEvent()) {
      this.events.push(event)
      this.#apply(event)
    }
  }

  #apply(event: GroupEvent): void {
    switch (event.type) {
      case 'rebalanceNeeded':
        if (this.rejoins) this.join()
        return
      case 'assigned': {
        const kept = this.owned.filter(own => event.partitions.some(other => sameTopicPartition(own, other)))
        const gaveUp = kept.length < this.owned.length
        this.#own(event.partitions)
        if (gaveUp && this.rejoins) this.join()
        return
      }
      case 'lost':
        this.#own([])
        if (this.rejoins) this.join()
        return
      case 'replaced':
      case 'failed':
        this.#own([])
        return
      case 'joined':
    }
  }

  #own(partitions: readonly TopicPartition[]): void {
    this.owned = partitions
    this.history.push(partitions)
    this.onOwned()
  }

  /** The kinds of the events so far. */
  get told(): readonly GroupEvent['type'][] {
    return this.events.map(event => event.type)
  }

  /** Waits until the member is assigned so many partitions and nothing is under way. */
  async owns(count: number, timeoutMs = PATIENCE_MS): Promise<void> {
    await eventually(
      `member owns ${String(count)} partitions`,
      () => this.member.state === 'stable' && this.owned.length === count,
      timeoutMs,
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)}; state ${this.member.state}, owns ${String(this.owned.length)}, told ${this.told.join(' ')}`,
      )
    })
  }

  /** Waits for an event of a kind, from `since` on. */
  async hears<T extends GroupEvent['type']>(
    type: T,
    since = 0,
    timeoutMs = PATIENCE_MS,
  ): Promise<GroupEvent & { type: T }> {
    const heard = (): GroupEvent | undefined => this.events.slice(since).find(event => event.type === type)
    await eventually(`member hears ${type}`, () => heard() !== undefined, timeoutMs).catch((error: unknown) => {
      throw new Error(`${String(error)}; state ${this.member.state}, told ${this.told.join(' ')}`)
    })
    return heard() as GroupEvent & { type: T }
  }

  async createTopic(name: string, numPartitions = 4): Promise<void> {
    const connection = await this.cluster.anyConnection('control')
    const answer = await connection.send('CreateTopics', {
      topics: [{ name, numPartitions, replicationFactor: 1, assignments: [], configs: [] }],
      timeoutMs: 10_000,
    })
    const codes = answer.topics.map(topic => topic.errorCode)
    if (codes[0] !== 0) throw new Error(`CreateTopics was answered with ${String(codes)}`)
    await eventually('the topic has leaders', async () => {
      await this.cluster.refresh([name])
      return (await this.cluster.topic(name))?.partitions.every(({ leader }) => leader >= 0) === true
    })
  }

  /** Dies without a word, as by SIGKILL. */
  async kill(): Promise<void> {
    clearInterval(this.#turns)
    this.running = false
    this.member.close()
    await this.cluster.close()
  }

  async leave(): Promise<void> {
    clearInterval(this.#turns)
    this.running = false
    await this.member.leave(5_000)
    await this.cluster.close()
  }
}

/** One unit per partition of one topic. */
function assignTopic(round: AssignmentRound, topic: string, count: number): ReadonlyMap<string, GroupAssignment> {
  const units: readonly AssignableUnit[] = Array.from({ length: count }, (_, partition) => ({
    id: `0_${String(partition)}`,
    group: 0,
    partitions: [{ topic, partition }],
  }))
  const members = round.members.map(({ memberId, groupInstanceId, subscription }) => ({
    memberId,
    groupInstanceId,
    owned: subscription.ownedPartitions,
    generationId: subscription.generationId,
    capacity: 1,
  }))
  const userData = Buffer.from(`generation ${String(round.generationId)}`)
  return new Map(
    [...assignSticky({ members, units })].map(([memberId, own]) => [
      memberId,
      { partitions: own.flatMap(unit => unit.partitions), userData },
    ]),
  )
}
