import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { type Changelog, type KeyValueState } from '../stores/key-value-state.ts'
import { PlainKeyValueView, TimestampedKeyValueView } from '../stores/key-value-view.ts'
import { MemoryKeyValueStore } from '../stores/memory-key-value-store.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { GlobalTablePlan, StorePlan, SubtopologyPlan } from '../topology/plan.ts'
import type { RecordCollector } from './record-collector.ts'

/** Stores of global tables, one per thread, by name. */
export type SharedGlobals = ReadonlyMap<string, KeyValueState>

/** The stores of one task. */
export class TaskStores {
  /** Those that belong to the task, in the plan's order. */
  readonly own: readonly KeyValueState[]
  readonly #byName = new Map<string, KeyValueState>()

  constructor(
    plan: SubtopologyPlan,
    partition: number,
    collector: RecordCollector,
    globals: SharedGlobals | undefined,
  ) {
    this.own = plan.stores.map(store => newStore(store, partition, collector))
    for (const store of this.own) this.#byName.set(store.name, store)
    for (const [name, store] of globals ?? []) this.#byName.set(name, store)
  }

  /** @throws MillraceError `NAME_UNKNOWN` */
  get(name: string): KeyValueState {
    const store = this.#byName.get(name)
    if (store === undefined)
      throw new MillraceError('NAME_UNKNOWN', { node: name, what: `The task has no store ${name}.` })
    return store
  }

  /** A store as user code sees it. */
  view(definition: StoreDefinition, nowMs: () => number): unknown {
    const options = { state: this.get(definition.name), key: definition.key, nowMs }
    return definition.kind === 'keyValue' ? new PlainKeyValueView(options) : new TimestampedKeyValueView(options)
  }
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

function newStore(
  { name, definition, changelogTopic, sourceTopicIsChangelog }: StorePlan,
  partition: number,
  collector: RecordCollector,
): KeyValueState {
  const changelog: Changelog | undefined =
    changelogTopic === undefined || sourceTopicIsChangelog
      ? undefined
      : {
          topic: changelogTopic,
          append: (key, value, timestamp) => {
            collector.send(changelogTopic, partition, key, value, timestamp, NO_HEADERS)
          },
        }
  return new MemoryKeyValueStore({
    name,
    value: definition.value,
    changelog,
    restoredFrom: changelogTopic,
    maxBytes: definition.options.maxBytes,
  })
}
