/**
 * The fault matrix, or random faults, on real brokers: `npm run chaos -- --help`.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FAULT_MATRIX, type MatrixRow } from '../test/chaos/fault-matrix.ts'
import type { FaultCount } from '../test/support/fault-count.ts'

const USAGE = `Usage: npm run chaos -- [options]

  (none)              the whole fault matrix, F1 to F40
  --only F18,F24      some of it
  --list              shows the matrix; runs nothing
  --random            random faults over a counting and joining application with three processes
  --minutes M         with --random: how long faults are thrown           (3)
  --brokers KIND      with --random: tv2 | tv0 | 3.9.1 | three            (the seed decides)
  --seed S            same seed, same faults                              (by chance, printed)

Exit code 0: everything held, and every fault really happened. 1: something did not; the seed and the command to run
it again are printed.
`
/** Compiled beside this script. */
const TESTS = fileURLToPath(new URL('../test/', import.meta.url))
const MOCHA = 'node_modules/mocha/bin/mocha.js'

interface Run {
  readonly files: readonly string[]
  readonly grep?: string
  readonly env: Readonly<Record<string, string>>
}

/** Runs tests in a process of their own. @returns its exit code */
async function runTests({ files, grep, env }: Run): Promise<number> {
  const args = [MOCHA, '--no-config', '--node-option', 'enable-source-maps', '--timeout', '600000']
  const selection = grep === undefined ? [] : ['--grep', grep]
  const child = spawn(process.execPath, [...args, ...selection, ...files.map(file => `${TESTS}${file}.js`)], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return await new Promise(resolve => {
    child.on('exit', code => resolve(code ?? 1))
  })
}

async function runMatrix(rows: readonly MatrixRow[], seed: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-faults-'))
  const record = join(folder, 'counts.ndjson')
  try {
    const files = [...new Set(rows.flatMap(row => row.files))]
    if (files.length === 0) {
      console.log('Nothing to run: these faults need stores on disk, which come with a later version.')
      return 0
    }
    const grep = `\\b(${rows.map(({ fault }) => fault).join('|')})\\b`
    const env = { MILLRACE_CHAOS_SEED: String(seed), MILLRACE_FAULT_RECORD: record }
    const code = await runTests({ files, grep, env })
    const never = printCounts(rows, countsIn(record))
    if (code === 0 && never.length === 0) return 0
    if (never.length > 0) console.log(`\nvoid, because the fault never happened: ${never.join(', ')}`)
    return 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function countsIn(record: string): readonly FaultCount[] {
  let text = ''
  try {
    text = readFileSync(record, 'utf8')
  } catch {
    // No test came to its count.
  }
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as unknown)
    .filter(isCount)
}

function isCount(value: unknown): value is FaultCount {
  return typeof value === 'object' && value !== null && 'fault' in value && 'what' in value && 'times' in value
}

/** Shows what happened how often. @returns the faults that never did */
function printCounts(rows: readonly MatrixRow[], counts: readonly FaultCount[]): readonly string[] {
  const never: string[] = []
  console.log('\nfault  happened')
  for (const { fault, what, files } of rows) {
    const own = counts.filter(count => count.fault === fault)
    const shown = own.map(({ what: counted, times }) => `${String(times)} × ${counted}`).join('; ')
    if (files.length === 0) console.log(`${fault.padEnd(5)}  (with stores on disk) ${what}`)
    else console.log(`${fault.padEnd(5)}  ${shown === '' ? `NEVER: ${what}` : shown}`)
    if (files.length > 0 && own.length === 0) never.push(fault)
  }
  return never
}

async function main(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string' },
      list: { type: 'boolean' },
      random: { type: 'boolean' },
      minutes: { type: 'string' },
      brokers: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    console.log(USAGE)
    return 0
  }
  if (values.list === true) {
    for (const { fault, what, expected, files } of FAULT_MATRIX) {
      console.log(`${fault.padEnd(4)} ${what}\n     → ${expected}`)
      console.log(`     ${files.length === 0 ? 'comes with stores on disk' : files.join(', ')}`)
    }
    return 0
  }
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  const minutes = Number(values.minutes ?? '3')
  if (!Number.isInteger(seed) || !(minutes > 0)) throw new Error(`not a number\n${USAGE}`)
  const again = [`npm run chaos -- --seed ${String(seed)}`]
  let code: number
  if (values.random === true) {
    again.push(`--random --minutes ${String(minutes)}`)
    if (values.brokers !== undefined) again.push(`--brokers ${values.brokers}`)
    const env = { MILLRACE_CHAOS_SEED: String(seed), MILLRACE_CHAOS_MINUTES: String(minutes) }
    const brokers = values.brokers === undefined ? {} : { MILLRACE_CHAOS_BROKERS: values.brokers }
    code = await runTests({ files: ['chaos/random/random.chaos'], env: { ...env, ...brokers } })
  } else {
    const only = values.only?.split(',')
    const rows = only === undefined ? FAULT_MATRIX : FAULT_MATRIX.filter(({ fault }) => only.includes(fault))
    if (rows.length === 0) throw new Error(`--only: there is no ${String(values.only)}`)
    if (only !== undefined) again.push(`--only ${only.join(',')}`)
    code = await runMatrix(rows, seed)
  }
  console.log(`\nseed ${String(seed)}: ${code === 0 ? 'everything held' : `RED. Run it again: ${again.join(' ')}`}`)
  return code
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}
