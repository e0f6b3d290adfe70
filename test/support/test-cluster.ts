import { systemClock } from '../../src/engine/system-clock.ts'
import { Admin } from '../../src/kafka/admin/admin.ts'
import { Cluster, type ClusterOptions } from '../../src/kafka/cluster/cluster.ts'
import { SILENT_LOGGER } from '../../src/model/logger.ts'

/** A connected cluster and an administrator on it. */
export interface TestCluster {
  readonly cluster: Cluster
  readonly admin: Admin
}

const TIMEOUT_MS = 30_000

/** Connects without TLS; close the cluster at the end. */
export async function connectCluster(
  bootstrapServers: string,
  options: Partial<ClusterOptions> = {},
): Promise<TestCluster> {
  const cluster = new Cluster({
    bootstrapServers: bootstrapServers.split(',').map(addressOf),
    clientId: 'test',
    security: { protocol: 'PLAINTEXT' },
    clock: systemClock,
    logger: SILENT_LOGGER,
    requestTimeoutMs: TIMEOUT_MS,
    ...options,
  })
  await cluster.connect(TIMEOUT_MS)
  return { cluster, admin: new Admin(cluster, { clock: systemClock }) }
}

/** Creates a topic and waits for its leaders. */
export async function createTopic(
  admin: Admin,
  name: string,
  options: {
    readonly partitions?: number
    readonly replicationFactor?: number
    readonly configs?: Readonly<Record<string, string>>
  } = {},
): Promise<void> {
  const { partitions = 1, replicationFactor = 1, configs = {} } = options
  await admin.createTopics([{ name, partitions, replicationFactor, configs }])
}

/** A `host:port` in its two parts. */
export function addressOf(server: string): { host: string; port: number } {
  const colon = server.lastIndexOf(':')
  return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) }
}
