import type { MillraceError } from '../../model/errors.ts'
import { formatTopicPartition } from '../../model/topic-partition.ts'
import type { RequestBodies, ResponseBodies } from '../protocol/api.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { handleCode, handleThrown, outOfRange } from './fetch-errors.ts'
import type { FetchHost } from './fetch-host.ts'
import type { FetchPartition } from './fetch-partition.ts'
import { groupBy } from './group-by.ts'

/** First version whose requests need no cluster right, only a topic one. Kafka: `OffsetsForLeaderEpochUtils`. */
const USABLE_VERSION = 3
const CONSUMER_REPLICA_ID = -1

type EndOffsets = ResponseBodies['OffsetForLeaderEpoch']

interface Question {
  readonly partition: FetchPartition
  readonly generation: number
}

/**
 * Asks each new leader where the epoch of our last record ended (KIP-320): an end below our position means that
 * records we have read were truncated away by an unclean election, and that others now stand at their offsets.
 * All partitions are `validating`; afterwards each is ready, lost or failed, or was sought meanwhile.
 */
export async function validatePositions(host: FetchHost, partitions: readonly FetchPartition[]): Promise<void> {
  const byNode = groupBy(partitions, partition => partition.nodeId)
  await Promise.all(Array.from(byNode, ([nodeId, members]) => validateOn(host, nodeId, members)))
}

async function validateOn(host: FetchHost, nodeId: number, members: readonly FetchPartition[]): Promise<void> {
  const questions = members.map(partition => ({ partition, generation: partition.generation }))
  let answer: EndOffsets | undefined
  try {
    const connection = await host.cluster.connection(nodeId, 'control')
    const version = connection.apiVersions.best('OffsetForLeaderEpoch')
    // A broker that old cannot be asked by a plain reader; the consumer fetches unchecked there, and so do we.
    if (version !== undefined && version >= USABLE_VERSION) {
      answer = await connection.send('OffsetForLeaderEpoch', questionBody(questions), { version })
    }
  } catch (error) {
    for (const question of questions) if (isOpen(question)) handleThrown(host, question.partition, error)
    return
  }
  for (const question of questions) if (isOpen(question)) settle(host, question, answer)
}

/** Whether the position is still the one asked about. */
function isOpen({ partition, generation }: Question): boolean {
  return partition.generation === generation && partition.state === 'validating'
}

function questionBody(questions: readonly Question[]): RequestBodies['OffsetForLeaderEpoch'] {
  const topics = groupBy(questions, question => question.partition.topicPartition.topic)
  return {
    replicaId: CONSUMER_REPLICA_ID,
    topics: Array.from(topics, ([topic, list]) => ({
      topic,
      partitions: list.map(({ partition }) => ({
        partition: partition.topicPartition.partition,
        currentLeaderEpoch: partition.candidateEpoch,
        leaderEpoch: partition.offsetEpoch,
      })),
    })),
  }
}

function settle(host: FetchHost, { partition }: Question, answer: EndOffsets | undefined): void {
  const { topic, partition: number } = partition.topicPartition
  if (answer === undefined) {
    partition.validated()
    host.ready(partition)
    return
  }
  const end = answer.topics.find(one => one.topic === topic)?.partitions.find(one => one.partition === number)
  if (end === undefined || end.errorCode !== 0) {
    // Left out: it does not lead the partition any more.
    handleCode(host, partition, end?.errorCode ?? ERROR_CODE.NOT_LEADER_OR_FOLLOWER)
    return
  }
  if (end.leaderEpoch < 0 || end.endOffset < partition.offset) {
    host.fail(partition, truncated(partition, end.endOffset))
    return
  }
  host.logger.debug(
    {
      partition: formatTopicPartition(partition.topicPartition),
      offset: partition.offset,
      leaderEpoch: partition.candidateEpoch,
    },
    'the position holds under the new leader',
  )
  partition.validated()
  host.ready(partition)
}

function truncated(partition: FetchPartition, endOffset: number): MillraceError {
  const known = endOffset < 0 ? 'does not know that epoch' : `ended that epoch at offset ${String(endOffset)}`
  return outOfRange(
    partition,
    `The log was truncated below this position: its record was written under leader epoch ` +
      `${String(partition.offsetEpoch)}, and the new leader ${known} (an unclean leader election).`,
  )
}
