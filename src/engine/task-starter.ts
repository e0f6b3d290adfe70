import { sleep, type Clock } from '../model/clock.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import { parseDurationMs } from '../model/duration.ts'
import { unreachable } from '../model/assert.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import type { GroupOffsets } from '../kafka/group/group-offsets.ts'
import type { OffsetReset } from '../topology/plan.ts'
import type { ActiveTask, TaskInput } from './active-task.ts'
import type { ChangelogRestorer } from './changelog-restorer.ts'
import { readProgress } from './commit-offsets.ts'

/** How long after its transaction's timeout a vanished owner may still hold up stable offsets: the broker's reaper (10 s by default) and some air. */
export const REAPER_MS = 60_000
const BACKOFF_MS_MIN = 100
const BACKOFF_MS_MAX = 5_000

/** What starting a task takes, all of one stream thread. */
export interface TaskStarterOptions {
  readonly offsets: Pick<GroupOffsets, 'fetch'>
  readonly admin: Pick<Admin, 'listOffsets'>
  readonly restorer: Pick<ChangelogRestorer, 'begin'>
  readonly clock: Clock
  readonly logger: Logger
  /** Longest wait for stable offsets: an old owner's transaction may stay open for its whole timeout. */
  readonly stableOffsetsTimeoutMs: number
  readonly onWake: () => void
}

/**
 * Brings new tasks from `created` to `restoring` in the background, so that other tasks go on meanwhile: stable committed
 * offsets, reset policies, task variables, then the ends of the changelogs. The order is invariant I12.
 */
export class TaskStarter {
  readonly #options: TaskStarterOptions
  readonly #placed = new WeakSet<ActiveTask>()
  #failure: MillraceError | undefined

  constructor(options: TaskStarterOptions) {
    this.#options = options
  }

  /** A failure of a start in the background; taken once. */
  takeFailure(): MillraceError | undefined {
    const failure = this.#failure
    this.#failure = undefined
    return failure
  }

  /** Whether the offsets of a task and the ends of its changelogs are known. */
  isPlaced(task: ActiveTask): boolean {
    return this.#placed.has(task)
  }

  /** Starts the tasks together: one OffsetFetch for all their partitions. */
  start(tasks: readonly ActiveTask[]): void {
    if (tasks.length === 0) return
    this.#run(tasks).then(this.#options.onWake, (thrown: unknown) => {
      this.#failure = asMillraceError(thrown)
      this.#options.onWake()
    })
  }

  /** An outage delays a start and never skips one: a task that is never placed would hold its partitions for nothing. */
  async #run(tasks: readonly ActiveTask[]): Promise<void> {
    for (let backOffMs = BACKOFF_MS_MIN; ; backOffMs = Math.min(backOffMs * 2, BACKOFF_MS_MAX)) {
      const open = tasks.filter(task => task.state !== 'closed' && !this.#placed.has(task))
      if (open.length === 0) return
      try {
        await this.#position(open.filter(task => task.state === 'created'))
        for (const task of open) await this.#place(task)
        return
      } catch (error) {
        if (!(error instanceof MillraceError) || error.reaction === 'stop') throw error
        this.#options.logger.warn({ err: error }, 'tasks could not be started; trying again')
        await sleep(this.#options.clock, backOffMs)
      }
    }
  }

  async #position(tasks: readonly ActiveTask[]): Promise<void> {
    if (tasks.length === 0) return
    const partitions = tasks.flatMap(task => task.inputs.map(input => input.topicPartition))
    const committed = await this.#options.offsets.fetch(partitions, this.#options.stableOffsetsTimeoutMs)
    const resets: TaskInput[] = []
    for (const task of tasks) {
      // Revoked while the answer was under way: nothing of it may start any more, nor fail.
      if (task.state !== 'created') continue
      for (const input of task.inputs) {
        const found = committed.get(input.topicPartition)
        if (found === undefined) resets.push(input)
        else takeOver(task, input, found)
      }
    }
    await this.#reset(resets)
    for (const task of tasks) if (task.state === 'created') task.on('positioned')
  }

  async #place(task: ActiveTask): Promise<void> {
    if (task.state !== 'restoring') return
    await this.#options.restorer.begin(task)
    this.#placed.add(task)
  }

  /** Where reading begins when nothing is committed; a committed offset is never replaced. */
  async #reset(inputs: readonly TaskInput[]): Promise<void> {
    for (const [policy, group] of groupByPolicy(inputs)) {
      const partitions = group.map(input => input.topicPartition)
      const starts = await this.#startsOf(partitions, policy)
      for (const input of group) {
        input.rewindTo = starts.get(input.topicPartition) ?? 0
        this.#options.logger.info(
          { ...input.topicPartition, offset: input.rewindTo },
          'no committed offset: reading starts by the reset policy',
        )
      }
    }
  }

  async #startsOf(partitions: readonly TopicPartition[], policy: OffsetReset): Promise<TopicPartitionMap<number>> {
    const { admin, clock } = this.#options
    if (policy === 'earliest') return await admin.listOffsets(partitions, 'earliest', 'read_uncommitted')
    if (policy === 'latest') return await admin.listOffsets(partitions, 'latest', 'read_committed')
    if (policy === 'none') {
      const [first] = partitions
      throw new MillraceError('COMMITTED_OFFSET_MISSING', {
        ...first,
        what: 'No offset is committed and the reset policy of the source is `none`.',
        action: 'Commit a start offset with `millrace reset`, or choose `offsetReset: earliest | latest`.',
      })
    }
    if (typeof policy !== 'object') return unreachable(policy)
    const agoMs = parseDurationMs(policy.byDuration) ?? 0
    const found = await admin.listOffsets(partitions, { timestamp: clock.wallClockMs() - agoMs }, 'read_uncommitted')
    // No record is that young: the end of the log is the first offset behind the time asked for.
    const late = partitions.filter(partition => (found.get(partition) ?? -1) < 0)
    const ends = late.length === 0 ? undefined : await admin.listOffsets(late, 'latest', 'read_committed')
    return new TopicPartitionMap(
      partitions.map(partition => [partition, ends?.get(partition) ?? found.get(partition) ?? 0] as const),
    )
  }
}

/** Goes on where the group's offset and our own metadata beside it say. */
function takeOver(task: ActiveTask, input: TaskInput, found: OffsetAndMetadata): void {
  const progress = readProgress(found)
  input.committed = found.offset
  input.rewindTo = found.offset
  input.leaderEpoch = () => found.leaderEpoch
  input.committedTransaction = progress.transaction
  task.task.setPartitionTime(input.topicPartition.topic, progress.partitionTime)
  if (progress.variables.size > 0) task.task.variables.load(progress.variables)
}

function groupByPolicy(inputs: readonly TaskInput[]): ReadonlyMap<OffsetReset, readonly TaskInput[]> {
  const groups = new Map<OffsetReset, TaskInput[]>()
  for (const input of inputs) {
    const policy = input.source.offsetReset
    groups.set(policy, [...(groups.get(policy) ?? []), input])
  }
  return groups
}
