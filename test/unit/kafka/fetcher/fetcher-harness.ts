import { Fetcher, type FetcherOptions, type FetchedBlock } from '../../../../src/kafka/fetcher/fetcher.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import type { TopicPartition } from '../../../../src/model/topic-partition.ts'
import { ManualClock, settle } from '../../../support/manual-clock.ts'
import { type AnswerPart, type Asked, fetchAnswer, ScriptedCluster } from './scripted-cluster.ts'

/** A fetcher in simulated time over a cluster that a test plays. */
export class FetcherHarness {
  readonly clock = new ManualClock()
  readonly cluster = new ScriptedCluster()
  readonly fetcher: Fetcher
  wakes = 0

  constructor(options: Partial<FetcherOptions> = {}) {
    this.fetcher = new Fetcher({
      cluster: this.cluster,
      clock: this.clock,
      logger: SILENT_LOGGER,
      isolation: 'read_committed',
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 1_000_000,
      partitionMaxBytes: 1_000,
      onWake: () => {
        this.wakes += 1
      },
      ...options,
    })
  }

  /** Adds partitions at offset 0, or where said, and lets the first fetch go out. */
  async reading(partitions: readonly TopicPartition[], offset = 0, leaderEpoch = -1): Promise<void> {
    for (const topicPartition of partitions) this.fetcher.add(topicPartition, { offset, leaderEpoch })
    await settle()
  }

  /** Answers the only open fetch. */
  async answer(...parts: AnswerPart[]): Promise<void> {
    await this.answerTo(this.cluster.poll, ...parts)
  }

  async answerTo(poll: Asked<'Fetch'>, ...parts: AnswerPart[]): Promise<void> {
    await poll.respond(fetchAnswer(poll, parts))
  }
}

/** What a fetch asks for: `topic-partition@offset`, in its order. */
export function wanted(poll: Asked<'Fetch'>): string[] {
  return poll.body.topics.flatMap(({ topic = '', partitions }) =>
    partitions.map(({ partition, fetchOffset }) => `${topic}-${String(partition)}@${String(fetchOffset)}`),
  )
}

/** The offsets of a block's records. */
export function offsetsOf(block: FetchedBlock | undefined): number[] {
  const offsets: number[] = []
  while (block?.cursor.next() === true) offsets.push(block.cursor.offset)
  return offsets
}
