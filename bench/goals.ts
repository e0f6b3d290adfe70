import {
  brokerCpu,
  comparisonOf,
  latencyP99,
  medianOf,
  peakMemory,
  type Quantity,
  type BenchResult,
  type ScenarioResult,
  steadyCpu,
  steadyRate,
  wholeRate,
} from './result.ts'
import type { ContenderName, Scenario } from './scenario.ts'
import { aboveLine, ratioOf, type Spread, spreadOf } from './statistics.ts'
import type { Measurement } from './throughput-run.ts'

/** What millrace is meant to reach, and what it has reached. */
export interface Goal {
  readonly measure: string
  readonly atLeast?: number
  readonly atMost?: number
  /** Undefined when it was not measured. */
  readonly reached: Spread | undefined
}

/** Whether it is reached; undefined when it was not measured. */
export function holds({ atLeast, atMost, reached }: Goal): boolean | undefined {
  if (reached === undefined) return undefined
  return (
    reached.median >= (atLeast ?? Number.NEGATIVE_INFINITY) && reached.median <= (atMost ?? Number.POSITIVE_INFINITY)
  )
}

/** Every goal with what a result says of it. */
export function goalsOf(result: BenchResult): readonly Goal[] {
  return [
    ...rateGoals(result),
    ...costGoals(result),
    ...ownGoals(result),
    ...latencyGoals(result),
    ...growthGoals(result),
  ]
}

function rateGoals(result: BenchResult): Goal[] {
  const compare = (ours: ContenderName, theirs: ContenderName): Spread | undefined =>
    comparison(result.throughput, 'copy', ours, theirs, steadyRate)
  const most = (id: string, quantity = steadyRate): Spread | undefined =>
    betterOf(result.throughput, id, quantity, Math.max)
  return [
    { measure: 'copy, defaults ÷ defaults', atLeast: 6, reached: compare('millrace', 'streams') },
    { measure: 'copy, tuned ÷ tuned', atLeast: 5, reached: compare('millrace-tuned', 'streams-tuned') },
    { measure: 'count per key, better ÷ better', atLeast: 5, reached: most('count') },
    { measure: 'windowed count, better ÷ better', atLeast: 4, reached: most('windowed') },
    { measure: 'stream–table join, better ÷ better', atLeast: 4, reached: most('join') },
    { measure: 'JSON filter and map, better ÷ better', atLeast: 4, reached: most('json') },
    { measure: 'copy from the start of the process', atLeast: 8, reached: most('copy', wholeRate) },
    { measure: 'count from the start of the process', atLeast: 8, reached: most('count', wholeRate) },
    { measure: 'copy, three brokers', atLeast: 3, reached: most('copy-three-brokers') },
    { measure: 'count, three brokers', atLeast: 3, reached: most('count-three-brokers') },
  ]
}

function costGoals(result: BenchResult): Goal[] {
  const compare = (id: string, quantity: Quantity<Measurement>): Spread | undefined =>
    betterOf(result.throughput, id, quantity, Math.min)
  return [
    { measure: 'processor time of a record, copy', atMost: 1 / 12, reached: compare('copy', steadyCpu) },
    { measure: 'processor time of a record, count', atMost: 1 / 10, reached: compare('count', steadyCpu) },
    { measure: 'peak memory, copy', atMost: 0.4, reached: compare('copy', peakMemory) },
    { measure: 'peak memory, count', atMost: 0.4, reached: compare('count', peakMemory) },
    { measure: "brokers' processor time of a record, copy", reached: compare('copy', brokerCpu) },
  ]
}

function ownGoals(result: BenchResult): Goal[] {
  const against = (theirs: ContenderName): Spread | undefined =>
    comparison(result.throughput, 'copy', 'millrace', theirs, steadyRate)
  return [
    { measure: 'exactly once ÷ at least once, copy', atLeast: 0.9, reached: against('millrace-at-least-once') },
    {
      measure: 'exactly once ÷ at least once, count',
      atLeast: 0.9,
      reached: comparison(result.throughput, 'count', 'millrace', 'millrace-at-least-once', steadyRate),
    },
    { measure: 'share of the raw limit, copy', atLeast: 0.7, reached: against('raw') },
    { measure: '÷ plain kafkajs loop, copy', atLeast: 10, reached: against('kafkajs') },
    { measure: '÷ plain JVM loop, copy', reached: against('jvm') },
  ]
}

