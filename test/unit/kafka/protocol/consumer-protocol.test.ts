import { expect } from 'chai'
import {
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from '../../../../src/kafka/protocol/consumer-protocol.ts'
import { MillraceError } from '../../../../src/model/errors.ts'

const SUBSCRIPTION = {
  topics: ['a'],
  userData: Buffer.from([1]),
  ownedPartitions: [
    { topic: 'a', partition: 0 },
    { topic: 'a', partition: 2 },
  ],
  generationId: 4,
  rackId: 'r',
}

describe('consumer protocol', () => {
  it('reads a later version as far as it is known', () => {
    const bytes = Buffer.concat([encodeSubscription(SUBSCRIPTION), Buffer.from('later')])
    bytes.writeInt16BE(9)

    expect(decodeSubscription(bytes)).to.deep.equal(SUBSCRIPTION)
  })

  it('takes no bytes for an assignment of nothing, as brokers hand out to a member the leader forgot', () => {
    expect(decodeAssignment(Buffer.alloc(0))).to.deep.equal({ partitions: [], userData: null })
  })

  it('reads back an assignment', () => {
    const assignment = { partitions: SUBSCRIPTION.ownedPartitions, userData: null }

    expect(decodeAssignment(encodeAssignment(assignment))).to.deep.equal(assignment)
  })

  it('refuses bytes without a version', () => {
    expect(() => decodeSubscription(Buffer.from([0]))).to.throw(MillraceError, 'no version')
  })
})
