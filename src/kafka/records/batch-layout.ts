/** Positions of the fields of a record batch of format 2, and what its attributes mean. Kafka: `DefaultRecordBatch`. */
export const BATCH = {
  baseOffset: 0,
  /** Bytes of the batch after this field. */
  length: 8,
  partitionLeaderEpoch: 12,
  magic: 16,
  /** CRC-32C of everything from `attributes` on. */
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
  records: 61,
} as const

/** Bytes before `partitionLeaderEpoch`, which the batch's own length does not count. */
export const LENGTH_OVERHEAD = 12

/** The format of Kafka since 0.11; brokers convert nothing to older ones any more. */
export const MAGIC = 2

/** The bits of `attributes`. */
export const ATTRIBUTES = {
  compression: 0x07,
  /** The batch's timestamp is the broker's (`LogAppendTime`): it is in `maxTimestamp`. */
  logAppendTime: 0x08,
  transactional: 0x10,
  control: 0x20,
} as const

/** What the first bits of `attributes` mean. */
export const COMPRESSION_CODES = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

/** How the records of a batch are compressed. Kafka: `compression.type`. */
export type CompressionType = (typeof COMPRESSION_CODES)[number]
