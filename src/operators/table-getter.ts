import type { KeyValueState } from '../stores/key-value-state.ts'
import type { VersionedState } from '../stores/versioned-state.ts'
import type { Site } from './stateless.ts'
import { holds, made, type Step } from './step.ts'

/** Reads the values of a table. Kafka Streams: `KTableValueGetter`. */
export interface TableGetter {
  /** The present value under a key; `null` when there is none. */
  get(keyBytes: Uint8Array, key: unknown): unknown
  /** The value that held at a time; the present one where no versions are kept. */
  getAsOf(keyBytes: Uint8Array, key: unknown, asOf: number): unknown
  /** Time of the value given last, in ms; −1 when there was none. A field, so that a read allocates nothing. */
  readonly timestamp: number
}

/** Reads a table from its store. Kafka Streams: `KTableMaterializedValueGetterSupplier`. */
export function storeGetter(store: KeyValueState): TableGetter {
  const get = (keyBytes: Uint8Array): unknown => store.get(keyBytes) ?? null
  return {
    get,
    getAsOf: get,
    get timestamp() {
      return store.lastTimestamp
    },
  }
}

/** Reads a table that keeps versions. */
export function versionedGetter(store: VersionedState): TableGetter {
  return {
    get: keyBytes => store.get(keyBytes) ?? null,
    getAsOf: (keyBytes, _key, asOf) => store.getAsOf(keyBytes, asOf) ?? null,
    get timestamp() {
      return store.lastTimestamp
    },
  }
}

/** Reads a filtered table that is not kept. */
export function filterGetter({ record }: Site, parent: TableGetter, predicate: Step, keep: boolean): TableGetter {
  return derived(parent, (value, key) =>
    value !== null && holds(predicate(value, key, record.view)) === keep ? value : null,
  )
}

/** Reads a mapped table that is not kept. */
export function mapValuesGetter({ record }: Site, parent: TableGetter, mapper: Step): TableGetter {
  return derived(parent, (value, key) => (value === null ? null : made(mapper(value, key, record.view))))
}

/** Reads a transformed table that is not kept: the transformer sees deletions too. */
export function transformedGetter({ record }: Site, parent: TableGetter, transformer: Step): TableGetter {
  return derived(parent, (value, key) => made(transformer(value, key, record.view)))
}

function derived(parent: TableGetter, change: (value: unknown, key: unknown) => unknown): TableGetter {
  return {
    get: (keyBytes, key) => change(parent.get(keyBytes, key), key),
    getAsOf: (keyBytes, key, asOf) => change(parent.getAsOf(keyBytes, key, asOf), key),
    get timestamp() {
      return parent.timestamp
    },
  }
}
