import type { EngineConfig } from '../config/engine-config.ts'
import { buildCluster } from '../engine/cluster-client.ts'
import { withPrincipal } from '../engine/principal.ts'
import { systemClock } from '../engine/system-clock.ts'
import { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import { MillraceError } from '../model/errors.ts'
import { SILENT_LOGGER } from '../model/logger.ts'

/** A connection to the cluster of an application, as an administrator. */
export interface ClusterAccess {
  readonly cluster: Cluster
  readonly admin: Admin
}

/**
 * Connects with the application's own settings, does the work, and closes.
 *
 * @throws MillraceError `BROKER_UNREACHABLE`, `AUTHENTICATION_FAILED`, `BROKER_TOO_OLD`, and what the work throws
 */
export async function withCluster<T>(config: EngineConfig, work: (access: ClusterAccess) => Promise<T>): Promise<T> {
  const cluster = buildCluster(config, `${config.clientId}-admin`, {
    clock: systemClock,
    random: Math.random,
    logger: SILENT_LOGGER,
  })
  try {
    await cluster.connect(config.startupTimeoutMs)
    return await work({ cluster, admin: new Admin(cluster, { clock: systemClock }) })
  } catch (error) {
    throw error instanceof MillraceError ? withPrincipal(error, config.security) : error
  } finally {
    await cluster.close()
  }
}
