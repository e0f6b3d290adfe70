import { expect } from 'chai'
import fc from 'fast-check'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { json } from '../../../src/serdes/json.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { MemorySessionStore } from '../../../src/stores/memory-session-store.ts'
import { MemoryWindowStore } from '../../../src/stores/memory-window-store.ts'
import type { WindowState } from '../../../src/stores/window-state.ts'

interface Change {
  readonly key: Buffer
  readonly value: Buffer | null
  readonly timestamp: number
}

function key(text: string): Buffer {
  return Buffer.from(text)
}

function newStore(
  changes: Change[] = [],
  options: { readonly retentionMs?: number; readonly retainsDuplicates?: boolean } = {},
): MemoryWindowStore {
  return new MemoryWindowStore({
    name: 'w',
    value: long,
    retentionMs: options.retentionMs ?? 100,
    retainsDuplicates: options.retainsDuplicates,
    changelog: {
      topic: 'app-w-changelog',
      append: (logKey, value, timestamp) => {
        changes.push({ key: Buffer.from(logKey), value: value === null ? null : Buffer.from(value), timestamp })
      },
    },
  })
}

function fetched(store: WindowState, of: string, from: number, to: number): readonly (readonly [number, unknown])[] {
  const found: [number, unknown][] = []
  store.fetch(key(of), from, to, (start, value) => {
    found.push([start, value])
    return true
  })
  return found
}

function all(store: WindowState): readonly string[] {
  return [...store.fetchAll(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)].map(
    ([bytes, start, value]) => `${bytes.toString()}@${String(start)}=${String(value)}`,
  )
}

