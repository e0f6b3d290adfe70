import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from '../../../src/local-kafka/cache.ts'
import { eventually } from '../../support/condition.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/run-tests.js', import.meta.url))

const PASSES = `describe('sums', () => { it('add up', () => {}) })`

interface Ended {
  readonly code: number
  readonly lines: readonly string[]
  readonly text: string
}

describe('a run of tests in lanes', function () {
  this.timeout(60_000)
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-run-'))
  })

  afterEach(async () => {
    await rm(folder, { recursive: true })
  })

  /** Runs test files of the given texts by name. */
  async function run(files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    return await new Promise(resolve => {
      execFile(process.execPath, [SCRIPT, ...args, folder], (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code)
        resolve({ code, lines: stdout.trimEnd().split('\n'), text: stdout + stderr })
      })
    })
  }

  it('ends with one line for all lanes, and exit code 0 when all is well', async () => {
    const { code, lines, text } = await run({
      'quick.test.js': PASSES,
      'integration/one.test.js': `it('one', () => { console.log('said by one') })`,
      'integration/two.test.js': `it('two', () => {})`,
    })
    expect(lines.at(-1)).to.equal('3 passed, 0 failed')
    expect(text).to.include('said by one')
    expect(code).to.equal(0)
  })

  it('fails with a test, and tells what the test expected', async () => {
    const failing = `const { strictEqual } = require('node:assert')
      describe('sums', () => { it('are even', () => { strictEqual('odd', 'even') }) })`
    const { code, lines, text } = await run({ 'a.test.js': PASSES, 'b.test.js': failing })
    expect(lines.at(-1)).to.equal('1 passed, 1 failed')
    expect(text).to.match(/1\) sums\n +are even:[^]*\+ expected - actual[^]*-odd\n +\+even/)
    expect(code).to.equal(1)
  })

  it('fails when a lane dies, names file and test, and runs the other files all the same', async () => {
    const { code, lines, text } = await run(
      {
        'integration/a.test.js': `it('first', () => {}); it('ends everything', () => { process.exit(0) })`,
        'integration/b.test.js': PASSES,
        'integration/c.test.js': PASSES,
      },
      '--lanes',
      '1',
    )
    expect(lines.at(-1)).to.equal('3 passed, 1 failed')
    expect(text).to.match(/a\.test\.js[^]*ended with exit code 0; the last test that began: ends everything/)
    expect(code).to.equal(1)
  })

  it('ends what a lane has started when the lane dies', async () => {
    const pidFile = join(folder, 'pid')
    await run({
      'integration/a.test.js': `const { spawn } = require('node:child_process'); const { writeFileSync } = require('node:fs')
        it('starts a process and ends', () => {
          const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
          writeFileSync(${JSON.stringify(pidFile)}, String(child.pid))
          process.exit(1)
        })`,
    })
    const pid = Number(await readFile(pidFile, 'utf8'))
    await eventually('the process is gone', () => !isAlive(pid))
  })

  it('gives up on lanes that die again and again, and fails with what was not run', async () => {
    const names = ['0', '1', '2', '3'].map(name => `integration/${name}.test.js`)
    const files = Object.fromEntries(names.map(name => [name, 'process.exit(0)'] as const))
    const { code, lines, text } = await run(files, '--lanes', '1')
    expect(lines.at(-1)).to.equal('0 passed, 4 failed')
    expect(text).to.match(/lanes were lost before:\n.*3\.test\.js/)
    expect(code).to.equal(1)
  })

  it('fails with whatever is not a test that passes', async () => {
    const { code, lines, text } = await run({
      'integration/load.test.js': `throw new Error('cannot be loaded')`,
      'integration/rejection.test.js': `it('hangs', () => { Promise.reject(new Error('nobody handled')); return new Promise(() => {}) })`,
      'integration/hook.test.js': `describe('a', () => { before(() => { throw new Error('hook failed') }); it('b', () => {}) })`,
      'integration/only.test.js': `it['only']('alone', () => {}); it('left out', () => {})`,
    })
    expect(lines.at(-1)).to.equal('0 passed, 4 failed')
    for (const what of ['cannot be loaded', 'nobody handled', 'hook failed', '.only']) expect(text).to.include(what)
    expect(code).to.equal(1)
  })

  it('fails without tests', async () => {
    const { code, lines } = await run({ 'a.test.js': '' })
    expect(lines.at(-1)).to.equal('0 passed, 1 failed')
    expect(code).to.equal(1)
  })

  it('runs the tests that a pattern names', async () => {
    const files = { 'a.test.js': `it('apples', () => {}); it('pears', () => { throw new Error('not asked for') })` }
    expect((await run(files, '--grep', 'app')).lines.at(-1)).to.equal('1 passed, 0 failed')
  })
})
