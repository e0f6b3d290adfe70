import { expect } from 'chai'
import fc from 'fast-check'
import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import { driverOf } from '../unit/config/yaml-application.ts'

const SIDES = { key: nullable(string), value: nullable(string) }

/** Steps that read fields only; what `first` is may read the whole value before them. */
const application = (first: string): string => `
errors: { deserialization: deadLetter, processing: deadLetter, deadLetterTopic: dead }
sources: { input: { topic: in, key: string, value: json } }
steps:
  looked: { from: input, ${first} }
  paid: { from: looked, filter: 'value.status == "paid" || has(value.at.x)' }
  result: { from: paid, value: { id: value.id, status: 'value.?status', at: 'value.?at', twice: [value.id, 'value.?at'] } }
  split:
    from: looked
    split: { much: 'value.net > 10', rest: default }
  keyed: { from: split.much, map: { key: string(value.id), value: value.net - value.fee } }
  unkeyed: { from: split.rest, value: 'value["status"]' }
sinks:
  a: { from: result, topic: a, value: json }
  b: { from: keyed, topic: b, value: json }
  c: { from: unkeyed, topic: c, value: json }
`

const SCALARS = fc.oneof(
  fc.constantFrom(
    '"paid"',
    '"open"',
    '"\\u00e9\\n"',
    '"é"',
    'null',
    'true',
    '-0',
    '1e3',
    '12.50',
    '"',
    '[',
    '01',
    '9007199254740993',
  ),
  fc.integer().map(String),
  fc.string({ maxLength: 30 }).map(text => JSON.stringify(text)),
  fc.constantFrom('{"x":1}', '{"x":{"y":"z"},"w":[]}', '[1,"a",{"x":null}]'),
)
const NAMES = ['id', 'status', 'at', 'net', 'fee', 'note', 'id'] as const
const TEXTS = fc
  .oneof(
    { weight: 9, arbitrary: fc.tuple(fc.subarray([...NAMES]), fc.array(SCALARS, { minLength: 7, maxLength: 7 })) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constant<readonly string[]>(['']), fc.array(SCALARS, { minLength: 1, maxLength: 1 })),
    },
  )
  .map(([names, values]) =>
    names[0] === '' ? (values[0] ?? '') : `{${names.map((name, at) => `"${name}":${values[at] ?? '0'}`).join(',')}}`,
  )

/** What an application writes, and its dead letters, by topic. */
async function outcomeOf(yaml: string, texts: readonly string[]): Promise<readonly unknown[]> {
  using driver = await driverOf(yaml)
  const input = driver.input('in', SIDES)
  for (const [at, text] of texts.entries()) input.pipe('k', text, at)
  return ['a', 'b', 'c', 'dead'].map(topic =>
    driver
      .output(topic, SIDES)
      .readAll()
      .map(({ key, value, headers }) => [key, value, headers.getString('__streams.errors.message')]),
  )
}

describe('steps that read fields of JSON', () => {
  it('write, and fail, as where the whole value is read', async () => {
    const [fields, whole] = [application('filter: "true"'), application('filter: value != "never"')]
    let written = 0
    await fc.assert(
      fc.asyncProperty(fc.array(TEXTS, { minLength: 5, maxLength: 60 }), async texts => {
        const outcome = await outcomeOf(fields, texts)
        written += JSON.stringify(outcome).length
        expect(outcome).to.deep.equal(await outcomeOf(whole, texts))
      }),
      { numRuns: 25 },
    )
    expect(written).to.be.greaterThan(1_000)
  })
})
