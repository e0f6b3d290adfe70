import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { json } from '../../../src/serdes/json.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

const text = { key: string, value: string }
/** Texts too, as far as the types can tell, but with quotes around them in the bytes. */
const quoted = { key: json<string>(), value: string }
const within = { within: 10, grace: 0, name: 'both' }
const joiner = (left: string | null, right: string | null): string => `${String(left)}+${String(right)}`

const unequal: Readonly<Record<string, (b: StreamsBuilder) => void>> = {
  'table–table inner': b => void b.table('l', text).join(b.table('r', quoted), joiner, { name: 'both' }),
  'table–table left': b => void b.table('l', text).leftJoin(b.table('r', quoted), joiner, { name: 'both' }),
  'table–table outer': b => void b.table('l', text).outerJoin(b.table('r', quoted), joiner, { name: 'both' }),
  'stream–stream inner': b => void b.stream('l', text).join(b.stream('r', quoted), joiner, within),
  'stream–stream left': b => void b.stream('l', text).leftJoin(b.stream('r', quoted), joiner, within),
  'stream–stream outer': b => void b.stream('l', text).outerJoin(b.stream('r', quoted), joiner, within),
  'stream–table inner': b => void b.stream('l', text).join(b.table('r', quoted), joiner, { name: 'both' }),
  'stream–table left': b => void b.stream('l', text).leftJoin(b.table('r', quoted), joiner, { name: 'both' }),
}

/** The mistakes of a graph, as `code node what`. */
function mistakesOf(define: (b: StreamsBuilder) => void): readonly string[] {
  try {
    streams(define)
  } catch (thrown) {
    if (!(thrown instanceof MillraceError) || !(thrown.cause instanceof AggregateError)) throw thrown
    return thrown.cause.errors.map(
      ({ code, details }: MillraceError) => `${code} ${details.node ?? ''} ${details.what ?? ''}`,
    )
  }
  return []
}

describe('a join of keys that are written by different serdes', () => {
  for (const [name, define] of Object.entries(unequal)) {
    it(`is refused, once, with both serdes: equal keys would never meet (${name})`, () => {
      const mistakes = mistakesOf(define)
      expect(mistakes).to.have.lengthOf(1)
      expect(mistakes[0]).to.match(/^SERDE_MISMATCH both both joins .*written as string with .*written as json/)
    })
  }

  it('is a join of equal ones where the only difference is that one admits null', () => {
    const admitting = { key: nullable(string), value: string }
    expect(mistakesOf(b => void b.stream('l', admitting).join(b.stream('r', text), joiner, within))).to.deep.equal([])
    expect(mistakesOf(b => void b.stream('l', text).join(b.stream('r', admitting), joiner, within))).to.deep.equal([])
  })
})
