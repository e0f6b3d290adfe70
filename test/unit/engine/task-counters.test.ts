import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { TaskBench } from './task-bench.ts'

function merging(builder: StreamsBuilder): void {
  const more = builder.stream('more', { key: string, value: string })
  builder.stream('in', { key: string, value: string }).merge(more).to('out')
}

describe('what a task counts', () => {
  it('is every record it takes, by topic, repeated ones too', () => {
    const bench = new TaskBench(merging)
    const records = [{ value: 'a' }, { value: 'b' }].map(record => ({ key: 'k', ...record }))
    bench.feed('in', records)
    bench.feed('more', [{ key: 'k', value: 'c' }])
    bench.task.process(10)
    bench.task.abortState()
    bench.feed('in', records)
    bench.task.process(1)

    expect(bench.task.consumed).to.have.deep.members([
      { topic: 'in', records: 3 },
      { topic: 'more', records: 1 },
    ])
  })

  it('is how far behind stream time each record was that was behind it', () => {
    const bench = new TaskBench(merging)
    const timestamps = [1_000, 5_000, 4_000, 5_000, 2_000, 6_000]
    bench.feed(
      'in',
      timestamps.map(timestamp => ({ key: 'k', value: 'v', timestamp })),
    )
    bench.task.process(10)

    const { counts, sumSeconds } = bench.task.lateness.snapshot()
    expect(counts.reduce((sum, count) => sum + count)).to.equal(2)
    expect(sumSeconds).to.equal(1 + 3)
    expect(bench.task.recordTimeMs).to.equal(6_000)
  })

  it('names the source record of what it drops', () => {
    const places: unknown[] = []
    const bench = new TaskBench(
      builder =>
        builder
          .stream('in', { key: string, value: string })
          .groupByKey()
          .windowedBy({ tumbling: '1s', grace: 0 })
          .count({ store: 'counts' }),
      {},
      { dropped: (reason, count = 1, at) => places.push([reason, count, at === undefined ? at : { ...at }]) },
    )
    bench.feed('in', [
      { key: 'k', value: 'v', timestamp: 10_000, offset: 7 },
      { key: 'k', value: 'v', timestamp: 1_000, offset: 9 },
    ])
    bench.task.process(10)

    expect(places).to.deep.equal([['late', 1, { topic: 'in', partition: 3, offset: 9 }]])
  })

  it('is the time of each punctuation', () => {
    let timed = 0
    const bench = new TaskBench(
      builder => {
        builder.stream('in', { key: string, value: string }).process({
          init: ({ schedule }) => {
            schedule({ every: 10, by: 'wallClock' }, () => undefined)
            return () => undefined
          },
        })
      },
      {},
      {
        timed: punctuation => {
          timed += 1
          punctuation()
        },
      },
    )
    bench.wallClockMs = 5
    bench.task.punctuate()
    bench.wallClockMs = 25
    bench.task.punctuate()
    expect(timed).to.equal(1)
  })
})
