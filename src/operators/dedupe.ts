import type { DropReason } from '../model/record-failure.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made, type Step } from './step.ts'

const LENGTH_BYTES = 4
/** That an id was seen is all there is to remember. */
const SEEN = Buffer.alloc(0)
const NO_TAG = Buffer.alloc(0)
/** No text has this byte in UTF-8, so the number 1 is not the text '1', and texts are kept as they always were. */
const NUMBER_TAG = Buffer.of(0xff)

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
    const bytes =
      typeof id === 'string'
        ? idBytes(keyBytes(key, headers), id, NO_TAG)
        : idBytes(keyBytes(key, headers), numberText(id), NUMBER_TAG)
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

/** Digits of a whole number; one beyond 2^53 may have been rounded to that of another record, unless it is a bigint. */
function numberText(id: unknown): string {
  if (typeof id === 'bigint' || (typeof id === 'number' && Number.isSafeInteger(id))) return String(id)
  const got = typeof id === 'number' ? String(id) : typeof id
  throw new TypeError(`an id is a text, a whole number up to 2^53 - 1 or null, got ${got}`)
}

/** `4 bytes length of the key | key | tag of a number | id`: no two pairs have the same bytes. */
function idBytes(key: Uint8Array, id: string, tag: Uint8Array): Buffer {
  const idLength = Buffer.byteLength(id)
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + key.length + tag.length + idLength)
  bytes.writeInt32BE(key.length)
  bytes.set(key, LENGTH_BYTES)
  bytes.set(tag, LENGTH_BYTES + key.length)
  bytes.write(id, LENGTH_BYTES + key.length + tag.length)
  return bytes
}
