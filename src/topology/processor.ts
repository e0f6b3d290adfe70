import type { Duration, TimestampMs } from '../model/duration.ts'
import type { RecordHeaders } from '../model/headers.ts'
import type { RecordMetadata, StreamRecord } from '../model/record.ts'
import type { AnySerde, Serde } from '../serdes/serde.ts'
import type { StoresOf, StoreSpecs } from '../stores/store-spec.ts'
import type { NameOptions, Sync } from './options.ts'

/** The type given out by a serde option, or the inherited one when it was left out. */
export type OutputOf<S extends AnySerde | undefined, Inherited> = S extends AnySerde
  ? S extends { deserialize: (...args: never) => infer T }
    ? T
    : never
  : Inherited

/** A record to forward: without `timestamp` or `headers` it takes those of the record being processed (or the punctuation's time, and none). Kafka Streams: `Record`. */
export interface ForwardRecord<out K, out V> {
  /** The key. */
  readonly key: K
  /** The value. */
  readonly value: V
  /** Event time in ms. @default that of the record being processed */
  readonly timestamp?: TimestampMs
  /** Headers. @default those of the record being processed */
  readonly headers?: RecordHeaders
}
/** As `ForwardRecord` for a processor that keeps the key. Kafka Streams: `FixedKeyRecord`. */
export type ForwardValue<V> = Omit<ForwardRecord<never, V>, 'key'>

/** Which clock a punctuation follows. Kafka Streams: `PunctuationType.STREAM_TIME`, `WALL_CLOCK_TIME`. */
export type PunctuationType = 'streamTime' | 'wallClock'
/** When a punctuation happens. Kafka Streams: the arguments of `schedule`. */
export interface PunctuationOptions {
  /** Distance between two calls. */
  every: Duration
  /** Which clock. */
  by: PunctuationType
  /** First time, in ms; later ones follow at multiples of `every`. @default the first record's time (streamTime) or now + every (wallClock) */
  startAt?: TimestampMs
}
/** Ends a schedule. Kafka Streams: `Cancellable`. */
export interface Cancellable {
  /** Ends it; safe to call twice. */
  cancel(): void
}

/** What every processor may use. Destructuring is safe: no member needs `this`. Kafka Streams: `ProcessingContext`. */
export interface ProcessingContext<S extends StoreSpecs> {
  /** The stores named in the supplier. Kafka Streams: `getStateStore`. */
  readonly stores: StoresOf<S>
  /**
   * Calls back at event-time or wall-clock intervals; best called in `init`: what is set in `process` ends with an abort or a
   * restart. A failed record takes back the time of the next call, the schedules it set and those it cancelled. Kafka
   * Streams: `schedule`.
   */
  readonly schedule: <R>(options: PunctuationOptions, callback: (timestamp: TimestampMs) => Sync<R>) => Cancellable
  /** Asks for a commit soon after this record. Kafka Streams: `commit`. */
  readonly requestCommit: () => void
  /** Origin of the record being processed; `undefined` in a punctuation. Kafka Streams: `recordMetadata`. */
  readonly metadata: () => RecordMetadata | undefined
  /** Highest event time this task has seen, in ms. Kafka Streams: `currentStreamTimeMs`. */
  readonly streamTime: () => TimestampMs
  /** The wall clock, in ms (the test driver's in tests). Reading it makes results depend on it. Kafka Streams: `currentSystemTimeMs`. */
  readonly wallClock: () => TimestampMs
  /** The task, `<subtopology>_<partition>`. Kafka Streams: `taskId`. */
  readonly taskId: string
  /** The application id. Kafka Streams: `applicationId`. */
  readonly applicationId: string
}
/** The context of `process`. Kafka Streams: `ProcessorContext<KOut, VOut>`. */
export interface ProcessorContext<K, V, S extends StoreSpecs> extends ProcessingContext<S> {
  /** Passes a record to all children, or to the one of that name. Kafka Streams: `forward(record, childName)`. */
  readonly forward: (record: ForwardRecord<K, V>, child?: string) => void
}
/** The context of `processValues`. Kafka Streams: `FixedKeyProcessorContext`. */
export interface FixedKeyProcessorContext<V, S extends StoreSpecs> extends ProcessingContext<S> {
  /** Passes a value on under the record's key. Kafka Streams: `forward`. */
  readonly forward: (record: ForwardValue<V>, child?: string) => void
}

/** A processor with an end. Kafka Streams: `Processor`, `FixedKeyProcessor`. */
export interface Processor<in K, in V> {
  /** Handles a record; what it remembers belongs into a store. */
  readonly process: (record: StreamRecord<K, V>) => void
  /** Called when the task is closed. */
  readonly close?: () => void
}
/** A processor, or just its `process` function. */
export type ProcessorLike<K, V, R = unknown> = Processor<K, V> | ((record: StreamRecord<K, V>) => Sync<R>)

/** How a processor is made. Kafka Streams: `ProcessorSupplier<KIn, VIn, KOut, VOut>`. */
export interface ProcessorSupplier<
  K,
  V,
  S extends StoreSpecs = {},
  KS extends AnySerde | undefined = undefined,
  VS extends AnySerde | undefined = undefined,
> extends NameOptions {
  /** Stores it uses, by the name it uses for them. Kafka Streams: `ConnectedStoreProvider.stores()` */
  stores?: S
  /** Serde of the keys it forwards. @default that of the keys it gets, whose type then stays */
  key?: KS
  /** Serde of the values it forwards. @default that of the values it gets, whose type then stays */
  value?: VS
  /** Called when a task's stores are complete, and again after an abort; returns the processor. Kafka Streams: `ProcessorSupplier.get` and `Processor.init` */
  init: (context: ProcessorContext<OutputOf<KS, K>, OutputOf<VS, V>, S>) => ProcessorLike<K, V>
}
/** How a processor that keeps the key is made. Kafka Streams: `FixedKeyProcessorSupplier`. */
export interface FixedKeyProcessorSupplier<
  K,
  V,
  S extends StoreSpecs = {},
  VS extends AnySerde | undefined = undefined,
> extends NameOptions {
  /** Stores it uses, by the name it uses for them. Kafka Streams: `ConnectedStoreProvider.stores()` */
  stores?: S
  /** Serde of the values it forwards. @default that of the values it gets, whose type then stays */
  value?: VS
  /** Called when a task's stores are complete, and again after an abort; returns the processor. Kafka Streams: `FixedKeyProcessorSupplier.get` and `init` */
  init: (context: FixedKeyProcessorContext<OutputOf<VS, V>, S>) => ProcessorLike<K, V>
}

/**
 * A processor on its own, for a YAML `module:` step or for several streams. `input` gives the types it takes, and is checked
 * against the stream's serdes when the graph is built. Kafka Streams: a class implementing `ProcessorSupplier`.
 */
export function processor<
  K,
  V,
  S extends StoreSpecs = {},
  KS extends AnySerde | undefined = undefined,
  VS extends AnySerde | undefined = undefined,
>(
  supplier: { /** Serdes of what it takes. */ input: { key: Serde<K>; value: Serde<V> } } & ProcessorSupplier<
    K,
    V,
    S,
    KS,
    VS
  >,
): ProcessorSupplier<K, V, S, KS, VS> {
  return supplier
}