function latencyGoals({ latency }: BenchResult): Goal[] {
  const goal = (id: string, measure: string, atMost: number): Goal => ({
    measure: `p99 at 2,000 records/s, ${measure}`,
    atMost,
    reached: betterOf(latency, id, latencyP99, Math.min),
  })
  return [
    goal('copy', 'copy, 100 ms commits', 0.85),
    goal('count', 'count, 100 ms commits', 0.85),
    goal('copy-10ms', 'copy, 10 ms commits', 0.6),
    goal('count-10ms', 'count, 10 ms commits', 0.6),
  ]
}

/** Processor time of a record in a large case over that in a small one. */
function growthGoals({ throughput }: BenchResult): Goal[] {
  const grown = (large: string, small: string): Spread | undefined => {
    const [a, b] = [find(throughput, large), find(throughput, small)]
    return a === undefined || b === undefined ? undefined : acrossScenarios(a, b, steadyCpu)
  }
  return [
    {
      measure: 'cost of a copy, 64 ÷ 4 partitions',
      atMost: 1.2,
      reached: grown('copy-64-partitions', 'copy-4-partitions'),
    },
    {
      measure: 'cost of a copy of 10 bytes to 100 kB, beside a constant for each record and each byte',
      atMost: 1.2,
      reached: worstOf(throughput, 'bytes', ({ valueBytes }) => valueBytes),
    },
    {
      measure: 'cost of 1 to 10 operators, beside a constant for each record and each operator',
      atMost: 1.2,
      reached: worstOf(throughput, 'operators', ({ operators }) => operators),
    },
    { measure: 'cost of a count, 10⁶ ÷ 10³ keys', atMost: 2, reached: grown('count-1000000-keys', 'count-1000-keys') },
    { measure: 'cost of a count, 10⁷ ÷ 10³ keys', atMost: 3, reached: grown('count-10000000-keys', 'count-1000-keys') },
  ]
}

/** How much more a case costs than a straight line through all cases of its kind says, where that is most. */
function worstOf(
  throughput: readonly ScenarioResult<Measurement>[],
  kind: string,
  sizeOf: (scenario: Scenario) => number,
): Spread | undefined {
  const points = throughput
    .filter(({ scenario: { suite, id } }) => suite === 'growth' && id.endsWith(`-${kind}`))
    .flatMap(result => ({ x: sizeOf(result.scenario), y: medianOf(result, 'millrace', steadyCpu) ?? Number.NaN }))
  return points.length < 3 ? undefined : spreadOf([Math.max(...aboveLine(points))])
}

function find<T>(results: readonly ScenarioResult<T>[], id: string): ScenarioResult<T> | undefined {
  return results.find(({ scenario }) => scenario.id === id)
}

function comparison<T>(
  results: readonly ScenarioResult<T>[],
  id: string,
  ours: ContenderName,
  theirs: ContenderName,
  quantity: Quantity<T>,
): Spread | undefined {
  const result = find(results, id)
  return result === undefined ? undefined : comparisonOf(result, ours, theirs, quantity)
}

/** By the better settings of each side. @param best - of the medians of both settings */
function betterOf<T>(
  results: readonly ScenarioResult<T>[],
  id: string,
  quantity: Quantity<T>,
  best: (one: number, other: number) => number,
): Spread | undefined {
  const result = find(results, id)
  if (result === undefined) return undefined
  const better = (plain: ContenderName, tuned: ContenderName): ContenderName => {
    const [one, other] = [medianOf(result, plain, quantity), medianOf(result, tuned, quantity)]
    if (one === undefined || other === undefined) return one === undefined ? tuned : plain
    return best(one, other) === one ? plain : tuned
  }
  return comparisonOf(result, better('millrace', 'millrace-tuned'), better('streams', 'streams-tuned'), quantity)
}

function acrossScenarios(
  one: ScenarioResult<Measurement>,
  other: ScenarioResult<Measurement>,
  quantity: Quantity<Measurement>,
): Spread | undefined {
  const of = ({ contenders }: ScenarioResult<Measurement>): readonly number[] =>
    contenders.find(({ contender }) => contender === 'millrace')?.rounds.map(quantity) ?? []
  const [a, b] = [of(one), of(other)]
  return a.length === 0 || b.length === 0 ? undefined : ratioOf(a, b)
}
