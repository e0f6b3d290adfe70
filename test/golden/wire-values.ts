import { expect } from 'chai'
import { decodeOffsetMetadata, encodeOffsetMetadata } from '../../src/engine/offset-metadata.ts'
import {
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from '../../src/kafka/protocol/consumer-protocol.ts'
import { crc32c, crc32cInJavaScript } from '../../src/kafka/records/crc32c.ts'
import { varintBytes, VarintReader, varlongBytes, writeVarint, writeVarlong } from '../../src/kafka/records/varint.ts'
import { WireReader } from '../../src/kafka/protocol/wire-reader.ts'
import { WireWriter } from '../../src/kafka/protocol/wire-writer.ts'
import { zigzagVarint } from '../support/reference-batches.ts'
import { murmur2, partitionForKey } from '../../src/model/murmur2.ts'
import { murmur3Hash128 } from '../../src/model/murmur3.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'
import { bytesOf, type JsonObject, nullableBytesOf, numberOf, stringOf } from './golden-file.ts'

/** `crc32c.json`: the native checksum and its JavaScript twin. */
export function claimCrc32c(sample: JsonObject): void {
  expect(crc32c(bytesOf(sample, 'hex'))).to.equal(sample['crc32c'])
  expect(crc32cInJavaScript(bytesOf(sample, 'hex'))).to.equal(sample['crc32c'])
}

/** `murmur2.json`: the hash, and the partition for 1 to 64 partitions where listed. */
export function claimMurmur2(sample: JsonObject): void {
  const key = bytesOf(sample, 'hex')
  expect(murmur2(key)).to.equal(sample['murmur2'])
  expect(murmur2(key) & 0x7fff_ffff).to.equal(sample['positive'])
  const partitions = sample['partitions1to64']
  if (!Array.isArray(partitions)) return
  expect(partitions.map((_, index) => partitionForKey(key, index + 1))).to.deep.equal(partitions)
}

/** `murmur3-128.json`. */
export function claimMurmur3(sample: JsonObject): void {
  expect(murmur3Hash128(bytesOf(sample, 'hex')).toString('hex')).to.equal(sample['hash128Hex'])
}

/** `consumer-protocol.json`: subscriptions and assignments. */
export function claimConsumerProtocol(sample: JsonObject): void {
  const kind = stringOf(sample, 'kind')
  if (kind === 'subscription') claimSubscription(sample)
  else if (kind === 'assignment') claimAssignment(sample)
  else throw new Error(`unknown kind ${kind}`)
}

function claimSubscription(sample: JsonObject): void {
  const version = numberOf(sample, 'version')
  const subscription = {
    topics: sample['topics'] as readonly string[],
    userData: nullableBytesOf(sample, 'userDataHex'),
    ownedPartitions: partitionsOf(sample, 'ownedPartitions'),
    generationId: numberOf(sample, 'generationId'),
    rackId: sample['rackId'] === null ? null : stringOf(sample, 'rackId'),
  }
  expect(encodeSubscription(subscription, version).toString('hex')).to.equal(sample['hex'])
  expect(decodeSubscription(bytesOf(sample, 'hex'))).to.deep.equal({
    topics: subscription.topics.toSorted(),
    userData: subscription.userData,
    ownedPartitions: version < 1 ? [] : sorted(subscription.ownedPartitions),
    generationId: version < 2 ? -1 : subscription.generationId,
    rackId: version < 3 ? null : subscription.rackId,
  })
}

function claimAssignment(sample: JsonObject): void {
  const assignment = {
    partitions: partitionsOf(sample, 'partitions'),
    userData: nullableBytesOf(sample, 'userDataHex'),
  }
  const bytes = bytesOf(sample, 'hex')
  expect(encodeAssignment(assignment, numberOf(sample, 'version')).toString('hex')).to.equal(sample['hex'])
  const decoded = decodeAssignment(bytes)
  expect(sorted(decoded.partitions)).to.deep.equal(sorted(assignment.partitions))
  expect(decoded.userData).to.deep.equal(assignment.userData)
}

function partitionsOf(sample: JsonObject, field: string): TopicPartition[] {
  const pairs = sample[field] as readonly (readonly [string, number])[]
  return pairs.map(([topic, partition]) => ({ topic, partition }))
}

function sorted(partitions: readonly TopicPartition[]): TopicPartition[] {
  return partitions.toSorted((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1))
}

/** `varints.json`: zigzag forms of 32 and 64 bits, and the unsigned form of 32 bits. */
export function claimVarint(sample: JsonObject): void {
  const value = BigInt(stringOf(sample, 'value'))
  expect(zigzagVarint(value).toString('hex')).to.equal(sample['varlongZigzagHex'])
  claimVarlong(value, bytesOf(sample, 'varlongZigzagHex'))
  if (sample['varintZigzagHex'] !== undefined) claimVarint32(Number(value), bytesOf(sample, 'varintZigzagHex'))
  if (sample['unsignedVarintHex'] === undefined) return
  const unsigned = bytesOf(sample, 'unsignedVarintHex')
  const writer = new WireWriter()
  writer.unsignedVarint(Number(value))
  expect(writer.finish().toString('hex')).to.equal(unsigned.toString('hex'))
  expect(new WireReader(unsigned, 'a varint').unsignedVarint()).to.equal(Number(value) >>> 0)
}

function claimVarlong(value: bigint, bytes: Buffer): void {
  const number = Number(value)
  expect(new VarintReader(bytes).varlong()).to.equal(number)
  if (!Number.isSafeInteger(number)) return
  const written = Buffer.alloc(10)
  expect(writeVarlong(written, 0, number)).to.equal(bytes.length)
  expect(varlongBytes(number)).to.equal(bytes.length)
  expect(written.subarray(0, bytes.length)).to.deep.equal(bytes)
}

function claimVarint32(value: number, bytes: Buffer): void {
  const written = Buffer.alloc(5)
  expect(writeVarint(written, 0, value)).to.equal(bytes.length)
  expect(varintBytes(value)).to.equal(bytes.length)
  expect(written.subarray(0, bytes.length)).to.deep.equal(bytes)
  expect(new VarintReader(bytes).varint()).to.equal(value)
}

/** `streams-offset-metadata.json`: an older version and garbage are only read. */
export function claimOffsetMetadata(sample: JsonObject): void {
  const text = stringOf(sample, 'metadata')
  const decoded = decodeOffsetMetadata(text)
  expect(decoded.partitionTime.toString()).to.equal(sample['partitionTime'])
  const variables = (sample['processorMetadata'] ?? {}) as JsonObject
  expect(decoded.variables.size).to.equal(Object.keys(variables).length)
  for (const [name, value] of Object.entries(variables)) {
    expect(decoded.variables.get(name)?.toString(), name).to.equal((value as number | string).toString())
  }
  if (sample['decodeOnly'] === true) return
  expect(Buffer.from(text, 'base64').toString('hex')).to.equal(sample['hex'])
  expect(encodeOffsetMetadata(decoded)).to.equal(text)
}
