import type { Clock } from '../../model/clock.ts'
import { SILENT_LOGGER } from '../../model/logger.ts'
import { Admin } from '../../kafka/admin/admin.ts'
import { Cluster } from '../../kafka/cluster/cluster.ts'
import { parseAddresses } from './addresses.ts'

/** The demo's own access to Kafka, apart from the application's. */
export interface DemoCluster {
  readonly cluster: Cluster
  readonly admin: Admin
  readonly clock: Clock
}

const REQUEST_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_MS = 30_000

/** Connects. @throws MillraceError `BROKER_UNREACHABLE` and its like */
export async function openDemoCluster(bootstrapServers: string, clock: Clock): Promise<DemoCluster> {
  const cluster = new Cluster({
    bootstrapServers: parseAddresses(bootstrapServers),
    clientId: 'millrace-demo',
    security: { protocol: 'PLAINTEXT' },
    clock,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    logger: SILENT_LOGGER,
  })
  await cluster.connect(CONNECT_TIMEOUT_MS)
  return { cluster, admin: new Admin(cluster, { clock }), clock }
}
