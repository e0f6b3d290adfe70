/** A Kafka that can be started here: the current one, and the last one before transactions version 2. */
export type KafkaVersion = '4.4.0' | '3.9.1'

/** How a broker's JVM is set up: `fast` starts in about two seconds, `throughput` is for measuring. */
export type JvmProfile = 'fast' | 'throughput'

/** What a local Kafka should be like. */
export interface LocalKafkaOptions {
  /** Number of brokers, each also a KRaft controller. @default 1 */
  readonly nodes?: 1 | 3
  /** Loopback port of the first broker for clients. @default a free one */
  readonly port?: number
  /** @default '4.4.0' */
  readonly version?: KafkaVersion
  /** Finalized `transaction.version`; 3.9.1 has only 0. @default 2, with 3.9.1 0 */
  readonly transactionVersion?: 0 | 2
  /** `sasl_ssl`: clients come in by TLS with SCRAM or PLAIN, the users of `LOCAL_USERS`. @default 'none' */
  readonly security?: 'none' | 'sasl_ssl'
  /** With `sasl_ssl`: Kafka's StandardAuthorizer, which refuses all that no ACL allows; `admin` may do everything. @default false */
  readonly acl?: boolean
  /** Short session timeouts and a quick end of timed-out transactions, so that tests of zombies take seconds. @default false */
  readonly test?: boolean
  /** @default 'fast' */
  readonly jvm?: JvmProfile
  /** Further broker properties; they win over those set here. */
  readonly properties?: Readonly<Record<string, string>>
  /** Told about work that takes longer: downloading, formatting. @default nothing */
  readonly onProgress?: (line: string) => void
}

/** A user of a `sasl_ssl` broker. */
export interface LocalUser {
  readonly username: string
  readonly password: string
}

/** Users of every `sasl_ssl` broker: for SCRAM-SHA-256, SCRAM-SHA-512 and PLAIN alike. They guard nothing but a loopback test broker. */
export const LOCAL_USERS = {
  /** May do everything. */
  admin: { username: 'admin', password: 'admin-secret' },
  /** May do what ACLs allow. */
  application: { username: 'application', password: 'application-secret' },
} as const satisfies Record<string, LocalUser>

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly nodes: 1 | 3
  readonly port: number | undefined
  readonly version: KafkaVersion
  readonly transactionVersion: 0 | 2
  readonly security: 'none' | 'sasl_ssl'
  readonly acl: boolean
  readonly test: boolean
  readonly jvm: JvmProfile
  readonly properties: Readonly<Record<string, string>>
  readonly onProgress: (line: string) => void
}

/** Fills in the defaults of `LocalKafkaOptions`. */
export function resolveOptions(options: LocalKafkaOptions): ResolvedOptions {
  const version = options.version ?? '4.4.0'
  return {
    nodes: options.nodes ?? 1,
    port: options.port,
    version,
    transactionVersion: options.transactionVersion ?? (version === '4.4.0' ? 2 : 0),
    security: options.security ?? 'none',
    acl: options.acl ?? false,
    test: options.test ?? false,
    jvm: options.jvm ?? 'fast',
    properties: options.properties ?? {},
    onProgress: options.onProgress ?? (() => undefined),
  }
}
