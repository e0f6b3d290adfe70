import type { LatencyMeasurement } from './latency-run.ts'
import type { Machine } from './machine.ts'
import type { ContenderName, Scenario } from './scenario.ts'
import { median, ratioOf, type Spread } from './statistics.ts'
import type { Measurement } from './throughput-run.ts'

/** All rounds of one contender in one scenario. */
export interface Rounds<T> {
  readonly contender: ContenderName
  readonly rounds: readonly T[]
}

/** All contenders of one scenario. */
export interface ScenarioResult<T> {
  readonly scenario: Scenario
  readonly contenders: readonly Rounds<T>[]
}

/** millrace against Kafka Streams, both with their defaults: ratios of medians. Below 1 is better but for the throughput. */
export interface Ratios {
  /** Records per second, second half. */
  readonly throughput?: number | undefined
  /** Time of the client's processors per record, second half. */
  readonly cpu?: number | undefined
  /** Most resident memory. */
  readonly memory?: number | undefined
  readonly latencyP99?: number | undefined
}

/** A result as it is printed by `--json`, and kept in `bench/results`. */
export interface BenchResult {
  readonly format: 1
  readonly date: string
  /** Of the sources. */
  readonly commit: string
  readonly machine: Machine
  /** How many processors were busy before anything was started: what else the machine had to do. NaN where it is not known. */
  readonly busyBefore: number
  readonly throughput: readonly ScenarioResult<Measurement>[]
  readonly latency: readonly ScenarioResult<LatencyMeasurement>[]
  /** By the id of the scenario. */
  readonly ratios: Readonly<Record<string, Ratios>>
}

/** A quantity of a measurement. */
export type Quantity<T> = (measurement: T) => number

export const steadyRate: Quantity<Measurement> = ({ steady }) => steady.recordsPerSecond
export const wholeRate: Quantity<Measurement> = ({ whole }) => whole.recordsPerSecond
export const steadyCpu: Quantity<Measurement> = ({ steady }) => steady.clientCpuMicros
export const wholeCpu: Quantity<Measurement> = ({ whole }) => whole.clientCpuMicros
export const brokerCpu: Quantity<Measurement> = ({ steady }) => steady.brokerCpuMicros
export const peakMemory: Quantity<Measurement> = ({ peakBytes }) => peakBytes
export const latencyP99: Quantity<LatencyMeasurement> = ({ p99 }) => p99

/** One quantity of one contender, round by round; empty when it did not take part. */
export function valuesOf<T>(
  { contenders }: ScenarioResult<T>,
  contender: ContenderName,
  quantity: Quantity<T>,
): readonly number[] {
  return contenders.find(each => each.contender === contender)?.rounds.map(quantity) ?? []
}

/** The middle of a quantity; undefined when the contender did not take part. */
export function medianOf<T>(
  result: ScenarioResult<T>,
  contender: ContenderName,
  quantity: Quantity<T>,
): number | undefined {
  const values = valuesOf(result, contender, quantity)
  return values.length === 0 ? undefined : median(values)
}

/** How one contender compares with another; undefined when one of them did not take part. */
export function comparisonOf<T>(
  result: ScenarioResult<T>,
  ours: ContenderName,
  theirs: ContenderName,
  quantity: Quantity<T>,
): Spread | undefined {
  const [a, b] = [valuesOf(result, ours, quantity), valuesOf(result, theirs, quantity)]
  return a.length === 0 || b.length === 0 ? undefined : ratioOf(a, b)
}

/** The ratios of all scenarios in which both took part. */
export function ratiosOf(
  throughput: readonly ScenarioResult<Measurement>[],
  latency: readonly ScenarioResult<LatencyMeasurement>[],
): Record<string, Ratios> {
  const ratios: Record<string, Ratios> = {}
  for (const result of throughput) {
    const compare = (quantity: Quantity<Measurement>): Spread | undefined =>
      comparisonOf(result, 'millrace', 'streams', quantity)
    const [rate, cpu, memory] = [compare(steadyRate), compare(steadyCpu), compare(peakMemory)]
    if (rate === undefined || cpu === undefined || memory === undefined) continue
    ratios[result.scenario.id] = { throughput: rate.median, cpu: cpu.median, memory: memory.median }
  }
  for (const result of latency) {
    const p99 = comparisonOf(result, 'millrace', 'streams', latencyP99)
    if (p99 === undefined) continue
    const { id } = result.scenario
    ratios[id] = { ...ratios[id], latencyP99: p99.median }
  }
  return ratios
}

/**
 * Puts new scenarios in the place of old ones of the same id; a result of another machine is not added to.
 *
 * @returns the new result when the old one comes from elsewhere
 */
export function mergeResults(old: BenchResult | undefined, fresh: BenchResult): BenchResult {
  if (old === undefined || JSON.stringify(old.machine) !== JSON.stringify(fresh.machine)) return fresh
  const throughput = replaced(old.throughput, fresh.throughput)
  const latency = replaced(old.latency, fresh.latency)
  return { ...fresh, throughput, latency, ratios: ratiosOf(throughput, latency) }
}

function replaced<T>(
  old: readonly ScenarioResult<T>[],
  fresh: readonly ScenarioResult<T>[],
): readonly ScenarioResult<T>[] {
  const ids = new Set(fresh.map(({ scenario }) => scenario.id))
  return [...old.filter(({ scenario }) => !ids.has(scenario.id)), ...fresh]
}
