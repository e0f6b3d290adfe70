import type { Logger } from '../model/logger.ts'
import { MillraceError } from '../model/errors.ts'
import { unreachable } from '../model/assert.ts'
import {
  formatTopicPartition,
  sameTopicPartition,
  TopicPartitionMap,
  type TopicPartition,
} from '../model/topic-partition.ts'
import type { GroupEvent, GroupMember } from '../kafka/group/group-member.ts'
import type { ActiveTask } from './active-task.ts'
import { decodeAssignmentData, subscriptionData, type AssignmentData, type PartitionCounts } from './assignment.ts'
import type { AssignmentClaims } from './assignment-claims.ts'
import type { InputGrowth } from './input-growth.ts'
import type { TaskRegistry } from './task-registry.ts'

/** What a rebalance works on, all of one stream thread. */
export interface RebalancerOptions {
  readonly member: Pick<GroupMember, 'join' | 'joinOutstanding' | 'nextEvent'>
  readonly registry: TaskRegistry
  readonly claims: AssignmentClaims
  readonly logger: Logger
  readonly processId: string
  /** Random start of the join counter, so that no two lives of a member send the same subscription bytes. */
  readonly firstJoin: number
  /** Fingerprint of the plan as this process sees it. */
  readonly fingerprint: () => Promise<string>
  /** Partition counts of the source topics, which say what each task reads. */
  readonly partitionCounts: () => Promise<PartitionCounts>
  /** Tells when the group has to hand out partitions that it does not know yet. */
  readonly growth: Pick<InputGrowth, 'look'>
  /** Commits the open transaction; throws what the commit throws. */
  readonly commit: () => Promise<void>
  /** Aborts the open transaction and rewinds all tasks. */
  readonly abort: (cause: MillraceError) => Promise<void>
  readonly open: (tasks: readonly ActiveTask[]) => void
  readonly close: (task: ActiveTask) => void
  /** Gives the loop a turn. */
  readonly onWake: () => void
  /** An assignment was applied. */
  readonly onRebalance: () => void
}

/**
 * Applies what the group says, between transactions and in small steps that may each be repeated: a failing commit leaves
 * the step to the next turn of the loop. Kafka Streams: `TaskManager.handleAssignment`, `StreamsRebalanceListener`.
 */
export class Rebalancer {
  readonly #options: RebalancerOptions
  #joins: number
  #rejoinNeeded = false
  #asksForShutdown = false
  #assignment: Extract<GroupEvent, { type: 'assigned' }> | undefined
  #planCompared = false

  constructor(options: RebalancerOptions) {
    this.#options = options
    this.#joins = options.firstJoin
  }

