import { expect } from 'chai'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { useBroker } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { MillraceProcess } from '../../support/millrace-process.ts'
import { Stage } from '../faults/stage.ts'

const WAIT_MS = 60_000
/** As a password of somebody who makes them by a machine: with everything that a shell, YAML or a pattern may trip over. */
const WRONG = 'Zq7#sesame"$\\{x}: 1 %41'
const KEY_BODY = 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgplantedplantedplan'
const KEY = `-----BEGIN PRIVATE KEY-----\n${KEY_BODY}\n-----END PRIVATE KEY-----\n`
const PASSPHRASE = 'Zq8-passphrase-of-the-key'

const VARIABLES = {
  PLANTED_RIGHT: LOCAL_USERS.admin.password,
  PLANTED_WRONG: WRONG,
  PLANTED_KEY: KEY,
  PLANTED_PASSPHRASE: PASSPHRASE,
}

interface Said {
  readonly code: number
  readonly text: string
}

const secrets = (): readonly string[] => [
  LOCAL_USERS.admin.password,
  WRONG,
  JSON.stringify(WRONG).slice(1, -1),
  encodeURIComponent(WRONG),
  Buffer.from(WRONG).toString('base64'),
  'Zq7#sesame',
  KEY_BODY,
  PASSPHRASE,
]

const commandLines = (file: string): readonly (readonly string[])[] => [
  ['--help'],
  ['run', '--help'],
  ['txn', 'abort', '--help'],
  ['validate', file],
  ['validate', file, '--format', 'json'],
  ['graph', file],
  ['graph', file, '--format', 'dot'],
  ['test', file],
  ['check', file],
  ['topics', file, '--dry-run'],
  ['reset', file],
  ['verify', file],
  ['verify', file, '--format', 'json'],
  ['txn', 'list', file],
  ['txn', 'describe', 'no-such-id', file],
  ['txn', 'find-hanging', file, '--format', 'json'],
  ['txn', 'abort', file, '--transactional-id', 'no-such-id'],
]

function expectNoSecret(text: string, of: string): void {
  for (const secret of secrets()) expect(text.includes(secret), `${of} shows ${secret}:\n${text}`).to.equal(false)
}

/** Runs one command line, as a process does; what it writes goes through what is captured here. */
async function millrace(...args: string[]): Promise<Said> {
  const io = new CommandCapture()
  const code = await runCommandLine(args, { version: '0', commands: COMMANDS }, io)
  return { code, text: [...io.stdout, ...io.stderr].join('\n') }
}

