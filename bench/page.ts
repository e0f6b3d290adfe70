import { textTable } from '../src/cli/text-table.ts'
import { CONTENDERS } from './contenders/all.ts'
import { markdownTable, type Table, tablesOf } from './report.ts'
import type { BenchResult } from './result.ts'
import { WORKLOADS } from './workloads.ts'

const TITLES: Readonly<Record<Table['suite'], string>> = {
  goals: 'Goals',
  workloads: 'Workloads',
  variants: 'Other commit intervals, threads and guarantees',
  latency: 'Latency',
  growth: 'As it grows',
  cluster: 'Three brokers',
}

const NOTES: Readonly<Record<Table['suite'], string>> = {
  goals:
    'Ratios of medians; in parentheses the lowest and the highest ratio of one round. Rates are those of the second half.',
  workloads:
    '100-byte values, 4 partitions, one thread, exactly once with a commit every 100 ms. The rate is that of the second half, when a JVM is warm; *whole run* counts from the start of the process to the last visible result. The tuned settings are compared with the tuned ones.',
  variants: 'As above, with one thing changed.',
  latency:
    "2,000 records/s. From a record's append by its producer to the receipt of its result by a `read_committed` reader, so that half a commit interval is part of it. Where a cache merges the results of several records, the last of them counts.",
  growth: 'millrace alone, one thing changed at a time; MB/s are those of the values.',
  cluster: 'Replication factor 3, `min.insync.replicas=2`, all brokers and the contender on the same machine.',
}

/** The note of a suite, with how much was measured. */
function noteOf(suite: Table['suite'], { throughput }: BenchResult): string {
  const measured = throughput.filter(({ scenario }) => scenario.suite === suite)
  if (measured.length === 0) return NOTES[suite]
  const records = Math.max(...measured.map(({ scenario }) => scenario.records)).toLocaleString('en')
  const rounds = Math.max(...measured.flatMap(({ contenders }) => contenders.map(each => each.rounds.length)))
  return `${NOTES[suite]} Inputs of ${suite === 'growth' ? 'up to ' : ''}${records} records; rounds: ${String(rounds)}.`
}

/** What the terminal shows at the end. */
export function reportText(result: BenchResult): string {
  return tablesOf(result)
    .map(({ suite, head, rows }) => `${TITLES[suite]}\n\n${textTable([head, ...rows])}\n`)
    .join('\n')
}

/** docs/benchmarks.md. */
export function benchmarksPage(result: BenchResult): string {
  const tables = tablesOf(result)
  return `${[
    '# Benchmarks',
    '',
    `<!-- Written by \`npm run bench -- --render\` from bench/results/reference.json. -->`,
    '',
    introduction(result),
    '',
    '![Thousand records per second by workload, millrace and Kafka Streams](benchmarks.svg)',
    '',
    ...tables.flatMap(({ suite, head, rows }) => [
      `## ${TITLES[suite]}`,
      '',
      noteOf(suite, result),
      '',
      markdownTable(head, rows, ['contender']),
      '',
    ]),
    '## What is done',
    '',
    markdownTable(
      ['workload', 'per record'],
      Object.values(WORKLOADS).map(({ title, what }) => [title, what]),
    ),
    '',
    '## Who does it',
    '',
    markdownTable(
      ['contender', 'settings'],
      Object.values(CONTENDERS).map(({ title, settings }) => [title, settings]),
    ),
    '',
    METHOD,
  ].join('\n')}\n`
}

/** More than that is other work that takes part in every figure. */
const BUSY_PROCESSORS_MAX = 0.2

function busyWarning(processors: number): string {
  return (
    `**The machine was busy with other work** (${processors.toFixed(1)} processors before the run). These figures show that the ` +
    'benchmark runs; they say little about speed.'
  )
}

function introduction({ machine, date, commit, busyBefore }: BenchResult): string {
  const { processor, processors, memoryGigabytes, system, node, java, kafka } = machine
  return [
    '```sh',
    'npm run bench                         # workloads and latency; --suites all for everything on this page',
    'npm run bench -- --quick --json       # copy and count against Kafka Streams, in less than 3 minutes',
    '```',
    '',
    `Measured on ${date} at commit ${commit}: ${processor}, ${String(processors)} processors, ${String(memoryGigabytes)} GB, ` +
      `${system}, Node ${node}, Java ${java}, Kafka and Kafka Streams ${kafka}. Broker and contender share the machine. ` +
      'Figures of another machine will differ; ratios less so.',
    ...(busyBefore > BUSY_PROCESSORS_MAX ? ['', busyWarning(busyBefore)] : []),
  ].join('\n')
}

const METHOD = `## How it is measured

- One broker (G1, 1 GiB heap) serves all contenders of a run. Each is a process of its own, started as a user would start it; they take
  turns (A B A B), so that what else the machine does meets all of them. Before each turn the broker has come to rest. Four turns that
  do not count come first: a broker whose code is not compiled yet takes up to three times the processor time for a record.
- Progress is read from the offsets that a contender's group has committed, which are atomic with its results; for the raw limit, which
  has no group, from the end of its output.
- The rate of the second half goes from commit to commit: from the first one with half of the records to the last but one, because the
  last commit has waited for its interval with nothing to do.
- Processor time is user and system time of the whole process from \`/proc\`, garbage collectors and compilers included; memory is the
  highest resident set.
- Every output is read back by a \`read_committed\` reader: number of records and a sum over their contents must be exact, else the run
  fails. With a cache, which writes only the last count of a key and commit, the last counts of all keys must add up.
- kafkajs gets a fifth of the records: it needs no warm-up, and ten times as long.
- Ratios of \`--json\` are millrace ÷ Kafka Streams, both with their defaults. A run names each one that is worse than the kept result by
  more than a third.

[performance.md](performance.md) tells where the time of a record goes.`
