import type { StreamsState } from '../engine/streams-state.ts'
import type { ThreadHandle } from '../engine/thread-handle.ts'
import type { ThreadSnapshot } from '../engine/thread-metrics.ts'

/** A running application as seen from outside; `StreamsInstance` is one. */
export interface ObservedService {
  readonly state: StreamsState
  readonly threads: readonly Pick<ThreadHandle, 'name' | 'state' | 'turnAgeMs'>[]
  /** What every thread that answers tells about itself. */
  snapshots(): Promise<readonly ThreadSnapshot[]>
}

/** Answer to one probe. */
export interface ProbeResult {
  readonly ok: boolean
  readonly body: Readonly<Record<string, unknown>>
}

/** A loop that has not turned for so long will not turn again by itself. @default 60 s */
const LIVENESS_LIMIT_MS = 60_000

/** Answers the probes of an orchestrator. A rebalance is live, not ready. */
export class ServiceHealth {
  readonly #service: ObservedService
  #started = false

  constructor(service: ObservedService) {
    this.#service = service
  }

  /** Whether the loops turn. */
  live(): ProbeResult {
    const { state } = this.#service
    const threads = this.#service.threads.map(thread => ({
      thread: thread.name,
      state: thread.state,
      turnAgeMs: Math.round(thread.turnAgeMs()),
    }))
    const ended = state === 'failed' || state === 'closed'
    return { ok: !ended && threads.every(({ turnAgeMs }) => turnAgeMs <= LIVENESS_LIMIT_MS), body: { state, threads } }
  }

  /** Whether every assigned task runs. */
  async ready(): Promise<ProbeResult> {
    const { state, threads } = this.#service
    const snapshots = await this.#service.snapshots()
    const tasks = snapshots.flatMap(({ thread, tasks: own }) =>
      own.map(({ id, state: taskState, restoreRemaining }) => ({ id, thread, state: taskState, restoreRemaining })),
    )
    const ok =
      state === 'running' &&
      // A thread that does not answer is blocked, and so are its tasks.
      snapshots.length === threads.length &&
      snapshots.every(snapshot => snapshot.state === 'running') &&
      tasks.every(task => task.state === 'running')
    if (ok) this.#started = true
    return { ok, body: { state, tasks } }
  }

  /** Whether it has been ready once; stays true. */
  async started(): Promise<ProbeResult> {
    if (!this.#started) await this.ready()
    return { ok: this.#started, body: { state: this.#service.state } }
  }
}
