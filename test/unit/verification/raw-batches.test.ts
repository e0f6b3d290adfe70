import { expect } from 'chai'
import fc from 'fast-check'
import { headersOf } from '../../../src/model/headers.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { prepareCompression } from '../../../src/kafka/records/compression.ts'
import { RecordBatchWriter } from '../../../src/kafka/records/record-batch-writer.ts'
import { RecordCursor } from '../../../src/kafka/records/record-cursor.ts'
import { decodeBatches } from '../../../src/verification/raw-batches.ts'
import { judgeByMarkers, shownByBroker } from '../../../src/verification/transaction-fates.ts'
import type { RawBatch } from '../../../src/verification/raw-batches.ts'

const PLACE = { topic: 't', partition: 0 }

interface Written {
  readonly key: string | null
  readonly value: string | null
  readonly timestamp: number
  readonly header: string
}

function bytesOf(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text)
}

function batchOf(records: readonly Written[], codec: 'none' | 'gzip' | 'lz4' | 'snappy' | 'zstd'): Buffer {
  const writer = new RecordBatchWriter({ initialBytes: 1_024, maxBytes: 1_048_576 })
  for (const { key, value, timestamp, header } of records) {
    writer.append(bytesOf(key), bytesOf(value), timestamp, headersOf([[header, bytesOf(value)]]))
  }
  const batch = writer.seal(codec)
  batch.stamp({ producerId: 7, epoch: 3, baseSequence: 0, transactional: true })
  return batch.bytes
}

const record = fc.record({
  key: fc.option(fc.string({ maxLength: 20 })),
  value: fc.option(fc.string({ maxLength: 200 })),
  timestamp: fc.integer({ min: 0, max: 2 ** 48 }),
  header: fc.string({ maxLength: 10 }),
})

describe('the second decoder of batches', () => {
  before(prepareCompression)

  it('reads what the writer wrote, whatever the compression, as the engine’s own reader does', () => {
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('none', 'gzip', 'lz4', 'snappy', 'zstd'),
        (records, codec) => {
          const bytes = batchOf(records, codec)
          const [batch] = decodeBatches(Buffer.concat([bytes, bytes.subarray(0, 70)]), PLACE)
          expect(batch?.producerId).to.equal(7)
          expect(batch?.producerEpoch).to.equal(3)
          expect(batch?.isTransactional).to.equal(true)
          const cursor = new RecordCursor()
          cursor.reset({ ...PLACE, records: bytes, position: 0, aborted: [], isolation: 'read_uncommitted' })
          for (const found of batch?.records ?? []) {
            expect(cursor.next()).to.equal(true)
            const { offset, timestamp, key, value, headers } = cursor
            expect({ ...found, headers: [...found.headers] }).to.deep.equal({
              offset,
              timestamp,
              key,
              value,
              headers: [...headers],
            })
          }
          expect(cursor.next()).to.equal(false)
        },
      ),
    )
  })

  it('refuses a batch of which one bit has changed', () => {
    const bytes = batchOf([{ key: 'k', value: 'v', timestamp: 1, header: 'h' }], 'none')
    bytes.writeUInt8(bytes.readUInt8(70) ^ 1, 70)
    expect(() => decodeBatches(bytes, PLACE)).to.throw(MillraceError, /checksum/)
  })
})

const batch = (offset: number, producerId: number, marker?: 'commit' | 'abort'): RawBatch => ({
  baseOffset: offset,
  lastOffset: offset,
  producerId,
  producerEpoch: 0,
  isTransactional: producerId >= 0,
  isStampedByBroker: false,
  marker,
  records: marker === undefined ? [{ offset, timestamp: 0, key: null, value: null, headers: headersOf([]) }] : [],
})

describe('what became of records', () => {
  it('follows from the next marker of their producer', () => {
    const { records, markers } = judgeByMarkers(
      [batch(0, 1), batch(1, 2), batch(2, -1), batch(3, 1, 'abort'), batch(4, 1), batch(5, 2, 'commit'), batch(6, 3)],
      PLACE,
    )
    expect(records.map(({ offset, fate, decidedAt }) => [offset, fate, decidedAt])).to.deep.equal([
      [0, 'aborted', 3],
      [1, 'committed', 5],
      [2, 'committed', 2],
      [4, 'open', undefined],
      [6, 'open', undefined],
    ])
    expect(markers.map(({ offset, kind }) => [offset, kind])).to.deep.equal([
      [3, 'abort'],
      [5, 'commit'],
    ])
  })

  it('is the same by the list of the broker', () => {
    // Transactions of few producers, each ended; the list names the first offset of the aborted ones.
    const step = fc.record({ producer: fc.nat({ max: 3 }), end: fc.constantFrom('none', 'commit', 'abort') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const batches: RawBatch[] = []
        const firsts = new Map<number, number>()
        const aborted: { producerId: number; firstOffset: number }[] = []
        const end = (producer: number, marker: 'commit' | 'abort'): void => {
          const firstOffset = firsts.get(producer)
          if (firstOffset === undefined) return
          batches.push(batch(batches.length, producer, marker))
          if (marker === 'abort') aborted.push({ producerId: producer, firstOffset })
          firsts.delete(producer)
        }
        for (const one of steps) {
          if (one.end === 'none') {
            if (!firsts.has(one.producer)) firsts.set(one.producer, batches.length)
            batches.push(batch(batches.length, one.producer))
          } else end(one.producer, one.end)
        }
        for (const producer of firsts.keys()) end(producer, 'abort')
        const { records } = judgeByMarkers(batches, PLACE)
        const committed = records.filter(({ fate }) => fate === 'committed').map(({ offset }) => offset)
        expect(shownByBroker(batches, aborted)).to.deep.equal(committed)
      }),
    )
  })
})
