import { MillraceError, reasonOf } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { Punctuations } from './punctuations.ts'
import type { TaskVariables } from './task-variables.ts'

/**
 * The user's processors of a task: made when its stores are complete, and made anew after an abort, because nobody can take
 * back what they remember themselves. With them go their punctuations. Kafka Streams: `initializeTopology`, `closeTopology` of
 * `StreamTask`.
 */
export class TaskProcessors {
  readonly byStreamTime: Punctuations
  readonly byWallClock: Punctuations
  readonly #variables: TaskVariables
  readonly #task: string
  readonly #logger: Logger
  readonly #begins: { readonly node: string; readonly begin: () => void }[] = []
  readonly #closes: (() => void)[] = []
  #areMade = false

  constructor(task: string, variables: TaskVariables, logger: Logger) {
    this.#task = task
    this.#variables = variables
    this.#logger = logger
    this.byStreamTime = new Punctuations('streamTime', variables)
    this.byWallClock = new Punctuations('wallClock', variables)
  }

  /** Whether there is nothing for `make` to do. */
  get areMade(): boolean {
    return this.#areMade
  }

  /** Registers what makes a processor. */
  onBegin(node: string, begin: () => void): void {
    this.#begins.push({ node, begin })
  }

  /** Registers what ends a processor that was made. */
  onClose(close: () => void): void {
    this.#closes.push(close)
  }

  /**
   * Makes them all. Their punctuations go on where they were committed.
   *
   * @throws MillraceError `PROCESSING_FAILED` with the reaction `stop` when one cannot be made
   */
  make(): void {
    // The graph is compiled from its end; the JVM initializes from its beginning.
    for (const { node, begin } of this.#begins.toReversed()) {
      try {
        begin()
      } catch (thrown) {
        if (thrown instanceof MillraceError) throw thrown
        throw new MillraceError('PROCESSING_FAILED', {
          cause: thrown,
          node,
          task: this.#task,
          what: `The processor ${node} failed in init: ${reasonOf(thrown)}.`,
          reaction: 'stop',
        })
      }
    }
    this.#areMade = true
    this.#variables.begun()
    this.endRecord()
  }

  endRecord(): void {
    this.byStreamTime.endRecord()
    this.byWallClock.endRecord()
  }

  rollbackRecord(): void {
    this.byStreamTime.rollbackRecord()
    this.byWallClock.rollbackRecord()
  }

  /** Ends them all; `make` may follow. */
  close(): void {
    for (const close of this.#closes) {
      try {
        close()
      } catch (thrown) {
        // Nothing depends on it any more, and the other processors, stores and connections still have to be closed.
        this.#logger.error({ task: this.#task, err: thrown }, 'a processor failed while it was closed')
      }
    }
    this.#closes.length = 0
    this.byStreamTime.clear()
    this.byWallClock.clear()
    this.#areMade = false
  }
}
