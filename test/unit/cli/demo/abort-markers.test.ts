import { expect } from 'chai'
import { abortMarkers } from '../../../../src/cli/demo/abort-markers.ts'

/** A control batch as a broker writes it: one record, its key a version and a type, its value six bytes. */
function marker(type: 0 | 1, producerId: number, epoch: number): Buffer {
  const record = Buffer.from([0x00, 0x00, 0x00, 0x08, 0, 0, 0, type, 0x0c, 0, 0, 0, 0, 0, 0, 0x00])
  const body = Buffer.concat([Buffer.from([record.length << 1]), record])
  const batch = Buffer.alloc(61 + body.length)
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt8(2, 16)
  batch.writeInt16BE(0x30, 21)
  batch.writeBigInt64BE(BigInt(producerId), 43)
  batch.writeInt16BE(epoch, 51)
  batch.writeInt32BE(1, 57)
  body.copy(batch, 61)
  return batch
}

describe('abort markers', () => {
  it('are found among commits, with producer id and epoch', () => {
    const block = Buffer.concat([marker(1, 5, 1), marker(0, 5, 2), marker(0, 7, 0), marker(1, 7, 1)])
    expect(abortMarkers(block)).to.deep.equal(['5/2', '7/0'])
  })

  it('are not looked for behind the cut of a block', () => {
    const block = Buffer.concat([marker(0, 5, 2), marker(0, 7, 0)])
    expect(abortMarkers(block.subarray(0, block.length - 20))).to.deep.equal(['5/2'])
    expect(abortMarkers(Buffer.alloc(0))).to.deep.equal([])
  })
})
