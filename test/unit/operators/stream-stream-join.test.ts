import { expect } from 'chai'
import { JoinBench, NULLS, pair, TEXT } from './join-bench.ts'

/** Up to 10 ms before and 30 ms after the left record, with a grace of 5 ms. */
const REACH = { within: { before: 10, after: 30 }, grace: 5, key: TEXT.key } as const

function innerJoin(): JoinBench {
  return new JoinBench(b => {
    b.stream('left', NULLS).join(b.stream('right', NULLS), pair, REACH).to('out', TEXT)
  })
}

function leftJoin(): JoinBench {
  return new JoinBench(b => {
    b.stream('left', NULLS).leftJoin(b.stream('right', NULLS), pair, REACH).to('out', NULLS)
  })
}

function outerJoin(): JoinBench {
  return new JoinBench(b => {
    b.stream('left', NULLS).outerJoin(b.stream('right', NULLS), pair, REACH).to('out', NULLS)
  })
}

describe('an inner join of streams', () => {
  it('joins records of one key, whichever comes first, with the later time of the two', () => {
    const join = innerJoin().left('a', 'l', 100).right('a', 'r', 110)
    expect(join.results()).to.deep.equal(['a=l/r@110'])
    join.right('b', 'r', 120).left('b', 'l', 115)
    expect(join.results()).to.deep.equal(['b=l/r@120'])
  })

  it('reaches exactly as far before and after the left record as it says', () => {
    const join = innerJoin().left('a', 'l', 100)
    join.right('a', 'r89', 89).right('a', 'r90', 90).right('a', 'r130', 130).right('a', 'r131', 131)
    expect(join.results()).to.deep.equal(['a=l/r90@100', 'a=l/r130@130'])
  })

  it('joins with every partner, by time and then by arrival', () => {
    const join = innerJoin().right('a', 'late', 105).right('a', 'early', 95).right('a', 'later', 105)
    expect(join.left('a', 'l', 100).results()).to.deep.equal(['a=l/early@100', 'a=l/late@105', 'a=l/later@105'])
  })

  it('joins no records of different keys', () => {
    expect(innerJoin().left('a', 'l', 100).right('b', 'r', 100).results()).to.deep.equal([])
  })

  it('drops records without key or value, and says why', () => {
    const join = innerJoin().left(null, 'l', 100).left('a', null, 100).right('a', 'r', 100)
    expect(join.results()).to.deep.equal([])
    expect(join.dropped).to.deep.equal({ nullKey: 1, nullValue: 1 })
  })

  it('joins a late record with what is still kept', () => {
    const join = innerJoin().left('a', 'l', 100).left('other', 'l', 130)
    expect(join.right('a', 'r', 95).results()).to.deep.equal(['a=l/r@100'])
  })

  it('does not find a partner that is older than the join keeps records', () => {
    const join = innerJoin().left('a', 'l', 100).left('other', 'l', 146)
    expect(join.right('a', 'r', 100).results()).to.deep.equal([])
  })
})

describe('a left join of streams', () => {
  it('gives a left record without partner once none can come, and not before', () => {
    const join = leftJoin().left('a', 'l', 100)
    expect(join.left('x', 'x', 135).results()).to.deep.equal([])
    expect(join.left('y', 'y', 136).results()).to.deep.equal(['a=l/null@100'])
  })

  it('gives no such result for a record that has met a partner', () => {
    const join = leftJoin().left('a', 'l', 100).right('a', 'r', 120)
    expect(join.results()).to.deep.equal(['a=l/r@120'])
    expect(join.left('x', 'x', 300).results()).to.deep.equal([])
  })

  it('gives it at once for a record that is too late already', () => {
    expect(leftJoin().left('x', 'x', 200).left('a', 'l', 169).results()).to.deep.equal(['a=l/null@169'])
  })

  it('gives nothing for a right record without partner', () => {
    expect(leftJoin().right('a', 'r', 100).right('x', 'x', 300).results()).to.deep.equal([])
  })

  it('gives a left record without key at once, and drops a right one', () => {
    const join = leftJoin().left(null, 'l', 100).right(null, 'r', 100)
    expect(join.results()).to.deep.equal(['null=l/null@100'])
    expect(join.dropped).to.deep.equal({ nullKey: 1 })
  })
})

describe('an outer join of streams', () => {
  it('gives records of both sides that stay without partner, by time', () => {
    const join = outerJoin().left('a', 'l', 101).right('b', 'r', 100).right('a', 'x', 400)
    expect(join.results()).to.deep.equal(['b=null/r@100', 'a=l/null@101'])
  })

  it('gives right ones before left ones of the same time', () => {
    const join = outerJoin().left('a', 'l', 100).right('b', 'r', 100).left('x', 'x', 400)
    expect(join.results()).to.deep.equal(['b=null/r@100', 'a=l/null@100'])
  })

  it('gives each of several records of one key and time that wait', () => {
    const join = outerJoin().left('a', 'l1', 100).left('a', 'l2', 100).left('x', 'x', 400)
    expect(join.results()).to.deep.equal(['a=l1/null@100', 'a=l2/null@100'])
  })

  it('looks no further than the first of several records of one key, once both sides wait, as the JVM does', () => {
    const join = outerJoin().right('later', 'r', 115).right('first', 'r', 105).right('second', 'r', 110)
    join.left('two', 'l1', 111).left('two', 'l2', 111).right('x', 'x', 121)
    expect(join.results()).to.deep.equal(['first=null/r@105'])
    // The lowest time that waits is the left records' then, not that of the record behind them.
    expect(join.right('y', 'y', 127).results()).to.deep.equal(['second=null/r@110'])
  })

  it('lets neither of two partners wait', () => {
    const join = outerJoin().right('a', 'r', 100).left('a', 'l', 105)
    expect(join.results()).to.deep.equal(['a=l/r@105'])
    expect(join.left('x', 'x', 400).right('x', 'x', 400).results()).to.deep.equal(['x=x/x@400'])
  })
})

describe('a stream joined with itself', () => {
  it('joins each record with itself and with its neighbours on both sides', () => {
    const join = new JoinBench(b => {
      const stream = b.stream('left', TEXT)
      stream.join(stream, pair, { within: 10, grace: 0 }).to('out', TEXT)
    })
    join.left('a', '1', 100).left('a', '2', 105)
    expect(join.results()).to.have.members(['a=1/1@100', 'a=2/1@105', 'a=1/2@105', 'a=2/2@105'])
  })

  it('joins no record with itself that is older than the one store keeps, as with two stores', () => {
    const join = new JoinBench(
      b => {
        const stream = b.stream('left', TEXT)
        stream.join(stream, pair, { within: 10, grace: 0 }).to('out', TEXT)
      },
      { 'topology.optimization': 'all' },
    )
    join.left('a', 'now', 200)
    join.results()
    // The JVM is a millisecond stricter here than its stores are.
    expect(join.left('b', 'late', 181).results()).to.deep.equal([])
    expect(join.left('c', 'in time', 182).results()).to.deep.equal(['c=in time/in time@182'])
  })
})
