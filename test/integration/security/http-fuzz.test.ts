import { expect } from 'chai'
import fc from 'fast-check'
import { connect, type Socket } from 'node:net'
import { MillraceProcess } from '../../support/millrace-process.ts'

const WAIT_MS = 60_000
const SECRET = 'sesame-of-the-service'
const ROUTES = ['/livez', '/readyz', '/startupz', '/metrics', '/info']
/** Memory that a process may grow by while thousands of requests come in; a leak of what they hold would be more. */
const GROWTH_BYTES_MAX = 150_000_000

/** What came back on a raw connection. */
interface Reply {
  readonly text: string
  /** Of the first answer; `undefined` when the connection ended without one. */
  readonly status: number | undefined
}

describe('the HTTP server under hostile requests', function () {
  this.timeout(120_000)
  let process: MillraceProcess
  let port = 0

  // Health is served before the cluster is reached, so there is none here.
  before(async () => {
    const yaml = JSON.stringify({
      streams: { 'application.id': 'shop', 'startup.timeout.ms': 600_000 },
      kafka: {
        'bootstrap.servers': '127.0.0.1:1',
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'PLAIN',
        'sasl.username': 'alice',
        'sasl.password': '${PASSWORD}',
      },
      sources: { in: { topic: 'in', key: 'string', value: 'string' } },
      sinks: { out: { from: 'in', topic: 'out' } },
      http: { port: 0 },
      logging: { format: 'json' },
    })
    process = await MillraceProcess.start({ yaml, env: { PASSWORD: SECRET } })
    const line = await process.untilLine('health and metrics are served', WAIT_MS)
    port = (JSON.parse(line) as { port: number }).port
    // The first scrape loads a library meanwhile, and Node answers nobody who has closed his side before the answer is there.
    expect((await fetch(`http://127.0.0.1:${String(port)}/metrics`)).status).to.equal(200)
  })

  after(() => process.dispose())

  afterEach(async () => {
    expect(process.hasExited, process.lines.slice(-5).join('\n')).to.equal(false)
    expect((await fetch(`http://127.0.0.1:${String(port)}/livez`)).status).to.equal(200)
  })

  /** Sends bytes as they are, and reads until the server ends the connection or has answered and is silent. */
  async function send(bytes: string | Uint8Array, timeoutMs = 20_000): Promise<Reply> {
    const socket = connect({ host: '127.0.0.1', port })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A server that ends while bytes are still coming resets the connection; the answer may be lost with it.
    const closed = new Promise<void>(resolve => socket.once('close', () => resolve()).on('error', () => undefined))
    socket.setTimeout(timeoutMs, () => socket.destroy())
    socket.end(bytes)
    await closed
    const text = Buffer.concat(chunks).toString('latin1')
    const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
    return { text, status: status === undefined ? undefined : Number(status) }
  }

  const get = (target: string, headers = ''): Promise<Reply> =>
    send(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)

  const memory = async (): Promise<number> => {
    const { text } = await get('/metrics')
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
  }

  it('answers what is no request with 400, and what is too large with 431 or an end', async () => {
    const malformed = [
      'GARBAGE\r\n\r\n',
      'GET\r\n\r\n',
      'GET /livez HTTP/9.9\r\nHost: x\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'POST /info HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n',
      'POST /info HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZZZ\r\n',
      'GET /livez HTTP/1.1\r\nHost : x\r\n\r\n',
      'GET /livez HTTP/1.1\r\n\u0000: x\r\n\r\n',
      'GET /liv\u0000ez HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /livez HTTP/1.1\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]
    for (const request of malformed) {
      expect((await send(Buffer.from(request, 'latin1'))).status, JSON.stringify(request)).to.be.oneOf([400, 405, 505])
    }
    const huge = 'x'.repeat(200_000)
    expect((await get('/livez', `X-Huge: ${huge}\r\n`)).status).to.be.oneOf([431, undefined])
    expect((await get(`/${huge}`)).status).to.be.oneOf([431, 414, undefined])
    const many = Array.from({ length: 5_000 }, (_, index) => `X-${String(index)}: y\r\n`).join('')
    expect((await get('/livez', many)).status).to.be.oneOf([431, undefined])
  })

  it('knows its paths as they are written, and takes no trick for one of them', async () => {
    const tricks = ROUTES.flatMap(route => [
      `/.${route}`,
      `/x/..${route}`,
      `/${route}`,
      `${route}/`,
      `${route}/.`,
      `${route}%20`,
      `${route}%00`,
      `${route};x=1`,
      `${route}#x`,
      `/..;${route}`,
      `/%2e%2e${route}`,
      `/${encodeURIComponent(route)}`,
      `/%${(route.codePointAt(1) ?? 0).toString(16)}${route.slice(2)}`,
      route.toUpperCase(),
      route.replace('/', '\\'),
      `http://example.org${route}`,
    ])
    const more = ['/', '*', '/etc/passwd', '/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/<script>', '/__proto__']
    for (const target of [...tricks, ...more]) {
      const { status, text } = await get(target)
      expect(status, target).to.be.oneOf([400, 404])
      if (target.length > 2) expect(text, 'nothing of the path comes back').not.to.include(`${target}"`)
      expect(text).not.to.include('<script>')
    }
    for (const route of ROUTES) expect((await get(`${route}?x=/../y`)).status, route).to.be.oneOf([200, 503])
  })

  it('takes no method but GET and HEAD, and no body, not even behind a header that renames the method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND']) {
      const { status } = await send(`${method} /info HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      // Node ends a CONNECT that nobody listens for.
      expect(status, method).to.be.oneOf(method === 'CONNECT' ? [undefined, 400, 405] : [400, 405])
    }
    const renamed = await send(
      'POST /info HTTP/1.1\r\nHost: x\r\nX-HTTP-Method-Override: GET\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect(renamed.status).to.equal(405)
  })

  it('answers what was asked, once, when a second request is smuggled behind the first', async () => {
    const { text } = await send(
      'GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhelloGET /info HTTP/1.1\r\nHost: x\r\n\r\n',
    )
    expect(text.match(/HTTP\/1\.1 /g)).to.have.length(1)
    expect(text).not.to.include('topology')
  })

  it('ends connections that dribble their request, and serves others meanwhile', async () => {
    const startedMs = Date.now()
    const slow: Socket[] = []
    const ended = Array.from({ length: 40 }, async () => {
      const socket = connect({ host: '127.0.0.1', port })
      slow.push(socket)
      socket.on('error', () => undefined)
      socket.resume()
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n')
      const drip = setInterval(() => socket.write('X-Drip: y\r\n'), 500)
      // A drip may meet a connection that has just been ended: such an error is an end, too.
      await new Promise(resolve => socket.once('close', resolve))
      clearInterval(drip)
    })
    expect((await get('/livez')).status).to.equal(200)
    await Promise.all(ended)
    expect(Date.now() - startedMs, 'the bound for headers is 5 s, looked at each second').to.be.lessThan(15_000)
    for (const socket of slow) socket.destroy()
  })

  it('stays alive and small whatever bytes come in', async () => {
    const before = await memory()
    const token = fc.constantFrom(
      'GET',
      'POST',
      'HEAD',
      ' ',
      '/',
      '\r\n',
      '\r\n\r\n',
      ':',
      'HTTP/1.1',
      'Host: x',
      '%00',
    )
    const mixed = fc
      .array(fc.oneof(token, fc.string({ unit: 'binary', maxLength: 40 })), { maxLength: 40 })
      .map(parts => Buffer.from(parts.join(''), 'utf8'))
    const target = fc
      .string({ unit: 'binary', maxLength: 200 })
      .map(text => Buffer.from(`GET /${text} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'utf8'))
    const bytes = fc.uint8Array({ maxLength: 2_000 }).map(list => Buffer.from(list))
    await fc.assert(
      fc.asyncProperty(fc.oneof(mixed, target, bytes), async request => {
        const { status, text } = await send(request)
        expect(status ?? 400).to.be.oneOf([200, 400, 404, 405, 408, 413, 414, 417, 431, 501, 503, 505])
        expect(text).not.to.include(SECRET)
      }),
      { numRuns: 400 },
    )
    expect((await memory()) - before).to.be.lessThan(GROWTH_BYTES_MAX)
  })
})
