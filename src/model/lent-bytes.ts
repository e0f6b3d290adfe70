import type { RecordSource } from './record-source.ts'
import { TransientBytes } from './transient-bytes.ts'

/** Key and value of records for whoever is done with their bytes before the next record: nothing is kept for them. */
export class LentBytes {
  readonly #keys = new TransientBytes()
  readonly #values = new TransientBytes()

  keyOf(source: RecordSource): Buffer | null {
    const { raw } = source
    if (raw === undefined) return source.key
    return raw.keyBytes < 0 ? null : this.#keys.of(raw.batch, raw.batchView, raw.keyAt, raw.keyBytes)
  }

  valueOf(source: RecordSource): Buffer | null {
    const { raw } = source
    if (raw === undefined) return source.value
    return raw.valueBytes < 0 ? null : this.#values.of(raw.batch, raw.batchView, raw.valueAt, raw.valueBytes)
  }
}
