import { MillraceError } from '../model/errors.ts'
import type { SuppressState } from '../stores/suppress-state.ts'
import type { Forward } from './forward.ts'
import type { LongVariable } from './long-variable.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import type { TableGetter } from './table-getter.ts'

/** How long and how much a suppress holds back. */
export interface SuppressLimits {
  /** Until when: the window's end, or the time of the first held update of the key. */
  readonly until: 'windowEnd' | 'firstUpdate'
  /** How long after that, in ms, by the time of the updates that arrive. */
  readonly waitMs: number
  readonly maxRecords: number
  readonly maxBytes: number
  /** What a full buffer does. */
  readonly whenFull: 'emit' | 'stop'
}

/** What a suppress works with. */
export interface SuppressParts extends Site {
  readonly store: SuppressState
  readonly keyBytes: KeyBytes
  readonly readKey: (bytes: Buffer) => unknown
  /** Highest time of an update that arrived, in ms. */
  readonly observed: LongVariable
}

/**
 * Holds back updates of a table and passes on the last of each key. A final result of a window is never a deletion.
 * Kafka Streams: `KTableSuppressProcessor`.
 *
 * @throws MillraceError `SUPPRESS_BUFFER_FULL` when a full buffer stops
 */
export function suppress(
  { name, record, store, keyBytes, readKey, observed }: SuppressParts,
  { until, waitMs, maxRecords, maxBytes, whenFull }: SuppressLimits,
  next: Forward,
): Forward {
  const emitFirst = (): void => {
    const update = store.first()
    if (update === undefined) return
    const { key, value, old, context } = update
    if (value !== null || until === 'firstUpdate') {
      record.actingFor(context, name, () => {
        next(readKey(key), value, context.timestamp, context.headers, old)
      })
    }
    store.removeFirst()
  }
  const isFull = (): boolean => store.entries > maxRecords || store.heldBytes > maxBytes
  return (key, value, timestamp, headers, old) => {
    if (timestamp > observed.value) observed.value = timestamp
    record.enter(name, timestamp, headers)
    const bytes = keyBytes(key, headers)
    const time = until === 'windowEnd' ? endOf(key) : timestamp
    store.put(bytes, time, value, old ?? null, record.contextNow())
    while (store.firstTime <= observed.value - waitMs) emitFirst()
    if (!isFull()) return
    if (whenFull === 'stop') {
      throw new MillraceError('SUPPRESS_BUFFER_FULL', {
        node: name,
        what: `${name} holds ${String(store.entries)} updates of ${String(store.heldBytes)} bytes, more than it may.`,
      })
    }
    while (isFull() && store.entries > 0) emitFirst()
  }
}

/** Reads a suppressed table: what is visible downstream. Kafka Streams: `KTableSuppressValueGetter`. */
export function suppressedGetter(store: SuppressState, parent: TableGetter): TableGetter {
  let timestamp = -1
  const get = (keyBytes: Uint8Array, key: unknown): unknown => {
    if (store.holds(keyBytes)) {
      timestamp = -1
      return store.priorOf(keyBytes)
    }
    const value = parent.get(keyBytes, key)
    timestamp = parent.timestamp
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

function endOf(key: unknown): number {
  if (typeof key === 'object' && key !== null && 'end' in key && typeof key.end === 'number') return key.end
  throw new TypeError('a table whose windows close has windowed keys')
}
