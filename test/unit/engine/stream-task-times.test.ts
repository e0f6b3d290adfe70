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
})
