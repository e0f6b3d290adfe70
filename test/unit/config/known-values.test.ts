import { expect } from 'chai'
import { HEAD, loadYaml, problemsOfYaml } from './yaml-application.ts'

const TEXTS = `sources:
  texts: { topic: texts, key: string, value: string }
  orders: { topic: orders, key: string, value: json }
  raw: { topic: raw }
`
const TOTALS = `  totals:
    from: orders
    aggregate: { init: { orders: 0, cents: 0 }, update: { orders: state.orders + 1, cents: state.cents + value.cents } }
`

async function problemOf(steps: string): Promise<string> {
  const [problem, ...others] = await problemsOfYaml(`${HEAD}${TEXTS}steps:\n${steps}`)
  expect(others).to.deep.equal([])
  return problem ?? ''
}

async function loads(steps: string, sources = TEXTS): Promise<void> {
  const { topology } = await loadYaml(`${HEAD}${sources}steps:\n${steps}`, {
    beside: {
      'own.mjs':
        'export const made = value => value\nexport const serde = { name: "own", serialize: Buffer.from, deserialize: String }\n',
    },
  })
  expect(topology.describe().subtopologies).not.to.have.lengthOf(0)
}

describe('what is known of keys and values', () => {
  it('refuses a field of what a serde reads as a text, a number or bytes', async () => {
    expect(await problemOf('  paid: { from: texts, filter: value.status == "paid" }\n')).to.equal(
      '8:32 a string has no fields (source "texts" reads it as string: write value: json there if it is JSON)',
    )
    expect(await problemOf('  named: { from: orders, key: key.id }\n')).to.contain('8:31 a string has no fields')
    expect(await problemOf('  paid: { from: raw, filter: value.status == "paid" }\n')).to.equal(
      '8:30 a bytes has no fields (source "raw" names no serde for it, so it is bytes: write value: json, or value: string, there)',
    )
  })

  it('takes a type along through steps that change nothing, and over joins, branches and groups', async () => {
    expect(
      await problemOf('  some: { from: texts, drop: value == "" }\n  paid: { from: some, value: value.status }\n'),
    ).to.contain('9:30 a string has no fields')
    expect(
      await problemOf(
        '  parts: { from: texts, split: { big: value.size() > 9, rest: default } }\n  a: { from: parts.rest, key: value.id }\n',
      ),
    ).to.contain('a string has no fields')
    expect(
      await problemOf('  counts: { from: orders, count: {} }\n  many: { from: counts, filter: value.count > 1 }\n'),
    ).to.contain('a number has no fields (step "counts" (count) gives a number)')
    expect(
      await problemOf('  lines: { from: orders, key: string(value.id) }\n  more: { from: lines, value: key.part }\n'),
    ).to.contain('a string has no fields (step "lines" computes the key, which is text)')
    expect(
      await problemOf(
        '  both: { from: orders, join: { with: texts, within: 1s, grace: 0s, value: { a: left.a, b: right.b } } }\n',
      ),
    ).to.contain('a string has no fields')
  })

  it('refuses a field that an aggregate or a template never has, and names the nearest', async () => {
    expect(await problemOf(TOTALS.replace('state.cents', 'state.cent'))).to.equal(
      '10:92 there is no field "cent" (did you mean "cents"? (step "totals" makes it, with the fields orders, cents))',
    )
    expect(await problemOf(`${TOTALS}  rich: { from: totals, filter: value.total > 1 }\n`)).to.equal(
      '11:33 there is no field "total" (step "totals" makes it, with the fields orders, cents)',
    )
    expect(
      await problemOf('  short: { from: orders, value: { id: value.id } }\n  a: { from: short, key: value.ident }\n'),
    ).to.contain('there is no field "ident"')
  })

  it('leaves open what may be there', async () => {
    await loads(`${TOTALS}  a: { from: totals, filter: has(value.total) && value.total > 1 }
  b: { from: totals, filter: value.?total == 1 }
  c: { from: texts, value: value == null || value.size() > 1 }
  d: { from: orders, reduce: '{"n": value.n}' }
  e: { from: d, filter: value.anything == 1 }
`)
  })

  it('knows nothing behind code', async () => {
    await loads(`  a: { from: texts, value: { module: "./own.mjs#made" } }
  b: { from: a, value: value.anything }
  c: { from: texts, value: { x: value }, serdes: { value: { module: "./own.mjs#serde" } } }
  d: { from: c, filter: value.y == 1 }
  e: { from: orders, key: { module: "./own.mjs#made" } }
  f: { from: e, filter: key.part == 1 }
  g: { from: texts, value: { module: "./own.mjs#made" }, serdes: { value: string } }
  h: { from: g, filter: value.part == 1 }
`)
  })

  it('knows what merged streams have in common', async () => {
    const two = 'sources:\n  a: { topic: a, key: string, value: json }\n  b: { topic: b, key: string, value: json }\n'
    await loads(
      '  ma: { from: a, value: { x: value.x } }\n  mb: { from: b, value: { y: value.y } }\n  m: { from: [ma, mb], filter: value.y == 1 }\n',
      two,
    )
  })

  it('takes the states of several inputs together', async () => {
    const two = 'sources:\n  a: { topic: a, key: string, value: json }\n  b: { topic: b, key: string, value: json }\n'
    await loads(
      '  both: { from: [a, b], aggregate: { init: { x: 0 }, update: { a: { x: value.n, y: state.?y }, b: { x: state.x, y: state.y } } } }\n',
      two,
    )
    expect(
      await problemsOfYaml(
        `${HEAD}${two}steps:\n  both: { from: [a, b], aggregate: { init: { x: 0 }, update: { a: { x: state.z }, b: { x: 1 } } } }\n`,
      ),
    ).to.have.lengthOf(1)
  })
})
