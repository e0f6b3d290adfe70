import type { LatencyMeasurement } from '../../../bench/latency-run.ts'
import { type BenchResult, ratiosOf, type ScenarioResult } from '../../../bench/result.ts'
import { type ContenderName, PLAIN, type Scenario } from '../../../bench/scenario.ts'
import type { Measurement } from '../../../bench/throughput-run.ts'

/** What matters of a measurement; the rest follows from it. */
export interface Figures {
  readonly rate: number
  readonly cpu?: number
  readonly memory?: number
}

/** A measurement whose steady rate is `rate`, and whose whole rate is half of that. */
export function aMeasurement({ rate, cpu = 1, memory = 2 ** 20 }: Figures): Measurement {
  const steady = { recordsPerSecond: rate, clientCpuMicros: cpu, brokerCpuMicros: 2 }
  const whole = { recordsPerSecond: rate / 2, clientCpuMicros: cpu * 2, brokerCpuMicros: 2 }
  return { records: 1_000, outputs: 1_000, seconds: 1, whole, steady, peakBytes: memory }
}

/** All rounds of some contenders in a scenario. */
export function aScenario(
  scenario: Partial<Scenario> & Pick<Scenario, 'id'>,
  contenders: Partial<Record<ContenderName, readonly Figures[]>>,
): ScenarioResult<Measurement> {
  const names = Object.keys(contenders) as ContenderName[]
  return {
    scenario: { ...PLAIN, suite: 'workloads', workload: 'copy', records: 1_000, contenders: names, ...scenario },
    contenders: names.map(contender => ({ contender, rounds: (contenders[contender] ?? []).map(aMeasurement) })),
  }
}

function aLatency(p99: number): LatencyMeasurement {
  return { records: 100, p50: p99 / 2, p90: p99, p99, p999: p99, max: p99 }
}

/** Latencies of some contenders in a scenario, by their p99. */
export function aLatencyScenario(
  id: string,
  contenders: Partial<Record<ContenderName, readonly number[]>>,
): ScenarioResult<LatencyMeasurement> {
  const names = Object.keys(contenders) as ContenderName[]
  const scenario: Scenario = { ...PLAIN, id, suite: 'latency', workload: 'copy', records: 0, contenders: names }
  return {
    scenario,
    contenders: names.map(contender => ({ contender, rounds: (contenders[contender] ?? []).map(aLatency) })),
  }
}

/** A result of the given scenarios, on a machine of its own. */
export function aResult(
  throughput: readonly ScenarioResult<Measurement>[],
  latency: readonly ScenarioResult<LatencyMeasurement>[] = [],
): BenchResult {
  return {
    format: 1,
    date: '2026-01-31',
    commit: 'abc1234',
    busyBefore: 0.1,
    machine: {
      processor: 'Analytical Engine',
      processors: 2,
      memoryGigabytes: 1,
      system: 'Brass 1.0',
      node: 'v20.0.0',
      java: '17',
      kafka: '4.4.0',
    },
    throughput,
    latency,
    ratios: ratiosOf(throughput, latency),
  }
}
