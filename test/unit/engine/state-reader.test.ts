import { expect } from 'chai'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import type { StateAnswer, StateQuestion } from '../../../src/engine/state-question.ts'
import { StateQueries } from '../../../src/engine/state-queries.ts'
import { LocalStateReader } from '../../../src/engine/state-reader.ts'
import { StateReads } from '../../../src/engine/state-reads.ts'
import { StreamTask } from '../../../src/engine/stream-task.ts'
import type { StreamsState } from '../../../src/engine/streams-state.ts'
import type { TaskInfo } from '../../../src/engine/task-info.ts'
import type { TaskState } from '../../../src/engine/task-state.ts'
import type { ThreadHandle } from '../../../src/engine/thread-handle.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { partitionForKey } from '../../../src/model/murmur2.ts'
import { json } from '../../../src/serdes/json.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { newGlobalStore } from '../../../src/engine/task-stores.ts'
import { MemoryCollector } from '../../../src/testing/memory-collector.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { streams } from '../../../src/topology/streams.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { FedBlock, type FedRecord } from './task-bench.ts'

const PARTITIONS = 4
const text = { key: string, value: string }
const counted = { key: string, value: long }

/** Counts of a stream, in several kinds of stores, a table with history, and a global table. */
const PLAN = planApplication(
  streams(b => {
    const grouped = b.stream('in', text).groupByKey()
    grouped.count({ store: 'counts' })
    grouped.windowedBy({ tumbling: 10, grace: 100_000 }).count({ store: 'windows' })
    grouped.windowedBy({ session: 5, grace: 100_000 }).count({ store: 'sessions' })
    b.table('facts', { ...text, store: 'facts', versioned: { historyRetention: 1_000 } })
    b.stream('asked', text)
      .leftJoin(
        b.globalTable('rates', { ...text, store: 'rates' }),
        v => v,
        (l, r) => `${l}${String(r)}`,
      )
      .to('rated', text)
  }),
  { 'application.id': 'app' },
)

/** A task that is here, with the state it is said to be in. */
class BenchTask {
  readonly task: StreamTask
  readonly partition: number
  readonly committed = (): void => this.task.commitState()
  state: TaskState = 'running'

  constructor(subtopology: (typeof PLAN.subtopologies)[number], partition: number) {
    this.partition = partition
    this.task = new StreamTask(
      subtopology,
      partition,
      { policies: {}, properties: {}, sharedGlobals: undefined },
      {
        collector: new MemoryCollector(() => {}),
        logger: SILENT_LOGGER,
        dropped: () => {},
        wallClockMs: () => 0,
        requestCommit: () => {},
      },
    )
  }

  feed(topic: string, records: readonly FedRecord[]): void {
    this.task.enqueue(topic, new FedBlock(records))
    this.task.process(records.length)
  }
}

/** A thread with some of the tasks, without loop and broker. */
class BenchThread {
  readonly name: string
  readonly own: BenchTask[]
  readonly reads: StateReads
  readonly globals = {
    stores: new Map(PLAN.globalTables.map(table => [table.store.name, newGlobalStore(table)])),
    isComplete: true,
  }
  nextCommitMs = 50
  commitsAsked = 0
  wakes = 0

  constructor(name: string, own: BenchTask[]) {
    this.name = name
    this.own = own
    this.reads = new StateReads({
      plan: PLAN,
      registry: { running: () => this.own.filter(({ state }) => state === 'running') as unknown as ActiveTask[] },
      globals: this.globals,
      schedule: {
        nextMs: () => this.nextCommitMs,
        request: () => {
          this.commitsAsked += 1
        },
      },
      clock: { nowMs: () => 0 },
      onWake: () => {
        this.wakes += 1
      },
    })
  }

  tasks(): readonly TaskInfo[] {
    return this.own.map(({ task: { id }, state }) => ({
      id,
      thread: this.name,
      state,
      offsets: new Map(),
      restoreRemaining: 0,
    }))
  }

  /** As a loop that is idle: it answers at once what it can. */
  read(question: StateQuestion): Promise<StateAnswer> {
    return new Promise(resolve => {
      this.reads.ask(question, resolve)
      this.reads.answerWaiting()
    })
  }
}

function subtopologyOf(store: string): (typeof PLAN.subtopologies)[number] {
  const found = PLAN.subtopologies.find(({ stores }) => stores.some(({ name }) => name === store))
  if (found === undefined) throw new Error(`no store ${store}`)
  return found
}

/** An instance with two threads, of which each has every other partition. */
class Bench {
  readonly counts = Array.from({ length: PARTITIONS }, (_, at) => new BenchTask(subtopologyOf('counts'), at))
  readonly facts = Array.from({ length: PARTITIONS }, (_, at) => new BenchTask(subtopologyOf('facts'), at))
  readonly threads = [0, 1].map(
    number =>
      new BenchThread(
        `t${String(number)}`,
        [...this.counts, ...this.facts].filter(({ partition }) => partition % 2 === number),
      ),
  )
  state: StreamsState = 'running'
  readonly stores = new LocalStateReader(
    new StateQueries({
      application: {
        plan: PLAN,
        topics: { partitions: new Map(['in', 'facts', 'asked'].map(topic => [topic, PARTITIONS])) },
      },
      threads: this.threads as unknown as readonly ThreadHandle[],
      get state(): StreamsState {
        return bench().state
      },
    }),
  )