describe('window store in memory', () => {
  it('gives a value back by key and start, with its time', () => {
    const store = newStore()
    store.put(key('a'), 7, 10, 15)
    expect(store.get(key('a'), 10)).to.equal(7)
    expect(store.lastTimestamp).to.equal(15)
    expect(store.get(key('a'), 11)).to.equal(undefined)
    expect(store.get(key('b'), 10)).to.equal(undefined)
  })

  it('does not show what starts the retention or more before the highest start', () => {
    const store = newStore()
    store.put(key('a'), 1, 100, 100)
    store.put(key('b'), 2, 200, 200)
    expect(store.get(key('a'), 100)).to.equal(undefined)
    store.put(key('a'), 3, 101, 101)
    expect(store.get(key('a'), 101)).to.equal(3)
  })

  it('scans the windows of one key forwards and backwards, whatever other keys there are', () => {
    const store = newStore()
    for (const start of [30, 10, 20]) store.put(key('a'), start, start, start)
    store.put(Buffer.from([0x61, 0, 0, 0, 0, 0, 0, 0, 15]), 99, 15, 15)
    expect(fetched(store, 'a', 10, 20)).to.deep.equal([
      [10, 10],
      [20, 20],
    ])
    const backwards: number[] = []
    store.fetchBackwards(key('a'), 0, 25, start => {
      backwards.push(start)
      return true
    })
    expect(backwards).to.deep.equal([20, 10])
  })

  it('writes keys as key, start and sequence number, and late writes too', () => {
    const changes: Change[] = []
    const store = newStore(changes)
    store.put(key('a'), 1, 258, 300)
    store.put(key('a'), 2, 1, 5)
    expect(changes.map(change => [change.key.toString('hex'), change.timestamp])).to.deep.equal([
      ['61000000000000010200000000', 300],
      ['61000000000000000100000000', 5],
    ])
    expect(store.get(key('a'), 1)).to.equal(undefined)
  })

  it('keeps every put where duplicates are kept, numbers them, and takes the numbers back with the record', () => {
    const changes: Change[] = []
    const store = newStore(changes, { retainsDuplicates: true })
    store.put(key('a'), 1, 10, 10)
    store.put(key('a'), 2, 10, 10)
    store.endRecord()
    store.put(key('a'), 3, 10, 10)
    store.rollbackRecord()
    store.put(key('a'), 4, 10, 10)
    expect(fetched(store, 'a', 10, 10).map(([, value]) => value)).to.deep.equal([1, 2, 4])
    expect(changes.map(change => change.key.readInt32BE(change.key.length - 4))).to.deep.equal([1, 2, 3, 3])
  })

  it('goes on behind the numbers it was restored with where duplicates are kept: an old put would be replaced', () => {
    const changes: Change[] = []
    const before = newStore(changes, { retainsDuplicates: true })
    for (const value of [1, 2]) before.put(key('a'), value, 10, 10)
    const store = newStore([], { retainsDuplicates: true })
    for (const { key: logKey, value, timestamp } of changes) store.restore(logKey, value, timestamp, NO_HEADERS)
    store.commit()
    store.put(key('a'), 3, 10, 10)
    expect(fetched(store, 'a', 10, 10).map(([, value]) => value)).to.deep.equal([1, 2, 3])
  })

  it('frees what is too old at a commit, and not before: an abort may need it', () => {
    const store = newStore()
    store.put(key('a'), 1, 10, 10)
    store.commit()
    store.put(key('b'), 2, 500, 500)
    expect(store.entries).to.equal(2)
    store.abort()
    expect(store.get(key('a'), 10)).to.equal(1)
    store.put(key('b'), 2, 500, 500)
    store.commit()
    expect(store.entries).to.equal(1)
  })

  it('does what a plain map of entries does, whatever is put, rolled back, aborted and committed', () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          op: fc.constant('put' as const),
          k: fc.constantFrom('a', 'b', 'bb', 'c'),
          start: fc.nat(300),
          value: fc.option(fc.nat(9)),
        }),
      },
      { weight: 2, arbitrary: fc.record({ op: fc.constant('endRecord' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ op: fc.constantFrom('rollbackRecord' as const, 'commit' as const, 'abort' as const) }),
      },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), steps => {
        const changes: Change[] = []
        const store = newStore(changes)
        const model = new Model()
        for (const taken of steps) {
          if (taken.op === 'put') {
            store.put(key(taken.k), taken.value, taken.start, taken.start)
            model.put(taken.k, taken.value, taken.start)
          } else {
            if (taken.op === 'commit' || taken.op === 'abort') store.endRecord()
            store[taken.op]()
            model[taken.op]()
          }
          expect(all(store)).to.deep.equal(model.all())
          expect(store.observedMs).to.equal(model.now.observed)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is the same after a restore from its changelog', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(400), fc.option(fc.nat(9))), { maxLength: 60 }),
        fc.boolean(),
        (puts, retainsDuplicates) => {
          const changes: Change[] = []
          const store = newStore(changes, { retainsDuplicates })
          for (const [k, start, value] of puts) store.put(key(k), value, start, start)
          const restored = newStore([], { retainsDuplicates })
          for (const change of changes) restored.restore(change.key, change.value, change.timestamp, NO_HEADERS)
          expect(all(restored)).to.deep.equal(all(store))
          expect(restored.observedMs).to.equal(store.observedMs)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('counts what a scan for final results does not show any more', () => {
    const store = newStore()
    for (const start of [0, 10, 20]) store.put(key('a'), start, start, start)
    expect(store.countUnseen(0, 20)).to.equal(0)
    store.put(key('a'), 1, 115, 115)
    expect(store.countUnseen(0, 20)).to.equal(2)
  })
})

describe('session store in memory', () => {
  it('finds sessions that touch a stretch of time, by end and then start', () => {
    const store = new MemorySessionStore({ name: 's', value: json(), retentionMs: 1_000, changelog: undefined })
    for (const [start, end] of [
      [0, 10],
      [5, 30],
      [40, 50],
    ] as const) {
      store.put(key('a'), start, end, `${String(start)}-${String(end)}`, end)
    }
    store.put(key('b'), 0, 100, 'other', 100)
    const found: unknown[] = []
    store.findSessions(key('a'), 10, 5, (_start, _end, value) => {
      found.push(value)
      return true
    })
    expect(found).to.deep.equal(['0-10', '5-30'])
  })

  it('takes removals and new sessions back with the transaction', () => {
    const store = new MemorySessionStore({ name: 's', value: long, retentionMs: 1_000, changelog: undefined })
    store.put(key('a'), 0, 10, 1, 10)
    store.commit()
    store.put(key('a'), 0, 10, null, 12)
    store.put(key('a'), 0, 12, 2, 12)
    store.endRecord()
    store.abort()
    expect(store.get(key('a'), 0, 10)).to.equal(1)
    expect(store.get(key('a'), 0, 12)).to.equal(undefined)
    expect(store.observedMs).to.equal(10)
  })
})

interface Snapshot {
  readonly entries: ReadonlyMap<string, number>
  readonly observed: number
}

/** The store as a map that is copied at every savepoint. */
class Model {
  now: Snapshot = { entries: new Map(), observed: -1 }
  #record: Snapshot = this.now
  #transaction: Snapshot = this.now

  put(k: string, value: number | null, start: number): void {
    const observed = Math.max(this.now.observed, start)
    const entries = new Map(this.now.entries)
    if (value === null) entries.delete(`${k}@${String(start)}`)
    else entries.set(`${k}@${String(start)}`, value)
    this.now = { entries, observed }
  }

  endRecord(): void {
    this.#record = this.now
  }

  rollbackRecord(): void {
    this.now = this.#record
  }

  commit(): void {
    this.#record = this.now
    this.#transaction = this.now
  }

  abort(): void {
    this.now = this.#transaction
    this.#record = this.now
  }

  all(): readonly string[] {
    return [...this.now.entries]
      .map(([name, value]) => ({ name, value, k: name.split('@')[0] ?? '', start: Number(name.split('@')[1]) }))
      .filter(({ start }) => start > this.now.observed - 100)
      .toSorted((a, b) => a.start - b.start || (a.k < b.k ? -1 : 1))
      .map(({ name, value }) => `${name}=${String(value)}`)
  }
}
