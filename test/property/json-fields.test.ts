import { expect } from 'chai'
import fc from 'fast-check'
import { compileExpression } from '../../src/expressions/compile-expression.ts'
import { draftedTemplate } from '../../src/expressions/drafted.ts'
import { templateOf } from '../../src/expressions/expression.ts'
import { ExpressionScope, type VariableName } from '../../src/expressions/scope.ts'
import { canDraft } from '../../src/serdes/json-draft.ts'
import { JsonFields } from '../../src/serdes/json-fields.ts'
import { JsonShapes } from '../../src/serdes/json-shapes.ts'
import { JsonWriter } from '../../src/serdes/json-writer.ts'
import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import { driverOf } from '../unit/config/yaml-application.ts'

const SIDES = { key: nullable(string), value: nullable(string) }

/** Steps that read fields only; what `first` is may read whole values before and behind them. */
const application = (topic: string, first: string): string => `
errors: { deserialization: deadLetter, processing: deadLetter, deadLetterTopic: dead }
sources: { input: { topic: ${topic}, key: string, value: json } }
steps:
  looked: { from: input, ${first} }
  paid: { from: looked, filter: 'value.status == "paid" || has(value.at.x)' }
  made:
    from: paid
    value:
      id: value.id
      status: 'value.?status'
      at: 'value.?at'
      twice: [value.id, 'value.?at']
      é: value.?note
      odd: 'value.?note == "" ? bytes("no JSON") : 1.5'
  result: { from: made, ${first} }
  split:
    from: looked
    split: { much: 'value.net > 10', rest: default }
  keyed: { from: split.much, map: { key: string(value.id), value: value.net - value.fee } }
  moved: { from: paid, map: { key: 'string(value.?fee)', value: { id: value.id, note: 'value.?note', net: 'value.?net' } } }
  shown: { from: moved, ${first} }
  unkeyed: { from: split.rest, value: 'value["status"]' }
sinks:
  a: { from: result, topic: a, value: json }
  b: { from: keyed, topic: b, value: json }
  c: { from: unkeyed, topic: c, value: json }
  d: { from: shown, topic: d, value: json }
`

const SCALARS = fc.oneof(
  fc.constantFrom(
    '"paid"',
    '"open"',
    '""',
    '"del\x7f"',
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
const IDS = fc.nat(1_000).map(id => `"o${String(id)}"`)
const MEMBERS = fc.tuple(
  fc.subarray(['at', 'net', 'fee', 'note', 'id']),
  fc.array(SCALARS, { minLength: 5, maxLength: 5 }),
  fc.oneof({ weight: 3, arbitrary: IDS }, SCALARS),
  fc.oneof({ weight: 3, arbitrary: fc.constant('"paid"') }, SCALARS),
)
/** Most of them orders that are read as the one before, with fields that come and go, twice or as something else. */
const TEXTS = fc.oneof(
  {
    weight: 9,
    arbitrary: MEMBERS.map(([names, values, id, status]) => {
      const rest = names.map((name, at) => `,"${name}":${values[at] ?? '0'}`)
      return `{"id":${id},"status":${status}${rest.join('')}}`
    }),
  },
  SCALARS,
)

/** What an application writes, and its dead letters, by topic. */
async function outcomeOf(topic: string, first: string, texts: readonly string[]): Promise<readonly unknown[]> {
  using driver = await driverOf(application(topic, first))
  const input = driver.input(topic, SIDES)
  for (const [at, text] of texts.entries()) input.pipe('k', text, at)
  return ['a', 'b', 'c', 'd', 'dead'].map(written =>
    driver
      .output(written, SIDES)
      .readAll()
      .map(({ key, value, headers }) => [key, value, headers.getString('__streams.errors.message')]),
  )
}

describe('steps that read fields of JSON', () => {
  it('write, and fail, as where the whole value is read', async () => {
    let written = 0
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(TEXTS, { minLength: 5, maxLength: 60 }), async texts => {
        run += 1
        // What is remembered of the texts of a topic would be given up soon: they are of all sorts.
        const topic = `in-${String(run)}`
        const outcome = await outcomeOf(topic, 'filter: "true"', texts)
        written += JSON.stringify(outcome).length
        expect(outcome).to.deep.equal(await outcomeOf(topic, 'filter: value != "never"', texts))
      }),
      { numRuns: 25 },
    )
    expect(written).to.be.greaterThan(1_000)
  })
})

describe('an object that is not made because it is only written', () => {
  const LONG = fc.integer({ min: 200, max: 3_000 }).map(length => JSON.stringify('x'.repeat(length)))
  const names = ['a', 'b', 'c'] as const
  const members = {
    A: 'value.a',
    'quoted " \\ é': 'value.b',
    n: 'value.n + 1',
    c: 'value.?c',
    k: 'key',
    list: '[value.a]',
  }

  it('is written byte for byte as the object is', () => {
    const variables: ReadonlySet<VariableName> = new Set(['key', 'value'])
    const template = templateOf(
      Object.fromEntries(Object.entries(members).map(([name, text]) => [name, compileExpression(text, variables)])),
    )
    const drafted = template.template === undefined ? undefined : draftedTemplate(template.template)
    const [scope, wholeScope] = [new ExpressionScope(), new ExpressionScope()]
    let written = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(SCALARS, LONG), fc.oneof(SCALARS, LONG), fc.option(SCALARS)), { minLength: 1 }),
        texts => {
          const writer = new JsonWriter()
          const fields = new JsonFields([...names, 'n'])
          const shapes = new JsonShapes()
          shapes.learn('{"a":1,"b":2,"n":3,"c":4}')
          shapes.learn('{"a":1,"b":2,"n":3}')
          for (const [a, b, c] of texts) {
            const bytes = Buffer.from(`{"a":${a},"b":${b},"n":-7${c === null ? '' : `,"c":${c}`}}`)
            if (!fields.readFields(bytes, 0, bytes.length, shapes.root)) continue
            scope.value = fields
            const draft = drafted?.(scope)
            const bytesOfDraft = writer.write(draft)
            wholeScope.value = JSON.parse(bytes.toString())
            const wanted = JSON.stringify(template.evaluate(wholeScope))
            expect(JSON.stringify(draft)).to.equal(wanted)
            if (bytesOfDraft === undefined) continue
            written += 1
            expect(bytesOfDraft.toString()).to.equal(wanted)
          }
        },
      ),
      { numRuns: 300 },
    )
    expect(written).to.be.greaterThan(300)
  })

  it('needs names that an object lists in their order', () => {
    expect(canDraft(['id', 'a b', '1a', '-1', ''])).to.equal(true)
    for (const name of ['1', '007', 'toJSON', '__proto__', 'constructor', 'id'])
      expect(canDraft(['id', name]), name).to.equal(false)
  })
})
