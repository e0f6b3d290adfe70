import type { ApplicationUnderTest } from '../../support/application.ts'
import { eventually } from '../../support/condition.ts'

const WAIT_MS = 60_000

/** Writes into an application's input in the background, a small batch at a time, while a test does harm. */
export class Traffic {
  readonly #application: ApplicationUnderTest
  #written = 0
  #stopped = false
  #done: Promise<void> = Promise.resolve()

  private constructor(application: ApplicationUnderTest) {
    this.#application = application
  }

  /** Starts; `stop` must follow. */
  static flow(application: ApplicationUnderTest, batch = 10, pauseMs = 20): Traffic {
    const traffic = new Traffic(application)
    traffic.#done = traffic.#run(batch, pauseMs)
    // Told by `stop`.
    traffic.#done.catch(() => undefined)
    return traffic
  }

  /** Waits until so many more records than now were acknowledged. */
  async more(records: number, timeoutMs = WAIT_MS): Promise<void> {
    const until = this.#written + records
    await eventually(`${String(records)} more records are written`, () => this.#written >= until, timeoutMs)
  }

  /** Ends the flow. @throws what a write failed with */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }

  async #run(batch: number, pauseMs: number): Promise<void> {
    while (!this.#stopped) {
      await this.#application.write(batch)
      this.#written += batch
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
}
