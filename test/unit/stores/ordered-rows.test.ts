import { expect } from 'chai'
import fc from 'fast-check'
import { OrderedRows } from '../../../src/stores/ordered-rows.ts'

/** What a list that is sorted by time, and by arrival within it, makes of the same. */
class SortedList {
  readonly #rows: { readonly row: number; readonly time: number }[] = []

  get rows(): readonly number[] {
    return this.#rows.map(({ row }) => row)
  }

  add(row: number, time: number): void {
    const at = this.#rows.findIndex(held => held.time > time)
    this.#rows.splice(at === -1 ? this.#rows.length : at, 0, { row, time })
  }

  remove(row: number): void {
    this.#rows.splice(this.rows.indexOf(row), 1)
  }

  takeFirst(): readonly number[] {
    const count = this.#rows.filter(({ time }) => time === this.#rows[0]?.time).length
    return this.#rows.splice(0, count).map(({ row }) => row)
  }

  between(from: number, to: number): readonly number[] {
    return this.#rows.filter(({ time }) => time >= from && time <= to).map(({ row }) => row)
  }
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('add' as const), late: fc.nat(3), moves: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('removeFirst' as const), count: fc.integer({ min: 1, max: 700 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat(2_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeFirst' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('scan' as const), from: fc.nat(40), to: fc.nat(40) }) },
)

describe('ordered rows', () => {
  it('are a sorted list, whatever comes and goes, where numbers of rows are given out again', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const times = new Map<number, number>()
        const rows = new OrderedRows(row => times.get(row) ?? -1)
        const list = new SortedList()
        const free: number[] = []
        let now = 10
        const gone = (row: number): void => {
          // Whoever looks at a row that is gone is told nonsense.
          times.set(row, row % 2 === 0 ? -1 : 1_000)
          free.push(row)
        }
        const removeFirst = (): void => {
          const row = rows.first
          expect(row).to.equal(list.rows[0] ?? -1)
          if (row === -1) return
          rows.remove(row)
          list.remove(row)
          gone(row)
        }
        const add = (late: number): void => {
          const row = free.pop() ?? times.size
          times.set(row, now - late)
          rows.add(row)
          list.add(row, now - late)
        }
        for (const each of steps) {
          if (each.kind === 'add') {
            if (each.moves) now += 1
            // Most come in order, as in a window store.
            for (let more = 0; more < 100; more += 1) add(more % 50 === 0 ? each.late : 0)
          } else if (each.kind === 'removeFirst') {
            for (let more = 0; more < each.count; more += 1) removeFirst()
          } else if (each.kind === 'remove') {
            const row = list.rows[each.at % Math.max(1, list.rows.length)]
            if (row === undefined) continue
            rows.remove(row)
            list.remove(row)
            gone(row)
          } else if (each.kind === 'takeFirst') {
            if (rows.first === -1) continue
            const taken = rows.takeFirst()
            expect(taken).to.deep.equal(list.takeFirst())
            for (const row of taken) gone(row)
          } else {
            expect([...rows.scan(each.from, each.to)]).to.deep.equal(list.between(each.from, each.to))
          }
        }
        expect([...rows.scan(0, 1_000)]).to.deep.equal(list.rows)
      }),
      { numRuns: 30 },
    )
  })
})
