/**
 * Runs test files in lanes side by side and reports them as one run:
 * `node build/scripts/run-tests.js [--lanes 3] [--grep PATTERN] [files or folders below build/test…]`.
 *
 * Files without a broker come first, all of them in one lane, so that a broken unit shows within seconds; the lanes draw
 * the others one by one, so that none waits while there is work. A lane that dies is a failure.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { drawFrom, findTestFiles, ordersOf, type TestOrder } from './run-tests-files.ts'
import { Lane } from './run-tests-lanes.ts'
import { TestReport, type MakeReporter } from './run-tests-report.ts'
import type { TestOptions } from './run-tests-events.ts'

/** One more than the cores of the smallest machine that is meant: tests wait a good part of their time. */
const LANES = '3'
/** A lane that dies again and again is not started again for ever. */
const LANES_LOST_MAX = 3
const SLOWEST_SHOWN = 10

const MOCHARC = z.object({
  timeout: z.number(),
  reporter: z.string(),
  'forbid-only': z.boolean(),
  'check-leaks': z.boolean(),
})

interface TimedOrder {
  readonly order: TestOrder
  readonly ms: number
}

class TestRun {
  readonly #report: TestReport
  readonly #options: TestOptions
  readonly #waiting: TestOrder[]
  readonly #times: TimedOrder[] = []
  /** With the kinds of brokers that each has started. */
  readonly #lanes = new Map<Lane, Set<string>>()
  #lost = 0
  #stopped: NodeJS.Signals | undefined

  constructor(orders: readonly TestOrder[], options: TestOptions, report: TestReport) {
    this.#waiting = [...orders]
    this.#options = options
    this.#report = report
  }

  async run(lanes: number): Promise<void> {
    await Promise.all(Array.from({ length: lanes }, () => this.#runLane()))
    if (this.#waiting.length > 0) {
      const why = this.#stopped === undefined ? `${String(this.#lost)} lanes were lost` : `The run got ${this.#stopped}`
      this.#report.fail(
        ['files that were not run'],
        `${why} before:\n${this.#waiting.flatMap(({ files }) => files).join('\n')}`,
      )
    }
  }

  /** Ends all lanes at once; what they were at is reported as failed. */
  stop(signal: NodeJS.Signals): void {
    this.#stopped = signal
    for (const lane of this.#lanes.keys()) lane.kill()
  }

  /** Slowest orders, longest first. */
  get slowest(): readonly TimedOrder[] {
    return this.#times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN)
  }

  async #runLane(): Promise<void> {
    while (this.#waiting.length > 0 && this.#stopped === undefined && this.#lost < LANES_LOST_MAX) {
      const lane = new Lane()
      this.#lanes.set(lane, new Set())
      const died = await this.#draw(lane)
      this.#lanes.delete(lane)
      if (died !== undefined) {
        this.#lost += 1
        this.#report.fail(['a lane of the test run', died.at], died.why)
      }
    }
  }

  /** Has the lane run files until none is left. @returns how it died, if it did */
  async #draw(lane: Lane): Promise<{ readonly at: string; readonly why: string } | undefined> {
    for (let order = this.#next(lane); order !== undefined; order = this.#next(lane)) {
      const startMs = performance.now()
      const { events, died } = await lane.run(order, this.#options)
      this.#report.play(events)
      this.#times.push({ order, ms: performance.now() - startMs })
      if (died !== undefined) return { at: nameOf(order), why: `${died}${lastTestOf(events)}` }
    }
    const why = await lane.end()
    return why === undefined ? undefined : { at: 'its end', why }
  }

  /** Takes an order out of those that wait. */
  #next(lane: Lane): TestOrder | undefined {
    if (this.#stopped !== undefined) return undefined
    const own = this.#lanes.get(lane) ?? new Set<string>()
    const others = new Set([...this.#lanes].flatMap(([other, kinds]) => (other === lane ? [] : [...kinds])))
    const [order] = this.#waiting.splice(drawFrom(this.#waiting, own, others), 1)
    for (const kind of order?.brokers ?? []) own.add(kind)
    return order
  }
}

function lastTestOf(events: Awaited<ReturnType<Lane['run']>>['events']): string {
  const last = events.findLast(event => event.type === 'test')
  return last === undefined ? '' : `; the last test that began: ${last.test.titlePath.join(' ')}`
}

function nameOf({ files: [first = '', ...others] }: TestOrder): string {
  return others.length === 0 ? first : `${first} and ${String(others.length)} more`
}

/** Mocha's options stand in one place, for its own command line too. */
function readOptions(grep: string | undefined): { options: TestOptions; makeReporter: MakeReporter } {
  const mocharc = MOCHARC.parse(JSON.parse(readFileSync('.mocharc.json', 'utf8')))
  const Reporter: unknown = createRequire(import.meta.url)(resolve(mocharc.reporter))
  if (!isReporter(Reporter)) throw new TypeError(`${mocharc.reporter} is no reporter of mocha`)
  return {
    options: {
      timeoutMs: mocharc.timeout,
      forbidOnly: mocharc['forbid-only'],
      checkLeaks: mocharc['check-leaks'],
      grep,
    },
    makeReporter: runner => new Reporter(runner),
  }
}

function isReporter(value: unknown): value is new (runner: Mocha.Runner) => unknown {
  return typeof value === 'function'
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { lanes: { type: 'string', default: LANES }, grep: { type: 'string', short: 'g' } },
  })
  const { options, makeReporter } = readOptions(values.grep)
  const orders = ordersOf(findTestFiles(positionals))
  const report = new TestReport(makeReporter)
  const run = new TestRun(orders, options, report)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      run.stop(signal)
    })
  }
  await run.run(Number(values.lanes))
  if (report.tests === 0) report.fail(['the test run'], 'No test was found.')
  const times = run.slowest.map(
    ({ order, ms }) => `${String(Math.round(ms / 1_000)).padStart(6)} s  ${nameOf(order)}\n`,
  )
  process.stdout.write(`\n  Longest:\n${times.join('')}`)
  report.end()
  process.exitCode = report.failures > 0 ? 1 : 0
}

await main()
