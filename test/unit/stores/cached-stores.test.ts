import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { long } from '../../../src/serdes/numbers.ts'
import type { AnyState } from '../../../src/stores/any-state.ts'
import { MemoryKeyValueStore } from '../../../src/stores/memory-key-value-store.ts'
import { MemorySessionStore } from '../../../src/stores/memory-session-store.ts'
import { MemoryWindowStore } from '../../../src/stores/memory-window-store.ts'
import { WriteCache } from '../../../src/stores/write-cache.ts'

/** Time of everything that is put. */
const TIME_MS = 500

/** A store behind a cache, with what it logs and tells at a flush. */
class CachedStore {
  readonly logged: string[] = []
  /** The value before of each result. */
  readonly before: unknown[] = []
  readonly cache: WriteCache
  readonly store: AnyState
  readonly put: (key: string, value: number | null, timeMs?: number) => void

  constructor(kind: 'keyValue' | 'window' | 'session') {
    const changelog = {
      topic: 'changelog',
      append: (key: Uint8Array, value: Uint8Array | null) => {
        this.logged.push(`${String.fromCodePoint(key[0] ?? 0)}${value === null ? ' deleted' : ''}`)
      },
    }
    this.cache = new WriteCache({
      changelog,
      loggedHeaders: 'none',
      maxBytes: 10_000,
      context: () => ({ topic: 'in', partition: 0, offset: 0, timestamp: TIME_MS, headers: NO_HEADERS }),
      value: long,
      topic: 'changelog',
    })
    const options = { name: 's', value: long, changelog, cache: this.cache, retentionMs: 100 }
    if (kind === 'keyValue') {
      const store = new MemoryKeyValueStore(options)
      this.store = store
      this.put = (key, value, timeMs = TIME_MS) => store.put(Buffer.from(key), value, timeMs)
    } else if (kind === 'window') {
      const store = new MemoryWindowStore(options)
      this.store = store
      this.put = (key, value, timeMs = TIME_MS) => store.put(Buffer.from(key), value, timeMs, timeMs)
    } else {
      const store = new MemorySessionStore(options)
      this.store = store
      this.put = (key, value, timeMs = TIME_MS) => store.put(Buffer.from(key), timeMs, timeMs, value, timeMs)
    }
    this.cache.listener = ({ old }) => this.before.push(old)
  }

  flush(): void {
    this.cache.flush()
    this.store.endRecord()
  }
}

for (const kind of ['keyValue', 'window', 'session'] as const) {
  describe(`a ${kind} store behind a cache`, () => {
    it('logs nothing of an aborted transaction: a commit may come before its records do again', () => {
      const cached = new CachedStore(kind)
      cached.put('a', 1)
      cached.store.endRecord()
      cached.store.abort()
      cached.put('b', 1)
      cached.store.endRecord()
      cached.flush()
      expect(cached.logged).to.deep.equal(['b'])
      cached.store.commit()
      expect(cached.store.entries).to.equal(1)
    })

    it('logs nothing of a record that was taken back', () => {
      const cached = new CachedStore(kind)
      cached.put('a', 1)
      cached.store.endRecord()
      cached.put('b', 1)
      cached.put('a', 2)
      cached.store.rollbackRecord()
      cached.flush()
      expect(cached.logged).to.deep.equal(['a'])
      cached.store.commit()
      expect(cached.store.entries).to.equal(1)
    })

    it('tells of the value that was told before, not of one that was held back meanwhile', () => {
      const cached = new CachedStore(kind)
      cached.put('a', 1)
      cached.flush()
      cached.store.commit()
      for (const value of [2, 3]) {
        cached.put('a', value)
        cached.store.endRecord()
      }
      cached.flush()
      expect(cached.before).to.deep.equal([null, 1])
    })
  })
}

/** A store whose first value has left its cache. */
function told(kind: 'window' | 'session'): CachedStore {
  const cached = new CachedStore(kind)
  cached.put('a', 1)
  cached.flush()
  cached.store.commit()
  cached.before.length = 0
  return cached
}

for (const kind of ['window', 'session'] as const) {
  describe(`the values before of a ${kind} store behind a cache`, () => {
    it('are shown while they are within the retention, by what has been told of', () => {
      const cached = told(kind)
      cached.put('a', 2)
      cached.flush()
      expect(cached.before).to.deep.equal([1])
      cached.put('b', 1, TIME_MS + 200)
      cached.flush()
      cached.put('a', 3)
      cached.flush()
      expect(cached.before).to.deep.equal([1, null, null])
    })

    for (const [taken, takeBack] of [
      ['an aborted transaction', (cached: CachedStore) => cached.store.abort()],
      ['a flush that was taken back', (cached: CachedStore) => cached.store.rollbackRecord()],
    ] as const) {
      it(`are not hidden by what ${taken} told of`, () => {
        const cached = told(kind)
        cached.put('b', 1, TIME_MS + 200)
        cached.cache.flush()
        takeBack(cached)
        cached.cache.abort()
        cached.before.length = 0
        cached.put('a', 2)
        cached.flush()
        expect(cached.before).to.deep.equal([1])
      })
    }
  })
}
