import { expect } from 'chai'
import type { ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { settle } from '../../../support/manual-clock.ts'
import { FetcherHarness, offsetsOf, wanted } from './fetcher-harness.ts'
import { batchAt } from './record-blocks.ts'

const A0 = { topic: 'a', partition: 0 }
const A1 = { topic: 'a', partition: 1 }

/** Reads two records of epoch 0, then a leader of epoch 3 takes over. */
async function afterLeaderChange(): Promise<FetcherHarness> {
  const harness = new FetcherHarness()
  harness.cluster.create('a', [1])
  await harness.reading([A0])
  await harness.answer({ partition: 0, records: batchAt(0, 2, { leaderEpoch: 0 }) })
  harness.fetcher.take(A0)
  harness.cluster.lead('a', 0, 2, 3)
  await harness.answer({ partition: 0, errorCode: 74 })
  return harness
}

function epochEnd(endOffset: number, leaderEpoch: number, errorCode = 0): ResponseBodies['OffsetForLeaderEpoch'] {
  return {
    throttleTimeMs: 0,
    topics: [{ topic: 'a', partitions: [{ errorCode, partition: 0, leaderEpoch, endOffset }] }],
  }
}

describe('the position under a new leader (KIP-320)', () => {
  it('is asked for where the epoch of our last record ended', async () => {
    const harness = await afterLeaderChange()

    expect(harness.cluster.openPolls).to.have.length(0)
    expect(harness.cluster.validations[0]?.nodeId).to.equal(2)
    expect(harness.cluster.validations[0]?.body).to.deep.equal({
      replicaId: -1,
      topics: [{ topic: 'a', partitions: [{ partition: 0, currentLeaderEpoch: 3, leaderEpoch: 0 }] }],
    })
  })

  it('is asked for before the next fetch when the same broker leads again in another epoch', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    await harness.answer({ partition: 0, records: batchAt(0, 2, { leaderEpoch: 0 }) })
    offsetsOf(harness.fetcher.take(A0))
    // Learnt from metadata, before the broker itself refuses the old epoch.
    harness.cluster.lead('a', 0, 1, 3)
    await harness.answer({ partition: 1, records: batchAt(0, 1, { leaderEpoch: 0 }) })
    await harness.clock.advance(20)

    expect(harness.cluster.openPolls.flatMap(wanted)).to.deep.equal(['a-1@1'])
    expect(harness.cluster.validations[0]?.body.topics[0]?.partitions).to.deep.equal([
      { partition: 0, currentLeaderEpoch: 3, leaderEpoch: 0 },
    ])
  })

  it('holds when that epoch ended at or after it', async () => {
    const harness = await afterLeaderChange()
    await harness.cluster.validations[0]?.respond(epochEnd(2, 0))

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@2'])
  })

  it('is a failure when the log was truncated below it', async () => {
    const harness = await afterLeaderChange()
    await harness.cluster.validations[0]?.respond(epochEnd(1, 0))

    const error = harness.fetcher.takeFailure()?.error
    expect(error?.code).to.equal('OFFSET_OUT_OF_RANGE')
    expect(error?.message).to.contain('truncated').and.to.contain('offset 1')
  })

  it('is a failure when the new leader never had that epoch', async () => {
    const harness = await afterLeaderChange()
    await harness.cluster.validations[0]?.respond(epochEnd(-1, -1))

    expect(harness.fetcher.takeFailure()?.error.message).to.contain('truncated')
  })

  it('is asked for again when the answer is that the leader moved on', async () => {
    const harness = await afterLeaderChange()
    await harness.cluster.validations[0]?.respond(epochEnd(-1, -1, 6))
    await harness.clock.advance(1_000)
    await harness.cluster.validations[1]?.respond(epochEnd(9, 0))

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@2'])
  })

  it('is not the one that was asked about, once somebody sought', async () => {
    const harness = await afterLeaderChange()
    harness.fetcher.seek(A0, 1)
    await settle()
    await harness.cluster.validations[0]?.respond(epochEnd(0, 0))

    expect(harness.fetcher.takeFailure()).to.equal(undefined)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@1'])
  })

  it('is checked at the start against a committed leader epoch, unless the leader is still the same', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    harness.cluster.lead('a', 0, 1, 4)
    harness.cluster.lead('a', 1, 1, 4)
    harness.fetcher.add(A0, { offset: 10, leaderEpoch: 3 })
    harness.fetcher.add(A1, { offset: 10, leaderEpoch: 4 })
    await settle()

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@10'])
    expect(harness.cluster.validations[0]?.body.topics[0]?.partitions).to.deep.equal([
      { partition: 0, currentLeaderEpoch: 4, leaderEpoch: 3 },
    ])
  })
})
