import type { WorkloadName } from './scenario.ts'

/** What a workload is called, and how millrace is told to do it. */
export interface Workload {
  readonly title: string
  /** What it does to a record, for the reader of the results. */
  readonly what: string
  /** Source `input` and, for the join, `names`: their serdes in YAML. */
  readonly input: string
  readonly usesTable: boolean
  /** Steps in YAML, the last of them called `result`; none for a plain copy. */
  readonly steps: string
}

/** Every workload. The same in Java: `bench/kafka-streams`. */
export const WORKLOADS: Readonly<Record<WorkloadName, Workload>> = {
  copy: {
    title: 'copy',
    what: 'keys and values go through as bytes',
    input: '',
    usesTable: false,
    steps: '',
  },
  json: {
    title: 'JSON filter and map',
    what: 'JSON is parsed, every second record is kept, three fields of five are written as JSON',
    input: ', value: json',
    usesTable: false,
    steps: [
      '  paid: { from: input, filter: value.status == "paid" }',
      '  result: { from: paid, value: { id: value.id, customer: value.customer, net: value.cents - value.fee } }',
    ].join('\n'),
  },
  count: {
    title: 'count per key',
    what: 'a count per key, each update written to the output and to the changelog',
    input: ', key: string',
    usesTable: false,
    steps: '  result: { from: input, count: {} }',
  },
  windowed: {
    title: 'windowed count',
    what: 'as the count, per key and window of 10 s',
    input: ', key: string',
    usesTable: false,
    steps: '  result: { from: input, window: { tumbling: 10s, grace: 0s }, count: {} }',
  },
  join: {
    title: 'stream–table join',
    what: 'each record is joined with the row of its key, both texts are written one behind the other',
    input: ', key: string, value: string',
    usesTable: true,
    steps:
      '  result: { from: input, join: { with: names, type: inner, value: left + right }, serdes: { value: string } }',
  },
}
