import { assert } from '../../model/assert.ts'
import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import { formatTopicPartition, type TopicPartition, TopicPartitionMap } from '../../model/topic-partition.ts'
import type { FetchCluster } from './fetch-cluster.ts'
import type { FetchHost } from './fetch-host.ts'
import { type FetchedBlock, FetchPartition, type Watermarks } from './fetch-partition.ts'
import type { FetchLimits } from './fetch-request.ts'
import { type FetchPace, NodeFetcher } from './node-fetcher.ts'
import { PartitionLocator } from './partition-locator.ts'

export type { FetchedBlock, Watermarks } from './fetch-partition.ts'

/** What a fetcher needs, and how much it asks for. */
export interface FetcherOptions {
  readonly cluster: FetchCluster
  readonly clock: Clock
  readonly logger: Logger
  readonly isolation: 'read_committed' | 'read_uncommitted'
  /** Longest time a broker may hold a fetch that finds nothing. Kafka: `fetch.max.wait.ms`, 500. */
  readonly maxWaitMs: number
  /** Kafka: `fetch.min.bytes`, 1. */
  readonly minBytes: number
  /** Kafka: `fetch.max.bytes`, 52,428,800. */
  readonly maxBytes: number
  /** Kafka: `max.partition.fetch.bytes`, 1,048,576. */
  readonly partitionMaxBytes: number
  /** Called synchronously when a block or a failure becomes available. */
  readonly onWake: () => void
  /**
   * How long a topic may be unknown to brokers, or answer with an unforeseen error, before that is a failure: brokers
   * learn of new topics one after the other.
   *
   * @default 10,000 ms
   */
  readonly troubleMaxMs?: number
}

/** Where reading starts. */
export interface FetchPosition {
  readonly offset: number
  /** Leader epoch committed with the offset; −1 when unknown. */
  readonly leaderEpoch: number
}

/** First wait of a long poll after something happened (see `FetchPace`). */
const WAIT_MIN_MS = 16
const TROUBLE_MAX_MS = 10_000
/** Each so many vain attempts are told to the operator. */
const WARN_EVERY_ATTEMPTS = 10

/**
 * Prefetches the records of partitions from their leaders: per broker one long poll at a time, at most two blocks per
 * partition held, the next poll sent before a block is processed. Partitions fail one by one and never stop the others.
 * One per `Cluster`: two would share a connection per broker and wait behind each other's parked polls. A partition
 * that joins waits for the end of the poll that is out, which is short while anything happens. Kafka: `Fetcher`.
 */
export class Fetcher {
  readonly #options: FetcherOptions
  readonly #limits: FetchLimits
  readonly #pace: FetchPace
  readonly #partitions = new TopicPartitionMap<FetchPartition>()
  /** The same partitions as a list, for the hot questions. */
  #list: readonly FetchPartition[] = []
  readonly #nodes = new Map<number, NodeFetcher>()
  readonly #host: FetchHost
  readonly #locator: PartitionLocator
  #pumpDue = false
  #closed = false

