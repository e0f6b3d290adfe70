import { readFileSync } from 'node:fs'
import { MillraceError } from '../model/errors.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import type { ProcessingGuarantee, StreamsProperties } from '../topology/properties.ts'
import type { MillraceConfig } from './millrace-config.ts'
import type { CheckedProperties } from './checked-properties.ts'
import { checkedProperties } from './config-object.ts'
import { ProblemList } from './problems.ts'
import { Secret, withConcealed } from './secret.ts'

/** How connections are protected, PEM texts read; secrets are readable by name but show in no log. */
export interface SecurityConfig {
  readonly protocol: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'
  readonly ssl?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly keyPassphrase?: string
    readonly serverName?: string
  }
  readonly sasl?: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
    readonly username: string
    readonly password: string
  }
}

/** Settings of the producer. Kafka: `ProducerConfig`. */
export interface ProducerConfig {
  readonly batchSizeBytes: number
  readonly lingerMs: number
  readonly compression: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly bufferMemoryBytes: number
  readonly deliveryTimeoutMs: number
  readonly maxBlockMs: number
}

/** Settings of the consumer. Kafka: `ConsumerConfig`. */
export interface ConsumerConfig {
  readonly fetchMaxWaitMs: number
  readonly fetchMinBytes: number
  readonly fetchMaxBytes: number
  readonly maxPartitionFetchBytes: number
  readonly sessionTimeoutMs: number
  readonly heartbeatIntervalMs: number
  readonly maxPollIntervalMs: number
  readonly offsetReset: 'earliest' | 'latest' | 'none'
}

/** The configuration as the engine takes it: checked, defaults filled in, units in the names. Frozen. */
export interface EngineConfig {
  readonly applicationId: string
  readonly guarantee: ProcessingGuarantee
  readonly commitIntervalMs: number
  readonly threads: number
  /** How long a task waits for an input that has been read to its end; −1 = for none, even with records on the broker. */
  readonly maxTaskIdleMs: number
  readonly stateDir: string
  readonly topicsCreate: boolean
  /** −1 = the broker's default. */
  readonly replicationFactor: number
  /** Of internal topics: `topic.` properties without the prefix. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Infinite while provenance is on: a purged record could not be followed. */
  readonly repartitionPurgeIntervalMs: number
  /** Whether written records say where they come from. */
  readonly provenanceHeaders: boolean
  readonly blockedInputWarnMs: number
  readonly startupTimeoutMs: number
  readonly shutdownTimeoutMs: number
  readonly bootstrapServers: readonly { readonly host: string; readonly port: number }[]
  readonly clientId: string
  readonly security: SecurityConfig
  readonly requestTimeoutMs: number
  readonly retryBackoffMs: number
  readonly metadataMaxAgeMs: number
  readonly connectTimeoutMs: number
  readonly transactionTimeoutMs: number
  /** As given; `undefined` = made from the process id, and the member leaves the group when it stops. */
  readonly groupInstanceId: string | undefined
  readonly producer: ProducerConfig
  readonly consumer: ConsumerConfig
  readonly errors: ErrorPolicies
  readonly storesDefault: 'memory' | 'lmdb'
  /** `false` = none; `undefined` = not said: the library starts none, the service one on its default address. */
  readonly http: { readonly host: string; readonly port: number } | false | undefined
  readonly logging: {
    readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
    readonly format: 'json' | 'pretty' | undefined
  }
  /** Kafka Streams' properties as given, for the topology, and where a source starts that does not say so itself. */
  readonly streamsProperties: StreamsProperties & { readonly 'auto.offset.reset': 'earliest' | 'latest' | 'none' }
}

/** Port of Kafka's own default listener. */
const KAFKA_PORT = 9_092
/** Where the service listens unless told otherwise: this machine alone. */
export const HTTP_DEFAULT = { host: '127.0.0.1', port: 8_080 } as const

/**
 * The engine's configuration of what a user wrote: from YAML, already checked, or from TypeScript.
 *
 * @throws MillraceError with every mistake (`CONFIG_INVALID`, `CONFIG_UNKNOWN_PROPERTY`), or `SECRET_UNREADABLE` for a PEM file
 */
