import { expect } from 'chai'
import { LogKeys } from '../../../src/stores/log-keys.ts'

/** Keys with a tail of a time and a tag, one byte each. */
function newKeys(): LogKeys {
  return new LogKeys({
    bytes: 2,
    write(into, at, time, tag) {
      if (time < 0) throw new RangeError('before all time')
      into[at] = time
      if (tag < 0) throw new RangeError('no tag')
      into[at + 1] = tag
    },
  })
}

function lentBy(keys: LogKeys, key: string, time: number, tag: number): number[] {
  return [...keys.lent(Buffer.from(key), time, tag)]
}

describe('changelog keys of rows', () => {
  it('are the key, its time and its tag, whatever the one before was', () => {
    const keys = newKeys()
    expect(lentBy(keys, 'a', 1, 2)).to.deep.equal([97, 1, 2])
    expect(lentBy(keys, 'b', 1, 2)).to.deep.equal([98, 1, 2])
    expect(lentBy(keys, 'bc', 1, 2)).to.deep.equal([98, 99, 1, 2])
    expect(lentBy(keys, 'b', 1, 3)).to.deep.equal([98, 1, 3])
    expect(lentBy(keys, 'a', 4, 3)).to.deep.equal([97, 4, 3])
    expect(lentBy(keys, 'bc', 4, 3)).to.deep.equal([98, 99, 4, 3])
  })

  it('are refused again where one was refused', () => {
    const keys = newKeys()
    lentBy(keys, 'a', 1, 2)
    for (const time of [-1, -1]) expect(() => lentBy(keys, 'a', time, 2)).to.throw(RangeError)
    expect(lentBy(keys, 'a', 1, 2)).to.deep.equal([97, 1, 2])
  })

  it('have nothing of one that was refused when half of it was written', () => {
    const keys = newKeys()
    lentBy(keys, 'a', 1, 2)
    expect(() => lentBy(keys, 'a', 9, -1)).to.throw(RangeError)
    expect(lentBy(keys, 'a', 1, 2)).to.deep.equal([97, 1, 2])
  })

  it('are buffers of their own for whoever keeps them', () => {
    const keys = newKeys()
    const kept = keys.kept(Buffer.from('a'), 1, 2)
    lentBy(keys, 'b', 3, 4)
    keys.kept(Buffer.from('c'), 5, 6)
    expect([...kept]).to.deep.equal([97, 1, 2])
  })
})
