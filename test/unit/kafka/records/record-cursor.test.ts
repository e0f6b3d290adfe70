import { expect } from 'chai'
import { BATCH } from '../../../../src/kafka/records/batch-layout.ts'
import { crc32c } from '../../../../src/kafka/records/crc32c.ts'
import { RecordBatchWriter } from '../../../../src/kafka/records/record-batch-writer.ts'
import { RecordCursor } from '../../../../src/kafka/records/record-cursor.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { readBlock } from '../../../support/record-blocks.ts'
import { encodeMarker, encodeReferenceBatch, type ReferenceBatch } from '../../../support/reference-batches.ts'

/** A batch with a record at each of the offsets, whose value is its offset. */
function aBatch(offsets: readonly number[], changes: Partial<ReferenceBatch> = {}): Buffer {
  const baseOffset = changes.baseOffset ?? offsets[0] ?? 0
  return encodeReferenceBatch({
    baseOffset,
    lastOffset: offsets.at(-1) ?? baseOffset,
    leaderEpoch: 6,
    attributes: 0,
    baseTimestamp: 1_000n,
    maxTimestamp: 2_000n,
    producerId: -1n,
    epoch: -1,
    baseSequence: -1,
    records: offsets.map(offset => ({
      offset,
      timestamp: 1_000n + BigInt(offset),
      key: null,
      value: Buffer.from(String(offset)),
      headers: [],
    })),
    ...changes,
  })
}

/** A transactional batch of a producer. */
function aTransactional(producerId: number, offsets: readonly number[]): Buffer {
  return aBatch(offsets, { attributes: 0x10, producerId: BigInt(producerId) })
}

/** Writes a checksum that fits, after bytes were changed. */
function resealed(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch.subarray(BATCH.attributes)), BATCH.crc)
  return batch
}

function offsetsOf(block: Buffer, options: Parameters<typeof readBlock>[1] = {}): number[] {
  return readBlock(block, options).records.map(record => record.offset)
}

/** Reads a block to its end. @returns how often its memory was given back, during it and after it */
function releases(block: Buffer, look: (cursor: RecordCursor) => unknown): readonly [during: number, after: number] {
  const cursor = new RecordCursor()
  let released = 0
  const loan = {
    release: () => {
      released += 1
    },
  }
  const place = { topic: 't', partition: 0, position: 10, aborted: [], isolation: 'read_committed' } as const
  cursor.reset({ ...place, records: block, loan })
  let during = 0
  while (cursor.next()) {
    look(cursor)
    during = released
  }
  // Asked again it has nothing, and looks at nothing.
  block.fill(0xff)
  expect(cursor.next()).to.equal(false)
  return [during, released]
}

