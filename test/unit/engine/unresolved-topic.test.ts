import { expect } from 'chai'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { json } from '../../../src/serdes/json.ts'
import { string } from '../../../src/serdes/text.ts'
import { TaskBench } from './task-bench.ts'

const text = { key: string, value: string }

describe('a topic that nobody has looked up', () => {
  it('puts the record back, which is read again: a step may have changed its value in place', () => {
    const bench = new TaskBench(builder => {
      builder
        .stream('in', { key: string, value: json<{ n: number }>() })
        .peek(value => {
          value.n += 1
        })
        .to(() => 'late')
    })
    bench.unresolved.add('late')
    bench.feed('in', [{ key: 'a', value: '{"n":1}' }])
    expect(() => bench.task.process(1)).to.throw(UnresolvedTopic)
    bench.unresolved.clear()

    bench.task.process(1)
    expect(bench.sent('late')).to.deep.equal([['a', '{"n":2}', 0]])
  })

  it('lets a punctuation be called again before the next record', () => {
    const seen: string[] = []
    const bench = new TaskBench(builder => {
      builder
        .stream('in', text)
        .process({
          init: ({ forward, schedule }) => {
            schedule({ every: 10, by: 'streamTime' }, timestamp => {
              forward({ key: 'p', value: seen.join(), timestamp })
            })
            return ({ value }) => {
              seen.push(value)
            }
          },
        })
        .to(() => 'late', text)
    })
    bench.unresolved.add('late')
    bench.feed('in', [
      { key: 'a', value: '1', timestamp: 20 },
      { key: 'a', value: '2', timestamp: 21 },
    ])
    expect(() => bench.task.process(1)).to.throw(UnresolvedTopic)
    bench.unresolved.clear()

    bench.task.process(2)
    expect(bench.sent('late')).to.deep.equal([['p', '1', 20]])
  })
})