export function engineConfigOf(config: MillraceConfig): EngineConfig {
  const problems = new ProblemList()
  const properties = checkedProperties(config, problems)
  checkOtherBlocks(config, problems)
  const servers = problems.hasMistakes ? [] : parseServers(properties.text('kafka', 'bootstrap.servers'), problems)
  problems.throwIfAny()
  const guarantee = properties.guarantee
  const consumer = consumerOf(properties)
  const { http } = config
  const provenanceHeaders = properties.boolean('streams', 'provenance.headers')
  return Object.freeze({
    applicationId: config.streams['application.id'],
    guarantee,
    commitIntervalMs: properties.commitIntervalMs,
    threads: properties.number('streams', 'num.stream.threads'),
    maxTaskIdleMs: properties.number('streams', 'max.task.idle.ms'),
    stateDir: properties.text('streams', 'state.dir'),
    topicsCreate: properties.boolean('streams', 'topics.create'),
    replicationFactor: properties.number('streams', 'replication.factor'),
    topicConfigs: topicConfigsOf(config),
    repartitionPurgeIntervalMs: provenanceHeaders
      ? Number.POSITIVE_INFINITY
      : properties.number('streams', 'repartition.purge.interval.ms'),
    provenanceHeaders,
    blockedInputWarnMs: properties.number('streams', 'blocked.input.warn.ms'),
    startupTimeoutMs: properties.number('streams', 'startup.timeout.ms'),
    shutdownTimeoutMs: properties.number('streams', 'shutdown.timeout.ms'),
    bootstrapServers: Object.freeze(servers),
    clientId: properties.optional('client.id') ?? config.streams['application.id'],
    security: securityOf(properties),
    requestTimeoutMs: properties.number('kafka', 'request.timeout.ms'),
    retryBackoffMs: properties.number('kafka', 'retry.backoff.ms'),
    metadataMaxAgeMs: properties.number('kafka', 'metadata.max.age.ms'),
    connectTimeoutMs: properties.number('kafka', 'socket.connection.setup.timeout.ms'),
    transactionTimeoutMs: properties.number('kafka', 'transaction.timeout.ms'),
    groupInstanceId: properties.optional('group.instance.id'),
    producer: producerOf(properties),
    consumer,
    errors: config.errors ?? {},
    storesDefault: config.stores?.default ?? 'memory',
    http: httpOf(http),
    logging: Object.freeze({ level: config.logging?.level ?? 'info', format: config.logging?.format }),
    streamsProperties: Object.freeze({ ...config.streams, 'auto.offset.reset': consumer.offsetReset }),
  })
}

/** Of the other blocks only what the compiler cannot know; YAML has been checked for it already. */
function checkOtherBlocks({ errors, stores }: MillraceConfig, problems: ProblemList): void {
  const policies = [errors?.deserialization, errors?.processing, errors?.production]
  if (policies.includes('deadLetter') && errors?.deadLetterTopic === undefined) {
    problems.add(undefined, '"errors" sends dead letters nowhere', 'add deadLetterTopic')
  }
  if (stores?.default === 'lmdb')
    problems.add(undefined, '"default" of "stores" is not supported yet: stores on disk are missing')
}

/** Address of the HTTP server, its defaults filled in. */
function httpOf(http: MillraceConfig['http']): EngineConfig['http'] {
  if (http === undefined || http === false) return http
  return Object.freeze({ host: http.host ?? HTTP_DEFAULT.host, port: http.port ?? HTTP_DEFAULT.port })
}

function producerOf(properties: CheckedProperties): ProducerConfig {
  return Object.freeze({
    batchSizeBytes: properties.number('kafka', 'batch.size'),
    lingerMs: properties.number('kafka', 'linger.ms'),
    compression: properties.choice('compression.type', ['none', 'gzip', 'snappy', 'lz4', 'zstd']) ?? 'none',
    bufferMemoryBytes: properties.number('kafka', 'buffer.memory'),
    deliveryTimeoutMs: properties.number('kafka', 'delivery.timeout.ms'),
    maxBlockMs: properties.number('kafka', 'max.block.ms'),
  })
}

