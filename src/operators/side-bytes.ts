import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { ErasedSerializer } from '../serdes/erased-serde.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import { WindowedKey } from '../model/windowed.ts'
import { boundsWriterOf, type WindowedForm } from '../serdes/windowed.ts'
import { LogKeys } from '../stores/log-keys.ts'
import type { CurrentRecord } from './current-record.ts'

/** Gives the bytes of a key or value, to be copied before the next record; `null` stays `null`. */
export type SideBytes = (value: unknown, headers: RecordHeaders) => Uint8Array | null

/** Gives the bytes of a key that is not null, to be copied before the next record. */
export type KeyBytes = (key: unknown, headers: RecordHeaders) => Uint8Array

/** How both sides of a record are turned into bytes. */
export interface RecordBytes {
  readonly keyBytes: SideBytes
  readonly valueBytes: SideBytes
  /** Whether both, where they are not null, are the source record's own. */
  readonly isSource: boolean
  /** Whether the key is that of a window around the source record's own key. */
  readonly isWindowOfSource: boolean
}

/** How a side of a record is turned into bytes; decided once, when the graph is compiled. */
export type SideEncoding =
  /** The side is as it was read, decoded or not: the source record's bytes are its bytes. */
  | { readonly kind: 'source' }
  /** The value is what its operator has just put into a store, and nobody has read it since: the store's bytes are its bytes. */
  | { readonly kind: 'kept'; readonly store: Pick<KeyValueState, 'lastPutBytes'> }
  /** The key is that of a window around the source record's own, decoded or not. */
  | { readonly kind: 'windowed'; readonly window: WindowedForm }
  | { readonly kind: 'encode'; readonly serializer: ErasedSerializer }

/** A function for an encoding. */
export function sideBytes(
  encoding: SideEncoding,
  side: 'key' | 'value',
  topic: string,
  record: CurrentRecord,
): SideBytes {
  switch (encoding.kind) {
    case 'source':
      return side === 'key'
        ? key => (key === null ? null : record.lentKey)
        : value => (value === null ? null : record.lentValue)
    case 'kept': {
      const { store } = encoding
      return value => (value === null ? null : store.lastPutBytes)
    }
    case 'windowed':
      return windowKeyBytes(encoding.window, record)
    case 'encode': {
      const { serializer } = encoding
      const context = { topic, side, headers: NO_HEADERS }
      return (value, headers) => {
        if (value === null || value === undefined) return null
        context.headers = headers
        return serializer.serialize(value, context)
      }
    }
  }
}

/** The source record's key, and behind it the bounds of the window. */
function windowKeyBytes(window: WindowedForm, record: CurrentRecord): SideBytes {
  const keys = new LogKeys({ bytes: window.windowBytes, write: boundsWriterOf(window) })
  return key => {
    const { lentKey } = record
    if (key === null || lentKey === null) return null
    if (!(key instanceof WindowedKey)) throw new TypeError('the key of a window has bounds')
    return keys.lent(lentKey, key.start, key.end)
  }
}

/** As `sideBytes`, for a key that the caller has found not to be null. */
export function keyBytes(encoding: SideEncoding, topic: string, record: CurrentRecord): KeyBytes {
  const bytes = sideBytes(encoding, 'key', topic, record)
  return (key, headers) => {
    const found = bytes(key, headers)
    if (found === null) throw new TypeError('a key that is looked up is not null')
    return found
  }
}