describe('record cursor', () => {
  it('shows nothing of an empty block, and stays where it is', () => {
    expect(readBlock(Buffer.alloc(0), { position: 9 })).to.deep.equal({ records: [], position: 9 })
  })

  it('passes over the records of a batch before the offset asked for', () => {
    expect(offsetsOf(aBatch([10, 11, 12, 13]), { position: 12 })).to.deep.equal([12, 13])
  })

  it('passes over gaps of compaction at the head, in the middle and at the end of batches', () => {
    const block = Buffer.concat([
      aBatch([12, 15], { baseOffset: 10, lastOffset: 19 }),
      aBatch([], { baseOffset: 30, lastOffset: 34 }),
    ])

    expect(readBlock(block, { position: 10 })).to.deep.include({ position: 35 })
    expect(offsetsOf(block, { position: 10 })).to.deep.equal([12, 15])
  })

  it('tells before the end of a block only what was consumed', () => {
    const cursor = new RecordCursor()
    const block = aBatch([10, 12], { lastOffset: 20 })
    cursor.reset({ topic: 't', partition: 0, records: block, position: 10, aborted: [], isolation: 'read_committed' })

    const positions: number[] = [cursor.position]
    while (cursor.next()) positions.push(cursor.position)
    positions.push(cursor.position)
    expect(positions).to.deep.equal([10, 11, 13, 21])
  })

  describe('of a block in borrowed memory', () => {
    it('gives it back once, at the end, when nobody was given a slice', () => {
      const nothing = releases(aBatch([10, 11]), cursor => [cursor.offset, cursor.raw, cursor.hasValue, cursor.headers])
      expect(nothing).to.deep.equal([0, 1])
    })

    it('leaves it to whoever was given a key, a value or a header', () => {
      const header = [
        { offset: 10, timestamp: 0n, key: Buffer.from('k'), value: null, headers: [['h', null]] as const },
      ]
      expect(releases(aBatch([10, 11]), cursor => cursor.value)).to.deep.equal([0, 0])
      expect(releases(aBatch([10], { records: header }), cursor => cursor.key)).to.deep.equal([0, 0])
      expect(releases(aBatch([10], { records: header }), cursor => cursor.headers)).to.deep.equal([0, 0])
    })

    it('gives it back when the slices are of bytes that were decompressed elsewhere', () => {
      const writer = new RecordBatchWriter({ initialBytes: 1_024, maxBytes: 1_024 })
      for (const value of ['a', 'b']) writer.append(null, Buffer.from(value), 1_000, NO_HEADERS)
      const sealed = writer.seal('gzip')
      sealed.stamp(null)
      const block = Buffer.from(sealed.bytes)
      block.writeBigInt64BE(10n, BATCH.baseOffset)
      expect(releases(block, cursor => cursor.value)).to.deep.equal([0, 1])
    })
  })

  it('takes the broker’s time where the topic says so', () => {
    const { records } = readBlock(aBatch([1, 2], { attributes: 0x08 }), { position: 1 })

    expect(records.map(record => record.timestamp)).to.deep.equal([2_000, 2_000])
  })

  it('never shows markers, whatever the isolation', () => {
    const block = Buffer.concat([aTransactional(1, [0]), encodeMarker(1, 1, 'commit'), encodeMarker(2, 9, 'abort')])

    for (const isolation of ['read_committed', 'read_uncommitted'] as const) {
      expect(readBlock(block, { isolation }).records.map(record => record.offset)).to.deep.equal([0])
      expect(readBlock(block, { isolation }).position).to.equal(3)
    }
  })

  it('leaves out what was aborted, and only that, of producers that overlap', () => {
    const block = Buffer.concat([
      aTransactional(1, [0, 1]),
      aTransactional(2, [2]),
      aBatch([3]),
      encodeMarker(4, 2, 'commit'),
      aTransactional(1, [5]),
      encodeMarker(6, 1, 'abort'),
      aTransactional(1, [7]),
      encodeMarker(8, 1, 'commit'),
    ])
    const aborted = [{ producerId: 1, firstOffset: 0 }]

    expect(offsetsOf(block, { aborted })).to.deep.equal([2, 3, 7])
    expect(offsetsOf(block, { aborted, isolation: 'read_uncommitted' })).to.deep.equal([0, 1, 2, 3, 5, 7])
  })

  it('follows one producer through several aborts', () => {
    const block = Buffer.concat([
      aTransactional(1, [0]),
      encodeMarker(1, 1, 'abort'),
      aTransactional(1, [2]),
      encodeMarker(3, 1, 'commit'),
      aTransactional(1, [4]),
      encodeMarker(5, 1, 'abort'),
      aTransactional(1, [6]),
    ])
    const aborted = [0, 4].map(firstOffset => ({ producerId: 1, firstOffset }))

    expect(offsetsOf(block, { aborted })).to.deep.equal([2, 6])
  })

  it('does not trust the order of the aborted transactions: brokers list them by their markers', () => {
    const block = Buffer.concat([
      aTransactional(1, [0]),
      aTransactional(2, [1]),
      encodeMarker(2, 2, 'abort'),
      aTransactional(1, [3]),
      encodeMarker(4, 1, 'abort'),
    ])
    const aborted = [
      { producerId: 2, firstOffset: 1 },
      { producerId: 1, firstOffset: 0 },
    ]

    expect(offsetsOf(block, { aborted })).to.deep.equal([])
  })

  it('starts inside an aborted transaction without showing its rest', () => {
    const block = Buffer.concat([aTransactional(1, [5]), encodeMarker(6, 1, 'abort'), aBatch([7])])

    expect(offsetsOf(block, { position: 5, aborted: [{ producerId: 1, firstOffset: 0 }] })).to.deep.equal([7])
  })

  it('stops before a batch that is cut off', () => {
    const whole = aBatch([0, 1])
    const next = aBatch([2, 3])
    for (let length = 0; length < next.length; length += 1) {
      const block = Buffer.concat([whole, next.subarray(0, length)])
      expect(readBlock(block).position, String(length)).to.equal(2)
    }
  })

  it('keeps offset, time, key, value and headers of the record apart from its neighbours', () => {
    const block = aBatch([0, 1], {
      records: [
        { offset: 0, timestamp: 1_000n, key: Buffer.from('a'), value: null, headers: [['h', null]] },
        { offset: 1, timestamp: 999n, key: null, value: Buffer.alloc(0), headers: [] },
      ],
    })

    expect(readBlock(block).records).to.deep.equal([
      { offset: 0, timestamp: 1_000, key: 'a', value: null, headers: [['h', null]] },
      { offset: 1, timestamp: 999, key: null, value: '', headers: [] },
    ])
  })

  it('gives the very object NO_HEADERS for none, and the batch’s leader epoch', () => {
    const cursor = new RecordCursor()
    cursor.reset({
      topic: 't',
      partition: 0,
      records: aBatch([0]),
      position: 0,
      aborted: [],
      isolation: 'read_committed',
    })

    expect(cursor.next()).to.equal(true)
    expect(cursor.headers).to.equal(NO_HEADERS)
    expect(cursor.batchLeaderEpoch).to.equal(6)
  })
})

