import { expect } from 'chai'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { EXIT_CODES } from '../../../src/cli/exit-codes.ts'
import { positiveInteger } from '../../../src/cli/option-values.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { CommandCapture } from '../../support/command-capture.ts'

/** Every command of the service (docs/configuration.md); `completion` is the parser's own. */
const NAMES = ['run', 'validate', 'check', 'graph', 'test', 'topics', 'reset', 'txn', 'schema', 'init', 'demo']

describe('command line', () => {
  let ran = 0
  const commands = [
    ...COMMANDS,
    defineCommand({
      usage: 'fail [code]',
      summary: 'fails',
      examples: [['$0 fail', 'fails']],
      options: yargs => yargs.option('number', { type: 'string', coerce: positiveInteger('number') }),
      run: async () => {
        ran += 1
        await Promise.resolve()
        throw new MillraceError('TOPIC_MISSING', {
          topic: 'orders',
          node: 'source',
          cause: new Error('told by a broker'),
        })
      },
    }),
  ]
  const run = async (...argv: string[]): Promise<{ code: number; io: CommandCapture }> => {
    const io = new CommandCapture()
    return { code: await runCommandLine(argv, { version: '1.2.3', commands }, io), io }
  }

  beforeEach(() => {
    ran = 0
  })

  it('prints its version and its help', async () => {
    const version = await run('--version')
    expect(version.code).to.equal(0)
    expect(version.io.stdout).to.deep.equal(['1.2.3'])
    const { io } = await run('--help')
    for (const name of [...NAMES, 'completion'])
      expect(io.stdout.join('\n')).to.match(new RegExp(`millrace ${name}\\b`))
  })

  it('names every exit code of its own in its help', async () => {
    const { io } = await run('--help')
    for (const code of Object.values(EXIT_CODES))
      expect(io.stdout.join(' ')).to.match(new RegExp(`[:,]\\s+${String(code)} `, 'u'))
  })

  it('shows examples in the help of every command', async () => {
    for (const name of NAMES) {
      const { code, io } = await run(name, '--help')
      expect(code).to.equal(0)
      expect(io.stdout.join('\n'), name).to.match(new RegExp(`Examples:[\\s\\S]*millrace ${name}`))
    }
  })

  it('ends with 2 without a command, and suggests the nearest one for an unknown', async () => {
    expect((await run()).code).to.equal(2)
    const { code, io } = await run('valdate')
    expect(code).to.equal(2)
    expect(io.stderr.join('\n')).to.include('There is no such command. Did you mean validate?')
  })

  it('does not run a command after a wrong option', async () => {
    const { code, io } = await run('fail', '--unknown')
    expect(code).to.equal(2)
    expect(io.stderr.join('\n')).to.include('unknown')
    expect(ran).to.equal(0)
  })

  it('names a value that is not a number', async () => {
    const { code, io } = await run('fail', '--number', 'abc')
    expect(code).to.equal(2)
    expect(io.stderr.join('\n')).to.include('--number abc')
    expect(ran).to.equal(0)
  })

  it('wants the file of the application', async () => {
    for (const name of ['run', 'validate', 'check', 'graph', 'test', 'topics', 'reset'])
      expect((await run(name)).code).to.equal(2)
    expect((await run('run', 'app.yaml', '--set', 'nothing')).code).to.equal(2)
  })

  it('says what, where, why and what to do, and ends with the exit code of the error', async () => {
    const { code, io } = await run('fail')
    expect(code).to.equal(78)
    expect(io.stdout).to.deep.equal([])
    const text = io.stderr.join('\n')
    expect(text).to.match(/^error: A topic does not exist\.$/m)
    expect(text).to.match(/^ {2}where +step source, topic orders$/m)
    expect(text).to.match(/^ {2}why +told by a broker$/m)
    expect(text).to.match(/^ {2}what to do +Create the topic/m)
    expect(text).to.match(/^ {2}code +TOPIC_MISSING$/m)
  })
})
