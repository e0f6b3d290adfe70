import { expect } from 'chai'
import { formatTopicPartition, type TopicPartition } from '../../../src/model/topic-partition.ts'
import type { AssignmentRound } from '../../../src/kafka/group/group-member.ts'
import {
  assignRound,
  decodeAssignmentData,
  encodeUserData,
  planFingerprint,
  subscriptionData,
  unitsOf,
} from '../../../src/engine/assignment.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { planOf } from './engine-fakes.ts'

const PLAN = planOf((builder: StreamsBuilder) => {
  builder
    .stream('in', { key: string, value: string })
    .merge(builder.stream('more', { key: string, value: string }))
    .to('out')
  builder.stream('other', { key: string, value: string }).to('out')
})
const COUNTS = new Map([
  ['in', 2],
  ['more', 3],
  ['other', 2],
])

interface Member {
  readonly id: string
  readonly owned?: readonly TopicPartition[]
  readonly generation?: number
  readonly shutdown?: boolean
}

function round(...members: readonly Member[]): AssignmentRound {
  return {
    generationId: 9,
    leaderMemberId: members[0]?.id ?? '',
    members: members.map(({ id, owned = [], generation = -1, shutdown = false }) => ({
      memberId: id,
      groupInstanceId: id,
      subscription: {
        topics: ['in', 'more', 'other'],
        userData: subscriptionData(id, 1, shutdown),
        ownedPartitions: [...owned],
        generationId: generation,
        rackId: null,
      },
    })),
  }
}

function toldToStop(of: AssignmentRound): readonly boolean[] {
  return [...assignRound(PLAN, COUNTS, of).values()].map(
    ({ userData }) => decodeAssignmentData(userData)?.shutdown === true,
  )
}

function lostBy(member: string, of: AssignmentRound): readonly string[] {
  const data = decodeAssignmentData(assignRound(PLAN, COUNTS, of).get(member)?.userData ?? null)
  return (data?.lost ?? []).map(([topic, partition]) => formatTopicPartition({ topic, partition }))
}

describe('assignment', () => {
  it('tells every member to stop once one of them asks for it, and none otherwise', () => {
    expect(toldToStop(round({ id: 'a' }, { id: 'b' }))).to.deep.equal([false, false])
    expect(toldToStop(round({ id: 'a' }, { id: 'b', shutdown: true }, { id: 'c' }))).to.deep.equal([true, true, true])
  })

  it('makes one unit of the partitions that a task reads, as many as its widest topic has partitions', () => {
    const units = unitsOf(PLAN, COUNTS).map(({ id, partitions }) => [id, partitions.map(formatTopicPartition)])

    expect(units).to.deep.equal([
      ['0_0', ['in-0', 'more-0']],
      ['0_1', ['in-1', 'more-1']],
      ['0_2', ['more-2']],
      ['1_0', ['other-0']],
      ['1_1', ['other-1']],
    ])
  })

  it('makes no task of topics that do not exist', () => {
    expect(unitsOf(PLAN, new Map())).to.deep.equal([])
  })

  it('hands every partition to one member', () => {
    const assigned = [...assignRound(PLAN, COUNTS, round({ id: 'a' }, { id: 'b' })).values()]
    const partitions = assigned.flatMap(each => each.partitions.map(formatTopicPartition))

    expect(partitions.toSorted()).to.deep.equal(['in-0', 'in-1', 'more-0', 'more-1', 'more-2', 'other-0', 'other-1'])
    expect(assigned.every(({ partitions: some }) => some.length > 0)).to.equal(true)
  })

  it('tells the members the plan it was made for', () => {
    const data = decodeAssignmentData(assignRound(PLAN, COUNTS, round({ id: 'a' })).get('a')?.userData ?? null)

    expect(data?.plan).to.equal(planFingerprint(PLAN, COUNTS))
  })

  it('has another fingerprint when a topic or a partition count changes, and for nothing else', () => {
    const same = planFingerprint(PLAN, new Map([...COUNTS].toReversed()))
    const grown = planFingerprint(PLAN, new Map([...COUNTS, ['in', 3]]))
    const fewer = planFingerprint(
      planOf(builder => {
        builder.stream('in', { key: string, value: string }).to('out')
      }),
      COUNTS,
    )

    expect(same).to.equal(planFingerprint(PLAN, COUNTS))
    expect(new Set([same, grown, fewer]).size).to.equal(3)
  })

  it('takes a double claim from the member of the earlier generation', () => {
    const claimed = [{ topic: 'in', partition: 0 }]
    const of = round({ id: 'a', owned: claimed, generation: 7 }, { id: 'b', owned: claimed, generation: 8 })

    expect([lostBy('a', of), lostBy('b', of)]).to.deep.equal([['in-0'], []])
  })

  it('believes nobody in a tie', () => {
    const claimed = [{ topic: 'in', partition: 0 }]
    const of = round({ id: 'a', owned: claimed, generation: 8 }, { id: 'b', owned: claimed, generation: 8 })

    expect([lostBy('a', of), lostBy('b', of)]).to.deep.equal([['in-0'], ['in-0']])
  })

  it('takes no claim away that nobody disputes', () => {
    const of = round({ id: 'a', owned: [{ topic: 'in', partition: 0 }], generation: 7 }, { id: 'b' })

    expect([lostBy('a', of), lostBy('b', of)]).to.deep.equal([[], []])
  })

  it('reads back what it writes, and ignores fields that a later version adds', () => {
    const data = { version: 1, plan: 'p', lost: [['in', 3] as const] }
    expect(decodeAssignmentData(encodeUserData(data))).to.deep.equal(data)

    const later = Buffer.from(JSON.stringify({ ...data, standby: [] }))
    expect(decodeAssignmentData(later)).to.deep.equal(data)
  })

  it('takes no user data as nothing said', () => {
    expect(decodeAssignmentData(null)).to.equal(undefined)
    expect(decodeAssignmentData(Buffer.alloc(0))).to.equal(undefined)
  })

  for (const [what, bytes] of [
    ['a later version', '{"version":2,"plan":"p","lost":[]}'],
    ['another assignor’s words', 'not json'],
    ['a form of the wrong shape', '{"version":1,"plan":"p","lost":[["in"]]}'],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => decodeAssignmentData(Buffer.from(bytes)))
        .to.throw()
        .with.property('code', 'STATE_VERSION_UNKNOWN')
    })
  }
})
