import { expect } from 'chai'
import fc from 'fast-check'
import { ByteArena } from '../../../src/stores/byte-arena.ts'
import { UpcomingKeys } from '../../../src/model/upcoming-keys.ts'
import { KeyTable } from '../../../src/stores/key-table.ts'

describe('key table', () => {
  it('finds exactly the keys that were inserted and not removed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(300)), { maxLength: 1_500 }), steps => {
        const table = new KeyTable(new ByteArena())
        const model = new Map<string, number>()
        for (const [isRemoval, number] of steps) {
          const text = `key-${String(number)}`
          const entry = model.get(text)
          if (isRemoval && entry !== undefined) {
            table.remove(entry)
            model.delete(text)
          } else if (!isRemoval && entry === undefined) {
            model.set(text, table.insert(Buffer.from(text)))
          }
        }
        for (let number = 0; number <= 300; number++) {
          const text = `key-${String(number)}`
          expect(table.find(Buffer.from(text))).to.equal(model.get(text) ?? -1)
        }
        for (const [text, entry] of model) expect(table.keyAt(entry).toString()).to.equal(text)
        expect(table.size).to.equal(model.size)
      }),
      { numRuns: 60 },
    )
  })

  it('looks ahead without a change, and notes the entries it comes upon', () => {
    const table = new KeyTable(new ByteArena())
    const texts = Array.from({ length: 10 }, (_, number) => `key-${String(number)}`)
    for (const text of texts) table.insert(Buffer.from(text))
    table.remove(table.find(Buffer.from('key-3')))
    const block = Buffer.from([...texts, 'no-key'].join(''))
    const keys = new UpcomingKeys()
    keys.begin(new DataView(block.buffer, block.byteOffset, block.length))
    for (let at = 0; at < 50; at += 5) keys.add(at, 5)
    keys.add(50, 6)
    table.lookAhead(keys)
    const expected = texts.map(text => table.find(Buffer.from(text)))
    expect([...keys.entries.subarray(0, 10)]).to.deep.equal(expected)
    expect(keys.entries[keys.count - 1]).to.equal(-1)
    expect(table.size).to.equal(9)
  })

  it('stays findable when keys come and go without end', () => {
    const table = new KeyTable(new ByteArena())
    for (let n = 0; n < 20_000; n++) {
      const entry = table.insert(Buffer.from(`key-${String(n)}`))
      if (n >= 100) table.remove(table.find(Buffer.from(`key-${String(n - 100)}`)))
      expect(entry).to.be.at.most(101)
    }
    expect(table.size).to.equal(100)
  })
})

describe('byte arena', () => {
  it('holds byte strings of all sizes apart and takes freed blocks again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(3_000)), { maxLength: 300 }), steps => {
        const arena = new ByteArena()
        const held: { ref: number; bytes: Buffer }[] = []
        for (const [isRemoval, size] of steps) {
          const victim = isRemoval ? held.shift() : undefined
          if (victim !== undefined) arena.free(victim.ref)
          const bytes = Buffer.alloc(size, size % 251)
          held.push({ ref: arena.add(bytes), bytes })
        }
        for (const { ref, bytes } of held) {
          expect(arena.equals(ref, bytes)).to.equal(true)
          expect(arena.view(ref).equals(bytes)).to.equal(true)
        }
        expect(new Set(held.map(({ ref }) => ref)).size).to.equal(held.length)
      }),
      { numRuns: 60 },
    )
  })

  it('holds a byte string larger than its slabs beside small ones', () => {
    const arena = new ByteArena()
    const small = arena.add(Buffer.from('small'))
    const large = arena.add(Buffer.alloc(3_000_000, 7))
    const next = arena.add(Buffer.from('next'))

    expect(arena.view(small).toString()).to.equal('small')
    expect(arena.view(next).toString()).to.equal('next')
    expect(arena.view(large).equals(Buffer.alloc(3_000_000, 7))).to.equal(true)
  })
})
