import { sleep, type Clock, type Random } from '../../model/clock.ts'
import { asMillraceError, MillraceError, reasonOf } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import { formatAddress, type Address } from '../connection/address.ts'
import type { Connection } from '../connection/connection.ts'
import { isLoopback, sendsReadablePassword, type SecurityOptions } from '../connection/security-options.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/messages.generated.ts'
import { prepareCompression } from '../records/compression.ts'
import { Backoff } from './backoff.ts'
import { bootstrap } from './bootstrap.ts'
import { BrokerPool, type ConnectionPurpose } from './broker-pool.ts'
import { CoordinatorCalls, type CoordinatorCallOptions } from './coordinator-calls.ts'
import { CoordinatorDirectory, type CoordinatorKind } from './coordinator-directory.ts'
import { Deadline } from './deadline.ts'
import { MetadataCache } from './metadata-cache.ts'
import { MetadataRefresher } from './metadata-refresher.ts'
import type { PartitionLeader, TopicInfo } from './topic-info.ts'

/** What a client of a cluster needs. */
export interface ClusterOptions {
  /** Kafka: `bootstrap.servers`. */
  readonly bootstrapServers: readonly Address[]
  /** Kafka: `client.id`. */
  readonly clientId: string
  readonly security: SecurityOptions
  readonly clock: Clock
  readonly logger: Logger
  /** Kafka: `request.timeout.ms`. */
  readonly requestTimeoutMs: number
  /** Kafka: `socket.connection.setup.timeout.ms`. @default 10000 */
  readonly connectTimeoutMs?: number
  /** Kafka: `retry.backoff.ms`. @default 100 */
  readonly retryBackoffMs?: number
  /** Kafka: `metadata.max.age.ms`. @default 300000 */
  readonly metadataMaxAgeMs?: number
  /** Spreads the attempts of many clients. @default no spread */
  readonly random?: Random
}

const CONNECT_TIMEOUT_MS = 10_000
/** A client over its quota is throttled with almost every answer. */
const THROTTLE_LOG_INTERVAL_MS = 60_000
const RETRY_BACKOFF_MS = 100
const RETRY_BACKOFF_MAX_MS = 1_000
const METADATA_MAX_AGE_MS = 300_000
/** A broker answers this at once; one that does not hangs, and another can be asked. */
const METADATA_ATTEMPT_TIMEOUT_MS = 5_000

