// Proves that the lint rules bite: each file of src/ plants one violation, and each must be reported.
// `node test/lint-samples/check.mjs`; exit code 1 when one was missed or a clean file was blamed.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const EXPECTED = {
  'engine/floating-promise.ts': ['no-floating-promises'],
  'engine/floating-promises.ts': ['no-floating-promises'],
  'engine/misused-promise.ts': ['no-misused-promises'],
  'engine/incomplete-switch.ts': ['switch-exhaustiveness-check'],
  'engine/cycle-left.ts': ['no-cycle'],
  'engine/cycle-right.ts': ['no-cycle'],
  'model/type-cycle-left.ts': ['no-cycle'],
  'model/type-cycle-right.ts': ['no-cycle'],
  'model/upward-import.ts': ['no-restricted-imports'],
  'kafka/upward-type-import.ts': ['no-restricted-imports'],
  'kafka/upward-reexport.ts': ['no-restricted-imports'],
  'engine/forbidden-module.ts': ['no-restricted-imports'],
  'engine/ambient-world.ts': ['no-restricted-globals', 'no-restricted-properties'],
  'engine/any-type.ts': ['no-explicit-any', 'no-non-null-assertion', 'no-unsafe-member-access'],
  'model/default-export.ts': ['no-default-export'],
}
const CLEAN = ['engine/clean.ts', 'kafka/sender.ts', 'model/order.ts']

const root = join(import.meta.dirname, '../..')
// The project's own rules, without the line that keeps them away from these files; in the root, because globs are relative.
const rules = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8'))
rules.ignorePatterns = rules.ignorePatterns.filter(pattern => !pattern.includes('lint-samples'))
const config = join(root, `.oxlintrc.samples-${process.pid}.json`)
let result
try {
  writeFileSync(config, JSON.stringify(rules))
  const args = ['-c', config, '--type-aware', '-f', 'json', 'test/lint-samples/src']
  result = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, { cwd: root, encoding: 'utf8', timeout: 120_000 })
} finally {
  rmSync(config, { force: true })
}

const found = new Map()
for (const { filename, code } of JSON.parse(result.stdout || '{"diagnostics":[]}').diagnostics) {
  const file = filename.split('/').slice(-2).join('/')
  found.set(file, (found.get(file) ?? new Set()).add(/\(([^)]+)\)/.exec(code)?.[1] ?? code))
}
let wrong = 0
for (const [file, names] of Object.entries(EXPECTED)) {
  for (const name of names) {
    const caught = found.get(file)?.has(name) === true
    if (!caught) wrong += 1
    console.log(`${caught ? 'caught' : 'MISSED'}  ${file.padEnd(30)} ${name}`)
  }
}
for (const file of CLEAN) {
  const blamed = [...(found.get(file) ?? [])]
  if (blamed.length > 0) wrong += 1
  console.log(`${blamed.length > 0 ? 'BLAMED' : 'clean '}  ${file.padEnd(30)} ${blamed.join(' ')}`)
}
if (found.size === 0) console.log(result.stderr)
process.exitCode = wrong === 0 ? 0 : 1