  constructor(options: FetcherOptions) {
    this.#options = options
    const { isolation, minBytes, maxBytes, partitionMaxBytes, maxWaitMs } = options
    this.#limits = { isolation, minBytes, maxBytes, partitionMaxBytes }
    // Whoever asks for large answers wants few polls: their waits stay whole.
    const waitMinMs = minBytes > 1 ? maxWaitMs : Math.min(WAIT_MIN_MS, maxWaitMs)
    this.#pace = { waitMinMs, waitMaxMs: maxWaitMs }
    const { cluster, clock, logger } = options
    this.#host = {
      cluster,
      clock,
      logger,
      ready: partition => this.#ready(partition),
      moved: partition => this.#moved(partition),
      lost: (partition, error, bounded) => this.#lost(partition, error, bounded),
      fail: (partition, error) => this.#fail(partition, error),
      wake: () => options.onWake(),
    }
    this.#locator = new PartitionLocator(this.#host)
  }

  /** Starts prefetching; the topic id is fixed at the first look at the topic. */
  add(topicPartition: TopicPartition, from: FetchPosition): void {
    assert(!this.#closed, 'a closed fetcher takes no partitions')
    const name = formatTopicPartition(topicPartition)
    assert(!this.#partitions.has(topicPartition), 'a partition is fetched once', { partition: name })
    const partition = new FetchPartition(topicPartition, from.offset, from.leaderEpoch)
    this.#partitions.set(topicPartition, partition)
    this.#list = [...this.#partitions.values()]
    this.#locator.add(partition)
  }

  /** Stops and drops what is buffered; unknown partitions are ignored. */
  remove(topicPartition: TopicPartition): void {
    const partition = this.#partitions.get(topicPartition)
    if (partition === undefined) return
    partition.forget()
    partition.removed = true
    this.#partitions.delete(topicPartition)
    this.#list = [...this.#partitions.values()]
    this.#locator.remove(partition)
    this.#nodes.get(partition.nodeId)?.remove(partition)
  }

  /**
   * Goes on at another offset; drops what is buffered and any failure.
   *
   * @param leaderEpoch - of the record before the offset; −1 when unknown
   */
  seek(topicPartition: TopicPartition, offset: number, leaderEpoch = -1): void {
    const partition = this.#of(topicPartition)
    partition.moveTo(offset, leaderEpoch)
    if (partition.state === 'locating') this.#locator.add(partition)
    else this.#pumpSoon(partition)
  }

  /** Stops fetching; blocks stay and are not handed out until `resume`. */
  pause(topicPartition: TopicPartition): void {
    this.#of(topicPartition).paused = true
  }

  resume(topicPartition: TopicPartition): void {
    const partition = this.#of(topicPartition)
    if (!partition.paused) return
    partition.paused = false
    if (partition.state === 'ready') this.#pumpSoon(partition)
  }

  /** The next block of a partition, if one is there and it is not paused; taking it triggers the next fetch. */
  take(topicPartition: TopicPartition): FetchedBlock | undefined {
    const partition = this.#partitions.get(topicPartition)
    if (partition === undefined || partition.paused) return undefined
    const block = partition.takeBlock()
    if (block === undefined) return undefined
    if (partition.state === 'ready') this.#nodes.get(partition.nodeId)?.taken()
    // A failure was hidden behind this block.
    if (partition.failure !== undefined) this.#options.onWake()
    return block
  }

  /**
   * The failure of a partition, once; after all its blocks have been taken. The partition is fetched again when sought.
   * Codes: OFFSET_OUT_OF_RANGE (also for a log truncated below the position), TOPIC_RECREATED, TOPIC_MISSING,
   * NOT_AUTHORIZED, AUTHENTICATION_FAILED, BROKER_TOO_OLD, PROTOCOL_VIOLATION, KAFKA_ERROR.
   */
  takeFailure(): { topicPartition: TopicPartition; error: MillraceError } | undefined {
    for (const partition of this.#list) {
      const error = partition.paused ? undefined : partition.takeFailure()
      if (error !== undefined) return { topicPartition: partition.topicPartition, error }
    }
    return undefined
  }

  /** Whether `take` has a block for some partition. */
  get hasData(): boolean {
    for (const partition of this.#list) if (partition.hasBlock && !partition.paused) return true
    return false
  }

  /** Where the log begins and ends, by the last answer of its leader; undefined before the first. */
  watermarks(topicPartition: TopicPartition): Watermarks | undefined {
    return this.#partitions.get(topicPartition)?.watermarks
  }

  /** Next offset to fetch: the end of what was fetched; `undefined` for a partition that is not fetched. */
  fetchedTo(topicPartition: TopicPartition): number | undefined {
    return this.#partitions.get(topicPartition)?.offset
  }

  /**
   * Records known to be in a partition and not taken yet, by the last answer of its leader, markers among them; `undefined`
   * before the first answer, 0 for a partition that is not fetched. Kafka: `Consumer.currentLag`.
   */
  lagOf(topicPartition: TopicPartition): number | undefined {
    const partition = this.#partitions.get(topicPartition)
    return partition === undefined ? 0 : this.#lagOf(partition)
  }

  /** Whether nothing is known to be left to take, by the last answers of the leaders. */
  get isAtEnd(): boolean {
    for (const partition of this.#list) if (this.#lagOf(partition) !== 0) return false
    return true
  }

  /** Stops at once: a parked poll is not waited for. */
  close(): Promise<void> {
    this.#closed = true
    this.#locator.close()
    for (const node of this.#nodes.values()) node.close()
    for (const partition of this.#list) partition.forget()
    this.#nodes.clear()
    this.#partitions.clear()
    this.#list = []
    return Promise.resolve()
  }

  #lagOf(partition: FetchPartition): number | undefined {
    if (partition.watermarks === undefined) return undefined
    const { highWatermark, lastStableOffset } = partition.watermarks
    const end = this.#limits.isolation === 'read_committed' ? lastStableOffset : highWatermark
    return partition.hasBlock ? Math.max(1, end - partition.offset) : Math.max(0, end - partition.offset)
  }

  #of(topicPartition: TopicPartition): FetchPartition {
    const partition = this.#partitions.get(topicPartition)
    const name = formatTopicPartition(topicPartition)
    assert(partition !== undefined, 'a partition is added before it is used', { partition: name })
    return partition
  }

  #ready(partition: FetchPartition): void {
    let node = this.#nodes.get(partition.nodeId)
    if (node === undefined) {
      node = new NodeFetcher(this.#host, partition.nodeId, this.#limits, this.#pace)
      this.#nodes.set(partition.nodeId, node)
    }
    node.add(partition)
    this.#pumpSoon(partition)
  }

  #moved(partition: FetchPartition): void {
    partition.relocate()
    this.#locator.add(partition)
  }

  #lost(partition: FetchPartition, error: MillraceError, bounded: boolean): void {
    const { clock, logger, troubleMaxMs = TROUBLE_MAX_MS } = this.#options
    const troubleMs = partition.lost(clock.nowMs(), bounded)
    this.#nodes.get(partition.nodeId)?.remove(partition)
    if (bounded && troubleMs >= troubleMaxMs) {
      this.#fail(partition, error)
      return
    }
    const fields = {
      partition: formatTopicPartition(partition.topicPartition),
      err: error,
    }
    if (partition.attempts % WARN_EVERY_ATTEMPTS === 0)
      logger.warn(fields, 'a partition cannot be fetched; trying again')
    else logger.debug(fields, 'a partition cannot be fetched for now')
    this.#locator.add(partition)
  }

  #fail(partition: FetchPartition, error: MillraceError): void {
    partition.fail(error)
    this.#nodes.get(partition.nodeId)?.remove(partition)
    this.#options.onWake()
  }

  /** Once per turn of the loop, so that partitions that change together share one poll. */
  #pumpSoon(partition: FetchPartition): void {
    this.#nodes.get(partition.nodeId)?.nudge()
    if (!this.#pumpDue) void this.#pumpNextTurn()
  }

  async #pumpNextTurn(): Promise<void> {
    this.#pumpDue = true
    await Promise.resolve()
    this.#pumpDue = false
    for (const node of this.#nodes.values()) node.pump()
  }
}
