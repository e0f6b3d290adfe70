import { expect } from 'chai'
import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { FillingBatch, OutgoingBatch } from '../../../../src/kafka/producer/outgoing-batch.ts'
import { PartitionLane } from '../../../../src/kafka/producer/partition-lane.ts'
import { encodeProduceBody, ProduceRequest } from '../../../../src/kafka/producer/produce-request.ts'
import { encodeRequestBody } from '../../../../src/kafka/protocol/api.ts'
import { RecordBatchWriter } from '../../../../src/kafka/records/record-batch-writer.ts'

const VERSIONS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

describe('produce request', () => {
  for (const version of VERSIONS) {
    for (const transactionalId of [null, 'orders-1']) {
      it(`version ${String(version)} ${transactionalId === null ? 'without' : 'with'} transactional id has the bytes of the schema`, () => {
        const request = aRequest()
        const parts = encodeProduceBody(request, version, { transactionalId, acks: -1, timeoutMs: 30_000 })

        expect(Buffer.concat(parts).toString('hex')).to.equal(
          encodeRequestBody('Produce', version, {
            transactionalId,
            acks: -1,
            timeoutMs: 30_000,
            topicData: [
              { name: 'a', partitionData: [partitionData(request, 0), partitionData(request, 2)] },
              { name: 'größer', partitionData: [partitionData(request, 1)] },
            ],
          }).toString('hex'),
        )
      })
    }
  }

  it('holds the batches as they are, not copies', () => {
    const request = aRequest()
    const parts = encodeProduceBody(request, 12, { transactionalId: null, acks: 1, timeoutMs: 1 })
    for (const batch of request.batches) expect(parts).to.include(batch.sealed.bytes)
  })

  it('finds a batch by its partition, whatever the order of the answer', () => {
    const request = aRequest()
    expect(request.indexOf('a', 7, 0)).to.equal(0)
    expect(request.indexOf('größer', 0, 0)).to.equal(1)
    expect(request.indexOf('a', 1_000, 9)).to.equal(2)
    expect(request.indexOf('a', 0, 0)).to.equal(-1)
  })
})

function aRequest(): ProduceRequest {
  const request = new ProduceRequest()
  request.add(new PartitionLane('a', 7), aBatch('one'))
  request.add(new PartitionLane('größer', 0), aBatch('x'.repeat(300)))
  request.add(new PartitionLane('a', 1_000), aBatch('three'))
  return request
}

function aBatch(value: string): OutgoingBatch {
  const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes: 1_024 })
  writer.append(null, Buffer.from(value), 1, NO_HEADERS)
  const batch = new OutgoingBatch(new FillingBatch(writer, 1_024), writer.seal('none'), 0, 0)
  batch.sealed.stamp(null)
  return batch
}

function partitionData(request: ProduceRequest, at: number): { index: number; records: Buffer | null } {
  return { index: request.lanes[at]?.partition ?? -1, records: request.batches[at]?.sealed.bytes ?? null }
}