  /** Records of the input, each in the partition of its key, committed. */
  count(records: readonly (FedRecord & { readonly key: string })[]): void {
    for (const task of this.counts) {
      task.feed(
        'in',
        records.filter(({ key }) => partitionOf(key) === task.partition).map(record => ({ value: 'v', ...record })),
      )
      task.committed()
    }
  }
}

let current: Bench | undefined
function bench(): Bench {
  if (current === undefined) throw new Error('there is a bench inside a test only')
  return current
}

function partitionOf(key: string): number {
  return partitionForKey(Buffer.from(key), PARTITIONS)
}

async function listOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

const codeOf = async (read: Promise<unknown>): Promise<string> => (await rejectionOf(read)).code

describe('state reader', () => {
  beforeEach(() => {
    current = new Bench()
  })

  it('gives a value from whichever thread has the partition of its key, and undefined for a key without one', async () => {
    const keys = Array.from({ length: 20 }, (_, at) => `k${String(at)}`)
    bench().count([...keys, ...keys].map(key => ({ key })))
    expect(await Promise.all(keys.map(key => bench().stores.get('counts', key, counted)))).to.deep.equal(
      keys.map(() => 2),
    )
    expect(await bench().stores.get('counts', 'nobody', counted)).to.equal(undefined)
  })

  it('finds a key that a partitioner of its own has put elsewhere', async () => {
    const at = bench().counts[(partitionOf('moved') + 1) % PARTITIONS]
    at?.feed('in', [{ key: 'moved', value: 'v' }])
    at?.committed()
    expect(await bench().stores.get('counts', 'moved', counted)).to.equal(1)
  })

  it('shows nothing of an open transaction: a read waits for its commit, and has it made when it is far', async () => {
    bench().count([{ key: 'a' }])
    const task = bench().counts[partitionOf('a')]
    const thread = bench().threads[partitionOf('a') % 2]
    task?.feed('in', [{ key: 'a', value: 'v' }])
    let seen: number | undefined
    const read = bench()
      .stores.get('counts', 'a', counted)
      .then(value => (seen = value))
    await new Promise(resolve => setImmediate(resolve))
    expect(seen, 'before the commit').to.equal(undefined)
    expect([thread?.wakes, thread?.commitsAsked], 'a commit in 50 ms need not be asked for').to.deep.equal([1, 0])
    if (thread !== undefined) thread.nextCommitMs = 30_000
    thread?.reads.answerWaiting()
    expect(thread?.commitsAsked).to.equal(1)
    task?.committed()
    thread?.reads.answerWaiting()
    await read
    expect(seen).to.equal(2)
  })

  it('shows what was before when the transaction is aborted', async () => {
    bench().count([{ key: 'a' }])
    const task = bench().counts[partitionOf('a')]
    task?.feed('in', [{ key: 'a', value: 'v' }])
    const read = bench().stores.get('counts', 'a', counted)
    task?.task.abortState()
    bench().threads[partitionOf('a') % 2]?.reads.answerWaiting()
    expect(await read).to.equal(1)
  })

  it('reads ranges of all partitions here, in order of the keys in each, over as many pages as it takes', async () => {
    const keys = Array.from({ length: 5_000 }, (_, at) => `k${String(at).padStart(4, '0')}`)
    bench().count(keys.map(key => ({ key })))
    const all = await listOf(bench().stores.all('counts', counted))
    const inOrder = [0, 1, 2, 3].flatMap(partition => keys.filter(key => partitionOf(key) === partition))
    expect(all).to.deep.equal(inOrder.map(key => [key, 1]))
    const some = await listOf(bench().stores.range('counts', 'k0100', 'k0103', counted))
    expect(some.map(([key]) => key).toSorted()).to.deep.equal(['k0100', 'k0101', 'k0102', 'k0103'])
  })

  it('goes on behind the page before, whatever was written meanwhile', async () => {
    const keys = Array.from({ length: 3_000 }, (_, at) => `k${String(at).padStart(4, '0')}`).filter(
      key => partitionOf(key) === 0,
    )
    bench().count(keys.map(key => ({ key })))
    const seen: string[] = []
    for await (const [key] of bench().stores.all('counts', counted)) {
      seen.push(key)
      if (seen.length === 3) bench().count(keys.map(again => ({ key: again })))
    }
    expect(seen).to.deep.equal(keys)
  })

  it('gives windows of a key with their bounds, and sessions with theirs', async () => {
    bench().count([1, 2, 11, 12, 13, 35].map(timestamp => ({ key: 'a', timestamp })))
    expect(await listOf(bench().stores.windows('windows', 'a', 0, 20, counted))).to.deep.equal([
      [{ key: 'a', start: 0, end: 10 }, 2],
      [{ key: 'a', start: 10, end: 20 }, 3],
    ])
    expect(await listOf(bench().stores.sessions('sessions', 'a', 5, 100, counted))).to.deep.equal([
      [{ key: 'a', start: 11, end: 13 }, 3],
      [{ key: 'a', start: 35, end: 35 }, 1],
    ])
  })

  it('gives more windows and sessions of a key than a page holds', async () => {
    const starts = Array.from({ length: 1_300 }, (_, at) => at * 10)
    bench().count(starts.map(timestamp => ({ key: 'a', timestamp })))
    const windows = await listOf(bench().stores.windows('windows', 'a', 0, 1e9, counted))
    expect(windows.map(([{ start }]) => start)).to.deep.equal(starts)
    const sessions = await listOf(bench().stores.sessions('sessions', 'a', 0, 1e9, counted))
    expect(sessions.map(([{ start }]) => start)).to.deep.equal(starts)
  })

  it('tells which version held at a time, and until when', async () => {
    const task = bench().facts[partitionOf('a')]
    task?.feed('facts', [
      { key: 'a', value: 'old', timestamp: 100 },
      { key: 'a', value: 'new', timestamp: 200 },
    ])
    task?.committed()
    const { stores } = bench()
    expect(await stores.version('facts', 'a', undefined, text)).to.deep.equal({
      value: 'new',
      timestamp: 200,
      validTo: undefined,
    })
    expect(await stores.version('facts', 'a', 150, text)).to.deep.equal({ value: 'old', timestamp: 100, validTo: 200 })
    expect(await stores.version('facts', 'a', 50, text)).to.equal(undefined)
    expect(await stores.get('facts', 'a', text)).to.equal('new')
  })

  it('reads a global table from the copy of any thread, once it is complete', async () => {
    const [thread] = bench().threads
    thread?.globals.stores.get('rates')?.restore(Buffer.from('r'), Buffer.from('1.5'), 0, NO_HEADERS)
    expect(await bench().stores.get('rates', 'r', text)).to.equal('1.5')
    expect(await listOf(bench().stores.all('rates', text))).to.deep.equal([['r', '1.5']])
    if (thread !== undefined) thread.globals.isComplete = false
    expect(await codeOf(bench().stores.get('rates', 'r', text))).to.equal('STATE_NOT_READY')
  })

  it('says that a key is with another instance, or may still come to this one', async () => {
    const away = partitionOf('a')
    for (const thread of bench().threads)
      thread.own.splice(0, 8, ...thread.own.filter(({ partition }) => partition !== away))
    expect(await codeOf(bench().stores.get('counts', 'a', counted))).to.equal('STATE_ELSEWHERE')
    bench().state = 'rebalancing'
    expect(await codeOf(bench().stores.get('counts', 'a', counted))).to.equal('STATE_NOT_READY')
  })

  it('says that a task is being restored, and reads the others meanwhile', async () => {
    const keys = Array.from({ length: 20 }, (_, at) => `k${String(at)}`)
    bench().count(keys.map(key => ({ key })))
    for (const task of bench().counts) if (task.partition === 1) task.state = 'restoring'
    const [late, there] = [keys.find(key => partitionOf(key) === 1), keys.find(key => partitionOf(key) === 3)]
    expect(await codeOf(bench().stores.get('counts', late ?? '', counted))).to.equal('STATE_NOT_READY')
    expect(await bench().stores.get('counts', there ?? '', counted)).to.equal(1)
    expect(await codeOf(listOf(bench().stores.all('counts', counted)))).to.equal('STATE_NOT_READY')
  })

  it('refuses unknown stores, other kinds of stores, foreign serdes, and instances that do not run', async () => {
    bench().count([{ key: 'a' }])
    const { stores } = bench()
    const unknown = await rejectionOf(stores.get('count', 'a', counted))
    expect([unknown.code, unknown.action]).to.deep.equal(['NAME_UNKNOWN', 'Did you mean counts?'])
    expect(await codeOf(stores.get('windows', 'a', counted))).to.equal('USAGE')
    expect(await codeOf(listOf(stores.windows('counts', 'a', 0, 1, counted)))).to.equal('USAGE')
    expect(await codeOf(listOf(stores.range('facts', 'a', 'b', text)))).to.equal('USAGE')
    expect(await codeOf(stores.get('counts', 'a', { key: string, value: json<{ n: number }>() }))).to.equal(
      'SERDE_MISMATCH',
    )
    bench().state = 'closed'
    expect(await codeOf(stores.get('counts', 'a', counted))).to.equal('NOT_RUNNING')
  })

  it('answers whoever waits when a thread ends, and whoever comes later', async () => {
    bench().counts[partitionOf('a')]?.feed('in', [{ key: 'a', value: 'v' }])
    const thread = bench().threads[partitionOf('a') % 2]
    const waits = bench().stores.get('counts', 'a', counted)
    thread?.reads.end()
    expect(await codeOf(waits)).to.equal('STATE_NOT_READY')
    expect(await codeOf(bench().stores.get('counts', 'a', counted))).to.equal('STATE_NOT_READY')
  })
})
