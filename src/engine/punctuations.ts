import type { TaskVariable, TaskVariables } from './task-variables.ts'

/** Which clock a punctuation follows. */
export type PunctuationClock = 'streamTime' | 'wallClock'

interface Schedule {
  readonly number: number
  readonly node: string
  readonly everyMs: number
  readonly callback: (timestamp: number) => void
  /** Next time, in ms. */
  readonly next: TaskVariable
}

/** Punctuations of a task on one clock. Kafka Streams: `PunctuationQueue`. */
export class Punctuations {
  readonly #clock: PunctuationClock
  readonly #variables: TaskVariables
  /** In the order in which they were set. */
  readonly #schedules: Schedule[] = []
  /** What the present record has set and cancelled. */
  readonly #set: Schedule[] = []
  readonly #cancelled: Schedule[] = []
  readonly #countOfNode = new Map<string, number>()
  #lastNumber = 0

  constructor(clock: PunctuationClock, variables: TaskVariables) {
    this.#clock = clock
    this.#variables = variables
  }

  /** Earliest next time; infinite without schedules. */
  get nextMs(): number {
    let next = Number.POSITIVE_INFINITY
    for (const schedule of this.#schedules) if (schedule.next.value < next) next = schedule.next.value
    return next
  }

  /** Registers a punctuation; its next time is a task variable, so that an abort calls it again. */
  add(node: string, everyMs: number, firstMs: number, callback: (timestamp: number) => void): { cancel(): void } {
    const count = this.#countOfNode.get(node) ?? 0
    this.#countOfNode.set(node, count + 1)
    const next = this.#variables.declare(`punctuate.${node}.${this.#clock}.${String(count)}`, firstMs, {
      // By wall clock a restart begins anew, as in the JVM; by stream time the result would depend on the restart.
      kept: this.#clock === 'streamTime',
    })
    this.#lastNumber += 1
    const schedule: Schedule = { number: this.#lastNumber, node, everyMs, callback, next }
    this.#schedules.push(schedule)
    this.#set.push(schedule)
    return {
      cancel: () => {
        if (this.#remove(schedule)) this.#cancelled.push(schedule)
      },
    }
  }

  /** Keeps what the record has set and cancelled. */
  endRecord(): void {
    // Emptying an array costs more than most of what a record does, and hardly any record sets or cancels something.
    if (this.#set.length > 0) this.#set.length = 0
    if (this.#cancelled.length > 0) this.#cancelled.length = 0
  }

  /** Takes back what the record has set and cancelled. */
  rollbackRecord(): void {
    for (const schedule of this.#cancelled) this.#putBack(schedule)
    for (const schedule of this.#set) this.#remove(schedule)
    this.endRecord()
  }

  /** Forgets all of them; those that were committed go on at their times when they are set again. */
  clear(): void {
    for (const { next } of this.#schedules) this.#variables.drop(next)
    this.#schedules.length = 0
    this.#countOfNode.clear()
    this.endRecord()
  }

  #remove(schedule: Schedule): boolean {
    const at = this.#schedules.indexOf(schedule)
    if (at === -1) return false
    this.#schedules.splice(at, 1)
    // Its time would travel with every commit from here on.
    this.#variables.drop(schedule.next)
    return true
  }

  #putBack(schedule: Schedule): void {
    const behind = this.#schedules.findIndex(({ number }) => number > schedule.number)
    this.#schedules.splice(behind === -1 ? this.#schedules.length : behind, 0, schedule)
    this.#variables.putBack(schedule.next)
  }

  /**
   * Runs what is due, earliest first, through `run`. Missed times are made up for by one call. The next time is set before
   * `run` sets its savepoint, so that a call that fails and is skipped does not come again at once. `punctuation` stands for
   * the schedule, as an identity.
   */
  punctuate(nowMs: number, run: (node: string, call: () => void, punctuation: object) => void): void {
    for (;;) {
      let due: Schedule | undefined
      for (const schedule of this.#schedules) {
        if (schedule.next.value <= nowMs && (due === undefined || schedule.next.value < due.next.value)) due = schedule
      }
      if (due === undefined) return
      const { node, callback, next, everyMs } = due
      const before = next.value
      next.value += (Math.floor((nowMs - next.value) / everyMs) + 1) * everyMs
      try {
        const call = (): void => {
          callback(nowMs)
        }
        run(node, call, due)
      } catch (thrown) {
        // Not answered by a policy: it is called again once the cause is gone.
        next.value = before
        next.saved = before
        throw thrown
      }
    }
  }
}
