export type { Duration, TimestampMs } from './model/duration.ts'
export { MillraceError } from './model/errors.ts'
export type { MillraceErrorDetails } from './model/errors.ts'
export type { Reaction } from './model/error-definition.ts'
export type { MillraceErrorCode } from './model/error-table.ts'
export type { RecordHeader, RecordHeaders } from './model/headers.ts'
export type { ConsumedRecordContext, RecordContext, RecordMetadata, StreamRecord } from './model/record.ts'
export type { DropReason, ErrorPolicies, ErrorPolicy, RecordFailure, RecordReaction } from './model/record-failure.ts'
export type { Windowed } from './model/windowed.ts'
export { json } from './serdes/json.ts'
export type { Jsonable, JsonValue, NotJson } from './serdes/json.ts'
export { nullable } from './serdes/nullable.ts'
export { bigint, boolean, double, integer, long } from './serdes/numbers.ts'
export type { AnySerde, Bytes, Deserializer, Serde, SerdeContext, Serializer, SerdeType } from './serdes/serde.ts'
export { bytes, string, uuid } from './serdes/text.ts'
export { sessionWindowed, timeWindowed } from './serdes/windowed.ts'
export {
  keyValueStore,
  sessionStore,
  timestampedKeyValueStore,
  versionedKeyValueStore,
  windowStore,
} from './stores/store-spec.ts'
export type {
  KeyValueStoreOptions,
  SessionStoreOptions,
  StoreEngineOptions,
  StoreSpec,
  StoreSpecs,
  StoresOf,
  VersionedStoreOptions,
  WindowStoreOptions,
} from './stores/store-spec.ts'
export type {
  Entry,
  KeyValueStore,
  ReadonlyKeyValueStore,
  ReadonlySessionStore,
  ReadonlyWindowStore,
  SessionStore,
  StateStore,
  ValueAndTimestamp,
  VersionedKeyValueStore,
  VersionedRecord,
  WindowStore,
} from './stores/store-types.ts'
export type {
  CogroupedKStream,
  SessionWindowedCogroupedKStream,
  TimeWindowedCogroupedKStream,
  WriteTheAggregateType,
} from './topology/cogroup-dsl.ts'
export type {
  Branches,
  BranchValue,
  ForeignKeyJoinOptions,
  GlobalKTable,
  GlobalTableSide,
  KeyWriter,
  Rewritten,
  StillMissing,
  StreamJoinSerdes,
  TableSide,
  TableStepOptions,
  TableTransformer,
  ValueWriter,
} from './topology/dsl-types.ts'
export type {
  KGroupedStream,
  KGroupedTable,
  KStream,
  KTable,
  SessionWindowedKStream,
  TimeWindowedKStream,
} from './topology/dsl.ts'
export type {
  Aggregator,
  AsyncStep,
  DedupeOptions,
  Held,
  Initializer,
  InvalidTimestamp,
  Joiner,
  KeySerdeOption,
  Mapper,
  Merger,
  MissingSerde,
  NameOptions,
  OffsetReset,
  OptionsArg,
  Partitioner,
  Predicate,
  Present,
  RepartitionOptions,
  RepartitionSerdes,
  SerdeFor,
  SinkOptions,
  SourceOptions,
  StoreHistory,
  StoreOptions,
  StreamJoinOptions,
  StreamSourceOptions,
  SuppressBuffer,
  SuppressUntilTimeLimit,
  SuppressUntilWindowCloses,
  Sync,
  TableJoinOptions,
  TableSourceOptions,
  TimestampExtractor,
  ToOptions,
  ValueSerdeOption,
  ValueStoreOptions,
  VersionedOption,
  WindowedStoreOptions,
  WindowedValueStoreOptions,
} from './topology/options.ts'
export { processor } from './topology/processor.ts'
export type {
  Cancellable,
  FixedKeyProcessorContext,
  FixedKeyProcessorSupplier,
  ForwardRecord,
  ForwardValue,
  OutputOf,
  ProcessingContext,
  Processor,
  ProcessorContext,
  ProcessorLike,
  ProcessorSupplier,
  PunctuationOptions,
  PunctuationType,
} from './topology/processor.ts'
export type { ProcessingGuarantee, StreamsProperties } from './topology/properties.ts'
export { streams } from './topology/streams.ts'
export type { StreamsBuilder } from './topology/streams-builder.ts'
export type { Topology } from './topology/topology.ts'
export type { NodeDescription, SubtopologyDescription, TopologyDescription } from './topology/topology-description.ts'
export type { KafkaProperties, MillraceConfig, StoresConfig } from './config/millrace-config.ts'
export { MillraceStreams } from './millrace-streams.ts'
export type { CloseOptions, MillraceStreamsOptions } from './millrace-streams.ts'
export type { CommitInfo, ErrorResponse } from './engine/streams-instance.ts'
export type { StreamsState } from './engine/streams-state.ts'
export type { RestoreProgress } from './engine/changelog-restorer.ts'
export type { StateReader, StateSerdes } from './engine/state-reader.ts'
export type { TaskInfo, TaskOffsets } from './engine/task-info.ts'
export type {
  HoppingWindows,
  SessionWindows,
  SlidingWindows,
  TimeWindows,
  TumblingWindows,
  UnlimitedWindows,
  WindowedByOptions,
} from './topology/windows.ts'
