import { expect } from 'chai'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { uniqueName } from '../../support/broker.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

describe('the configuration of an application', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('keeps the store of a step when another is put before it (case 59)', async () => {
    const input = await room().topic('in')
    const application: CaseApplication = {
      id: uniqueName('app'),
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { counts: { from: 'in', count: {} } },
      sinks: { out: { from: 'counts', topic: `${input}-out` } },
    }
    const counts = async (wanted: number): Promise<number[]> =>
      (await room().untilRecords(`${input}-out`, wanted)).map(({ value }) => Number(value?.readBigInt64BE() ?? 0n))
    await room().write(input, numbered(3, 0, 'same'))
    const first = await room().start(application)
    expect(await counts(3)).to.deep.equal([1, 2, 3])
    expect((await first.terminate()).code).to.equal(0)

    await room().start(
      {
        ...application,
        steps: {
          trimmed: { from: 'in', value: "value + '!'", serdes: { value: 'string' } },
          few: { from: 'trimmed', drop: "value == 'none'" },
          counts: { from: 'few', count: {} },
        },
      },
      { stateDir: first.stateDir },
    )
    await room().write(input, numbered(2, 3, 'same'))
    expect(await counts(5)).to.deep.equal([1, 2, 3, 4, 5])
    const topics = (await room().admin.listTopics()).map(({ name }) => name)
    expect(topics.filter(name => name.startsWith(application.id))).to.deep.equal([`${application.id}-counts-changelog`])
  })
})

describe('a secret of the configuration', function () {
  this.timeout(120_000)
  const room = useCaseRoom('secure')

  it('is taken from the environment as it is, whatever is in it, and is in no output (case 80)', async () => {
    const secret = 'a#b"$c: 1 ${HOME} \\ end'
    const application: CaseApplication = {
      id: uniqueName('app'),
      servers: room().kafka.bootstrapServers,
      kafka: {
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'SCRAM-SHA-512',
        'sasl.username': '${KAFKA_USER}',
        'sasl.password': '${KAFKA_PASSWORD}',
        'ssl.ca': room().kafka.ca,
      },
      sources: { in: { topic: 'any', key: 'string', value: 'string' } },
      sinks: { out: { from: 'in', topic: 'other' } },
    }
    // The user travels as it is too: the message names it, so every character can be seen.
    const user = 'o#\'brien "x": ${y}'
    const { exit, text } = await room().runToEnd(application, { env: { KAFKA_USER: user, KAFKA_PASSWORD: secret } })
    expect(exit.code).to.equal(77)
    expect(text).to.include(user)
    expect(text).not.to.include(secret)
    expect(text).not.to.include('a#b')
  })

  it('is not in the log, in /info, in /metrics or in what goes wrong later', async () => {
    const { username, password } = LOCAL_USERS.admin
    const input = await room().topic('in')
    await room().write(input, [{ key: 'a', value: '{poison' }])
    const process = await room().start(
      {
        id: uniqueName('app'),
        servers: room().kafka.bootstrapServers,
        kafka: {
          'security.protocol': 'SASL_SSL',
          'sasl.mechanism': 'PLAIN',
          'sasl.username': username,
          'sasl.password': '${KAFKA_PASSWORD}',
          'ssl.ca': room().kafka.ca,
        },
        sources: { in: { topic: input, key: 'string', value: 'json' } },
        sinks: { out: { from: 'in', topic: `${input}-out` } },
        errors: { deserialization: 'skip' },
        http: { port: 0 },
      },
      { env: { KAFKA_PASSWORD: password }, args: ['--set', 'logging.level=debug'] },
    )
    await process.untilLine('a record failed', PATIENCE_MS)
    const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
    const pages = await Promise.all(
      ['/info', '/metrics', '/readyz', '/livez'].map(async path =>
        (await fetch(`http://127.0.0.1:${String(port)}${path}`)).text(),
      ),
    )
    expect((await process.terminate()).code).to.equal(0)
    const everything = [...process.lines, ...pages].join('\n')
    expect(everything).to.include(input)
    expect(everything).not.to.include(password)
  })
})
