import { sleep } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { formatTopicPartition, TopicPartitionMap, type TopicPartition } from '../../model/topic-partition.ts'
import { Deadline } from '../cluster/deadline.ts'
import type { Connection } from '../connection/connection.ts'
import { reactionTo } from '../error-reactions.ts'
import { adminBackoff, adminFailure, mayPass, type AdminContext } from './admin-call.ts'

/** What a leader answered about one partition. */
export interface LeaderAnswer<T> {
  readonly topicPartition: TopicPartition
  readonly errorCode: number
  readonly errorMessage?: string | null
  readonly value: T
}

/** A question that only the leader of a partition can answer. */
export interface LeaderQuestion<T> {
  /** Completes "Cannot …" in messages, such as `read the end offset`. */
  readonly doing: string
  readonly partitions: readonly TopicPartition[]
  /** One request to one broker about some of the partitions; the order of the answers does not matter. */
  readonly ask: (
    connection: Connection,
    partitions: readonly TopicPartition[],
    timeoutMs: number,
  ) => Promise<readonly LeaderAnswer<T>[]>
}

/**
 * Asks the leaders of partitions, each in one request, and follows leaders that move until every partition answered.
 *
 * @throws MillraceError `TOPIC_MISSING`, `NOT_AUTHORIZED`, `KAFKA_ERROR`; at the deadline the last failure
 */
export async function askLeaders<T>(context: AdminContext, question: LeaderQuestion<T>): Promise<TopicPartitionMap<T>> {
  const { cluster, clock, timeoutMs } = context
  const deadline = new Deadline(clock, timeoutMs)
  const backoff = adminBackoff()
  const found = new TopicPartitionMap<T>()
  let open = question.partitions
  while (open.length > 0) {
    const byLeader = await leadersOf(context, question.doing, open)
    const failures = await Promise.all(
      [...byLeader].map(([nodeId, partitions]) => askOne(context, question, { nodeId, partitions, deadline, found })),
    )
    open = open.filter(topicPartition => !found.has(topicPartition))
    if (open.length === 0) break
    const delayMs = backoff.next()
    const failure = failures.find(each => each !== undefined) ?? withoutLeader(question.doing, open)
    if (!mayPass(failure) || deadline.remainingMs <= delayMs) throw failure
    await sleep(clock, delayMs)
    await deadline.bound(
      'No broker described the topics',
      cluster.refresh([...new Set(open.map(({ topic }) => topic))]),
    )
  }
  return found
}

interface LeaderRequest<T> {
  readonly nodeId: number
  readonly partitions: readonly TopicPartition[]
  readonly deadline: Deadline
  readonly found: TopicPartitionMap<T>
}

async function askOne<T>(
  { cluster }: AdminContext,
  { doing, ask }: LeaderQuestion<T>,
  { nodeId, partitions, deadline, found }: LeaderRequest<T>,
): Promise<MillraceError | undefined> {
  let failure: MillraceError | undefined
  try {
    const what = `Broker ${String(nodeId)} could not be reached`
    const connection = await deadline.bound(what, cluster.connection(nodeId, 'control'))
    for (const answer of await ask(connection, partitions, Math.max(1, deadline.remainingMs))) {
      const { topicPartition, errorCode, errorMessage, value } = answer
      if (errorCode === 0) {
        found.set(topicPartition, value)
        continue
      }
      const subject = { doing: `${doing} of ${formatTopicPartition(topicPartition)}` }
      // A leader that just moved answers "unknown partition" for a while; the metadata tell whether it is missing.
      failure =
        reactionTo(errorCode, 'metadata') === 'retry'
          ? new MillraceError('KAFKA_ERROR', {
              kafkaCode: errorCode,
              what: adminFailure(errorCode, subject, errorMessage).message,
              reaction: 'retry',
            })
          : adminFailure(errorCode, subject, errorMessage)
    }
  } catch (error) {
    failure = asMillraceError(error)
  }
  return failure
}

async function leadersOf(
  { cluster }: AdminContext,
  doing: string,
  partitions: readonly TopicPartition[],
): Promise<Map<number, TopicPartition[]>> {
  const topics = await cluster.topics([...new Set(partitions.map(({ topic }) => topic))])
  const byLeader = new Map<number, TopicPartition[]>()
  for (const topicPartition of partitions) {
    const { topic, partition } = topicPartition
    if (topics.get(topic)?.partitions[partition] === undefined) {
      throw new MillraceError('TOPIC_MISSING', {
        topic,
        partition,
        what: `Cannot ${doing}: the ${topics.has(topic) ? 'partition' : 'topic'} does not exist.`,
      })
    }
    const leader = cluster.leaderOf(topicPartition)
    if (leader === undefined) continue
    const led = byLeader.get(leader.nodeId)
    if (led === undefined) byLeader.set(leader.nodeId, [topicPartition])
    else led.push(topicPartition)
  }
  return byLeader
}

function withoutLeader(doing: string, open: readonly TopicPartition[]): MillraceError {
  const [first] = open
  return new MillraceError('KAFKA_ERROR', {
    ...first,
    what: `Cannot ${doing}: the partition has no leader, or its leader did not answer for it.`,
    reaction: 'retry',
  })
}
