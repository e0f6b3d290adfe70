import { expect } from 'chai'
import fc from 'fast-check'
import { string } from '../../src/serdes/text.ts'
import { MemoryVersionedStore } from '../../src/stores/memory-versioned-store.ts'

const RETENTION_MS = 50

interface Put {
  readonly key: string
  readonly value: string | null
  readonly timestamp: number
  readonly ends: 'endRecord' | 'rollbackRecord' | 'commit' | 'abort' | 'nothing'
}

/** Every version ever taken, by key and time: what a store would be that forgets nothing. */
class NaiveVersions {
  observed = -1
  versions: Readonly<Record<string, ReadonlyMap<number, string | null>>> = {}

  put({ key, value, timestamp }: Put): number | 'latest' | 'rejected' {
    if (timestamp < this.observed - RETENTION_MS) return 'rejected'
    this.observed = Math.max(this.observed, timestamp)
    const of = new Map(this.versions[key]).set(timestamp, value)
    this.versions = { ...this.versions, [key]: of }
    const later = [...of.keys()].filter(time => time > timestamp)
    return later.length === 0 ? 'latest' : Math.min(...later)
  }

  asOf(key: string, time: number): string | null {
    const from = [...(this.versions[key]?.keys() ?? [])].filter(start => start <= time)
    return from.length === 0 ? null : (this.versions[key]?.get(Math.max(...from)) ?? null)
  }

  copy(): NaiveVersions {
    return Object.assign(new NaiveVersions(), { observed: this.observed, versions: this.versions })
  }
}

const puts = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'ab', 'b'),
    value: fc.option(fc.constantFrom('x', 'y', 'z'), { nil: null }),
    timestamp: fc.nat(150),
    ends: fc.constantFrom('nothing', 'nothing', 'endRecord', 'rollbackRecord', 'commit', 'abort'),
  } satisfies { [N in keyof Put]: fc.Arbitrary<Put[N]> }),
  { maxLength: 60 },
)

describe('a versioned store under random puts', () => {
  it('gives what held at any time of its history, over savepoints and aborts', () => {
    fc.assert(
      fc.property(puts, list => {
        const store = new MemoryVersionedStore({
          name: 'v',
          value: string,
          retentionMs: RETENTION_MS,
          changelog: undefined,
        })
        let model = new NaiveVersions()
        let saved = model.copy()
        let committed = model.copy()
        for (const put of list) {
          expect(store.put(Buffer.from(put.key), put.value, put.timestamp)).to.equal(model.put(put))
          if (put.ends !== 'nothing') store[put.ends]()
          if (put.ends === 'rollbackRecord') model = saved.copy()
          if (put.ends === 'abort') model = committed.copy()
          if (put.ends !== 'nothing') saved = model.copy()
          if (put.ends === 'commit' || put.ends === 'abort') committed = model.copy()
          for (const key of ['a', 'ab', 'b']) {
            const bytes = Buffer.from(key)
            expect(store.get(bytes) ?? null).to.equal(model.asOf(key, Number.POSITIVE_INFINITY))
            for (let time = Math.max(0, model.observed - RETENTION_MS); time <= 151; time += 7)
              expect(store.getAsOf(bytes, time) ?? null, `${key} at ${String(time)}`).to.equal(model.asOf(key, time))
          }
        }
      }),
    )
  })
})
