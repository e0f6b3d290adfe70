import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { errorsReference, metricsReference } from '../../scripts/references.ts'

describe('generated documents', () => {
  it('are as the code says (npm run docs)', () => {
    expect(readFileSync('docs/errors.md', 'utf8')).to.equal(errorsReference())
    expect(readFileSync('docs/metrics.md', 'utf8')).to.equal(metricsReference())
  })
})