/**
 * A Kafka cluster as one client sees it: its brokers and the connections to them, its topics, its coordinators.
 * Kafka: `NetworkClient`, `Metadata` and the coordinator look-ups of the clients in one.
 */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #random: Random
  readonly #cache: MetadataCache
  readonly #refresher: MetadataRefresher
  readonly #pool: BrokerPool
  readonly #coordinators: CoordinatorDirectory
  readonly #coordinatorCalls: CoordinatorCalls
  #transactionVersion = 0
  #throttledTotalMs = 0
  #throttleToldAtMs = Number.NEGATIVE_INFINITY
  #featuresEpoch = Number.NEGATIVE_INFINITY
  #closed = false

  constructor(options: ClusterOptions) {
    const { clock, clientId, security, requestTimeoutMs } = options
    const backoffMs = options.retryBackoffMs ?? RETRY_BACKOFF_MS
    const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
    this.#options = options
    this.#random = options.random ?? (() => 0.5)
    this.#cache = new MetadataCache(clock, options.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS)
    this.#refresher = new MetadataRefresher(names => this.#askMetadata(names), clock, backoffMs)
    this.#pool = new BrokerPool({
      connection: {
        clientId,
        security,
        requestTimeoutMs,
        connectTimeoutMs,
        clock,
        onThrottled: delayMs => this.#throttled(delayMs),
      },
      clock,
      random: this.#random,
      backoffMs,
      backoffMaxMs: RETRY_BACKOFF_MAX_MS,
      onOpened: connection => {
        this.#learnFeatures(connection)
      },
    })
    this.#coordinators = new CoordinatorDirectory(
      () => this.anyConnection('control'),
      ({ nodeId, host, port }) => {
        this.#cache.learnBroker(nodeId, { host, port })
      },
      clock,
      this.#random,
    )
    this.#coordinatorCalls = new CoordinatorCalls({
      coordinators: this.#coordinators,
      connect: (nodeId, purpose) => this.connection(nodeId, purpose),
      clock,
      random: this.#random,
      requestTimeoutMs,
    })
  }

  /**
   * Reaches the cluster: bootstrap servers in turn, with back-off until the deadline, then one broker by the address
   * that the cluster gives for it.
   *
   * @throws MillraceError `BROKER_UNREACHABLE`, `AUTHENTICATION_FAILED`, `BROKER_TOO_OLD`, `CONFIG_CONFLICT`,
   *   `CONFIG_INVALID`
   */
  async connect(timeoutMs: number): Promise<void> {
    const { bootstrapServers: servers, security, clock, logger } = this.#options
    if (sendsReadablePassword(security) && servers.every(({ host }) => isLoopback(host))) {
      logger.warn({}, 'SASL PLAIN without TLS sends the password readable; it is let pass on loopback only')
    }
    const backoff = this.#newBackoff()
    const attempt = async (): Promise<void> => {
      await this.#askMetadataOnce([], this.#options.requestTimeoutMs)
      await this.#checkAdvertised()
    }
    await bootstrap({ servers, clock, logger, backoff, timeoutMs, attempt })
    logger.debug({ brokers: this.#cache.brokers.size, transactionVersion: this.#transactionVersion }, 'Kafka reached')
  }

  /** The cluster's finalized `transaction.version`, 0 when absent; read again with every new connection. */
  get transactionVersion(): number {
    return this.#transactionVersion
  }

  /** How long brokers have asked the connections to pause in all, because a quota was used up. */
  get throttledTotalMs(): number {
    return this.#throttledTotalMs
  }

  /** The brokers that are alive, by node id. */
  get brokers(): ReadonlyMap<number, Address> {
    return this.#cache.brokers
  }

  /**
   * A topic, from the cache while that is young enough.
   *
   * @returns `undefined` when it does not exist; it is never created by asking
   * @throws MillraceError `NOT_AUTHORIZED`, and `CONNECTION_LOST` or `REQUEST_TIMED_OUT` when no broker answers
   */
  async topic(name: string): Promise<TopicInfo | undefined> {
    return (await this.topics([name])).get(name)
  }

  /**
   * Topics, as `topic` does; those that do not exist are absent.
   *
   * @throws MillraceError as `topic`
   */
  async topics(names: readonly string[]): Promise<ReadonlyMap<string, TopicInfo>> {
    const stale = names.filter(name => !this.#cache.fresh(name))
    if (stale.length > 0) await this.#refresher.refresh(stale)
    const found = new Map<string, TopicInfo>()
    for (const name of names) {
      this.#cache.checkDescribed(name)
      const topic = this.#cache.topic(name)
      if (topic !== undefined) found.set(name, topic)
    }
    return found
  }

  /** Who leads a partition, from the cache only; `undefined` when unknown or without a leader: call `refresh`. */
  leaderOf(topicPartition: TopicPartition): PartitionLeader | undefined {
    return this.#cache.leaderOf(topicPartition)
  }

  /**
   * Asks for metadata again, of the topics named or of all known ones. Calls are coalesced, and the same question is
   * not asked more often than the back-off allows.
   *
   * @throws MillraceError `CONNECTION_LOST` or `REQUEST_TIMED_OUT` when no broker answers within the request timeout
   */
  refresh(topics?: readonly string[]): Promise<void> {
    return this.#refresher.refresh(topics ?? this.#cache.names)
  }

  /**
   * The connection to a broker for a purpose, opened on demand and shared by all callers.
   *
   * @throws MillraceError as `Connection.open`; `CONNECTION_LOST` for a node that is not in the cluster
   */
  async connection(nodeId: number, purpose: ConnectionPurpose): Promise<Connection> {
    this.#checkOpen()
    // Batches are compressed and read synchronously: the codecs must be there before the first one.
    if (purpose === 'fetch' || purpose === 'produce') await prepareCompression()
    if (!this.#cache.brokers.has(nodeId)) await this.refresh([])
    const address = this.#cache.brokers.get(nodeId)
    if (address === undefined) {
      throw new MillraceError('CONNECTION_LOST', { what: `The cluster has no broker ${String(nodeId)} at the moment.` })
    }
    return this.#pool.get(slotId(nodeId, purpose), address)
  }

  /**
   * A connection to any broker: an open one, else the broker or bootstrap server whose last failure is the longest ago.
   *
   * @throws MillraceError as `Connection.open`, of the last broker tried
   */
  async anyConnection(purpose: ConnectionPurpose): Promise<Connection> {
    this.#checkOpen()
    const candidates = this.#candidates(purpose)
    let failure: MillraceError | undefined
    for (const { id, address } of candidates) {
      try {
        return await this.#pool.get(id, address)
      } catch (error) {
        failure = asMillraceError(error)
        if (failure.reaction === 'stop') throw failure
      }
    }
    throw failure ?? new MillraceError('CONFIG_INVALID', { what: 'bootstrap.servers is empty.' })
  }

  /**
   * Node id of a coordinator, from the cache or asked for until there is one.
   *
   * @param timeoutMs - @default the request timeout
   * @throws MillraceError `NOT_AUTHORIZED`; at the deadline the last failure
   */
  coordinator(kind: CoordinatorKind, id: string, timeoutMs = this.#options.requestTimeoutMs): Promise<number> {
    return this.#coordinators.find(kind, id, new Deadline(this.#options.clock, timeoutMs))
  }

  /** Forgets a coordinator, so that the next call asks again. */
  forgetCoordinator(kind: CoordinatorKind, id: string): void {
    this.#coordinators.forget(kind, id)
  }

  /**
   * One call on a coordinator: finds it, sends, and repeats from the start while the answer is "loading", "not
   * available" or "not coordinator" (14, 15, 16), or the connection is lost and that may be repeated, with back-off
   * from 1 to 100 ms until the deadline.
   *
   * @returns the answer; at the deadline also one that still holds such a code
   * @throws MillraceError `CONNECTION_LOST` or `REQUEST_TIMED_OUT` (the coordinator may have acted on the request),
   *   `NOT_AUTHORIZED`, `AUTHENTICATION_FAILED`, `PROTOCOL_VIOLATION`
   */
  coordinatorCall<A extends ApiName>(
    kind: CoordinatorKind,
    id: string,
    api: A,
    body: RequestBodies[A],
    options: CoordinatorCallOptions<A>,
  ): Promise<ResponseBodies[A]> {
    return this.#coordinatorCalls.call({ kind, id }, api, body, options)
  }

  /** Closes all connections; whatever waits is rejected. */
  close(): Promise<void> {
    this.#closed = true
    this.#pool.close()
    return Promise.resolve()
  }

  async #askMetadata(names: readonly string[]): Promise<void> {
    const deadline = new Deadline(this.#options.clock, this.#options.requestTimeoutMs)
    const backoff = this.#newBackoff()
    for (;;) {
      const failure = await this.#askMetadataOnce(names, deadline.remainingMs).then(() => undefined, asMillraceError)
      if (failure === undefined) return
      const delayMs = backoff.next()
      if (failure.reaction === 'stop' || deadline.remainingMs <= delayMs) throw failure
      await sleep(this.#options.clock, delayMs)
    }
  }

  async #askMetadataOnce(names: readonly string[], timeoutMs: number): Promise<void> {
    const deadline = new Deadline(this.#options.clock, timeoutMs)
    const connection = await deadline.bound('No broker could be reached', this.anyConnection('control'))
    const body = { topics: names.map(name => ({ name })), allowAutoTopicCreation: false }
    this.#cache.apply(
      await connection.send('Metadata', body, {
        timeoutMs: Math.max(1, Math.min(deadline.remainingMs, METADATA_ATTEMPT_TIMEOUT_MS)),
      }),
    )
  }

  /** Bootstrap servers may be reachable while the addresses that the cluster gives out are not. */
  async #checkAdvertised(): Promise<void> {
    let failure: MillraceError | undefined
    for (const [nodeId, address] of this.#cache.brokers) {
      try {
        await this.#pool.get(slotId(nodeId, 'control'), address)
        return
      } catch (error) {
        failure = asMillraceError(error)
        if (failure.reaction === 'stop') throw failure
        failure = new MillraceError('CONNECTION_LOST', {
          cause: error,
          what: `The bootstrap server answers, but broker ${String(nodeId)} is not reached by the address it advertises, ${formatAddress(address)}: ${reasonOf(error)}`,
          action:
            'Check advertised.listeners of the brokers, and that this machine can resolve and reach that address.',
        })
      }
    }
    throw failure ?? new MillraceError('CONNECTION_LOST', { what: 'The cluster names no broker yet.' })
  }

  #candidates(purpose: ConnectionPurpose): { id: string; address: Address }[] {
    const nodes = [...this.#cache.brokers].map(([nodeId, address]) => ({ id: slotId(nodeId, purpose), address }))
    const servers = this.#options.bootstrapServers.map(address => ({
      id: `${formatAddress(address)} ${purpose}`,
      address,
    }))
    // Open ones first, then whatever failed the longest ago: a broker that hangs costs a whole timeout to find out.
    const all = [...rotated(nodes, this.#random), ...servers]
    return all.toSorted((a, b) => this.#pool.failedAtMs(a.id) - this.#pool.failedAtMs(b.id))
  }

  #throttled(delayMs: number): void {
    const { clock, logger, clientId } = this.#options
    this.#throttledTotalMs += delayMs
    if (clock.nowMs() - this.#throttleToldAtMs < THROTTLE_LOG_INTERVAL_MS) return
    this.#throttleToldAtMs = clock.nowMs()
    logger.warn({ clientId, delayMs }, 'a quota is used up: the broker asks for pauses, and processing goes on slower')
  }

  #learnFeatures({ apiVersions }: Connection): void {
    // A broker that lags behind may still tell the older features.
    if (apiVersions.finalizedFeaturesEpoch < this.#featuresEpoch) return
    this.#featuresEpoch = apiVersions.finalizedFeaturesEpoch
    this.#transactionVersion = apiVersions.transactionVersion
  }

  #newBackoff(): Backoff {
    return new Backoff(this.#options.retryBackoffMs ?? RETRY_BACKOFF_MS, RETRY_BACKOFF_MAX_MS, this.#random)
  }

  #checkOpen(): void {
    if (this.#closed) throw new MillraceError('NOT_RUNNING', { what: 'The connections to Kafka are closed.' })
  }
}

function slotId(nodeId: number, purpose: ConnectionPurpose): string {
  return `${String(nodeId)} ${purpose}`
}

/** The same order from a random start, so that many clients do not all ask the first broker. */
function rotated<T>(list: readonly T[], random: Random): T[] {
  const start = Math.floor(random() * list.length)
  return [...list.slice(start), ...list.slice(0, start)]
}
