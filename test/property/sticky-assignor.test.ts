import { expect } from 'chai'
import fc from 'fast-check'

import type { AssignableMember, AssignableUnit } from '../../src/kafka/group/unit-claims.ts'
import { assignSticky } from '../../src/kafka/group/sticky-assignor.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'

type Assignment = ReadonlyMap<string, readonly AssignableUnit[]>

const RUNS = { numRuns: 300 }

/** Units of several subtopologies; some read two topics together. */
const unitsOf: fc.Arbitrary<readonly AssignableUnit[]> = fc
  .array(fc.record({ size: fc.integer({ min: 1, max: 12 }), topics: fc.integer({ min: 1, max: 2 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map(groups =>
    groups.flatMap(({ size, topics }, group) =>
      Array.from({ length: size }, (_, n) => ({
        id: `${String(group)}_${String(n)}`,
        group,
        partitions: Array.from({ length: topics }, (_unused, topic) => ({
          topic: `topic-${String(group)}-${String(topic)}`,
          partition: n,
        })),
      })),
    ),
  )

const memberCount = fc.integer({ min: 1, max: 7 })

describe('sticky assignor, on random groups', () => {
  it('gives every unit to at most one member, and none that another live member still claims', () => {
    fc.assert(
      fc.property(unitsOf, memberCount, fc.infiniteStream(fc.nat()), (units, count, chance) => {
        const members = membersWithAnyClaims(units, count, chance)
        const assignment = assignSticky({ members, units })
        expect(assignment.size).to.equal(members.length)
        const given = [...assignment.values()].flat().map(unit => unit.id)
        expect(new Set(given).size).to.equal(given.length)
        for (const [memberId, own] of assignment) {
          for (const topicPartition of own.flatMap(unit => unit.partitions)) {
            expect(winnersOf(members, topicPartition)).to.be.oneOf(['nobody', memberId])
          }
        }
      }),
      RUNS,
    )
  })

  it('assigns everything, balanced, after at most two rounds from any claims', () => {
    fc.assert(
      fc.property(unitsOf, memberCount, fc.infiniteStream(fc.nat()), (units, count, chance) => {
        const members = membersWithAnyClaims(units, count, chance)
        const settled = rounds(members, units, 2)
        expectComplete(settled, units)
        expectBalanced(settled, units)
      }),
      RUNS,
    )
  })

  it('changes nothing while nothing changes', () => {
    fc.assert(
      fc.property(unitsOf, memberCount, fc.infiniteStream(fc.nat()), (units, count, chance) => {
        const settled = rounds(membersWithAnyClaims(units, count, chance), units, 2)
        expect(idsOf(assignSticky({ members: after(settled, 7), units }))).to.deep.equal(idsOf(settled))
      }),
      RUNS,
    )
  })

  it('does not depend on the order of the members', () => {
    fc.assert(
      fc.property(unitsOf, memberCount, fc.infiniteStream(fc.nat()), (units, count, chance) => {
        const members = membersWithAnyClaims(units, count, chance)
        const forwards = assignSticky({ members, units })
        const backwards = assignSticky({ members: members.toReversed(), units })
        expect(idsOf(backwards)).to.deep.equal(idsOf(forwards))
      }),
      RUNS,
    )
  })

  it('moves units only to a member that was added, and no more than its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), memberCount, (size, count) => {
        const units = unitsOfOneGroup(size)
        const before = rounds(newMembers(count), units, 2)
        const settled = rounds([...after(before, 2), aMember('z-new')], units, 2)
        const moved = units.filter(unit => ownerOf(before, unit) !== ownerOf(settled, unit))
        expect(moved.every(unit => ownerOf(settled, unit) === 'z-new')).to.equal(true)
        expect(moved.length).to.equal(Math.floor(size / (count + 1)))
      }),
      RUNS,
    )
  })

  it('moves only the units of a member that left', () => {
    fc.assert(
      fc.property(unitsOf, fc.integer({ min: 2, max: 7 }), (units, count) => {
        const before = rounds(newMembers(count), units, 2)
        const remaining = after(before, 2).slice(1)
        const settled = rounds(remaining, units, 2)
        expectComplete(settled, units)
        const leaver = 'm0'
        const moved = units.filter(unit => ownerOf(before, unit) !== ownerOf(settled, unit))
        const orphaned = units.filter(unit => ownerOf(before, unit) === leaver)
        // A left-over unit of another group may have to move as well, to even the totals out: one per group at most.
        expect(moved.length).to.be.at.most(orphaned.length + new Set(units.map(unit => unit.group)).size)
      }),
      RUNS,
    )
  })

  it('gives a member its share by capacity, to within one unit per group and overall', () => {
    fc.assert(
      fc.property(
        unitsOf,
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
        (units, weights) => {
          const members = weights.map((capacity, n) => ({ ...aMember(`m${String(n)}`), capacity }))
          const assignment = assignSticky({ members, units })
          expectComplete(assignment, units)
          const total = weights.reduce((sum, weight) => sum + weight, 0)
          for (const { memberId, capacity } of members) {
            const own = assignment.get(memberId) ?? []
            expect(Math.abs(own.length - (units.length * capacity) / total)).to.be.below(1)
            for (const group of new Set(units.map(unit => unit.group))) {
              const size = units.filter(unit => unit.group === group).length
              const ownOfGroup = own.filter(unit => unit.group === group).length
              expect(Math.abs(ownOfGroup - (size * capacity) / total)).to.be.below(1)
            }
          }
        },
      ),
      RUNS,
    )
  })
})

function aMember(memberId: string): AssignableMember {
  return { memberId, groupInstanceId: null, owned: [], generationId: -1, capacity: 1 }
}

function newMembers(count: number): readonly AssignableMember[] {
  return Array.from({ length: count }, (_, n) => aMember(`m${String(n)}`))
}

function unitsOfOneGroup(size: number): readonly AssignableUnit[] {
  return Array.from({ length: size }, (_, n) => ({
    id: `0_${String(n)}`,
    group: 0,
    partitions: [{ topic: 'orders', partition: n }],
  }))
}

/** Members that claim partitions at random, also twice, in different generations, or half a unit. */
function membersWithAnyClaims(
  units: readonly AssignableUnit[],
  count: number,
  chance: fc.Stream<number>,
): readonly AssignableMember[] {
  const next = (): number => {
    const drawn = chance.next()
    return drawn.done === true ? 0 : drawn.value
  }
  const partitions = units.flatMap(unit => unit.partitions)
  return newMembers(count).map(member => ({
    ...member,
    groupInstanceId: next() % 2 === 0 ? `instance-${member.memberId}` : null,
    generationId: next() % 3,
    owned: partitions.filter(() => next() % (count + 1) === 0),
  }))
}

/** The members as they rejoin: owning what they were assigned. */
function after(assignment: Assignment, generationId: number): readonly AssignableMember[] {
  return [...assignment].map(([memberId, own]) => ({
    ...aMember(memberId),
    generationId,
    owned: own.flatMap(unit => unit.partitions),
  }))
}

function rounds(members: readonly AssignableMember[], units: readonly AssignableUnit[], count: number): Assignment {
  let assignment = assignSticky({ members, units })
  for (let round = 1; round < count; round += 1) {
    assignment = assignSticky({ members: after(assignment, round + 5), units })
  }
  return assignment
}

/** Whose claim of a partition counts: the only one of the highest generation. */
function winnersOf(members: readonly AssignableMember[], { topic, partition }: TopicPartition): string {
  const claims = members.filter(member =>
    member.owned.some(owned => owned.topic === topic && owned.partition === partition),
  )
  const highest = Math.max(...claims.map(member => member.generationId))
  const winners = claims.filter(member => member.generationId === highest).map(member => member.memberId)
  return winners.length === 0 ? 'nobody' : winners.join(' and ')
}

function ownerOf(assignment: Assignment, unit: AssignableUnit): string | undefined {
  return [...assignment].find(([, own]) => own.some(other => other.id === unit.id))?.[0]
}

function idsOf(assignment: Assignment): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries([...assignment].map(([memberId, own]) => [memberId, own.map(unit => unit.id)]))
}

function expectComplete(assignment: Assignment, units: readonly AssignableUnit[]): void {
  const given = [...assignment.values()].flat().map(unit => unit.id)
  expect(given.toSorted()).to.deep.equal(units.map(unit => unit.id).toSorted())
}

function expectBalanced(assignment: Assignment, units: readonly AssignableUnit[]): void {
  expect(spread(assignment, () => true)).to.be.at.most(1)
  for (const group of new Set(units.map(unit => unit.group))) {
    expect(spread(assignment, unit => unit.group === group)).to.be.at.most(1)
  }
}

function spread(assignment: Assignment, counts: (unit: AssignableUnit) => boolean): number {
  const sizes = [...assignment.values()].map(own => own.filter(counts).length)
  return Math.max(...sizes) - Math.min(...sizes)
}
