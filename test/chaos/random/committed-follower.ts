import { EventEmitter, once } from 'node:events'
import { createHash } from 'node:crypto'
import type { Fetcher } from '../../../src/kafka/fetcher/fetcher.ts'
import { prepareCompression } from '../../../src/kafka/records/compression.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { HistoryEvent } from '../../../src/verification/history.ts'
import type { ReadRecord } from '../../support/kafka-reader.ts'
import { plainFetcher } from '../../support/plain-fetcher.ts'
import { connectCluster, type TestCluster } from '../../support/test-cluster.ts'

/** Brokers are killed under it, which is not its failure. */
const TROUBLE_MAX_MS = 300_000
const TURN_MS = 200

/** A record as it was seen, by its place. */
interface Sighting {
  readonly partition: number
  readonly offset: number
  readonly digest: string
}

/**
 * A read_committed reader that reads along while the faults happen: what it saw must be there at the end, nothing else
 * below its position, and nothing twice. A record that was visible for a moment only is a dirty read that no reader
 * after the faults would find.
 */
export class CommittedFollower {
  readonly #client: TestCluster
  readonly #fetcher: Fetcher
  readonly #woken: EventEmitter
  readonly #partitions: readonly TopicPartition[]
  readonly #onRead: ((event: HistoryEvent) => void) | undefined
  readonly #seen = new Map<string, Sighting[]>()
  #stopping = false
  #done: Promise<void> = Promise.resolve()

  private constructor(
    client: TestCluster,
    partitions: readonly TopicPartition[],
    onRead: ((event: HistoryEvent) => void) | undefined,
  ) {
    this.#onRead = onRead
    this.#client = client
    this.#partitions = partitions
    this.#woken = new EventEmitter()
    this.#fetcher = plainFetcher(client.cluster, {
      maxBytes: 10_485_760,
      onWake: () => this.#woken.emit('wake'),
      troubleMaxMs: TROUBLE_MAX_MS,
    })
  }

  /**
   * Follows all partitions of topics from their beginning, at the brokers themselves.
   *
   * @param onRead - told of every record, as the history of a run wants it
   */
  static async follow(
    bootstrapServers: string,
    topics: readonly string[],
    onRead?: (event: HistoryEvent) => void,
  ): Promise<CommittedFollower> {
    await prepareCompression()
    const client = await connectCluster(bootstrapServers, { clientId: 'follower', requestTimeoutMs: 5_000 })
    const partitions: TopicPartition[] = []
    for (const topic of topics) {
      const info = await client.cluster.topic(topic)
      for (const { partition } of info?.partitions ?? []) partitions.push({ topic, partition })
    }
    const follower = new CommittedFollower(client, partitions, onRead)
    for (const partition of partitions) follower.#fetcher.add(partition, { offset: 0, leaderEpoch: -1 })
    follower.#done = follower.#run()
    // Told by `stop`.
    follower.#done.catch(() => undefined)
    return follower
  }

  /** How many records it saw. */
  get records(): number {
    let records = 0
    for (const { length } of this.#seen.values()) records += length
    return records
  }

  /** Ends it. @throws what it failed with */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#done
  }

  /** Compares what it saw of a topic with what is there now; in words, empty when both are the same. */
  differencesWith(topic: string, records: readonly ReadRecord[]): readonly string[] {
    const seen = this.#seen.get(topic) ?? []
    const ends = new Map<number, number>()
    for (const { partition, offset } of seen) ends.set(partition, Math.max(ends.get(partition) ?? -1, offset))
    const differences: string[] = []
    const open = new Map(
      records
        .filter(({ partition, offset }) => offset <= (ends.get(partition) ?? -1))
        .map(record => [placeOf(record), digestOf(record.key, record.value)] as const),
    )
    for (const sighting of seen) {
      const place = placeOf(sighting)
      const now = open.get(place)
      if (now === undefined) differences.push(`${topic} ${place} was seen during the faults and is not there, or twice`)
      else if (now !== sighting.digest) differences.push(`${topic} ${place} was another record during the faults`)
      open.delete(place)
    }
    for (const place of open.keys()) differences.push(`${topic} ${place} was passed over during the faults`)
    return differences.slice(0, 10)
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopping) {
        const failure = this.#fetcher.takeFailure()
        if (failure !== undefined) throw failure.error
        if (!this.#fetcher.hasData) {
          await once(this.#woken, 'wake', { signal: AbortSignal.timeout(TURN_MS) }).catch(() => undefined)
        }
        for (const partition of this.#partitions) this.#take(partition)
      }
    } finally {
      await this.#fetcher.close()
      await this.#client.cluster.close()
    }
  }

  #take(topicPartition: TopicPartition): void {
    const block = this.#fetcher.take(topicPartition)
    if (block === undefined) return
    const { topic, partition } = topicPartition
    const seen = this.#seen.get(topic) ?? []
    this.#seen.set(topic, seen)
    const { cursor } = block
    while (cursor.next()) {
      const { offset, key, value } = cursor
      seen.push({ partition, offset, digest: digestOf(key, value) })
      this.#onRead?.({ kind: 'read', atMs: Date.now(), topic, partition, offset, key: hexOf(key), value: hexOf(value) })
    }
  }
}

function placeOf({ partition, offset }: { readonly partition: number; readonly offset: number }): string {
  return `partition ${String(partition)} offset ${String(offset)}`
}

function hexOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}

function digestOf(key: Uint8Array | null, value: Uint8Array | null): string {
  const hash = createHash('sha1')
  hash
    .update(key ?? 'null')
    .update('\u0000')
    .update(value ?? 'null')
  return hash.digest('base64')
}
