import { expect } from 'chai'
import { MillraceError } from '../../../../src/model/errors.ts'
import { settle } from '../../../support/manual-clock.ts'
import { FetcherHarness, offsetsOf, wanted } from './fetcher-harness.ts'
import { batchAt } from './record-blocks.ts'

const A0 = { topic: 'a', partition: 0 }
const A1 = { topic: 'a', partition: 1 }

/** Answers every fetch of partition 0 with a code until a failure shows or the time is over. */
async function answerUntilFailure(
  harness: FetcherHarness,
  errorCode: number,
  forMs: number,
): Promise<MillraceError | undefined> {
  for (let passed = 0; passed <= forMs; passed += 50) {
    for (const poll of harness.cluster.openPolls) await harness.answerTo(poll, { partition: 0, errorCode })
    await harness.clock.advance(50)
    const failure = harness.fetcher.takeFailure()
    if (failure !== undefined) return failure.error
  }
  return undefined
}

describe('the fetcher, when something is wrong,', () => {
  it('goes to the new leader after NOT_LEADER_OR_FOLLOWER', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0], 5)
    harness.cluster.lead('a', 0, 2, 1)
    await harness.answer({ partition: 0, errorCode: 6 })

    expect(harness.cluster.refreshes).to.equal(1)
    expect(harness.cluster.poll.nodeId).to.equal(2)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@5'])
    expect(harness.cluster.poll.body.topics[0]?.partitions[0]?.currentLeaderEpoch).to.equal(1)
  })

  it('backs off while the leader stays wrong, and never gives up', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])

    expect(await answerUntilFailure(harness, 6, 60_000)).to.equal(undefined)
    expect(harness.cluster.polls.length).to.be.within(40, 80)
  })

  it('follows a leader that the cached metadata names, without asking again', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    harness.cluster.lead('a', 0, 2, 1)
    await harness.answer()
    await harness.clock.advance(16)

    expect(harness.cluster.openPolls.map(poll => [poll.nodeId, ...wanted(poll)])).to.have.deep.members([
      [1, 'a-1@0'],
      [2, 'a-0@0'],
    ])
    expect(harness.cluster.refreshes).to.equal(0)
  })

  it('tries a broker again that cannot be reached or went away', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    harness.cluster.refusals.push(new MillraceError('CONNECTION_LOST'), new MillraceError('BROKER_UNREACHABLE'))
    await harness.reading([A0])
    await harness.clock.advance(5_000)
    await harness.cluster.poll.fail(new MillraceError('CONNECTION_LOST'))
    await harness.clock.advance(5_000)
    await harness.answer({ partition: 0, records: batchAt(0, 1) })

    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([0])
  })

  it('asks for less after an answer that did not come in time, and for more again once answers come soon', async () => {
    const harness = new FetcherHarness({ maxBytes: 1_000_000, partitionMaxBytes: 100_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    const asked = (): (number | undefined)[] => {
      const { body } = harness.cluster.poll
      return [body.maxBytes, body.topics[0]?.partitions[0]?.partitionMaxBytes]
    }
    const comesAfter = async (ms: number, offset: number): Promise<void> => {
      await harness.clock.advance(ms)
      await harness.answer({ partition: 0, records: batchAt(offset, 1) })
      offsetsOf(harness.fetcher.take(A0))
      await settle()
    }
    const isLate = async (): Promise<void> => {
      await harness.clock.advance(30_000)
      await harness.cluster.poll.fail(new MillraceError('REQUEST_TIMED_OUT'))
      await harness.clock.advance(5_000)
    }
    expect(asked()).to.deep.equal([1_000_000, 100_000])
    await isLate()
    expect(asked()).to.deep.equal([250_000, 25_000])
    await isLate()
    expect(asked()).to.deep.equal([62_500, 6_250])
    for (let more = 0; more < 5; more += 1) await isLate()
    expect(asked(), 'a small batch').to.deep.equal([4_096, 4_096])
    await comesAfter(29_000, 0)
    expect(asked(), 'after one that just came in time').to.deep.equal([4_096, 4_096])
    for (let offset = 1; offset < 11; offset += 1) await comesAfter(1_000, offset)
    expect(asked()).to.deep.equal([1_000_000, 100_000])
  })

  it('reads on with a partition that came while a poll was out that failed for others', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0])
    await harness.reading([A1])
    harness.fetcher.remove(A0)
    await harness.cluster.poll.fail(new MillraceError('CONNECTION_LOST'))
    await harness.clock.advance(5_000)

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@0'])
  })

  it('waits for a partition that has no leader', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [-1])
    await harness.reading([A0])
    await harness.clock.advance(120_000)
    expect(harness.fetcher.takeFailure()).to.equal(undefined)
    harness.cluster.lead('a', 0, 3, 1)
    await harness.clock.advance(1_000)

    expect(harness.cluster.poll.nodeId).to.equal(3)
  })

  it('keeps the position of a partition sought while its poll was lost', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    harness.fetcher.seek(A0, 42)
    await harness.cluster.poll.fail(new MillraceError('CONNECTION_LOST'))
    await harness.clock.advance(1_000)

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@42'])
  })

  it('reports an offset that was deleted, after the blocks before it, and goes on where it is sent', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, records: batchAt(0, 2) })
    await harness.answer({ partition: 0, errorCode: 1 })
    expect(harness.fetcher.takeFailure(), 'records before it are still to be processed').to.equal(undefined)
    const wakesBefore = harness.wakes
    harness.fetcher.take(A0)

    expect(harness.wakes, 'the failure is there now').to.equal(wakesBefore + 1)
    const failure = harness.fetcher.takeFailure()
    expect(failure?.topicPartition).to.deep.equal(A0)
    expect(failure?.error.code).to.equal('OFFSET_OUT_OF_RANGE')
    expect(failure?.error.message).to.contain('a-0 at offset 2').and.to.contain('no longer has this offset')
    expect(harness.fetcher.takeFailure()).to.equal(undefined)
    harness.fetcher.seek(A0, 50)
    await settle()
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@50'])
  })

  it('reports a forbidden topic at once, and goes on with the others', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    await harness.answer({ partition: 0, errorCode: 29 }, { partition: 1, records: batchAt(0, 1) })

    expect(harness.fetcher.takeFailure()?.error.code).to.equal('NOT_AUTHORIZED')
    expect(offsetsOf(harness.fetcher.take(A1))).to.deep.equal([0])
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@1'])
  })

  it('reports a missing topic only after brokers had time to learn of it', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 2_000 })
    await harness.reading([A0])
    await harness.clock.advance(1_000)
    expect(harness.fetcher.takeFailure()).to.equal(undefined)
    await harness.clock.advance(3_000)

    const failure = harness.fetcher.takeFailure()
    expect(failure?.error.code).to.equal('TOPIC_MISSING')
    expect(harness.wakes).to.equal(1)
  })

  it('finds a topic that was created a moment before', async () => {
    const harness = new FetcherHarness()
    await harness.reading([A0])
    await harness.clock.advance(500)
    harness.cluster.create('a', [1])
    await harness.clock.advance(1_000)

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@0'])
  })

  it('reports at once that a topic was recreated, whether the id or the metadata says so', async () => {
    for (const fetchVersion of [17, 12]) {
      const harness = new FetcherHarness()
      harness.cluster.fetchVersion = fetchVersion
      harness.cluster.create('a', [1])
      await harness.reading([A0])
      harness.cluster.create('a', [1], 1)
      await harness.answer({ partition: 0, errorCode: fetchVersion === 17 ? 100 : 3 })

      expect(harness.fetcher.takeFailure()?.error.code).to.equal('TOPIC_RECREATED')
    }
  })

  it('outlives a broker that does not know a topic id yet, and reports one that never learns', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 2_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, errorCode: 100 })
    await harness.clock.advance(100)
    await harness.answer({ partition: 0, records: batchAt(0, 1) })
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([0])

    expect((await answerUntilFailure(harness, 100, 5_000))?.code).to.equal('TOPIC_RECREATED')
  })

  it('reports a topic that was deleted', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 2_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    harness.cluster.topics.delete('a')
    await harness.answer({ partition: 0, errorCode: 3 })
    await harness.clock.advance(5_000)

    const error = harness.fetcher.takeFailure()?.error
    expect(error?.code).to.equal('TOPIC_RECREATED')
    expect(error?.message).to.contain('deleted')
  })

  it('reports an unforeseen code with its name when it does not go away', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 2_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])

    const error = await answerUntilFailure(harness, -1, 5_000)

    expect(error?.code).to.equal('KAFKA_ERROR')
    expect(error?.reaction).to.equal('stop')
    expect(error?.message).to.contain('UNKNOWN_SERVER_ERROR')
  })
})
