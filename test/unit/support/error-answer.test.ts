import { expect } from 'chai'
import {
  decodeResponseBody,
  encodeResponseBody,
  type ApiName,
  type RequestBodies,
} from '../../../src/kafka/protocol/api.ts'
import { refusalOf, withErrorCode } from '../../support/proxy/error-answer.ts'

const CODE = 16
const TOPIC = { name: 't', topicId: Buffer.alloc(16) }
const TOPICS = [{ name: 't', partitions: [0, 1] }]

/** A request as the proxy has read it; what its version lacks is empty. */
const REQUESTS = {
  FindCoordinator: { key: 'k', keyType: 0, coordinatorKeys: [] as string[] },
  AddPartitionsToTxn: {
    transactions: [],
    v3AndBelowTransactionalId: 't',
    v3AndBelowProducerId: 1,
    v3AndBelowProducerEpoch: 0,
    v3AndBelowTopics: TOPICS,
  },
  EndTxn: { transactionalId: 't', producerId: 1, producerEpoch: 0, committed: true },
}

function refused<A extends keyof typeof REQUESTS & ApiName>(
  api: A,
  version: number,
  changes: Partial<RequestBodies[A]> = {},
): string {
  const exchange = { api, version, request: { ...REQUESTS[api], ...changes } }
  const answer = refusalOf(exchange as unknown as Parameters<typeof refusalOf<A>>[0], CODE)
  return JSON.stringify(decodeResponseBody(api, version, encodeResponseBody(api, version, answer)))
}

describe('a refusal that the proxy makes up', () => {
  it('has its code where the version has one, and can be written', () => {
    expect(refused('EndTxn', 5)).to.contain(`"errorCode":${String(CODE)}`)
    expect(refused('FindCoordinator', 3)).to.contain(`"errorCode":${String(CODE)}`)
    expect(refused('FindCoordinator', 4, { coordinatorKeys: ['k'] })).to.match(/"key":"k".*"errorCode":16/)
    expect(refused('AddPartitionsToTxn', 3).match(/"partitionErrorCode":16/g)).to.have.length(2)
  })

  it('is put into a broker’s own answer in the same way', () => {
    const parts = { throttleTimeMs: 0, topics: [{ ...TOPIC, partitions: [{ partitionIndex: 0, errorCode: 0 }] }] }
    expect(withErrorCode<'OffsetCommit'>(parts, CODE)).to.deep.equal({
      throttleTimeMs: 0,
      topics: [{ ...TOPIC, partitions: [{ partitionIndex: 0, errorCode: CODE }] }],
    })
    expect(withErrorCode<'Heartbeat'>({ throttleTimeMs: 0, errorCode: 0 }, CODE).errorCode).to.equal(CODE)
  })
})
