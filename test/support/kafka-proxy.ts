import { createServer, type AddressInfo, type Server, connect } from 'node:net'
import { once } from 'node:events'
import { systemClock } from '../../src/engine/system-clock.ts'
import { Connection } from '../../src/kafka/connection/connection.ts'
import { FrameReader } from '../../src/kafka/connection/frame-reader.ts'
import {
  type ApiName,
  decodeResponseBody,
  decodeResponseHeader,
  type ResponseBodies,
} from '../../src/kafka/protocol/api.ts'
import type { BrokerAddress } from './proxy/address-rewriting.ts'
import type { Exchange } from './proxy/exchange.ts'
import type { FiredEntry } from './proxy/fired-log.ts'
import { ProxyLink } from './proxy/proxy-link.ts'
import { type Direction, type ProxyRule, RuleHandle } from './proxy/proxy-rule.ts'

export type { Exchange } from './proxy/exchange.ts'
export { type FiredEntry, firedLog } from './proxy/fired-log.ts'
export type { ProxyAction, ProxyRule, RuleHandle } from './proxy/proxy-rule.ts'

/** Where the proxy's own look at the cluster may take this long. */
const TIMEOUT_MS = 10_000
const HOST = '127.0.0.1'

interface Listener {
  readonly server: Server
  /** Where clients connect. */
  readonly port: number
  readonly upstream: { readonly host: string; readonly port: number }
  nodeId: number | undefined
  cut: boolean
  /** Connections refused while it was cut. */
  refused: number
}

/**
 * A proxy between clients and real brokers, on loopback and without TLS, that does harm on demand. Every address in a
 * response leads to the proxy, so a client that starts at `bootstrapServers` never gets past it.
 */
export class KafkaProxy {
  readonly #listeners = new Map<string, Promise<Listener>>()
  readonly #ready: Listener[] = []
  readonly #links = new Set<ProxyLink>()
  readonly #rules: RuleHandle[] = []
  readonly #seen = new Map<string, number>()
  /** What went wrong in the proxy itself; a test may want to see that there is nothing. */
  readonly failures: unknown[] = []
  readonly #record: ((entry: FiredEntry) => void) | undefined

  private constructor(record: ((entry: FiredEntry) => void) | undefined) {
    this.#record = record
  }

  /**
   * Starts a listener for every broker of a cluster.
   *
   * @param options.record - told of everything that a rule does, such as `firedLog(file)`
   */
  static async start(options: {
    readonly bootstrapServers: string
    readonly record?: (entry: FiredEntry) => void
  }): Promise<KafkaProxy> {
    const proxy = new KafkaProxy(options.record)
    const [first = ''] = options.bootstrapServers.split(',')
    const port = Number(first.slice(first.lastIndexOf(':') + 1))
    const connection = await Connection.open({
      host: first.slice(0, first.lastIndexOf(':')),
      port,
      clientId: 'kafka-proxy',
      security: { protocol: 'PLAINTEXT' },
      connectTimeoutMs: TIMEOUT_MS,
      requestTimeoutMs: TIMEOUT_MS,
      clock: systemClock,
    })
    try {
      const { brokers } = await connection.send('Metadata', { topics: [] })
      for (const broker of brokers) await proxy.#listenerFor(broker)
    } finally {
      connection.destroy(new Error('done'))
    }
    return proxy
  }

  /** `host:port` of every listener, comma-separated. */
  get bootstrapServers(): string {
    return this.#ready.map(({ port }) => `${HOST}:${String(port)}`).join(',')
  }

  /** Puts a rule to work; of several that match a frame the one that was added first is used. */
  rule<A extends ApiName>(rule: ProxyRule<A>): RuleHandle<A> {
    const handle = new RuleHandle(rule, this.#record)
    this.#rules.push(handle as unknown as RuleHandle)
    return handle
  }

  /** How many frames of a request went that way since the start. */
  count(api: ApiName, direction: Direction = 'request'): number {
    return this.#seen.get(`${direction} ${api}`) ?? 0
  }

  /** Resets every connection to a broker, or to all, and refuses new ones until `heal`. */
  cut(nodeId?: number): void {
    for (const listener of this.#of(nodeId)) {
      listener.cut = true
      for (const link of this.#links) if (link.port === listener.upstream.port) link.reset()
    }
  }

  /** Lets connections through again. */
  heal(nodeId?: number): void {
    for (const listener of this.#of(nodeId)) listener.cut = false
  }

  /** How many connections to a broker, or to all, were refused while it was cut off. */
  refused(nodeId?: number): number {
    return this.#of(nodeId).reduce((sum, { refused }) => sum + refused, 0)
  }

  /** Sends a request once more over a connection of its own, as a frame that a network kept back and doubled. */
  async resend<A extends ApiName>(exchange: Exchange<A>): Promise<ResponseBodies[A]> {
    const socket = connect({ host: HOST, port: exchange.port, noDelay: true })
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(TIMEOUT_MS) })
      const length = Buffer.alloc(4)
      length.writeInt32BE(exchange.frame.length, 0)
      const answer = new Promise<Buffer>((resolve, reject) => {
        const reader = new FrameReader(256 * 1024 * 1024, resolve)
        socket.on('data', chunk => reader.push(chunk))
        socket.on('close', () => reject(new Error('the broker closed the connection without an answer')))
        AbortSignal.timeout(TIMEOUT_MS).addEventListener('abort', () => reject(new Error('the broker did not answer')))
      })
      socket.write(length)
      socket.write(exchange.frame)
      const frame = await answer
      const { bodyOffset } = decodeResponseHeader(exchange.api, exchange.version, frame)
      return decodeResponseBody(exchange.api, exchange.version, frame.subarray(bodyOffset))
    } finally {
      socket.destroy()
    }
  }

  /** Ends every connection and listener. */
  async stop(): Promise<void> {
    for (const listener of this.#ready) listener.cut = true
    for (const link of this.#links) link.reset()
    await Promise.all(this.#ready.map(({ server }) => new Promise(resolve => server.close(resolve))))
  }

  #of(nodeId: number | undefined): readonly Listener[] {
    return nodeId === undefined ? this.#ready : this.#ready.filter(listener => listener.nodeId === nodeId)
  }

  async #listenerFor({ nodeId, host, port }: BrokerAddress): Promise<Listener> {
    const key = `${host}:${String(port)}`
    let listener = this.#listeners.get(key)
    if (listener === undefined) {
      listener = this.#listen({ host, port })
      this.#listeners.set(key, listener)
    }
    const known = await listener
    known.nodeId = nodeId
    return known
  }

  async #listen(upstream: { host: string; port: number }): Promise<Listener> {
    const server = createServer({ noDelay: true }, client => {
      if (listener.cut) {
        listener.refused += 1
        client.resetAndDestroy()
        return
      }
      const link = new ProxyLink(
        {
          rules: this.#rules,
          readdress: async broker => ({ host: HOST, port: (await this.#listenerFor(broker)).port }),
          nodeIdOf: () => listener.nodeId,
          seen: ({ api }, direction) => {
            const key = `${direction} ${api}`
            this.#seen.set(key, (this.#seen.get(key) ?? 0) + 1)
          },
          failed: error => this.failures.push(error),
          closed: gone => this.#links.delete(gone),
        },
        client,
        upstream,
      )
      this.#links.add(link)
    })
    server.listen(0, HOST)
    await once(server, 'listening', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { port } = server.address() as AddressInfo
    const listener: Listener = { server, port, upstream, nodeId: undefined, cut: false, refused: 0 }
    this.#ready.push(listener)
    return listener
  }
}
