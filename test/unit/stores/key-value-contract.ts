import { expect } from 'chai'
import fc from 'fast-check'
import { MillraceError } from '../../../src/model/errors.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { json } from '../../../src/serdes/json.ts'
import type { AnySerde } from '../../../src/serdes/serde.ts'
import type { Changelog } from '../../../src/stores/changelog.ts'
import type { KeyValueState } from '../../../src/stores/key-value-state.ts'

/** A change as it arrived in the changelog. */
interface Change {
  readonly key: string
  readonly value: string | null
  readonly timestamp: number
}

/** Makes a store of the engine under test. */
export type NewStore = (options: {
  readonly value: AnySerde
  readonly changelog?: Changelog
  readonly maxBytes?: number
}) => KeyValueState

function key(text: string): Buffer {
  return Buffer.from(text)
}

function textsOf(store: KeyValueState, range: Parameters<KeyValueState['scan']>[0] = {}): string[] {
  return [...store.scan(range)].map(([bytes]) => bytes.toString())
}

/** What every key-value store has to do, whatever engine keeps it. */
export function describeKeyValueContract(name: string, newStore: NewStore): void {
  describe(`key-value store (${name})`, () => {
    it('gives back what was put, with its time', () => {
      const store = newStore({ value: long })
      store.put(key('a'), 7, 100)

      expect(store.get(key('a'))).to.equal(7)
      expect(store.lastTimestamp).to.equal(100)
      expect(store.get(key('b'))).to.equal(undefined)
      expect(store.lastTimestamp).to.equal(-1)
    })

    it('keeps a copy that user code cannot change in place', () => {
      const store = newStore({ value: json() })
      const value = { list: [1] }
      store.put(key('a'), value, 0)
      value.list.push(2)

      expect(store.get(key('a'))).to.deep.equal({ list: [1] })
    })

    it('writes one changelog record per write, deletions of missing keys too', () => {
      const changes: Change[] = []
      const changelog = changelogInto(changes)
      const store = newStore({ value: json(), changelog })
      store.put(key('a'), 1, 5)
      store.put(key('a'), null, 6)
      store.put(key('b'), null, 7)

      expect(changes).to.deep.equal([
        { key: 'a', value: '1', timestamp: 5 },
        { key: 'a', value: null, timestamp: 6 },
        { key: 'b', value: null, timestamp: 7 },
      ])
    })

    it('scans in the order of the keys as bytes, within bounds and both ways', () => {
      const store = newStore({ value: long })
      for (const text of ['é', 'b', 'bb', 'Z', 'a', 'd']) store.put(key(text), 1, 0)

      expect(textsOf(store)).to.deep.equal(['Z', 'a', 'b', 'bb', 'd', 'é'])
      expect(textsOf(store, { from: key('b'), to: key('d') })).to.deep.equal(['b', 'bb', 'd'])
      expect(textsOf(store, { from: key('b'), to: key('d'), backwards: true })).to.deep.equal(['d', 'bb', 'b'])
      expect(textsOf(store, { prefix: key('b') })).to.deep.equal(['b', 'bb'])
    })

    it('goes on scanning rightly when entries are deleted and added meanwhile', () => {
      const store = newStore({ value: long })
      for (let n = 0; n < 2_000; n++) store.put(key(String(n).padStart(5, '0')), n, 0)
      const seen: string[] = []
      for (const [bytes] of store.scan({})) {
        const text = bytes.toString()
        seen.push(text)
        store.put(key(text), null, 0)
        if (!text.endsWith('x')) store.put(key(`${text}x`), 0, 0)
      }

      expect(seen).to.have.length(4_000)
      expect(seen).to.deep.equal([...seen].toSorted())
      expect(store.entries).to.equal(0)
    })

    it('takes one record back and keeps the rest of the transaction', () => {
      const store = newStore({ value: long })
      store.put(key('a'), 1, 1)
      store.endRecord()
      store.put(key('a'), 2, 2)
      store.put(key('a'), 3, 3)
      store.put(key('b'), 1, 3)
      store.rollbackRecord()

      expect(store.get(key('a'))).to.equal(1)
      expect(store.lastTimestamp).to.equal(1)
      expect(store.has(key('b'))).to.equal(false)
      expect(textsOf(store)).to.deep.equal(['a'])
    })

    it('counts entries and bytes through puts, deletions and aborts', () => {
      const store = newStore({ value: long })
      store.put(key('aa'), 1, 1)
      store.commit()
      const { bytes } = store
      store.put(key('bbbb'), 1, 1)
      store.put(key('aa'), null, 1)
      store.abort()

      expect([store.entries, store.bytes]).to.deep.equal([1, bytes])
      expect(bytes).to.equal(10)
    })

    it('refuses to grow beyond its bound and stays as it was', () => {
      const store = newStore({ value: long, maxBytes: 20 })
      store.put(key('a'), 1, 0)
      store.put(key('b'), 1, 0)

      expect(() => {
        store.put(key('c'), 1, 0)
      })
        .to.throw(MillraceError)
        .with.property('code', 'STORE_FULL')
      expect(textsOf(store)).to.deep.equal(['a', 'b'])
      store.put(key('a'), 2, 0)
      expect(store.get(key('a'))).to.equal(2)
    })

    it('takes changelog records over without logging them again, and no abort takes them back', () => {
      const changes: Change[] = []
      const store = newStore({ value: json(), changelog: changelogInto(changes) })
      store.restore(key('a'), Buffer.from('1'), 5, NO_HEADERS)
      store.restore(key('b'), Buffer.from('2'), 6, NO_HEADERS)
      store.restore(key('b'), null, 7, NO_HEADERS)
      expect([store.dirty, changes]).to.deep.equal([false, []])
      store.put(key('a'), 9, 8)
      expect(store.dirty).to.equal(true)
      store.abort()

      expect([...store.scan({})].map(([bytes, value, time]) => [bytes.toString(), value, time])).to.deep.equal([
        ['a', 1, 5],
      ])
    })

    it('forgets everything when it is cleared, and can be filled again', () => {
      const store = newStore({ value: long, maxBytes: 20 })
      store.put(key('a'), 1, 0)
      store.put(key('b'), 1, 0)
      store.endRecord()
      store.clear()
      expect([store.entries, store.bytes, store.dirty, textsOf(store)]).to.deep.equal([0, 0, false, []])
      store.abort()
      expect(store.get(key('a'))).to.equal(undefined)
      store.put(key('c'), 2, 0)
      store.commit()

      expect(textsOf(store)).to.deep.equal(['c'])
    })

    it('takes back what one transaction did over many records, deletions and new writes of one key', () => {
      const store = newStore({ value: long })
      store.put(key('a'), 1, 1)
      store.commit()
      for (const value of [2, null, 3, null]) {
        store.put(key('a'), value, 9)
        store.put(key('b'), value, 9)
        store.endRecord()
      }
      store.put(key('c'), 4, 9)
      store.rollbackRecord()
      store.abort()

      expect(store.get(key('a'))).to.equal(1)
      expect(store.lastTimestamp).to.equal(1)
      expect(textsOf(store)).to.deep.equal(['a'])
    })

    it('refuses any use after it was closed', () => {
      const store = newStore({ value: long })
      store.close()
      expect(() => store.get(key('a')))
        .to.throw(MillraceError)
        .with.property('code', 'STORE_CLOSED')
    })

    it('behaves like a map with savepoints, and its changelog restores it', () => {
      fc.assert(
        fc.property(fc.array(operation, { maxLength: 200 }), operations => {
          compareWithModel(newStore, operations)
        }),
        { numRuns: 150 },
      )
    })
  })
}

