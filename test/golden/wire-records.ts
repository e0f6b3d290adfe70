import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { BATCH, COMPRESSION_CODES } from '../../src/kafka/records/batch-layout.ts'
import { BatchReader } from '../../src/kafka/records/batch-reader.ts'
import { compress, decompress } from '../../src/kafka/records/compression.ts'
import { RecordBatchWriter } from '../../src/kafka/records/record-batch-writer.ts'
import { RecordCursor } from '../../src/kafka/records/record-cursor.ts'
import { VarintReader } from '../../src/kafka/records/varint.ts'
import { MillraceError } from '../../src/model/errors.ts'
import { headersOf } from '../../src/model/headers.ts'
import { encodeReferenceBatch, type ReferenceBatch, type ReferenceRecord } from '../support/reference-batches.ts'
import { bytesOf, type JsonObject, listOf, numberOf, stringOf } from './golden-file.ts'

/** `record-batches.json`: blocks are read to their records; batches are written to the same bytes. */
export function claimRecordBatches(sample: JsonObject): void {
  const block = bytesOf(sample, 'hex')
  const batches = listOf(sample, 'batches')
  expect(block.length).to.equal(sample['length'])
  if (batches.some(batch => batch['crcValid'] === false)) {
    expect(() => readAll(block)).to.throw(MillraceError, 'checksum')
    return
  }
  claimHeaders(block, batches)
  claimRecords(block, batches)
  for (const batch of batches) claimWritten(block, batch)
}

interface Read {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [string, string | null])[]
}

/** What the cursor shows of a block, up to its end or to a failure. */
function readAll(block: Buffer): { records: Read[]; position: number; failure: MillraceError | undefined } {
  const cursor = new RecordCursor()
  const position = block.length === 0 ? 0 : Number(block.readBigInt64BE(0))
  cursor.reset({ topic: 't', partition: 0, records: block, position, aborted: [], isolation: 'read_committed' })
  const records: Read[] = []
  try {
    while (cursor.next()) {
      const headers = [...cursor.headers].map(
        ([name, value]) => [name, value === null ? null : Buffer.from(value).toString('hex')] as const,
      )
      const { offset, timestamp } = cursor
      records.push({ offset, timestamp, key: cursor.key?.toString('hex') ?? null, value: cursor.value, headers })
    }
  } catch (error) {
    if (!(error instanceof MillraceError) || error.message.includes('checksum')) throw error
    return { records, position: cursor.position, failure: error }
  }
  return { records, position: cursor.position, failure: undefined }
}

function claimHeaders(block: Buffer, batches: readonly JsonObject[]): void {
  const reader = new BatchReader()
  reader.reset('t', 0, block)
  for (const batch of batches) {
    expect(reader.next()).to.equal(true)
    const at = numberOf(batch, 'position')
    expect({
      baseOffset: reader.baseOffset,
      lastOffset: reader.lastOffset,
      partitionLeaderEpoch: reader.leaderEpoch,
      baseTimestamp: reader.baseTimestamp,
      maxTimestamp: reader.maxTimestamp,
      timestampType: reader.isLogAppendTime ? 'LogAppendTime' : 'CreateTime',
      transactional: reader.isTransactional,
      control: reader.isControl,
      producerId: reader.producerId,
      count: reader.count,
      crc: block.readUInt32BE(at + BATCH.crc),
      attributes: block.readInt16BE(at + BATCH.attributes),
      compression: COMPRESSION_CODES[block.readInt16BE(at + BATCH.attributes) & 7],
    }).to.deep.equal({
      ...pick(batch, ['baseOffset', 'lastOffset', 'partitionLeaderEpoch', 'timestampType', 'transactional', 'control']),
      ...pick(batch, ['count', 'crc', 'attributes', 'compression']),
      baseTimestamp: Number(batch['baseTimestamp']),
      maxTimestamp: Number(batch['maxTimestamp']),
      producerId: Number(batch['producerId']),
    })
    if (reader.isControl) expect(reader.endsTransaction()).to.equal(true)
  }
  expect(reader.next()).to.equal(false)
}

