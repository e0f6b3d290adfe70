import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { MillraceProcess } from '../../support/millrace-process.ts'

const PASSWORD = 'sesame-of-the-login'
const WAIT_MS = 60_000

/** A TLS endpoint with one certificate, and what clients told it. */
interface Endpoint {
  readonly server: Server
  readonly address: string
  readonly received: () => number
}

describe('a TLS endpoint that cannot be trusted', function () {
  this.timeout(120_000)
  let folder = ''
  let endpoint: Endpoint | undefined
  const processes: MillraceProcess[] = []

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'))
    authority('ca')
    authority('other-ca')
  })

  afterEach(async () => {
    await Promise.all(processes.splice(0).map(process => process.dispose()))
    endpoint?.server.close()
    endpoint = undefined
  })

  after(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  }
  const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

  function authority(name: string): void {
    openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  }

  /** Serves a certificate that the authority `ca` has signed. */
  async function serve(names: string, days: number): Promise<Endpoint> {
    writeFileSync(join(folder, 'names.cnf'), `subjectAltName=${names}\n`)
    openssl('req', ...NEW_KEY, '-subj', '/CN=broker', '-keyout', 'broker.key', '-out', 'broker.csr')
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names.cnf']
    openssl('x509', '-req', '-in', 'broker.csr', '-days', String(days), ...signed, '-out', 'broker.crt')
    let bytes = 0
    const server = createServer(
      { key: readFileSync(join(folder, 'broker.key')), cert: readFileSync(join(folder, 'broker.crt')) },
      socket => {
        socket.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        socket.on('error', () => undefined)
      },
    )
    server.on('tlsClientError', () => undefined)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    endpoint = { server, address: `127.0.0.1:${String(port)}`, received: () => bytes }
    return endpoint
  }

  /** Starts an application with a login at the endpoint. */
  async function start({ address }: Endpoint, ca: string, startupMs = WAIT_MS): Promise<MillraceProcess> {
    const yaml = JSON.stringify({
      streams: { 'application.id': 'shop', 'startup.timeout.ms': startupMs },
      kafka: {
        'bootstrap.servers': address,
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'PLAIN',
        'sasl.username': 'alice',
        'sasl.password': '${PASSWORD}',
        'ssl.ca': join(folder, ca),
      },
      sources: { in: { topic: 'in', key: 'string', value: 'string' } },
      sinks: { out: { from: 'in', topic: 'out' } },
      http: false,
      logging: { format: 'json' },
    })
    const process = await MillraceProcess.start({ yaml, env: { PASSWORD } })
    processes.push(process)
    return process
  }

  for (const { fault, names, days, ca, said, remedy } of [
    {
      fault: 'a certificate for another host',
      names: 'DNS:kafka.example',
      days: 2,
      ca: 'ca.pem',
      said: /is not valid for the host 127\.0\.0\.1/,
      remedy: /Reach the broker by a name that its certificate holds/,
    },
    {
      fault: 'a certificate that has expired',
      names: 'IP:127.0.0.1',
      days: -1,
      ca: 'ca.pem',
      said: /The certificate of 127\.0\.0\.1:\d+ has expired/,
      remedy: /Renew the certificate of the broker/,
    },
    {
      fault: 'a certificate of an authority that is not trusted',
      names: 'IP:127.0.0.1',
      days: 2,
      ca: 'other-ca.pem',
      said: /comes from an authority that is not trusted here/,
      remedy: /Set ssl\.ca to the authority's certificate/,
    },
  ]) {
    it(`with ${fault}: ends at once with 77, says so, and gives away nothing (F38)`, async () => {
      const served = await serve(names, days)
      const process = await start(served, ca)
      expect((await process.untilExit(WAIT_MS)).code).to.equal(77)
      await process.untilLine(/^ {2}code +AUTHENTICATION_FAILED/, WAIT_MS)
      const text = process.lines.join('\n')
      expect(text).to.match(said).and.to.match(remedy)
      expect(text).not.to.include(PASSWORD)
      expect(served.received(), 'bytes that the endpoint got of the application').to.equal(0)
    })
  }

  it('is the certificate alone: a good one is spoken to', async () => {
    const served = await serve('IP:127.0.0.1', 2)
    const process = await start(served, 'ca.pem', 4_000)
    expect((await process.untilExit(WAIT_MS)).code, 'it answers nothing').to.equal(69)
    expect(served.received()).to.be.greaterThan(0)
  })
})
