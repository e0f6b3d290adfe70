import { FAULT_MATRIX } from './fault-matrix.ts'

const BEGIN = '<!-- faults: generated from test/chaos/fault-matrix.ts, do not edit (npm run docs) -->'
const END = '<!-- end of faults -->'

/** A document with the table of faults as the code says; the rest is as it was. */
export function withFaultTable(text: string): string {
  const [before, after] = [text.split(BEGIN)[0] ?? '', text.split(END)[1] ?? '']
  return `${before}${BEGIN}\n${faultTable()}\n${END}${after}`
}

function faultTable(): string {
  const rows = FAULT_MATRIX.map(({ fault, what, expected, counted, files }) => {
    const tests =
      files.length === 0 ? 'comes with stores on disk' : files.map(file => `\`test/${file}.ts\``).join('<br>')
    return `| ${fault} | ${what} | ${expected} | ${tests} | ${counted} |`
  })
  return [
    '| fault | what goes wrong | what must hold | tests, by the number in their titles | what counts that it happened |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
