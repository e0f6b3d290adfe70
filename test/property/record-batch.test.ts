import { expect } from 'chai'
import fc from 'fast-check'
import { BATCH } from '../../src/kafka/records/batch-layout.ts'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import { crc32c, crc32cInJavaScript } from '../../src/kafka/records/crc32c.ts'
import { RecordBatchWriter } from '../../src/kafka/records/record-batch-writer.ts'
import { MillraceError } from '../../src/model/errors.ts'
import { headersOf } from '../../src/model/headers.ts'
import { readBlock, type ReadRecord } from '../support/record-blocks.ts'
import { encodeReferenceBatch } from '../support/reference-batches.ts'

interface Given {
  readonly key: string | null
  readonly value: string | null
  readonly timestamp: number
  readonly headers: readonly (readonly [string, string | null])[]
}

const text = fc.option(fc.oneof(fc.string({ maxLength: 5 }), fc.string({ unit: 'grapheme', maxLength: 200 })))
const timestamp = fc.oneof(
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_200 }),
  fc.constant(-1),
  fc.nat({ max: Number.MAX_SAFE_INTEGER }),
)
const anyRecord: fc.Arbitrary<Given> = fc.record({
  key: text,
  value: text,
  timestamp,
  headers: fc.oneof(
    fc.constant([]),
    fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 9 }), text), { maxLength: 4 }),
  ),
})

function bytesOf(textOrNull: string | null): Buffer | null {
  return textOrNull === null ? null : Buffer.from(textOrNull)
}

function append(writer: RecordBatchWriter, { key, value, timestamp: time, headers }: Given): boolean {
  const list = headers.map(([name, content]) => [name, bytesOf(content)] as const)
  return writer.append(bytesOf(key), bytesOf(value), time, headersOf(list))
}

function sealedBytes(writer: RecordBatchWriter): Buffer {
  const sealed = writer.seal('none')
  sealed.stamp({ producerId: 77, epoch: 3, baseSequence: 5, transactional: true })
  return sealed.bytes
}

function referenceBytes(records: readonly Given[]): Buffer {
  return encodeReferenceBatch({
    baseOffset: 0,
    lastOffset: records.length - 1,
    leaderEpoch: -1,
    attributes: 0x10,
    baseTimestamp: BigInt(records[0]?.timestamp ?? 0),
    maxTimestamp: BigInt(Math.max(...records.map(record => record.timestamp))),
    producerId: 77n,
    epoch: 3,
    baseSequence: 5,
    records: records.map((record, offset) => ({
      offset,
      timestamp: BigInt(record.timestamp),
      key: bytesOf(record.key),
      value: bytesOf(record.value),
      headers: record.headers.map(([name, value]) => [name, bytesOf(value)] as const),
    })),
  })
}

function asRead(records: readonly Given[], firstOffset = 0): ReadRecord[] {
  return records.map((record, index) => ({ offset: firstOffset + index, ...record }))
}

describe('record batches', () => {
  before(prepareCompression)

  it('have the bytes of a plain second writer, and are read back', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 80 }), records => {
        const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes: 1_000_000 })
        for (const record of records) expect(append(writer, record)).to.equal(true)
        const bytes = sealedBytes(writer)

        expect(bytes.toString('hex')).to.equal(referenceBytes(records).toString('hex'))
        expect(readBlock(bytes).records).to.deep.equal(asRead(records))
      }),
    )
  })

  it('hold after any savepoints exactly what was kept, within the bound', () => {
    const step = fc.record({
      record: anyRecord,
      isTakenBack: fc.boolean(),
      more: fc.array(anyRecord, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 100, max: 3_000 }), (steps, maxBytes) => {
        const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes })
        const kept: Given[] = []
        for (const { record, isTakenBack, more } of steps) {
          const { count, bytes, maxTimestamp } = writer
          const added: Given[] = []
          for (const each of [record, ...more]) if (fits(writer, each)) added.push(each)
          if (isTakenBack) writer.truncate(count, bytes, maxTimestamp)
          else kept.push(...added)
        }
        expect(writer.count).to.equal(kept.length)
        if (kept.length === 0) return
        const bytes = sealedBytes(writer)
        expect(bytes.length).to.be.at.most(maxBytes)
        expect(bytes.toString('hex')).to.equal(referenceBytes(kept).toString('hex'))
      }),
    )
  })

  it('are read the same whatever compressed them, from any offset on', () => {
    const codec = fc.constantFrom('none' as const, 'gzip' as const, 'snappy' as const, 'lz4' as const, 'zstd' as const)
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 40 }),
        codec,
        fc.nat(50),
        (records, type, position) => {
          const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes: 1_000_000 })
          for (const record of records) append(writer, record)
          const sealed = writer.seal(type)
          sealed.stamp(null)

          const read = readBlock(sealed.bytes, { position })
          expect(read.records).to.deep.equal(asRead(records.slice(position), position))
          expect(read.position).to.equal(Math.max(position, records.length))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are refused when any bit that the checksum covers was flipped', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(7), (records, place, bit) => {
        const bytes = referenceBytes(records)
        const at = BATCH.crc + (place % (bytes.length - BATCH.crc))
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)

        expect(() => readBlock(bytes)).to.throw(MillraceError, 'checksum')
      }),
    )
  })

  it('with a fitting checksum around any damage are refused or read, never a crash or an endless loop', () => {
    fc.assert(
      fc.property(
        fc.array(anyRecord, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.nat(255),
        (records, place, byte) => {
          const bytes = referenceBytes(records)
          bytes.writeUInt8(byte, BATCH.attributes + (place % (bytes.length - BATCH.attributes)))
          bytes.writeUInt32BE(crc32c(bytes.subarray(BATCH.attributes)), BATCH.crc)

          const outcome = outcomeOf(() => readBlock(bytes, { isolation: 'read_uncommitted' }).records.length)
          if (outcome instanceof Error) expect(outcome).to.be.instanceOf(MillraceError)
          else expect(outcome).to.be.at.most(records.length)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('have the same checksum natively and in JavaScript', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
        expect(crc32cInJavaScript(bytes)).to.equal(crc32c(Buffer.from(bytes)))
      }),
    )
  })
})

/** Whether the record was appended; one that fits into no batch is as good as not appended. */
function fits(writer: RecordBatchWriter, record: Given): boolean {
  const outcome = outcomeOf(() => append(writer, record))
  if (!(outcome instanceof Error)) return outcome
  expect(outcome).to.be.instanceOf(MillraceError).with.property('code', 'RECORD_TOO_LARGE')
  return false
}

function outcomeOf<T>(action: () => T): T | Error {
  try {
    return action()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