function pick(batch: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map(field => [field, batch[field] ?? null]))
}

function claimRecords(block: Buffer, batches: readonly JsonObject[]): void {
  const visible = batches.filter(batch => batch['control'] === false).flatMap(batch => listOf(batch, 'records'))
  const beyond = visible.findIndex(record => typeof record['timestamp'] === 'string')
  const { records, position, failure } = readAll(block)
  const expected = beyond < 0 ? visible : visible.slice(0, beyond)
  expect(records).to.have.length(expected.length)
  for (const [index, record] of records.entries()) claimRecord(record, expected[index] ?? {})
  if (beyond < 0) {
    expect(failure).to.equal(undefined)
    const last = batches.at(-1)
    if (last !== undefined) expect(position).to.equal(numberOf(last, 'lastOffset') + 1)
  } else {
    // A timestamp that a number cannot hold is refused by name, never rounded.
    expect(failure?.code).to.equal('PROTOCOL_VIOLATION')
    expect(failure?.details.offset).to.equal(visible[beyond]?.['offset'])
  }
}

function claimRecord(record: Read, expected: JsonObject): void {
  expect(record.offset).to.equal(expected['offset'])
  expect(record.timestamp).to.equal(expected['timestamp'])
  expect(record.key).to.equal(expected['keyHex'])
  expect(record.headers).to.deep.equal(expected['headers'] ?? [])
  if (expected['valueSha256'] === undefined) {
    expect(record.value?.toString('hex') ?? null).to.equal(expected['valueHex'])
  } else {
    expect(record.value?.length).to.equal(expected['valueLength'])
    expect(
      createHash('sha256')
        .update(record.value ?? '')
        .digest('hex'),
    ).to.equal(expected['valueSha256'])
  }
}

/** Uncompressed batches byte for byte; of compressed ones, what was compressed, and that ours reads back. */
function claimWritten(block: Buffer, batch: JsonObject): void {
  const at = numberOf(batch, 'position')
  const bytes = block.subarray(at, at + numberOf(batch, 'sizeInBytes'))
  const codec = COMPRESSION_CODES[numberOf(batch, 'attributes') & 7]
  if (codec === undefined) throw new Error('unknown compression')
  const plain = decompress(codec, bytes.subarray(BATCH.records))
  const reference = referenceOf(batch, plain)
  const compressed = codec === 'none' ? undefined : bytes.subarray(BATCH.records)
  expect(encodeReferenceBatch(reference, records => compressed ?? records).toString('hex')).to.equal(
    bytes.toString('hex'),
  )
  expect(encodeReferenceBatch({ ...reference, attributes: 0 }).subarray(BATCH.records)).to.deep.equal(plain)
  expect(decompress(codec, compress(codec, plain))).to.deep.equal(plain)
  if (isProducible(reference)) claimWriter(reference, bytes, plain)
}

function referenceOf(batch: JsonObject, plain: Buffer): ReferenceBatch {
  return {
    baseOffset: numberOf(batch, 'baseOffset'),
    lastOffset: numberOf(batch, 'lastOffset'),
    leaderEpoch: numberOf(batch, 'partitionLeaderEpoch'),
    attributes: numberOf(batch, 'attributes'),
    baseTimestamp: BigInt(batch['baseTimestamp'] as string | number),
    maxTimestamp: BigInt(batch['maxTimestamp'] as string | number),
    producerId: BigInt(batch['producerId'] as string | number),
    epoch: numberOf(batch, 'producerEpoch'),
    baseSequence: numberOf(batch, 'baseSequence'),
    records: listOf(batch, 'records').map((record, index) => referenceRecordOf(batch, record, index, plain)),
  }
}

