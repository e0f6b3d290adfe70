import { CONTENDERS } from './contenders/all.ts'
import type { Contender } from './contenders/contender.ts'
import { type LatencyMeasurement, type LatencyTimes, runLatency } from './latency-run.ts'
import type { ScenarioResult } from './result.ts'
import type { Scenario } from './scenario.ts'
import { Stage } from './stage.ts'
import type { Plan } from './suites.ts'
import { type Measurement, runThroughput } from './throughput-run.ts'

/** Turns that do not count, for each number of brokers. */
const WARM_UP_TURNS = 4

/** What a run measures, and whom it tells of it. */
export interface Measuring {
  readonly plan: Plan
  readonly rounds: number
  readonly latencyTimes: LatencyTimes
  readonly cli: string
  readonly say: (line: string) => void
}

/** What was measured. */
export interface Measured {
  readonly throughput: readonly ScenarioResult<Measurement>[]
  readonly latency: readonly ScenarioResult<LatencyMeasurement>[]
  /** Why scenarios are missing: a contender failed, or a result was wrong. */
  readonly failures: readonly string[]
}

/** Measures a whole plan: scenarios that want as many brokers share them. A contender that fails is left out and told. */
export async function measureAll(measuring: Measuring): Promise<Measured> {
  const { plan, rounds, latencyTimes, cli, say } = measuring
  const throughput: ScenarioResult<Measurement>[] = []
  const latency: ScenarioResult<LatencyMeasurement>[] = []
  const failures: string[] = []
  for (const brokers of [1, 3] as const) {
    const fits = (scenario: Scenario): boolean => scenario.brokers === brokers
    if (!plan.throughput.some(fits) && !plan.latency.some(fits)) continue
    say(`starting ${String(brokers)} × Kafka`)
    const stage = await Stage.open({ brokers, cli, say })
    const fail = (message: string): void => {
      failures.push(message)
      say(message)
    }
    try {
      const scenarios = plan.throughput.filter(fits)
      if (scenarios[0] !== undefined) await warmUp(stage, scenarios[0], measuring)
      for (const scenario of scenarios) {
        const turns = { scenario, rounds, show: throughputLine, say, fail }
        await takeTurns(turns, contender => runThroughput(stage, scenario, contender), throughput)
        await stage.inputs.keepOnly(scenario)
      }
      for (const scenario of plan.latency.filter(fits)) {
        // Each lasts half a minute, and says more than a run for throughput.
        const turns = { scenario, rounds: Math.ceil(rounds / 2), show: latencyLine, say, fail }
        await takeTurns(turns, contender => runLatency(stage, scenario, contender, latencyTimes), latency)
      }
    } finally {
      await stage.close()
    }
  }
  return { throughput, latency, failures }
}

/**
 * Turns that do not count: until a broker's own code is compiled it takes up to three times the processor time for a
 * record, all of which the first contender of the first round would pay. A contender that fails here fails again later.
 */
async function warmUp(stage: Stage, scenario: Scenario, { say }: Measuring): Promise<void> {
  say(`warming up ${String(scenario.brokers)} × Kafka with ${String(WARM_UP_TURNS)} turns of ${scenario.id}`)
  const [first] = scenario.contenders
  if (first === undefined) return
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
    await runThroughput(stage, scenario, CONTENDERS[first]).catch(() => undefined)
  }
}

interface Turns<T> {
  readonly scenario: Scenario
  readonly rounds: number
  readonly show: (measurement: T) => string
  readonly say: (line: string) => void
  readonly fail: (message: string) => void
}

/** Each contender once, and again, so that what else the machine does meets all of them; but for one that has failed. */
async function takeTurns<T>(
  { scenario, rounds, show, say, fail }: Turns<T>,
  run: (contender: Contender) => Promise<T>,
  into: ScenarioResult<T>[],
): Promise<void> {
  let found = scenario.contenders.map(contender => ({ contender, rounds: [] as T[] }))
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, rounds: measured } of found) {
      try {
        const measurement = await run(CONTENDERS[contender])
        measured.push(measurement)
        say(`${scenario.id.padEnd(22)} ${contender.padEnd(16)} ${String(round)}  ${show(measurement)}`)
      } catch (error) {
        fail(`${scenario.id}, ${contender}, round ${String(round)}: ${messageOf(error)}`)
      }
    }
    found = found.filter(({ rounds: measured }) => measured.length === round)
  }
  if (found.length > 0) into.push({ scenario, contenders: found })
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function throughputLine({ steady, whole, peakBytes }: Measurement): string {
  return [
    `${rate(steady.recordsPerSecond)} k/s steady`,
    `${rate(whole.recordsPerSecond)} k/s whole`,
    `${micros(steady.clientCpuMicros)} µs client`,
    `${micros(steady.brokerCpuMicros)} µs broker`,
    `${(peakBytes / 2 ** 20).toFixed(0).padStart(5)} MiB`,
  ].join('  ')
}

function rate(perSecond: number): string {
  return (perSecond / 1_000).toFixed(0).padStart(6)
}

function micros(value: number): string {
  return value.toFixed(2).padStart(6)
}

function latencyLine({ p50, p99, p999, max, records }: LatencyMeasurement): string {
  const values = { p50, p99, 'p99.9': p999, max }
  const shown = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`)
  return `${shown.join('  ')} ms of ${records.toLocaleString('en')} records`
}
