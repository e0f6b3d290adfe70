import type { Clock } from '../../model/clock.ts'
import { asMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { retryPauseMs } from './retry-pause.ts'
import { BrokerLink } from './broker-link.ts'
import type { PartitionLane } from './partition-lane.ts'
import { isFinal } from './producer-failure.ts'

/** Settings of `LeaderLinks`. */
export interface LeaderLinksOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  /** Asks to be tried again at a monotonic time. */
  readonly wakeAt: (atMs: number) => void
  /** A broker refuses us for good. */
  readonly onRefused: (error: MillraceError) => void
  /** A connection or a leader may be there that was not before. */
  readonly onChanged: () => void
}

/** Finds the leader of a partition and keeps one Produce connection to each broker, in the background. */
export class LeaderLinks {
  readonly #options: LeaderLinksOptions
  readonly #links = new Map<number, BrokerLink>()

  constructor(options: LeaderLinksOptions) {
    this.#options = options
  }

  /** Every broker that was written to. */
  get all(): IterableIterator<BrokerLink> {
    return this.#links.values()
  }

  /** The link to the leader, opened in the background when it is not usable; undefined while no leader is known. */
  linkOf(lane: PartitionLane, nowMs: number): BrokerLink | undefined {
    const leader = this.#options.cluster.leaderOf(lane)
    if (leader === undefined) {
      lane.leaderMisses += 1
      lane.retryAtMs = nowMs + retryPauseMs(lane.leaderMisses)
      this.#options.wakeAt(lane.retryAtMs)
      this.refresh(lane.topic)
      return undefined
    }
    lane.leaderMisses = 0
    let link = this.#links.get(leader.nodeId)
    if (link === undefined) {
      link = new BrokerLink(leader.nodeId)
      this.#links.set(leader.nodeId, link)
    }
    if (link.usable === undefined && !link.opening) {
      if (link.retryAtMs > nowMs) this.#options.wakeAt(link.retryAtMs)
      else void this.#open(link, lane.topic)
    }
    return link
  }

  /** Looks the leaders of a topic up anew, in the background. */
  refresh(topic: string): void {
    void this.#lookUp(topic)
  }

  async #open(link: BrokerLink, topic: string): Promise<void> {
    const { cluster, clock, onRefused, onChanged } = this.#options
    link.opening = true
    try {
      link.connection = await cluster.connection(link.nodeId, 'produce')
      link.failures = 0
    } catch (error) {
      link.failures += 1
      link.retryAtMs = clock.nowMs() + retryPauseMs(link.failures)
      if (isFinal(error)) onRefused(asMillraceError(error))
      else this.refresh(topic)
    } finally {
      link.opening = false
    }
    onChanged()
  }

  async #lookUp(topic: string): Promise<void> {
    const { cluster, logger, onRefused, onChanged } = this.#options
    try {
      await cluster.refresh([topic])
    } catch (error) {
      logger.debug({ topic, err: asMillraceError(error) }, 'no metadata of a written topic')
      if (isFinal(error)) onRefused(asMillraceError(error))
    }
    onChanged()
  }
}
