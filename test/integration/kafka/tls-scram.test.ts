import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster, ClusterOptions } from '../../../src/kafka/cluster/cluster.ts'
import type { SecurityOptions, TlsOptions } from '../../../src/kafka/connection/security-options.ts'
import type { SaslCredentials } from '../../../src/kafka/kafkajs-internals.ts'
import { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { sleep } from '../../../src/model/clock.ts'
import type { MillraceError } from '../../../src/model/errors.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { adminOf, clusterOf } from '../../support/kafka-client.ts'
import { rejectionOf } from '../../support/rejection.ts'

/** Only a failure takes that long. */
const PATIENCE_MS = 30_000
/** After which a connection has to be authenticated again; the client does it a little earlier, on a loaded machine too. */
const SESSION_MS = 5_000
/** Long enough for a loaded broker to hang up at least once: before that nobody can guess why. */
const HANG_UP_MS = 3_000

function secured(kafka: LocalKafka, sasl: Partial<SaslCredentials> = {}, ssl: TlsOptions = {}): SecurityOptions {
  const ca = kafka.ca === undefined ? {} : { ca: kafka.ca }
  return {
    protocol: 'SASL_SSL',
    ssl: { ...ca, ...ssl },
    sasl: { mechanism: 'SCRAM-SHA-512', ...LOCAL_USERS.admin, ...sasl },
  }
}

/** Why the cluster cannot be connected to. */
async function refusal(cluster: Cluster, timeoutMs = PATIENCE_MS): Promise<MillraceError> {
  try {
    return await rejectionOf(cluster.connect(timeoutMs))
  } finally {
    await cluster.close()
  }
}

async function connected(kafka: LocalKafka, overrides: Partial<ClusterOptions>): Promise<Cluster> {
  const cluster = clusterOf(kafka, overrides)
  try {
    await cluster.connect(PATIENCE_MS)
    return cluster
  } catch (error) {
    await cluster.close()
    throw error
  }
}

describe('TLS and SASL', function () {
  this.timeout(60_000)
  const kafka = useBroker('secure')

  function refusalOf(security: SecurityOptions, timeoutMs = PATIENCE_MS): Promise<MillraceError> {
    return refusal(clusterOf(kafka(), { security }), timeoutMs)
  }

  for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const) {
    it(`let a user in by ${mechanism}`, async () => {
      const cluster = await connected(kafka(), { security: secured(kafka(), { mechanism }) })
      expect(cluster.transactionVersion).to.equal(2)
      await cluster.close()
    })

    it(`name ${mechanism}, the user and the text of the broker when the password is wrong`, async () => {
      const error = await refusalOf(secured(kafka(), { mechanism, password: 'not-this-one' }))
      expect(error.code).to.equal('AUTHENTICATION_FAILED')
      expect(error.exitCode).to.equal(77)
      expect(error.message).to.match(new RegExp(`refused ${mechanism} for user admin: .*(?:credentials|password)`, 'i'))
      expect(error.message).not.to.contain('not-this-one')
    })
  }

  it('verify the host of the certificate', async () => {
    const error = await refusalOf(secured(kafka(), {}, { serverName: 'kafka.example' }))
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/not valid for the host kafka\.example/)
  })

  it('refuse a broker whose authority is not trusted', async () => {
    const error = await refusalOf({ protocol: 'SASL_SSL', sasl: { mechanism: 'PLAIN', ...LOCAL_USERS.admin } })
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/authority that is not trusted/)
  })

  it('guess what the listener wants when it hangs up', async () => {
    const [plain, ssl] = await Promise.all([
      refusalOf({ protocol: 'PLAINTEXT' }, HANG_UP_MS),
      refusalOf({ protocol: 'SSL', ssl: secured(kafka()).ssl ?? {} }, HANG_UP_MS),
    ])
    expect(plain.code).to.equal('BROKER_UNREACHABLE')
    // Under TLS 1.3 the broker sends an alert before it hangs up, which is a clear word.
    expect(plain.message).to.match(/answered with TLS|may want TLS or SASL authentication/)
    expect(ssl.code).to.equal('BROKER_UNREACHABLE')
    expect(ssl.message).to.match(/may want SASL authentication/)
  })

  it('guess that a plain listener does not speak TLS', async () => {
    const [host = '', port] = kafka().internalBootstrapServers.split(':')
    const bootstrapServers = [{ host, port: Number(port) }]
    const cluster = clusterOf(kafka(), { security: secured(kafka()), bootstrapServers })
    const error = await refusal(cluster, HANG_UP_MS)
    expect(error.message).to.match(/may not speak TLS/)
  })

  it('leave a user without the topic that no ACL grants', async () => {
    const topic = uniqueName('secret')
    const { admin, cluster: internal } = await adminOf(kafka())
    await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 1, configs: {} }])
    await internal.close()
    const cluster = await connected(kafka(), { security: secured(kafka(), LOCAL_USERS.application) })
    const error = await rejectionOf(cluster.topic(topic))
    expect(error.code).to.equal('NOT_AUTHORIZED')
    expect(error.message).to.contain(topic)
    const asUser = new Admin(cluster, { clock: systemClock })
    const topics = [{ name: uniqueName('denied'), partitions: 1, replicationFactor: 1, configs: {} }]
    expect((await rejectionOf(asUser.createTopics(topics))).code).to.equal('NOT_AUTHORIZED')
    expect((await rejectionOf(cluster.coordinator('group', 'g'))).message).to.match(/may not use the group g/)
    expect((await rejectionOf(cluster.coordinator('transaction', 't'))).message).to.match(/transactional id t/)
    await cluster.close()
  })
})

