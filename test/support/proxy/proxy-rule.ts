import type { ApiName, ResponseBodies } from '../../../src/kafka/protocol/api.ts'
import type { Exchange } from './exchange.ts'
import { type FiredEntry, firedEntry } from './fired-log.ts'

/** Which way a frame goes. */
export type Direction = 'request' | 'response'

/** What is done to a frame that a rule matches; several are done in their order. */
export type ProxyAction<A extends ApiName = ApiName> =
  /** Keeps it, and all that follows it that way on the same connection, until `release` or `drop` of the handle. */
  | { readonly type: 'hold' }
  /** Swallows it and all that follows it that way on the same connection: a stream cannot lose its middle. */
  | { readonly type: 'drop' }
  | { readonly type: 'delay'; readonly ms: number }
  /** Sends a request twice; the second answer goes nowhere. */
  | { readonly type: 'duplicate' }
  /** Ends both sockets with a reset, before the frame goes on. */
  | { readonly type: 'reset' }
  /** Answers a request in the broker's place; the broker never sees it. */
  | { readonly type: 'answer'; readonly body: (exchange: Exchange<A>) => ResponseBodies[A] }
  /** Changes a response. */
  | {
      readonly type: 'rewrite'
      readonly body: (response: ResponseBodies[A], exchange: Exchange<A>) => ResponseBodies[A]
    }
  /** Sends it in pieces of so many bytes, so many milliseconds apart. */
  | { readonly type: 'slice'; readonly bytes: number; readonly gapMs?: number }
  | { readonly type: 'throttle'; readonly bytesPerSecond: number }
  /**
   * An error code in every place of the answer. Of a request: the broker never sees it. Of a response: the broker did
   * what was asked, and the client is told that it failed.
   */
  | { readonly type: 'error'; readonly code: number }
  /** Kills, stops or continues a process before the frame goes on. */
  | { readonly type: 'signal'; readonly pid: number; readonly signal: NodeJS.Signals }
  /** Runs something before the frame goes on. */
  | { readonly type: 'call'; readonly run: (exchange: Exchange<A>) => void | Promise<void> }

/** Which frames a rule is about, and what it does to them. */
export interface ProxyRule<A extends ApiName = ApiName> {
  /** One or more requests, or all of them. */
  readonly api: A | readonly A[] | '*'
  readonly direction: Direction
  readonly action: ProxyAction<A> | readonly ProxyAction<A>[]
  /** Shown in the record of what fired. */
  readonly name?: string
  /** Only the nth match, from 1. */
  readonly nth?: number
  /** No more than so many matches. */
  readonly times?: number
  readonly nodeId?: number
  readonly transactionalId?: string
  readonly clientId?: string
  /** Any other condition. */
  readonly when?: (exchange: Exchange<A>) => boolean
}

const WAIT_STEP_MS = 5

/** A rule at work. */
export class RuleHandle<A extends ApiName = ApiName> {
  readonly rule: ProxyRule<A>
  readonly actions: readonly ProxyAction<A>[]
  /** What it was done to, in order. */
  readonly fired: Exchange<A>[] = []
  readonly #apis: readonly ApiName[] | '*'
  readonly #record: ((entry: FiredEntry) => void) | undefined
  readonly #held = new Set<(verdict: 'release' | 'drop') => void>()
  #matches = 0
  #removed = false

  /** @param record - told each time it fires */
  constructor(rule: ProxyRule<A>, record?: (entry: FiredEntry) => void) {
    this.rule = rule
    this.#record = record
    this.actions = isList(rule.action) ? rule.action : [rule.action]
    this.#apis = rule.api === '*' ? '*' : isList(rule.api) ? rule.api : [rule.api]
  }

  /** How many frames it holds now. */
  get held(): number {
    return this.#held.size
  }

  /** Stops matching; what it holds stays held. */
  remove(): void {
    this.#removed = true
  }

  /** Lets go of all it holds. */
  release(): void {
    this.#end('release')
  }

  /** Swallows all it holds. */
  drop(): void {
    this.#end('drop')
  }

  /** Waits until it fired so many times. */
  async waitFired(times = 1, timeoutMs = 10_000): Promise<void> {
    await waitFor(
      () => this.fired.length >= times,
      timeoutMs,
      () => `${this.#name()} fired ${String(times)} times`,
    )
  }

  /** Waits until it holds so many frames. */
  async waitHeld(frames = 1, timeoutMs = 10_000): Promise<void> {
    await waitFor(
      () => this.#held.size >= frames,
      timeoutMs,
      () => `${this.#name()} holds ${String(frames)}`,
    )
  }

  /** Counts a frame and says whether the rule applies to it. */
  matches(any: Exchange, direction: Direction): boolean {
    const { rule } = this
    if (this.#removed || rule.direction !== direction) return false
    if (this.#apis !== '*' && !this.#apis.includes(any.api)) return false
    // Checked just now; the compiler cannot follow a name to its body's type.
    const exchange = any as unknown as Exchange<A>
    if (rule.nodeId !== undefined && rule.nodeId !== exchange.nodeId) return false
    if (rule.clientId !== undefined && rule.clientId !== exchange.clientId) return false
    if (rule.transactionalId !== undefined && rule.transactionalId !== exchange.transactionalId) return false
    if (rule.when !== undefined && !rule.when(exchange)) return false
    this.#matches += 1
    if (rule.nth !== undefined && rule.nth !== this.#matches) return false
    if (rule.times !== undefined && this.fired.length >= rule.times) return false
    this.fired.push(exchange)
    const types = this.actions.map(({ type }) => type)
    this.#record?.(firedEntry(any, rule, types))
    return true
  }

  /** Waits for the verdict over a held frame. */
  hold(ended: Promise<void>): Promise<'release' | 'drop'> {
    return new Promise(resolve => {
      this.#held.add(resolve)
      void ended.finally(() => {
        this.#held.delete(resolve)
        resolve('drop')
      })
    })
  }

  #end(verdict: 'release' | 'drop'): void {
    const held = [...this.#held]
    this.#held.clear()
    for (const resolve of held) resolve(verdict)
  }

  #name(): string {
    const apis = this.#apis === '*' ? 'any' : this.#apis.join(', ')
    return `the rule for a ${this.rule.direction} of ${apis}`
  }
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value)
}

async function waitFor(condition: () => boolean, timeoutMs: number, claim: () => string): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within ${String(timeoutMs)} ms: ${claim()}`)
    await new Promise(resolve => setTimeout(resolve, WAIT_STEP_MS))
  }
}
