import { expect } from 'chai'
import { inspect } from 'node:util'
import { readFileSync } from 'node:fs'
import { configurationReference } from '../../../scripts/generate-config-reference.ts'
import { CLIENT_PROPERTIES } from '../../../src/config/client-properties.ts'
import { engineConfigOf } from '../../../src/config/engine-config.ts'
import { jsonSchema } from '../../../src/config/json-schema.ts'
import type { MillraceConfig } from '../../../src/config/millrace-config.ts'
import { STREAMS_PROPERTIES } from '../../../src/config/streams-properties.ts'
import {
  IGNORED_CLIENT,
  IGNORED_STREAMS,
  REFUSED_CLIENT,
  REFUSED_STREAMS,
} from '../../../src/config/unsupported-properties.ts'
import { problemsOfYaml } from './yaml-application.ts'

const GIVEN: MillraceConfig = {
  streams: { 'application.id': 'app' },
  kafka: { 'bootstrap.servers': 'b1:9092, b2,[::1]:1' },
}

describe('the property tables', () => {
  it('know every property of Kafka Streams and its clients, each exactly once', () => {
    const lines = readFileSync('test/golden/config/kafka-4.4.0-properties.tsv', 'utf8').trim().split('\n')
    expect(lines.length).to.be.greaterThan(400)
    for (const line of lines) {
      const [client, name] = line.split('\t')
      const tables =
        client === 'streams'
          ? [STREAMS_PROPERTIES, REFUSED_STREAMS, IGNORED_STREAMS]
          : [CLIENT_PROPERTIES, REFUSED_CLIENT, IGNORED_CLIENT]
      expect(places(name ?? '', tables), line).to.equal(1)
    }
  })

  it('say what to do instead of a setting that is not there, or is there in the other block', async () => {
    const problems = await problemsOfYaml(`streams:
  application.id: app
  num.standby.replicas: 1
  consumer.max.poll.records: 5
  retries: 3
kafka: { bootstrap.servers: "127.0.0.1:9092" }
`)
    expect(problems).to.include.members([
      '3:25 "num.standby.replicas" of "streams" is 0, not "1" (there are no standby copies yet, leave it out: a task that moves restores its stores from their changelogs)',
      '4:3 "consumer.max.poll.records" belongs under "kafka:"',
      '5:3 "retries" belongs under "kafka:"',
    ])
  })

  it('are what docs/configuration.md shows (npm run docs)', () => {
    expect(readFileSync('docs/configuration.md', 'utf8')).to.equal(configurationReference())
  })

  it('make a JSON Schema whose references all resolve', () => {
    const schema = JSON.parse(JSON.stringify(jsonSchema())) as { readonly $defs: Readonly<Record<string, unknown>> }
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(
      match => match[1] ?? '',
    )
    expect(references.length).to.be.greaterThan(20)
    for (const name of references) expect(schema.$defs, name).to.have.property(name)
    expect(JSON.stringify(schema)).to.contain('"producer.linger.ms"').and.not.to.contain('"consumer.linger.ms"')
  })
})

describe('the configuration of the engine', () => {
  it('has defaults for everything', () => {
    const config = engineConfigOf(GIVEN)
    expect(config).to.deep.include({
      applicationId: 'app',
      guarantee: 'exactly_once_v2',
      commitIntervalMs: 100,
      threads: 1,
      transactionTimeoutMs: 10_000,
      groupInstanceId: undefined,
      security: { protocol: 'PLAINTEXT' },
      http: undefined,
    })
    expect(config.bootstrapServers).to.deep.equal([
      { host: 'b1', port: 9092 },
      { host: 'b2', port: 9092 },
      { host: '::1', port: 1 },
    ])
    expect(Object.isFrozen(config)).to.equal(true)
  })

  it('waits longer between commits where readers do not wait for them', () => {
    expect(
      engineConfigOf({ ...GIVEN, streams: { ...GIVEN.streams, 'processing.guarantee': 'at_least_once' } })
        .commitIntervalMs,
    ).to.equal(30_000)
  })

  it('prefers a prefixed property, and refuses a prefix that does not fit', () => {
    const kafka = { ...GIVEN.kafka, 'producer.compression.type': 'lz4' }
    expect(engineConfigOf({ ...GIVEN, kafka }).producer.compression).to.equal('lz4')
    expect(() => engineConfigOf({ ...GIVEN, kafka: { ...kafka, 'consumer.linger.ms': 1 } })).to.throw(
      'no property of the consumer',
    )
  })

  it('reads PEM files, and takes PEM text as it is', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----'
    const kafka = { ...GIVEN.kafka, 'security.protocol': 'SSL' as const }
    expect(engineConfigOf({ ...GIVEN, kafka: { ...kafka, 'ssl.ca': pem } }).security.ssl?.ca).to.equal(pem)
    expect(engineConfigOf({ ...GIVEN, kafka: { ...kafka, 'ssl.ca': 'LICENSE' } }).security.ssl?.ca).to.contain(
      'Apache License',
    )
    expect(() => engineConfigOf({ ...GIVEN, kafka: { ...kafka, 'ssl.ca': '/nowhere' } }))
      .to.throw('neither PEM text nor a file')
      .with.property('code', 'SECRET_UNREADABLE')
  })

  it('shows nothing of a key that was taken for a path', () => {
    const keyPair = { 'ssl.cert': '-----BEGIN CERTIFICATE-----', 'ssl.key': 'MIIEsecret' }
    const kafka = { ...GIVEN.kafka, 'security.protocol': 'SSL' as const, ...keyPair }
    let failure: unknown
    try {
      engineConfigOf({ ...GIVEN, kafka })
    } catch (error) {
      failure = error
    }
    expect(failure).to.have.property('code', 'SECRET_UNREADABLE')
    expect(inspect(failure, { depth: 9 })).not.to.contain('MIIEsecret')
  })

  it('hands the reset policy of the consumer on to the topology', () => {
    const kafka = { ...GIVEN.kafka, 'auto.offset.reset': 'latest' as const }
    expect(engineConfigOf({ ...GIVEN, kafka }).streamsProperties['auto.offset.reset']).to.equal('latest')
  })

  it('wants a topic for dead letters', () => {
    expect(() => engineConfigOf({ ...GIVEN, errors: { processing: 'deadLetter' } })).to.throw('dead letters nowhere')
  })

  it('names every mistake of an object, without lines', () => {
    const wrong = {
      streams: { 'application.id': 'a', 'num.stream.threads': 0 },
      kafka: { 'bootstrap.servers': 'a:b:c' },
    }
    expect(() => engineConfigOf(wrong)).to.throw(
      'config.streams  "num.stream.threads" of "streams" is an integer from 1 to 256, not "0"',
    )
    expect(() => engineConfigOf({ ...GIVEN, kafka: { 'bootstrap.servers': 'a:b:c' } })).to.throw(
      '"a:b:c", which is no host:port',
    )
  })
})

function places(name: string, tables: readonly (readonly { readonly name: string }[])[]): number {
  return tables
    .flat()
    .filter(entry => (entry.name.endsWith('*') ? name.startsWith(entry.name.slice(0, -1)) : entry.name === name)).length
}
