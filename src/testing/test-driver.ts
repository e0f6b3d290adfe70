import { loadApplication } from '../config/load-application.ts'
import type { Duration, TimestampMs } from '../model/duration.ts'
import { MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { DropReason, ErrorPolicies } from '../model/record-failure.ts'
import type { AnySerde, Serde, SerdeType } from '../serdes/serde.ts'
import { PlainKeyValueView, TimestampedKeyValueView } from '../stores/key-value-view.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import { SessionStoreView } from '../stores/session-store-view.ts'
import type {
  KeyValueStore,
  SessionStore,
  ValueAndTimestamp,
  VersionedKeyValueStore,
  WindowStore,
} from '../stores/store-types.ts'
import { VersionedStoreView } from '../stores/versioned-store-view.ts'
import { WindowStoreView } from '../stores/window-store-view.ts'
import { planApplication } from '../topology/plan-application.ts'
import type { StreamsProperties } from '../topology/properties.ts'
import type { Topology } from '../topology/topology.ts'
import { TestRun } from './test-run.ts'
import {
  durationMs,
  InputTopic,
  OutputTopic,
  type OutputReader,
  type TestInput,
  type TestOutput,
  type TestSerdes,
} from './test-topics.ts'

/** Options of the test driver. */
export interface TestDriverOptions {
  /** Properties of the run. @default application.id 'app', no cache */
  streams?: Partial<StreamsProperties>
  /** Error policies. @default stop, thrown by `pipe` */
  errors?: ErrorPolicies
  /** Wall clock at start, in ms. @default 0 */
  wallClock?: TimestampMs
  /** Commit after each record (as TopologyTestDriver does), or only at `commit()`. @default 'everyRecord' */
  commit?: 'everyRecord' | 'explicit'
}

/**
 * Runs a topology without a broker: one partition per topic, synchronous, real serdes, real changelogs.
 * Kafka Streams: `TopologyTestDriver`.
 */
export class TestDriver implements Disposable {
  readonly #run: TestRun
  /** How far each topic was read, in sent records. */
  readonly #read = new Map<string, number>()

  constructor(topology: Topology, options: TestDriverOptions = {}) {
    const plan = planApplication(topology, {
      ...options.streams,
      'application.id': options.streams?.['application.id'] ?? 'app',
    })
    this.#run = new TestRun({
      plan,
      errors: options.errors ?? {},
      wallClockMs: options.wallClock ?? 0,
      commitsEveryRecord: options.commit !== 'explicit',
    })
  }

  /** Runs a YAML application; merges the files left to right. @throws MillraceError with every mistake in them. */
  static async fromYaml(files: string | readonly string[], options: TestDriverOptions = {}): Promise<TestDriver> {
    const { topology, config } = await loadApplication(typeof files === 'string' ? [files] : files)
    return new TestDriver(topology, {
      ...options,
      streams: { ...config.streams, ...options.streams },
      errors: options.errors ?? config.errors ?? {},
    })
  }

  /** A topic to write to. Kafka Streams: `createInputTopic`. */
  input<KS extends AnySerde, VS extends AnySerde>(
    topic: string,
    serdes: TestSerdes<KS, VS>,
  ): TestInput<SerdeType<KS>, SerdeType<VS>> {
    const input = new InputTopic(topic, serdes, (to, record) => {
      this.#run.pipe(to, record)
    })
    return typedInput(input)
  }

  /** A topic to read: an output, a repartition, changelog, late or dead-letter topic. Kafka Streams: `createOutputTopic`. */
  output<KS extends AnySerde, VS extends AnySerde>(
    topic: string,
    serdes: TestSerdes<KS, VS>,
  ): TestOutput<SerdeType<KS>, SerdeType<VS>> {
    return typedOutput(new OutputTopic(topic, serdes, this.#readerOf(topic)))
  }

  /** Moves the wall clock and runs wall-clock punctuations that become due. Kafka Streams: `advanceWallClockTime`. */
  advanceWallClock(by: Duration): void {
    this.#run.advanceWallClock(durationMs(by))
  }

  /** Commits the open transaction (and flushes caches). Kafka Streams: none. */
  commit(): void {
    this.#run.commit()
  }

  /** Aborts the open transaction: outputs vanish, stores roll back, its input is processed again. Kafka Streams: none. */
  abort(): void {
    this.#unread()
    this.#run.abort()
  }

  /** Dies without committing and starts again: stores are restored from changelogs, the input after the last commit is processed again. Kafka Streams: none. */
  restart(): void {
    this.#unread()
    this.#run.restart()
  }

  /** A key-value store. Kafka Streams: `getKeyValueStore`. */
  keyValueStore<K, V>(name: string, serdes: { key: Serde<K>; value: Serde<V> }): KeyValueStore<K, V> {
    return typedStore(new PlainKeyValueView({ state: this.#keyValue(name), key: serdes.key, nowMs: () => 0 }))
  }

  /** A key-value store with timestamps; a DSL table's or count's. Kafka Streams: `getTimestampedKeyValueStore`. */
  timestampedKeyValueStore<K, V>(
    name: string,
    serdes: { key: Serde<K>; value: Serde<V> },
  ): KeyValueStore<K, ValueAndTimestamp<V>> {
    return typedStore(new TimestampedKeyValueView({ state: this.#keyValue(name), key: serdes.key, nowMs: () => 0 }))
  }

  /** A window store. Kafka Streams: `getWindowStore`. */
  windowStore<K, V>(name: string, serdes: { key: Serde<K>; value: Serde<V> }): WindowStore<K, V> {
    const state = this.#run.store(name)
    if (state.kind !== 'window') throw wrongKind(state, 'window')
    const windowSizeMs = this.#run.windowSizeMs(name)
    return typedWindowStore(new WindowStoreView({ state, key: serdes.key, windowSizeMs, nowMs: () => 0 }))
  }

  /** A session store. Kafka Streams: `getSessionStore`. */
  sessionStore<K, V>(name: string, serdes: { key: Serde<K>; value: Serde<V> }): SessionStore<K, V> {
    const state = this.#run.store(name)
    if (state.kind !== 'session') throw wrongKind(state, 'session')
    return typedSessionStore(new SessionStoreView({ state, key: serdes.key, nowMs: () => 0 }))
  }

  /** A versioned store. Kafka Streams: `getVersionedKeyValueStore`. */
  versionedKeyValueStore<K, V>(name: string, serdes: { key: Serde<K>; value: Serde<V> }): VersionedKeyValueStore<K, V> {
    const state = this.#run.store(name)
    if (state.kind !== 'versioned') throw wrongKind(state, 'versioned')
    return typedVersionedStore(new VersionedStoreView({ state, key: serdes.key }))
  }

  /** Names of all topics written so far. Kafka Streams: `producedTopicNames`. */
  get producedTopics(): readonly string[] {
    return [...new Set(this.#run.collector.sent.map(record => record.topic))]
  }

  /** Records dropped so far, by reason; those that an abort or a restart processes again count again. Kafka Streams: the metric `dropped-records-total`. */
  get dropped(): ReadonlyMap<DropReason, number> {
    return this.#run.dropped
  }

  /** The error that stopped the run, if one did. */
  get failure(): MillraceErrorCode | undefined {
    return this.#run.failure?.code
  }

  /** Ends it. Kafka Streams: `close`. */
  close(): void {
    this.#run.close()
  }

  /** As `close()`. */
  [Symbol.dispose](): void {
    this.close()
  }

  #keyValue(name: string): KeyValueState {
    const state = this.#run.store(name)
    if (state.kind !== 'keyValue') throw wrongKind(state, 'key-value')
    return state
  }

  #readerOf(topic: string): OutputReader {
    const { sent } = this.#run.collector
    const find = (): number => {
      for (let at = this.#read.get(topic) ?? 0; at < sent.length; at++) if (sent[at]?.topic === topic) return at
      return -1
    }
    return {
      next: () => {
        const at = find()
        if (at === -1) return undefined
        this.#read.set(topic, at + 1)
        return sent[at]
      },
      get isEmpty() {
        return find() === -1
      },
    }
  }

  /** What vanishes has not been read. */
  #unread(): void {
    for (const [topic, at] of this.#read) this.#read.set(topic, Math.min(at, this.#run.committedSent))
  }
}

// The serdes given decide the types; that they are the topology's own is the test's responsibility, as in the JVM.
function typedInput<K, V>(input: InputTopic): TestInput<K, V>
function typedInput(input: unknown): unknown {
  return input
}

function typedOutput<K, V>(output: OutputTopic): TestOutput<K, V>
function typedOutput(output: unknown): unknown {
  return output
}

function typedStore<K, V>(store: PlainKeyValueView | TimestampedKeyValueView): KeyValueStore<K, V>
function typedStore(store: unknown): unknown {
  return store
}

function typedWindowStore<K, V>(store: WindowStoreView): WindowStore<K, V>
function typedWindowStore(store: unknown): unknown {
  return store
}

function typedSessionStore<K, V>(store: SessionStoreView): SessionStore<K, V>
function typedSessionStore(store: unknown): unknown {
  return store
}

function typedVersionedStore<K, V>(store: VersionedStoreView): VersionedKeyValueStore<K, V>
function typedVersionedStore(store: unknown): unknown {
  return store
}

function wrongKind({ name, kind }: AnyState, wanted: string): MillraceError {
  return new MillraceError('USAGE', {
    node: name,
    what: `${name} is a ${kind} store, and a ${wanted} store is asked for.`,
  })
}
