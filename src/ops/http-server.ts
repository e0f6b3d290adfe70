import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { METRICS_CONTENT_TYPE } from './metrics.ts'
import type { ProbeResult, ServiceHealth } from './service-health.ts'

/** What the server answers from, and where it listens. */
export interface HttpServerOptions {
  /** @default loopback: opening it to a network is a decision */
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly health: ServiceHealth
  readonly metrics: () => Promise<string>
  /** Body of `/info`; never holds a secret. */
  readonly info: () => Readonly<Record<string, unknown>>
  readonly logger: Logger
}

const REQUEST_TIMEOUT_MS = 10_000
const HEADERS_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 5_000
/** How often the two bounds above are looked at: Node's own 30 s would let who dribbles a request hold its connection so long. */
const CHECK_MS = 1_000
const HEADER_BYTES_MAX = 16_384
const BODY_BYTES_MAX = 65_536
const CONNECTIONS_MAX = 128

type Route = () => Promise<Answer> | Answer

interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** `GET /livez /readyz /startupz /metrics /info`; nothing here changes anything. */
export class HttpServer {
  readonly #server: Server
  readonly #routes: ReadonlyMap<string, Route>
  readonly #logger: Logger

  private constructor({ health, metrics, info, logger }: HttpServerOptions) {
    this.#logger = logger
    this.#routes = new Map<string, Route>([
      ['/livez', () => probe(health.live())],
      ['/readyz', async () => probe(await health.ready())],
      ['/startupz', async () => probe(await health.started())],
      ['/metrics', async () => ({ status: 200, contentType: METRICS_CONTENT_TYPE, text: await metrics() })],
      ['/info', () => json(200, info())],
    ])
    this.#server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => {
        void this.#answer(request, response)
      },
    )
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /**
   * Starts to listen.
   *
   * @throws CONFIG_CONFLICT when the address cannot be had
   */
  static async listen(options: HttpServerOptions): Promise<HttpServer> {
    const server = new HttpServer(options)
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', cause => {
        reject(
          new MillraceError('CONFIG_CONFLICT', {
            cause,
            what: `The HTTP server cannot listen on ${options.host}:${String(options.port)}: ${cause.message}`,
            action: 'Free the port, choose another one (`http.port`), or switch the server off (`http: false`).',
          }),
        )
      })
      server.#server.listen(options.port, options.host, resolve)
    })
    server.#server.removeAllListeners('error').on('error', error => {
      options.logger.warn({ err: error }, 'The HTTP server had an error')
    })
    return server
  }

  /** Port it listens on. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Stops listening and ends open connections. */
  async close(): Promise<void> {
    await new Promise<void>(resolve => {
      this.#server.close(() => {
        resolve()
      })
      this.#server.closeAllConnections()
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    limitBody(request)
    try {
      send(response, await this.#route(request))
    } catch (thrown) {
      this.#logger.warn({ err: asMillraceError(thrown), path: request.url }, 'An HTTP request failed')
      send(response, json(500, { error: 'internal' }))
    }
  }

  async #route({ method, url = '/' }: IncomingMessage): Promise<Answer> {
    const [path = '/'] = url.split('?', 1)
    const route = this.#routes.get(path)
    if (route === undefined) return json(404, { error: 'not found', paths: [...this.#routes.keys()] })
    if (method !== 'GET' && method !== 'HEAD') return json(405, { error: 'only GET' })
    return route()
  }
}

/** Nobody needs to send a body; one is read and thrown away up to the bound, then the connection ends. */
function limitBody(request: IncomingMessage): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) request.destroy()
  })
  request.on('error', () => undefined)
}

function send(response: ServerResponse, { status, contentType, text }: Answer): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

function probe({ ok, body }: ProbeResult): Answer {
  return json(ok ? 200 : 503, { ok, ...body })
}

function json(status: number, body: Readonly<Record<string, unknown>>): Answer {
  return { status, contentType: 'application/json; charset=utf-8', text: `${JSON.stringify(body)}\n` }
}
