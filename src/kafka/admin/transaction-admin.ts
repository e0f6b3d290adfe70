import { asMillraceError, MillraceError } from '../../model/errors.ts'
import type { TopicPartition, TopicPartitionMap } from '../../model/topic-partition.ts'
import { groupByTopic } from '../partition-grouping.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { ResponseBodies } from '../protocol/messages.generated.ts'
import type { Deadline } from '../cluster/deadline.ts'
import { adminFailure, untilAnswered, type AdminContext } from './admin-call.ts'
import { askLeaders } from './leader-calls.ts'

/** Which transactional ids to list; all when nothing is given. */
export interface TransactionFilter {
  /** Such as `Ongoing`, `PrepareCommit`, `CompleteAbort`, `Empty`. */
  readonly states?: readonly string[]
  readonly producerIds?: readonly number[]
  /** Only transactions that are open for longer, in milliseconds; brokers from 3.8 on (KIP-994). */
  readonly openForMs?: number
}

/** A transactional id as a listing shows it. */
export interface ListedTransaction {
  readonly transactionalId: string
  readonly producerId: number
  readonly state: string
  /** Node id of its coordinator. */
  readonly coordinator: number
}

/** A transactional id as its coordinator sees it. */
export interface TransactionDescription {
  readonly transactionalId: string
  readonly state: string
  readonly producerId: number
  readonly producerEpoch: number
  readonly timeoutMs: number
  /** Wall-clock milliseconds since 1970; −1 when none is open. */
  readonly startedAtMs: number
  readonly partitions: readonly TopicPartition[]
}

/** What a partition remembers of a producer. */
export interface ProducerDescription {
  readonly producerId: number
  readonly producerEpoch: number
  readonly lastSequence: number
  readonly lastTimestamp: number
  readonly coordinatorEpoch: number
  /** Offset of the open transaction's first record; −1 when none is open. */
  readonly transactionStartOffset: number
}

/** What the brokers could be asked, and which did not answer. */
export interface TransactionSurvey {
  readonly listed: readonly ListedTransaction[]
  /** Node ids of brokers that did not answer, with why; the ids that they coordinate are missing. */
  readonly silent: readonly { readonly nodeId: number; readonly failure: MillraceError }[]
  /** Partitions of the coordinators' log that no broker leads: nobody can tell of the ids in them. */
  readonly leaderless: readonly number[]
}

const DURATION_FILTER_VERSION = 1
/** The log in which coordinators keep transactions. */
const STATE_TOPIC = '__transaction_state'
/** A broker that is up answers a listing at once; one that is not must not hold up the others' answers. */
const SURVEY_PATIENCE_MS = 5_000
/** A transaction that is only begun to fence others needs no time. */
const FENCING_TIMEOUT_MS = 1

/** As `Admin.listTransactions`. */
export function listTransactions(context: AdminContext, filter: TransactionFilter): Promise<ListedTransaction[]> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const found: ListedTransaction[] = []
    for (const nodeId of context.cluster.brokers.keys())
      found.push(...(await listOn(context, nodeId, filter, deadline)))
    return found
  })
}

async function listOn(
  { cluster }: AdminContext,
  nodeId: number,
  { states = [], producerIds = [], openForMs }: TransactionFilter,
  deadline: Deadline,
): Promise<readonly ListedTransaction[]> {
  const opening = cluster.connection(nodeId, 'control')
  const connection = await deadline.bound(`Broker ${String(nodeId)} could not be reached`, opening)
  const version = connection.apiVersions.best('ListTransactions') ?? 0
  const duration = openForMs !== undefined && version >= DURATION_FILTER_VERSION ? { durationFilter: openForMs } : {}
  const body = { stateFilters: states, producerIdFilters: producerIds, ...duration }
  const response = await connection.send('ListTransactions', body, { timeoutMs: Math.max(1, deadline.remainingMs) })
  if (response.errorCode !== 0) throw adminFailure(response.errorCode, { doing: 'list the transactions' })
  return response.transactionStates.map(({ transactionalId, producerId, transactionState: state }) => ({
    transactionalId,
    producerId,
    state,
    coordinator: nodeId,
  }))
}

