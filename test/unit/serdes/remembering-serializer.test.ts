import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { transientSerializer } from '../../../src/serdes/remembering-serializer.ts'
import { string } from '../../../src/serdes/text.ts'

const context = { topic: 't', side: 'value' as const, headers: NO_HEADERS }

describe('a serializer of texts for bytes that are copied at once', () => {
  const samples = ['', 'a', 'order-17', 'ü', 'aéb', 'x'.repeat(511), 'x'.repeat(512), 'x'.repeat(513), '😀', 'a\uD800b']

  it('writes what the serde writes', () => {
    const { serialize } = transientSerializer(nullable(string))
    for (const text of [...samples, ...samples.toReversed(), 'é'.repeat(256), 'é'.repeat(512)]) {
      expect(Buffer.from(serialize(text, context)), text).to.deep.equal(Buffer.from(string.serialize(text, context)))
    }
  })

  it('writes what a concatenation comes to', () => {
    const { serialize } = transientSerializer(string)
    for (const right of samples) {
      const both = `left ${right}`
      expect(Buffer.from(serialize(both, context)).toString(), right).to.equal(both.replaceAll('\uD800', '?'))
    }
  })

  it('makes no buffer for a text as long as an earlier one', () => {
    const { serialize } = transientSerializer(string)
    const first = serialize('abc', context)
    expect(serialize('abd', context)).to.equal(first)
    expect(Buffer.from(first).toString()).to.equal('abd')
  })

  it('leaves alone what another one has written: a key and a value are written one after the other', () => {
    const [key, value] = [transientSerializer(string), transientSerializer(string)]
    const keyBytes = key.serialize('key', context)
    value.serialize('val', context)
    expect(Buffer.from(keyBytes).toString()).to.equal('key')
  })

  it('refuses what is no text, as the serde does', () => {
    const { serialize } = transientSerializer(string)
    expect(() => serialize(17, context)).to.throw(TypeError, 'a string serde takes text')
  })
})
