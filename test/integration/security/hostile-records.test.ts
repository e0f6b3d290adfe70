import { expect } from 'chai'
import fc from 'fast-check'
import { json } from '../../../src/serdes/json.ts'
import { string } from '../../../src/serdes/text.ts'
import { driverOf } from '../../unit/config/yaml-application.ts'

/** Steps that look into values by every way there is: fields, indexes, templates, state, headers, merges. */
const APPLICATION = [
  'sources: { in: { topic: in, key: "string?", value: "json?" } }',
  'steps:',
  '  shaped:',
  '    from: in',
  '    map:',
  '      value: { whole: value, field: "value.?name", of: "[value, headers]", nested: { again: value } }',
  '      headers: { seen: "\'yes\'" }',
  '  keyed: { from: shaped, key: "string(value.?field)" }',
  '  counted: { from: keyed, aggregate: { init: { n: 0, last: null }, update: { n: "state.n + 1", last: "value.whole" } } }',
  'sinks:',
  '  out: { from: shaped, topic: out }',
  '  totals: { from: counted, topic: totals }',
  'errors: { deserialization: skip, processing: skip, production: skip }',
  '',
].join('\n')

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

/** Texts that reach a prototype when objects are copied or merged carelessly. */
const CORPUS = NAMES.flatMap(name => [
  `{"${name}":{"polluted":true}}`,
  `{"${name}":{"prototype":{"polluted":true}}}`,
  `{"name":"${name}","a":[{"${name}":{"polluted":true}}]}`,
  `{"\\u005f\\u005fproto__":{"polluted":true},"${name}":1}`,
  `{"name":{"${name}":{"polluted":true}}}`,
  `{"${name}":null}`,
  `"${name}"`,
])

function expectClean(): void {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype]) {
    expect(Object.keys(prototype)).to.deep.equal([])
    expect(Object.hasOwn(prototype, 'polluted')).to.equal(false)
  }
  expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  expect(Object.prototype.toString.call({})).to.equal('[object Object]')
}

describe('a hostile record', function () {
  this.timeout(60_000)

  it('pollutes no prototype by names in its value, key or headers, whatever a step does with it', async () => {
    const driver = await driverOf(APPLICATION)
    // Texts as they are: what the serde of the source makes of them is what is tested.
    const input = driver.input('in', { key: string, value: string })
    const headers = NAMES.map(name => [name, '{"polluted":true}'] as const)
    for (const text of CORPUS) {
      input.pipeRecord({ key: text, value: text, headers })
      expectClean()
    }
    input.pipe('k', '{"name":"good"}')
    const written = driver.output('out', { key: string, value: string }).readAll()
    expect(written.length, 'the harmless ones and the last are through').to.be.greaterThan(5)
    expect(written.at(-1)?.value).to.include('"field":"good"')
    for (const { value } of written) expect(Object.keys(JSON.parse(String(value)) as object)).not.to.include('polluted')
  })

  it('finds nothing in an expression that is not its own field', async () => {
    for (const expression of [
      ...NAMES.map(name => `value.?${name} == null`),
      ...NAMES.map(name => `value[?"${name}"] == null`),
      'value.?a.?constructor == null',
    ]) {
      const steps = `sources: { in: { topic: in, key: string, value: json } }\nsteps: { same: { from: in, filter: ${JSON.stringify(expression)} } }\nsinks: { out: { from: same, topic: out } }\n`
      const loaded = await driverOf(steps).catch((error: unknown) => error)
      // An expression that names one of them is refused where it is written, or finds nothing.
      if (loaded instanceof Error) {
        expect(loaded.message, expression).to.match(/refused|EXPRESSION|not valid|cannot|unknown/i)
        continue
      }
      const driver = loaded as Awaited<ReturnType<typeof driverOf>>
      driver.input('in', { key: string, value: json() }).pipe('k', { a: {} })
      expect(driver.output('out', { key: string, value: string }).readAll(), expression).to.have.length(1)
    }
    expectClean()
  })

  it('of random JSON with such names leaves every prototype as it was', async () => {
    const driver = await driverOf(APPLICATION)
    const input = driver.input('in', { key: string, value: string })
    const name = fc.constantFrom(...NAMES, 'name', 'a')
    const { tree } = fc.letrec(tie => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('null', 'true', '1', '"__proto__"'),
        fc.array(tie('tree'), { maxLength: 3 }).map(items => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(name, tie('tree')), { maxLength: 4 })
          .map(entries => `{${entries.map(([key, value]) => `"${key}":${String(value)}`).join(',')}}`),
      ),
    }))
    fc.assert(
      fc.property(tree, text => {
        input.pipe('k', text)
        expectClean()
      }),
      { numRuns: 300 },
    )
  })
})
