import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { freePorts, requireFreePort } from '../../../src/local-kafka/ports.ts'
import { CommandCapture } from '../../support/command-capture.ts'

const EXAMPLE = 'config/order-totals.yaml'

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new CommandCapture()
  const code = await runCommandLine(argv, { version: '0', commands: COMMANDS }, io)
  return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') }
}

/** Address of a module of the sources, as text of a program. */
function moduleText(name: string): string {
  return JSON.stringify(new URL(`../../../src/${name}.js`, import.meta.url).href)
}

describe('commands without a broker', () => {
  let folder = ''
  const file = async (text: string): Promise<string> => {
    const path = join(folder, 'app.yaml')
    await writeFile(path, text)
    return path
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  })

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('validate says what a good file is', async () => {
    const { code, out } = await run('validate', EXAMPLE)
    expect(code).to.equal(0)
    expect(out).to.include('order-totals').and.to.include('2 subtopologies')
  })

  it('validate shows every mistake of a wrong file with its place, also for tools', async () => {
    const path = await file(
      'streams: { application.id: a, comit.interval.ms: 5 }\nkafka: { bootstrap.servers: "a:1" }\nsourcs: {}\n',
    )
    const text = await run('validate', path)
    expect(text.code).to.equal(78)
    expect(text.err)
      .to.match(/app\.yaml:1:\d+/)
      .and.to.match(/app\.yaml:3:1/)
    const tools = await run('validate', path, '--format', 'json')
    expect(tools.code).to.equal(78)
    const { valid, errors } = JSON.parse(tools.out) as { valid: boolean; errors: { line: number; message: string }[] }
    expect(valid).to.equal(false)
    expect(errors.map(({ line }) => line)).to.include.members([1, 3])
  })

  it('run that fails before its HTTP server listens leaves none behind, so that the process ends', async () => {
    const [port = 0] = await freePorts(1)
    const path = join(folder, 'app.mjs')
    await writeFile(
      path,
      `import { streams } from ${moduleText('topology/streams')}
import { string } from ${moduleText('serdes/text')}
export default streams(b => b.stream('in', { key: string, value: string }).groupByKey().count())
export const config = {
  streams: { 'application.id': 'a', 'ensure.explicit.internal.resource.naming': true },
  kafka: { 'bootstrap.servers': '127.0.0.1:1' },
  http: { port: ${String(port)} },
  logging: { level: 'silent' },
}`,
    )
    const { code, err } = await run('run', path)
    expect(err).to.include('NAME_REQUIRED')
    expect(code).to.equal(78)
    // Time for a server that was still about to listen.
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    await requireFreePort(port)
  })

  it('test runs the tests of a file, and fails when one differs', async () => {
    const good = await run('test', EXAMPLE)
    expect(good.code, good.out).to.equal(0)
    expect(good.out).to.include('1 passed, 0 failed')
    const path = await file(
      [
        'streams: { application.id: a }',
        'kafka: { bootstrap.servers: "a:1" }',
        'sources: { in: { topic: in, value: string } }',
        'sinks: { out: { from: in, topic: out } }',
        'tests:',
        '  - name: copies',
        '    inputs: [{ source: in, value: hello }]',
        '    outputs: [{ sink: out, value: bye }]',
      ].join('\n'),
    )
    const bad = await run('test', path)
    expect(bad.code).to.equal(1)
    expect(bad.out).to.match(/FAIL +copies[\s\S]*hello[\s\S]*0 passed, 1 failed/)
  })

  it('test says why outputs are missing that an error policy passed over', async () => {
    const path = await file(
      [
        'streams: { application.id: a }',
        'kafka: { bootstrap.servers: "a:1" }',
        'errors: { processing: skip }',
        'sources: { in: { topic: in, value: json } }',
        'steps:',
        '  halve: { from: in, value: value.none, serdes: { value: json } }',
        'sinks: { out: { from: halve, topic: out } }',
        'tests:',
        '  - name: halves',
        '    inputs: [{ source: in, value: { a: 1 } }, { source: in, value: { a: 2 } }]',
        '    outputs: [{ sink: out, value: 1 }]',
        '  - name: leaves out',
        '    inputs: [{ source: in, value: { a: 1 } }]',
        '    outputs: []',
      ].join('\n'),
    )
    const { code, out, err } = await run('test', path)
    expect(code, err).to.equal(1)
    expect(out).to.match(/missing: [^\n]*\n +2 records skipped: PROCESSING_FAILED at halve: .*none/)
    expect(out.match(/skipped:/g)).to.have.length(1)
  })

  it('graph draws the same application in each form', async () => {
    const text = await run('graph', EXAMPLE)
    expect(text.out).to.match(/subtopology 1[\s\S]*stores +totals \(changelog order-totals-totals-changelog\)/)
    const mermaid = await run('graph', EXAMPLE, '--format', 'mermaid')
    expect(mermaid.out).to.match(/^flowchart LR\n {2}subgraph s0/)
    const dot = await run('graph', EXAMPLE, '--format', 'dot')
    expect(dot.out).to.match(/^digraph application \{[\s\S]*\}$/)
    const describeText = await run('graph', EXAMPLE, '--format', 'describe')
    expect(describeText.out).to.match(/^Topologies:\n {3}Sub-topology: 0\n/)
  })

  it('schema prints a JSON Schema', async () => {
    const { code, out } = await run('schema')
    expect(code).to.equal(0)
    expect(JSON.parse(out)).to.have.nested.property('properties.streams')
  })

  it('init makes a file that is valid and passes its own tests', async () => {
    await run('init', folder, '--name', 'words')
    const path = join(folder, 'words.yaml')
    expect((await run('validate', path)).err).to.equal('')
    const { code, out } = await run('test', path)
    expect(code, out).to.equal(0)
  })
})
