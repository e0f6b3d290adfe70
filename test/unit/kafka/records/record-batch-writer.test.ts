import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { BATCH } from '../../../../src/kafka/records/batch-layout.ts'
import { prepareCompression } from '../../../../src/kafka/records/compression.ts'
import { crc32c } from '../../../../src/kafka/records/crc32c.ts'
import { RecordBatchWriter } from '../../../../src/kafka/records/record-batch-writer.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { headersOf, NO_HEADERS } from '../../../../src/model/headers.ts'
import { readBlock } from '../../../support/record-blocks.ts'

const KEY = Buffer.from('key')
const VALUE = Buffer.from('value')

function aWriter(maxBytes = 10_000): RecordBatchWriter {
  return new RecordBatchWriter({ initialBytes: 61, maxBytes })
}

describe('record batch writer', () => {
  before(prepareCompression)

  it('counts records, bytes and times as it appends', () => {
    const writer = aWriter()
    expect([writer.count, writer.bytes, writer.maxTimestamp, writer.baseTimestamp]).to.deep.equal([0, 61, -1, 0])

    writer.append(KEY, VALUE, 50, NO_HEADERS)
    writer.append(null, null, 40, NO_HEADERS)

    expect([writer.count, writer.maxTimestamp, writer.baseTimestamp]).to.deep.equal([2, 50, 50])
    expect(writer.bytes).to.equal(61 + 15 + 7)
  })

  it('refuses a record that does not fit behind others, and changes nothing', () => {
    const writer = aWriter(61 + 20)
    writer.append(KEY, VALUE, 0, NO_HEADERS)
    const bytes = writer.bytes

    expect(writer.append(KEY, VALUE, 0, NO_HEADERS)).to.equal(false)
    expect([writer.count, writer.bytes]).to.deep.equal([1, bytes])
  })

  it('fills a batch to its last byte', () => {
    const writer = aWriter(61 + 15)

    expect(writer.append(KEY, VALUE, 0, NO_HEADERS)).to.equal(true)
    expect(writer.bytes).to.equal(61 + 15)
  })

  it('writes keys and values of every length around those at which a length takes another byte', () => {
    const lengths = [0, 1, 63, 64, 65, 8_191, 8_192, 8_193]
    const pairs = lengths.flatMap(key => lengths.map(value => ['k'.repeat(key), 'v'.repeat(value)] as const))
    const writer = aWriter(1_000_000)
    for (const [key, value] of pairs) {
      const before = writer.bytes
      writer.append(Buffer.from(key), Buffer.from(value), 0, NO_HEADERS)
      const alone = aWriter(61 + writer.bytes - before)
      expect(alone.append(Buffer.from(key), Buffer.from(value), 0, NO_HEADERS)).to.equal(true)
    }
    const sealed = writer.seal('none')
    sealed.stamp(null)

    const { records } = readBlock(sealed.bytes)
    expect(records.map(({ key, value }) => [key, value])).to.deep.equal(pairs)
  })

  it('says at once that a record fits into no batch, whether or not this one is empty', () => {
    const empty = aWriter(61 + 14)
    expect(() => empty.append(KEY, VALUE, 0, NO_HEADERS))
      .to.throw(MillraceError, '76 bytes')
      .with.property('code', 'RECORD_TOO_LARGE')

    const filled = aWriter(61 + 14)
    filled.append(null, null, 0, NO_HEADERS)
    expect(() => filled.append(KEY, VALUE, 1_000_000, NO_HEADERS)).to.throw(MillraceError, '76 bytes')
    expect(filled.count).to.equal(1)
  })

  it('goes back to a savepoint', () => {
    const writer = aWriter()
    writer.append(KEY, VALUE, 5, NO_HEADERS)
    const { count, bytes, maxTimestamp } = writer
    writer.append(KEY, Buffer.alloc(500), 9, headersOf([['h', null]]))
    writer.truncate(count, bytes, maxTimestamp)
    writer.append(null, VALUE, 4, NO_HEADERS)

    const { records } = readBlock(stamped(writer))
    expect(records.map(({ offset, timestamp, key }) => [offset, timestamp, key])).to.deep.equal([
      [0, 5, 'key'],
      [1, 4, null],
    ])
  })

  it('takes the first timestamp anew after a savepoint of the empty batch', () => {
    const writer = aWriter()
    writer.append(KEY, VALUE, 5, NO_HEADERS)
    writer.truncate(0, 61, -1)
    writer.append(KEY, VALUE, 7, NO_HEADERS)

    expect(writer.baseTimestamp).to.equal(7)
    expect(readBlock(stamped(writer)).records.map(record => record.timestamp)).to.deep.equal([7])
  })

  it('is stamped again for another epoch, with a checksum that fits', () => {
    const writer = aWriter()
    writer.append(KEY, VALUE, 5, NO_HEADERS)
    const sealed = writer.seal('none')
    for (const epoch of [3, 4]) {
      sealed.stamp({ producerId: 9, epoch, baseSequence: 12, transactional: true })
      expect(sealed.bytes.readInt16BE(BATCH.producerEpoch)).to.equal(epoch)
      expect(sealed.bytes.readInt16BE(BATCH.attributes)).to.equal(0x10)
      expect(sealed.bytes.readUInt32BE(BATCH.crc)).to.equal(crc32c(sealed.bytes.subarray(BATCH.attributes)))
    }
    sealed.stamp(null)
    expect(sealed.bytes.readInt16BE(BATCH.attributes)).to.equal(0)
    expect(sealed.bytes.readBigInt64BE(BATCH.producerId)).to.equal(-1n)
  })

  it('serves another batch after a reset', () => {
    const writer = aWriter()
    writer.append(KEY, VALUE, 5, NO_HEADERS)
    writer.seal('none')
    writer.reset()
    writer.append(null, VALUE, 8, NO_HEADERS)

    expect(readBlock(stamped(writer)).records.map(record => [record.key, record.timestamp])).to.deep.equal([[null, 8]])
  })

  it('takes nothing after it is sealed', () => {
    const writer = aWriter()
    writer.append(KEY, VALUE, 5, NO_HEADERS)
    writer.seal('none')

    expect(() => writer.append(KEY, VALUE, 5, NO_HEADERS)).to.throw('a sealed batch takes no record')
    expect(() => aWriter().seal('none')).to.throw('a batch is sealed once, with records')
  })

  it('compresses with every codec so that the cursor reads the same records', () => {
    for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
      const writer = aWriter(1_000_000)
      for (let index = 0; index < 2_000; index += 1)
        writer.append(Buffer.from(`k${String(index)}`), VALUE, index, NO_HEADERS)
      const sealed = writer.seal(codec)
      sealed.stamp(null)

      const { records } = readBlock(sealed.bytes)
      expect(records.map(record => record.key)).to.deep.equal(records.map((_, index) => `k${String(index)}`))
      expect(records).to.have.length(2_000)
      if (codec !== 'none') expect(sealed.bytes.length).to.be.below(writer.bytes)
    }
  })

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] as const) {
    it(`keeps all of what becomes longer when it is compressed (${codec})`, () => {
      const parts = Array.from({ length: 63 }, (_, part) => createHash('sha256').update(String(part)).digest())
      const noise = Buffer.concat(parts, 2_000)
      const writer = aWriter(61 + 2_009)
      writer.append(null, noise, 5, NO_HEADERS)
      expect(writer.bytes, 'its memory is full').to.equal(61 + 2_009)
      const sealed = writer.seal(codec)
      sealed.stamp(null)

      expect(sealed.bytes.length).to.be.above(writer.bytes)
      expect(readBlock(sealed.bytes).records.map(({ value }) => value)).to.deep.equal([noise.toString()])
    })
  }
})

function stamped(writer: RecordBatchWriter): Buffer {
  const sealed = writer.seal('none')
  sealed.stamp(null)
  return sealed.bytes
}
