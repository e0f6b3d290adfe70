/**
 * Writes the references that are made from tables of the code: `npm run docs`.
 */
import { writeFileSync } from 'node:fs'
import { REFERENCES } from './references.ts'

for (const [file, generate] of Object.entries(REFERENCES)) writeFileSync(file, generate())
