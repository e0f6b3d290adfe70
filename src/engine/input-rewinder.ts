import type { Fetcher } from '../kafka/fetcher/fetcher.ts'
import type { ActiveTask } from './active-task.ts'

/** Takes tasks back to their last commit: state, variables, queues and read positions together. */
export class InputRewinder {
  readonly #fetcher: Pick<Fetcher, 'seek'>

  constructor(fetcher: Pick<Fetcher, 'seek'>) {
    this.#fetcher = fetcher
  }

  rewind(tasks: readonly ActiveTask[]): void {
    for (const task of tasks) {
      task.task.abortState()
      for (const input of task.inputs) this.#fetcher.seek(input.topicPartition, input.rewindTo)
    }
  }
}