describe('client certificates and sessions that end', function () {
  this.timeout(60_000)
  let folder: string
  let kafka: LocalKafka
  let client: TlsOptions

  before(async function () {
    this.timeout(120_000)
    folder = mkdtempSync(join(tmpdir(), 'millrace-client-'))
    client = makeClientCertificate(folder)
    kafka = await LocalKafka.start({
      test: true,
      security: 'sasl_ssl',
      properties: {
        'listener.name.client.ssl.client.auth': 'required',
        'listener.name.client.ssl.truststore.location': join(folder, 'client-ca.pem'),
        'connections.max.reauth.ms': String(SESSION_MS),
      },
    })
  })

  after(async () => {
    await kafka.stop()
    rmSync(folder, { recursive: true })
  })

  it('let in who shows a certificate of a trusted authority', async () => {
    const cluster = await connected(kafka, { security: secured(kafka, {}, client) })
    expect(cluster.brokers.size).to.equal(1)
    await cluster.close()
  })

  it('keep out who shows none', async () => {
    const cluster = clusterOf(kafka, { security: secured(kafka) })
    const error = await refusal(cluster)
    expect(error.code).to.equal('AUTHENTICATION_FAILED')
    expect(error.message).to.match(/asks for a client certificate/)
  })

  it('go on over one connection that is authenticated again, by PLAIN and by SCRAM', async () => {
    const mechanisms = ['PLAIN', 'SCRAM-SHA-256'] as const
    await Promise.all(mechanisms.map(mechanism => goOn(kafka, secured(kafka, { mechanism }, client))))
  })
})

/** Uses one connection for longer than a session. */
async function goOn(kafka: LocalKafka, security: SecurityOptions): Promise<void> {
  const cluster = await connected(kafka, { security })
  const connection = await cluster.connection(1, 'produce')
  const untilMs = systemClock.nowMs() + 1.5 * SESSION_MS
  let answers = 0
  while (systemClock.nowMs() < untilMs) {
    const response = await connection.send('Metadata', { topics: [] })
    answers += response.brokers.length
    await sleep(systemClock, 5)
  }
  expect(answers).to.be.greaterThan(50)
  expect(connection.closed).to.equal(false)
  await cluster.close()
}

/** A client certificate with an authority of its own, whose certificate lies in `client-ca.pem`. */
function makeClientCertificate(folder: string): TlsOptions {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=clients', '-keyout', 'ca.key', '-out', 'client-ca.pem')
  openssl('req', ...key, '-subj', '/CN=alice', '-keyout', 'client.key', '-out', 'client.csr')
  openssl(
    'x509',
    '-req',
    '-days',
    '2',
    '-in',
    'client.csr',
    '-CA',
    'client-ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    'client.crt',
  )
  return {
    cert: readFileSync(join(folder, 'client.crt'), 'utf8'),
    key: readFileSync(join(folder, 'client.key'), 'utf8'),
  }
}