/** As `Admin.surveyTransactions`. */
export async function surveyTransactions(context: AdminContext, filter: TransactionFilter): Promise<TransactionSurvey> {
  const patienceMs = Math.min(context.timeoutMs, SURVEY_PATIENCE_MS)
  const answers = await Promise.all(
    Array.from(context.cluster.brokers.keys(), async nodeId => {
      const asking = untilAnswered(context, patienceMs, deadline => listOn(context, nodeId, filter, deadline))
      return { nodeId, answer: await asking.catch(asMillraceError) }
    }),
  )
  const silent = answers.flatMap(({ nodeId, answer }) =>
    answer instanceof MillraceError ? [{ nodeId, failure: answer }] : [],
  )
  const [first] = silent
  if (first !== undefined && silent.length === answers.length) throw first.failure
  return {
    listed: answers.flatMap(({ answer }) => (answer instanceof MillraceError ? [] : answer)),
    silent,
    leaderless: await leaderlessPartitions(context),
  }
}

/** Partitions of the coordinators' log without a leader; none where its topic may not be looked at. */
export async function leaderlessPartitions({ cluster }: AdminContext): Promise<readonly number[]> {
  try {
    await cluster.refresh([STATE_TOPIC])
    const info = await cluster.topic(STATE_TOPIC)
    return (info?.partitions ?? [])
      .filter(({ partition }) => cluster.leaderOf({ topic: STATE_TOPIC, partition }) === undefined)
      .map(({ partition }) => partition)
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'NOT_AUTHORIZED') return []
    throw error
  }
}

/** As `Admin.describeTransactions`. */
export async function describeTransactions(
  context: AdminContext,
  transactionalIds: readonly string[],
): Promise<Map<string, TransactionDescription>> {
  const found = new Map<string, TransactionDescription>()
  for (const id of transactionalIds) {
    const description = await describeTransaction(context, id)
    if (description !== undefined) found.set(id, description)
  }
  return found
}

/**
 * As `Admin.describeListedTransactions`: one request to each coordinator that a listing named. An id whose coordinator
 * has moved since is looked up by itself.
 */
export async function describeListedTransactions(
  context: AdminContext,
  listed: readonly ListedTransaction[],
): Promise<Map<string, TransactionDescription>> {
  const byCoordinator = new Map<number, string[]>()
  for (const { coordinator, transactionalId } of listed) {
    byCoordinator.set(coordinator, [...(byCoordinator.get(coordinator) ?? []), transactionalId])
  }
  const found = new Map<string, TransactionDescription>()
  for (const [nodeId, ids] of byCoordinator) {
    const states = await describeOn(context, nodeId, ids)
    const moved = ids.filter(id => states.every(({ transactionalId }) => transactionalId !== id))
    for (const state of states) {
      if (state.errorCode === 0) found.set(state.transactionalId, descriptionOf(state))
      else if (state.errorCode !== ERROR_CODE.TRANSACTIONAL_ID_NOT_FOUND) moved.push(state.transactionalId)
    }
    for (const [id, description] of await describeTransactions(context, moved)) found.set(id, description)
  }
  return found
}

type DescribedState = ResponseBodies['DescribeTransactions']['transactionStates'][number]

function describeOn(
  context: AdminContext,
  nodeId: number,
  transactionalIds: readonly string[],
): Promise<readonly DescribedState[]> {
  return untilAnswered(context, context.timeoutMs, async deadline => {
    const opening = context.cluster.connection(nodeId, 'control')
    const connection = await deadline.bound(`Broker ${String(nodeId)} could not be reached`, opening)
    const timeoutMs = Math.max(1, deadline.remainingMs)
    return (await connection.send('DescribeTransactions', { transactionalIds }, { timeoutMs })).transactionStates
  })
}

