/** What is done to each record. */
export type WorkloadName = 'copy' | 'json' | 'count' | 'windowed' | 'join'

/** Who does it. */
export type ContenderName =
  | 'millrace'
  | 'millrace-tuned'
  | 'millrace-at-least-once'
  | 'streams'
  | 'streams-tuned'
  | 'streams-rocksdb'
  | 'kafkajs'
  | 'jvm'
  | 'raw'

/** The guarantees that are compared. */
export type Guarantee = 'exactly_once_v2' | 'at_least_once'

/** Parts of a whole run; each can be had alone. */
export type SuiteName = 'workloads' | 'variants' | 'latency' | 'growth' | 'cluster'

/** One question: the same work, under the same conditions, for all of its contenders. */
export interface Scenario {
  /** Unique in a result, such as `copy` or `count-10ms`; the key of its ratios. */
  readonly id: string
  readonly suite: SuiteName
  readonly workload: WorkloadName
  readonly commitIntervalMs: number
  readonly threads: number
  readonly guarantee: Guarantee
  /** Of input and output topics. */
  readonly partitions: number
  readonly valueBytes: number
  /** Different keys in the input. */
  readonly keys: number
  /** Filters in front of the sink that let everything pass; only of `copy`. */
  readonly operators: number
  /** In the input; slow contenders get a part of it (`recordsFor`). */
  readonly records: number
  readonly brokers: 1 | 3
  readonly contenders: readonly ContenderName[]
}

/** What a scenario is when nothing else is asked for: 100-byte values, 100 ms commits, one thread, 4 partitions, one broker. */
export const PLAIN: Omit<Scenario, 'id' | 'suite' | 'workload' | 'records' | 'contenders'> = {
  commitIntervalMs: 100,
  threads: 1,
  guarantee: 'exactly_once_v2',
  partitions: 4,
  valueBytes: 100,
  keys: 100_000,
  operators: 0,
  brokers: 1,
}

/** Kafka Streams in its various settings. */
export function isStreams(contender: ContenderName): boolean {
  return contender.startsWith('streams')
}

/** Whether only the last update of a key and commit is written: a cache lets no other through. */
export function mergesUpdates({ workload }: Scenario, contender: ContenderName): boolean {
  return contender === 'streams-tuned' && (workload === 'count' || workload === 'windowed')
}

/** A contender that does about a tenth of the others' rate, and has nothing to warm up, gets a fifth of the records. */
export function recordsFor(scenario: Scenario, contender: ContenderName): number {
  return contender === 'kafkajs' ? Math.ceil(scenario.records / 5) : scenario.records
}
