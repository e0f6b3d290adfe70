import type { ThreadSnapshot } from '../engine/thread-metrics.ts'

/** A running application as the HTTP server sees it. */
export interface ObservedService {
  /** Its state, such as `running`. */
  state(): string
  /** The latest snapshot of every thread. */
  threads(): readonly ThreadSnapshot[]
}

/** Answer to one probe. */
export interface ProbeResult {
  readonly ok: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** A loop that has not turned for so long will not turn again by itself. @default 60 s */
export const LIVENESS_LIMIT_MS = 60_000

const ENDED_STATES: ReadonlySet<string> = new Set(['failed', 'closed'])

/** Answers the probes of an orchestrator. A rebalance is live, not ready. */
export class ServiceHealth {
  readonly #service: ObservedService
  #started = false

  constructor(service: ObservedService) {
    this.#service = service
  }

  /** Whether the loops turn. */
  live(): ProbeResult {
    const state = this.#service.state()
    const threads = this.#service.threads().map(({ thread, state: threadState, turnAgeMs }) => ({
      thread,
      state: threadState,
      turnAgeMs: Math.round(turnAgeMs),
    }))
    const stuck = threads.some(
      ({ state: threadState, turnAgeMs }) => threadState !== 'stopped' && turnAgeMs > LIVENESS_LIMIT_MS,
    )
    return { ok: !ENDED_STATES.has(state) && !stuck, body: { state, threads } }
  }

  /** Whether every assigned task runs. */
  ready(): ProbeResult {
    const state = this.#service.state()
    const threads = this.#service.threads()
    const tasks = threads.flatMap(({ thread, tasks: own }) =>
      own.map(({ id, state: taskState, restoreRemaining }) => ({ id, thread, state: taskState, restoreRemaining })),
    )
    const ok =
      state === 'running' &&
      threads.every(thread => thread.state === 'running') &&
      tasks.every(task => task.state === 'running')
    if (ok) this.#started = true
    return { ok, body: { state, tasks } }
  }

  /** Whether it has been ready once; stays true. */
  started(): ProbeResult {
    const { body } = this.ready()
    return { ok: this.#started, body: { state: body['state'] } }
  }
}
