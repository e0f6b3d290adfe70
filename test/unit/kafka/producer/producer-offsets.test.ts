import { expect } from 'chai'
import type { OffsetAndMetadata } from '../../../../src/kafka/offset-and-metadata.ts'
import { TopicPartitionMap } from '../../../../src/model/topic-partition.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { ScriptedProducer } from './scripted-producer.ts'

const TIMEOUT_MS = 5_000
const MEMBER = { generationId: 3, memberId: 'm', groupInstanceId: 'the-one' }
const OFFSET_METADATA_TOO_LARGE = 12
const ILLEGAL_GENERATION = 22

/** Offsets of as many partitions; metadata of their largest size need several requests. */
function offsetsOf(partitions: number, metadata = ''): TopicPartitionMap<OffsetAndMetadata> {
  return new TopicPartitionMap(
    Array.from({ length: partitions }, (_, partition) => [
      { topic: 'in', partition },
      { offset: 7 + partition, leaderEpoch: 2, metadata },
    ]),
  )
}

describe('the offsets in a transaction', () => {
  let scripted: ScriptedProducer

  beforeEach(async () => {
    scripted = await ScriptedProducer.start(2)
  })

  afterEach(() => scripted.stop())

  function send(offsets: TopicPartitionMap<OffsetAndMetadata>): Promise<'done' | 'illegalGeneration'> {
    return scripted.producer.sendOffsets('g', MEMBER, offsets, TIMEOUT_MS)
  }

  it('go on behalf of generation, member and instance, by which the group tells a zombie (KIP-447)', async () => {
    expect(await send(offsetsOf(1))).to.equal('done')
    expect(scripted.offsetRequests).to.have.length(1)
    expect(scripted.offsetRequests[0]).to.include({
      generationIdOrMemberEpoch: 3,
      memberId: 'm',
      groupInstanceId: 'the-one',
    })
  })

  it('go in as many requests as it takes, none is left out', async () => {
    expect(await send(offsetsOf(300, '.'.repeat(4_000)))).to.equal('done')
    expect(scripted.offsetRequests.length).to.be.greaterThan(1)
    const sent = scripted.offsetRequests.flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions))
    expect(sent.map(({ partitionIndex }) => partitionIndex)).to.have.members(Array.from({ length: 300 }, (_, at) => at))
  })

  it('are refused when one of them is, whichever: EndTxn would commit the others', async () => {
    scripted.offsetAnswer = partition => (partition === 2 ? OFFSET_METADATA_TOO_LARGE : 0)
    const error = await rejectionOf(send(offsetsOf(3)))
    expect(error.details).to.include({ kafkaCode: OFFSET_METADATA_TOO_LARGE, topic: 'in', partition: 2 })
  })

  it('are refused when the answer leaves one of them out', async () => {
    scripted.offsetAnswer = partition => (partition === 1 ? 'missing' : 0)
    expect((await rejectionOf(send(offsetsOf(3)))).code).to.equal('PROTOCOL_VIOLATION')
  })

  it('are not sent again with another generation when one of them is refused for good', async () => {
    scripted.offsetAnswer = partition => (partition === 0 ? ILLEGAL_GENERATION : OFFSET_METADATA_TOO_LARGE)
    expect((await rejectionOf(send(offsetsOf(2)))).details.kafkaCode).to.equal(OFFSET_METADATA_TOO_LARGE)
    scripted.offsetAnswer = () => ILLEGAL_GENERATION
    await scripted.producer.abortTransaction(TIMEOUT_MS)
    expect(await send(offsetsOf(2))).to.equal('illegalGeneration')
  })
})
