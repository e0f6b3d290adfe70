import { systemClock } from '../../src/engine/system-clock.ts'
import { Admin } from '../../src/kafka/admin/admin.ts'
import { Cluster, type ClusterOptions } from '../../src/kafka/cluster/cluster.ts'
import type { LocalKafka } from '../../src/local-kafka/local-kafka.ts'
import { SILENT_LOGGER } from '../../src/model/logger.ts'

/** The addresses of a list such as `bootstrap.servers`. */
function addressesOf(bootstrapServers: string): { host: string; port: number }[] {
  return bootstrapServers.split(',').map(server => {
    const colon = server.lastIndexOf(':')
    return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) }
  })
}

/** Our own client of a broker; not connected yet. */
export function clusterOf(kafka: LocalKafka, overrides: Partial<ClusterOptions> = {}): Cluster {
  return new Cluster({
    bootstrapServers: addressesOf(kafka.bootstrapServers),
    clientId: 'test',
    security: { protocol: 'PLAINTEXT' },
    clock: systemClock,
    logger: SILENT_LOGGER,
    requestTimeoutMs: 30_000,
    random: Math.random,
    ...overrides,
  })
}

/** An administrator over the listener without authentication. */
export async function adminOf(kafka: LocalKafka): Promise<{ admin: Admin; cluster: Cluster }> {
  const cluster = clusterOf(kafka, { bootstrapServers: addressesOf(kafka.internalBootstrapServers) })
  await cluster.connect(30_000)
  return { admin: new Admin(cluster, { clock: systemClock }), cluster }
}
