import { expect } from 'chai'
import { measure } from '../../../scripts/bench-measure.ts'
import { BENCHES } from '../../../scripts/bench-topologies.ts'

describe('npm run bench:operators', () => {
  it('has every operator once', () => {
    const names = BENCHES.map(({ name }) => name)
    expect(new Set(names).size).to.equal(names.length)
    expect(names.length).to.be.greaterThan(25)
  })

  for (const bench of BENCHES) {
    it(`measures ${bench.name}, which writes results while it is measured`, () => {
      const { cpuMicros, written } = measure(bench, 20, 1_000)
      expect(cpuMicros).to.be.greaterThan(0)
      expect(written).to.be.greaterThan(0)
    })
  }
})
