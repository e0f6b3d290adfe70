import { expect } from 'chai'
import { JoinBench, pair, TEXT } from './join-bench.ts'

type Kind = 'join' | 'leftJoin' | 'outerJoin'

function tables(kind: Kind, options: { readonly store?: string } = {}): JoinBench {
  return new JoinBench(b => {
    const left = b.table('left', { ...TEXT, store: 'l' })
    const right = b.table('right', { ...TEXT, store: 'r' })
    const kept = { ...options, value: TEXT.value }
    const joined =
      kind === 'join'
        ? left.join(right, pair, kept)
        : kind === 'leftJoin'
          ? left.leftJoin(right, pair, kept)
          : left.outerJoin(right, pair, kept)
    joined.toStream().to('out', TEXT)
  })
}

describe('a join of tables', () => {
  it('gives a row when both sides have one, and again when either changes, with the later time', () => {
    const join = tables('join').left('a', 'l', 100)
    expect(join.results()).to.deep.equal([])
    expect(join.right('a', 'r', 50).results()).to.deep.equal(['a=l/r@100'])
    expect(join.left('a', 'l2', 120).right('a', 'r2', 110).results()).to.deep.equal(['a=l2/r@120', 'a=l2/r2@120'])
  })

  it('deletes the row when either side goes, and then tells nothing more', () => {
    const join = tables('join').left('a', 'l', 100).right('a', 'r', 100)
    join.results()
    expect(join.right('a', null, 110).results()).to.deep.equal(['a=null@110'])
    expect(join.left('a', null, 120).results()).to.deep.equal([])
  })

  it('drops updates without key', () => {
    const join = tables('join').left(null, 'l', 100)
    expect(join.dropped).to.deep.equal({ nullKey: 1 })
  })
})

describe('a left join of tables', () => {
  it('gives every left row, with the right one once there is one', () => {
    const join = tables('leftJoin').left('a', 'l', 100).right('a', 'r', 110).right('b', 'r', 120)
    expect(join.results()).to.deep.equal(['a=l/null@100', 'a=l/r@110'])
  })

  it('goes back to a row without partner when the right one goes, and is deleted with the left one', () => {
    const join = tables('leftJoin').left('a', 'l', 100).right('a', 'r', 110)
    join.results()
    expect(join.right('a', null, 120).results()).to.deep.equal(['a=l/null@120'])
    expect(join.left('a', null, 130).results()).to.deep.equal(['a=null@130'])
  })
})

describe('an outer join of tables', () => {
  it('gives a row when any side has one, and deletes it with the last', () => {
    const join = tables('outerJoin').right('a', 'r', 100).left('a', 'l', 110)
    expect(join.results()).to.deep.equal(['a=null/r@100', 'a=l/r@110'])
    expect(join.right('a', null, 120).left('a', null, 130).results()).to.deep.equal(['a=l/null@120', 'a=null@130'])
  })

  it('gives the same when its rows are kept', () => {
    const join = tables('outerJoin', { store: 'kept' }).right('a', 'r', 100).left('a', 'l', 110).right('a', null, 120)
    expect(join.results()).to.deep.equal(['a=null/r@100', 'a=l/r@110', 'a=l/null@120'])
  })
})
