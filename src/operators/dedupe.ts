import type { DropReason } from '../model/record-failure.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made, type Step } from './step.ts'

const LENGTH_BYTES = 4
/** That an id was seen is all there is to remember. */
const SEEN = Buffer.alloc(0)

/** What a dedupe works with. */
export interface DedupeParts extends Site {
  /** Ids by their time; keys are the record's key and the id. */
  readonly store: WindowState
  readonly keyBytes: KeyBytes
  readonly dropped: (reason: DropReason) => void
  /** How long an id is remembered, in ms. */
  readonly withinMs: number
}

/** How long the store keeps ids, in ms: a record may be that late itself and still be told apart. */
export function dedupeRetentionMs(withinMs: number): number {
  return 2 * withinMs + 1
}

/** Drops a record whose id was seen for the same key within the time, before or after it; a record without an id passes. Kafka Streams: none (KIP-655). */
export function dedupe(parts: DedupeParts, idOf: Step, next: Forward): Forward {
  const { name, record, store, keyBytes, dropped, withinMs } = parts
  let seen = 0
  const visit = (): boolean => {
    seen += 1
    return false
  }
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    const id = made(idOf(value, key, record.view))
    if (id === null) {
      next(key, value, timestamp, headers)
      return
    }
    if (typeof id !== 'string') throw new TypeError(`an id is a text or null, got ${typeof id}`)
    const bytes = idBytes(keyBytes(key, headers), id)
    seen = 0
    store.fetch(bytes, timestamp - withinMs, timestamp + withinMs, visit)
    if (seen > 0) {
      dropped('duplicate')
      return
    }
    store.put(bytes, SEEN, timestamp, timestamp)
    next(key, value, timestamp, headers)
  }
}

/** `4 bytes length of the key | key | id`: no two pairs have the same bytes. */
function idBytes(key: Uint8Array, id: string): Buffer {
  const idLength = Buffer.byteLength(id)
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + key.length + idLength)
  bytes.writeInt32BE(key.length)
  bytes.set(key, LENGTH_BYTES)
  bytes.write(id, LENGTH_BYTES + key.length)
  return bytes
}
