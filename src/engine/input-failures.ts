import { unreachable } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import type { TopicPartition } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Fetcher } from '../kafka/fetcher/fetcher.ts'
import type { ActiveTask, TaskInput } from './active-task.ts'
import type { ChangelogRestorer } from './changelog-restorer.ts'
import type { GlobalTables } from './global-tables.ts'
import type { TaskRegistry } from './task-registry.ts'

/** What answering a failed input takes, all of one stream thread. */
export interface InputFailuresOptions {
  readonly admin: Pick<Admin, 'listOffsets'>
  readonly fetcher: Pick<Fetcher, 'takeFailure' | 'seek'>
  readonly logger: Logger
  readonly registry: TaskRegistry
  readonly restorer: Pick<ChangelogRestorer, 'reads' | 'restart'>
  readonly globals: Pick<GlobalTables, 'reads' | 'restart'>
  readonly commit: () => Promise<void>
}

/** What happens when a partition cannot be read on: the source's policy for lost offsets, a new restore for a changelog, else a stop. */
export class InputFailures {
  readonly #options: InputFailuresOptions

  constructor(options: InputFailuresOptions) {
    this.#options = options
  }

  /** @throws MillraceError the failure, unless a policy answers it */
  async handle(): Promise<void> {
    for (;;) {
      const failure = this.#options.fetcher.takeFailure()
      if (failure === undefined) return
      await this.#answer(failure.topicPartition, failure.error)
    }
  }

  async #answer(topicPartition: TopicPartition, error: MillraceError): Promise<void> {
    if (error.code !== 'OFFSET_OUT_OF_RANGE') throw error
    if (this.#options.restorer.reads(topicPartition)) return await this.#options.restorer.restart(topicPartition)
    if (this.#options.globals.reads(topicPartition)) return await this.#options.globals.restart(topicPartition)
    const owned = this.#options.registry.inputOf(topicPartition)
    // Taken away meanwhile: no longer ours to answer.
    if (owned === undefined) return
    const policy = owned.input.source.onOutOfRange
    switch (policy) {
      case 'fail':
        throw new MillraceError('OFFSET_OUT_OF_RANGE', {
          ...topicPartition,
          offset: owned.task.positionOf(owned.input),
          task: owned.task.id,
        })
      case 'earliest':
      case 'latest':
        return await this.#jump(owned.task, owned.input, policy)
      default:
        return unreachable(policy)
    }
  }

  async #jump(task: ActiveTask, input: TaskInput, to: 'earliest' | 'latest'): Promise<void> {
    // What was read before the gap is committed first: the jump is not undone by a later abort.
    await this.#options.commit()
    const offsets = await this.#options.admin.listOffsets(
      [input.topicPartition],
      to,
      to === 'earliest' ? 'read_uncommitted' : 'read_committed',
    )
    const from = task.positionOf(input)
    input.rewindTo = offsets.get(input.topicPartition) ?? 0
    this.#options.logger.error(
      { ...input.topicPartition, from, to: input.rewindTo, policy: to },
      'records were deleted before they were processed: reading goes on where the policy `onOutOfRange` says',
    )
    // The queues go, those of the other inputs too: they are read again from what was just committed.
    task.task.clearQueues()
    for (const { topicPartition, rewindTo } of task.inputs) this.#options.fetcher.seek(topicPartition, rewindTo)
  }
}
