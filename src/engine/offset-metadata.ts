/** What is committed beside an offset: the times and counters that a restarted task goes on from. */
export interface OffsetMetadata {
  /** Highest timestamp seen on the partition, in milliseconds; −1 when none was. */
  readonly partitionTime: number | bigint
  /** Task variables by name; a bigint only for what a number cannot hold. */
  readonly variables: ReadonlyMap<string, number | bigint>
}

/** Nothing known: what an offset without metadata, or with another application's, stands for. */
const NO_OFFSET_METADATA: OffsetMetadata = { partitionTime: -1, variables: new Map() }

const LATEST_VERSION = 2
const VERSION_WITHOUT_VARIABLES = 1
const LONG_BYTES = 8

/**
 * The metadata string in the JVM's own form, so that either can go on from the other's commits: Base64 of a version
 * byte, the partition time, and the variables in order. Kafka Streams: `TopicPartitionMetadata.encode`.
 */
export function encodeOffsetMetadata(metadata: OffsetMetadata): string {
  const { partitionTime, variables } = metadata
  const names = [...variables].map(([name, value]) => [Buffer.from(name), value] as const)
  const head = Buffer.alloc(1 + LONG_BYTES)
  head.writeUInt8(LATEST_VERSION)
  head.writeBigInt64BE(BigInt(partitionTime), 1)
  // The JVM writes no count for an empty map.
  if (names.length === 0) return head.toString('base64')
  return Buffer.concat([
    head,
    int32(names.length),
    ...names.flatMap(([name, value]) => [int32(name.length), name, long(value)]),
  ]).toString('base64')
}

/**
 * Reads the metadata string; anything that is not one (an operator's note, another client's metadata) is no metadata,
 * as the JVM takes it: the offset itself stands.
 */
export function decodeOffsetMetadata(text: string): OffsetMetadata {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || bytes.length < 1 + LONG_BYTES) return NO_OFFSET_METADATA
  const version = bytes.readUInt8(0)
  const partitionTime = exact(bytes.readBigInt64BE(1))
  if (version === VERSION_WITHOUT_VARIABLES) return { partitionTime, variables: new Map() }
  if (version !== LATEST_VERSION) return NO_OFFSET_METADATA
  const variables = variablesOf(bytes, 1 + LONG_BYTES)
  return variables === undefined ? NO_OFFSET_METADATA : { partitionTime, variables }
}

/** Undefined for bytes that end too early or go on too long. */
function variablesOf(bytes: Buffer, start: number): Map<string, number | bigint> | undefined {
  const variables = new Map<string, number | bigint>()
  if (start === bytes.length) return variables
  if (start + 4 > bytes.length) return undefined
  let at = start + 4
  for (let left = bytes.readInt32BE(start); left > 0; left -= 1) {
    if (at + 4 > bytes.length) return undefined
    const nameBytes = bytes.readInt32BE(at)
    const valueAt = at + 4 + nameBytes
    if (nameBytes < 0 || valueAt + LONG_BYTES > bytes.length) return undefined
    variables.set(bytes.toString('utf8', at + 4, valueAt), exact(bytes.readBigInt64BE(valueAt)))
    at = valueAt + LONG_BYTES
  }
  return at === bytes.length ? variables : undefined
}

function exact(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function long(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(LONG_BYTES)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}