function descriptionOf(state: DescribedState): TransactionDescription {
  return {
    transactionalId: state.transactionalId,
    state: state.transactionState,
    producerId: state.producerId,
    producerEpoch: state.producerEpoch,
    timeoutMs: state.transactionTimeoutMs,
    startedAtMs: state.transactionStartTimeMs,
    partitions: state.topics.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition }))),
  }
}

function describeTransaction(context: AdminContext, id: string): Promise<TransactionDescription | undefined> {
  const { cluster, timeoutMs } = context
  return untilAnswered(context, timeoutMs, async () => {
    const response = await cluster.coordinatorCall(
      'transaction',
      id,
      'DescribeTransactions',
      { transactionalIds: [id] },
      {
        timeoutMs,
        retryLost: true,
        errorCodesOf: body => body.transactionStates.map(({ errorCode }) => errorCode),
      },
    )
    const state = response.transactionStates.find(({ transactionalId }) => transactionalId === id)
    if (state?.errorCode === ERROR_CODE.TRANSACTIONAL_ID_NOT_FOUND) return undefined
    if (state === undefined || state.errorCode !== 0) {
      throw adminFailure(state?.errorCode ?? -1, { doing: `describe the transaction of ${id}` })
    }
    return descriptionOf(state)
  })
}

/** As `Admin.describeProducers`. */
export function describeProducers(
  context: AdminContext,
  partitions: readonly TopicPartition[],
): Promise<TopicPartitionMap<readonly ProducerDescription[]>> {
  return askLeaders(context, {
    doing: 'describe the producers',
    partitions,
    async ask(connection, some, timeoutMs) {
      const topics = [...groupByTopic(some)].map(([name, partitionIndexes]) => ({ name, partitionIndexes }))
      const response = await connection.send('DescribeProducers', { topics }, { timeoutMs })
      return response.topics.flatMap(({ name, partitions: answers }) =>
        answers.map(({ partitionIndex, errorCode, errorMessage, activeProducers }) => ({
          topicPartition: { topic: name, partition: partitionIndex },
          errorCode,
          errorMessage,
          value: activeProducers.map(({ currentTxnStartOffset, ...producer }) => ({
            ...producer,
            transactionStartOffset: currentTxnStartOffset,
          })),
        })),
      )
    },
  })
}

/** As `Admin.fenceTransaction`. */
export async function fenceTransaction(context: AdminContext, transactionalId: string): Promise<void> {
  const { cluster, timeoutMs } = context
  await untilAnswered(context, timeoutMs, async () => {
    const body = { transactionalId, transactionTimeoutMs: FENCING_TIMEOUT_MS }
    const response = await cluster.coordinatorCall('transaction', transactionalId, 'InitProducerId', body, {
      timeoutMs,
      retryLost: true,
      errorCodesOf: ({ errorCode }) => [errorCode],
    })
    const doing = `fence the owner of ${transactionalId}`
    if (response.errorCode !== 0) throw adminFailure(response.errorCode, { doing })
  })
}

/** An open transaction on one partition, as the leader of the partition knows it. */
export interface PartitionTransaction {
  readonly topicPartition: TopicPartition
  readonly producerId: number
  readonly producerEpoch: number
  readonly coordinatorEpoch: number
}

/** As `Admin.abortOnPartition`. */
export async function abortOnPartition(
  context: AdminContext,
  { topicPartition, producerId, producerEpoch, coordinatorEpoch }: PartitionTransaction,
): Promise<void> {
  await askLeaders(context, {
    doing: 'abort the transaction',
    partitions: [topicPartition],
    async ask(connection, some, timeoutMs) {
      const topics = [...groupByTopic(some)].map(([name, partitionIndexes]) => ({ name, partitionIndexes }))
      const marker = { producerId, producerEpoch, transactionResult: false, topics, coordinatorEpoch }
      const response = await connection.send('WriteTxnMarkers', { markers: [marker] }, { timeoutMs })
      return response.markers.flatMap(answer =>
        answer.topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionIndex, errorCode }) => ({
            topicPartition: { topic: name, partition: partitionIndex },
            errorCode,
            value: undefined,
          })),
        ),
      )
    },
  })
}
