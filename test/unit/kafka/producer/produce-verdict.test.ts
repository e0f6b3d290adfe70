import { expect } from 'chai'
import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { FillingBatch, OutgoingBatch } from '../../../../src/kafka/producer/outgoing-batch.ts'
import { PartitionLane } from '../../../../src/kafka/producer/partition-lane.ts'
import { judgeProduce, type ProduceVerdict } from '../../../../src/kafka/producer/produce-verdict.ts'
import { RecordBatchWriter } from '../../../../src/kafka/records/record-batch-writer.ts'

describe('produce verdict', () => {
  it('takes 0 and DUPLICATE_SEQUENCE_NUMBER for success', () => {
    expect([0, 46].map(code => judge(code).type)).to.deep.equal(['acknowledged', 'acknowledged'])
  })

  it('sends the identical batch again after every code that may pass', () => {
    const codes = [3, 5, 6, 7, 14, 15, 16, 19, 20, 51, 56]
    expect(codes.map(code => judge(code).type)).to.deep.equal(codes.map(() => 'again'))
  })

  it('sends a batch again that is out of order behind one that came back', () => {
    expect(judge(45, { behindAnother: true }).type).to.equal('again')
  })

  it('gives the epoch up when the first batch is out of order', () => {
    expect(failureOf(judge(45))).to.include({ code: 'KAFKA_ERROR', reaction: 'refence' })
  })

  it('asks first when the broker thinks of another epoch or transaction', () => {
    for (const code of [47, 48, 90]) expect(failureOf(judge(code)).reaction).to.equal('refence')
  })

  it('names topic, partition and number of a batch that is refused', () => {
    const failure = failureOf(judge(10))
    expect(failure.code).to.equal('RECORD_TOO_LARGE')
    expect(failure.details).to.include({ topic: 'out', partition: 4, kafkaCode: 10 })
    expect(failure.message).to.include('MESSAGE_TOO_LARGE')
  })

  it('stops without a right, and says so', () => {
    expect(failureOf(judge(29))).to.include({ code: 'NOT_AUTHORIZED', reaction: 'stop' })
  })

  it('aborts and refences on a code it does not know', () => {
    expect(failureOf(judge(9_999)).reaction).to.equal('refence')
  })

  it('without idempotence sends again only what was certainly not appended', () => {
    expect([6, 19, 3].map(code => judge(code, { idempotent: false }).type)).to.deep.equal(['again', 'again', 'again'])
    expect([7, 20, 10, -1].map(code => judge(code, { idempotent: false }).type)).to.deep.equal(
      Array.from({ length: 4 }, () => 'dropped'),
    )
  })
})

function judge(code: number, { behindAnother = false, idempotent = true } = {}): ProduceVerdict {
  const lane = new PartitionLane('out', 4)
  const batch = aBatch()
  if (behindAnother) lane.sent.push(aBatch())
  lane.sent.push(batch)
  return judgeProduce({ code, message: null, lane, batch, idempotent })
}

function failureOf(verdict: ProduceVerdict): Extract<ProduceVerdict, { type: 'failed' }>['cause'] {
  if (verdict.type !== 'failed') throw new Error(`not failed but ${verdict.type}`)
  return verdict.cause
}

function aBatch(): OutgoingBatch {
  const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes: 1_024 })
  writer.append(null, Buffer.from('value'), 1, NO_HEADERS)
  return new OutgoingBatch(new FillingBatch(writer, 1_024), writer.seal('none'), 0, 0)
}
