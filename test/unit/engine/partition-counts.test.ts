import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { settlePartitionCounts } from '../../../src/engine/partition-counts.ts'
import { string } from '../../../src/serdes/text.ts'
import type { ApplicationPlan } from '../../../src/topology/plan.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { planOf } from './engine-fakes.ts'

const text = { key: string, value: string }

/** A join of a stream that is keyed anew with a table. */
function joiningRekeyed(partitions?: number): ApplicationPlan {
  return planOf((builder: StreamsBuilder) => {
    builder
      .stream('in', text)
      .selectKey(value => value)
      .repartition({ name: 'rekeyed', ...text, ...(partitions === undefined ? {} : { partitions }) })
      .join(builder.table('table', { ...text, store: 'kept' }), (left, right) => `${left}${right}`)
      .to('out', { value: string })
  })
}

function rekeying(partitions?: number): ApplicationPlan {
  return planOf((builder: StreamsBuilder) => {
    builder
      .stream(['in', 'more'], text)
      .selectKey(value => value)
      .repartition({ name: 'one', ...text, ...(partitions === undefined ? {} : { partitions }) })
      .selectKey(value => value)
      .repartition({ name: 'two', ...text })
      .to('out')
  })
}

const ONE = 'app-one-repartition'
const TWO = 'app-two-repartition'
const REKEYED = 'app-rekeyed-repartition'

function settled(plan: ApplicationPlan, counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(settlePartitionCounts(plan, new Map(Object.entries(counts))))
}

describe('partition counts', () => {
  it('make a repartition topic as wide as the widest topic it is fed from, through a chain of them', () => {
    expect(settled(rekeying(), { in: 3, more: 5 })).to.include({ [ONE]: 5, [TWO]: 5 })
  })

  it('are what a step says, and go on from there', () => {
    expect(settled(rekeying(7), { in: 3, more: 5 })).to.include({ [ONE]: 7, [TWO]: 7 })
  })

  it('follow what the repartition topic is joined with', () => {
    expect(settled(joiningRekeyed(), { in: 3, table: 8 })).to.include({ [REKEYED]: 8 })
  })

  it('stop where a step says another count than what it is joined with, naming topics and counts', () => {
    expect(() => settled(joiningRekeyed(4), { in: 3, table: 8 }))
      .to.throw(MillraceError)
      .that.satisfies(
        (error: MillraceError) =>
          error.code === 'NOT_COPARTITIONED' &&
          error.message.includes(`${REKEYED} (4)`) &&
          error.message.includes('table (8)'),
      )
  })

  it('stop where inputs that are joined differ, naming topics and counts', () => {
    const plan = planOf(builder => {
      builder
        .stream('in', text)
        .join(builder.table('table', { ...text, store: 'kept' }), (left, right) => `${left}${right}`)
        .to('out', { value: string })
    })

    expect(() => settled(plan, { in: 3, table: 8 }))
      .to.throw(MillraceError)
      .that.satisfies(
        (error: MillraceError) =>
          error.code === 'NOT_COPARTITIONED' && error.message.includes('in (3)') && error.message.includes('table (8)'),
      )
    expect(settled(plan, { in: 8, table: 8 })).to.deep.equal({ in: 8, table: 8 })
  })

  it('carry a count that a join decides on to what is fed from there', () => {
    const plan = planOf(builder => {
      builder
        .stream('in', text)
        .selectKey(value => value)
        .repartition({ name: 'rekeyed', ...text })
        .join(builder.table('table', { ...text, store: 'kept' }), (left, right) => `${left}${right}`)
        .selectKey(value => value)
        .repartition({ name: 'two', ...text })
        .to('out')
    })

    expect(settled(plan, { in: 3, table: 8 })).to.include({ [REKEYED]: 8, [TWO]: 8 })
  })
})
