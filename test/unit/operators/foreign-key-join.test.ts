import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { murmur3Hash128 } from '../../../src/model/murmur3.ts'
import { CurrentRecord } from '../../../src/operators/current-record.ts'
import { resolveAnswers } from '../../../src/operators/foreign-key-join.ts'
import { SubscriptionAnswer } from '../../../src/operators/subscription.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { JoinBench, pair, TEXT } from './join-bench.ts'

/** The part of an order before the colon is its customer; `none` has no customer. */
function customerOf(order: string): string | null {
  const customer = order.split(':')[0] ?? ''
  return customer === 'none' ? null : customer
}

function bytes(text: unknown): Buffer {
  return Buffer.from(String(text))
}

function byForeignKey(kind: 'inner' | 'left', properties: Partial<StreamsProperties> = {}): JoinBench {
  return new JoinBench(b => {
    const orders = b.table('left', { ...TEXT, store: 'orders' })
    const customers = b.table('right', { ...TEXT, store: 'customers' })
    const joined =
      kind === 'inner'
        ? orders.foreignKeyJoin(customers, customerOf, pair, { value: TEXT.value })
        : orders.foreignKeyLeftJoin(customers, customerOf, pair, { value: TEXT.value })
    joined.toStream().to('out', TEXT)
  }, properties)
}

describe('a join by a foreign key', () => {
  it('gives each row with the one it refers to, whichever came first', () => {
    const join = byForeignKey('inner').right('ann', 'Ann', 50).left('o1', 'ann:1', 100)
    expect(join.results()).to.deep.equal(['o1=ann:1/Ann@100'])
    join.left('o2', 'bob:2', 110)
    expect(join.results()).to.deep.equal([])
    expect(join.right('bob', 'Bob', 120).results()).to.deep.equal(['o2=bob:2/Bob@120'])
  })

  it('answers beside a cache, whose tables tell of their changes at the commit', () => {
    const join = byForeignKey('inner', { 'statestore.cache.max.bytes': 10_000 })
    expect(join.right('ann', 'Ann', 50).left('o1', 'ann:1', 100).results()).to.deep.equal(['o1=ann:1/Ann@100'])
  })

  it('gives every row that refers to one that changes, in the order of their keys', () => {
    const join = byForeignKey('inner').right('ann', 'Ann', 50)
    join.left('o2', 'ann:2', 100).left('o1', 'ann:1', 101).left('o3', 'anna:3', 102)
    join.results()
    expect(join.right('ann', 'Anne', 200).results()).to.deep.equal(['o1=ann:1/Anne@200', 'o2=ann:2/Anne@200'])
  })

  it('follows a row that refers to another one now, and forgets the old reference', () => {
    const join = byForeignKey('inner').right('ann', 'Ann', 50).right('bob', 'Bob', 50).left('o1', 'ann:1', 100)
    join.results()
    expect(join.left('o1', 'bob:1', 110).results()).to.deep.equal(['o1=bob:1/Bob@110'])
    expect(join.right('ann', 'Anne', 120).results()).to.deep.equal([])
  })

  it('deletes the result when a row moves to where there is nothing, and when it goes', () => {
    const join = byForeignKey('inner').right('ann', 'Ann', 50).left('o1', 'ann:1', 100).left('o2', 'ann:2', 100)
    join.results()
    expect(join.left('o1', 'bob:1', 110).results()).to.deep.equal(['o1=null@110'])
    expect(join.left('o2', null, 120).results()).to.deep.equal(['o2=null@120'])
  })

  it('deletes the results of all that refer to a row that goes', () => {
    const join = byForeignKey('inner').right('ann', 'Ann', 50).left('o1', 'ann:1', 100)
    join.results()
    expect(join.right('ann', null, 130).results()).to.deep.equal(['o1=null@130'])
  })

  it('drops rows without a foreign key, and says so', () => {
    const join = byForeignKey('inner').left('o1', 'none:1', 100)
    expect(join.results()).to.deep.equal([])
    expect(join.dropped).to.deep.equal({ nullKey: 1 })
  })
})

describe('a left join by a foreign key', () => {
  it('gives every left row, without partner where there is none or no foreign key', () => {
    const join = byForeignKey('left').left('o1', 'ann:1', 100).left('o2', 'none:2', 110)
    expect(join.results()).to.deep.equal(['o1=ann:1/null@100', 'o2=none:2/null@110'])
    expect(join.right('ann', 'Ann', 120).results()).to.deep.equal(['o1=ann:1/Ann@120'])
  })

  it('keeps the left row when the one it refers to goes', () => {
    const join = byForeignKey('left').right('ann', 'Ann', 50).left('o1', 'ann:1', 100)
    join.results()
    expect(join.right('ann', null, 130).results()).to.deep.equal(['o1=ann:1/null@130'])
  })
})

describe('an answer to a row of a join by a foreign key', () => {
  it('gives a result only to the value that asked: one that came too late is dropped and counted', () => {
    const results: string[] = []
    const dropped: string[] = []
    const resolve = resolveAnswers(
      {
        name: 'join',
        record: new CurrentRecord(),
        // The row refers to bob by now.
        getter: { get: () => 'bob:1', getAsOf: () => 'bob:1', timestamp: 1 },
        keyBytes: bytes,
        valueBytes: bytes,
        foreignValue: value => Buffer.from(value).toString(),
        joiner: (left, right) => `${String(left)}/${String(right)}`,
        isLeft: false,
        dropped: reason => dropped.push(reason),
      },
      (key, value) => results.push(`${String(key)}=${String(value)}`),
    )
    const answer = (asked: string, row: string): SubscriptionAnswer =>
      new SubscriptionAnswer(murmur3Hash128(bytes(asked)), bytes(row), 0)

    resolve('o1', answer('ann:1', 'Ann'), 10, NO_HEADERS)
    expect([results, dropped]).to.deep.equal([[], ['staleResponse']])
    resolve('o1', answer('bob:1', 'Bob'), 11, NO_HEADERS)
    expect(results).to.deep.equal(['o1=bob:1/Bob'])
  })
})
