import { expect } from 'chai'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import type { Producer } from '../../../src/kafka/producer/producer.ts'
import { TRANSACTION_BROKERS, uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { committedOffsets } from '../../support/kafka-reader.ts'
import { GroupLoop } from './group-loop.ts'
import { failureOf, ProducerRoom, valuesOf } from './producer-room.ts'

const TIMEOUT_MS = 20_000

for (const kind of TRANSACTION_BROKERS) {
  describe(`producer with transactions, on a real broker (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let room: ProducerRoom
    const loops: GroupLoop[] = []

    beforeEach(async () => {
      room = await ProducerRoom.open(kafka().bootstrapServers)
    })

    afterEach(async () => {
      await Promise.all(loops.splice(0).map(loop => loop.kill()))
      await room.close()
    })

    async function aMember(): Promise<GroupLoop> {
      const loop = await GroupLoop.start({
        bootstrapServers: kafka().bootstrapServers,
        groupId: uniqueName('group'),
        topic: room.topic,
      })
      loops.push(loop)
      await loop.owns(4)
      return loop
    }

    /** A producer whose open transaction the broker has aborted, which it has not noticed yet. */
    const timedOutProducer = async (): Promise<Producer> => {
      const producer = await room.producer({ transactionTimeoutMs: 2_000 })
      producer.setAskGroup(() => Promise.resolve('ours'))
      room.append(producer, ['too late'])
      await producer.flush(TIMEOUT_MS)
      await eventually('the broker aborts the transaction', async () => {
        const [transaction] = (await room.admin.describeTransactions([room.transactionalId])).values()
        return transaction?.state === 'CompleteAbort'
      })
      return producer
    }

    it('shows what was committed, in order, and nothing that was aborted (I3)', async () => {
      const producer = await room.producer()
      await room.commit(producer, valuesOf(3, 'first'))
      room.append(producer, valuesOf(1_000, 'aborted'))
      await producer.flush(TIMEOUT_MS)
      await producer.abortTransaction(TIMEOUT_MS)
      await room.commit(producer, valuesOf(2, 'second'))

      expect(await room.committedForJava()).to.deep.equal(['first 0', 'first 1', 'first 2', 'second 0', 'second 1'])
      expect(await room.written()).to.include('aborted 999')
    })

    it('keeps an open transaction invisible in every partition until it is committed', async () => {
      const producer = await room.producer()
      for (let partition = 0; partition < 4; partition += 1) room.append(producer, ['open'], partition)
      await producer.flush(TIMEOUT_MS)
      expect(producer.transaction).to.deep.include({ state: 'open', records: 4, ongoing: true })
      expect(await room.committedForJava(2)).to.deep.equal([])

      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
      for (let partition = 0; partition < 4; partition += 1) {
        expect(await room.committed(partition)).to.deep.equal(['open'])
      }
      expect(producer.transaction).to.deep.include({ state: 'idle', records: 0, bytes: 0, ongoing: false })
    })

    it('sends many batches of one partition at once and keeps their order (I8)', async () => {
      const producer = await room.producer({ batchSizeBytes: 4_096 })
      const values = valuesOf(20_000, 'v', 50)
      await room.commit(producer, values, 3)
      expect(await room.committedForJava(3)).to.deep.equal(values)
    })

    it('carries sequences on over many transactions, a record each, back to back (case 14)', async () => {
      const producer = await room.producer()
      const values = valuesOf(60, 'v')
      for (const [i, value] of values.entries()) await room.commit(producer, [value], i % 2)
      expect([...(await room.committed(0)), ...(await room.committed(1))].toSorted()).to.deep.equal(values.toSorted())
    })

    it('takes a rolled back record out of the transaction', async () => {
      const producer = await room.producer()
      producer.records.beginRecord()
      room.append(producer, ['kept'])
      producer.records.endRecord()
      producer.records.beginRecord()
      room.append(producer, ['gone'])
      producer.records.rollbackRecord()
      await room.commit(producer, [])
      expect(await room.written()).to.deep.equal(['kept'])
    })

    it('goes on after an abort that dropped what was not sent yet', async () => {
      const producer = await room.producer()
      room.append(producer, valuesOf(10, 'dropped'))
      await producer.abortTransaction(TIMEOUT_MS)
      await room.commit(producer, ['kept'])
      expect(await room.written()).to.deep.equal(['kept'])
    })

    it('commits offsets alone, and offsets with records', async () => {
      const loop = await aMember()
      const producer = await room.producer()
      const member = membershipOf(loop)
      await producer.sendOffsets(loop.groupId, member, offsetsOf(room.topic, { 0: 5 }, 'alone'), TIMEOUT_MS)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
      room.append(producer, ['record'])
      await producer.flush(TIMEOUT_MS)
      await producer.sendOffsets(loop.groupId, member, offsetsOf(room.topic, { 1: 7, 2: 8 }, 'with'), TIMEOUT_MS)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')

      const committed = await committedOffsets(kafka().bootstrapServers, loop.groupId)
      expect(committed.map(({ partition, offset, metadata }) => [partition, offset, metadata])).to.deep.equal([
        [0, 5, 'alone'],
        [1, 7, 'with'],
        [2, 8, 'with'],
      ])
    })

    it('forgets the offsets of an aborted transaction', async () => {
      const loop = await aMember()
      const producer = await room.producer()
      room.append(producer, ['record'])
      await producer.flush(TIMEOUT_MS)
      await producer.sendOffsets(loop.groupId, membershipOf(loop), offsetsOf(room.topic, { 0: 5 }), TIMEOUT_MS)
      await producer.abortTransaction(TIMEOUT_MS)
      expect(await committedOffsets(kafka().bootstrapServers, loop.groupId)).to.deep.equal([])
    })

    it('sends offsets again with the new generation in the same transaction (case 22)', async () => {
      const loop = await aMember()
      const producer = await room.producer()
      const member = membershipOf(loop)
      room.append(producer, ['record'])
      await producer.flush(TIMEOUT_MS)
      const offsets = offsetsOf(room.topic, { 0: 5 })
      const stale = { ...member, generationId: member.generationId - 1 }
      expect(await producer.sendOffsets(loop.groupId, stale, offsets, TIMEOUT_MS)).to.equal('illegalGeneration')
      expect(await producer.sendOffsets(loop.groupId, member, offsets, TIMEOUT_MS)).to.equal('done')
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
      expect(await room.committed()).to.deep.equal(['record'])
    })

    it('loses its membership with the right error, and commits nothing then', async () => {
      const loop = await aMember()
      const producer = await room.producer()
      room.append(producer, ['record'])
      await producer.flush(TIMEOUT_MS)
      const stranger = { ...membershipOf(loop), memberId: 'nobody' }
      const failure = await failureOf(
        producer.sendOffsets(loop.groupId, stranger, offsetsOf(room.topic, { 0: 5 }), TIMEOUT_MS),
      )
      expect(failure).to.include({ code: 'MEMBERSHIP_LOST', reaction: 'rejoin' })
      await producer.abortTransaction(TIMEOUT_MS)
      expect(await room.committed()).to.deep.equal([])
    })

    it('never sends offsets without a generation, which no group would fence (I5)', async () => {
      const producer = await room.producer()
      const nobody = { generationId: -1, memberId: '', groupInstanceId: null }
      let thrown: unknown
      await producer
        .sendOffsets('group', nobody, offsetsOf(room.topic, { 0: 5 }), TIMEOUT_MS)
        .catch((error: unknown) => {
          thrown = error
        })
      expect(String(thrown)).to.include('I5 fencing')
    })

    it('refuses to commit when the metadata of one partition is too long, although the broker would', async () => {
      const loop = await aMember()
      const producer = await room.producer()
      room.append(producer, ['record'])
      await producer.flush(TIMEOUT_MS)
      const offsets = offsetsOf(room.topic, { 0: 5, 1: 6 })
      offsets.set({ topic: room.topic, partition: 1 }, { offset: 6, leaderEpoch: -1, metadata: 'm'.repeat(4_097) })
      const failure = await failureOf(producer.sendOffsets(loop.groupId, membershipOf(loop), offsets, TIMEOUT_MS))
      expect(failure.details).to.include({ kafkaCode: 12, partition: 1 })
      await producer.abortTransaction(TIMEOUT_MS)

      expect(await committedOffsets(kafka().bootstrapServers, loop.groupId)).to.deep.equal([])
      await room.commit(producer, ['next'])
      expect(await room.committed()).to.deep.equal(['next'])
    })

    it('fences an older owner of its id and shows nothing of it (I5, case 11)', async () => {
      const older = await room.producer()
      room.append(older, ['zombie'])
      await older.flush(TIMEOUT_MS)
      const newer = await room.producer()
      await room.commit(newer, ['newer'])

      await failureOf(older.commitTransaction(TIMEOUT_MS))
      expect((await failureOf(older.abortTransaction(TIMEOUT_MS))).code).to.equal('PRODUCER_FENCED')
      expect(older.transaction.state).to.equal('fenced')
      expect(await room.committed()).to.deep.equal(['newer'])
      await room.commit(newer, ['newer still'])
      expect(await room.committed()).to.deep.equal(['newer', 'newer still'])
    })

    it('notices in the middle of writing that it is fenced', async () => {
      const older = await room.producer()
      await room.commit(older, ['before'])
      await room.producer()
      room.append(older, ['zombie'])
      await failureOf(older.flush(TIMEOUT_MS))
      expect((await failureOf(older.abortTransaction(TIMEOUT_MS))).code).to.equal('PRODUCER_FENCED')
      expect(await room.committed()).to.deep.equal(['before'])
    })

    it('survives that the broker timed its transaction out: aborts, and goes on (F23)', async () => {
      const producer = await timedOutProducer()

      expect((await failureOf(producer.commitTransaction(TIMEOUT_MS))).reaction).to.equal('refence')
      await producer.abortTransaction(TIMEOUT_MS)
      await room.commit(producer, ['in time'])
      expect(await room.committed()).to.deep.equal(['in time'])
    })

    it('survives a timed-out transaction that it notices while it writes', async () => {
      const producer = await timedOutProducer()
      room.append(producer, ['later still'])
      await failureOf(producer.flush(TIMEOUT_MS))
      await producer.abortTransaction(TIMEOUT_MS)
      await room.commit(producer, ['in time'])
      expect(await room.committed()).to.deep.equal(['in time'])
    })

    it('aborts on its close what is open, so that readers are not held up', async () => {
      const producer = await room.producer()
      room.append(producer, ['left open'])
      await producer.flush(TIMEOUT_MS)
      await producer.close(TIMEOUT_MS)
      const [transaction] = (await room.admin.describeTransactions([room.transactionalId])).values()
      expect(transaction?.state).to.be.oneOf(['CompleteAbort', 'PrepareAbort'])
      expect(await room.committed()).to.deep.equal([])
    })
  })
}

function membershipOf(loop: GroupLoop): NonNullable<GroupLoop['member']['membership']> {
  const { membership } = loop.member
  if (membership === undefined) throw new Error(`not a member: ${loop.member.state}`)
  return membership
}

function offsetsOf(
  topic: string,
  offsets: Readonly<Record<number, number>>,
  metadata = '',
): TopicPartitionMap<OffsetAndMetadata> {
  return new TopicPartitionMap(
    Object.entries(offsets).map(
      ([partition, offset]) =>
        [
          { topic, partition: Number(partition) },
          { offset, leaderEpoch: -1, metadata },
        ] as const,
    ),
  )
}
