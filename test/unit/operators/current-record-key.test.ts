import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { murmur2 } from '../../../src/model/murmur2.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
import { CurrentRecord } from '../../../src/operators/current-record.ts'

/** Stands on a record with this key. */
function aSource(key: string): RecordSource {
  const batch = Buffer.from(key)
  const raw = {
    batch,
    batchView: new DataView(batch.buffer, batch.byteOffset, batch.length),
    bodyAt: 0,
    bodyEnd: batch.length,
    keyAt: 0,
    keyBytes: batch.length,
    valueAt: batch.length,
    valueBytes: -1,
  }
  return {
    next: () => false,
    offset: 0,
    timestamp: 0,
    hasKey: true,
    hasValue: false,
    key: batch,
    value: null,
    raw,
    headers: NO_HEADERS,
    position: 1,
  }
}

describe('the key of the current record', () => {
  it('has the hash of its own bytes, record after record in the same memory', () => {
    const record = new CurrentRecord()
    for (const key of ['key-1', 'key-2', 'key-1', 'a longer key', 'key-3']) {
      record.begin('t', 0, aSource(key))
      const lent = record.lentKey ?? Buffer.alloc(0)
      expect(lent.toString()).to.equal(key)
      expect(record.keyHashes.of(lent)).to.equal(murmur2(Buffer.from(key)))
    }
  })

  it('is forgotten with the record, as others may be read into its memory', () => {
    const record = new CurrentRecord()
    for (const leave of [
      () => {
        record.begin('t', 0, aSource('key-9'))
      },
      () => {
        record.leaveSource()
      },
      () => {
        record.beginPunctuation(5)
      },
    ]) {
      record.begin('t', 0, aSource('key-1'))
      const lent = record.lentKey ?? Buffer.alloc(0)
      leave()
      record.lent.keyOf(aSource('key-2'))
      expect(record.keyHashes.of(lent)).to.equal(murmur2(Buffer.from('key-2')))
    }
  })

  it('takes the hash it is told of', () => {
    const record = new CurrentRecord()
    record.begin('t', 0, aSource('key-1'), 77)
    expect(record.keyHashes.of(record.lentKey ?? Buffer.alloc(0))).to.equal(77)
    record.begin('t', 0, aSource('key-1'))
    expect(record.keyHashes.of(record.lentKey ?? Buffer.alloc(0))).to.equal(murmur2(Buffer.from('key-1')))
  })
})
