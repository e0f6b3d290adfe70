import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { string, textWithin } from '../../../src/serdes/text.ts'

const context = { topic: 't', side: 'value' as const, headers: NO_HEADERS }

const samples: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  ASCII: Buffer.from('order-17'),
  'the last of ASCII': Buffer.of(0x7f),
  'an umlaut at the end of a word': Buffer.from('abü'),
  'an umlaut behind the last word': Buffer.from('abcdü'),
  'a smile': Buffer.from('a 😀 b'),
  'a byte that begins nothing': Buffer.of(0x61, 0xff, 0x62, 0x63, 0x64),
  'a surrogate on its own': Buffer.of(0x61, 0xed, 0xa0, 0x80, 0x62),
}

describe('text that lies within other bytes', () => {
  for (const [name, sample] of Object.entries(samples)) {
    it(`is read as it is on its own (${name})`, () => {
      for (const before of [0, 1, 2, 3]) {
        const around = Buffer.concat([Buffer.alloc(before, 0xff), sample, Buffer.alloc(5, 0xff)])
        const view = new DataView(around.buffer, around.byteOffset, around.length)
        expect(textWithin(around, view, before, sample.length)).to.equal(string.deserialize(sample, context))
      }
    })
  }

  it('has one replacement for what Java has one for', () => {
    const sample = Buffer.of(0x61, 0xed, 0xa0, 0x80, 0x62)
    const view = new DataView(sample.buffer, sample.byteOffset, sample.length)
    expect(textWithin(sample, view, 0, 5)).to.equal('a\uFFFDb')
  })
})
