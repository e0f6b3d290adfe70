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

  it('does not hide the records that were consumed before it', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', text).to(value => value)
    })
    bench.unresolved.add('late')
    bench.feed('in', [
      { key: 'a', value: 'out' },
      { key: 'a', value: 'out' },
      { key: 'a', value: 'late' },
    ])
    expect(bench.task.process(16)).to.equal(2)
    expect(() => bench.task.process(16)).to.throw(UnresolvedTopic)
    bench.unresolved.clear()
    expect(bench.task.process(16)).to.equal(1)
    expect([bench.sent('out').length, bench.sent('late').length]).to.deep.equal([2, 1])
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
    expect(bench.task.process(1)).to.equal(1)
    expect(() => bench.task.process(1)).to.throw(UnresolvedTopic)
    bench.unresolved.clear()

    bench.task.process(2)
    expect(bench.sent('late')).to.deep.equal([['p', '1', 20]])
  })

  it('moves the time of the stream with the record that is put back, not before it', () => {
    const bench = new TaskBench(builder => {
      builder
        .stream('in', text)
        .process({
          init: ({ forward, schedule }) => {
            schedule({ every: 10, by: 'streamTime' }, timestamp => {
              forward({ key: 'p', value: 'tick', timestamp })
            })
            return ({ key, value }) => {
              forward({ key, value })
            }
          },
        })
        .to(() => 'late', text)
    })
    bench.unresolved.add('late')
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 20 }])
    expect(() => bench.task.process(1)).to.throw(UnresolvedTopic)
    bench.unresolved.clear()

    bench.task.process(1)
    expect(bench.sent('late')).to.deep.equal([
      ['a', '1', 20],
      ['p', 'tick', 20],
    ])
  })

  it('hands a cached result on again as it was, and the one before it: steps may have changed both in place', () => {
    const total = json<{ n: number }>()
    const bench = new TaskBench(
      builder => {
        builder
          .stream('in', { key: string, value: total })
          .groupByKey()
          .aggregate(
            () => ({ n: 0 }),
            (sum, { n }) => ({ n: sum.n + n }),
            { store: 'totals', value: total },
          )
          .mapValues(value => {
            value.n += 100
            return value
          })
          .groupBy(value => [String(value.n), value], { key: string, value: total, name: 'by-total' })
          .count({ store: 'counts' })
      },
      {},
      {},
      { 'statestore.cache.max.bytes': 100_000 },
    )
    const topic = 'app-by-total-repartition'
    const totalOf = (n: number): void => {
      bench.feed('in', [{ key: 'a', value: JSON.stringify({ n }), offset: n }])
      bench.task.process(1)
    }
    totalOf(1)
    bench.task.flush()
    bench.task.commitState()
    totalOf(2)
    bench.unresolved.add(topic)
    expect(() => bench.task.flush()).to.throw(UnresolvedTopic)
    expect(() => bench.task.flush()).to.throw(UnresolvedTopic)
    bench.unresolved.clear()

    bench.task.flush()
    expect(bench.sent(topic).map(([key]) => key)).to.deep.equal(['101', '101', '103'])
  })
})