/** With LogAppendTime the records keep the producer's timestamps in their deltas, which the golden JSON does not tell. */
function referenceRecordOf(batch: JsonObject, record: JsonObject, index: number, plain: Buffer): ReferenceRecord {
  const isAppendTime = batch['timestampType'] === 'LogAppendTime'
  const offset = numberOf(record, 'offset')
  const timestamp = isAppendTime
    ? BigInt(numberOf(batch, 'baseTimestamp')) + createDelta(plain, index)
    : BigInt(record['timestamp'] as string | number)
  const headers = (record['headers'] ?? []) as readonly (readonly [string, string | null])[]
  return {
    offset,
    timestamp,
    key: record['keyHex'] === null ? null : bytesOf(record, 'keyHex'),
    value: valueOf(record, plain),
    headers: headers.map(([name, hex]) => [name, hex === null ? null : Buffer.from(hex, 'hex')] as const),
  }
}

/** The timestamp delta of the record at that place. */
function createDelta(plain: Buffer, index: number): bigint {
  let reader = new VarintReader(plain)
  for (let skipped = 0; skipped < index; skipped += 1) {
    const length = reader.varint() ?? 0
    reader = new VarintReader(plain, reader.position + length)
  }
  reader.varint()
  return BigInt(new VarintReader(plain, reader.position + 1).varlong() ?? 0)
}

/** Long values are given by their hash: the bytes are taken from the batch and proved by it. */
function valueOf(record: JsonObject, plain: Buffer): Buffer | null {
  if (record['valueSha256'] === undefined) return record['valueHex'] === null ? null : bytesOf(record, 'valueHex')
  const length = numberOf(record, 'valueLength')
  for (let at = 0; at + length <= plain.length; at += 1) {
    const value = plain.subarray(at, at + length)
    if (createHash('sha256').update(value).digest('hex') === stringOf(record, 'valueSha256')) return value
  }
  throw new Error('no bytes of the batch have the hash of the long value')
}

/** What a client sends: no markers, no gaps, timestamps of its own that a number holds. */
function isProducible({ records, attributes, baseOffset, lastOffset, baseTimestamp }: ReferenceBatch): boolean {
  return (
    (attributes & 0x68) === 0 &&
    records.length > 0 &&
    records.length === lastOffset - baseOffset + 1 &&
    records[0]?.timestamp === baseTimestamp &&
    records.every(record => record.timestamp <= BigInt(Number.MAX_SAFE_INTEGER))
  )
}

function claimWriter(batch: ReferenceBatch, bytes: Buffer, plain: Buffer): void {
  const writer = new RecordBatchWriter({ initialBytes: 64, maxBytes: BATCH.records + plain.length })
  for (const { key, value, timestamp, headers } of batch.records) {
    expect(writer.append(key, value, Number(timestamp), headersOf(headers))).to.equal(true)
  }
  const codec = COMPRESSION_CODES[batch.attributes & 7] ?? 'none'
  expect(decompress(codec, writer.seal(codec).bytes.subarray(BATCH.records))).to.deep.equal(plain)
  if (codec !== 'none') return

  const { producerId, epoch, baseSequence } = batch
  const writerAgain = new RecordBatchWriter({ initialBytes: 4096, maxBytes: 1_048_576 })
  for (const { key, value, timestamp, headers } of batch.records) {
    writerAgain.append(key, value, Number(timestamp), headersOf(headers))
  }
  const sealed = writerAgain.seal('none')
  sealed.stamp({ producerId, epoch, baseSequence, transactional: (batch.attributes & 0x10) !== 0 })
  // The broker assigns these two when it appends; the checksum does not cover them.
  sealed.bytes.writeBigInt64BE(BigInt(batch.baseOffset), BATCH.baseOffset)
  sealed.bytes.writeInt32BE(batch.leaderEpoch, BATCH.partitionLeaderEpoch)
  expect(sealed.bytes.toString('hex')).to.equal(bytes.toString('hex'))
}