function consumerOf(properties: CheckedProperties): ConsumerConfig {
  return Object.freeze({
    fetchMaxWaitMs: properties.number('kafka', 'fetch.max.wait.ms'),
    fetchMinBytes: properties.number('kafka', 'fetch.min.bytes'),
    fetchMaxBytes: properties.number('kafka', 'fetch.max.bytes'),
    maxPartitionFetchBytes: properties.number('kafka', 'max.partition.fetch.bytes'),
    sessionTimeoutMs: properties.number('kafka', 'session.timeout.ms'),
    heartbeatIntervalMs: properties.number('kafka', 'heartbeat.interval.ms'),
    maxPollIntervalMs: properties.number('kafka', 'max.poll.interval.ms'),
    offsetReset: properties.choice('auto.offset.reset', ['earliest', 'latest', 'none']) ?? 'earliest',
  })
}

function securityOf(properties: CheckedProperties): SecurityConfig {
  const protocol =
    properties.choice('security.protocol', ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']) ?? 'PLAINTEXT'
  const mechanism = properties.choice('sasl.mechanism', ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])
  const username = properties.optional('sasl.username')
  const password = properties.optional('sasl.password')
  const ssl = protocol === 'SSL' || protocol === 'SASL_SSL' ? tlsOf(properties) : undefined
  const sasl =
    protocol.startsWith('SASL') && mechanism !== undefined && username !== undefined && password !== undefined
      ? Object.freeze(withConcealed({ mechanism, username, password }, ['password']))
      : undefined
  return Object.freeze({ protocol, ...(ssl === undefined ? {} : { ssl }), ...(sasl === undefined ? {} : { sasl }) })
}

function tlsOf(properties: CheckedProperties): NonNullable<SecurityConfig['ssl']> {
  const ca = pem(properties, 'ssl.ca')
  const cert = pem(properties, 'ssl.cert')
  const key = pem(properties, 'ssl.key')
  const keyPassphrase = properties.optional('ssl.key.password')
  const serverName = properties.optional('ssl.server.name')
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    ...(serverName === undefined ? {} : { serverName }),
  }
  return Object.freeze(withConcealed(tls, ['key', 'keyPassphrase']))
}

/** PEM text as it is, or the text of the PEM file of that path. */
function pem(properties: CheckedProperties, name: string): string | undefined {
  const given = properties.optional(name)
  if (given === undefined || given.includes('-----BEGIN')) return given
  try {
    return readFileSync(given, 'utf8')
  } catch (cause) {
    // What was meant as a path may be the key itself, without its first line; the error of Node.js repeats it.
    if (name === 'ssl.key') {
      throw new MillraceError('SECRET_UNREADABLE', { what: `${name} is neither PEM text nor a file that can be read.` })
    }
    throw new MillraceError('SECRET_UNREADABLE', {
      cause,
      what: `${name} is neither PEM text nor a file that can be read: ${given}.`,
    })
  }
}

function topicConfigsOf(config: MillraceConfig): Readonly<Record<string, string>> {
  const given = [...Object.entries(config.streams), ...Object.entries(config.kafka)]
  return Object.freeze(
    Object.fromEntries(
      given
        .filter(([name]) => name.startsWith('topic.'))
        .map(([name, value]) => [
          name.slice('topic.'.length),
          value instanceof Secret ? value.reveal() : String(value),
        ]),
    ),
  )
}

function parseServers(
  text: string,
  problems: ProblemList,
): readonly { readonly host: string; readonly port: number }[] {
  const servers: { readonly host: string; readonly port: number }[] = []
  for (const part of text.split(',')) {
    const match = /^(?:[A-Z_]+:\/\/)?(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(part.trim())
    const host = match?.[1] ?? match?.[2]
    const port = Number(match?.[3] ?? KAFKA_PORT)
    if (host === undefined || port < 1 || port > 65_535) {
      problems.add(undefined, `"bootstrap.servers" holds ${JSON.stringify(part.trim())}, which is no host:port`)
    } else servers.push(Object.freeze({ host, port }))
  }
  return servers
}
