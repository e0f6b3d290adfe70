import { asMillraceError, MillraceError, reasonOf } from '../model/errors.ts'
import { NO_HEADERS } from '../model/headers.ts'
import type { Logger } from '../model/logger.ts'
import type { DropReason, ErrorPolicies, RecordFailure } from '../model/record-failure.ts'
import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import type { Fetcher, FetchedBlock } from '../kafka/fetcher/fetcher.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { GlobalTablePlan } from '../topology/plan.ts'
import { reactionTo } from './record-failures.ts'
import { newGlobalStore, type SharedGlobals } from './task-stores.ts'

/** What the global tables of a thread work with. */
export interface GlobalTablesOptions {
  readonly tables: readonly GlobalTablePlan[]
  readonly cluster: Pick<Cluster, 'topics'>
  readonly admin: Pick<Admin, 'listOffsets'>
  readonly fetcher: Pick<Fetcher, 'add' | 'take' | 'seek'>
  readonly logger: Logger
  readonly policies: ErrorPolicies
  readonly dropped: (reason: DropReason) => void
}

interface GlobalPartition {
  readonly partition: TopicPartition
  readonly table: GlobalTablePlan
  readonly store: KeyValueState
  /** High watermark taken when reading began: tasks run once the position has passed it. */
  endOffset: number
  position: number
}

/**
 * The global tables of a thread: each is read in full before a task runs, and read on while they do. Outside the group and
 * its transactions: nothing of it is committed, a restart reads it anew. Kafka Streams: `GlobalStreamThread`, of which we
 * have one per thread.
 */
export class GlobalTables {
  /** The stores, by name. */
  readonly stores: SharedGlobals
  readonly #options: GlobalTablesOptions
  readonly #partitions = new TopicPartitionMap<GlobalPartition>()
  #begun = false

  constructor(options: GlobalTablesOptions) {
    this.#options = options
    this.stores = new Map(options.tables.map(table => [table.store.name, newGlobalStore(table)]))
  }

  /** Whether every table has been read up to what its topic held at the start. */
  get isComplete(): boolean {
    if (this.#options.tables.length === 0) return true
    if (!this.#begun) return false
    for (const { position, endOffset } of this.#partitions.values()) if (position < endOffset) return false
    return true
  }

  /** Whether a partition belongs to a global table. */
  reads(partition: TopicPartition): boolean {
    return this.#partitions.has(partition)
  }

  /** Takes the topics' ends and starts reading from their beginnings. @throws MillraceError `TOPIC_MISSING` */
  async begin(): Promise<void> {
    const { tables, cluster, fetcher, logger } = this.#options
    if (tables.length === 0 || this.#begun) return
    const topics = await cluster.topics(tables.map(({ topic }) => topic))
    const places = tables.flatMap(table => {
      const found = topics.get(table.topic)
      if (found === undefined) {
        throw new MillraceError('TOPIC_MISSING', {
          topic: table.topic,
          what: `The topic of the global table ${table.store.name} does not exist.`,
        })
      }
      return found.partitions.map((_, partition) => ({ table, partition: { topic: table.topic, partition } }))
    })
    const { starts, ends } = await this.#boundsOf(places.map(({ partition }) => partition))
    for (const { table, partition } of places) {
      const store = this.stores.get(table.store.name)
      if (store === undefined) continue
      const position = starts.get(partition) ?? 0
      this.#partitions.set(partition, { partition, table, store, endOffset: ends.get(partition) ?? 0, position })
      fetcher.add(partition, { offset: position, leaderEpoch: -1 })
    }
    this.#begun = true
    logger.info({ tables: tables.map(({ topic }) => topic) }, 'reading global tables')
  }

  /** Applies what was fetched, at most one block a partition. Returns whether anything was applied. */
  advance(): boolean {
    let applied = false
    for (const global of this.#partitions.values()) {
      const block = this.#options.fetcher.take(global.partition)
      if (block === undefined) continue
      applied = true
      this.#apply(global, block)
    }
    return applied
  }

  /**
   * Records below the position are gone (the topic was compacted or cut), deletions of keys that the table has may be among
   * them: the whole table is read anew, and is incomplete until then. Kafka Streams: wipes its global stores and stops.
   */
  async restart(partition: TopicPartition): Promise<void> {
    const failed = this.#partitions.get(partition)
    if (failed === undefined) return
    const { store } = failed
    const globals = [...this.#partitions.values()].filter(global => global.store === store)
    const { starts, ends } = await this.#boundsOf(globals.map(global => global.partition))
    this.#options.logger.warn(
      { ...partition, from: failed.position, to: starts.get(partition) ?? 0 },
      'records of a global table were deleted before they were read: the table is read anew, and processing waits for it',
    )
    store.clear()
    for (const global of globals) {
      global.position = starts.get(global.partition) ?? 0
      global.endOffset = ends.get(global.partition) ?? 0
      this.#options.fetcher.seek(global.partition, global.position)
    }
  }

  close(): void {
    for (const store of this.stores.values()) store.close()
  }

  /** Where the logs begin and end; records of open transactions count. */
  async #boundsOf(partitions: readonly TopicPartition[]): Promise<{
    readonly starts: TopicPartitionMap<number>
    readonly ends: TopicPartitionMap<number>
  }> {
    const { admin } = this.#options
    const [starts, ends] = await Promise.all([
      admin.listOffsets(partitions, 'earliest', 'read_uncommitted'),
      admin.listOffsets(partitions, 'latest', 'read_uncommitted'),
    ])
    return { starts, ends }
  }

  #apply(global: GlobalPartition, { cursor }: FetchedBlock): void {
    const { store, table } = global
    while (cursor.next()) {
      const { key, value } = cursor
      if (key === null) {
        this.#options.dropped('nullKey')
        continue
      }
      try {
        this.#check(table, key, value)
      } catch (cause) {
        this.#answer(global, cursor, cause)
        continue
      }
      store.restore(key, value, cursor.timestamp, cursor.headers)
    }
    global.position = cursor.position
  }

  /** Poison is found where it enters, not at the join that happens to look it up. */
  #check({ source, topic }: GlobalTablePlan, key: Buffer, value: Buffer | null): void {
    const serdes = source.source
    if (serdes === undefined) return
    erasedSerde(serdes.key).deserialize(key, { topic, side: 'key', headers: NO_HEADERS })
    if (value !== null) erasedSerde(serdes.value).deserialize(value, { topic, side: 'value', headers: NO_HEADERS })
  }

  /** A record that cannot be read is skipped where a policy says so; there is no transaction a dead letter could go into. */
  #answer(
    { table, partition }: GlobalPartition,
    { offset, timestamp, key, value, headers }: FetchedBlock['cursor'],
    cause: unknown,
  ): void {
    const { logger, policies, dropped } = this.#options
    const failure: RecordFailure = {
      phase: 'deserialization',
      cause,
      node: table.source.name,
      metadata: { ...partition, offset },
      timestamp,
      headers,
      rawKey: key,
      rawValue: value,
    }
    if (reactionTo(failure, { ...policies, ...table.source.source?.errors }) === 'stop') {
      throw new MillraceError('DESERIALIZATION_FAILED', {
        ...partition,
        offset,
        node: table.source.name,
        cause,
        what: `A record of the global table ${table.store.name} is not what its serdes read: ${reasonOf(cause)}.`,
        reaction: 'stop',
      })
    }
    dropped('skipped')
    logger.warn({ ...partition, offset, err: asMillraceError(cause) }, 'a record of a global table was skipped')
  }
}
