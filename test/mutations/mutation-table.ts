import { readFileSync } from 'node:fs'
import { MUTATIONS } from './mutations.ts'

const BEGIN = '<!-- mutations: generated from test/mutations/mutations.ts, do not edit (npm run docs) -->'
const END = '<!-- end of mutations -->'

/** Which seeded bug is caught by which test, as a table. */
function mutationTable(): string {
  const rows = MUTATIONS.map(({ name, bug, file, caughtBy }) => {
    const tests = caughtBy.map(
      test => `${test.file}${test.title === '' ? '' : `: “${test.title}”`}${checkOf(test.reason)}`,
    )
    return `| \`${name}\` | ${bug} | \`src/${file}.ts\` | ${tests.join('<br>')} |`
  })
  return ['| seeded bug | what is wrong then | where | caught by |', '|---|---|---|---|', ...rows].join('\n')
}

/** The check of the checker that has to find it, where the test judges by that. */
function checkOf(reason: RegExp): string {
  const check = /"check":"\(?(?:\?:)?([\w|]+)\)?","kind":"\(?(?:\?:)?([^)"]+)\)?"/.exec(reason.source)
  return check === null
    ? ''
    : ` → **${check[1]?.replaceAll('|', ', ') ?? ''}** (${check[2]?.replaceAll('|', ' or ') ?? ''})`
}

/** docs/correctness.md with the table as the code says; the rest is written by hand. */
export function correctnessDocument(): string {
  const text = readFileSync('docs/correctness.md', 'utf8')
  const [before, after] = [text.split(BEGIN)[0] ?? '', text.split(END)[1] ?? '']
  return `${before}${BEGIN}\n${mutationTable()}\n${END}${after}`
}
