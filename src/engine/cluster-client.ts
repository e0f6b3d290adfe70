import type { Clock, Random } from '../model/clock.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import { Cluster } from '../kafka/cluster/cluster.ts'

/** The outside world a client of the cluster takes. */
export interface ClusterSurroundings {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** A client of the application's cluster with the application's own settings; nothing is connected yet. */
export function buildCluster(config: EngineConfig, clientId: string, surroundings: ClusterSurroundings): Cluster {
  const { clock, random, logger } = surroundings
  return new Cluster({
    bootstrapServers: config.bootstrapServers,
    clientId,
    security: config.security,
    clock,
    random,
    logger,
    requestTimeoutMs: config.requestTimeoutMs,
    connectTimeoutMs: config.connectTimeoutMs,
    retryBackoffMs: config.retryBackoffMs,
    metadataMaxAgeMs: config.metadataMaxAgeMs,
  })
}
