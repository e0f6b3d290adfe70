import { expect } from 'chai'
import { UpcomingKeys } from '../../../src/model/upcoming-keys.ts'
import { json } from '../../../src/serdes/json.ts'
import type { AnySerde } from '../../../src/serdes/serde.ts'
import { string } from '../../../src/serdes/text.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { MemoryKeyValueStore } from '../../../src/stores/memory-key-value-store.ts'
import { describeKeyValueContract } from './key-value-contract.ts'

describeKeyValueContract(
  'memory',
  ({ value, changelog, maxBytes }) => new MemoryKeyValueStore({ name: 's', value, changelog, maxBytes }),
)

describe('a memory store that looks ahead', () => {
  const cases: readonly (readonly [AnySerde, (text: string) => unknown])[] = [
    [string, text => text],
    [json(), text => ({ text })],
    [long, text => text.charCodeAt(0)],
  ]
  for (const [serde, valueOf] of cases) {
    it(`gives the same ${serde.name} values as before, and none for keys that are deleted or never were there`, () => {
      const store = new MemoryKeyValueStore({ name: 's', value: serde, changelog: undefined })
      for (const text of ['a', 'b', 'c']) store.put(Buffer.from(text), valueOf(text), 5)
      store.put(Buffer.from('b'), null, 6)
      const keys = new UpcomingKeys()
      const block = Buffer.from('abcd')
      keys.begin(new DataView(block.buffer, block.byteOffset, block.length))
      for (let at = 0; at < 4; at += 1) keys.add(at, 1)

      store.lookAhead(keys)

      const got = ['a', 'b', 'c', 'd'].map(text => store.get(Buffer.from(text)))
      expect(got).to.deep.equal([valueOf('a'), undefined, valueOf('c'), undefined])
    })
  }
})

describe('a memory store that takes a transaction back', () => {
  it('gives values their times again, in whatever order the records of the transaction wrote them', () => {
    const store = new MemoryKeyValueStore({ name: 's', value: long, changelog: undefined })
    const keys = ['a', 'b', 'c'].map(text => Buffer.from(text))
    for (const [at, key] of keys.entries()) store.put(key, at, 100 + at)
    store.commit()
    // A record that writes one again before its first write of another: what it holds moves down in the log.
    for (const record of ['a', 'ab', 'bac']) {
      for (const text of record) store.put(Buffer.from(text), 9, 900)
      store.endRecord()
    }
    store.abort()
    const got = keys.map(key => [store.get(key), store.lastTimestamp])
    expect(got).to.deep.equal([
      [0, 100],
      [1, 101],
      [2, 102],
    ])
  })
})
