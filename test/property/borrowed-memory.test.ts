import { expect } from 'chai'
import fc from 'fast-check'
import { json } from '../../src/serdes/json.ts'
import type { Serde } from '../../src/serdes/serde.ts'
import { bytes, string } from '../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import { borrowedBlock } from '../support/borrowed-block.ts'
import { textStep } from '../support/text-steps.ts'
import { FedBlock, TaskBench } from '../unit/engine/task-bench.ts'

interface Event {
  readonly key: string
  readonly value: string
  readonly timestamp: number
}

/** A serde of a user that hands the bytes on as they lie there. */
const views: Serde<Uint8Array> = { name: 'views', serialize: view => view, deserialize: view => view }

/** What user code has kept of records. */
type Kept = Uint8Array[]

const TOPOLOGIES: Readonly<Record<string, (builder: StreamsBuilder, kept: Kept) => void>> = {
  'a copy': b => {
    b.stream('in', { key: bytes, value: bytes }).to('out')
  },
  'a copy of values to which a step gives another key': b => {
    b.stream('in', { key: string, value: bytes })
      .selectKey(key => String(key))
      .to('out', { key: string })
  },
  'user code that keeps bytes': (b, kept) => {
    b.stream('in', { key: views, value: views })
      .peek((value, key) => kept.push(key, value))
      .to('out')
  },
  'a count': b => {
    b.stream('in', { key: string, value: bytes }).groupByKey().count().toStream().to('out')
  },
  'an aggregate of JSON': b => {
    b.stream('in', { key: string, value: json<string>() })
      .groupByKey()
      .aggregate<string[]>(
        () => [],
        (list, value) => [...list, value],
        { value: json<string[]>() },
      )
      .toStream()
      .to('out')
  },
  'a table of bytes': b => {
    b.table('in', { key: bytes, value: bytes }).toStream().to('out')
  },
  'a join with a table of the same topic': b => {
    const table = b.table('in', { key: string, value: bytes })
    table
      .toStream()
      .leftJoin(table, (left, right) => Buffer.concat([left, right ?? Buffer.alloc(0)]))
      .to('out', { value: bytes })
  },
  'a join with itself in time, with views of a user': b => {
    const stream = b.stream('in', { key: views, value: views })
    stream
      .outerJoin(stream, (left, right) => Buffer.concat([left ?? Buffer.alloc(0), right ?? Buffer.alloc(0)]), {
        within: 20,
        grace: 5,
      })
      .to('out', { value: views })
  },
  'records that wait for versions of a table': b => {
    const table = b.table('in', { key: views, value: views, versioned: { historyRetention: 50 } })
    table
      .toStream()
      .leftJoin(table, (left, right) => Buffer.concat([left, right ?? Buffer.alloc(0)]), { grace: 10, name: 'late' })
      .to('out', { value: views })
  },
  'a sum of texts': b => {
    b.stream('in', { key: string, value: string })
      .mapValues(textStep('"<" + value + "/" + key + ">"'))
      .to('out', { value: string })
  },
  'a sum of texts that somebody looks at': b => {
    const stream = b.stream('in', { key: string, value: string })
    stream.filter(value => value !== '"x"').to('seen')
    stream.mapValues(textStep('value + value')).to('out', { value: string })
  },
  'a table that is held back': b => {
    b.table('in', { key: views, value: views }).suppress({ until: 15 }).toStream().to('out')
  },
  'sessions of views': b => {
    b.stream('in', { key: views, value: views })
      .groupByKey()
      .windowedBy({ session: 10, grace: 5 })
      .reduce((_, latest) => latest)
      .toStream()
      .to('out')
  },
  'a count in windows, held back until they close': b => {
    b.stream('in', { key: string, value: bytes })
      .groupByKey()
      .windowedBy({ tumbling: 20, grace: 0 })
      .count()
      .suppress({ until: 'windowCloses' })
      .toStream()
      .to('out')
  },
}

/** Runs the events through a task, in blocks whose memory is overwritten as soon as it is given back. */
function run(
  define: (builder: StreamsBuilder, kept: Kept) => void,
  events: readonly Event[],
  blockSize: number,
): unknown {
  const kept: Kept = []
  const bench = new TaskBench(builder => {
    define(builder, kept)
  })
  for (let at = 0; at < events.length; at += Math.max(1, blockSize)) {
    const block = events
      .slice(at, at + Math.max(1, blockSize))
      .map((event, index) => ({ ...event, offset: at + index }))
    bench.task.enqueue('in', blockSize === 0 ? new FedBlock(block) : borrowedBlock('in', block))
    while (bench.task.process(2) > 0) continue
  }
  bench.task.commitState()
  const { sent } = bench.collector
  return { sent, kept: kept.map(each => Buffer.from(each).toString()) }
}

const events = fc.array(
  fc.record({
    key: fc.constantFrom(
      'a',
      'b',
      'a much longer key than is copied, so that it is a slice of the block and not a copy',
    ),
    value: fc.oneof(
      fc.constantFrom('"x"', '"yy"', '"é"', '"😀 and more"', `"${'long '.repeat(120)}"`),
      fc.string({ maxLength: 90 }).map(text => JSON.stringify(text)),
    ),
    timestamp: fc.nat(100),
  } satisfies { [N in keyof Event]: fc.Arbitrary<Event[N]> }),
  { maxLength: 24 },
)

describe('memory that is used again', () => {
  for (const [name, define] of Object.entries(TOPOLOGIES)) {
    it(`is nobody's any more when it is given back by ${name}`, () => {
      fc.assert(
        fc.property(events, fc.integer({ min: 1, max: 5 }), (list, blockSize) => {
          expect(run(define, list, blockSize)).to.deep.equal(run(define, list, 0))
        }),
        { numRuns: 60 },
      )
    })
  }
})
