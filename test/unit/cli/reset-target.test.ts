import { expect } from 'chai'
import { resetTarget, type ResetTargetOptions } from '../../../src/cli/reset-target.ts'
import { UsageError } from '../../../src/cli/usage-error.ts'

const NONE: ResetTargetOptions = {
  toEarliest: undefined,
  toLatest: undefined,
  toDatetime: undefined,
  toOffset: undefined,
  byDuration: undefined,
}

describe('target of a reset', () => {
  it('is the beginning when nothing is said', () => {
    expect(resetTarget(NONE)).to.deep.equal({ kind: 'earliest' })
  })

  it('is read from each form', () => {
    expect(resetTarget({ ...NONE, toLatest: true })).to.deep.equal({ kind: 'latest' })
    expect(resetTarget({ ...NONE, toOffset: '42' })).to.deep.equal({ kind: 'offset', offset: 42 })
    expect(resetTarget({ ...NONE, byDuration: '2h' })).to.deep.equal({ kind: 'age', ageMs: 7_200_000 })
    expect(resetTarget({ ...NONE, toDatetime: '1970-01-01T00:00:05Z' })).to.deep.equal({
      kind: 'timestamp',
      timestampMs: 5_000,
    })
  })

  it('is refused when it is said twice or cannot be read', () => {
    for (const wrong of [
      { toLatest: true, toOffset: '1' },
      { toOffset: '-1' },
      { toOffset: '1e3' },
      { byDuration: 'soon' },
      { toDatetime: 'yesterday' },
    ]) {
      expect(() => resetTarget({ ...NONE, ...wrong }), JSON.stringify(wrong)).to.throw(UsageError)
    }
  })
})
