/** The promise of a run. Kafka Streams: `processing.guarantee` (which has no `at_most_once`). */
export type ProcessingGuarantee = 'exactly_once_v2' | 'at_least_once' | 'at_most_once'

/** Properties under Kafka Streams' own names, with its meaning. Numbers are as in Kafka: `…ms` in ms, `…bytes` in bytes. Kafka Streams: `StreamsConfig`. */
export interface StreamsProperties {
  /** Name of the consumer group, prefix of transactional ids and internal topics. */
  'application.id': string
  /** The promise. @default 'exactly_once_v2' */
  'processing.guarantee'?: ProcessingGuarantee
  /** Time between commits. @default 100 under exactly-once, else 30000 */
  'commit.interval.ms'?: number
  /** Worker threads; an inline topology runs on one. @default 1 */
  'num.stream.threads'?: number
  /** Copies of each store on other instances; only 0 is supported yet. @default 0 */
  'num.standby.replicas'?: number
  /** Directory of local state and of the process id. @default './state' */
  'state.dir'?: string
  /** Bytes of the cache that holds back updates until commit, per instance. @default 0 (Kafka Streams: 10485760) */
  'statestore.cache.max.bytes'?: number
  /** Stores with or without record headers. @default 'default' */
  'dsl.store.format'?: 'default' | 'headers'
  /** How long a task with several inputs waits for one that has been read to its end; -1: not even for records known to be there. @default 0 */
  'max.task.idle.ms'?: number
  /**
   * `'none'`, `'all'`, or some with commas between: `reuse.ktable.source.topics` (a source topic is the changelog of its
   * table), `merge.repartition.topics`, `single.store.self.join`. @default 'none'
   */
  'topology.optimization'?: string
  /** Unnamed stores and repartition topics are an error, not a warning. @default false */
  'ensure.explicit.internal.resource.naming'?: boolean
  /** Replication of internal topics. @default -1, the broker's */
  'replication.factor'?: number
  /** Time between deletions in repartition topics. @default 30000 */
  'repartition.purge.interval.ms'?: number
  /** Grace added to the retention of windowed changelogs. @default 86400000 */
  'windowstore.changelog.additional.retention.ms'?: number
  /** Where this instance can be asked for state, `host:port`. */
  'application.server'?: string
  /** Ours: how long to wait for the cluster at start. @default 60000 */
  'startup.timeout.ms'?: number
  /** Ours: how long a clean stop may take. @default 30000 */
  'shutdown.timeout.ms'?: number
  /** Ours: how long an open transaction may hold up an input before the log names its producer. @default 30000 */
  'blocked.input.warn.ms'?: number
  /** Ours: every written record says where it comes from, and repartition topics are not purged; for diagnosis. @default false */
  'provenance.headers'?: boolean
  /** Ours: whether internal topics may be created. @default true */
  'topics.create'?: boolean
}
