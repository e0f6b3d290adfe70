import { systemClock } from '../../src/engine/system-clock.ts'
import type { Cluster } from '../../src/kafka/cluster/cluster.ts'
import { Fetcher, type FetcherOptions } from '../../src/kafka/fetcher/fetcher.ts'
import { SILENT_LOGGER } from '../../src/model/logger.ts'

/** A fetcher of committed records by the system's clock, as a stream thread has it unless the options say otherwise. */
export function plainFetcher(
  cluster: Cluster,
  options: Pick<FetcherOptions, 'onWake'> & Partial<FetcherOptions>,
): Fetcher {
  return new Fetcher({
    cluster,
    clock: systemClock,
    logger: SILENT_LOGGER,
    isolation: 'read_committed',
    maxWaitMs: 500,
    minBytes: 1,
    maxBytes: 52_428_800,
    partitionMaxBytes: 1_048_576,
    ...options,
  })
}
