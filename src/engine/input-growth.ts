import type { Clock } from '../model/clock.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import type { ApplicationPlan } from '../topology/plan.ts'

/** What the watch needs. */
export interface InputGrowthOptions {
  readonly plan: ApplicationPlan
  /** Partition counts of all source topics, as old as metadata may be (`metadata.max.age.ms`). */
  readonly counts: () => Promise<ReadonlyMap<string, number>>
  readonly clock: Clock
  readonly logger: Logger
  /** Called when there is something to act on. */
  readonly onWake: () => void
}

/** How often the counts are compared; asking for them costs nothing until the metadata are old. */
const LOOK_MS = 1_000

/**
 * Notices partitions that an input is given under a running application: nobody would read them until the next start.
 * Where nothing depends on the count the group is asked to hand them out; where state or internal topics are placed by
 * it the thread stops, as the next start would. Kafka Streams: the leader rejoins when its metadata change.
 */
export class InputGrowth {
  readonly #options: InputGrowthOptions
  readonly #isPlaced: boolean
  /** The largest count of each topic that was ever seen: a broker that lags behind is no news. */
  readonly #known = new Map<string, number>()
  #grown: ReadonlyMap<string, number> | undefined
  #isLooking = false
  #nextMs = 0

  constructor(options: InputGrowthOptions) {
    this.#options = options
    this.#isPlaced = options.plan.subtopologies.some(
      ({ stores, repartitionTopics }) => stores.length > 0 || repartitionTopics.length > 0,
    )
  }

  /**
   * Compares, in the background, now and then.
   *
   * @returns whether the group has to hand out partitions that it does not know yet
   * @throws MillraceError `TOPIC_MISMATCH` where the count must not change
   */
  look(): boolean {
    const nowMs = this.#options.clock.nowMs()
    if (!this.#isLooking && nowMs >= this.#nextMs) {
      this.#nextMs = nowMs + LOOK_MS
      void this.#compare()
    }
    const grown = this.#grown
    if (grown === undefined) return false
    this.#grown = undefined
    const [[topic, count] = ['', 0]] = grown
    if (this.#isPlaced) {
      throw new MillraceError('TOPIC_MISMATCH', {
        topic,
        what: `The input topic has ${String(count)} partitions now; it had fewer when the application started.`,
        action:
          'State is placed by partition, so the count cannot change under it: recreate the inputs with the old count, or start over with `millrace reset`.',
      })
    }
    this.#options.logger.warn(
      { topic, partitions: count },
      'an input has more partitions now: the group hands them out',
    )
    return true
  }

  async #compare(): Promise<void> {
    this.#isLooking = true
    try {
      const counts = await this.#options.counts()
      const grown = [...counts].filter(([topic, count]) => count > (this.#known.get(topic) ?? count))
      for (const [topic, count] of counts) this.#known.set(topic, Math.max(count, this.#known.get(topic) ?? 0))
      if (grown.length === 0) return
      this.#grown = new Map(grown)
      this.#options.onWake()
    } catch (error) {
      // Brokers that cannot be asked, or a topic that is gone: the fetcher and the next look find out.
      this.#options.logger.debug({ err: asMillraceError(error) }, 'no partition counts of the inputs')
    } finally {
      this.#isLooking = false
    }
  }
}
