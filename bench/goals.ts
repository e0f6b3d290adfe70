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
import type { ContenderName } from './scenario.ts'
import { ratioOf, type Spread } from './statistics.ts'
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
  const compare = (id: string, ours: ContenderName, theirs: ContenderName, quantity = steadyRate): Spread | undefined =>
    comparison(result.throughput, id, ours, theirs, quantity)
  return [
    { measure: 'copy, defaults ÷ defaults', atLeast: 6, reached: compare('copy', 'millrace', 'streams') },
    { measure: 'copy, tuned ÷ tuned', atLeast: 5, reached: compare('copy', 'millrace-tuned', 'streams-tuned') },
    { measure: 'count per key, better ÷ better', atLeast: 5, reached: betterRate(result, 'count') },
    { measure: 'windowed count, better ÷ better', atLeast: 4, reached: betterRate(result, 'windowed') },
    { measure: 'stream–table join, better ÷ better', atLeast: 4, reached: betterRate(result, 'join') },
    { measure: 'JSON filter and map, better ÷ better', atLeast: 4, reached: betterRate(result, 'json') },
    {
      measure: 'copy from the start of the process',
      atLeast: 8,
      reached: compare('copy', 'millrace', 'streams', wholeRate),
    },
    {
      measure: 'count from the start of the process',
      atLeast: 8,
      reached: compare('count', 'millrace', 'streams', wholeRate),
    },
    { measure: 'copy, three brokers', atLeast: 3, reached: betterRate(result, 'copy-three-brokers') },
    { measure: 'count, three brokers', atLeast: 3, reached: betterRate(result, 'count-three-brokers') },
  ]
}

function costGoals(result: BenchResult): Goal[] {
  const compare = (id: string, quantity: Quantity<Measurement>): Spread | undefined =>
    comparison(result.throughput, id, 'millrace', 'streams', quantity)
  return [
    { measure: 'processor time of a record, copy', atMost: 1 / 12, reached: compare('copy', steadyCpu) },
    { measure: 'processor time of a record, count', atMost: 1 / 10, reached: compare('count', steadyCpu) },
    { measure: 'peak memory, copy', atMost: 0.4, reached: compare('copy', peakMemory) },
    { measure: 'peak memory, count', atMost: 0.4, reached: compare('count', peakMemory) },
    { measure: "brokers' processor time of a record, copy", reached: compare('copy', brokerCpu) },
  ]
}

function ownGoals(result: BenchResult): Goal[] {
  const copy = find(result.throughput, 'copy')
  const against = (theirs: ContenderName): Spread | undefined =>
    comparison(result.throughput, 'copy', 'millrace', theirs, steadyRate)
  return [
    {
      measure: 'exactly once ÷ at least once, copy',
      atLeast: 0.9,
      reached: between(copy, find(result.throughput, 'copy-at-least-once')),
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
    reached: comparison(latency, id, 'millrace', 'streams', latencyP99),
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
    { measure: 'cost of a count, 10⁶ ÷ 10³ keys', atMost: 2, reached: grown('count-1000000-keys', 'count-1000-keys') },
    { measure: 'cost of a count, 10⁷ ÷ 10³ keys', atMost: 3, reached: grown('count-10000000-keys', 'count-1000-keys') },
  ]
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

/** The faster settings of each side. */
function betterRate({ throughput }: BenchResult, id: string): Spread | undefined {
  const result = find(throughput, id)
  if (result === undefined) return undefined
  const ours = faster(result, 'millrace', 'millrace-tuned')
  const theirs = faster(result, 'streams', 'streams-tuned')
  return comparisonOf(result, ours, theirs, steadyRate)
}

function faster(result: ScenarioResult<Measurement>, one: ContenderName, other: ContenderName): ContenderName {
  return (medianOf(result, other, steadyRate) ?? 0) > (medianOf(result, one, steadyRate) ?? 0) ? other : one
}

function between(
  one: ScenarioResult<Measurement> | undefined,
  other: ScenarioResult<Measurement> | undefined,
): Spread | undefined {
  return one === undefined || other === undefined ? undefined : acrossScenarios(one, other, steadyRate)
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
