import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { FAULT_MATRIX } from '../chaos/fault-matrix.ts'

/** Numbers of the catalogue in docs/reliability.md. */
const FAULTS = 40
/** They are about stores on disk, which come with them. */
const LATER = ['F7', 'F29', 'F30', 'F31']

describe('the fault matrix', () => {
  it('has every fault of the catalogue once, in order', () => {
    expect(FAULT_MATRIX.map(({ fault }) => fault)).to.deep.equal(
      Array.from({ length: FAULTS }, (_, index) => `F${String(index + 1)}`),
    )
  })

  it('has a test for each that does not need a store on disk', () => {
    expect(FAULT_MATRIX.filter(({ files }) => files.length === 0).map(({ fault }) => fault)).to.deep.equal(LATER)
  })

  for (const { fault, files } of FAULT_MATRIX) {
    for (const file of files) {
      it(`finds ${fault} in the titles of ${file}`, () => {
        expect(readFileSync(`test/${file}.ts`, 'utf8')).to.match(new RegExp(`\\b${fault}\\b`))
      })
    }
    if (files.length === 0) continue
    it(`counts that ${fault} really happened`, () => {
      const counts = files.filter(file => readFileSync(`test/${file}.ts`, 'utf8').includes('faultFired('))
      expect(counts, 'files that count').not.to.deep.equal([])
    })
  }
})
