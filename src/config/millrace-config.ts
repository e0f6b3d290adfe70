import type { ErrorPolicies } from '../model/record-failure.ts'
import type { StreamsProperties } from '../topology/properties.ts'
import type { Secret } from './secret.ts'

/** Properties of the clients under Kafka's own names; `consumer.`, `producer.`, `admin.` prefixes choose one. Kafka: `ConsumerConfig`, `ProducerConfig`, `AdminClientConfig`. */
export interface KafkaProperties {
  /** Brokers to start from, `host:port,host:port`. */
  'bootstrap.servers': string
  /** How to connect. @default 'PLAINTEXT' */
  'security.protocol'?: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'
  /** How to log in. */
  'sasl.mechanism'?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  /** Ours, instead of `sasl.jaas.config`. */
  'sasl.username'?: string
  /** Ours, instead of `sasl.jaas.config`; never printed. */
  'sasl.password'?: string | Secret
  /** Ours, instead of `ssl.truststore.location`: PEM text or path. */
  'ssl.ca'?: string
  /** PEM text or path of the client's certificate. */
  'ssl.cert'?: string
  /** PEM text or path of its key; never printed. */
  'ssl.key'?: string | Secret
  /** Fixed member id for static membership. @default made from the process id kept in `state.dir` */
  'group.instance.id'?: string
  /** How long a transaction may stay open before the broker aborts it. @default 10000 */
  'transaction.timeout.ms'?: number
  /** Silence after which the group gives a member up. @default 45000 */
  'session.timeout.ms'?: number
  /** Where a source without committed offset starts; a source's own `offsetReset` wins. @default 'earliest' */
  'auto.offset.reset'?: 'earliest' | 'latest' | 'none'
  /** Any other property of Kafka: supported, refused with a hint, or ignored with a warning; the reference lists all. */
  [property: `${'consumer' | 'producer' | 'admin' | 'topic'}.${string}`]: string | number | boolean
}

/** Where stores live. Kafka Streams: `dsl.store.suppliers.class`. */
export interface StoresConfig {
  /** Engine of stores that do not choose. @default 'memory' */
  default?: 'memory' | 'lmdb'
}

/** Address of the HTTP server for health and metrics. */
export interface HttpConfig {
  /** @default '127.0.0.1' */
  host?: string
  /** @default 8080 */
  port?: number
}

/** Which lines are logged, and how. */
export interface LoggingConfig {
  /** @default 'info' */
  level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** @default 'pretty' on a terminal, else 'json' */
  format?: 'json' | 'pretty'
}

/** The configuration of an application: the same tree as the YAML file without sources, steps and sinks. */
export interface MillraceConfig {
  /** Kafka Streams' properties. */
  streams: StreamsProperties
  /** The clients' properties. */
  kafka: KafkaProperties
  /** What a failing record does. @default stop, always */
  errors?: ErrorPolicies
  /** Where stores live. */
  stores?: StoresConfig
  /** HTTP server for health and metrics; only the service starts one by default. */
  http?: HttpConfig | false
  /** Logs. */
  logging?: LoggingConfig
}
