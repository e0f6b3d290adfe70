import { expect } from 'chai'
import fc from 'fast-check'
import { LentBytes } from '../../../src/model/lent-bytes.ts'
import { RecordCursor } from '../../../src/kafka/records/record-cursor.ts'
import { encodeReferenceBatch } from '../../support/reference-batches.ts'

type Side = Buffer | null

function cursorOver(rows: readonly { readonly key: Side; readonly value: Side }[]): RecordCursor {
  const cursor = new RecordCursor()
  const records = encodeReferenceBatch({
    baseOffset: 0,
    lastOffset: rows.length - 1,
    leaderEpoch: 0,
    attributes: 0,
    baseTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: -1n,
    epoch: -1,
    baseSequence: -1,
    records: rows.map((row, offset) => ({ ...row, offset, timestamp: 0n, headers: [] })),
  })
  cursor.reset({ topic: 't', partition: 0, records, position: 0, aborted: [], isolation: 'read_committed' })
  return cursor
}

describe('lent bytes', () => {
  it('are those of key and value of the record, whatever their lengths, until the next record', () => {
    const side = fc.option(fc.uint8Array({ maxLength: 200 }).map(bytes => Buffer.from(bytes)))
    fc.assert(
      fc.property(fc.array(fc.record({ key: side, value: side }), { minLength: 1, maxLength: 20 }), rows => {
        const lent = new LentBytes()
        const cursor = cursorOver(rows)
        for (const row of rows) {
          expect(cursor.next()).to.equal(true)
          const [key, value] = [lent.keyOf(cursor), lent.valueOf(cursor)]
          expect([key, value]).to.deep.equal([row.key, row.value])
        }
      }),
    )
  })

  it('lie at one place for short keys of one length', () => {
    const lent = new LentBytes()
    const cursor = cursorOver([
      { key: Buffer.from('k1'), value: null },
      { key: Buffer.from('k2'), value: null },
    ])
    cursor.next()
    const first = lent.keyOf(cursor)
    cursor.next()
    expect(lent.keyOf(cursor)).to.equal(first)
    expect(first?.toString()).to.equal('k2')
  })
})
