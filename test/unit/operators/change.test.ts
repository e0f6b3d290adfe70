import { expect } from 'chai'
import fc from 'fast-check'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { Change, changeSerde } from '../../../src/operators/change.ts'
import { erasedSerde } from '../../../src/serdes/erased-serde.ts'
import { string } from '../../../src/serdes/text.ts'

const serde = changeSerde(erasedSerde(string))
const context = { topic: 't', side: 'value' as const, headers: NO_HEADERS }

function hex(change: Change): string {
  return Buffer.from(serde.serialize(change, context)).toString('hex')
}

describe('the serde of a table update', () => {
  it('writes the bytes of the JVM', () => {
    expect(hex(new Change('a', null))).to.equal('6100')
    expect(hex(new Change(null, 'a'))).to.equal('6101')
    expect(hex(new Change('old', 'new'))).to.equal('066e65776f6c6402')
  })

  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string({ maxLength: 200 })),
        fc.option(fc.string({ maxLength: 200 })),
        (before, after) => {
          fc.pre(before !== null || after !== null)
          const bytes = Buffer.from(serde.serialize(new Change(before, after), context))
          expect(serde.deserialize(bytes, context)).to.deep.equal(new Change(before, after))
        },
      ),
    )
  })

  it('refuses bytes that are no update', () => {
    for (const bytes of ['', '03', 'ff02', '8002', 'ffffffffff02']) {
      expect(() => serde.deserialize(Buffer.from(bytes, 'hex'), context), bytes).to.throw(RangeError)
    }
  })
})
