import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import {
  apiKeyOf,
  apiOfKey,
  decodeRequestBody,
  decodeRequestHeader,
  encodeResponseBody,
  encodeResponseHeader,
  versionsOf,
  type ApiName,
  type RequestBodies,
  type ResponseBodies,
} from '../../src/kafka/protocol/api.ts'
import { eventually } from './condition.ts'

/** A request that a `FrameServer` received. */
export class ReceivedRequest {
  readonly api: ApiName
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly bytes: Buffer
  readonly socket: Socket

  constructor(frame: Buffer, socket: Socket) {
    const { apiKey, apiVersion, correlationId, clientId, bodyOffset } = decodeRequestHeader(frame)
    const api = apiOfKey(apiKey)
    if (api === undefined) throw new Error(`unknown api key ${String(apiKey)}`)
    this.api = api
    this.version = apiVersion
    this.correlationId = correlationId
    this.clientId = clientId
    this.bytes = frame.subarray(bodyOffset)
    this.socket = socket
  }

  /** The request's body, read as a request of that name. */
  body<A extends ApiName>(api: A): Required<RequestBodies[A]> {
    if (api !== this.api) throw new Error(`it is a ${this.api}`)
    return decodeRequestBody(api, this.version, this.bytes)
  }

  /** Answers it. */
  answer<A extends ApiName>(api: A, body: ResponseBodies[A], version = this.version): void {
    this.answerRaw(encodeResponseBody(api, version, body))
  }

  /** Answers it with these bytes as the body. */
  answerRaw(body: Buffer, correlationId = this.correlationId): void {
    this.socket.write(frameOf(Buffer.concat([encodeResponseHeader(this.api, this.version, correlationId), body])))
  }
}

/** A frame on the wire. */
export function frameOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length, 0)
  return Buffer.concat([length, bytes])
}

/** What an ApiVersions answer says. */
export interface OfferedVersions {
  /** @default our whole schema */
  readonly ranges?: Partial<Record<ApiName, readonly [min: number, max: number]>>
  /** @default none, so 0 */
  readonly transactionVersion?: number
  readonly featuresEpoch?: number
}

const REQUEST_BYTES_MAX = 104_857_600

const ALL_APIS: readonly ApiName[] = Array.from({ length: 100 }, (_, key) => apiOfKey(key)).filter(
  api => api !== undefined,
)

/** The ApiVersions answer of a broker that offers these versions. */
export function apiVersionsAnswer({
  ranges = {},
  transactionVersion = 0,
  featuresEpoch = 1,
}: OfferedVersions): ResponseBodies['ApiVersions'] {
  return {
    errorCode: 0,
    throttleTimeMs: 0,
    apiKeys: ALL_APIS.map(api => {
      const { min, max } = versionsOf(api)
      const [minVersion, maxVersion] = ranges[api] ?? [min, max]
      return { apiKey: apiKeyOf(api), minVersion, maxVersion }
    }).filter(({ maxVersion }) => maxVersion >= 0),
    supportedFeatures: [],
    finalizedFeaturesEpoch: featuresEpoch,
    finalizedFeatures:
      transactionVersion === 0
        ? []
        : [{ name: 'transaction.version', maxVersionLevel: transactionVersion, minVersionLevel: transactionVersion }],
    zkMigrationReady: false,
  }
}

/** Answers a request, or leaves it (false) to the test, which finds it in `requests`. */
export type Answering = (request: ReceivedRequest) => boolean

/** Answers ApiVersions, and leaves all else to the test. */
export function offering(offered: OfferedVersions = {}): Answering {
  return request => {
    if (request.api !== 'ApiVersions') return false
    request.answer('ApiVersions', apiVersionsAnswer(offered))
    return true
  }
}

/** A TCP server on loopback that reads real request frames through the codec; each test decides the answers. */
export class FrameServer {
  /** Requests that were left to the test, in order of arrival. */
  readonly requests: ReceivedRequest[] = []
  readonly sockets = new Set<Socket>()
  /** Connections accepted so far. */
  accepted = 0
  readonly #server: Server
  readonly #answering: Answering

  private constructor(answering: Answering) {
    this.#answering = answering
    this.#server = createServer(socket => {
      this.#accept(socket)
    })
  }

  static async listen(answering: Answering = offering()): Promise<FrameServer> {
    const server = new FrameServer(answering)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get address(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.port }
  }

  /** Waits for the nth request (from 0) that was left to the test. */
  async request(index: number): Promise<ReceivedRequest> {
    await eventually(`request ${String(index)} arrives`, () => this.requests.length > index)
    const request = this.requests[index]
    if (request === undefined) throw new Error('unreachable')
    return request
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(socket: Socket): void {
    this.accepted += 1
    this.sockets.add(socket)
    let buffered = Buffer.alloc(0)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.sockets.delete(socket))
    socket.on('data', chunk => {
      buffered = Buffer.concat([buffered, chunk])
      // As a broker does with `socket.request.max.bytes`; a TLS handshake reads like one.
      if (buffered.length >= 4 && buffered.readUInt32BE(0) > REQUEST_BYTES_MAX) socket.destroy()
      while (buffered.length >= 4 && buffered.length >= 4 + buffered.readInt32BE(0)) {
        const end = 4 + buffered.readInt32BE(0)
        const request = new ReceivedRequest(buffered.subarray(4, end), socket)
        buffered = buffered.subarray(end)
        if (!this.#answering(request)) this.requests.push(request)
      }
    })
  }
}
