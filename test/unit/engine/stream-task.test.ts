import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { headersOf } from '../../../src/model/headers.ts'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { json } from '../../../src/serdes/json.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { keyValueStore } from '../../../src/stores/store-spec.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { TaskBench } from './task-bench.ts'

const text = { key: string, value: string }

function counting(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string })
    .groupByKey()
    .count({ store: 'c' })
    .toStream()
    .mapValues(String)
    .to('out', { value: string })
}

/** Writes to two topics, counts, and fails on the value `boom`. */
function failingLate(builder: StreamsBuilder): void {
  const stream = builder.stream('in', text)
  stream.to('first')
  stream.groupByKey().count({ store: 'c' })
  stream.foreach(value => {
    if (value === 'boom') throw new Error('it went wrong')
  })
}

function errorOf(work: () => unknown): MillraceError {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof MillraceError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

/** A step that got past the compiler. */
function asynchronous(value: string): never {
  return Promise.resolve(value) as never
}

describe('stream task', () => {
  it('processes at most as many records as asked and says how many', () => {
    const bench = new TaskBench(counting)
    bench.feed('in', [
      { key: 'a', value: '1' },
      { key: 'b', value: '1' },
      { key: 'a', value: '1' },
    ])

    expect(bench.task.process(2)).to.equal(2)
    expect(bench.task.position('in')).to.equal(2)
    expect(bench.task.queued('in')).to.equal(true)
    expect(bench.task.process(10)).to.equal(1)
    expect(bench.sent('out')).to.deep.equal([
      ['a', '1', 0],
      ['b', '1', 0],
      ['a', '2', 0],
    ])
  })

  it('moves its position past control records and gaps at the end of a block', () => {
    const bench = new TaskBench(counting)
    bench.feed(
      'in',
      [
        { key: 'a', value: '1', offset: 4 },
        { key: 'a', value: '1', offset: 9 },
      ],
      15,
    )

    bench.task.process(1)
    expect(bench.task.position('in')).to.equal(5)
    bench.task.process(1)
    expect(bench.task.queued('in')).to.equal(false)
    expect(bench.task.position('in')).to.equal(15)
  })

  it('takes the lowest timestamp of its inputs first', () => {
    const seen: string[] = []
    const bench = new TaskBench(builder => {
      builder.stream(['a', 'b'], text).foreach(value => {
        seen.push(value)
      })
    })
    bench.feed('a', [
      { key: 'k', value: 'a1', timestamp: 1 },
      { key: 'k', value: 'a5', timestamp: 5 },
    ])
    bench.feed('b', [
      { key: 'k', value: 'b3', timestamp: 3 },
      { key: 'k', value: 'b4', timestamp: 4 },
    ])
    bench.task.process(10)

    expect(seen).to.deep.equal(['a1', 'b3', 'b4', 'a5'])
    expect(bench.task.streamTimeMs).to.equal(5)
    expect([bench.task.partitionTime('a'), bench.task.partitionTime('b')]).to.deep.equal([5, 4])
  })

  it('leaves no output and no state of a record that fails late (I16)', () => {
    const bench = new TaskBench(failingLate, { processing: 'skip' })
    bench.feed('in', [
      { key: 'a', value: 'x' },
      { key: 'a', value: 'boom' },
      { key: 'a', value: 'y' },
    ])
    bench.task.process(10)

    expect(bench.sent('first')).to.deep.equal([
      ['a', 'x', 0],
      ['a', 'y', 0],
    ])
    const counts = bench.collector.sent.filter(({ topic }) => topic === 'app-c-changelog')
    expect(counts.map(({ key, value }) => [key?.toString(), value?.readBigInt64BE()])).to.deep.equal([
      ['a', 1n],
      ['a', 2n],
    ])
    expect(bench.dropped).to.deep.equal(['skipped'])
    expect(bench.task.position('in')).to.equal(3)
  })

  it('stops before the failing record, names it, and processes it again when called again', () => {
    const bench = new TaskBench(failingLate)
    bench.feed('in', [
      { key: 'a', value: 'x' },
      { key: 'a', value: 'boom', offset: 1 },
    ])
    const error = errorOf(() => bench.task.process(10))

    expect(error).to.include({ code: 'PROCESSING_FAILED', reaction: 'stop' })
    expect(error.details).to.include({
      topic: 'in',
      partition: 3,
      offset: 1,
      task: '0_3',
      node: 'KSTREAM-FOREACH-0000000003',
    })
    expect(bench.task.position('in')).to.equal(1)
    expect(bench.sent('first')).to.have.length(1)
    expect(errorOf(() => bench.task.process(10)).code).to.equal('PROCESSING_FAILED')
  })

  it('writes a dead letter with the original bytes and where it came from', () => {
    const bench = new TaskBench(
      builder => {
        builder.stream('in', { key: string, value: json() }).to('out')
      },
      { deserialization: 'deadLetter', deadLetterTopic: 'dead' },
    )
    bench.feed('in', [
      { key: 'a', value: '{broken', timestamp: 9, headers: headersOf([['h', Buffer.from('1')]]) },
      { key: 'b', value: '1' },
    ])
    bench.task.process(10)

    expect(bench.sent('dead')).to.deep.equal([['a', '{broken', 9]])
    expect(bench.sent('out')).to.deep.equal([['b', '1', 0]])
    const [letter] = bench.collector.sent
    expect([...(letter?.headers ?? [])].map(([name]) => name)).to.deep.equal([
      'h',
      '__streams.errors.exception',
      '__streams.errors.message',
      '__streams.errors.stacktrace',
      '__streams.errors.topic',
      '__streams.errors.partition',
      '__streams.errors.offset',
    ])
    expect(letter?.headers.getString('__streams.errors.partition')).to.equal('3')
    expect(bench.dropped).to.deep.equal(['deadLettered'])
  })

  it('refuses a null where the serde admits none, without stopping where it does', () => {
    const strict = new TaskBench(builder => {
      builder.stream('in', text).to('out')
    })
    strict.feed('in', [{ key: null, value: 'x' }])
    expect(errorOf(() => strict.task.process(1)).code).to.equal('UNEXPECTED_NULL')

    const lenient = new TaskBench(builder => {
      builder.stream('in', { key: nullable(string), value: string }).to('out')
    })
    lenient.feed('in', [{ key: null, value: 'x' }])
    lenient.task.process(1)
    expect(lenient.sent('out')).to.deep.equal([[null, 'x', 0]])
  })

  it('answers a failing source by the policies of that source', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', { key: string, value: long, errors: { deserialization: 'skip' } }).to('out')
    })
    bench.feed('in', [{ key: 'a', value: 'not a long' }])

    expect(bench.task.process(1)).to.equal(1)
    expect(bench.dropped).to.deep.equal(['skipped'])
  })

  it('asks a policy function and hands it the raw record', () => {
    const bench = new TaskBench(failingLate, { processing: ({ rawKey }) => (rawKey?.[0] === 0x61 ? 'skip' : 'stop') })
    bench.feed('in', [
      { key: 'a', value: 'boom' },
      { key: 'b', value: 'boom' },
    ])

    expect(errorOf(() => bench.task.process(10)).details).to.include({ offset: 1 })
    expect(bench.failures.map(({ reaction }) => reaction)).to.deep.equal(['skip', 'stop'])
  })

  it('takes a value that cannot be written as a failure of production', () => {
    const bench = new TaskBench(
      builder => {
        builder
          .stream('in', text)
          .mapValues(value => Number(value))
          .to('out', { value: long })
      },
      { production: 'skip', processing: 'stop' },
    )
    bench.feed('in', [
      { key: 'a', value: '1.5' },
      { key: 'a', value: '2' },
    ])
    bench.task.process(10)

    expect(bench.collector.sent).to.have.length(1)
    expect(bench.failures[0]?.failure).to.include({ phase: 'production', node: 'KSTREAM-SINK-0000000002' })
  })

  it('refuses a step that returns a promise', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', text).mapValues(asynchronous).to('out', { value: string })
    })
    bench.feed('in', [{ key: 'a', value: 'x' }])

    expect(errorOf(() => bench.task.process(1)).code).to.equal('STEP_RETURNED_PROMISE')
  })

  it('lets no policy answer a full store', () => {
    const bench = new TaskBench(
      builder => {
        builder.stream('in', { key: string }).groupByKey().count({ store: 'c', maxBytes: 10 })
      },
      { processing: 'skip' },
    )
    bench.feed('in', [
      { key: 'a', value: '1' },
      { key: 'b', value: '1' },
    ])

    expect(errorOf(() => bench.task.process(10)).code).to.equal('STORE_FULL')
  })

  it('goes on from the highest of the times that its inputs had come to, in whatever order it hears of them', () => {
    const bench = new TaskBench(builder => {
      builder.stream(['in', 'other'], { key: string, value: string }).to('out')
    })
    bench.task.setPartitionTime('in', 100)
    bench.task.setPartitionTime('other', 50)
    expect(bench.task.streamTimeMs).to.equal(100)
    expect([bench.task.partitionTime('in'), bench.task.partitionTime('other')]).to.deep.equal([100, 50])
  })

  it('takes stores, times and variables back to the last commit on abort', () => {
    const bench = new TaskBench(counting)
    bench.feed('in', [{ key: 'a', value: '1', timestamp: 5 }])
    bench.task.process(10)
    bench.task.commitState()
    bench.feed('in', [
      { key: 'a', value: '1', timestamp: 50, offset: 1 },
      { key: 'b', value: '1', offset: 2 },
    ])
    bench.task.process(10)
    expect(bench.task.uncommitted).to.equal(true)
    bench.task.abortState()

    expect(bench.task.uncommitted).to.equal(false)
    expect([bench.task.streamTimeMs, bench.task.partitionTime('in')]).to.deep.equal([5, 5])
    expect(bench.task.position('in')).to.equal(undefined)
    bench.feed('in', [{ key: 'a', value: '1', offset: 1 }])
    bench.task.process(10)
    expect(bench.sent('out').at(-1)).to.deep.equal(['a', '2', 5])
  })

  it('puts a record back whose topic nobody has looked up yet', () => {
    const bench = new TaskBench(builder => {
      const stream = builder.stream('in', text)
      stream.groupByKey().count({ store: 'c' })
      stream.to(value => value)
    })
    bench.unresolved.add('late')
    bench.feed('in', [{ key: 'a', value: 'late' }])
    expect(() => bench.task.process(1)).to.throw(UnresolvedTopic)
    expect(bench.collector.sent).to.deep.equal([])
    bench.unresolved.clear()

    expect(bench.task.process(1)).to.equal(1)
    expect(bench.sent('late')).to.deep.equal([['a', 'late', 0]])
    expect(bench.sent('app-c-changelog')).to.have.length(1)
  })

  it('passes bytes on as they came where nobody reads them', () => {
    const bench = new TaskBench(builder => {
      builder.stream('in', { key: string, value: json() }).to('out')
    })
    bench.feed('in', [{ key: 'a', value: '{ "spaces":  1.0 }' }])
    bench.task.process(1)

    expect(bench.sent('out')).to.deep.equal([['a', '{ "spaces":  1.0 }', 0]])
  })

  it('writes an object again that a step may have changed', () => {
    const bench = new TaskBench(builder => {
      builder
        .stream('in', { key: string, value: json<{ n: number }>() })
        .peek(value => {
          value.n += 1
        })
        .to('out')
    })
    bench.feed('in', [{ key: 'a', value: '{"n": 1}' }])
    bench.task.process(1)

    expect(bench.sent('out')).to.deep.equal([['a', '{"n":2}', 0]])
  })

  it('writes an aggregate once for store, changelog and topic, and anew where a step reads it in between', () => {
    const bench = new TaskBench(builder => {
      const totals = builder
        .stream('in', text)
        .groupByKey()
        .aggregate(
          () => ({ n: 0 }),
          ({ n }) => ({ n: n + 1 }),
          { store: 'c', value: json<{ n: number }>() },
        )
        .toStream()
      totals.to('kept')
    })
    bench.feed('in', [
      { key: 'a', value: '1' },
      { key: 'a', value: '1' },
    ])
    bench.task.process(10)
    expect(bench.sent('kept').map(([, value]) => value)).to.deep.equal(['{"n":1}', '{"n":2}'])

    const changed = new TaskBench(builder => {
      builder
        .stream('in', text)
        .groupByKey()
        .aggregate(
          () => ({ n: 0 }),
          ({ n }) => ({ n: n + 1 }),
          { store: 'c', value: json<{ n: number }>() },
        )
        .toStream()
        .peek(total => {
          if (total !== null) total.n += 100
        })
        .to('changed')
    })
    changed.feed('in', [
      { key: 'a', value: '1' },
      { key: 'a', value: '1' },
    ])
    changed.task.process(10)
    expect(changed.sent('changed').map(([, value]) => value)).to.deep.equal(['{"n":101}', '{"n":102}'])
    expect(changed.sent('app-c-changelog').map(([, value]) => value)).to.deep.equal(['{"n":1}', '{"n":2}'])
  })

  it('runs wall-clock punctuations when they are due and takes their writes back with the transaction', () => {
    const bench = new TaskBench(builder => {
      builder
        .stream('in', text)
        .process({
          stores: { s: keyValueStore('s', { key: string, value: long }) },
          value: string,
          init: ({ forward, schedule, stores: { s }, requestCommit }) => {
            schedule({ every: 100, by: 'wallClock' }, now => {
              s.put('ticks', (s.get('ticks') ?? 0) + 1)
              forward({ key: 'tick', value: String(now) })
              requestCommit()
            })
            return () => {}
          },
        })
        .to('out')
    })
    bench.task.begin()
    expect(bench.task.nextPunctuationMs).to.equal(100)
    bench.wallClockMs = 250
    bench.task.punctuate()
    expect(bench.sent('out')).to.deep.equal([['tick', '250', 250]])
    expect(bench.task.nextPunctuationMs).to.equal(300)
    expect(bench.commitsAsked).to.equal(1)
    expect(bench.task.uncommitted).to.equal(true)

    bench.task.abortState()
    bench.task.begin()
    expect(bench.task.nextPunctuationMs).to.equal(100)
    expect(bench.task.stores[0]?.entries).to.equal(0)
  })

  it('owes a commit for what a punctuation sent, though no store changed and nothing was read', () => {
    const bench = new TaskBench(builder => {
      builder
        .stream('in', text)
        .process({
          value: string,
          init: ({ forward, schedule }) => {
            schedule({ every: 100, by: 'wallClock' }, now => forward({ key: 'tick', value: String(now) }))
            return () => {}
          },
        })
        .to('out')
    })
    bench.task.begin()
    expect(bench.task.uncommitted).to.equal(false)
    bench.wallClockMs = 100
    bench.task.punctuate()
    expect(bench.sent('out')).to.have.length(1)
    expect(bench.task.uncommitted).to.equal(true)
  })

  it('goes on after a punctuation that fails and is skipped', () => {
    let calls = 0
    const bench = new TaskBench(
      builder => {
        builder.stream('in', text).process({
          init: ({ schedule }) => {
            schedule({ every: 10, by: 'streamTime' }, () => {
              calls += 1
              throw new Error('no')
            })
            return () => {}
          },
        })
      },
      { processing: 'skip' },
    )
    bench.feed('in', [
      { key: 'a', value: 'x', timestamp: 5 },
      { key: 'a', value: 'x', timestamp: 6 },
      { key: 'a', value: 'x', timestamp: 17 },
    ])
    bench.task.process(10)

    expect(calls).to.equal(2)
    expect(bench.failures.map(({ failure }) => failure.metadata)).to.deep.equal([undefined, undefined])
  })

  it('reads a kept variable back, so that a restart changes no punctuation', () => {
    const calls: number[] = []
    const define = (builder: StreamsBuilder): void => {
      builder.stream('in', text).process({
        init: ({ schedule }) => {
          schedule({ every: 100, by: 'streamTime' }, now => {
            calls.push(now)
          })
          return () => {}
        },
      })
    }
    const before = new TaskBench(define)
    before.feed('in', [{ key: 'a', value: 'x', timestamp: 30 }])
    before.task.process(1)
    const after = new TaskBench(define)
    after.task.variables.load(before.task.variables.snapshot())
    after.feed('in', [
      { key: 'a', value: 'x', timestamp: 60 },
      { key: 'a', value: 'x', timestamp: 100 },
    ])
    after.task.process(10)

    expect(calls).to.deep.equal([30, 100])
  })
})
