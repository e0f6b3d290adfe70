import type { ApiName, RequestBodies, ResponseBodies } from '../../../src/kafka/protocol/api.ts'
import type { Exchange } from './exchange.ts'

/**
 * The response with an error code wherever it has one, as if the broker had failed at all that was asked. Where its parts have
 * codes the whole keeps its own: a version has one or the other, and the code of the other version could not be written.
 */
export function withErrorCode<A extends ApiName>(response: ResponseBodies[A], code: number): ResponseBodies[A] {
  const isOfParts = Object.values(response).some(part => typeof part === 'object' && hasCode(part))
  const entries = Object.entries(response).map(([name, value]: [string, unknown]) => {
    if (!CODES.has(name)) return [name, coded(value, code)]
    return [name, isOfParts ? value : code]
  })
  return Object.fromEntries(entries) as ResponseBodies[A]
}

/** A broker's refusal of a request, in the words of that request. @throws for a request that the table does not have */
export function refusalOf<A extends ApiName>(exchange: Exchange<A>, code: number): ResponseBodies[A] {
  const refuse: Refusal<A> | undefined = REFUSALS[exchange.api]
  if (refuse === undefined) throw new Error(`no refusal of ${exchange.api} is known`)
  return withErrorCode(refuse(exchange.request), code)
}

/** Requests that can be refused. */
export type Refusable =
  | 'Produce'
  | 'FindCoordinator'
  | 'InitProducerId'
  | 'AddPartitionsToTxn'
  | 'AddOffsetsToTxn'
  | 'TxnOffsetCommit'
  | 'EndTxn'
  | 'JoinGroup'
  | 'SyncGroup'
  | 'Heartbeat'

type Refusal<A extends ApiName> = (request: Required<RequestBodies[A]>) => ResponseBodies[A]

/** Shapes without a code yet: `withErrorCode` puts it everywhere. */
const REFUSALS: { readonly [A in ApiName]?: Refusal<A> } = {
  Produce: ({ topicData }) => ({
    throttleTimeMs: 0,
    nodeEndpoints: [],
    responses: topicData.map(({ name = '', topicId = Buffer.alloc(16), partitionData }) => ({
      name,
      topicId,
      partitionResponses: partitionData.map(({ index }) => ({
        index,
        errorCode: 0,
        baseOffset: -1,
        logAppendTimeMs: -1,
        logStartOffset: -1,
        recordErrors: [],
        errorMessage: null,
        currentLeader: { leaderId: -1, leaderEpoch: -1 },
      })),
    })),
  }),
  FindCoordinator: ({ coordinatorKeys }) => ({
    throttleTimeMs: 0,
    errorCode: 0,
    errorMessage: null,
    // Either one coordinator or a list, by version.
    nodeId: coordinatorKeys.length > 0 ? 0 : -1,
    host: '',
    port: coordinatorKeys.length > 0 ? 0 : -1,
    coordinators: coordinatorKeys.map(key => ({
      key,
      nodeId: -1,
      host: '',
      port: -1,
      errorCode: 0,
      errorMessage: null,
    })),
  }),
  InitProducerId: () => ({
    throttleTimeMs: 0,
    errorCode: 0,
    producerId: -1,
    producerEpoch: -1,
    ongoingTxnProducerId: -1,
    ongoingTxnProducerEpoch: -1,
  }),
  AddPartitionsToTxn: ({ v3AndBelowTopics }) => ({
    throttleTimeMs: 0,
    errorCode: 0,
    resultsByTransaction: [],
    resultsByTopicV3AndBelow: v3AndBelowTopics.map(({ name, partitions }) => ({
      name,
      resultsByPartition: partitions.map(partitionIndex => ({ partitionIndex, partitionErrorCode: 0 })),
    })),
  }),
  AddOffsetsToTxn: () => ({ throttleTimeMs: 0, errorCode: 0 }),
  TxnOffsetCommit: ({ topics }) => ({
    throttleTimeMs: 0,
    topics: topics.map(({ name = '', topicId = Buffer.alloc(16), partitions }) => ({
      name,
      topicId,
      partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: 0 })),
    })),
  }),
  EndTxn: () => ({ throttleTimeMs: 0, errorCode: 0, producerId: -1, producerEpoch: -1 }),
  JoinGroup: ({ memberId }) => ({
    throttleTimeMs: 0,
    errorCode: 0,
    generationId: -1,
    protocolType: null,
    protocolName: null,
    leader: '',
    skipAssignment: false,
    memberId,
    members: [],
  }),
  SyncGroup: () => ({
    throttleTimeMs: 0,
    errorCode: 0,
    protocolType: null,
    protocolName: null,
    assignment: Buffer.alloc(0),
  }),
  Heartbeat: () => ({ throttleTimeMs: 0, errorCode: 0 }),
} satisfies Required<{ readonly [A in Refusable]: Refusal<A> }>

const CODES = new Set(['errorCode', 'partitionErrorCode'])

function hasCode(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasCode)
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return false
  return Object.entries(value).some(([name, inner]) => CODES.has(name) || hasCode(inner))
}

function coded(value: unknown, code: number): unknown {
  if (Array.isArray(value)) return value.map(one => coded(one, code))
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, CODES.has(name) ? code : coded(inner, code)]),
  )
}
