import { ATTRIBUTES, BATCH } from './batch-layout.ts'
import { crc32c } from './crc32c.ts'
import { writeInt64 } from './int64.ts'

/** Who sends a batch, as the broker's sequence check wants to know it (KIP-98). */
export interface BatchProducer {
  /** A bigint only for ids beyond 2^53, which no broker gives out. */
  readonly producerId: number | bigint
  readonly epoch: number
  readonly baseSequence: number
  readonly transactional: boolean
}

/** A batch whose records are final; who sends it is stamped when it is sent, because an abort changes the epoch. */
export class SealedBatch {
  readonly count: number
  /** The whole batch of format 2; complete once stamped. */
  readonly bytes: Buffer

  constructor(count: number, bytes: Buffer) {
    this.count = count
    this.bytes = bytes
  }

  /**
   * Writes producer id, epoch, first sequence, the transactional flag and the checksum; may be called again.
   *
   * @param producer - null for a batch without idempotence
   */
  stamp(producer: BatchProducer | null): void {
    const { bytes } = this
    const attributes = bytes.readInt16BE(BATCH.attributes) & ~ATTRIBUTES.transactional
    const isTransactional = producer?.transactional === true
    bytes.writeInt16BE(isTransactional ? attributes | ATTRIBUTES.transactional : attributes, BATCH.attributes)
    writeInt64(bytes, BATCH.producerId, producer?.producerId ?? -1)
    bytes.writeInt16BE(producer?.epoch ?? -1, BATCH.producerEpoch)
    bytes.writeInt32BE(producer?.baseSequence ?? -1, BATCH.baseSequence)
    bytes.writeUInt32BE(crc32c(bytes.subarray(BATCH.attributes)), BATCH.crc)
  }
}
