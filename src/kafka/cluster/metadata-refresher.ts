import { sleep, type Clock } from '../../model/clock.ts'

/** Names that one request will ask for; more may join until it leaves. */
interface Batch {
  readonly names: Set<string>
  readonly done: Promise<void>
}

/**
 * Asks for metadata: one request at a time, calls that come meanwhile share the next one, and the same question is not
 * asked again within the back-off, so that many callers that see one leader move do not storm the brokers.
 */
export class MetadataRefresher {
  readonly #ask: (names: readonly string[]) => Promise<void>
  readonly #clock: Clock
  readonly #backoffMs: number
  #next: Batch | undefined
  #running: Promise<void> = Promise.resolve()
  #askedNames: ReadonlySet<string> = new Set()
  #askedAtMs = Number.NEGATIVE_INFINITY

  /** @param ask - one answered request, with its retries and deadline */
  constructor(ask: (names: readonly string[]) => Promise<void>, clock: Clock, backoffMs: number) {
    this.#ask = ask
    this.#clock = clock
    this.#backoffMs = backoffMs
  }

  /** Resolves once a request that left after this call was answered; rejects as that request did. */
  refresh(names: Iterable<string>): Promise<void> {
    this.#next ??= this.#prepare()
    for (const name of names) this.#next.names.add(name)
    return this.#next.done
  }

  #prepare(): Batch {
    const names = new Set<string>()
    const done = this.#run(names)
    return { names, done }
  }

  async #run(names: Set<string>): Promise<void> {
    // The running request's failure belongs to those who asked for it.
    await this.#running.catch(() => {})
    const waitMs = this.#asksAgain(names) ? this.#askedAtMs + this.#backoffMs - this.#clock.nowMs() : 0
    if (waitMs > 0) await sleep(this.#clock, waitMs)
    this.#next = undefined
    this.#askedNames = names
    this.#askedAtMs = this.#clock.nowMs()
    this.#running = this.#ask([...names])
    await this.#running
  }

  #asksAgain(names: ReadonlySet<string>): boolean {
    for (const name of names) if (!this.#askedNames.has(name)) return false
    return true
  }
}
