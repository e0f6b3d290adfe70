import { expect } from 'chai'
import type { GraphNode } from '../../../src/topology/graph-node.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { SideFlow, type SideReading } from '../../../src/topology/side-flow.ts'
import { loadYaml, HEAD } from '../config/yaml-application.ts'

/** The nodes of an application's first subtopology, and where their values go. */
async function valuesOf(yaml: string): Promise<{ readonly nodes: readonly GraphNode[]; readonly flow: SideFlow }> {
  const { topology } = await loadYaml(yaml)
  const [plan] = planApplication(topology, { 'application.id': 'app' }).subtopologies
  if (plan === undefined) throw new Error('there is no subtopology')
  return { nodes: plan.nodes, flow: new SideFlow(plan.nodes, 'value', () => false) }
}

/** How a source of JSON reads its values when they are used in some steps and sinks. */
async function readingOf(steps: string, sinks = '', input = 'value: json'): Promise<SideReading | undefined> {
  const yaml = `${HEAD}
sources: { input: { topic: in, key: string, ${input} } }
steps:
  first: { from: input, filter: value.a == 1 }
${steps}
sinks:
  out: { from: last, topic: out, value: json }
${sinks}`
  const { nodes, flow } = await valuesOf(yaml)
  const source = nodes.find(node => node.kind === 'source')
  return source && flow.readingOf(source)
}

/** Whether the object that the step `m` makes is only written, as JSON. */
async function isOnlyWritten(steps: string, sinks = '  out: { from: m, topic: out, value: json }'): Promise<boolean> {
  const { nodes, flow } = await valuesOf(`${HEAD}
sources: { input: { topic: in, key: string, value: json } }
steps:
  m: { from: input, value: { a: value.a } }
${steps}
sinks:
${sinks}
`)
  const node = nodes.find(({ name }) => name === 'm')
  if (node === undefined) throw new Error('there is no such step')
  return flow.writtenAs(node) === 'json'
}

/** How a source of text reads its values when they are used in some steps and sinks. */
async function textReading(steps: string, sinks = ''): Promise<SideReading | undefined> {
  const yaml = `${HEAD}
sources:
  input: { topic: in, key: string, value: string }
  names: { topic: names, as: table, key: string, value: string }
steps:
${steps}
sinks:
  out: { from: last, topic: out, value: string }
${sinks}`
  const { nodes, flow } = await valuesOf(yaml)
  const source = nodes.find(({ source: found }) => found?.topics.includes('in') === true)
  return source && flow.readingOf(source)
}

describe('a source of text', () => {
  it('leaves its values where they lie, where they are only put beside other texts', async () => {
    expect(await textReading('  last: { from: input, value: \'"<" + value + ">" + key\' }')).to.equal('inPlace')
    expect(await textReading('  last: { from: input, join: { with: names, value: left + right } }')).to.equal('inPlace')
    expect(
      await textReading(
        '  some: { from: input, filter: \'key != "x"\' }\n  last: { from: some, value: value + value }',
      ),
    ).to.equal('inPlace')
  })

  it('decodes them where anybody does something else with them, or keeps them', async () => {
    for (const steps of [
      "  last: { from: input, value: 'string(size(value)) + value' }",
      "  last: { from: input, value: 'value + string(timestamp)' }",
      '  some: { from: input, filter: \'value != "x"\' }\n  last: { from: some, value: value + value }',
      '  last: { from: input, join: { with: names, value: right + string(size(left)) } }',
      '  last: { from: input, key: value + "x" }',
    ]) {
      expect(await textReading(steps), steps).to.equal('decode')
    }
    const sum = '  last: { from: input, value: value + value }'
    expect(await textReading(sum, '  all: { from: input, topic: all, value: json }')).to.equal('decode')
  })
})

describe('a source of JSON', () => {
  it('gives the fields that expressions name, where nothing else asks for its values', async () => {
    expect(await readingOf('  last: { from: first, value: { b: value.b, c: value.?c.d, k: key } }')).to.deep.equal({
      fields: new Set(['a', 'b', 'c']),
    })
    expect(
      await readingOf(
        '  last: { from: first, map: { key: value.k, value: 1 } }',
        '',
        'value: json, timestamp: value.at',
      ),
    ).to.deep.equal({ fields: new Set(['a', 'at', 'k']) })
    expect(
      await readingOf(`  parts: { from: first, split: { x: value.x > 1, y: default } }
  last: { from: parts.x, value: value.b }
  other: { from: parts.y, flatMap: { each: value.list } }`),
    ).to.deep.equal({ fields: new Set(['a', 'b', 'list', 'x']) })
  })

  it('gives whole values where a step, a sink or a store asks for them', async () => {
    expect(await readingOf('  last: { from: first, filter: value.b > 1 }')).to.equal('decode')
    expect(await readingOf('  last: { from: first, value: { b: value } }')).to.equal('decode')
    expect(await readingOf('  last: { from: first, value: value.b }', '  all: { from: first, topic: all }')).to.equal(
      'decode',
    )
    const whole = `  last: { from: first, value: value.b }
  peeked: { from: first, peek: { log: value } }`
    expect(await readingOf(whole)).to.equal('decode')
  })

  it('gives whole values where more fields are named than are worth it', async () => {
    const names = Array.from({ length: 16 }, (_, at) => `f${String(at)}: value.f${String(at)}`)
    expect(await readingOf(`  last: { from: first, value: { ${names.join(', ')} } }`)).to.equal('decode')
  })
})

describe('a mapped value', () => {
  it('is never made where it only goes to topics as JSON', async () => {
    expect(await isOnlyWritten('')).to.equal(true)
    expect(
      await isOnlyWritten(
        '  keyed: { from: m, filter: key != "x" }',
        `  a: { from: m, topic: a, value: json }
  b: { from: keyed, topic: b, value: json }`,
      ),
    ).to.equal(true)
  })

  it('is made where a step reads it, or a store or another serde gets it', async () => {
    expect(await isOnlyWritten('  read: { from: m, filter: value.a == 1 }')).to.equal(false)
    expect(
      await isOnlyWritten('  kept: { from: m, table: {}, store: kept, serdes: { key: string, value: json } }'),
    ).to.equal(false)
    expect(
      await isOnlyWritten('', '  out: { from: m, topic: out, value: json }\n  s: { from: m, topic: s, value: string }'),
    ).to.equal(false)
  })
})
