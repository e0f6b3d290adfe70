import { expect } from 'chai'
import { JoinBench, NULLS, pair, TEXT } from './join-bench.ts'

/** The part before the colon is a key of the global table; nothing before it chooses none. */
function keyOf(value: string | null): string | null {
  const key = value?.split(':')[0] ?? ''
  return key === '' ? null : key
}

function tableJoin(kind: 'join' | 'leftJoin'): JoinBench {
  return new JoinBench(b => {
    const stream = b.stream('left', NULLS)
    const table = b.table('right', { ...TEXT, store: 't' })
    if (kind === 'join') stream.join(table, pair, { key: TEXT.key }).to('out', NULLS)
    else stream.leftJoin(table, pair, { key: TEXT.key }).to('out', NULLS)
  })
}

function versionedJoin(grace?: number): JoinBench {
  return new JoinBench(b => {
    const table = b.table('right', { ...TEXT, store: 't', versioned: { historyRetention: 100 } })
    b.stream('left', TEXT)
      .join(table, pair, grace === undefined ? {} : { grace })
      .to('out', TEXT)
  })
}

function globalJoin(kind: 'join' | 'leftJoin'): JoinBench {
  return new JoinBench(b => {
    const stream = b.stream('left', NULLS)
    const table = b.globalTable('right', { ...TEXT, store: 'g' })
    if (kind === 'join') stream.join(table, keyOf, pair).to('out', NULLS)
    else stream.leftJoin(table, keyOf, pair).to('out', NULLS)
  })
}

describe('a join of a stream with a table', () => {
  it('gives each stream record with the row as it is now, at the time of the record', () => {
    const join = tableJoin('join').right('a', 'r1', 50).left('a', 'l1', 100).right('a', 'r2', 300).left('a', 'l2', 200)
    expect(join.results()).to.deep.equal(['a=l1/r1@100', 'a=l2/r2@200'])
  })

  it('gives nothing when the table changes', () => {
    expect(tableJoin('join').left('a', 'l', 100).right('a', 'r', 200).results()).to.deep.equal([])
  })

  it('leaves out records without row, and the left join gives them without', () => {
    expect(tableJoin('join').left('a', 'l', 100).results()).to.deep.equal([])
    expect(tableJoin('leftJoin').left('a', 'l', 100).results()).to.deep.equal(['a=l/null@100'])
  })

  it('finds no row that was deleted', () => {
    const join = tableJoin('leftJoin').right('a', 'r', 50).right('a', null, 60).left('a', 'l', 100)
    expect(join.results()).to.deep.equal(['a=l/null@100'])
  })

  it('drops records without value, and without key unless it is a left join', () => {
    const join = tableJoin('join').left(null, 'l', 100).left('a', null, 100)
    expect(join.results()).to.deep.equal([])
    expect(join.dropped).to.deep.equal({ nullKey: 1, nullValue: 1 })
    const left = tableJoin('leftJoin').left(null, 'l', 100).left('a', null, 100)
    expect(left.results()).to.deep.equal(['null=l/null@100'])
    expect(left.dropped).to.deep.equal({ nullValue: 1 })
  })
})

describe('a join of a stream with a versioned table', () => {
  it('gives the row that held at the time of the record', () => {
    const join = versionedJoin().right('a', 'r1', 100).right('a', 'r2', 150)
    join.left('a', 'l1', 120).left('a', 'l2', 150).left('a', 'l3', 99)
    expect(join.results()).to.deep.equal(['a=l1/r1@120', 'a=l2/r2@150'])
  })

  it('finds none where the row was deleted at the time', () => {
    const join = versionedJoin().right('a', 'r1', 100).right('a', null, 110).right('a', 'r2', 120)
    expect(join.left('a', 'l', 115).left('a', 'l', 109).results()).to.deep.equal(['a=l/r1@109'])
  })

  it('lets records wait for rows that come later, until the grace has passed', () => {
    const join = versionedJoin(50).left('a', 'l', 100).right('a', 'r', 90)
    expect(join.results()).to.deep.equal([])
    expect(join.left('x', 'x', 150).results()).to.deep.equal(['a=l/r@100'])
  })

  it('gives records that waited in the order of their times, and one that is late at once', () => {
    const join = versionedJoin(50).right('a', 'r', 0).right('b', 'r', 0)
    join.left('b', 'l2', 110).left('a', 'l1', 100)
    expect(join.left('x', 'x', 170).results()).to.deep.equal(['a=l1/r@100', 'b=l2/r@110'])
    expect(join.left('a', 'late', 100).results()).to.deep.equal(['a=late/r@100'])
  })
})

describe('a join of a stream with a global table', () => {
  it('looks up the key that the selector chooses, and keeps the key of the record', () => {
    const join = globalJoin('join').right('g1', 'row', 500).left('k', 'g1:x', 100)
    expect(join.results()).to.deep.equal(['k=g1:x/row@100'])
  })

  it('takes the row as it is now', () => {
    const join = globalJoin('join').right('g1', 'old', 0).right('g1', 'new', 0).left('k', 'g1', 100)
    expect(join.results()).to.deep.equal(['k=g1/new@100'])
  })

  it('leaves out records without row, and the left join gives them without', () => {
    expect(globalJoin('join').left('k', 'g1', 100).results()).to.deep.equal([])
    expect(globalJoin('leftJoin').left('k', 'g1', 100).results()).to.deep.equal(['k=g1/null@100'])
  })

  it('takes records without key, because the selector chooses another', () => {
    const join = globalJoin('join').right('g1', 'row', 0).left(null, 'g1', 100)
    expect(join.results()).to.deep.equal(['null=g1/row@100'])
  })

  it('drops records without value, and where none is chosen unless it is a left join', () => {
    const join = globalJoin('join').left('k', ':x', 100).left('k', null, 100)
    expect(join.results()).to.deep.equal([])
    expect(join.dropped).to.deep.equal({ nullKey: 2 })
    const left = globalJoin('leftJoin').left('k', ':x', 100).left('k', null, 100)
    expect(left.results()).to.deep.equal(['k=:x/null@100'])
    expect(left.dropped).to.deep.equal({ nullKey: 1 })
  })
})
