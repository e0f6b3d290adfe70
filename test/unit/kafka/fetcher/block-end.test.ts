import { expect } from 'chai'
import { blockEnd } from '../../../../src/kafka/fetcher/block-end.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { batchAt } from './record-blocks.ts'

const PLACE = { topic: 'orders', partition: 3 }

function failureOf(records: Buffer): MillraceError {
  try {
    blockEnd(records, PLACE)
  } catch (error) {
    if (error instanceof MillraceError) return error
  }
  throw new Error('nothing was thrown')
}

describe('the end of a fetched block', () => {
  it('is the offset after the last batch, under that batch’s leader epoch', () => {
    const records = Buffer.concat([batchAt(10, 5, { leaderEpoch: 4 }), batchAt(15, 2, { leaderEpoch: 7 })])

    expect(blockEnd(records, PLACE)).to.deep.equal({ nextOffset: 17, leaderEpoch: 7 })
  })

  it('leaves out a batch that was cut off', () => {
    const last = batchAt(15, 2)
    for (const kept of [1, 12, 60, 61, last.length - 1]) {
      const records = Buffer.concat([batchAt(10, 5), last.subarray(0, kept)])

      expect(blockEnd(records, PLACE)?.nextOffset, `${String(kept)} bytes of it`).to.equal(15)
    }
  })

  it('is unknown when no batch is complete', () => {
    expect(blockEnd(Buffer.alloc(0), PLACE)).to.equal(undefined)
    expect(blockEnd(batchAt(0, 3).subarray(0, 70), PLACE)).to.equal(undefined)
  })

  it('counts offsets beyond 2^32', () => {
    expect(blockEnd(batchAt(0x1_2345_6789_ab, 1), PLACE)?.nextOffset).to.equal(0x1_2345_6789_ac)
  })

  it('refuses record formats before Kafka 0.11, naming the place', () => {
    const old = batchAt(9, 1)
    old.writeInt8(1, 16)

    const failure = failureOf(old)

    expect(failure.code).to.equal('PROTOCOL_VIOLATION')
    expect(failure.message).to.contain('orders-3 at offset 9').and.to.contain('format 1')
  })

  it('refuses a header that no broker writes', () => {
    const short = batchAt(9, 1)
    short.writeInt32BE(48, 8)
    const backwards = batchAt(9, 1)
    backwards.writeInt32BE(-1, 23)
    const beyond = batchAt(9, 1)
    beyond.writeBigInt64BE(2n ** 53n - 1n, 0)
    beyond.writeInt32BE(1, 23)

    for (const records of [short, backwards, beyond]) expect(failureOf(records).code).to.equal('PROTOCOL_VIOLATION')
  })
})
