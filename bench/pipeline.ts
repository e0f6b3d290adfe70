import type { Scenario } from './scenario.ts'
import { WORKLOADS } from './workloads.ts'

/** Where an application reads, writes and belongs. */
export interface Places {
  readonly bootstrapServers: string
  readonly application: string
  readonly input: string
  /** Topic of the table; the join reads it. */
  readonly table: string
  readonly output: string
  readonly stateFolder: string
  /** File of millrace's command line. */
  readonly cli: string
}

/**
 * What is set beside the defaults where millrace is tuned: what saves time of client and broker on one machine. Larger
 * fetches and batches do; lz4, which Kafka Streams is tuned with, takes more of it than it saves the broker.
 */
const TUNED_KAFKA = ', max.partition.fetch.bytes: 2097152, batch.size: 524288'
const TUNED_STREAMS = ', topology.optimization: all'

/** The YAML of a scenario for millrace, as a user would write it. */
export function pipelineOf(scenario: Scenario, places: Places, isTuned: boolean): string {
  const { workload, commitIntervalMs, threads, guarantee, operators } = scenario
  const { input, steps, usesTable } = WORKLOADS[workload]
  const filters = Array.from({ length: operators }, (_, at) => {
    const from = at === 0 ? 'input' : `filter-${String(at)}`
    return `  filter-${String(at + 1)}: { from: ${from}, filter: size(value) >= 0 }`
  })
  const allSteps = operators > 0 ? filters.join('\n') : steps
  const last = operators > 0 ? `filter-${String(operators)}` : steps === '' ? 'input' : 'result'
  return `${[
    `streams: { application.id: ${places.application}, state.dir: ${places.stateFolder}, commit.interval.ms: ${String(commitIntervalMs)}, num.stream.threads: ${String(threads)}, processing.guarantee: ${guarantee}${isTuned ? TUNED_STREAMS : ''} }`,
    `kafka: { bootstrap.servers: "${places.bootstrapServers}"${isTuned ? TUNED_KAFKA : ''} }`,
    'http: { host: 127.0.0.1, port: 0 }',
    'sources:',
    `  input: { topic: ${places.input}${operators > 0 ? ', value: bytes' : input} }`,
    ...(usesTable ? [`  names: { topic: ${places.table}, as: table, key: string, value: string }`] : []),
    allSteps === '' ? 'steps: {}' : `steps:\n${allSteps}`,
    'sinks:',
    `  out: { from: ${last}, topic: ${places.output} }`,
  ].join('\n')}\n`
}
