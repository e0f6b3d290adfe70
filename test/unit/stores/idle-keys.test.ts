import { expect } from 'chai'
import { ByteArena } from '../../../src/stores/byte-arena.ts'
import { IdleKeys } from '../../../src/stores/idle-keys.ts'
import { KeyedRows } from '../../../src/stores/keyed-rows.ts'

/** Keys 0, 1, 2, … that have rows, as many as are asked for. */
function used(count: number): IdleKeys {
  const idle = new IdleKeys()
  for (let key = 0; key < count; key += 1) idle.take(key, key + 1)
  return idle
}

describe('idle keys', () => {
  it('are kept while there are at most half as many as ever had rows together', () => {
    const idle = used(2_000)
    for (let key = 0; key < 2_000; key += 1) idle.add(key)
    expect(idle.next(2_000)).to.equal(-1)
    expect(idle.next(3_000)).to.equal(-1)
    expect(idle.next(3_001)).to.equal(0)
  })

  it('are all kept when they are few', () => {
    const idle = used(1)
    idle.add(0)
    expect(idle.next(1_024)).to.equal(-1)
    expect(idle.next(1_025)).to.equal(0)
    expect(idle.next(1_025)).to.equal(-1)
  })

  it('are given back longest first, those that are used again left out', () => {
    const idle = used(4)
    for (const key of [2, 0, 3, 1]) idle.add(key)
    idle.take(0, 4)
    expect([1, 2, 3, 4].map(() => idle.next(5_000))).to.deep.equal([2, 3, 1, -1])
  })

  it('are in the queue once, however often they come and go', () => {
    const idle = used(2)
    for (let turn = 0; turn < 5_000; turn += 1) {
      idle.add(0)
      idle.take(0, 2)
    }
    idle.add(0)
    idle.add(1)
    expect([1, 2, 3].map(() => idle.next(5_000))).to.deep.equal([0, 1, -1])
  })

  it('are given back in order though the queue had to grow', () => {
    const idle = used(5_000)
    for (let key = 0; key < 500; key += 1) idle.add(key)
    for (let key = 0; key < 400; key += 1) expect(idle.next(100_000)).to.equal(key)
    for (let key = 500; key < 5_000; key += 1) idle.add(key)
    for (let key = 400; key < 5_000; key += 1) expect(idle.next(100_000)).to.equal(key)
    expect(idle.next(100_000)).to.equal(-1)
  })
})

describe('rows of keys that come and go', () => {
  it('are those of their own key, whether it was forgotten meanwhile or not', () => {
    const rows = new KeyedRows(new ByteArena())
    for (let turn = 0; turn < 4; turn += 1) {
      const made: number[] = []
      for (let at = 0; at < 1_500; at += 1) {
        // Every second key is another one each time, so that some are forgotten.
        const key = Buffer.from(at % 2 === 0 ? `stays-${String(at)}` : `turn-${String(turn)}-${String(at)}`)
        const row = rows.insert(rows.addKey(key), turn, 0)
        expect(rows.keyAt(row).equals(key)).to.equal(true)
        expect(rows.keyLength(row)).to.equal(key.length)
        expect(rows.find(rows.keyNumber(key), turn, 0)).to.equal(row)
        expect(rows.olderOf(row)).to.equal(-1)
        made.push(row)
      }
      for (const row of made) rows.remove(row)
    }
    expect(rows.keyNumber(Buffer.from('stays-0'))).to.not.equal(-1)
    expect(rows.keyNumber(Buffer.from('turn-0-1'))).to.equal(-1)
    expect(rows.capacity).to.equal(1_500)
  })
})
