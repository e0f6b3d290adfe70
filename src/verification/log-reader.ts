import { sleep, type Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import { formatTopicPartition, type TopicPartition } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import { prepareCompression } from '../kafka/records/compression.ts'
import { reactionTo } from '../kafka/error-reactions.ts'
import type { ObservedPartition } from './observed-log.ts'
import { decodeBatches, type RawBatch } from './raw-batches.ts'
import { judgeByMarkers, type NamedAbort, shownByBroker } from './transaction-fates.ts'

/** What logs are read with. */
export interface LogReaderOptions {
  readonly cluster: Pick<Cluster, 'topic' | 'leaderOf' | 'connection' | 'refresh'>
  readonly admin: Pick<Admin, 'listOffsets' | 'describeTopicConfigs'>
  readonly clock: Clock
  /** More records than that are not held in memory. */
  readonly recordsMax: number
  /** Told how many records have been read. */
  readonly onProgress?: (records: number) => void
}

/** There are more records than may be held in memory: nothing can be said. */
export class TooMuchToRead extends Error {
  override readonly name = 'TooMuchToRead'

  constructor(recordsMax: number) {
    super(`there are more than ${String(recordsMax)} records to read`)
  }
}

/** Version 12 names topics by name, and every broker that is supported knows it. */
const FETCH_VERSION = 12
const FETCH_BYTES = 4 * 1_048_576
const FETCH_WAIT_MS = 100
const RETRIES_MAX = 50
const RETRY_MS = 200
const REPLICA_OF_NO_BROKER = -1
const ISOLATION = { read_uncommitted: 0, read_committed: 1 } as const

type Isolation = keyof typeof ISOLATION

/** How often a log may change under the reader's eyes; the cleaner rests for seconds in between. */
const CLEANINGS_MAX = 20

interface Bounds {
  readonly logStart: number
  readonly lastStableOffset: number
  readonly highWatermark: number
}

/** What one pass over a log found. */
interface Read {
  readonly batches: readonly RawBatch[]
  readonly aborted: readonly NamedAbort[]
}

/**
 * Reads whole logs, one plain Fetch after the other: once read_uncommitted, with every marker, and once read_committed
 * with the broker's list of aborted transactions. Writes nothing and joins no group.
 */
export class LogReader {
  readonly #options: LogReaderOptions
  #records = 0

  constructor(options: LogReaderOptions) {
    this.#options = options
  }

  /** All partitions of a topic; none when it does not exist. @throws TooMuchToRead */
  async read(topic: string, only?: number): Promise<readonly ObservedPartition[]> {
    await prepareCompression()
    const { cluster, admin } = this.#options
    const info = await cluster.topic(topic)
    if (info === undefined) return []
    const partitions = info.partitions
      .map(({ partition }) => ({ topic, partition }))
      .filter(({ partition }) => only === undefined || partition === only)
    const starts = await admin.listOffsets(partitions, 'earliest', 'read_uncommitted')
    const stable = await admin.listOffsets(partitions, 'latest', 'read_committed')
    const ends = await admin.listOffsets(partitions, 'latest', 'read_uncommitted')
    const isCompacted = await this.#isCompacted(topic)
    const logs: ObservedPartition[] = []
    for (const topicPartition of partitions) {
      const logStart = starts.get(topicPartition) ?? 0
      const highWatermark = ends.get(topicPartition) ?? 0
      // What became stable after the first question is no finding.
      const lastStableOffset = Math.min(stable.get(topicPartition) ?? 0, highWatermark)
      const bounds = { logStart, lastStableOffset, highWatermark }
      const { all, committed } = await this.#bothReads(topicPartition, bounds, isCompacted)
      const isWithin = ({ offset }: { readonly offset: number }): boolean =>
        offset >= logStart && offset < highWatermark
      const { records, markers } = judgeByMarkers(all.batches, topicPartition)
      logs.push({
        ...topicPartition,
        topicId: info.topicId.toString('hex'),
        logStart,
        lastStableOffset,
        highWatermark,
        records: records.filter(isWithin),
        markers: markers.filter(isWithin),
        shownCommitted: shownByBroker(committed.batches, committed.aborted).filter(
          offset => offset >= logStart && offset < lastStableOffset,
        ),
        isCompacted,
      })
    }
    return logs
  }

  /**
   * The log as both kinds of reader see it. The cleaner may go through it meanwhile: then the beginning was read before it
   * and the end behind it, and what it took looks lost. A third read that finds what the first one found shows that it did not.
   */
  async #bothReads(
    topicPartition: TopicPartition,
    { logStart: from, lastStableOffset, highWatermark }: Bounds,
    isCompacted: boolean,
  ): Promise<{ readonly all: Read; readonly committed: Read }> {
    let all = await this.#batches(topicPartition, { from, to: highWatermark }, 'read_uncommitted')
    for (let attempt = 0; attempt < CLEANINGS_MAX; attempt++) {
      const counted = this.#records
      const committed = await this.#batches(topicPartition, { from, to: lastStableOffset }, 'read_committed')
      if (!isCompacted) return { all, committed }
      const held = this.#records
      const again = await this.#batches(topicPartition, { from, to: highWatermark }, 'read_uncommitted')
      this.#records = held
      if (offsetsOf(again) === offsetsOf(all)) return { all, committed }
      this.#records = counted
      all = again
      await sleep(this.#options.clock, RETRY_MS)
    }
    throw new MillraceError('KAFKA_ERROR', {
      ...topicPartition,
      what: 'The log is cleaned all the time: it cannot be read as of one moment.',
    })
  }

  async #isCompacted(topic: string): Promise<boolean> {
    try {
      const configs = await this.#options.admin.describeTopicConfigs([topic])
      return configs.get(topic)?.get('cleanup.policy')?.includes('compact') === true
    } catch (error) {
      // Without the right to look, holes in the offsets are what tells.
      if (error instanceof MillraceError && error.code === 'NOT_AUTHORIZED') return true
      throw error
    }
  }

  async #batches(
    topicPartition: TopicPartition,
    { from, to }: { readonly from: number; readonly to: number },
    isolation: Isolation,
  ): Promise<Read> {
    const batches: RawBatch[] = []
    const aborted = new Map<string, NamedAbort>()
    let position = from
    let retries = 0
    while (position < to) {
      const answer = await this.#fetch(topicPartition, position, isolation)
      const read = answer === undefined ? [] : decodeBatches(answer.records, topicPartition)
      const fresh = read.filter(({ lastOffset }) => lastOffset >= position)
      if (fresh.length === 0) {
        retries += 1
        if (retries > RETRIES_MAX) {
          throw new MillraceError('KAFKA_ERROR', {
            ...topicPartition,
            what: `Nothing can be read at offset ${String(position)}.`,
          })
        }
        await sleep(this.#options.clock, RETRY_MS)
        await this.#options.cluster.refresh([topicPartition.topic])
        continue
      }
      retries = 0
      for (const batch of fresh) batches.push(batch)
      for (const one of answer?.aborted ?? []) aborted.set(`${String(one.producerId)}@${String(one.firstOffset)}`, one)
      position = (fresh.at(-1)?.lastOffset ?? position) + 1
      this.#count(fresh)
    }
    return { batches, aborted: [...aborted.values()] }
  }

  #count(batches: readonly RawBatch[]): void {
    for (const { records } of batches) this.#records += records.length
    const { recordsMax, onProgress } = this.#options
    onProgress?.(this.#records)
    // Every record is read twice.
    if (this.#records <= recordsMax * 2) return
    throw new TooMuchToRead(recordsMax)
  }

  /** `undefined` when the answer may be better next time. */
  async #fetch(
    { topic, partition }: TopicPartition,
    fetchOffset: number,
    isolation: Isolation,
  ): Promise<{ readonly records: Buffer; readonly aborted: readonly NamedAbort[] } | undefined> {
    const leader = this.#options.cluster.leaderOf({ topic, partition })
    if (leader === undefined) return undefined
    const connection = await this.#options.cluster.connection(leader.nodeId, 'fetch')
    const answer = await connection.send(
      'Fetch',
      {
        replicaId: REPLICA_OF_NO_BROKER,
        maxWaitMs: FETCH_WAIT_MS,
        minBytes: 1,
        maxBytes: FETCH_BYTES,
        isolationLevel: ISOLATION[isolation],
        topics: [{ topic, partitions: [{ partition, fetchOffset, partitionMaxBytes: FETCH_BYTES }] }],
      },
      { version: FETCH_VERSION },
    )
    const [found] = answer.responses.flatMap(({ partitions }) => partitions)
    const kafkaCode = answer.errorCode === 0 ? (found?.errorCode ?? 0) : answer.errorCode
    if (kafkaCode !== 0) {
      if (reactionTo(kafkaCode, 'fetch') === 'retry') return undefined
      throw new MillraceError(kafkaCode === TOPIC_AUTHORIZATION_FAILED ? 'NOT_AUTHORIZED' : 'KAFKA_ERROR', {
        topic,
        partition,
        kafkaCode,
        what: `${formatTopicPartition({ topic, partition })} cannot be read.`,
      })
    }
    return { records: found?.records ?? Buffer.alloc(0), aborted: found?.abortedTransactions ?? [] }
  }
}

const TOPIC_AUTHORIZATION_FAILED = 29

/** What the cleaner would change: which offsets hold something. */
function offsetsOf({ batches }: Read): string {
  return batches
    .map(({ lastOffset, records }) => `${String(lastOffset)}:${records.map(({ offset }) => offset).join()}`)
    .join(';')
}
