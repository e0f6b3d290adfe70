import { sleep } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import { Deadline } from '../cluster/deadline.ts'
import type { TopicInfo } from '../cluster/topic-info.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { adminBackoff, adminFailure, untilAnswered, type AdminContext } from './admin-call.ts'

/** A topic to create. */
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  /** −1 for the cluster's default. */
  readonly replicationFactor: number
  readonly configs: Readonly<Record<string, string>>
}

/** A topic as a listing shows it. */
export interface ListedTopic {
  readonly name: string
  readonly internal: boolean
  readonly partitions: number
}

/** As `Admin.createTopics`. */
export async function createTopics(
  context: AdminContext,
  topics: readonly NewTopic[],
  timeoutMs: number,
  existing: 'keep' | 'fail',
): Promise<void> {
  if (topics.length === 0) return
  const deadline = new Deadline(context.clock, timeoutMs)
  const open = new Map(topics.map(topic => [topic.name, topic]))
  let repeated = false
  await untilAnswered(context, timeoutMs, async () => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const tolerated = existing === 'keep' || repeated
    // An attempt whose answer is lost may have created them all the same.
    repeated = true
    const remainingMs = Math.max(1, deadline.remainingMs)
    const body = { topics: [...open.values()].map(creatable), timeoutMs: remainingMs, validateOnly: false }
    const response = await connection.send('CreateTopics', body, { timeoutMs: remainingMs })
    let failure: MillraceError | undefined
    for (const { name, errorCode, errorMessage } of response.topics) {
      const done = errorCode === 0 || (errorCode === ERROR_CODE.TOPIC_ALREADY_EXISTS && tolerated)
      if (done) open.delete(name)
      else failure = refusedTopic(name, errorCode, errorMessage)
    }
    if (failure !== undefined) throw failure
  })
  await untilLed(context, topics, deadline)
}

/**
 * A controller that has not heard of any broker lately knows none to put a replica on. It answers with the code of a
 * replication factor that is too high; only the text tells the two apart.
 */
const NO_BROKER_LIVES = /\bbrokers are currently fenced\b|\bavailable brokers: 0\b/

function refusedTopic(name: string, errorCode: number, errorMessage: string | null): MillraceError {
  const isOutage = errorCode === ERROR_CODE.INVALID_REPLICATION_FACTOR && NO_BROKER_LIVES.test(errorMessage ?? '')
  return adminFailure(errorCode, { doing: `create the topic ${name}`, passes: isOutage }, errorMessage)
}

function creatable({ name, partitions, replicationFactor, configs }: NewTopic): {
  name: string
  numPartitions: number
  replicationFactor: number
  assignments: []
  configs: { name: string; value: string }[]
} {
  return {
    name,
    numPartitions: partitions,
    replicationFactor,
    assignments: [],
    configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
  }
}

/** A topic that was just created has no leaders for some milliseconds, and writing to it would fail. */
async function untilLed(context: AdminContext, topics: readonly NewTopic[], deadline: Deadline): Promise<void> {
  const names = topics.map(({ name }) => name)
  const waiting = await untilKnown(context, names, deadline, topic =>
    topic === undefined ? false : topic.partitions.every(({ leader }) => leader >= 0),
  )
  if (waiting.length === 0) return
  throw new MillraceError('REQUEST_TIMED_OUT', {
    what: `Created, but without leaders after ${String(deadline.totalMs)} ms: ${waiting.join(', ')}.`,
  })
}

/** Refreshes the metadata until they show what a change brought about; returns the topics where they do not. */
async function untilKnown(
  { cluster, clock }: AdminContext,
  names: readonly string[],
  deadline: Deadline,
  shows: (topic: TopicInfo | undefined) => boolean,
): Promise<readonly string[]> {
  const backoff = adminBackoff()
  for (;;) {
    await deadline.bound('No broker described the topics', cluster.refresh(names))
    const known = await deadline.bound('No broker described the topics', cluster.topics(names))
    const waiting = names.filter(name => !shows(known.get(name)))
    const delayMs = backoff.next()
    if (waiting.length === 0 || deadline.remainingMs <= delayMs) return waiting
    await sleep(clock, delayMs)
  }
}

/** As `Admin.deleteTopics`. */
export async function deleteTopics(context: AdminContext, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const open = new Set(names)
  const deadline = new Deadline(context.clock, context.timeoutMs)
  await untilAnswered(context, context.timeoutMs, async () => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const timeoutMs = Math.max(1, deadline.remainingMs)
    const byState = (connection.apiVersions.best('DeleteTopics') ?? 0) >= TOPIC_STATE_VERSION
    const asked = [...open]
    const which = byState ? { topics: asked.map(name => ({ name })) } : { topicNames: asked }
    const response = await connection.send('DeleteTopics', { ...which, timeoutMs }, { timeoutMs })
    let failure: MillraceError | undefined
    for (const { name, errorCode, errorMessage } of response.responses) {
      if (name === null) continue
      const done = errorCode === 0 || errorCode === ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION
      if (done) open.delete(name)
      else failure = adminFailure(errorCode, { doing: `delete the topic ${name}` }, errorMessage)
    }
    if (failure !== undefined) throw failure
  })
  await untilKnown(context, names, deadline, topic => topic === undefined)
}

/** From 6 on topics are named one by one, by name or id. */
const TOPIC_STATE_VERSION = 6

/** As `Admin.createPartitions`. */
export async function createPartitions(context: AdminContext, topic: string, count: number): Promise<void> {
  const deadline = new Deadline(context.clock, context.timeoutMs)
  await untilAnswered(context, context.timeoutMs, async () => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const timeoutMs = Math.max(1, deadline.remainingMs)
    const body = { topics: [{ name: topic, count, assignments: null }], timeoutMs, validateOnly: false }
    const response = await connection.send('CreatePartitions', body, { timeoutMs })
    for (const { errorCode, errorMessage } of response.results) {
      if (errorCode === 0) continue
      throw adminFailure(errorCode, { topic, doing: `grow the topic to ${String(count)} partitions` }, errorMessage)
    }
  })
  await untilKnown(context, [topic], deadline, known => known !== undefined && known.partitions.length >= count)
}

/** As `Admin.listTopics`. */
export function listTopics(context: AdminContext): Promise<ListedTopic[]> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const connection = await deadline.bound('No broker could be reached', context.cluster.anyConnection('control'))
    const body = { topics: null, allowAutoTopicCreation: false }
    const response = await connection.send('Metadata', body, { timeoutMs: Math.max(1, deadline.remainingMs) })
    return response.topics.flatMap(({ name, isInternal, partitions }) =>
      name === null ? [] : [{ name, internal: isInternal, partitions: partitions.length }],
    )
  })
}
