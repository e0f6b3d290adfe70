import type { Clock, Random } from '../model/clock.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import { Fetcher } from '../kafka/fetcher/fetcher.ts'
import { GroupMember, type AssignmentRound, type GroupAssignment } from '../kafka/group/group-member.ts'
import { GroupOffsets } from '../kafka/group/group-offsets.ts'
import { Producer } from '../kafka/producer/producer.ts'
import { ERROR_CODE } from '../kafka/protocol/error-codes.ts'
import { buildCluster } from './cluster-client.ts'

/** Who a thread is to Kafka; both ids are made of the same name, so that they live and die together. */
export interface ThreadIdentity {
  readonly processId: string
  /** `<application.id>-<given instance id or process id>-<thread>`. */
  readonly transactionalId: string
  /** `<given instance id or process id>-<thread>`. */
  readonly groupInstanceId: string
  readonly clientId: string
}

/** The clients of one stream thread. Threads share nothing. */
export interface ThreadClients {
  readonly cluster: Cluster
  readonly admin: Admin
  readonly producer: Producer
  readonly fetcher: Fetcher
  readonly member: GroupMember
  readonly offsets: GroupOffsets
}

/** What a thread's clients are made from. */
export interface ClientOptions {
  readonly config: EngineConfig
  readonly identity: ThreadIdentity
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly onWake: () => void
  /** Under at-most-once: records that a broker did not take are given up and counted. */
  readonly onUndelivered: (records: number) => void
  readonly assign: (round: AssignmentRound) => Promise<ReadonlyMap<string, GroupAssignment>>
}

/** Heartbeat answers of a group that still counts us in: all well, and a rebalance under way. */
const STILL_MEMBER: ReadonlySet<number> = new Set<number>([ERROR_CODE.NONE, ERROR_CODE.REBALANCE_IN_PROGRESS])

/** Builds the clients of a thread; nothing is connected yet. */
export function buildClients(options: ClientOptions): ThreadClients {
  const { config, identity, clock } = options
  const cluster = buildCluster(config, identity.clientId, options)
  const producer = buildProducer(cluster, options)
  const member = buildMember(cluster, options)
  producer.setAskGroup(async () => (STILL_MEMBER.has(await member.heartbeatNow()) ? 'ours' : 'replaced'))
  return {
    cluster,
    admin: new Admin(cluster, { clock, timeoutMs: config.requestTimeoutMs }),
    producer,
    fetcher: buildFetcher(cluster, options),
    member,
    offsets: new GroupOffsets(cluster, config.applicationId, clock),
  }
}

function buildProducer(cluster: Cluster, { config, identity, clock, logger, onUndelivered }: ClientOptions): Producer {
  return new Producer({
    cluster,
    clock,
    logger,
    transactionalId: config.guarantee === 'exactly_once_v2' ? identity.transactionalId : undefined,
    idempotent: config.guarantee !== 'at_most_once',
    acks: -1,
    transactionTimeoutMs: config.transactionTimeoutMs,
    ...config.producer,
    maxInFlightPerPartition: 5,
    requestTimeoutMs: config.requestTimeoutMs,
    onDropped: (topic, partition, records, cause) => {
      logger.warn({ topic, partition, records, err: cause }, 'records were not delivered and are given up')
      onUndelivered(records)
    },
  })
}

function buildFetcher(cluster: Cluster, { config, clock, logger, onWake }: ClientOptions): Fetcher {
  return new Fetcher({
    cluster,
    clock,
    logger,
    isolation: 'read_committed',
    maxWaitMs: config.consumer.fetchMaxWaitMs,
    minBytes: config.consumer.fetchMinBytes,
    maxBytes: config.consumer.fetchMaxBytes,
    partitionMaxBytes: config.consumer.maxPartitionFetchBytes,
    onWake,
  })
}

/** A heartbeat is a request of a hundred bytes: five of them in three seconds after a rebalance cost nothing. */
const FIRST_HEARTBEAT_MS = 100

function buildMember(
  cluster: Cluster,
  { config, identity, clock, random, logger, onWake, assign }: ClientOptions,
): GroupMember {
  return new GroupMember({
    cluster,
    clock,
    logger,
    random,
    groupId: config.applicationId,
    groupInstanceId: identity.groupInstanceId,
    sessionTimeoutMs: config.consumer.sessionTimeoutMs,
    // As the Java consumer: the rebalance waits as long as a member may take between two polls.
    rebalanceTimeoutMs: config.consumer.maxPollIntervalMs,
    heartbeatIntervalMs: config.consumer.heartbeatIntervalMs,
    firstHeartbeatMs: FIRST_HEARTBEAT_MS,
    maxPollIntervalMs: config.consumer.maxPollIntervalMs,
    protocolName: 'millrace-sticky',
    assign,
    onWake,
  })
}
