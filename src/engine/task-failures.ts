import { MillraceError, reasonOf } from '../model/errors.ts'
import type { ErrorPolicies, RecordFailure } from '../model/record-failure.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import { UnresolvedTopic } from './record-collector.ts'
import { failureOf, phaseOf, reactionTo, sendDeadLetter, stopError } from './record-failures.ts'
import type { TaskPorts } from './task-ports.ts'

/** Answers what fails in a task by the policies of its application and its sources. */
export class TaskFailures {
  readonly #taskId: string
  readonly #policies: ErrorPolicies
  readonly #ports: TaskPorts
  readonly #record: CurrentRecord

  constructor(taskId: string, policies: ErrorPolicies, ports: TaskPorts, record: CurrentRecord) {
    this.#taskId = taskId
    this.#policies = policies
    this.#ports = ports
    this.#record = record
  }

  /**
   * Applies the policy to a failure whose traces are undone already; a dead letter is written into a savepoint of its own.
   *
   * @throws MillraceError when the policy says stop, or none may answer
   * @throws UnresolvedTopic as it came, or when nobody has looked up the dead-letter topic
   */
  answer(thrown: unknown, ofSource: ErrorPolicies | undefined): void {
    if (thrown instanceof UnresolvedTopic) throw thrown
    const phase = phaseOf(thrown)
    if (phase === undefined)
      throw thrown instanceof MillraceError
        ? thrown
        : new MillraceError('INTERNAL', { cause: thrown, task: this.#taskId, what: reasonOf(thrown) })
    const policies = { ...this.#policies, ...ofSource }
    const failure = failureOf(phase, thrown, this.#record)
    const reaction = reactionTo(failure, policies)
    this.#ports.failed?.(failure, reaction)
    if (reaction === 'stop') throw stopError(failure, this.#taskId)
    this.#ports.collector.beginRecord()
    if (reaction === 'skip') {
      this.#ports.dropped('skipped')
    } else {
      const { deadLetterTopic } = policies
      if (deadLetterTopic === undefined) throw stopError(failure, this.#taskId)
      this.#sendDeadLetter(failure, deadLetterTopic)
      this.#ports.dropped('deadLettered')
    }
    const { node, metadata } = failure
    this.#ports.logger.warn({ task: this.#taskId, node, phase, reaction, ...metadata, err: thrown }, 'a record failed')
  }

  #sendDeadLetter(failure: RecordFailure, topic: string): void {
    try {
      sendDeadLetter(failure, topic, this.#ports.collector)
    } catch (thrown) {
      this.#ports.collector.rollbackRecord()
      // A dead letter that cannot be written is no answer: the first failure stops the task.
      throw thrown instanceof UnresolvedTopic ? thrown : stopError(failure, this.#taskId)
    }
  }
}
