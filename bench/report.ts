import { CONTENDERS } from './contenders/all.ts'
import { type Goal, goalsOf, holds } from './goals.ts'
import {
  type BenchResult,
  brokerCpu,
  comparisonOf,
  medianOf,
  peakMemory,
  type ScenarioResult,
  steadyCpu,
  steadyRate,
  valuesOf,
  wholeRate,
} from './result.ts'
import type { LatencyMeasurement } from './latency-run.ts'
import type { ContenderName, SuiteName } from './scenario.ts'
import { median, type Spread, spreadOf } from './statistics.ts'
import type { Measurement } from './throughput-run.ts'

/** A table of texts; the first column is on the left, all others on the right. */
export interface Table {
  readonly suite: SuiteName | 'goals'
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A result as tables, those without rows left out. */
export function tablesOf(result: BenchResult): readonly Table[] {
  const of = (suite: SuiteName): readonly ScenarioResult<Measurement>[] =>
    result.throughput.filter(({ scenario }) => scenario.suite === suite)
  const compared = (suite: SuiteName): Table => ({
    suite,
    head: THROUGHPUT_HEAD,
    rows: of(suite).flatMap(throughputRows),
  })
  const tables: Table[] = [
    goalTable(result),
    compared('workloads'),
    compared('variants'),
    { suite: 'latency', head: LATENCY_HEAD, rows: result.latency.flatMap(latencyRows) },
    compared('cluster'),
    { suite: 'growth', head: GROWTH_HEAD, rows: of('growth').flatMap(growthRows) },
  ]
  return tables.filter(({ rows }) => rows.length > 0)
}

const THROUGHPUT_HEAD = [
  'scenario',
  'contender',
  'thousand records/s',
  '÷ Kafka Streams',
  'whole run',
  'client µs/record',
  'brokers µs/record',
  'peak MiB',
]

function throughputRows(result: ScenarioResult<Measurement>): string[][] {
  return result.contenders.map(({ contender }) => {
    const of = (quantity: (measurement: Measurement) => number): number =>
      medianOf(result, contender, quantity) ?? Number.NaN
    const against = baselineOf(contender)
    const ratio = against === undefined ? undefined : comparisonOf(result, contender, against, steadyRate)
    return [
      result.scenario.id,
      CONTENDERS[contender].title,
      thousands(spreadOf(valuesOf(result, contender, steadyRate))),
      ratio === undefined ? '' : ratioText(ratio),
      (of(wholeRate) / 1_000).toFixed(0),
      of(steadyCpu).toFixed(2),
      of(brokerCpu).toFixed(2),
      (of(peakMemory) / 2 ** 20).toFixed(0),
    ]
  })
}

/** Which Kafka Streams a contender is compared with; none where it promises less. */
function baselineOf(contender: ContenderName): ContenderName | undefined {
  if (contender === 'streams' || contender === 'streams-tuned' || contender === 'millrace-at-least-once')
    return undefined
  return contender === 'millrace-tuned' ? 'streams-tuned' : 'streams'
}

const LATENCY_HEAD = ['scenario', 'contender', 'p50 ms', 'p90 ms', 'p99 ms', 'p99.9 ms', 'max ms']

function latencyRows({ scenario, contenders }: ScenarioResult<LatencyMeasurement>): string[][] {
  return contenders.map(({ contender, rounds }) => {
    const middle = (of: (latency: LatencyMeasurement) => number): string => String(Math.round(median(rounds.map(of))))
    return [
      scenario.id,
      CONTENDERS[contender].title,
      middle(({ p50 }) => p50),
      middle(({ p90 }) => p90),
      middle(({ p99 }) => p99),
      middle(({ p999 }) => p999),
      middle(({ max }) => max),
    ]
  })
}

const GROWTH_HEAD = [
  'scenario',
  'contender',
  'thousand records/s',
  'MB/s',
  'client µs/record',
  'brokers µs/record',
  'peak MiB',
]

function growthRows(result: ScenarioResult<Measurement>): string[][] {
  const { scenario, contenders } = result
  return contenders.map(({ contender }) => {
    const of = (quantity: (measurement: Measurement) => number): number =>
      medianOf(result, contender, quantity) ?? Number.NaN
    return [
      scenario.id,
      CONTENDERS[contender].title,
      (of(steadyRate) / 1_000).toFixed(of(steadyRate) < 10_000 ? 1 : 0),
      ((of(steadyRate) * scenario.valueBytes) / 1e6).toFixed(0),
      of(steadyCpu).toFixed(2),
      of(brokerCpu).toFixed(2),
      (of(peakMemory) / 2 ** 20).toFixed(0),
    ]
  })
}

function goalTable(result: BenchResult): Table {
  const rows = goalsOf(result)
    .filter(({ reached }) => reached !== undefined)
    .map(goal => [
      goal.measure,
      limitOf(goal),
      goal.reached === undefined ? '' : ratioText(goal.reached),
      verdictOf(goal),
    ])
  return { suite: 'goals', head: ['millrace ÷ Kafka Streams, unless said otherwise', 'goal', 'measured', ''], rows }
}

function limitOf({ atLeast, atMost }: Goal): string {
  if (atLeast !== undefined) return `≥ ${String(atLeast)}`
  if (atMost === undefined) return ''
  return atMost < 0.2 ? `≤ 1/${(1 / atMost).toFixed(0)}` : `≤ ${String(atMost)}`
}

function verdictOf(goal: Goal): string {
  if (goal.atLeast === undefined && goal.atMost === undefined) return ''
  return holds(goal) === true ? 'yes' : 'no'
}

/** The middle with its ends; small ones as a fraction, which is how they are spoken of. */
export function ratioText(ratio: Spread): string {
  return withEnds(ratio, value => (value < 0.2 ? `1/${(1 / value).toFixed(1)}` : value.toFixed(2)))
}

function thousands(rate: Spread): string {
  return withEnds(rate, value => (value / 1_000).toFixed(0))
}

function withEnds({ median: middle, low, high }: Spread, text: (value: number) => string): string {
  return low === high ? text(middle) : `${text(middle)} (${text(low)} … ${text(high)})`
}

/** A table in Markdown: the first column and those named are on the left, numbers on the right. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: readonly string[] = head,
): string {
  const rule = head.map((title, column) => (column === 0 || left.includes(title) ? '---' : '---:'))
  return [head, rule, ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
