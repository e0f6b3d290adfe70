/**
 * One lane of a test run: a process that runs the files it is given, one order after the other, and reports each event to
 * the process that started it. What its files share, such as real brokers, lives as long as the lane.
 */
import Mocha from 'mocha'
import { endShared, keepShared } from '../test/support/run-end.ts'
import type { TestOrder } from './run-tests-files.ts'
import type { LaneEvent, LaneOrder, ReportedError, ReportedTest, TestOptions } from './run-tests-events.ts'

/** Causes of causes that are told. */
const CAUSES_MAX = 5

function report(event: LaneEvent): void {
  process.send?.(event)
}

/** Sends what mocha tells; prints nothing. */
class LaneReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    const { constants } = Mocha.Runner
    runner.on(constants.EVENT_SUITE_BEGIN, ({ title, root }) => {
      if (!root) report({ type: 'suite', title })
    })
    runner.on(constants.EVENT_SUITE_END, ({ root }) => {
      if (!root) report({ type: 'suiteEnd' })
    })
    runner.on(constants.EVENT_TEST_BEGIN, test => {
      report({ type: 'test', test: reportedTest(test) })
    })
    runner.on(constants.EVENT_TEST_PASS, test => {
      report({ type: 'pass', test: reportedTest(test) })
    })
    runner.on(constants.EVENT_TEST_PENDING, test => {
      report({ type: 'pending', test: reportedTest(test) })
    })
    runner.on(constants.EVENT_TEST_FAIL, (test, error) => {
      report({ type: 'fail', test: reportedTest(test), error: reportedError(error) })
    })
  }
}

function reportedTest(test: Mocha.Runnable): ReportedTest {
  return { titlePath: test.titlePath(), durationMs: test.duration ?? 0, slowMs: test.slow() }
}

function reportedError(thrown: unknown, depth = 0): ReportedError {
  if (!(thrown instanceof Error)) return { message: String(thrown), stack: String(thrown) }
  const { message, stack = message, cause } = thrown
  return {
    message,
    stack,
    ...compared(thrown),
    ...(cause === undefined || depth === CAUSES_MAX ? {} : { cause: reportedError(cause, depth + 1) }),
  }
}

/** What an assertion adds to its error. */
interface Comparison extends Error {
  readonly actual?: unknown
  readonly expected?: unknown
  readonly showDiff?: unknown
}

/** As mocha's own reporters decide whether to show a diff. */
function compared(error: Error): Pick<ReportedError, 'actual' | 'expected'> {
  const { actual, expected, showDiff }: Comparison = error
  const sameKind = Object.prototype.toString.call(actual) === Object.prototype.toString.call(expected)
  if (showDiff === false || expected === undefined || !sameKind) return {}
  return { actual: textOf(actual), expected: textOf(expected) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : Mocha.utils.stringify(value)
}

async function run({ files, endsShared }: TestOrder, options: TestOptions): Promise<void> {
  const mocha = new Mocha({
    timeout: options.timeoutMs,
    checkLeaks: options.checkLeaks,
    forbidOnly: options.forbidOnly,
    reporter: LaneReporter,
    ...(options.grep === undefined ? {} : { grep: new RegExp(options.grep) }),
  })
  for (const file of files) mocha.addFile(file)
  try {
    await mocha.loadFilesAsync()
    await new Promise<void>(resolve => {
      mocha.run(() => {
        resolve()
      })
    })
    // Else its listeners for unhandled rejections stay.
    mocha.dispose()
    if (endsShared) await endShared()
  } catch (error) {
    const test = { titlePath: [files.join(', ')], durationMs: 0, slowMs: 0 }
    report({ type: 'fail', test, error: reportedError(error) })
  }
  report({ type: 'done' })
}

let ending = false

/** Whatever keeps this process alive after that is a leak. */
async function end(): Promise<void> {
  ending = true
  await endShared()
  process.disconnect()
}

keepShared()

// As mocha's command line does it: the test at hand fails, and without one the process.
process.on('unhandledRejection', reason => {
  throw reason
})

// Through the same channel as the events, so that a line stands beside the test that printed it.
process.stdout.write = (chunk: string | Uint8Array): boolean => {
  report({ type: 'output', text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8') })
  return true
}

process.on('message', (order: LaneOrder) => {
  if (order.type === 'end') {
    void end()
    return
  }
  void run(order.order, order.options)
})

// Nobody is left to report to.
process.on('disconnect', () => {
  if (!ending) process.exit(1)
})
