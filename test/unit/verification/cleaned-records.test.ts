import { expect } from 'chai'
import fc from 'fast-check'
import { type Keyed, notCleaned } from '../../../src/verification/cleaned-records.ts'

type Row = Keyed<number>

/** One key of three, values of which some are equal, some deletions. */
const rows = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', null)), { minLength: 1, maxLength: 12 })
  .map(list =>
    list.map(([key, value], item): Row => ({ id: `${key}=${String(value)}`, key, isDeletion: value === null, item })),
  )

/** One pass of a cleaner over the first so many records: of each key the newest stays; a deletion may go, too. */
function pass(log: readonly Row[], end: number, takesDeletions: boolean): readonly Row[] {
  return log.filter((row, at) => {
    if (at >= end) return true
    const isNewest = !log.slice(at + 1, end).some(({ key }) => key === row.key)
    return isNewest && !(takesDeletions && row.isDeletion)
  })
}

describe('what the cleaner cannot have taken', () => {
  it('is nothing after any passes of a cleaner', () => {
    const passes = fc.array(fc.tuple(fc.nat({ max: 12 }), fc.boolean()), { maxLength: 4 })
    fc.assert(
      fc.property(rows, passes, (written, list) => {
        const left = list.reduce((log: readonly Row[], [end, takes]) => pass(log, end, takes), written)
        expect(notCleaned(written, left)).to.deep.equal([])
      }),
    )
  })

  it('is a record that is missing behind an equal or another one of its key', () => {
    const [one, two, three] = ['1', '2', '2'].map((value, item): Row => ({
      id: `a=${value}`,
      key: 'a',
      isDeletion: false,
      item,
    }))
    if (one === undefined || two === undefined || three === undefined) throw new Error('three are three')
    expect(notCleaned([one, two, three], [one, three])).to.deep.equal([1])
    expect(notCleaned([one, two, three], [one])).to.deep.equal([2, 1])
    expect(notCleaned([one, two, three], [])).to.deep.equal([2])
    expect(notCleaned([one, two, { ...three, isDeletion: true, id: 'a=null' }], [two])).to.deep.equal([2])
  })
})
