import { INT64_BYTES, readSafeInt64 } from '../serdes/int64.ts'
import type { SessionState } from '../stores/session-state.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { TableGetter } from './table-getter.ts'

/** Reads a windowed table from its store; keys are `key | start`. Kafka Streams: `KTableValueGetter` of `KStreamWindowAggregate`. */
export function windowGetter(store: WindowState): TableGetter {
  const get = (keyBytes: Uint8Array): unknown => {
    const key = viewOf(keyBytes)
    const at = key.length - INT64_BYTES
    return store.get(key.subarray(0, at), boundAt(key, at)) ?? null
  }
  return {
    get,
    getAsOf: get,
    get timestamp() {
      return store.lastTimestamp
    },
  }
}

/** Reads a table of sessions from its store; keys are `key | end | start`. Kafka Streams: `KTableValueGetter` of `KStreamSessionWindowAggregate`. */
export function sessionGetter(store: SessionState): TableGetter {
  let timestamp = -1
  const get = (keyBytes: Uint8Array): unknown => {
    const key = viewOf(keyBytes)
    const endAt = key.length - 2 * INT64_BYTES
    const end = boundAt(key, endAt)
    const value = store.get(key.subarray(0, endAt), boundAt(key, endAt + INT64_BYTES), end) ?? null
    timestamp = value === null ? -1 : end
    return value
  }
  return {
    get,
    getAsOf: get,
    get timestamp() {
      return timestamp
    },
  }
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function boundAt(key: Buffer, at: number): number {
  const bound = readSafeInt64(key, at)
  if (bound === undefined) throw new RangeError('a window bound is beyond ±(2^53 - 1) ms')
  return bound
}