type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: string | null; readonly time: number }
  | { readonly kind: 'endRecord' | 'rollbackRecord' | 'commit' | 'abort' | 'scan' }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      key: fc.constantFrom('', 'a', 'ab', 'b', 'c', 'long key of the store', 'é'),
      value: fc.option(fc.string({ maxLength: 60 })),
      time: fc.nat(1_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'endRecord' as const,
        'rollbackRecord' as const,
        'commit' as const,
        'abort' as const,
        'scan' as const,
      ),
    }),
  },
)

type Model = Map<string, { readonly value: string; readonly time: number }>

/** Runs the operations on a store and on plain maps, one per savepoint; then restores another store from the committed changelog. */
function compareWithModel(newStore: NewStore, operations: readonly Operation[]): void {
  const changes: Change[] = []
  let kept = 0
  let committedChanges = 0
  const store = newStore({ value: json(), changelog: changelogInto(changes) })
  let now: Model = new Map()
  let record: Model = new Map()
  let transaction: Model = new Map()
  for (const step of operations) {
    switch (step.kind) {
      case 'put':
        store.put(key(step.key), step.value, step.time)
        if (step.value === null) now.delete(step.key)
        else now.set(step.key, { value: step.value, time: step.time })
        continue
      case 'scan':
        break
      case 'endRecord':
        store.endRecord()
        record = new Map(now)
        kept = changes.length
        break
      case 'rollbackRecord':
        store.rollbackRecord()
        now = new Map(record)
        changes.length = kept
        break
      case 'commit':
        store.commit()
        record = new Map(now)
        transaction = new Map(now)
        kept = changes.length
        committedChanges = kept
        break
      case 'abort':
        store.abort()
        now = new Map(transaction)
        record = new Map(transaction)
        changes.length = committedChanges
        kept = committedChanges
        break
    }
    expectSame(store, now)
  }
  store.abort()
  const restored = newStore({ value: json() })
  for (const { key: text, value, timestamp } of changes.slice(0, committedChanges)) {
    restored.restore(key(text), value === null ? null : Buffer.from(value), timestamp, NO_HEADERS)
  }
  expectSame(restored, transaction)
  expect([restored.entries, restored.bytes]).to.deep.equal([store.entries, store.bytes])
}

function expectSame(store: KeyValueState, model: Model): void {
  const held = [...store.scan({})].map(([bytes, value, time]) => [bytes.toString(), value, time])
  const expected = [...model].map(([text, { value, time }]) => [text, value, time])
  expect(held).to.have.deep.members(expected)
  expect(store.entries).to.equal(model.size)
}

function changelogInto(changes: Change[]): Changelog {
  return {
    topic: 'app-s-changelog',
    append: (bytes, value, timestamp) => {
      changes.push({
        key: Buffer.from(bytes).toString(),
        value: value === null ? null : Buffer.from(value).toString(),
        timestamp,
      })
    },
  }
}
