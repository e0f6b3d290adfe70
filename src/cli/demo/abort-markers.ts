import { ATTRIBUTES, BATCH, LENGTH_OVERHEAD } from '../../kafka/records/batch-layout.ts'

/**
 * A control batch holds one record whose parts are so short that each length is one byte: length, attributes, timestamp
 * and offset deltas, key length; then the key, a version and a type of two bytes each. Kafka: `EndTransactionMarker`.
 */
const MARKER_TYPE = BATCH.records + 7
const ABORT = 0

/** Producer id and epoch, as `id/epoch`, of each abort marker in a block of batches; the last batch may be cut off. */
export function abortMarkers(block: Buffer): readonly string[] {
  const markers: string[] = []
  let at = 0
  while (at + MARKER_TYPE + 2 <= block.length) {
    const isControl = (block.readInt16BE(at + BATCH.attributes) & ATTRIBUTES.control) !== 0
    if (isControl && block.readInt16BE(at + MARKER_TYPE) === ABORT) {
      const producerId = block.readBigInt64BE(at + BATCH.producerId)
      markers.push(`${String(producerId)}/${String(block.readInt16BE(at + BATCH.producerEpoch))}`)
    }
    at += LENGTH_OVERHEAD + block.readInt32BE(at + BATCH.length)
  }
  return markers
}
