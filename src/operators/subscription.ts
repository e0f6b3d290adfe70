import type { ErasedSerde } from '../serdes/erased-serde.ts'

const HASH_BYTES = 16
const PARTITION_BYTES = 4
const LENGTH_BYTES = 4
/** Set in the version byte when no hash follows. */
const NO_HASH = 0x80
const SUBSCRIPTION_VERSION = 1
const RESPONSE_VERSION = 0
const SUBSCRIPTION_HEAD_BYTES = 2

/** What the other table's side is to do with a subscription. Kafka Streams: `SubscriptionWrapper.Instruction`. */
export const Instruction = {
  deleteSilently: 0,
  deleteAndAnswer: 1,
  answerAlways: 2,
  answerMatch: 3,
} as const

/**
 * What a row of the left table tells the row it refers to: `version 01, | 80 without hash | instruction | 16 bytes hash of
 * the left value | primary key | 4 bytes primary partition`. Kept as its bytes: the store and its changelog have the same.
 * Kafka Streams: `SubscriptionWrapper`.
 */
export class Subscription {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get instruction(): number {
    return this.bytes[1] ?? -1
  }

  /** Hash of the left value; `null` when it is deleted. */
  get hash(): Buffer | null {
    return this.#hasHash ? this.bytes.subarray(SUBSCRIPTION_HEAD_BYTES, SUBSCRIPTION_HEAD_BYTES + HASH_BYTES) : null
  }

  get primaryKey(): Buffer {
    const start = SUBSCRIPTION_HEAD_BYTES + (this.#hasHash ? HASH_BYTES : 0)
    return this.bytes.subarray(start, this.bytes.length - PARTITION_BYTES)
  }

  get primaryPartition(): number {
    return this.bytes.readInt32BE(this.bytes.length - PARTITION_BYTES)
  }

  get #hasHash(): boolean {
    return ((this.bytes[0] ?? 0) & NO_HASH) === 0
  }
}

/** The subscription of a row. */
export function newSubscription(
  hash: Buffer | null,
  instruction: number,
  primaryKey: Uint8Array,
  primaryPartition: number,
): Subscription {
  const keyAt = SUBSCRIPTION_HEAD_BYTES + (hash?.length ?? 0)
  const bytes = Buffer.allocUnsafe(keyAt + primaryKey.length + PARTITION_BYTES)
  bytes[0] = hash === null ? SUBSCRIPTION_VERSION | NO_HASH : SUBSCRIPTION_VERSION
  bytes[1] = instruction
  if (hash !== null) bytes.set(hash, SUBSCRIPTION_HEAD_BYTES)
  bytes.set(primaryKey, keyAt)
  bytes.writeInt32BE(primaryPartition, bytes.length - PARTITION_BYTES)
  return new Subscription(bytes)
}

/** The serde of the registration topic. Kafka Streams: `SubscriptionWrapperSerde`. */
export const subscriptionSerde: ErasedSerde = {
  name: 'subscription',
  serialize(value) {
    if (value instanceof Subscription) return value.bytes
    throw new TypeError('a registration topic takes subscriptions')
  },
  deserialize(bytes) {
    const version = (bytes[0] ?? -1) & ~NO_HASH
    const least = SUBSCRIPTION_HEAD_BYTES + PARTITION_BYTES + (((bytes[0] ?? 0) & NO_HASH) === 0 ? HASH_BYTES : 0)
    if (version > SUBSCRIPTION_VERSION || bytes.length < least)
      throw new RangeError(`a subscription of version ${String(version)} with ${String(bytes.length)} bytes is unknown`)
    return new Subscription(bytes)
  },
}

/**
 * The answer to a subscription: `version 00, | 80 without hash | 16 bytes hash of the left value | right value`, nothing for
 * a missing right value. Kafka Streams: `SubscriptionResponseWrapper`.
 */
export class SubscriptionAnswer {
  readonly hash: Buffer | null
  readonly foreignValue: Uint8Array | null
  /** Where the left row lies; not on the wire. */
  readonly primaryPartition: number

  constructor(hash: Buffer | null, foreignValue: Uint8Array | null, primaryPartition: number) {
    this.hash = hash
    this.foreignValue = foreignValue
    this.primaryPartition = primaryPartition
  }
}

/** The serde of the response topic. Kafka Streams: `SubscriptionResponseWrapperSerde`. */
export const answerSerde: ErasedSerde = {
  name: 'answer',
  serialize(value) {
    if (!(value instanceof SubscriptionAnswer)) throw new TypeError('a response topic takes answers')
    const { hash, foreignValue } = value
    const valueAt = 1 + (hash?.length ?? 0)
    const bytes = Buffer.allocUnsafe(valueAt + (foreignValue?.length ?? 0))
    bytes[0] = hash === null ? RESPONSE_VERSION | NO_HASH : RESPONSE_VERSION
    if (hash !== null) bytes.set(hash, 1)
    if (foreignValue !== null) bytes.set(foreignValue, valueAt)
    return bytes
  },
  deserialize(bytes) {
    const hasHash = ((bytes[0] ?? 0) & NO_HASH) === 0
    const valueAt = 1 + (hasHash ? HASH_BYTES : 0)
    if (((bytes[0] ?? -1) & ~NO_HASH) !== RESPONSE_VERSION || bytes.length < valueAt)
      throw new RangeError('an answer of this version and length is unknown')
    return new SubscriptionAnswer(
      hasHash ? bytes.subarray(1, valueAt) : null,
      bytes.length > valueAt ? bytes.subarray(valueAt) : null,
      -1,
    )
  },
}

/** First bytes of all subscriptions to a foreign key: `4 bytes length | foreign key`. Kafka Streams: `CombinedKeySchema.prefixBytes`. */
export function subscriptionPrefix(foreignKey: Uint8Array): Buffer {
  const prefix = Buffer.allocUnsafe(LENGTH_BYTES + foreignKey.length)
  prefix.writeInt32BE(foreignKey.length, 0)
  prefix.set(foreignKey, LENGTH_BYTES)
  return prefix
}

/** Key of a subscription in its store: the prefix, then the primary key. Kafka Streams: `CombinedKeySchema.toBytes`. */
export function subscriptionKey(foreignKey: Uint8Array, primaryKey: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + foreignKey.length + primaryKey.length)
  bytes.writeInt32BE(foreignKey.length, 0)
  bytes.set(foreignKey, LENGTH_BYTES)
  bytes.set(primaryKey, LENGTH_BYTES + foreignKey.length)
  return bytes
}
