import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import { TaskBench } from './task-bench.ts'

describe('times of a stream task', () => {
  it('that windows have observed are taken back on abort, so that what comes again is not late', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', { key: string }).groupByKey().windowedBy({ tumbling: 10, grace: 0 }).count({ store: 'w' })
    })
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 5 }])
    bench.task.process(10)
    bench.task.commitState()
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 500, offset: 1 }])
    bench.task.process(10)
    bench.task.abortState()
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 6, offset: 1 }])
    bench.task.process(10)

    expect(bench.dropped).to.deep.equal([])
    expect(bench.sent('app-w-changelog')).to.have.length(3)
  })

  it('forget a punctuation that is cancelled: one for each record must not fill the metadata of the offsets', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', { key: string, value: string }).process({
        init:
          ({ schedule }) =>
          ({ timestamp }) => {
            const timer = schedule({ every: 10, by: 'streamTime', startAt: timestamp + 5 }, () => {
              timer.cancel()
            })
          },
      })
    })
    for (let time = 10; time < 1_000; time += 10) {
      bench.feed('in', [{ key: 'a', value: '1', timestamp: time, offset: time }])
      bench.task.process(1)
    }

    expect(bench.task.variables.snapshot().size).to.be.at.most(1)
  })
})
