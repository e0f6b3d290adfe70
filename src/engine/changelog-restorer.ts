import type { Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { sameTopicPartition, TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Fetcher, FetchedBlock } from '../kafka/fetcher/fetcher.ts'
import type { StateStore } from '../stores/state-store.ts'
import type { ActiveTask } from './active-task.ts'

/** Progress of restoring a store. Kafka Streams: `StateRestoreListener`. */
export interface RestoreProgress {
  /** The store. */
  readonly store: string
  /** The task. */
  readonly task: string
  /** Changelog offsets gone through so far. */
  readonly restored: number
  /** Changelog offsets to go through in all; compaction and markers make it an upper bound of records. */
  readonly total: number
}

interface RestoringStore {
  readonly task: ActiveTask
  readonly store: StateStore
  readonly changelog: TopicPartition
  readonly startOffset: number
  /** High watermark taken at the start: the restore ends when the position passes it (I12). */
  readonly endOffset: number
  position: number
  restored: number
}

/** Where changelogs begin and end. */
interface Bounds {
  readonly starts: TopicPartitionMap<number>
  readonly ends: TopicPartitionMap<number>
}

/** What a restore reads with, and who is told of its progress. */
export interface RestorerOptions {
  readonly admin: Pick<Admin, 'listOffsets'>
  readonly fetcher: Pick<Fetcher, 'add' | 'remove' | 'seek' | 'take'>
  readonly clock: Clock
  readonly logger: Logger
  /** Whether one transaction holds changelog records and offsets, so that the one cannot be there without the other. */
  readonly isAtomic: boolean
  readonly onProgress: (progress: RestoreProgress) => void
}

/**
 * Rebuilds the stores of new tasks from their changelogs, read_committed and by position, a block at a time between the
 * work of the other tasks. Kafka Streams: `StoreChangelogReader`.
 */
export class ChangelogRestorer {
  readonly #options: RestorerOptions
  readonly #restoring = new TopicPartitionMap<RestoringStore>()
  #recordsRestored = 0

  constructor(options: RestorerOptions) {
    this.#options = options
  }

  /** Records read into stores so far. */
  get recordsRestored(): number {
    return this.#recordsRestored
  }

  /** Changelog offsets that the task's stores still have to go through. */
  remainingOf(task: ActiveTask): number {
    let remaining = 0
    for (const store of this.#restoring.values())
      if (store.task === task) remaining += Math.max(0, store.endOffset - store.position)
    return remaining
  }

  /**
   * Takes the changelogs' ends and starts reading. The caller has fenced its transactional id and read stable offsets
   * before: a high watermark taken earlier could miss what a zombie's commit added (I12).
   */
  async begin(task: ActiveTask): Promise<void> {
    const changelogs = new TopicPartitionMap<StateStore>()
    for (const store of task.task.stores) {
      if (store.changelogTopic !== undefined)
        changelogs.set({ topic: store.changelogTopic, partition: task.partition }, store)
    }
    if (changelogs.size === 0) return
    const bounds = await this.#boundsOf([...changelogs.keys()])
    if (task.state !== 'restoring') return
    for (const [changelog, store] of changelogs) this.#restore({ task, store, changelog }, bounds)
  }

  /** Whether every store of the task is complete. */
  isRestored(task: ActiveTask): boolean {
    for (const store of this.#restoring.values()) if (store.task === task) return false
    return true
  }

  /** Whether the partition is a changelog that is being read. */
  reads(partition: TopicPartition): boolean {
    return this.#restoring.has(partition)
  }

  /** Applies what was fetched, at most one block a store, so that running tasks get their turn. Returns whether anything was applied. */
  advance(): boolean {
    let applied = false
    for (const [changelog, restoring] of this.#restoringNow()) {
      const block = this.#options.fetcher.take(changelog)
      if (block === undefined) continue
      applied = true
      this.#apply(restoring, block)
      if (restoring.position >= restoring.endOffset) this.#finish(restoring)
    }
    return applied
  }

  /** The changelog is gone below the position: that store alone starts again at the log's beginning. */
  async restart(changelog: TopicPartition): Promise<void> {
    const restoring = this.#restoring.get(changelog)
    if (restoring === undefined) return
    const { task, store, position } = restoring
    this.#options.logger.warn(
      { task: task.id, store: store.name, topic: changelog.topic, partition: changelog.partition },
      'The changelog no longer reaches back to the restore position: the store is cleared and restored from the beginning of the log.',
    )
    let bounds: Bounds
    try {
      bounds = await this.#boundsOf([changelog])
    } catch (error) {
      // Until its bounds are known the store stays incomplete, and the fetcher has to fail again to bring us back here.
      if (this.#restoring.get(changelog) === restoring) this.#options.fetcher.seek(changelog, position)
      throw error
    }
    if (this.#restoring.get(changelog) !== restoring) return
    this.#forget(changelog)
    this.#restore(restoring, bounds)
  }

  /** Forgets a task's restores. */
  drop(task: ActiveTask): void {
    for (const [changelog, restoring] of this.#restoringNow()) if (restoring.task === task) this.#forget(changelog)
  }

  #forget(changelog: TopicPartition): void {
    this.#restoring.delete(changelog)
    this.#options.fetcher.remove(changelog)
  }

  async #boundsOf(changelogs: readonly TopicPartition[]): Promise<Bounds> {
    const [starts, ends] = await Promise.all([
      this.#options.admin.listOffsets(changelogs, 'earliest', 'read_uncommitted'),
      this.#options.admin.listOffsets(changelogs, 'latest', 'read_uncommitted'),
    ])
    return { starts, ends }
  }

  #restore(
    { task, store, changelog }: Pick<RestoringStore, 'task' | 'store' | 'changelog'>,
    { starts, ends }: Bounds,
  ): void {
    const startOffset = starts.get(changelog) ?? 0
    const logEnd = ends.get(changelog) ?? 0
    // A source topic that serves as changelog goes on behind what is committed: that is input, not state.
    const input = task.inputs.find(({ topicPartition }) => sameTopicPartition(topicPartition, changelog))
    const endOffset = input === undefined ? logEnd : Math.min(logEnd, input.committed ?? startOffset)
    store.clear()
    if (startOffset >= endOffset) return
    this.#restoring.set(changelog, {
      task,
      store,
      changelog,
      startOffset,
      endOffset,
      position: startOffset,
      restored: 0,
    })
    this.#options.fetcher.add(changelog, { offset: startOffset, leaderEpoch: -1 })
  }

  /** A list of its own: finishing one changes the map. */
  #restoringNow(): readonly (readonly [TopicPartition, RestoringStore])[] {
    return Array.from(this.#restoring)
  }

  #apply(restoring: RestoringStore, { cursor }: FetchedBlock): void {
    const { store, task, changelog } = restoring
    let records = 0
    while (cursor.next() && cursor.offset < restoring.endOffset) {
      const key = cursor.key
      if (key === null) {
        throw new MillraceError('STORE_CORRUPT', {
          task: task.id,
          node: store.name,
          ...changelog,
          offset: cursor.offset,
          what: 'The changelog holds a record without a key.',
          action: 'Something else writes to this topic: stop it, then start over with `millrace reset`.',
        })
      }
      store.restore(key, cursor.value, cursor.timestamp, cursor.headers)
      records += 1
    }
    restoring.restored += records
    this.#recordsRestored += records
    restoring.position = cursor.position
    if (records > 0) this.#checkOffsetsCommitted(restoring, restoring.restored === records)
    this.#options.onProgress({
      task: task.id,
      store: store.name,
      restored: Math.min(restoring.position, restoring.endOffset) - restoring.startOffset,
      total: restoring.endOffset - restoring.startOffset,
    })
  }

  /**
   * Committed state without a committed offset means that the group was lost: reading it as zero would count everything
   * twice. Without transactions it is also what a life leaves behind that ended before its first commit, and what happens
   * then is what was promised: records are processed again.
   */
  #checkOffsetsCommitted({ task, store, changelog }: RestoringStore, isFirst: boolean): void {
    if (task.inputs.some(input => input.committed !== undefined)) return
    const where = { task: task.id, node: store.name, ...changelog }
    if (this.#options.isAtomic) throw new MillraceError('COMMITTED_OFFSET_MISSING', where)
    if (!isFirst) return
    this.#options.logger.warn(
      where,
      'a changelog holds state and the group has no committed offset: what was processed before the first commit is processed again',
    )
  }

  #finish({ task, store, changelog, restored }: RestoringStore): void {
    this.#forget(changelog)
    this.#options.logger.info(
      { task: task.id, store: store.name, records: restored, entries: store.entries },
      'store restored',
    )
  }
}
