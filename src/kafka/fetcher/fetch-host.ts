import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { FetchCluster } from './fetch-cluster.ts'
import type { FetchPartition } from './fetch-partition.ts'

/** What the parts of the fetcher need of it. */
export interface FetchHost {
  readonly cluster: FetchCluster
  readonly clock: Clock
  readonly logger: Logger
  /** Its leader is known and its position is right: fetch it there. */
  ready(partition: FetchPartition): void
  /** The cached leader is another one now. */
  moved(partition: FetchPartition): void
  /**
   * It cannot be fetched for now. `bounded` trouble that lasts for too long becomes its failure, other trouble is
   * waited out.
   */
  lost(partition: FetchPartition, error: MillraceError, bounded: boolean): void
  /** It cannot be fetched until somebody decides. */
  fail(partition: FetchPartition, error: MillraceError): void
  /** A block or a failure is there to be taken. */
  wake(): void
}
