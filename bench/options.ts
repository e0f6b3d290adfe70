import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packageRoot } from '../src/local-kafka/package-root.ts'
import { CONTENDERS } from './contenders/all.ts'
import type { ContenderName, SuiteName } from './scenario.ts'
import type { LatencyTimes } from './latency-run.ts'
import type { Wanted } from './suites.ts'

/** What the command line asks for. */
export interface BenchOptions extends Wanted {
  readonly rounds: number
  readonly latencyTimes: LatencyTimes
  /** Print the result as one line of JSON at the end. */
  readonly json: boolean
  /** Leave processor profiles of millrace instead of measuring. */
  readonly profile: boolean
  /** Keep the result in bench/results, and write docs/benchmarks.md from it. */
  readonly writeDocs: boolean
  /** Only write docs/benchmarks.md again from the kept result. */
  readonly render: boolean
  readonly help: boolean
  /** File of millrace's command line. */
  readonly cli: string
}

const NAMES: readonly ContenderName[] = Object.values(CONTENDERS).map(({ name }) => name)

/** A command line that cannot be understood. */
export class BenchUsageError extends Error {
  override readonly name = 'BenchUsageError'
}

/** Printed by `--help`. */
export const HELP = `npm run bench -- [options]      measures millrace, Kafka Streams and others on one local broker

  --quick              copy and count, millrace against Kafka Streams, in less than 3 minutes
  --suites a,b         workloads, variants, latency, growth, cluster, or all   (default workloads,latency)
  --only a,b           scenarios by id, such as copy; "count-" with all its variants
  --contenders a,b     of ${Object.keys(CONTENDERS).join(', ')}
  --records n          records of an input of 100-byte values                   (default 1,500,000)
  --rounds n           how often each contender has its turn                    (default 3)
  --cli file           millrace's command line                                  (default dist/cli/main.js)
  --seconds n          how long latency is measured, after a warm-up            (default 15)
  --json               the last line of stdout is the result as JSON
  --profile            leaves processor profiles of millrace and says where the time goes
  --write-docs         keeps the result in bench/results and writes docs/benchmarks.md from it
  --render             only writes docs/benchmarks.md again from the kept result

Contenders take turns (A B A B); figures are medians, ratios have their lowest and highest round. Every output is read
back as read_committed and checked. Needs Linux, Java 17 with a compiler and Maven, and about 4 GB of disk; everything
else on the machine should rest.

  npm run bench -- --quick --json
  npm run bench -- --only copy,count --contenders millrace,streams --rounds 5
  npm run bench -- --suites variants --only count- --records 500000
  npm run bench -- --suites growth --rounds 1
  npm run bench -- --profile --only copy
  npm run bench -- --suites all --write-docs
`

const SUITES: readonly SuiteName[] = ['workloads', 'variants', 'latency', 'growth', 'cluster']
const RECORDS = 1_500_000
const QUICK_RECORDS = 750_000
const TIMES: LatencyTimes = { warmUpSeconds: 8, seconds: 15 }
const QUICK_TIMES: LatencyTimes = { warmUpSeconds: 4, seconds: 6 }

/** The same code as in the package, a file for each module: a profile then names the module. */
const UNBUNDLED_CLI = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))

/** Reads a command line. @throws BenchUsageError */
export function readOptions(args: readonly string[]): BenchOptions {
  const values = parse(args)
  const isQuick = values.quick ?? false
  const isProfile = values.profile ?? false
  const suites = listOf('suites', values.suites ?? 'workloads,latency', [...SUITES, 'all'])
  const contenders = listOf('contenders', values.contenders ?? (isQuick ? 'millrace,streams' : ''), NAMES)
  const times = isQuick ? QUICK_TIMES : TIMES
  return {
    suites: suites.includes('all') ? SUITES : SUITES.filter(suite => suites.includes(suite)),
    only: words(values.only ?? (isQuick ? 'copy,count' : '')),
    contenders: NAMES.filter(name => contenders.includes(name)),
    records: countOf('records', values.records, isQuick ? QUICK_RECORDS : RECORDS),
    rounds: countOf('rounds', values.rounds, isQuick ? 2 : 3),
    latencyTimes: { ...times, seconds: countOf('seconds', values.seconds, times.seconds) },
    json: values.json ?? false,
    profile: isProfile,
    writeDocs: values['write-docs'] ?? false,
    render: values.render ?? false,
    help: values.help ?? false,
    cli: values.cli ?? (isProfile ? UNBUNDLED_CLI : join(packageRoot(), 'dist/cli/main.js')),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        suites: { type: 'string' },
        only: { type: 'string' },
        contenders: { type: 'string' },
        records: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        json: { type: 'boolean' },
        profile: { type: 'boolean' },
        'write-docs': { type: 'boolean' },
        cli: { type: 'string' },
        render: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new BenchUsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function words(text: string): readonly string[] {
  return text.split(',').filter(word => word !== '')
}

function listOf(option: string, text: string, known: readonly string[]): readonly string[] {
  const given = words(text)
  const unknown = given.find(word => !known.includes(word))
  if (unknown === undefined) return given
  throw new BenchUsageError(`--${option}: there is no ${unknown}; there are ${known.join(', ')}`)
}

function countOf(option: string, text: string | undefined, byDefault: number): number {
  const count = text === undefined ? byDefault : Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new BenchUsageError(`--${option} is a positive number: ${text ?? ''}`)
}
