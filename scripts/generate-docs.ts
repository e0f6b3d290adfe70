/**
 * Writes the references that are made from tables of the code: `node build/scripts/generate-docs.js [--check]`.
 * With `--check` it changes nothing and fails when one is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { configurationReference } from './generate-config-reference.ts'
import { errorsReference, metricsReference } from './references.ts'

const REFERENCES: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationReference,
  'docs/errors.md': errorsReference,
  'docs/metrics.md': metricsReference,
}

const check = process.argv.includes('--check')
for (const [file, generate] of Object.entries(REFERENCES)) {
  const text = generate()
  if (!check) {
    writeFileSync(file, text)
    continue
  }
  if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is out of date: npm run docs`)
    process.exitCode = 1
  }
}
