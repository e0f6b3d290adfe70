/**
 * Prints what a record costs in each operator, with stores in memory and few and many keys:
 * `npm run bench:operators -- --keys 1000,100000 --records 100000 --rounds 1 --only join`
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BENCHES, type Bench } from './bench-topologies.ts'
import { measure } from './bench-measure.ts'

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000,10000,100000,1000000' },
    records: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    /** Name of one operator: measured in this process, with the first count of keys, and the bare number is printed. */
    measure: { type: 'string' },
  },
})

function counts(option: string, text: string): readonly number[] {
  const numbers = text.split(',').map(Number)
  if (numbers.every(number => Number.isSafeInteger(number) && number > 0)) return numbers
  console.error(`--${option} is a positive number, or several with commas between: ${text}`)
  process.exit(2)
}

const keyCounts = counts('keys', values.keys)
const [records = 0] = counts('records', values.records)
const [rounds = 0] = counts('rounds', values.rounds)

const WIDTH = 15
const cell = (text: string): string => text.padStart(WIDTH)

/** In a process of its own: neither what another operator left in the heap nor what the compiler learned of it counts. */
function measureApart({ name }: Bench, keys: number): number {
  const args = ['--measure', name, '--keys', String(keys), '--records', String(records)]
  return Number(
    execFileSync(process.execPath, ['--max-old-space-size=8192', fileURLToPath(import.meta.url), ...args], {
      encoding: 'utf8',
    }),
  )
}

/** Medians per count of keys, in µs; the counts take turns, so that what else the machine does meets all of them. */
function medians(bench: Bench): readonly number[] {
  const measured = bench.keyed ? keyCounts : keyCounts.slice(0, 1)
  const found = measured.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, keys] of measured.entries()) found[at]?.push(measureApart(bench, keys))
  }
  return found.map(micros => micros.toSorted((a, b) => a - b)[Math.floor(micros.length / 2)] ?? Number.NaN)
}

function printTable(benches: readonly Bench[]): void {
  console.log(
    `Processor time per record in µs: median of ${String(rounds)}, at least ${records.toLocaleString('en')} records each.`,
  )
  console.log('Growth: last over first column. Records per second of one core, with as many keys as the first column.')
  const heads = keyCounts.map(keys => cell(`${keys.toLocaleString('en')} keys`))
  console.log(['operator'.padEnd(30), ...heads, cell('growth'), cell('records/s')].join(''))
  for (const bench of benches) {
    const found = medians(bench)
    const [first = 0, last = 0] = [found[0], found.at(-1)]
    const shown = keyCounts.map((_, at) => cell(found[at]?.toFixed(2) ?? ''))
    const growth = found.length > 1 ? `${(last / first).toFixed(2)}×` : ''
    const rate = Math.round(1e6 / first).toLocaleString('en')
    console.log([bench.name.padEnd(30), ...shown, cell(growth), cell(rate)].join(''))
  }
}

if (values.measure === undefined) {
  const benches = BENCHES.filter(({ name }) => name.includes(values.only))
  if (benches.length === 0) {
    console.error(`--only fits no operator: ${values.only}. There are: ${BENCHES.map(({ name }) => name).join(', ')}`)
    process.exit(2)
  }
  printTable(benches)
} else {
  const bench = BENCHES.find(({ name }) => name === values.measure)
  if (bench === undefined) throw new Error(`there is no operator ${values.measure}`)
  console.log(measure(bench, keyCounts[0] ?? 0, records).cpuMicros)
}
