import { EventEmitter, once } from 'node:events'
import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { GroupOffsets } from '../../../src/kafka/group/group-offsets.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { type BrokerKind, uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { GroupLoop, type LoopOptions } from './group-loop.ts'
import { PendingTransaction } from './group-transaction.ts'

const BROKERS: readonly BrokerKind[] = ['tv2', '3.9.1']
/** Only a failure takes that long. */
const TIMEOUT_MS = 20_000

for (const kind of BROKERS) {
  describe(`group offsets, on a real broker (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    const loops: GroupLoop[] = []
    let group: LoopOptions
    let loop: GroupLoop
    let offsets: GroupOffsets

    beforeEach(async () => {
      group = { bootstrapServers: kafka().bootstrapServers, groupId: uniqueName('group'), topic: uniqueName('input') }
      loop = await start()
      await loop.createTopic(group.topic)
      await loop.owns(4)
      offsets = new GroupOffsets(loop.cluster, group.groupId, systemClock)
    })

    afterEach(async () => {
      await Promise.all(loops.splice(0).map(each => each.kill()))
    })

    async function start(options: Partial<LoopOptions> = {}): Promise<GroupLoop> {
      const started = await GroupLoop.start({ ...group, ...options })
      loops.push(started)
      return started
    }

    it('reads back what it committed, and tells what was never committed', async () => {
      const committed = offsetsOf(group.topic, [
        [0, { offset: 42, leaderEpoch: 0, metadata: 'äöü' }],
        [1, { offset: 0, leaderEpoch: -1, metadata: '' }],
      ])
      expect(await offsets.commit(memberOf(loop), committed, TIMEOUT_MS)).to.equal('done')
      const read = await offsets.fetch(partitionsOf(group.topic, 3), TIMEOUT_MS)
      expect([...read].map(([{ partition }, found]) => [partition, found])).to.deep.equal([
        [0, { offset: 42, leaderEpoch: 0, metadata: 'äöü' }],
        [1, { offset: 0, leaderEpoch: -1, metadata: '' }],
        [2, undefined],
      ])
    })

    it('waits while an open transaction holds an offset, and reads the old one when it aborts (KIP-447)', async () => {
      await offsets.commit(memberOf(loop), offsetsOf(group.topic, [[0, at(5)]]), TIMEOUT_MS)
      const pending = await PendingTransaction.begin(loop, group.groupId, group.topic, 99)
      let read: TopicPartitionMap<OffsetAndMetadata | undefined> | undefined
      const reading = (async (): Promise<void> => {
        read = await offsets.fetch(partitionsOf(group.topic, 2), 20_000)
      })()
      const readsAtOnce = await offsets.fetch([{ topic: group.topic, partition: 1 }], TIMEOUT_MS)
      expect(readsAtOnce.size).to.equal(1)
      const tooShort = await failureOf(offsets.fetch(partitionsOf(group.topic, 1), 2_500))
      expect(tooShort.details.kafkaCode).to.equal(88)
      expect(read).to.equal(undefined)
      await pending.end('abort')
      await reading
      expect(read?.get({ topic: group.topic, partition: 0 })?.offset).to.equal(5)
      expect(read?.get({ topic: group.topic, partition: 1 })).to.equal(undefined)
    })

    it('reads the new offset as soon as the transaction has committed, never the old one', async () => {
      await offsets.commit(memberOf(loop), offsetsOf(group.topic, [[0, at(5)]]), TIMEOUT_MS)
      for (let round = 1; round <= 20; round += 1) {
        const pending = await PendingTransaction.begin(loop, group.groupId, group.topic, 5 + round)
        await pending.end('commit')
        const read = await offsets.fetch(partitionsOf(group.topic, 1), TIMEOUT_MS)
        expect(read.get({ topic: group.topic, partition: 0 })?.offset).to.equal(5 + round)
      }
    })

    it('gives up with the partition named when an offset does not become stable in time', async () => {
      const pending = await PendingTransaction.begin(loop, group.groupId, group.topic, 7)
      const failure = await failureOf(offsets.fetch(partitionsOf(group.topic, 2), 2_500))
      expect(failure.code).to.equal('REQUEST_TIMED_OUT')
      expect(failure.details).to.deep.include({ topic: group.topic, partition: 0, kafkaCode: 88 })
      await pending.end('abort')
    })

    it('refuses a commit of an old generation or an unknown member, and names a replaced one', async () => {
      const member = memberOf(loop)
      const commit = offsetsOf(group.topic, [[0, at(1)]])
      const old = { ...member, generationId: member.generationId + 1 }
      expect(await offsets.commit(old, commit, TIMEOUT_MS)).to.equal('rebalancing')
      const unknown = await failureOf(offsets.commit({ ...member, memberId: 'somebody' }, commit, TIMEOUT_MS))
      expect(unknown).to.deep.include({ code: 'MEMBERSHIP_LOST', reaction: 'rejoin' })
      const fixed = await start({ groupId: uniqueName('static'), groupInstanceId: 'x' })
      await fixed.owns(4)
      const fixedOffsets = new GroupOffsets(fixed.cluster, fixed.groupId, systemClock)
      const replaced = await failureOf(fixedOffsets.commit({ ...memberOf(fixed), memberId: 'old' }, commit, TIMEOUT_MS))
      expect(replaced).to.deep.include({ code: 'INSTANCE_ID_IN_USE', reaction: 'stop' })
      expect(
        (await offsets.fetch(partitionsOf(group.topic, 1), TIMEOUT_MS)).get({ topic: group.topic, partition: 0 }),
      ).to.equal(undefined)
    })

    it('never commits without a generation, which the broker would accept unfenced', async () => {
      const commit = offsetsOf(group.topic, [[0, at(1)]])
      const member = { generationId: -1, memberId: '', groupInstanceId: null }
      await offsets.commit(member, commit, TIMEOUT_MS).then(
        () => expect.fail('it was committed'),
        (error: unknown) => expect(String(error)).to.include('I5 fencing'),
      )
    })

    it('fails when one partition of several is refused, and says which', async () => {
      const commit = offsetsOf(group.topic, [
        [0, at(3)],
        [1, { offset: 3, leaderEpoch: -1, metadata: 'x'.repeat(4_097) }],
      ])
      const failure = await failureOf(offsets.commit(memberOf(loop), commit, TIMEOUT_MS))
      expect(failure.details).to.deep.include({ topic: group.topic, partition: 1, kafkaCode: 12 })
    })

    it('splits what is too large for one record batch of the coordinator', async () => {
      const metadata = 'm'.repeat(4_096)
      const wide = uniqueName('wide')
      await loop.createTopic(wide, 300)
      const commit = offsetsOf(
        wide,
        Array.from({ length: 300 }, (_, partition) => [partition, { offset: partition, leaderEpoch: -1, metadata }]),
      )
      expect(await offsets.commit(memberOf(loop), commit, TIMEOUT_MS)).to.equal('done')
      const read = await offsets.fetch(partitionsOf(wide, 300), TIMEOUT_MS)
      expect([...read.values()].map(found => found?.offset)).to.deep.equal(Array.from({ length: 300 }, (_, n) => n))
    })

    it('commits in each window of a rebalance as the group allows it', async () => {
      const commit = (offset: number): Promise<string> =>
        offsets.commit(memberOf(loop), offsetsOf(group.topic, [[0, at(offset)]]), TIMEOUT_MS)
      const other = await start()
      await Promise.all([loop.owns(2), other.owns(2)])
      other.rejoins = false
      loop.rejoins = false
      const old = memberOf(loop)
      loop.join()
      await other.hears('rebalanceNeeded', other.told.length)
      expect(loop.member.joinOutstanding).to.equal(true)
      expect(await commit(10), 'old generation, JoinGroup parked').to.equal('done')
      // The leader's assignment is what SyncGroup waits for: it is held until both commits have been tried.
      const held = holdAssignment(loop, other)
      other.join()
      await loop.hears('joined', loop.told.length)
      await eventually('the leader assigns', held.waiting)
      expect(await commit(11), 'new generation, before SyncGroup').to.equal('rebalancing')
      expect(await offsets.commit(old, offsetsOf(group.topic, [[0, at(12)]]), TIMEOUT_MS), 'old generation').to.equal(
        'rebalancing',
      )
      held.release()
      await loop.hears('assigned', loop.told.length - 1)
      await eventually('stable', () => loop.member.state === 'stable')
      expect(await commit(13), 'new generation, after SyncGroup').to.equal('done')
      expect(
        (await offsets.fetch(partitionsOf(group.topic, 1), TIMEOUT_MS)).get({ topic: group.topic, partition: 0 })
          ?.offset,
      ).to.equal(13)
    })
  })
}

/** Holds the assignment of whichever of the members leads. */
function holdAssignment(...members: readonly GroupLoop[]): {
  readonly waiting: () => boolean
  readonly release: () => void
} {
  let isWaiting = false
  const gate = new EventEmitter()
  for (const member of members) {
    member.beforeAssign = async () => {
      isWaiting = true
      await once(gate, 'open')
    }
  }
  return { waiting: () => isWaiting, release: () => gate.emit('open') }
}

function memberOf(loop: GroupLoop): NonNullable<GroupLoop['member']['membership']> {
  const { membership } = loop.member
  if (membership === undefined) throw new Error(`not a member: ${loop.member.state}`)
  return membership
}

function at(offset: number): OffsetAndMetadata {
  return { offset, leaderEpoch: -1, metadata: '' }
}

function offsetsOf(
  topic: string,
  entries: readonly (readonly [number, OffsetAndMetadata])[],
): TopicPartitionMap<OffsetAndMetadata> {
  return new TopicPartitionMap(entries.map(([partition, value]) => [{ topic, partition }, value]))
}

function partitionsOf(topic: string, count: number): { topic: string; partition: number }[] {
  return Array.from({ length: count }, (_, partition) => ({ topic, partition }))
}

async function failureOf(work: Promise<unknown>): Promise<MillraceError> {
  const outcome = await work.catch((error: unknown) => error)
  if (!(outcome instanceof MillraceError)) throw new Error(`expected a failure, got ${String(outcome)}`)
  return outcome
}
