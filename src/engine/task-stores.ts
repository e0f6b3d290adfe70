import { MillraceError } from '../model/errors.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import type { AnyState } from '../stores/any-state.ts'
import { headersLogged, type Changelog } from '../stores/changelog.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import { PlainKeyValueView, TimestampedKeyValueView } from '../stores/key-value-view.ts'
import { MemoryKeyValueStore } from '../stores/memory-key-value-store.ts'
import { MemorySessionStore } from '../stores/memory-session-store.ts'
import { MemorySuppressStore } from '../stores/memory-suppress-store.ts'
import { MemoryWindowStore } from '../stores/memory-window-store.ts'
import type { SessionState } from '../stores/session-state.ts'
import { SessionStoreView } from '../stores/session-store-view.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { SuppressState } from '../stores/suppress-state.ts'
import { WriteCache } from '../stores/write-cache.ts'
import { WindowStoreView } from '../stores/window-store-view.ts'
import { MemoryVersionedStore } from '../stores/memory-versioned-store.ts'
import type { VersionedState } from '../stores/versioned-state.ts'
import { VersionedStoreView } from '../stores/versioned-store-view.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { GlobalTablePlan, StorePlan, SubtopologyPlan } from '../topology/plan.ts'
import type { RecordCollector } from './record-collector.ts'

/** Stores of global tables, one per thread, by name. */
export type SharedGlobals = ReadonlyMap<string, KeyValueState>

/** What stores are told of the record their task works on. */
export type RecordOfStores = Pick<CurrentRecord, 'contextNow' | 'keyHashes' | 'view'>

/** The stores of one task. */
export class TaskStores {
  /** Those that belong to the task, in the plan's order. */
  readonly own: readonly AnyState[]
  readonly #byName = new Map<string, AnyState>()

  constructor(
    plan: SubtopologyPlan,
    partition: number,
    collector: RecordCollector,
    globals: SharedGlobals | undefined,
    record: RecordOfStores,
  ) {
    this.own = plan.stores.map(store => newStore(store, partition, collector, record))
    for (const store of this.own) this.#byName.set(store.name, store)
    for (const [name, store] of globals ?? []) this.#byName.set(name, store)
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  keyValue(name: string): KeyValueState {
    const store = this.#get(name)
    return store.kind === 'keyValue' ? store : wrongKind(store, 'keyValue')
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  window(name: string): WindowState {
    const store = this.#get(name)
    return store.kind === 'window' ? store : wrongKind(store, 'window')
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  session(name: string): SessionState {
    const store = this.#get(name)
    return store.kind === 'session' ? store : wrongKind(store, 'session')
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  suppress(name: string): SuppressState {
    const store = this.#get(name)
    return store.kind === 'suppress' ? store : wrongKind(store, 'suppress')
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  versioned(name: string): VersionedState {
    const store = this.#get(name)
    return store.kind === 'versioned' ? store : wrongKind(store, 'versioned')
  }

  /** A store as user code sees it. */
  view(definition: StoreDefinition, nowMs: () => number): unknown {
    const { name, kind, key } = definition
    switch (kind) {
      case 'keyValue':
        return new PlainKeyValueView({ state: this.keyValue(name), key, nowMs })
      case 'timestampedKeyValue':
        return new TimestampedKeyValueView({ state: this.keyValue(name), key, nowMs })
      case 'window':
      case 'timestampedWindow':
        return new WindowStoreView({
          state: this.window(name),
          key,
          nowMs,
          windowSizeMs: definition.windowSizeMs ?? 0,
          isTimestamped: kind === 'timestampedWindow',
        })
      case 'session':
        return new SessionStoreView({ state: this.session(name), key, nowMs })
      case 'versioned':
        return new VersionedStoreView({ state: this.versioned(name), key })
      case 'suppress':
        throw new MillraceError('TABLE_NOT_MATERIALIZED', {
          node: name,
          what: `${name} is a buffer, not a store of values.`,
        })
    }
  }

  #get(name: string): AnyState {
    const store = this.#byName.get(name)
    if (store === undefined)
      throw new MillraceError('NAME_UNKNOWN', { node: name, what: `The task has no store ${name}.` })
    return store
  }
}

function wrongKind({ name, kind }: AnyState, wanted: AnyState['kind']): never {
  throw new MillraceError('NAME_UNKNOWN', {
    node: name,
    what: `The store ${name} is of the kind ${kind}, and ${wanted} is asked for.`,
  })
}

/** The store of a global table: filled from its topic, never written by tasks. */
export function newGlobalStore({ store }: GlobalTablePlan): KeyValueState {
  return new MemoryKeyValueStore({
    name: store.name,
    value: store.value,
    changelog: undefined,
    maxBytes: store.options.maxBytes,
  })
}

function newStore(plan: StorePlan, partition: number, collector: RecordCollector, record: RecordOfStores): AnyState {
  const { name, definition, changelogTopic, cacheBytes, loggedHeaders } = plan
  const changelog = changelogOf(plan, partition, collector, record)
  const cache =
    cacheBytes === 0
      ? undefined
      : new WriteCache({
          changelog,
          loggedHeaders,
          maxBytes: cacheBytes,
          context: () => record.contextNow(),
          value: definition.value,
          topic: changelogTopic ?? name,
        })
  const { value, retentionMs = 0 } = definition
  const { keyHashes } = record
  const { maxBytes } = definition.options
  switch (definition.kind) {
    case 'keyValue':
    case 'timestampedKeyValue':
      return new MemoryKeyValueStore({
        name,
        value,
        changelog,
        restoredFrom: changelogTopic,
        maxBytes,
        cache,
        keyHashes,
      })
    case 'window':
    case 'timestampedWindow':
      return new MemoryWindowStore({
        name,
        value,
        changelog,
        maxBytes,
        retentionMs,
        cache,
        keyHashes,
        retainsDuplicates: definition.retainsDuplicates,
        isTimeOrdered: definition.isTimeOrdered,
      })
    case 'session':
      return new MemorySessionStore({
        name,
        value,
        changelog,
        maxBytes,
        retentionMs,
        cache,
        keyHashes,
      })
    case 'versioned':
      return new MemoryVersionedStore({
        name,
        value,
        changelog,
        restoredFrom: changelogTopic,
        maxBytes,
        retentionMs,
      })
    case 'suppress':
      return new MemorySuppressStore({ name, value, changelog })
  }
}

function changelogOf(
  { changelogTopic, sourceTopicIsChangelog, loggedHeaders }: StorePlan,
  partition: number,
  collector: RecordCollector,
  { view }: RecordOfStores,
): Changelog | undefined {
  if (changelogTopic === undefined || sourceTopicIsChangelog) return undefined
  const output = collector.output(changelogTopic)
  return {
    topic: changelogTopic,
    append: (key, value, timestamp, headers = headersLogged(loggedHeaders, value, view.headers)) => {
      output.send(partition, key, value, timestamp, headers)
    },
  }
}
