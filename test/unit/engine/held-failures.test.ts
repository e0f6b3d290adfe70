import { expect } from 'chai'
import type { ErrorPolicies } from '../../../src/model/record-failure.ts'
import { string } from '../../../src/serdes/text.ts'
import type { Step } from '../../../src/operators/step.ts'
import { StreamHandle } from '../../../src/topology/handles.ts'
import { processor, type ProcessorContext } from '../../../src/topology/processor.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { TaskBench, type FedRecord } from './task-bench.ts'

const text = { key: string, value: string }

/** Gives the name of a result, and fails for one of them. */
function refusing<K>(nameOf: (key: K) => string): (value: unknown, key: K) => string {
  return (_, key) => {
    const name = nameOf(key)
    if (name === 'bad') throw new Error('refused')
    return name
  }
}

const byText = refusing((key: string) => key)
const byWindow = refusing(({ key }: { readonly key: string }) => key)

/** Topologies that hold back a result per key until a later record lets it go. */
const holding: Readonly<Record<string, (builder: StreamsBuilder) => void>> = {
  'windows that tell of themselves when they close': builder => {
    builder
      .stream('in', text)
      .groupByKey()
      .windowedBy({ tumbling: 10, grace: 0 }, { emit: 'final' })
      .count({ store: 'w' })
      .toStream()
      .mapValues(byWindow)
      .to('out', { value: string })
  },
  'sessions that do': builder => {
    builder
      .stream('in', text)
      .groupByKey()
      .windowedBy({ session: 5, grace: 0 }, { emit: 'final' })
      .count({ store: 'w' })
      .toStream()
      .mapValues(byWindow)
      .to('out', { value: string })
  },
  'a suppress': builder => {
    builder
      .stream('in', text)
      .groupByKey()
      .count({ store: 'c' })
      .suppress({ until: 10, name: 'held' })
      .toStream()
      .mapValues(byText)
      .to('out', { value: string })
  },
  'a left join of streams': builder => {
    builder
      .stream('in', text)
      .leftJoin(builder.stream('other', text), value => value, { within: 5, grace: 0 })
      .mapValues(byText)
      .to('out', { value: string })
  },
}

/** Each lets go of what came before: the third of the first two, the fourth of the third. */
const RECORDS: readonly FedRecord[] = [
  { key: 'bad', value: '1', timestamp: 1 },
  { key: 'good', value: '1', timestamp: 2 },
  { key: 'next', value: '1', timestamp: 12 },
  { key: 'last', value: '1', timestamp: 24 },
]

function run(define: (builder: StreamsBuilder) => void, policies: ErrorPolicies): TaskBench {
  const bench = new TaskBench(define, policies)
  bench.feed('in', RECORDS)
  bench.task.process(RECORDS.length)
  return bench
}

describe('a result that was held back, and fails', () => {
  for (const [name, define] of Object.entries(holding)) {
    it(`is passed over alone: neither the record that let it go nor those that follow are lost (${name})`, () => {
      const bench = run(define, { processing: 'skip' })
      expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['good', 'next'])
      expect(bench.dropped).to.deep.equal(['skipped'])
    })

    it(`stops the task where the policy says so, and is there again then (${name})`, () => {
      const bench = new TaskBench(define)
      bench.feed('in', RECORDS)
      for (const _ of [1, 2]) expect(() => bench.task.process(RECORDS.length)).to.throw('refused')
      expect(bench.sent('out')).to.deep.equal([])
    })
  }

  it('goes to the dead letters as what it was made of, not as the record that let it go', () => {
    const bench = run(holding['a suppress'] ?? refuse, { processing: 'deadLetter', deadLetterTopic: 'dead' })
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['good', 'next'])
    const [letter] = bench.collector.sent.filter(({ topic }) => topic === 'dead')
    expect([letter?.key, letter?.value, letter?.timestamp]).to.deep.equal([null, null, 1])
    expect(letter?.headers.getString('__streams.errors.offset')).to.equal('0')
    expect(bench.failures.map(({ failure }) => failure.metadata?.offset)).to.deep.equal([0])
  })
})

/** A processor that hands records on, and one of its own every 100 ms of wall-clock time. */
const ticking = processor({
  input: text,
  ...text,
  init: ({ forward, schedule, wallClock }: ProcessorContext<string, string, {}>) => {
    schedule({ every: 100, by: 'wallClock' }, timestamp => {
      forward({ key: 'tick', value: '1', timestamp: timestamp / 10 })
    })
    schedule({ every: 100, by: 'wallClock', startAt: wallClock() + 100 }, timestamp => {
      forward({ key: 'tock', value: '1', timestamp: timestamp / 10 })
    })
    return record => {
      forward(record)
    }
  },
})

/** What is held back behind it, in the same task: whatever comes out of a processor is else repartitioned before it is held. */
function heldBehindPunctuations(builder: StreamsBuilder): void {
  const { parts } = asHandle(builder.stream('in', text).process(ticking))
  new StreamHandle({ ...parts, rekeyed: false })
    .groupByKey()
    .count({ store: 'c' })
    .suppress({ until: 5, name: 'held' })
    .toStream()
    .mapValues(asStep(byText))
    .to('out', { value: string })
}

describe('a result that was held back, and fails when a punctuation lets it go', () => {
  it('is passed over alone: neither what the punctuation does nor the other results are lost', () => {
    const bench = new TaskBench(heldBehindPunctuations, { processing: 'skip' })
    bench.feed('in', RECORDS.slice(0, 2))
    bench.task.process(2)
    bench.wallClockMs = 100
    bench.task.punctuate()
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['good'])
    expect(bench.dropped).to.deep.equal(['skipped'])

    // What was left out for one punctuation is not left out for the next.
    bench.wallClockMs = 200
    bench.task.punctuate()
    expect(bench.sent('out').map(([, value]) => value)).to.deep.equal(['good', 'tick', 'tock'])
    expect(bench.dropped).to.deep.equal(['skipped'])
  })

  it('stops the task where the policy says so, and is there again then', () => {
    const bench = new TaskBench(heldBehindPunctuations)
    bench.feed('in', RECORDS.slice(0, 2))
    bench.task.process(2)
    bench.wallClockMs = 100
    for (const _ of [1, 2]) expect(() => bench.task.punctuate()).to.throw('refused')
    expect(bench.sent('out')).to.deep.equal([])
  })
})

function asHandle(stream: object): StreamHandle
function asHandle(stream: unknown): unknown {
  return stream
}

function asStep(step: object): Step
function asStep(step: unknown): unknown {
  return step
}

function refuse(): void {
  throw new Error('there is no such topology')
}
