import { expect } from 'chai'
import { IdleWait, idleWaitOf } from '../../../src/engine/idle-wait.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import { string } from '../../../src/serdes/text.ts'
import type { SubtopologyPlan } from '../../../src/topology/plan.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { TaskBench } from './task-bench.ts'

const text = { key: string, value: string }

/** A wait under a clock and over lags that a test sets. */
class Waiting {
  nowMs = 1_000
  readonly lags = new Map<string, number>()
  readonly idle: IdleWait

  constructor(maxIdleMs: number) {
    this.idle = new IdleWait({ maxIdleMs, lagOf: topic => this.lags.get(topic), nowMs: () => this.nowMs })
  }

  /** Whether a new run of the task has to wait for a topic. */
  waitsFor(topic: string): boolean {
    this.idle.begin()
    return this.idle.mustWait(topic)
  }
}

function joining(builder: StreamsBuilder): void {
  const table = builder.table('table', { ...text, store: 't' })
  builder
    .stream('stream', text)
    .leftJoin(table, (left, right) => `${left}/${String(right)}`)
    .to('out', text)
}

function planOf(define: (builder: StreamsBuilder) => void): SubtopologyPlan {
  const [plan] = planApplication(streams(define), { 'application.id': 'app' }).subtopologies
  if (plan === undefined) throw new Error('the graph has no subtopology')
  return plan
}

function bench(waiting: Waiting): TaskBench {
  return new TaskBench(joining, {}, { idle: waiting.idle })
}

describe('the wait of a task for empty inputs', () => {
  it('waits while nothing is known of the input, and while records of it are on the broker', () => {
    const waiting = new Waiting(0)
    expect(waiting.waitsFor('table')).to.equal(true)
    waiting.lags.set('table', 3)
    expect(waiting.waitsFor('table')).to.equal(true)
    waiting.nowMs += 1_000_000
    expect(waiting.waitsFor('table')).to.equal(true)
  })

  it('goes on at once without an input that is read to its end, when the wait is 0', () => {
    const waiting = new Waiting(0)
    waiting.lags.set('table', 0)
    expect(waiting.waitsFor('table')).to.equal(false)
  })

  it('waits for an input that is read to its end as long as it says, from when that was seen', () => {
    const waiting = new Waiting(500)
    waiting.lags.set('table', 0)
    expect(waiting.waitsFor('table')).to.equal(true)
    expect(waiting.idle.nextMs()).to.equal(1_500)
    waiting.nowMs = 1_499
    expect(waiting.waitsFor('table')).to.equal(true)
    waiting.nowMs = 1_500
    expect(waiting.waitsFor('table')).to.equal(false)
    expect(waiting.idle.nextMs()).to.equal(Number.POSITIVE_INFINITY)
    waiting.nowMs = 9_000
    expect(waiting.waitsFor('table')).to.equal(false)
  })

  it('begins its wait anew after records have come, or were known to come', () => {
    const waiting = new Waiting(500)
    waiting.lags.set('table', 0)
    waiting.waitsFor('table')
    waiting.nowMs = 2_000
    expect(waiting.waitsFor('table')).to.equal(false)
    waiting.idle.filled('table')
    expect(waiting.waitsFor('table')).to.equal(true)
    waiting.lags.set('table', 1)
    waiting.nowMs = 9_000
    expect(waiting.waitsFor('table')).to.equal(true)
    waiting.lags.set('table', 0)
    expect(waiting.waitsFor('table')).to.equal(true)
    expect(waiting.idle.nextMs()).to.equal(9_500)
  })

  it('is none for a task with one input, and none with -1', () => {
    const clock = { nowMs: () => 0 }
    const fetcher = { lagOf: () => undefined }
    const single = planOf(b => {
      b.stream('in', text).to('out')
    })
    expect(idleWaitOf(100, single, 0, fetcher, clock)).to.equal(undefined)
    expect(idleWaitOf(-1, planOf(joining), 0, fetcher, clock)).to.equal(undefined)
    const idle = idleWaitOf(100, planOf(joining), 0, fetcher, clock)
    expect(idle?.mustWait('table')).to.equal(true)
  })

  it('asks the fetcher what is known of the task’s own partition', () => {
    const asked: string[] = []
    const lags = new Map([
      ['table', 3],
      ['stream', 0],
    ])
    const fetcher = {
      lagOf: ({ topic, partition }: TopicPartition) => {
        asked.push(`${topic}-${String(partition)}`)
        return lags.get(topic)
      },
    }
    const idle = idleWaitOf(0, planOf(joining), 5, fetcher, { nowMs: () => 0 })
    idle?.begin()
    expect([idle?.mustWait('table'), idle?.mustWait('stream')]).to.deep.equal([true, false])
    expect(asked).to.deep.equal(['table-5', 'stream-5'])
  })
})

describe('a task that waits for empty inputs', () => {
  const order = { key: 'k', value: 'order', timestamp: 200 }
  const row = { key: 'k', value: 'row', timestamp: 100 }

  it('joins a stream record with a table row that is fetched later and is older (case 66)', () => {
    const waiting = new Waiting(500)
    const run = bench(waiting)
    run.feed('stream', [order])
    expect(run.task.process(10)).to.equal(0)
    waiting.lags.set('table', 1)
    expect(run.task.process(10)).to.equal(0)
    run.feed('table', [row])
    waiting.lags.set('table', 0)
    expect(run.task.process(1)).to.equal(1)
    expect(run.sent('out')).to.deep.equal([])
    expect(run.task.process(1)).to.equal(0)
    waiting.nowMs += 500
    expect(run.task.process(10)).to.equal(1)
    expect(run.sent('out')).to.deep.equal([['k', 'order/row', 200]])
  })

  it('goes on without the row once the wait is over', () => {
    const waiting = new Waiting(500)
    const run = bench(waiting)
    waiting.lags.set('table', 0)
    run.feed('stream', [order])
    expect(run.task.process(10)).to.equal(0)
    waiting.nowMs += 500
    expect(run.task.process(10)).to.equal(1)
    expect(run.sent('out')).to.deep.equal([['k', 'order/null', 200]])
  })

  it('stops in the middle of a chunk when an input runs dry of which more is on the broker', () => {
    const waiting = new Waiting(0)
    const run = bench(waiting)
    waiting.lags.set('stream', 0).set('table', 5)
    run.feed('table', [row])
    run.feed('stream', [{ ...order, timestamp: 50 }, order])
    expect(run.task.process(10)).to.equal(2)
    expect(run.sent('out')).to.deep.equal([['k', 'order/null', 50]])
    waiting.lags.set('table', 0)
    expect(run.task.process(10)).to.equal(1)
    expect(run.sent('out').at(-1)).to.deep.equal(['k', 'order/row', 200])
  })
})
