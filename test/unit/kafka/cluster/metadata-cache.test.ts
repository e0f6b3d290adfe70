import { expect } from 'chai'
import { MetadataCache } from '../../../../src/kafka/cluster/metadata-cache.ts'
import type { ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { MillraceError } from '../../../../src/model/errors.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { metadataAnswer, topicAnswer } from './metadata-answers.ts'

type Metadata = ResponseBodies['Metadata']

describe('MetadataCache', () => {
  const clock = new ManualClock()
  let cache: MetadataCache

  beforeEach(() => {
    cache = new MetadataCache(clock, 60_000)
  })

  function learn(...topics: Metadata['topics']): void {
    cache.apply(metadataAnswer({ topics }))
  }

  it('knows the leader of a partition, and none while there is none', () => {
    learn(
      topicAnswer('t', [
        { leader: 2, epoch: 7 },
        { leader: -1, epoch: 8 },
      ]),
    )
    expect(cache.leaderOf({ topic: 't', partition: 0 })).to.deep.equal({ nodeId: 2, leaderEpoch: 7 })
    expect(cache.leaderOf({ topic: 't', partition: 1 })).to.equal(undefined)
    expect(cache.leaderOf({ topic: 't', partition: 2 })).to.equal(undefined)
    expect(cache.leaderOf({ topic: 'u', partition: 0 })).to.equal(undefined)
  })

  it('takes no leader of an older epoch from a broker that lags behind (KIP-320)', () => {
    learn(
      topicAnswer('t', [
        { leader: 2, epoch: 7 },
        { leader: 1, epoch: 3 },
      ]),
    )
    learn(
      topicAnswer('t', [
        { leader: 1, epoch: 6 },
        { leader: 3, epoch: 4 },
      ]),
    )
    expect(cache.leaderOf({ topic: 't', partition: 0 })).to.deep.equal({ nodeId: 2, leaderEpoch: 7 })
    expect(cache.leaderOf({ topic: 't', partition: 1 })).to.deep.equal({ nodeId: 3, leaderEpoch: 4 })
  })

  it('begins anew with a topic that was deleted and created again', () => {
    learn(topicAnswer('t', [{ leader: 2, epoch: 7 }], { topicId: 1 }))
    learn(topicAnswer('t', [{ leader: 1, epoch: 0 }], { topicId: 2 }))
    expect(cache.leaderOf({ topic: 't', partition: 0 })).to.deep.equal({ nodeId: 1, leaderEpoch: 0 })
  })

  it('orders partitions that arrive in any order', () => {
    const answer = topicAnswer('t', [{ leader: 10 }, { leader: 11 }, { leader: 12 }])
    learn({ ...answer, partitions: answer.partitions.toReversed() })
    expect(cache.topic('t')?.partitions.map(({ partition, leader }) => [partition, leader])).to.deep.equal([
      [0, 10],
      [1, 11],
      [2, 12],
    ])
  })

  it('forgets a topic that no longer exists', () => {
    learn(topicAnswer('t', [{ leader: 1 }]))
    learn(topicAnswer('t', [], { errorCode: 3 }))
    expect(cache.topic('t')).to.equal(undefined)
  })

  it('tells a topic that may not be seen from one that does not exist', () => {
    learn(topicAnswer('t', [], { errorCode: 29 }))
    expect(() => {
      cache.checkDescribed('t')
    })
      .to.throw(MillraceError, /may not describe the topic t/)
      .with.property('code', 'NOT_AUTHORIZED')
    learn(topicAnswer('t', [], { errorCode: 3 }))
    expect(() => {
      cache.checkDescribed('t')
    }).not.to.throw()
  })

  it('keeps what it knew when a broker cannot describe a topic for the moment', () => {
    learn(topicAnswer('t', [{ leader: 1, epoch: 1 }]))
    learn(topicAnswer('t', [], { errorCode: 5 }))
    expect(cache.leaderOf({ topic: 't', partition: 0 })?.nodeId).to.equal(1)
    expect(() => {
      cache.checkDescribed('t')
    })
      .to.throw(MillraceError, /LEADER_NOT_AVAILABLE/)
      .with.property('reaction', 'retry')
  })

  it('trusts a topic until it is too old', async () => {
    learn(topicAnswer('t', [{ leader: 1 }]))
    await clock.advance(59_999)
    expect(cache.fresh('t')).to.equal(true)
    await clock.advance(1)
    expect(cache.fresh('t')).to.equal(false)
    expect(cache.topic('t')?.name).to.equal('t')
  })

  it('keeps the brokers it knows when one that is starting names none', () => {
    cache.apply(metadataAnswer({ brokers: [{ nodeId: 1, host: 'a', port: 1 }] }))
    cache.apply(metadataAnswer({ brokers: [] }))
    expect([...cache.brokers]).to.deep.equal([[1, { host: 'a', port: 1 }]])
  })
})