describe('record cursor over damaged bytes', () => {
  it('names topic, partition and offset where a checksum does not match', () => {
    const block = Buffer.concat([aBatch([0]), aBatch([1])])
    block[block.length - 2] = 0xff

    expect(() => readBlock(block))
      .to.throw(MillraceError, 'orders-3 at offset 1')
      .with.property('code', 'PROTOCOL_VIOLATION')
  })

  it('says so when a batch is in an older format', () => {
    const block = aBatch([0])
    block[BATCH.magic] = 1

    expect(() => readBlock(block)).to.throw(MillraceError, 'a batch of format 1; only format 2 is read')
  })

  it('refuses a timestamp that a number cannot hold, after the records before it', () => {
    const block = aBatch([0, 1], {
      records: [
        { offset: 0, timestamp: 1_000n, key: null, value: null, headers: [] },
        { offset: 1, timestamp: 2n ** 62n, key: null, value: null, headers: [] },
      ],
    })

    expect(() => readBlock(block)).to.throw(MillraceError, 'orders-3 at offset 1')
  })

  it('refuses every batch of which any byte of the records was changed, checksum or not', () => {
    const batch = aBatch([0, 1, 2], { attributes: 0x08 })
    for (let at = BATCH.records; at < batch.length; at += 1) {
      const changed = Buffer.from(batch)
      changed[at] = (changed[at] ?? 0) ^ 0xff
      expect(() => readBlock(changed), String(at)).to.throw(MillraceError, 'checksum')
      // With a fitting checksum the lengths must still hold: a wrong one is refused, never followed out of the batch.
      let failure: unknown
      try {
        readBlock(resealed(changed))
      } catch (error) {
        failure = error
      }
      if (failure !== undefined) expect(failure, String(at)).to.be.instanceOf(MillraceError)
    }
  })

  it('refuses a count of records that the bytes do not hold', () => {
    for (const count of [1, 3, 2_000_000_000]) {
      const batch = aBatch([0, 1])
      batch.writeInt32BE(count, BATCH.count)
      expect(() => readBlock(resealed(batch)), String(count)).to.throw(MillraceError)
    }
  })

  it('refuses an unknown compression', () => {
    const batch = aBatch([0])
    batch.writeInt16BE(5, BATCH.attributes)

    expect(() => readBlock(resealed(batch))).to.throw(MillraceError, 'unknown compression 5')
  })

  it('names the place where a batch cannot be decompressed', () => {
    for (const code of [1, 2, 3]) {
      const batch = aBatch([7])
      batch.writeInt16BE(code, BATCH.attributes)
      expect(() => readBlock(resealed(batch)), String(code)).to.throw(MillraceError, 'orders-3 at offset 7')
    }
  })

  it('refuses a batch shorter than its header', () => {
    const batch = aBatch([0])
    batch.writeInt32BE(10, BATCH.length)

    expect(() => readBlock(batch)).to.throw(MillraceError, 'a batch shorter than its header')
  })
})
