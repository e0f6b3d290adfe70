import { CONTENDERS } from './contenders/all.ts'
import { type ContenderName, PLAIN, type Scenario, type SuiteName, type WorkloadName } from './scenario.ts'

/** What is asked of a run. */
export interface Wanted {
  readonly suites: readonly SuiteName[]
  /** Beginnings of scenarios' ids; all when empty. */
  readonly only: readonly string[]
  /** Who takes part; everybody when empty. */
  readonly contenders: readonly ContenderName[]
  /** In an input of 100-byte values. */
  readonly records: number
}

/** What a run consists of, in its order. */
export interface Plan {
  readonly throughput: readonly Scenario[]
  /** At a steady 2,000 records/s. */
  readonly latency: readonly Scenario[]
}

const WORKLOADS: readonly WorkloadName[] = ['copy', 'json', 'count', 'windowed', 'join']
const EVERYBODY = Object.values(CONTENDERS)
const PAIR: readonly ContenderName[] = ['millrace', 'streams']
const LATENCY_CONTENDERS: readonly ContenderName[] = ['millrace', 'streams', 'millrace-tuned', 'streams-tuned', 'raw']

/** What differs from the plain case, and what that does to the id. */
const VARIANTS: readonly { readonly suffix: string; readonly change: Partial<Scenario> }[] = [
  { suffix: '10ms', change: { commitIntervalMs: 10 } },
  { suffix: '2-threads', change: { threads: 2 } },
  { suffix: 'at-least-once', change: { guarantee: 'at_least_once' } },
]

/** No run has more than that to write into one topic. */
const INPUT_BYTES_MAX = 400_000_000
/** Of values that are shorter there are so many times as many. */
const SHORT_BYTES = 100
const SHORT_TIMES = 4

/** The scenarios of a run, without those that nobody of the wanted ones can do. */
export function planOf({ suites, only, contenders, records }: Wanted): Plan {
  const fits = ({ id }: Scenario): boolean => only.length === 0 || only.some(wanted => matches(id, wanted))
  const among = (scenario: Scenario): Scenario =>
    contenders.length === 0
      ? scenario
      : { ...scenario, contenders: contenders.filter(name => CONTENDERS[name].workloads.includes(scenario.workload)) }
  const chosen = SCENARIOS(records)
    .filter(({ suite }) => suites.includes(suite))
    .filter(fits)
    .map(among)
    .filter(scenario => scenario.contenders.length > 0)
  return {
    throughput: chosen.filter(({ suite }) => suite !== 'latency'),
    latency: chosen.filter(({ suite }) => suite === 'latency'),
  }
}

/** `copy` is the plain copy alone, `copy-` every scenario of it. */
function matches(id: string, wanted: string): boolean {
  return wanted.endsWith('-') ? id === wanted.slice(0, -1) || id.startsWith(wanted) : id === wanted
}

/** All of them. @param records - in an input of 100-byte values */
function SCENARIOS(records: number): readonly Scenario[] {
  return [...plain(records), ...variants(records), ...latency(), ...growth(records), ...cluster(records)]
}

function plain(records: number): Scenario[] {
  return WORKLOADS.map(workload => ({
    ...PLAIN,
    id: workload,
    suite: 'workloads',
    workload,
    records,
    contenders: EVERYBODY.filter(({ workloads }) => workloads.includes(workload)).map(({ name }) => name),
  }))
}

function variants(records: number): Scenario[] {
  return WORKLOADS.flatMap(workload =>
    VARIANTS.map(({ suffix, change }) => ({
      ...PLAIN,
      ...change,
      id: `${workload}-${suffix}`,
      suite: 'variants' as const,
      workload,
      records,
      contenders: PAIR,
    })),
  )
}

function latency(): Scenario[] {
  return (['copy', 'count'] as const).flatMap(workload =>
    [100, 10].map(commitIntervalMs => ({
      ...PLAIN,
      id: commitIntervalMs === PLAIN.commitIntervalMs ? workload : `${workload}-${String(commitIntervalMs)}ms`,
      suite: 'latency' as const,
      workload,
      commitIntervalMs,
      records: 0,
      contenders: LATENCY_CONTENDERS.filter(name => CONTENDERS[name].workloads.includes(workload)),
    })),
  )
}

function growth(records: number): Scenario[] {
  const one = (id: string, workload: WorkloadName, change: Partial<Scenario>): Scenario => ({
    ...PLAIN,
    id: `${workload}-${id}`,
    suite: 'growth',
    workload,
    records,
    contenders: ['millrace'],
    ...change,
  })
  return [
    ...[4, 16, 64].map(partitions => one(`${String(partitions)}-partitions`, 'copy', { partitions })),
    ...[10, 100, 1_000, 10_000, 100_000].map(valueBytes =>
      one(`${String(valueBytes)}-bytes`, 'copy', {
        valueBytes,
        // Short ones are through in a few commits, between which nothing can be measured.
        records: Math.min(
          valueBytes < SHORT_BYTES ? SHORT_TIMES * records : records,
          Math.ceil(INPUT_BYTES_MAX / valueBytes),
        ),
      }),
    ),
    ...[1, 2, 5, 10].map(operators => one(`${String(operators)}-operators`, 'copy', { operators })),
    ...[1_000, 10_000, 100_000, 1_000_000, 10_000_000].map(keys =>
      one(`${String(keys)}-keys`, 'count', { keys, records: Math.max(records, keys) }),
    ),
  ]
}

function cluster(records: number): Scenario[] {
  return (['copy', 'count'] as const).map(workload => ({
    ...PLAIN,
    id: `${workload}-three-brokers`,
    suite: 'cluster',
    workload,
    records,
    brokers: 3,
    contenders: ['millrace', 'streams', 'millrace-tuned', 'streams-tuned'],
  }))
}
