import { Worker } from 'node:worker_threads'
import type { StartCommand, ThreadStart, WorkerApplication } from './thread-messages.ts'

/**
 * A worker that already loads the application while the cluster is prepared, which takes about as long: the thread that
 * starts with it does not wait for its modules. What goes wrong while it loads is told when it is started.
 */
export class SpareWorker {
  readonly #application: WorkerApplication
  #worker: Worker
  #isGone = false

  constructor(source: WorkerApplication['source']) {
    this.#application = { source }
    this.#worker = newWorker(this.#application)
    // Nobody waits for it: a process that does not get so far as to start it may end.
    this.#worker.unref()
    this.#worker.on('error', this.#onGone)
    this.#worker.on('exit', this.#onGone)
  }

  /** Starts a stream thread in it; the worker is the caller's from here on. */
  start(start: ThreadStart): Worker {
    this.#worker.off('error', this.#onGone)
    this.#worker.off('exit', this.#onGone)
    if (this.#isGone) this.#worker = newWorker(this.#application)
    this.#worker.ref()
    const command: StartCommand = { type: 'start', start }
    const worker = this.#worker
    worker.postMessage(command)
    return worker
  }

  /** It is not needed after all. */
  discard(): void {
    void this.#worker.terminate()
  }

  readonly #onGone = (): void => {
    this.#isGone = true
  }
}

function newWorker(workerData: WorkerApplication): Worker {
  return new Worker(new URL('stream-thread-worker.js', import.meta.url), { workerData })
}