  /** Joins with all that is owned now. */
  join(): void {
    const { member, registry, claims, processId } = this.#options
    if (member.joinOutstanding) {
      // That one claimed what was owned then.
      this.#rejoinNeeded = true
      return
    }
    const owned = registry.ownedPartitions()
    claims.claim(owned)
    this.#rejoinNeeded = false
    this.#joins += 1
    const userData = subscriptionData(processId, this.#joins, this.#asksForShutdown)
    member.join({ topics: registry.sourceTopics, owned, userData })
  }

  /** Tells every member of the group to stop, with the next join, which is due now. */
  askForShutdown(): void {
    this.#asksForShutdown = true
    this.#rejoinNeeded = true
    this.#options.onWake()
  }

  /**
   * Takes the group's events in order. @returns a loss of membership for the caller to act on
   * @throws MillraceError what the group says must stop the thread, and what a commit throws
   */
  async apply(): Promise<MillraceError | undefined> {
    if (this.#options.growth.look()) this.#rejoinNeeded = true
    for (;;) {
      if (this.#assignment !== undefined) await this.#applyAssignment(this.#assignment)
      const event = this.#options.member.nextEvent()
      if (event !== undefined) {
        const lost = this.#take(event)
        if (lost !== undefined) return lost
      } else if (!this.#rejoinNeeded || this.#options.member.joinOutstanding) {
        return undefined
      } else {
        await this.#options.commit()
        // What came meanwhile first: a join that claims what an assignment takes away keeps it from everybody for ever,
        // because the round that follows cannot hand it on and nobody is left to give it up.
        const late = this.#options.member.nextEvent()
        if (late === undefined) this.join()
        else {
          const lost = this.#take(late)
          if (lost !== undefined) return lost
        }
      }
    }
  }

  /** Everything is gone: whatever was under way no longer counts, and a join with nothing owned is due. */
  lost(): void {
    this.#assignment = undefined
    this.#rejoinNeeded = true
  }

  #take(event: GroupEvent): MillraceError | undefined {
    switch (event.type) {
      case 'rebalanceNeeded':
        this.#rejoinNeeded = true
        return undefined
      case 'joined':
        // The generation flipped already; commits go on under it with what was claimed in this join.
        return undefined
      case 'assigned':
        this.#assignment = event
        return undefined
      case 'lost':
        return event.error
      case 'replaced':
      case 'failed':
        throw event.error
      default:
        return unreachable(event)
    }
  }

  async #applyAssignment(event: Extract<GroupEvent, { type: 'assigned' }>): Promise<void> {
    const { registry, claims, logger } = this.#options
    const data = decodeAssignmentData(event.userData)
    if (data?.shutdown === true) await this.#shutDown(data)
    // A task runs with all of its inputs or not at all: a join without its table would give wrong results.
    const { whole, partial } = registry.wholeTasks(event.partitions, await this.#options.partitionCounts())
    const assigned = new TopicPartitionMap(whole.map(partition => [partition, true] as const))
    const revoked = registry.ownedPartitions().filter(partition => !assigned.has(partition))
    const closing = tasksOf(registry, [...revoked, ...whole.filter(partition => registry.lacks(partition))])
    const isOutdated = await this.#isOutdated(event, partial, data?.plan)
    // All that can fail comes before the first change, so that a step is taken as a whole or again. No transaction stays
    // open while a new task waits for offsets and restores (Kafka Streams' defect list).
    if (closing.size > 0 || whole.some(partition => registry.inputOf(partition) === undefined)) {
      // What the group took away is still ours to commit, except where a later owner exists (a lost double claim).
      const lostClaims = (data?.lost ?? []).map(([topic, partition]): TopicPartition => ({ topic, partition }))
      const lostOwned = revoked.some(partition => lostClaims.some(lost => sameTopicPartition(lost, partition)))
      await (lostOwned ? this.#options.abort(lostClaim()) : this.#options.commit())
    }
    for (const task of closing) this.#options.close(task)
    const added = whole.filter(partition => registry.inputOf(partition) === undefined)
    const tasks = registry.create(added)
    if (closing.size > 0 || added.length > 0) claims.changed(registry.ownedPartitions())
    this.#assignment = undefined
    this.#planCompared = true
    if (tasks.length > 0) this.#options.open(tasks)
    this.#options.onRebalance()
    logger.info(
      {
        generation: event.membership.generationId,
        added: added.map(formatTopicPartition),
        revoked: revoked.map(formatTopicPartition),
      },
      'assignment applied',
    )
    // Cooperative: partitions that were given up are handed out in the round this join starts.
    if (revoked.length > 0 || isOutdated) this.join()
  }

  /** The application is to stop: what is done is committed, and whoever joins once more meanwhile is told as well. */
  async #shutDown({ lost }: AssignmentData): Promise<never> {
    this.#asksForShutdown = true
    await (lost.length > 0 ? this.#options.abort(lostClaim()) : this.#options.commit())
    throw new MillraceError('SHUTDOWN_REQUESTED')
  }

  /**
   * After a static restart the broker hands out the old assignment; a plan that changed meanwhile asks for a round of its
   * own. Once only: two versions of an application in one group would otherwise rebalance each other for ever.
   */
  async #isOutdated(
    event: Extract<GroupEvent, { type: 'assigned' }>,
    partial: readonly TopicPartition[],
    plan: string | undefined,
  ): Promise<boolean> {
    const unknown = event.partitions.filter(({ topic }) => !this.#options.registry.knows(topic))
    if (partial.length > 0) {
      this.#options.logger.warn(
        { partitions: partial.map(formatTopicPartition) },
        'assigned partitions wait for the other inputs of their task: the group was assigned for another version of the application',
      )
    }
    if (unknown.length > 0) {
      this.#options.logger.warn(
        { partitions: unknown.map(formatTopicPartition) },
        'assigned partitions of topics this version does not read are left alone',
      )
    }
    if (this.#planCompared) return false
    return (
      unknown.length > 0 || partial.length > 0 || plan === undefined || plan !== (await this.#options.fingerprint())
    )
  }
}

function lostClaim(): MillraceError {
  return new MillraceError('MEMBERSHIP_LOST', { what: 'A later owner has partitions of the open transaction.' })
}

function tasksOf(registry: TaskRegistry, partitions: readonly TopicPartition[]): ReadonlySet<ActiveTask> {
  const tasks = new Set<ActiveTask>()
  for (const partition of partitions) {
    const task = registry.taskOf(partition)
    if (task !== undefined) tasks.add(task)
  }
  return tasks
}
