import { CONTENDERS } from './contenders/all.ts'
import type { Contender } from './contenders/contender.ts'
import { type LatencyMeasurement, type LatencyTimes, runLatency } from './latency-run.ts'
import type { ScenarioResult } from './result.ts'
import type { Scenario } from './scenario.ts'
import { Stage } from './stage.ts'
import type { Plan } from './suites.ts'
import { type Measurement, runThroughput } from './throughput-run.ts'

/** What a run measures, and whom it tells of it. */
export interface Measuring {
  readonly plan: Plan
  readonly rounds: number
  readonly latencyTimes: LatencyTimes
  readonly say: (line: string) => void
}

/** What was measured. */
export interface Measured {
  readonly throughput: readonly ScenarioResult<Measurement>[]
  readonly latency: readonly ScenarioResult<LatencyMeasurement>[]
}

/** Measures a whole plan: scenarios that want as many brokers share them. @throws when a run fails, or a result is wrong */
export async function measureAll({ plan, rounds, latencyTimes, say }: Measuring): Promise<Measured> {
  const throughput: ScenarioResult<Measurement>[] = []
  const latency: ScenarioResult<LatencyMeasurement>[] = []
  for (const brokers of [1, 3] as const) {
    const fits = (scenario: Scenario): boolean => scenario.brokers === brokers
    if (!plan.throughput.some(fits) && !plan.latency.some(fits)) continue
    say(`starting ${String(brokers)} × Kafka`)
    const stage = await Stage.open(brokers, say)
    try {
      for (const scenario of plan.throughput.filter(fits)) {
        const run = (contender: Contender): Promise<Measurement> => runThroughput(stage, scenario, contender)
        throughput.push(
          await takeTurns(scenario, rounds, run, (name, found) => say(`${name}  ${throughputLine(found)}`)),
        )
        await stage.inputs.keepOnly(scenario)
      }
      for (const scenario of plan.latency.filter(fits)) {
        const run = (contender: Contender): Promise<LatencyMeasurement> =>
          runLatency(stage, scenario, contender, latencyTimes)
        latency.push(await takeTurns(scenario, rounds, run, (name, found) => say(`${name}  ${latencyLine(found)}`)))
      }
    } finally {
      await stage.close()
    }
  }
  return { throughput, latency }
}

/** Each contender once, and again, so that what else the machine does meets all of them. */
async function takeTurns<T>(
  scenario: Scenario,
  rounds: number,
  run: (contender: Contender) => Promise<T>,
  tell: (name: string, measurement: T) => void,
): Promise<ScenarioResult<T>> {
  const found = scenario.contenders.map(contender => ({ contender, rounds: [] as T[] }))
  for (let round = 1; round <= rounds; round += 1) {
    for (const { contender, rounds: measured } of found) {
      const measurement = await run(CONTENDERS[contender]).catch((cause: unknown) => {
        throw new Error(`${scenario.id}, ${contender}, round ${String(round)}: ${messageOf(cause)}`, { cause })
      })
      measured.push(measurement)
      tell(`${scenario.id.padEnd(22)} ${contender.padEnd(16)} ${String(round)}`, measurement)
    }
  }
  return { scenario, contenders: found }
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
