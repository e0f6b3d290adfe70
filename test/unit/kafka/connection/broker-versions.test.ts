import { expect } from 'chai'
import { BrokerVersions } from '../../../../src/kafka/connection/broker-versions.ts'
import { CLIENT_SOFTWARE } from '../../../../src/kafka/connection/client-software.ts'
import { readFileSync } from 'node:fs'
import { apiVersionsAnswer, type OfferedVersions } from '../../../support/frame-server.ts'

function versions(offered: OfferedVersions): BrokerVersions {
  return new BrokerVersions(apiVersionsAnswer(offered))
}

describe('BrokerVersions', () => {
  it('takes the highest version that both sides know', () => {
    expect(versions({ ranges: { Metadata: [0, 9] } }).best('Metadata')).to.equal(9)
    expect(versions({ ranges: { Metadata: [0, 99] } }).best('Metadata')).to.equal(12)
    expect(versions({}).best('Metadata', 8)).to.equal(8)
  })

  it('never takes AddPartitionsToTxn 4 and later, which only brokers may send', () => {
    expect(versions({ transactionVersion: 2 }).best('AddPartitionsToTxn')).to.equal(3)
  })

  it('has no version where the ranges do not meet, or the broker does not know the request', () => {
    expect(versions({ ranges: { Metadata: [13, 20] } }).best('Metadata')).to.equal(undefined)
    expect(versions({ ranges: { CreateTopics: [0, 1] } }).best('CreateTopics')).to.equal(undefined)
    expect(versions({ ranges: { StreamsGroupHeartbeat: [0, -1] } }).best('StreamsGroupHeartbeat')).to.equal(undefined)
  })

  it('takes the requests of transactions version 2 only where that is finalized, whatever is offered', () => {
    const apis = ['Produce', 'InitProducerId', 'TxnOffsetCommit', 'EndTxn'] as const
    const best = (transactionVersion: number): (number | undefined)[] =>
      apis.map(api => versions({ transactionVersion }).best(api))
    expect(best(0)).to.deep.equal([11, 4, 4, 4])
    expect(best(1)).to.deep.equal([11, 4, 4, 4])
    expect(best(2)).to.deep.equal([12, 5, 5, 5])
    expect(versions({ transactionVersion: 0 }).mayBeSent('EndTxn', 5)).to.equal(false)
    expect(versions({ transactionVersion: 2 }).mayBeSent('EndTxn', 5)).to.equal(true)
  })

  it('reads an absent transaction.version as 0', () => {
    expect(versions({}).transactionVersion).to.equal(0)
    expect(versions({ transactionVersion: 2 }).transactionVersion).to.equal(2)
  })

  it('names the request and both versions when a broker is too old for exactly-once', () => {
    expect(() => {
      versions({ ranges: { TxnOffsetCommit: [0, 2] } }).checkFloors('kafka:9092')
    }).to.throw(/TxnOffsetCommit version 3 or later, and the broker kafka:9092 has version 2/)
    expect(() => {
      versions({ ranges: { InitProducerId: [0, -1] } }).checkFloors('kafka:9092')
    }).to.throw(/kafka:9092 does not know it/)
    expect(() => {
      versions({}).checkFloors('kafka:9092')
    }).not.to.throw()
  })
})

describe('CLIENT_SOFTWARE', () => {
  it('tells the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect(CLIENT_SOFTWARE.clientSoftwareVersion).to.equal(version)
  })
})
