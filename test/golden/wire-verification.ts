import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { MillraceError } from '../../src/model/errors.ts'
import { javaPartition } from '../../src/verification/java-partition.ts'
import { decodeBatches, type RawRecord } from '../../src/verification/raw-batches.ts'
import { bytesOf, type JsonObject, listOf } from './golden-file.ts'

const PLACE = { topic: 't', partition: 0 }

/** `record-batches.json`, as the decoder of `millrace verify` reads it: another one than the engine's. */
export function claimVerificationBatches(sample: JsonObject): void {
  const block = bytesOf(sample, 'hex')
  const batches = listOf(sample, 'batches')
  const timestamps = batches.flatMap(batch => listOf(batch, 'records').map(({ timestamp }) => timestamp))
  if (batches.some(batch => batch['crcValid'] === false)) {
    expect(() => decodeBatches(block, PLACE)).to.throw(MillraceError, 'checksum')
    return
  }
  // Of a time that a number cannot hold two could pass for one.
  if (timestamps.some(timestamp => typeof timestamp === 'string')) {
    expect(() => decodeBatches(block, PLACE)).to.throw(MillraceError, 'a time beyond')
    return
  }
  const found = decodeBatches(block, PLACE)
  expect(found).to.have.length(batches.length)
  for (const [index, batch] of batches.entries()) {
    const { records = [], ...fields } = found[index] ?? {}
    expect(fields).to.deep.equal({
      baseOffset: batch['baseOffset'],
      lastOffset: batch['lastOffset'],
      producerId: Number(batch['producerId']),
      producerEpoch: batch['producerEpoch'],
      isTransactional: batch['transactional'],
      isStampedByBroker: batch['timestampType'] === 'LogAppendTime',
      marker: batch['control'] === true ? markerOf(batch) : undefined,
    })
    const expected = listOf(batch, 'records')
    expect(records).to.have.length(expected.length)
    for (const [at, record] of records.entries()) claimRecord(record, expected[at] ?? {})
  }
}

/** `murmur2.json`: the partition for 1 to 64 partitions where listed, by the second hash. */
export function claimVerificationPartitions(sample: JsonObject): void {
  const partitions = sample['partitions1to64']
  if (!Array.isArray(partitions)) return
  const key = bytesOf(sample, 'hex')
  expect(partitions.map((_, index) => javaPartition(key, index + 1))).to.deep.equal(partitions)
}

/** The key of a marker is a version and its kind, each of two bytes. */
function markerOf(batch: JsonObject): string | undefined {
  const [marker] = listOf(batch, 'records')
  return marker === undefined ? undefined : bytesOf(marker, 'keyHex').readInt16BE(2) === 1 ? 'commit' : 'abort'
}

function claimRecord({ offset, timestamp, key, value, headers }: RawRecord, expected: JsonObject): void {
  expect({ offset, timestamp, key: key?.toString('hex') ?? null }).to.deep.equal({
    offset: expected['offset'],
    timestamp: expected['timestamp'],
    key: expected['keyHex'],
  })
  expect(
    [...headers].map(([name, held]) => [name, held === null ? null : Buffer.from(held).toString('hex')]),
  ).to.deep.equal(expected['headers'] ?? [])
  if (expected['valueSha256'] === undefined) expect(value?.toString('hex') ?? null).to.equal(expected['valueHex'])
  else {
    expect(value?.length).to.equal(expected['valueLength'])
    const hash = createHash('sha256').update(value ?? '')
    expect(hash.digest('hex')).to.equal(expected['valueSha256'])
  }
}
