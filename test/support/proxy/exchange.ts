import {
  type ApiName,
  decodeRequestBody,
  type RequestBodies,
  type ResponseBodies,
} from '../../../src/kafka/protocol/api.ts'

/** One request that came through the proxy, and its answer. */
export class Exchange<A extends ApiName = ApiName> {
  readonly api: A
  readonly version: number
  readonly correlationId: number
  readonly clientId: string | null
  /** Broker it was sent to; undefined until metadata told the proxy who listens there. */
  readonly nodeId: number | undefined
  readonly port: number
  /** The answer as the broker gave it; undefined when none came. */
  readonly answered: Promise<ResponseBodies[A] | undefined>
  readonly #frame: Buffer
  readonly #bodyOffset: number
  #request: Required<RequestBodies[A]> | undefined
  #settle: ((response: ResponseBodies[A] | undefined) => void) | undefined

  constructor(parts: {
    api: A
    version: number
    correlationId: number
    clientId: string | null
    nodeId: number | undefined
    port: number
    frame: Buffer
    bodyOffset: number
  }) {
    this.api = parts.api
    this.version = parts.version
    this.correlationId = parts.correlationId
    this.clientId = parts.clientId
    this.nodeId = parts.nodeId
    this.port = parts.port
    this.#frame = parts.frame
    this.#bodyOffset = parts.bodyOffset
    this.answered = new Promise(resolve => {
      this.#settle = resolve
    })
  }

  /** The whole request without its length, as the client sent it. */
  get frame(): Buffer {
    return this.#frame
  }

  /** The request's body, decoded when first asked for. */
  get request(): Required<RequestBodies[A]> {
    this.#request ??= decodeRequestBody(this.api, this.version, this.#frame.subarray(this.#bodyOffset))
    return this.#request
  }

  /** The transactional id in the request, where it has one. */
  get transactionalId(): string | undefined {
    const body: { transactionalId?: unknown; v3AndBelowTransactionalId?: unknown } = this.request
    const id = body.transactionalId ?? body.v3AndBelowTransactionalId
    return typeof id === 'string' && id !== '' ? id : undefined
  }

  settle(response: ResponseBodies[A] | undefined): void {
    this.#settle?.(response)
    this.#settle = undefined
  }
}
