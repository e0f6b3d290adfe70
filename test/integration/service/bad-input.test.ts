import { expect } from 'chai'
import { freePorts } from '../../../src/local-kafka/ports.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { uniqueName } from '../../support/broker.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { numbered, useCaseRoom, type CaseApplication } from '../cases/case-room.ts'

const copyOf = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string?', value: 'string?' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

/** What, why or where, and what to do, with the code last: one block at the end of what a person sees. */
const BLOCK = /^error: .+\n(?: {2}\S.*\n)* {2}what to do .+\n(?: {14}.*\n)* {2}code {8}[A-Z_]+$/m

describe('a start that cannot succeed', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('tells that no broker answers, again and again with back-off, then ends with 69', async () => {
    const [port = 0] = await freePorts(1)
    const servers = `127.0.0.1:${String(port)}`
    const { exit, text, process } = await room().runToEnd(
      copyOf('any', { servers, streams: { 'startup.timeout.ms': 3_000 } }),
    )
    expect(exit.code).to.equal(69)
    expect(text).to.match(BLOCK)
    expect(text).to.include(`No broker of ${servers} could be reached within 3000 ms`)
    expect(text).to.include('ECONNREFUSED')
    const retries = process.log.filter(({ msg }) => msg === 'Kafka cannot be reached yet; trying again')
    expect(retries.length, 'the same reason is told once in ten seconds').to.equal(1)
    expect(retries[0]).to.include({ level: 'warn', bootstrapServers: servers })
  })

  it('becomes a start that succeeds when the broker appears in time', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(3))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      proxy.cut()
      const process = await room().start(copyOf(input, { servers: proxy.bootstrapServers }))
      await process.untilLine('Kafka cannot be reached yet')
      proxy.heal()
      expect((await room().untilRecords(`${input}-out`, 3)).length).to.equal(3)
    } finally {
      await proxy.stop()
    }
  })

  it('becomes one that succeeds when the cluster answers again after an outage in the midst of it', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(3))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      const lost = proxy.rule({ api: 'DescribeConfigs', direction: 'request', action: { type: 'reset' } })
      const application = copyOf(input, { servers: proxy.bootstrapServers, kafka: { 'request.timeout.ms': 1_000 } })
      const process = await room().start(application)
      await process.untilLine('The start was interrupted')
      lost.remove()
      expect((await room().untilRecords(`${input}-out`, 3)).length).to.equal(3)
    } finally {
      await proxy.stop()
    }
  })

  it('ends with 69 when the cluster goes away in the midst of it and stays away', async () => {
    const input = await room().topic('in')
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      proxy.rule({ api: 'DescribeConfigs', direction: 'request', action: { type: 'reset' } })
      const { exit, text } = await room().runToEnd(
        copyOf(input, {
          servers: proxy.bootstrapServers,
          streams: { 'startup.timeout.ms': 3_000 },
          kafka: { 'request.timeout.ms': 1_000 },
        }),
      )
      expect(exit.code).to.equal(69)
      expect(text).to.match(BLOCK)
      expect(text).to.match(/^error: .* within 3000 ms\. Last reason: /m)
    } finally {
      await proxy.stop()
    }
  })

  it('names an input topic that does not exist, and creates nothing', async () => {
    const topic = uniqueName('nowhere')
    const application = copyOf(topic)
    const { exit, text } = await room().runToEnd(application)
    expect(exit.code).to.equal(78)
    expect(text).to.match(BLOCK)
    expect(text).to.match(new RegExp(`^error: .*${topic}`, 'm'))
    await room().cluster.refresh([topic, `${topic}-out`])
    expect((await room().cluster.topics([topic, `${topic}-out`])).size).to.equal(0)
  })

  it('says in one sentence which versions a broker older than 2.5 lacks', async () => {
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      proxy.rule({
        api: 'ApiVersions',
        direction: 'response',
        action: {
          type: 'rewrite',
          // TxnOffsetCommit 2 is what Kafka 2.4 offers: offsets without the group's generation.
          body: response => ({
            ...response,
            finalizedFeatures: [],
            apiKeys: response.apiKeys.map(api => (api.apiKey === 28 ? { ...api, maxVersion: 2 } : api)),
          }),
        },
      })
      const { exit, text } = await room().runToEnd(copyOf('any', { servers: proxy.bootstrapServers }))
      expect(exit.code).to.equal(78)
      expect(text).to.match(BLOCK)
      expect(text).to.match(
        /^error: Exactly-once needs TxnOffsetCommit version 3 .* has version 2: Kafka 2\.5 is the oldest that will do\.$/m,
      )
      expect(text).to.include('BROKER_TOO_OLD')
      expect(proxy.failures).to.deep.equal([])
    } finally {
      await proxy.stop()
    }
  })

  it('names both keys and both values when the transaction timeout is above what the broker allows (case 25)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(1))
    const application = copyOf(input, { kafka: { 'transaction.timeout.ms': 1_200_000 } })
    const { exit, text } = await room().runToEnd(application)
    expect(exit.code).to.equal(78)
    expect(text).to.match(BLOCK)
    expect(text).to.match(/^error: transaction\.timeout\.ms is 1200000, .* 900000 \(transaction\.max\.timeout\.ms\)/m)
    expect(await room().offsets(application.id, input)).to.deep.equal([undefined])
  })

  it('guesses that a listener does not speak TLS when the handshake fails', async () => {
    const { exit, text } = await room().runToEnd(
      copyOf('any', { streams: { 'startup.timeout.ms': 3_000 }, kafka: { 'security.protocol': 'SSL' } }),
    )
    expect(exit.code).to.equal(69)
    expect(text).to.match(BLOCK)
    expect(text).to.include('may not speak TLS').and.to.include('security.protocol')
  })
})

