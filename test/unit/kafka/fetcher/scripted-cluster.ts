import type { FetchCluster, FetchConnection, FetchedTopic } from '../../../../src/kafka/fetcher/fetch-cluster.ts'
import type { FetchedPartition } from '../../../../src/kafka/fetcher/fetch-request.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import type { TopicPartition } from '../../../../src/model/topic-partition.ts'
import { settle } from '../../../support/manual-clock.ts'

/** What a partition of an answer has that differs from "nothing new". */
export interface AnswerPart {
  readonly partition: number
  readonly topic?: string
  readonly errorCode?: number
  readonly records?: Buffer
  readonly logStartOffset?: number
  readonly highWatermark?: number
}

/** A request that a test has to answer. */
export class Asked<A extends ApiName> {
  readonly nodeId: number
  readonly body: RequestBodies[A]
  readonly version: number
  open = true
  readonly #resolve: (response: ResponseBodies[A]) => void
  readonly #reject: (error: Error) => void

  constructor(
    request: { nodeId: number; body: RequestBodies[A]; version: number },
    resolve: (response: ResponseBodies[A]) => void,
    reject: (error: Error) => void,
  ) {
    this.nodeId = request.nodeId
    this.body = request.body
    this.version = request.version
    this.#resolve = resolve
    this.#reject = reject
  }

  async respond(response: ResponseBodies[A]): Promise<void> {
    this.open = false
    this.#resolve(response)
    await settle()
  }

  async fail(error: Error): Promise<void> {
    this.open = false
    this.#reject(error)
    await settle()
  }
}

const TOPIC_IDS = new Map<string, Buffer>()

/** The id a topic has in these tests, until it is recreated. */
export function topicIdOf(topic: string, incarnation = 0): Buffer {
  const key = `${topic}/${String(incarnation)}`
  const id = TOPIC_IDS.get(key) ?? Buffer.alloc(16, TOPIC_IDS.size + 1)
  TOPIC_IDS.set(key, id)
  return id
}

/** A cluster whose every answer a test gives by hand, in simulated time. */
export class ScriptedCluster implements FetchCluster {
  /** Leaders and epochs by topic and partition; a topic that is absent does not exist. */
  readonly topics = new Map<string, { topicId: Buffer; leaders: { nodeId: number; epoch: number }[] }>()
  /** Fetches in the order they were sent. */
  readonly polls: Asked<'Fetch'>[] = []
  readonly validations: Asked<'OffsetForLeaderEpoch'>[] = []
  refreshes = 0
  fetchVersion = 17
  /** Errors of the next attempts to connect. */
  readonly refusals: Error[] = []
  destroyed = 0

  create(topic: string, leaders: readonly number[], incarnation = 0): void {
    this.topics.set(topic, {
      topicId: topicIdOf(topic, incarnation),
      leaders: leaders.map(nodeId => ({ nodeId, epoch: 0 })),
    })
  }

  lead(topic: string, partition: number, nodeId: number, epoch: number): void {
    const leaders = this.topics.get(topic)?.leaders
    if (leaders !== undefined) leaders[partition] = { nodeId, epoch }
  }

  /** The fetches that wait for an answer. */
  get openPolls(): Asked<'Fetch'>[] {
    return this.polls.filter(({ open }) => open)
  }

  /** The only fetch that waits for an answer. */
  get poll(): Asked<'Fetch'> {
    const [poll, ...others] = this.openPolls
    if (poll === undefined || others.length > 0) throw new Error(`${String(this.openPolls.length)} polls are open`)
    return poll
  }

  topic(name: string): Promise<FetchedTopic | undefined> {
    const topic = this.topics.get(name)
    return Promise.resolve(
      topic && {
        topicId: topic.topicId,
        partitions: topic.leaders.map(({ nodeId, epoch }, partition) => ({
          partition,
          leader: nodeId,
          leaderEpoch: epoch,
        })),
      },
    )
  }

  leaderOf({ topic, partition }: TopicPartition): { nodeId: number; leaderEpoch: number } | undefined {
    const leader = this.topics.get(topic)?.leaders[partition]
    return leader === undefined || leader.nodeId < 0 ? undefined : { nodeId: leader.nodeId, leaderEpoch: leader.epoch }
  }

  refresh(): Promise<void> {
    this.refreshes += 1
    return Promise.resolve()
  }

  connection(nodeId: number): Promise<FetchConnection> {
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return Promise.reject(refusal)
    const best = (api: ApiName): number => (api === 'Fetch' ? this.fetchVersion : 4)
    const send: FetchConnection['send'] = (api, body, options) =>
      new Promise((resolve, reject) => {
        const asked = new Asked({ nodeId, body, version: options?.version ?? -1 }, resolve, reject)
        const list: unknown[] = api === 'Fetch' ? this.polls : this.validations
        list.push(asked)
      })
    return Promise.resolve({
      closed: false,
      apiVersions: { best },
      send,
      destroy: error => {
        this.destroyed += 1
        for (const poll of this.openPolls) if (poll.nodeId === nodeId) void poll.fail(error)
      },
    })
  }
}

/** Answers a fetch for every partition asked for: with the parts given, else with nothing new. */
export function fetchAnswer(
  poll: Asked<'Fetch'>,
  parts: readonly AnswerPart[],
  extra: { readonly throttleTimeMs?: number } = {},
): ResponseBodies['Fetch'] {
  return {
    throttleTimeMs: extra.throttleTimeMs ?? 0,
    errorCode: 0,
    sessionId: 0,
    nodeEndpoints: [],
    responses: poll.body.topics.map(({ topic = '', topicId = Buffer.alloc(16), partitions }) => ({
      topic: poll.version >= 13 ? '' : topic,
      topicId,
      // In another order than asked, as brokers do.
      partitions: partitions.map(({ partition }) => partOf(partition, topic, parts)).toReversed(),
    })),
  }
}

function partOf(partition: number, topic: string, parts: readonly AnswerPart[]): FetchedPartition {
  const part = parts.find(one => one.partition === partition && (one.topic ?? topic) === topic)
  return {
    partitionIndex: partition,
    errorCode: part?.errorCode ?? 0,
    highWatermark: part?.highWatermark ?? 1_000,
    lastStableOffset: part?.highWatermark ?? 1_000,
    logStartOffset: part?.logStartOffset ?? 0,
    divergingEpoch: { epoch: -1, endOffset: -1 },
    currentLeader: { leaderId: -1, leaderEpoch: -1 },
    snapshotId: { endOffset: -1, epoch: -1 },
    abortedTransactions: null,
    preferredReadReplica: -1,
    records: part?.records ?? Buffer.alloc(0),
  }
}
