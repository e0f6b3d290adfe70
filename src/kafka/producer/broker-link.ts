import type { Connection } from '../connection/connection.ts'
import { ProduceRequest } from './produce-request.ts'

/** The one Produce connection to a broker, and the request that is being put together for it. */
export class BrokerLink {
  readonly nodeId: number
  connection: Connection | undefined
  /** A connection is being opened. */
  opening = false
  /** Attempts to open one that failed, in a row. */
  failures = 0
  /** Monotonic time before which none is opened. */
  retryAtMs = 0
  /** Produce requests without an answer. */
  outstanding = 0
  #building: ProduceRequest | undefined

  constructor(nodeId: number) {
    this.nodeId = nodeId
  }

  /** The connection, when there is one that works. */
  get usable(): Connection | undefined {
    if (this.connection?.closed === true) this.connection = undefined
    return this.connection
  }

  /** The request being put together. */
  get building(): ProduceRequest {
    this.#building ??= new ProduceRequest()
    return this.#building
  }

  /** Whether `building` holds something. */
  get hasRequest(): boolean {
    return this.#building !== undefined
  }

  /** Takes the request, to send it; the next one begins empty. */
  takeRequest(): ProduceRequest {
    const request = this.building
    this.#building = undefined
    return request
  }
}
