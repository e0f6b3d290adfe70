import { expect } from 'chai'
import fc from 'fast-check'
import { ByteArena } from '../../../src/stores/byte-arena.ts'
import { KeyTable } from '../../../src/stores/key-table.ts'
import { OrderedEntries } from '../../../src/stores/ordered-entries.ts'
import { sortByKey } from '../../../src/stores/key-sort.ts'

/** Keys as stores have them: with a common beginning, numbers, times, zeros at the end. */
const keys = fc.oneof(
  fc.nat(5_000).map(number => Buffer.from(`order-${String(number).padStart(6, '0')}`)),
  fc.nat(5_000).map(number => Buffer.from([0, 0, 1, 139, number >> 8, number & 255])),
  fc.uint8Array({ maxLength: 12 }).map(bytes => Buffer.from(bytes)),
  fc.nat(20).map(length => Buffer.alloc(length)),
)
const oneBeginning = fc.nat(1_000_000).map(number => Buffer.from(`customer|${String(number).padStart(9, '0')}`))

function unique(list: readonly Buffer[]): Buffer[] {
  return [...new Map(list.map(key => [key.toString('hex'), key])).values()]
}

describe('ordered entries', () => {
  for (const [what, arbitrary, count] of [
    ['keys of all kinds', keys, 400],
    ['keys that begin alike', oneBeginning, 3_000],
  ] as const) {
    it(`give ${what} in the order of their bytes, from and to any key, while entries come and go`, () => {
      fc.assert(
        fc.property(
          fc.array(arbitrary, { minLength: count / 4, maxLength: count }),
          fc.nat(),
          fc.array(keys),
          (made, seed, bounds) => {
            const all = unique(made)
            const table = new KeyTable(new ByteArena())
            const built = all.slice(0, seed % (all.length + 1)).map(key => table.insert(key))
            const ordered = new OrderedEntries(table, built)
            const held = new Set(built)
            for (const [at, key] of all.slice(built.length).entries()) {
              const entry = table.insert(key)
              ordered.add(entry)
              held.add(entry)
              if (at % 3 !== 2) continue
              const [first] = held
              if (first === undefined) continue
              ordered.remove(first)
              held.delete(first)
            }
            const expected = [...held].toSorted((a, b) => Buffer.compare(table.keyAt(a), table.keyAt(b)))
            expect([...ordered.scan(undefined, undefined)]).to.deep.equal(expected)
            for (const bound of [...bounds, ...all.slice(0, 20)]) {
              const from = expected.filter(entry => Buffer.compare(table.keyAt(entry), bound) >= 0)
              const to = expected.filter(entry => Buffer.compare(table.keyAt(entry), bound) <= 0)
              expect([...ordered.scan(bound, undefined)]).to.deep.equal(from)
              expect([...ordered.scanBackwards(undefined, bound)]).to.deep.equal(to.toReversed())
            }
          },
        ),
        { numRuns: 30 },
      )
    })
  }

  it('are sorted by their keys all at once as one by one', () => {
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 400 }), made => {
        const table = new KeyTable(new ByteArena())
        const entries = unique(made).map(key => table.insert(key))
        const expected = entries.toSorted((a, b) => Buffer.compare(table.keyAt(a), table.keyAt(b)))
        sortByKey(entries, table)
        expect(entries).to.deep.equal(expected)
      }),
    )
  })
})
