import { expect } from 'chai'
import {
  assignSticky,
  type AssignableMember,
  type AssignableUnit,
} from '../../../../src/kafka/group/sticky-assignor.ts'

describe('sticky assignor', () => {
  it('shares out units of each subtopology evenly, and the totals too', () => {
    const units = [...unitsOf(0, 3), ...unitsOf(1, 3)]
    expect(assign([member('a'), member('b')], units)).to.deep.equal({
      a: ['0_0', '0_2', '1_0'],
      b: ['0_1', '1_1', '1_2'],
    })
  })

  it('keeps what a member owns, and gives a new one what is left over', () => {
    const units = unitsOf(0, 4)
    expect(assign([member('a', [0, 1, 2, 3], 1), member('b')], units)).to.deep.equal({ a: ['0_0', '0_1'], b: [] })
    expect(assign([member('a', [0, 1], 2), member('b', [], 2)], units)).to.deep.equal({
      a: ['0_0', '0_1'],
      b: ['0_2', '0_3'],
    })
  })

  it('gives a partition claimed twice to the claim of the higher generation at once', () => {
    expect(assign([member('a', [0], 4), member('b', [0, 1], 5)], unitsOf(0, 2))).to.deep.equal({ a: [], b: ['0_0'] })
  })

  it('gives a partition claimed twice in one generation to nobody, so that both give it up', () => {
    expect(assign([member('a', [0], 5), member('b', [0], 5)], unitsOf(0, 1))).to.deep.equal({ a: [], b: [] })
  })

  it('keeps partitions of one unit together, and waits while two members hold parts of it', () => {
    const unit = {
      id: '0_0',
      group: 0,
      partitions: [
        { topic: 'left', partition: 0 },
        { topic: 'right', partition: 0 },
      ],
    }
    const left = { ...member('a'), owned: [{ topic: 'left', partition: 0 }], generationId: 1 }
    const right = { ...member('b'), owned: [{ topic: 'right', partition: 0 }], generationId: 1 }
    expect(assign([left, right], [unit])).to.deep.equal({ a: [], b: [] })
    expect(assign([left, member('b')], [unit])).to.deep.equal({ a: ['0_0'], b: [] })
  })

  it('gives a member with two threads twice as much', () => {
    const big = { ...member('a'), capacity: 2 }
    expect(assign([big, member('b')], unitsOf(0, 6))).to.deep.equal({
      a: ['0_0', '0_2', '0_4', '0_5'],
      b: ['0_1', '0_3'],
    })
  })

  it('orders members by instance id, so that the answer does not depend on random member ids', () => {
    const first = { ...member('z-random'), groupInstanceId: 'one' }
    const second = { ...member('a-random'), groupInstanceId: 'two' }
    expect(assign([second, first], unitsOf(0, 1))).to.deep.equal({ 'z-random': ['0_0'], 'a-random': [] })
  })

  it('moves one unit of the subtopology whose move costs nothing when totals are uneven', () => {
    const units = [...unitsOf(0, 1), ...unitsOf(1, 1)]
    const both = { ...member('a', [], 1), owned: units.flatMap(unit => unit.partitions) }
    const assigned = assign([both, member('b')], units)
    expect(assigned['a']).to.have.length(1)
    expect(assigned['b']).to.deep.equal([])
  })

  it('assigns nothing where there is nobody, or nothing', () => {
    expect(assign([], unitsOf(0, 2))).to.deep.equal({})
    expect(assign([member('a')], [])).to.deep.equal({ a: [] })
  })

  it('refuses a member that can carry nothing', () => {
    expect(() => assign([{ ...member('a'), capacity: 0 }], unitsOf(0, 1))).to.throw('assignor capacity')
  })

  it('settles hundreds of members and thousands of units within a second', () => {
    const units = Array.from({ length: 20 }, (_, group) => unitsOf(group, 150)).flat()
    const members = Array.from({ length: 200 }, (_, n) => member(`m${String(n)}`))
    const fromMs = performance.now()
    const assigned = assignSticky({ members, units })
    expect(performance.now() - fromMs).to.be.below(1_000)
    const sizes = [...assigned.values()].map(own => own.length)
    expect([Math.min(...sizes), Math.max(...sizes)]).to.deep.equal([15, 15])
  })
})

function unitsOf(group: number, count: number): readonly AssignableUnit[] {
  return Array.from({ length: count }, (_, partition) => ({
    id: `${String(group)}_${String(partition)}`,
    group,
    partitions: [{ topic: `topic-${String(group)}`, partition }],
  }))
}

function member(memberId: string, ownedOfFirstGroup: readonly number[] = [], generationId = -1): AssignableMember {
  return {
    memberId,
    groupInstanceId: null,
    owned: ownedOfFirstGroup.map(partition => ({ topic: 'topic-0', partition })),
    generationId,
    capacity: 1,
  }
}

function assign(
  members: readonly AssignableMember[],
  units: readonly AssignableUnit[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    [...assignSticky({ members, units })].map(([memberId, own]) => [memberId, own.map(unit => unit.id)]),
  )
}
