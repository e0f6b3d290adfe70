import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandRun, runNode } from '../../support/command-run.ts'

const CLI = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
/** All of them run their tests in `unit/examples`; these two do it as a user does. */
const SHIPPED = ['config/order-totals.yaml', 'config/examples/enriched-orders.yaml']
const PASSWORD = 'sesame#open: "1"'

function millrace(...args: string[]): Promise<CommandRun> {
  return runNode(CLI, args, { KAFKA_PASSWORD: PASSWORD })
}

describe('commands that need no broker, as processes', function () {
  this.timeout(120_000)
  let folder = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-commands-'))
    await writeFile(
      join(folder, 'wrong.yaml'),
      [
        'streams:',
        '  application.id: shop',
        '  comit.interval.ms: 5',
        'kafka:',
        '  bootstrap.servers: 127.0.0.1:9092',
        '  security.protocol: SASL_SSL',
        '  sasl.mechanism: PLAIN',
        '  sasl.username: alice',
        '  sasl.password: ${KAFKA_PASSWORD}',
        'sources:',
        '  orders: { topic: orders, key: string, value: json }',
        'steps:',
        '  paid: { from: ordes, filter: value.status == "paid" }',
        '  cheap: { from: orders, filter: value.cents < }',
        'sinks:',
        '  out: { from: orders, topic: paid }',
        '',
      ].join('\n'),
    )
  })

  after(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('validate tells every mistake at its place at once, for people and for tools', async () => {
    const file = join(folder, 'wrong.yaml')
    const [people, tools] = await Promise.all([
      millrace('validate', file),
      millrace('validate', file, '--format', 'json'),
    ])
    expect([people.code, tools.code]).to.deep.equal([78, 78])
    for (const place of ['3:3', '13:', '14:']) expect(people.err).to.include(`wrong.yaml:${place}`)
    expect(people.err).to.include('commit.interval.ms').and.to.include('orders')
    expect(people.err + people.out + tools.out + tools.err).not.to.include(PASSWORD)
    const report = JSON.parse(tools.out) as {
      valid: boolean
      errors: { code: string; file: string; line: number; column: number; message: string }[]
    }
    expect(report.valid).to.equal(false)
    expect(report.errors.map(({ line }) => line).toSorted((a, b) => a - b)).to.deep.equal([3, 13, 14])
    for (const { file: named, column } of report.errors) {
      expect(named).to.equal(file)
      expect(column).to.be.greaterThan(0)
    }
  })

  it('validate, graph and test take the shipped applications', async () => {
    for (const file of SHIPPED) {
      const [valid, graph, tests] = await Promise.all([
        millrace('validate', file, '--format', 'json'),
        millrace('graph', file),
        millrace('test', file),
      ])
      expect(JSON.parse(valid.out), file).to.include({ valid: true })
      expect([valid.code, graph.code, tests.code], `${file} ${tests.out} ${tests.err}`).to.deep.equal([0, 0, 0])
      expect(graph.out, file)
        .to.match(/^ {2}reads /m)
        .and.to.match(/^ {2}writes /m)
      expect(tests.out, file).to.match(/^[1-9]\d* passed, 0 failed$/m)
    }
  })

  it('schema is JSON Schema, and graph draws for people, Mermaid and DOT', async () => {
    const [schema, mermaid, dot] = await Promise.all([
      millrace('schema'),
      millrace('graph', 'config/order-totals.yaml', '--format', 'mermaid'),
      millrace('graph', 'config/order-totals.yaml', '--format', 'dot'),
    ])
    expect(JSON.parse(schema.out)).to.have.property('$schema')
    expect(mermaid.out).to.match(/^(flowchart|graph) /m)
    expect(dot.out).to.match(/^digraph /m)
  })

  it('a test that fails ends with 1 and shows what came instead', async () => {
    const file = join(folder, 'failing.yaml')
    await writeFile(
      file,
      [
        'streams: { application.id: shop }',
        'kafka: { bootstrap.servers: "127.0.0.1:9092" }',
        'sources: { in: { topic: in, key: string, value: string } }',
        'steps: { counts: { from: in, count: {} } }',
        'sinks: { out: { from: counts, topic: out } }',
        'tests:',
        '  - name: counts wrongly',
        '    inputs: [{ source: in, key: a, value: x }]',
        '    outputs: [{ sink: out, key: a, value: 2 }]',
        '',
      ].join('\n'),
    )
    const { code, out } = await millrace('test', file)
    expect(code).to.equal(1)
    expect(out)
      .to.match(/^FAIL +counts wrongly +\(.*failing\.yaml:7/m)
      .and.to.include('0 passed, 1 failed')
  })

  it('help of every command has examples, and a wrong command ends with 2', async () => {
    const commands = ['run', 'validate', 'check', 'graph', 'schema', 'init', 'test', 'topics', 'reset', 'txn', 'demo']
    const helps = await Promise.all(commands.map(command => millrace(command, '--help')))
    for (const [index, help] of helps.entries()) {
      expect(help.code, commands[index]).to.equal(0)
      expect(help.out, commands[index]).to.match(/Examples:/)
    }
    const wrong = await millrace('rnu', 'app.yaml')
    expect(wrong.code).to.equal(2)
    expect(wrong.err).not.to.equal('')
  })
})