describe('secrets', function () {
  this.timeout(240_000)
  const kafka = useBroker('secure')
  let stage: Stage
  let folder = ''
  let topic = ''

  before(async () => {
    stage = await Stage.open(kafka())
    folder = await mkdtemp(join(tmpdir(), 'millrace-secrets-'))
    topic = await stage.topic()
    await writeFile(join(folder, 'password'), `${WRONG}\n`)
    for (const [name, value] of Object.entries(VARIABLES)) process.env[name] = value
  })

  after(async () => {
    for (const name of Object.keys(VARIABLES)) delete process.env[name]
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** The file of an application whose login has the password as written. */
  async function fileOf(name: string, password: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    await mkdir(folder, { recursive: true })
    const file = join(folder, `${name}.yaml`)
    const properties = {
      'bootstrap.servers': kafka().bootstrapServers,
      'security.protocol': 'SASL_SSL',
      'sasl.mechanism': 'PLAIN',
      'sasl.username': LOCAL_USERS.admin.username,
      'sasl.password': password,
      'ssl.ca': kafka().ca ?? '',
      ...more,
    }
    const kafkaLines = Object.entries(properties).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`)
    await writeFile(
      file,
      [
        `streams: { application.id: "${topic}-app", startup.timeout.ms: 60000 }`,
        'kafka:',
        ...kafkaLines,
        `sources: { in: { topic: ${topic}, key: "string?", value: json, errors: { deserialization: skip } } }`,
        'steps: { counts: { from: in, groupBy: "key", count: {} } }',
        `sinks: { out: { from: counts, topic: ${topic}-out } }`,
        'http: { port: 0 }',
        'logging: { format: json, level: debug }',
        'tests: [{ name: t, inputs: [{ source: in, key: a, value: 1 }], outputs: [] }]',
      ].join('\n'),
    )
    return file
  }

  it('are in no output of any command, whether the login is right or wrong, from variable, file or YAML', async () => {
    const files = [
      await fileOf('right', '${PLANTED_RIGHT}'),
      await fileOf('wrong', '${PLANTED_WRONG}'),
      await fileOf('wrong-file', `\${file:${join(folder, 'password')}}`),
      await fileOf('literal', WRONG.replaceAll('$', '$$$$')),
      await fileOf('key', '${PLANTED_WRONG}', {
        'ssl.key': '${PLANTED_KEY}',
        'ssl.key.password': '${PLANTED_PASSPHRASE}',
      }),
    ]
    for (const [index, file] of files.entries()) {
      // All commands once; of the other files those that show mistakes and failed logins.
      const commands = commandLines(file).filter(([name]) => index === 0 || name === 'check' || name === 'validate')
      for (const command of commands) {
        const { code, text } = await millrace(...command)
        expect(code, `${command.join(' ')}\n${text}`).to.be.oneOf([0, 1, 65, 75, 77, 78])
        expect(text).not.to.equal('')
        if (index === 0 && command[0] === 'check') expect(text, 'the login was used').to.include('ok    reached')
        expectNoSecret(text, command.join(' '))
      }
    }
  })

  it('are in no message about mistakes beside them, on the command line or in the file', async () => {
    const file = await fileOf('right', '${PLANTED_RIGHT}')
    const lines = [
      `kafka: { sasl.password: "${PASSPHRASE}", comit: 1 }`,
      `kafka: { comit: 1, sasl.password: ${PASSPHRASE} }`,
      `kafka:\n  sasl.password: ${PASSPHRASE}: x`,
      `kafka:\n  sasl.pasword: ${PASSPHRASE}\n  sasl.password: [${PASSPHRASE}]`,
      `kafka:\n  sasl.jaas.config: 'org.apache.kafka.X required username="a" password="${PASSPHRASE}";'`,
      `kafka:\n  ssl.key: |\n    ${KEY_BODY}\n   ${KEY_BODY}`,
    ]
    for (const [index, text] of lines.entries()) {
      const wrong = join(folder, `mistake-${String(index)}.yaml`)
      await writeFile(wrong, text)
      const { code, text: said } = await millrace('validate', file, '-c', wrong)
      expect(code, said).to.equal(78)
      expectNoSecret(said, text)
    }
    for (const set of [
      `kafka.sasl.password:${PASSPHRASE}`,
      `kafka.sasl.password=[${PASSPHRASE}`,
      `kafka.sasl.pasword=${PASSPHRASE}`,
      `kafka.sasl.password.__proto__=${PASSPHRASE}`,
      `kafka.ssl.key=${KEY}`,
    ]) {
      const { text } = await millrace('validate', file, '--set', set)
      expectNoSecret(text, set)
    }
  })

  it('are in no log at debug, no page of the service, and no file of its state', async () => {
    const file = await fileOf('right', '${PLANTED_RIGHT}')
    const state = join(folder, 'state')
    const service = await MillraceProcess.start({
      yaml: await readFile(file, 'utf8'),
      stateDir: state,
      env: VARIABLES,
    })
    try {
      await service.untilRunning(WAIT_MS)
      await stage.write(topic, [
        { key: 'a', value: '{poison' },
        { key: 'a', value: '1' },
      ])
      await service.untilLine('a record failed', WAIT_MS)
      const { port } = JSON.parse(await service.untilLine('health and metrics are served')) as { port: number }
      for (const path of ['/info', '/metrics', '/readyz', '/livez', '/startupz', '/nowhere']) {
        expectNoSecret(await (await fetch(`http://127.0.0.1:${String(port)}${path}`)).text(), path)
      }
      expect((await service.terminate()).code).to.equal(0)
      expectNoSecret(service.lines.join('\n'), 'the log')
      expect(service.lines.length).to.be.greaterThan(3)
    } finally {
      await service.dispose()
    }
    const files = (await readdir(state, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
    expect(files).not.to.deep.equal([])
    for (const { parentPath, name } of files) expectNoSecret(await readFile(join(parentPath, name), 'utf8'), name)
  })

  it('are in no log of a service whose login is refused', async () => {
    const refused = await MillraceProcess.start({
      yaml: await readFile(await fileOf('wrong', '${PLANTED_WRONG}'), 'utf8'),
      env: VARIABLES,
    })
    try {
      expect((await refused.untilExit(WAIT_MS)).code).to.equal(77)
      await refused.untilLine(/^ {2}code +AUTHENTICATION_FAILED/, WAIT_MS)
      expectNoSecret(refused.lines.join('\n'), 'the log')
    } finally {
      await refused.dispose()
    }
  })
})
