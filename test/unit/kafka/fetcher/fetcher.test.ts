import { expect } from 'chai'
import type { MillraceError } from '../../../../src/model/errors.ts'
import { settle } from '../../../support/manual-clock.ts'
import { FetcherHarness, offsetsOf, wanted } from './fetcher-harness.ts'
import { batchAt } from './record-blocks.ts'
import { fetchAnswer, topicIdOf } from './scripted-cluster.ts'

const A0 = { topic: 'a', partition: 0 }
const A1 = { topic: 'a', partition: 1 }

async function answerUntilFailure(harness: FetcherHarness, records: Buffer): Promise<MillraceError | undefined> {
  for (let turn = 0; turn < 30; turn += 1) {
    for (const poll of harness.cluster.openPolls) await harness.answerTo(poll, { partition: 0, records })
    await harness.clock.advance(100)
    const failure = harness.fetcher.takeFailure()
    if (failure !== undefined) return failure.error
  }
  return undefined
}

describe('the fetcher', () => {
  it('asks one broker for all its partitions in one long poll, by topic id', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1], 7)

    const { poll } = harness.cluster
    expect(wanted(poll)).to.deep.equal(['a-0@7', 'a-1@7'])
    expect(poll.version).to.equal(17)
    expect(poll.body.topics[0]?.topicId).to.deep.equal(topicIdOf('a'))
    expect(poll.body).to.include({ minBytes: 1, maxBytes: 1_000_000, isolationLevel: 1 })
    expect(poll.body.topics[0]?.partitions[0]).to.include({ partitionMaxBytes: 1_000, currentLeaderEpoch: 0 })
  })

  it('sends the next poll before anybody processes what came, and hands blocks out in order', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    let pollsAtWake = 0
    harness.fetcher.add(A0, { offset: 2, leaderEpoch: -1 })
    await settle()

    pollsAtWake = harness.cluster.polls.length
    await harness.answer({ partition: 0, records: batchAt(0, 5) })

    expect(pollsAtWake).to.equal(1)
    expect(harness.wakes).to.equal(1)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@5'])
    await harness.answer({ partition: 0, records: batchAt(5, 2) })
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([2, 3, 4])
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([5, 6])
    expect(harness.fetcher.take(A0)).to.equal(undefined)
  })

  it('knows how many records lie ahead once the leader has answered, and wakes whoever waits to know', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    expect(harness.fetcher.lagOf(A0)).to.equal(undefined)
    expect(harness.fetcher.isAtEnd, 'nothing is known yet').to.equal(false)

    await harness.answer({ partition: 0, highWatermark: 0 }, { partition: 1, highWatermark: 7 })
    expect(harness.fetcher.lagOf(A0)).to.equal(0)
    expect(harness.fetcher.lagOf(A1)).to.equal(7)
    expect(harness.wakes).to.be.greaterThan(0)
    expect(harness.fetcher.lagOf({ topic: 'b', partition: 0 })).to.equal(0)
  })

  it('counts a block that nobody has taken as lag', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, records: batchAt(0, 5), highWatermark: 5 })
    expect(harness.fetcher.lagOf(A0)).to.equal(1)
    expect(harness.fetcher.isAtEnd).to.equal(false)
    harness.fetcher.take(A0)
    expect(harness.fetcher.lagOf(A0)).to.equal(0)
    expect(harness.fetcher.isAtEnd).to.equal(true)
  })

  it('holds at most two blocks of a partition, and asks again as soon as one is taken', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, records: batchAt(0, 5) })
    await harness.answer({ partition: 0, records: batchAt(5, 5) })

    await harness.clock.advance(5_000)
    expect(harness.cluster.openPolls).to.have.length(0)

    harness.fetcher.take(A0)
    expect(wanted(harness.cluster.poll), 'in the same turn of the loop').to.deep.equal(['a-0@10'])
  })

  it('does not keep partitions waiting for one that nobody takes from', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    await harness.answer({ partition: 0, records: batchAt(0, 5) })
    await harness.answer({ partition: 0, records: batchAt(5, 5) })

    expect(harness.cluster.openPolls, 'the reader may come any moment').to.have.length(0)
    await harness.clock.advance(10)

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@0'])
    expect(harness.cluster.poll.body.maxWaitMs, 'the full one can soon join').to.be.at.most(64)
    await harness.answer({ partition: 1, records: batchAt(0, 1) })
    harness.fetcher.take(A1)
    expect(wanted(harness.cluster.poll), 'and is not waited for twice').to.deep.equal(['a-1@1'])
  })

  it('waits longer and longer while nothing comes, up to the limit, and briefly again after data', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    const waits: number[] = []
    for (let turn = 0; turn < 8; turn += 1) {
      waits.push(harness.cluster.poll.body.maxWaitMs)
      await harness.clock.advance(harness.cluster.poll.body.maxWaitMs)
      await harness.answer()
    }
    await harness.answer({ partition: 0, records: batchAt(0, 1) })

    expect(waits).to.deep.equal([16, 32, 64, 128, 256, 500, 500, 500])
    expect(harness.cluster.poll.body.maxWaitMs).to.equal(16)
  })

  it('leaves waits whole where large answers are wanted', async () => {
    const harness = new FetcherHarness({ minBytes: 16_384 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])

    expect(harness.cluster.poll.body.maxWaitMs).to.equal(500)
  })

  it('does not ask in a tight loop when a broker answers nothing at once', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    for (let turn = 0; turn < 1_000; turn += 1) {
      for (const poll of harness.cluster.openPolls) await harness.answerTo(poll)
      await harness.clock.advance(2)
    }

    expect(harness.cluster.polls.length).to.be.within(4, 15)
  })

  it('waits as long as a quota says', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    const { poll } = harness.cluster
    await poll.respond(fetchAnswer(poll, [{ partition: 0, records: batchAt(0, 1) }], { throttleTimeMs: 700 }))

    harness.fetcher.seek(A0, 0)
    await harness.clock.advance(699)
    expect(harness.cluster.openPolls).to.have.length(0)
    await harness.clock.advance(1)
    expect(harness.cluster.openPolls).to.have.length(1)
  })

  it('asks first for those served longest ago, because a broker fills an answer in that order', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    await harness.answer({ partition: 0, records: batchAt(0, 1) })

    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@0', 'a-0@1'])
  })

  it('does not keep a large answer alive for a small block of it', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    const batch = batchAt(0, 1)
    const answer = Buffer.alloc(1_000_000)
    batch.copy(answer)
    await harness.answer({ partition: 0, records: answer.subarray(0, batch.length) })

    const cursor = harness.fetcher.take(A0)?.cursor
    cursor?.next()
    expect(cursor?.value?.toString()).to.equal('v0')
    // A copy of its own, at most in Node's shared pool, whose size differs between versions.
    expect(cursor?.value?.buffer.byteLength).to.be.at.most(Buffer.poolSize)
  })

  it('drops an answer to an offset that nobody wants any more', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    harness.fetcher.seek(A0, 100)
    await harness.answer({ partition: 0, records: batchAt(0, 5) })

    expect(harness.fetcher.hasData).to.equal(false)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@100'])
  })

  it('drops an answer that was asked for before it went back: what lies between would be missing', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0], 10)
    harness.fetcher.seek(A0, 3)
    await harness.answer({ partition: 0, records: batchAt(10, 5) })

    expect(harness.fetcher.hasData).to.equal(false)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@3'])
    await harness.answer({ partition: 0, records: batchAt(3, 7) })
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([3, 4, 5, 6, 7, 8, 9])
  })

  it('drops buffered blocks at a seek, and takes a removed partition up again from another place', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, records: batchAt(0, 5) })
    harness.fetcher.seek(A0, 3)
    expect(harness.fetcher.take(A0)).to.equal(undefined)

    harness.fetcher.remove(A0)
    await harness.reading([A0], 9)
    await harness.answer({ partition: 0, records: batchAt(5, 5) })

    expect(harness.fetcher.take(A0)).to.equal(undefined)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-0@9'])
  })

  it('keeps blocks of a paused partition, fetches no more of it, and hands them out when resumed', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 1])
    await harness.reading([A0, A1])
    harness.fetcher.pause(A0)
    await harness.answer({ partition: 0, records: batchAt(0, 2) })

    expect(harness.fetcher.hasData).to.equal(false)
    expect(harness.fetcher.take(A0)).to.equal(undefined)
    expect(wanted(harness.cluster.poll)).to.deep.equal(['a-1@0'])
    harness.fetcher.resume(A0)
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([0, 1])
    await harness.answer()
    await harness.clock.advance(16)
    expect(wanted(harness.cluster.poll)).to.include('a-0@2')
  })

  it('sends nothing while every partition is paused', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    harness.fetcher.pause(A0)
    await harness.answer()
    await harness.clock.advance(10_000)

    expect(harness.cluster.polls).to.have.length(1)
    expect(harness.clock.timers).to.equal(0)
  })

  it('asks each broker on its own, so that a slow one delays nobody else', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1, 2])
    await harness.reading([A0, A1])
    const [, fast] = harness.cluster.polls
    if (fast === undefined) throw new Error('the second broker was not asked')
    await harness.answerTo(fast, { partition: 1, records: batchAt(0, 3) })

    expect(offsetsOf(harness.fetcher.take(A1))).to.deep.equal([0, 1, 2])
    expect(harness.cluster.openPolls.map(({ nodeId }) => nodeId)).to.deep.equal([1, 2])
  })

  it('tells the watermarks of the latest answer', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0], 4)
    expect(harness.fetcher.watermarks(A0)).to.equal(undefined)
    await harness.answer({ partition: 0, highWatermark: 44, logStartOffset: 3 })

    expect(harness.fetcher.watermarks(A0)).to.deep.equal({ highWatermark: 44, lastStableOffset: 44, logStart: 3 })
  })

  it('names topics where the broker knows no ids', async () => {
    const harness = new FetcherHarness()
    harness.cluster.fetchVersion = 12
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.answer({ partition: 0, records: batchAt(0, 2) })

    expect(harness.cluster.polls[0]?.body.topics[0]?.topic).to.equal('a')
    expect(offsetsOf(harness.fetcher.take(A0))).to.deep.equal([0, 1])
  })

  it('ends at once when closed, parked poll or not', async () => {
    const harness = new FetcherHarness()
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    await harness.fetcher.close()
    await harness.clock.advance(60_000)

    expect(harness.cluster.destroyed).to.equal(1)
    expect(harness.cluster.polls).to.have.length(1)
    expect(harness.clock.timers).to.equal(0)
  })

  it('reports a batch that cannot be read after trying for a while', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 1_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0])
    const broken = batchAt(0, 1)
    broken.writeInt8(1, 16)

    expect((await answerUntilFailure(harness, broken))?.code).to.equal('PROTOCOL_VIOLATION')
  })

  it('reports batches that end before the offset asked for, which would be asked for without end', async () => {
    const harness = new FetcherHarness({ troubleMaxMs: 1_000 })
    harness.cluster.create('a', [1])
    await harness.reading([A0], 5)

    expect((await answerUntilFailure(harness, batchAt(0, 5)))?.message).to.contain('end before it')
  })
})
