import { expect } from 'chai'
import { NO_HEADERS, headersOf } from '../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { PROVENANCE_HEADER, readProvenance, type Provenance } from '../../../src/engine/provenance.ts'
import { provenancePorts } from '../../../src/engine/provenance-ports.ts'
import { StreamTask } from '../../../src/engine/stream-task.ts'
import { TransactionNumbers } from '../../../src/engine/transaction-numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { MemoryCollector } from '../../../src/testing/memory-collector.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { FedBlock } from './task-bench.ts'

const text = { key: string, value: string }

class TracedTask {
  readonly numbers = new TransactionNumbers(40)
  readonly collector = new MemoryCollector(() => {})
  readonly task: StreamTask

  constructor(define: (builder: StreamsBuilder) => void, properties: Partial<StreamsProperties> = {}, isOn = true) {
    const plan = planApplication(streams(define), { ...properties, 'application.id': 'app' })
    const [subtopology] = plan.subtopologies
    if (subtopology === undefined) throw new Error('the graph has no subtopology')
    const registry = { inputOf: () => undefined }
    this.task = new StreamTask(
      subtopology,
      3,
      { policies: { processing: 'deadLetter', deadLetterTopic: 'dead' }, properties: {} },
      {
        collector: this.collector,
        logger: SILENT_LOGGER,
        dropped: () => {},
        wallClockMs: () => 0,
        requestCommit: () => {},
        provenance: isOn ? provenancePorts(this.numbers, registry) : undefined,
      },
    )
  }

  /** Where each record says it comes from, by topic. */
  of(topic: string): (Provenance | undefined)[] {
    return this.collector.sent.filter(record => record.topic === topic).map(({ headers }) => readProvenance(headers))
  }
}

function counts(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string })
    .groupByKey()
    .count({ store: 'c' })
    .toStream()
    .mapValues(String)
    .to('out', { value: string })
}

function bytesOf(value: string | null): Buffer | null {
  return value === null ? null : Buffer.from(value)
}

describe('provenance', () => {
  it('names application, task, operator or store, transaction and source record, and counts what it wrote', () => {
    const traced = new TracedTask(counts)
    traced.task.enqueue('in', new FedBlock([{ key: 'a', value: 'x', offset: 7 }]))
    traced.task.process(1)

    const source = { application: 'app', task: '0_3', transaction: 41, topic: 'in', partition: 3, offset: 7 }
    expect(traced.of('app-c-changelog')).to.deep.equal([{ ...source, operator: 'c', ordinal: 0 }])
    const [output] = traced.of('out')
    expect(output).to.deep.include({ ...source, ordinal: 1 })
    expect(output?.operator).to.match(/SINK/)
  })

  it('has another number for each attempt, whatever became of the one before', () => {
    const traced = new TracedTask(counts)
    const processOne = (): void => {
      traced.task.enqueue('in', new FedBlock([{ key: 'a', value: 'x' }]))
      traced.task.process(1)
    }
    processOne()
    expect(traced.numbers.take()).to.equal(41)
    traced.task.commitState()
    processOne()
    traced.numbers.forgotten()
    traced.task.abortState()
    processOne()

    expect(traced.of('out').map(provenance => provenance?.transaction)).to.deep.equal([41, 42, 43])
  })

  it('adds the positions of all inputs where there are several', () => {
    const traced = new TracedTask(builder => {
      builder.stream('left', text).merge(builder.stream('right', text)).to('out')
    })
    traced.task.enqueue('left', new FedBlock([{ key: 'a', value: 'x', offset: 4, timestamp: 1 }]))
    traced.task.process(1)
    traced.task.enqueue('right', new FedBlock([{ key: 'a', value: 'y', offset: 9, timestamp: 2 }]))
    traced.task.process(1)

    expect(traced.of('out').map(provenance => provenance?.positions)).to.deep.equal([
      { left: 0, right: 0 },
      { left: 5, right: 0 },
    ])
  })

  it('names the record that is processed, not the one that a cache had held back', () => {
    const traced = new TracedTask(counts, { 'statestore.cache.max.bytes': 10_000 })
    traced.task.enqueue(
      'in',
      new FedBlock([
        { key: 'a', value: 'x', offset: 1 },
        { key: 'b', value: 'x', offset: 2 },
      ]),
    )
    traced.task.process(2)
    traced.task.flush()

    const offsets = [...traced.of('app-c-changelog'), ...traced.of('out')].map(provenance => provenance?.offset)
    expect(new Set(offsets)).to.deep.equal(new Set([2]))
    const ordinals = [...traced.of('app-c-changelog'), ...traced.of('out')].map(provenance => provenance?.ordinal)
    expect(new Set(ordinals).size).to.equal(ordinals.length)
  })

  it('takes the place of what came along from a topic before', () => {
    const traced = new TracedTask(builder => {
      builder.stream('in', text).to('out')
    })
    const headers = headersOf([
      ['own', Buffer.from('1')],
      [PROVENANCE_HEADER, Buffer.from('{}')],
    ])
    traced.task.enqueue('in', new FedBlock([{ key: 'a', value: 'x', headers }]))
    traced.task.process(1)

    const [record] = traced.collector.sent
    expect(record?.headers.getAll(PROVENANCE_HEADER)).to.have.length(1)
    expect(record?.headers.getString('own')).to.equal('1')
    expect(traced.of('out')[0]?.offset).to.equal(0)
  })

  it('is on dead letters, and says of a punctuation that there is no source record', () => {
    const traced = new TracedTask(builder => {
      builder
        .stream('in', text)
        .process({
          key: string,
          value: string,
          init: ({ schedule, forward }) => {
            schedule({ every: 10, by: 'streamTime' }, now => {
              forward({ key: 'tick', value: String(now), timestamp: now, headers: NO_HEADERS })
            })
            return () => {
              throw new Error('refused')
            }
          },
        })
        .to('out')
    })
    traced.task.enqueue('in', new FedBlock([{ key: 'a', value: 'x', offset: 5, timestamp: 30 }]))
    traced.task.process(1)

    expect(traced.of('dead').map(provenance => provenance?.offset)).to.deep.equal([5])
    expect(traced.of('out')[0]).to.deep.include({ topic: '', partition: -1, offset: -1, task: '0_3' })
  })

  it('adds nothing where it was not asked for', () => {
    const traced = new TracedTask(counts, {}, false)
    traced.task.enqueue('in', new FedBlock([{ key: 'a', value: 'x' }]))
    traced.task.process(1)

    expect(traced.collector.sent.map(({ headers }) => headers)).to.deep.equal([NO_HEADERS, NO_HEADERS])
  })

  it('is read from nothing but what it has written', () => {
    for (const wrong of [null, '', '{', 'null', '[]', '{"application":"a"}', '{"positions":null}']) {
      expect(readProvenance(headersOf([[PROVENANCE_HEADER, bytesOf(wrong)]])), String(wrong)).to.equal(undefined)
    }
    expect(readProvenance(NO_HEADERS)).to.equal(undefined)
  })
})
