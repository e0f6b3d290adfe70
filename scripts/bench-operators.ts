/**
 * Prints how many records per second each operator processes, with stores in memory and few and many keys:
 * `npm run bench:operators -- --keys 1000,100000 --records 100000 --only join`
 */
import { parseArgs } from 'node:util'
import { BENCHES } from './bench-topologies.ts'
import { measure } from './bench-measure.ts'

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000,1000000' },
    records: { type: 'string', default: '200000' },
    only: { type: 'string', default: '' },
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
const benches = BENCHES.filter(({ name }) => name.includes(values.only))
if (benches.length === 0) {
  console.error(`--only fits no operator: ${values.only}. There are: ${BENCHES.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const WIDTH = 17
const cell = (text: string): string => text.padStart(WIDTH)
const heads = keyCounts.map(keys => `${keys.toLocaleString('en')} keys`)
console.log(
  `Records per second, ${records.toLocaleString('en')} records each; cost: of a record, last over first column.`,
)
console.log(['operator'.padEnd(30), ...heads.map(cell), cell('cost')].join(''))
for (const bench of benches) {
  const rates = (bench.keyed ? keyCounts : keyCounts.slice(0, 1)).map(
    keys => measure(bench, keys, records).recordsPerSecond,
  )
  const [first = 0, last = 0] = [rates[0], rates.at(-1)]
  const shown = keyCounts.map((_, at) =>
    cell(rates[at] === undefined ? '' : Math.round(rates[at]).toLocaleString('en')),
  )
  const cost = rates.length > 1 ? `${(first / last).toFixed(2)}×` : ''
  console.log([bench.name.padEnd(30), ...shown, cell(cost)].join(''))
}