describe('a start against a secured broker', function () {
  this.timeout(120_000)
  const room = useCaseRoom('secure')
  const login = (user: { username: string }, mechanism: string): Readonly<Record<string, unknown>> => ({
    'security.protocol': 'SASL_SSL',
    'sasl.mechanism': mechanism,
    'sasl.username': user.username,
    'sasl.password': '${PASSWORD}',
    'ssl.ca': room().kafka.ca,
  })

  it('says that the listener wants TLS when it answers plain text with an alert', async () => {
    const servers = room().kafka.bootstrapServers
    const { exit, text } = await room().runToEnd(copyOf('any', { servers }))
    expect(exit.code).to.equal(69)
    expect(text).to.match(BLOCK)
    expect(text).to.include(`${servers}: The listener answered with TLS, but security.protocol is without TLS.`)
  })

  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
    it(`names ${mechanism} and the user when the credentials are wrong, never the password`, async () => {
      const servers = room().kafka.bootstrapServers
      const kafka = login(LOCAL_USERS.application, mechanism)
      const { exit, text } = await room().runToEnd(copyOf('any', { servers, kafka }), {
        env: { PASSWORD: 'certainly-not-this' },
      })
      expect(exit.code).to.equal(77)
      expect(text).to.match(BLOCK)
      expect(text).to.match(
        new RegExp(
          `^error: .*${mechanism}.*${LOCAL_USERS.application.username}|^error: .*${LOCAL_USERS.application.username}.*${mechanism}`,
          'm',
        ),
      )
      expect(text).not.to.include('certainly-not-this')
    })
  }

  it('names the right that is missing when an ACL forbids the input', async () => {
    const input = await room().topic('forbidden')
    const { exit, text } = await room().runToEnd(
      copyOf(input, { servers: room().kafka.bootstrapServers, kafka: login(LOCAL_USERS.application, 'SCRAM-SHA-512') }),
      { env: { PASSWORD: LOCAL_USERS.application.password } },
    )
    expect(exit.code).to.equal(77)
    expect(text).to.match(BLOCK)
    expect(text).to.include('NOT_AUTHORIZED').and.to.include(input)
    expect(text).not.to.include(LOCAL_USERS.application.password)
  })
})
