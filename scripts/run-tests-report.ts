import Mocha from 'mocha'
import type { LaneEvent, ReportedError, ReportedTest } from './run-tests-events.ts'

/** Makes a reporter of mocha, which listens to the runner. */
export type MakeReporter = (runner: Mocha.Runner) => void

const { constants } = Mocha.Runner

/** Plays the events of several processes to one reporter of mocha, as if one runner had run everything. */
export class TestReport {
  /** Never run: only its listeners are used. */
  readonly #runner = new Mocha.Runner(new Mocha.Suite(''), {})
  readonly #stats = { suites: 0, tests: 0, passes: 0, pending: 0, failures: 0, start: new Date(), duration: 0 }

  constructor(makeReporter: MakeReporter) {
    Object.assign(this.#runner, { stats: this.#stats })
    makeReporter(this.#runner)
    this.#emit(constants.EVENT_RUN_BEGIN)
    this.#emit(constants.EVENT_SUITE_BEGIN, { title: '', root: true })
  }

  get failures(): number {
    return this.#stats.failures
  }

  get tests(): number {
    return this.#stats.passes + this.#stats.failures + this.#stats.pending
  }

  /** Reports what happened in one file or more, in order and without anything of other lanes in between. */
  play(events: readonly LaneEvent[]): void {
    let open = 0
    for (const event of events) {
      if (event.type === 'suite') open += 1
      if (event.type === 'suiteEnd') open -= 1
      this.#playOne(event)
    }
    // A process that died left its suites open.
    for (; open > 0; open -= 1) this.#emit(constants.EVENT_SUITE_END, {})
  }

  /** Reports a failure that is not a test's own. */
  fail(titlePath: readonly string[], message: string): void {
    const test = { titlePath, durationMs: 0, slowMs: 0 }
    this.play([
      { type: 'suite', title: titlePath[0] ?? '' },
      { type: 'fail', test, error: { message, stack: message } },
      { type: 'suiteEnd' },
    ])
  }

  /** The summary. */
  end(): void {
    this.#stats.duration = Date.now() - this.#stats.start.getTime()
    this.#emit(constants.EVENT_SUITE_END, { title: '', root: true })
    this.#emit(constants.EVENT_RUN_END)
  }

  #playOne(event: LaneEvent): void {
    switch (event.type) {
      case 'suite':
        this.#stats.suites += 1
        this.#emit(constants.EVENT_SUITE_BEGIN, { title: event.title, root: false })
        return
      case 'suiteEnd':
        this.#emit(constants.EVENT_SUITE_END, {})
        return
      case 'pass':
        this.#stats.passes += 1
        this.#outcome(constants.EVENT_TEST_PASS, event.test)
        return
      case 'pending':
        this.#stats.pending += 1
        this.#outcome(constants.EVENT_TEST_PENDING, event.test)
        return
      case 'fail':
        this.#stats.failures += 1
        this.#outcome(constants.EVENT_TEST_FAIL, event.test, errorOf(event.error))
        return
      case 'output':
        process.stdout.write(event.text)
        return
      case 'test':
      case 'done':
    }
  }

  #outcome(name: string, test: ReportedTest, error?: Error): void {
    this.#stats.tests += 1
    const played = playedTest(test)
    this.#emit(name, played, error)
    this.#emit(constants.EVENT_TEST_END, played)
  }

  #emit(name: string, ...args: readonly unknown[]): void {
    this.#runner.emit(name, ...args)
  }
}

/** What reporters ask of a test. */
function playedTest({ titlePath, durationMs, slowMs }: ReportedTest): object {
  return {
    title: titlePath.at(-1) ?? '',
    titlePath: () => [...titlePath],
    fullTitle: () => titlePath.join(' '),
    duration: durationMs,
    slow: () => slowMs,
    currentRetry: () => 0,
  }
}

function errorOf({ message, stack, actual, expected, cause }: ReportedError): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: errorOf(cause) })
  error.stack = stack
  return expected === undefined ? error : Object.assign(error, { actual, expected, showDiff: true })
}
