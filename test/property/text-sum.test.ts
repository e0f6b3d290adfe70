import { expect } from 'chai'
import fc from 'fast-check'
import { transientSerializer } from '../../src/serdes/remembering-serializer.ts'
import { string } from '../../src/serdes/text.ts'
import { TextInPlace } from '../../src/serdes/text-in-place.ts'
import { TextSum } from '../../src/serdes/text-sum.ts'
import { NO_HEADERS } from '../../src/model/headers.ts'

const CONTEXT = { topic: 'out', side: 'value', headers: NO_HEADERS } as const

/** Bytes among others, as a record's are. */
function inPlace(bytes: Uint8Array, at: number): TextInPlace {
  const batch = Buffer.alloc(at + bytes.length + 3, 0xff)
  batch.set(bytes, at)
  const text = new TextInPlace()
  text.lieAt(batch, new DataView(batch.buffer, batch.byteOffset, batch.length), at, bytes.length)
  return text
}

const ASCII = fc.string({ maxLength: 70 })
const TEXTS = fc.oneof(
  { weight: 6, arbitrary: ASCII },
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  // Halves of characters, which may meet their other halves.
  fc.constantFrom('\ud83d', '\ude00', 'a\ud83d', '\ude00b'),
  ASCII.map(text => text.repeat(9)),
)
const PARTS = fc.array(
  fc.oneof(
    TEXTS,
    fc.tuple(
      fc.oneof(
        { weight: 6, arbitrary: ASCII.map(text => Buffer.from(text)) },
        TEXTS.map(text => Buffer.from(text)),
        fc.uint8Array({ maxLength: 12 }),
      ),
      fc.nat(9),
    ),
  ),
  { minLength: 1, maxLength: 4 },
)

describe('texts one behind the other that never become a string', () => {
  it('are the bytes of the string that they would make', () => {
    const serializer = transientSerializer(string)
    let drafted = 0
    fc.assert(
      fc.property(PARTS, list => {
        const sum = new TextSum(list.length)
        const texts = list.map((part, at) => {
          const given = typeof part === 'string' ? part : inPlace(...part)
          sum.parts[at] = given
          return typeof part === 'string' ? part : string.deserialize(Buffer.from(part[0]), CONTEXT)
        })
        const room = Buffer.alloc(512)
        if (sum.writeAscii(room, new DataView(room.buffer, room.byteOffset, room.length)) >= 0) drafted += 1
        const written = Buffer.from(serializer.serialize(sum, CONTEXT))
        expect(written.toString('hex')).to.equal(Buffer.from(string.serialize(texts.join(''), CONTEXT)).toString('hex'))
      }),
      { numRuns: 3_000 },
    )
    expect(drafted).to.be.greaterThan(500)
  })
})
