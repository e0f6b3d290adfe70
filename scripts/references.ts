import { configurationReference } from './generate-config-reference.ts'
import { dslReference } from './generate-dsl-reference.ts'
import { THREAD_METRICS } from '../src/engine/thread-metric-families.ts'
import { withFaultTable } from '../test/chaos/fault-table.ts'
import { correctnessDocument } from '../test/mutations/mutation-table.ts'
import type { ErrorDefinition } from '../src/model/error-definition.ts'
import { ERRORS } from '../src/model/error-table.ts'

/** Documents that are made from tables of the code, by file; `npm run docs` writes them, a test compares them. */
export const REFERENCES: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationReference,
  'docs/correctness.md': () => withFaultTable(correctnessDocument()),
  'docs/dsl.md': dslReference,
  'docs/errors.md': errorsReference,
  'docs/metrics.md': metricsReference,
}

const REACTIONS: Readonly<Record<ErrorDefinition['reaction'], string>> = {
  retry: 'tries the call again, within its deadline',
  abort: 'aborts the transaction and processes its input again',
  refence: 'takes a new producer epoch, aborts, and processes the input again',
  rejoin: 'drops its tasks and joins the group again',
  deadLetter: 'writes the record to the dead-letter topic',
  stop: 'stops',
}

/** docs/errors.md, from the table of errors. */
function errorsReference(): string {
  const entries = Object.entries<ErrorDefinition>(ERRORS).map(
    ([code, { cause, operator, reaction, effect, exitCode }]) =>
      [
        `## ${code}`,
        '',
        cause,
        '',
        `- **What to do**: ${operator}`,
        `- **What millrace does**: ${effect ?? REACTIONS[reaction]}.`,
        `- **Exit code** when it ends the service: ${String(exitCode)}`,
      ].join('\n'),
  )
  return `${[
    '# Errors',
    'Every error of millrace has one of these codes. Generated from `src/model/error-table.ts`; do not edit (`npm run docs`).',
    ...entries,
  ].join('\n\n')}\n`
}

/** docs/metrics.md, from the table of metrics. */
function metricsReference(): string {
  const rows = Object.entries(THREAD_METRICS).map(
    ([name, { type, help, labels }]) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  )
  return `${[
    '# Metrics',
    'Served at `/metrics` in Prometheus’ text format. Generated from `src/engine/thread-metric-families.ts`; do not edit (`npm run docs`).',
    ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n'),
    'Besides: `millrace_info` (version, application id, guarantee as labels) and Node’s own metrics by prom-client (`process_…`, `nodejs_…`, among them the event-loop delay `nodejs_eventloop_lag_…`). Node’s own count from the first scrape on.',
  ].join('\n\n')}\n`
}
