import type { Clock } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { decodeResponseBody, encodeRequestBody } from '../protocol/api.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/messages.generated.ts'
import { formatAddress, type Address } from './address.ts'
import { authenticate, type AuthenticationSend } from './authentication.ts'
import type { BrokerVersions } from './broker-versions.ts'
import { type FrameSource, RequestPipeline } from './request-pipeline.ts'
import { checkSecurity, usesSasl, type SecurityOptions } from './security-options.ts'
import { SessionLifetime } from './session-lifetime.ts'
import { openSocket } from './socket-opening.ts'
import { negotiateVersions } from './version-negotiation.ts'

/** What a connection needs. */
export interface ConnectionOptions extends Address {
  readonly clientId: string
  readonly security: SecurityOptions
  /** Bound of each step of opening: socket and TLS, version negotiation, authentication. */
  readonly connectTimeoutMs: number
  /** Deadline of a request that names none. Kafka: `request.timeout.ms`. */
  readonly requestTimeoutMs: number
  readonly clock: Clock
  /** Told when the broker asks for a pause because a quota is used up, with its length. */
  readonly onThrottled?: (delayMs: number) => void
}

/**
 * One connection to one broker: requests leave in the order of the calls and are answered in that order. A broker
 * serves the requests of a connection strictly one after the other, so a parked one holds up all behind it.
 * After a timeout or a socket error the connection is destroyed, never used again, and every request that waits is
 * rejected. Kafka: `NetworkClient`.
 */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #pipeline: RequestPipeline
  readonly #session: SessionLifetime
  readonly #versions: BrokerVersions
  #renewal: 'none' | 'draining' | 'running' = 'none'

  private constructor(options: ConnectionOptions, pipeline: RequestPipeline, versions: BrokerVersions) {
    this.#options = options
    this.#pipeline = pipeline
    this.#versions = versions
    this.#session = new SessionLifetime(options.clock)
    pipeline.listen({
      drained: () => {
        this.#renewWhenDrained()
      },
      ended: () => {
        this.#session.end()
      },
    })
  }

  /**
   * Opens a connection: TCP and TLS, ApiVersions, SASL.
   *
   * @throws MillraceError `CONNECTION_LOST`, `REQUEST_TIMED_OUT`, `AUTHENTICATION_FAILED`, `BROKER_TOO_OLD`,
   *   `CONFIG_CONFLICT`, `CONFIG_INVALID`, `PROTOCOL_VIOLATION`
   */
  static async open(options: ConnectionOptions): Promise<Connection> {
    checkSecurity(options.security, options.host)
    const pipeline = new RequestPipeline(await openSocket(options), options)
    try {
      const versions = await negotiateVersions((version, body) =>
        pipeline.submit({
          api: 'ApiVersions',
          version,
          body: [body],
          timeoutMs: options.connectTimeoutMs,
        }),
      )
      versions.checkFloors(formatAddress(options))
      const connection = new Connection(options, pipeline, versions)
      await connection.#authenticate()
      return connection
    } catch (error) {
      const failure = asMillraceError(error)
      pipeline.destroy(failure)
      throw failure
    }
  }

  /** What the broker understands, as it said when this connection was opened. */
  get apiVersions(): BrokerVersions {
    return this.#versions
  }

  /** Where the connection leads. */
  get address(): Address {
    return { host: this.#options.host, port: this.#options.port }
  }

  /** Whether the connection can no longer be used. */
  get closed(): boolean {
    return this.#pipeline.closeCause !== undefined
  }

  /** Why the connection was closed. */
  get closeCause(): MillraceError | undefined {
    return this.#pipeline.closeCause
  }

  /** How long nothing was sent or received, in milliseconds; 0 while an answer is due. */
  get idleMs(): number {
    return this.#pipeline.idleMs
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param options - `version` is the best that both sides know by default, `timeoutMs` that of the connection,
   *   `frames` a buffer for each answer
   * @throws MillraceError `CONNECTION_LOST`, `REQUEST_TIMED_OUT` (the broker may still act on it), `BROKER_TOO_OLD`,
   *   `PROTOCOL_VIOLATION`
   */
  async send<A extends ApiName>(
    api: A,
    body: RequestBodies[A],
    options: { readonly version?: number; readonly timeoutMs?: number; readonly frames?: FrameSource } = {},
  ): Promise<ResponseBodies[A]> {
    const version = options.version ?? this.#bestVersion(api)
    const encoded = encodeRequestBody(api, version, body)
    const bytes = await this.sendRaw(api, version, [encoded], options)
    const answer = this.#decode(api, version, bytes)
    this.throttle(throttleMsOf(answer))
    return answer
  }

  /** Keeps requests back for so long: an answer said that a quota is used up. `send` does so by itself. */
  throttle(delayMs: number): void {
    if (delayMs <= 0) return
    this.#pipeline.throttle(delayMs)
    this.#options.onThrottled?.(delayMs)
  }

  /** For how long the broker wants to be left alone, in ms; 0 most of the time. */
  get throttledMs(): number {
    return this.#pipeline.throttledMs
  }

  /**
   * Sends a request whose body is encoded already, in several buffers that must not change until it is answered.
   *
   * @returns the bytes of the answer's body
   * @throws MillraceError `CONNECTION_LOST`, `REQUEST_TIMED_OUT`
   */
  sendRaw(
    api: ApiName,
    version: number,
    body: readonly Buffer[],
    { timeoutMs, frames }: { readonly timeoutMs?: number; readonly frames?: FrameSource } = {},
  ): Promise<Buffer> {
    this.#checkFeatures(api, version)
    return this.#pipeline.submit({
      api,
      version,
      body,
      timeoutMs: timeoutMs ?? this.#options.requestTimeoutMs,
      frames,
    })
  }

  /** Closes the socket at once and rejects every request that waits. Idempotent. */
  destroy(cause: Error): void {
    this.#pipeline.destroy(cause)
  }

  async #authenticate(): Promise<void> {
    const { security, clock } = this.#options
    if (!usesSasl(security.protocol) || security.sasl === undefined) return
    const sinceMs = clock.nowMs()
    const lifetimeMs = await authenticate(this.#sendPastHold, security.sasl, this.#options)
    this.#session.begin(lifetimeMs, sinceMs, () => {
      this.#renewal = 'draining'
      this.#pipeline.hold()
      this.#renewWhenDrained()
    })
  }

  readonly #sendPastHold: AuthenticationSend = async (api, body) => {
    const version = this.#bestVersion(api)
    const timeoutMs = this.#options.connectTimeoutMs
    const encoded = [encodeRequestBody(api, version, body)]
    const answer = await this.#pipeline.submit({ api, version, body: encoded, timeoutMs }, true)
    return this.#decode(api, version, answer)
  }

  /**
   * Renews the session (KIP-368) once nothing is in flight: between the handshake and the last answer the broker
   * takes no other request, and a parked one would delay the renewal beyond the end of the session.
   */
  #renewWhenDrained(): void {
    if (this.#renewal !== 'draining' || !this.#pipeline.drained || this.closed) return
    if (this.#session.over) {
      // A parked request outlasted the session. The broker closes at the next request, so we do it first.
      this.destroy(new Error('the authenticated session ended while a request was parked'))
      return
    }
    this.#renewal = 'running'
    void this.#renew()
  }

  async #renew(): Promise<void> {
    try {
      await this.#authenticate()
      this.#renewal = 'none'
      this.#pipeline.release()
    } catch (error) {
      this.destroy(asMillraceError(error))
    }
  }

  #bestVersion(api: ApiName): number {
    const version = this.#versions.best(api)
    if (version !== undefined) return version
    throw new MillraceError('BROKER_TOO_OLD', {
      what: `The broker ${formatAddress(this.#options)} and millrace know no common version of ${api}.`,
    })
  }

  /** A request that the cluster's features do not allow would wedge the transactional id: it is never sent. */
  #checkFeatures(api: ApiName, version: number): void {
    if (this.#versions.mayBeSent(api, version)) return
    // The features may have changed since this connection was negotiated; a new one knows better.
    this.destroy(new Error(`${api} ${String(version)} needs features that the cluster did not have`))
  }

  #decode<A extends ApiName>(api: A, version: number, bytes: Buffer): ResponseBodies[A] {
    try {
      return decodeResponseBody(api, version, bytes)
    } catch (error) {
      // Both sides read the same bytes differently from here on.
      this.destroy(asMillraceError(error))
      throw error
    }
  }
}

/** Which answers have the field depends on request and version. */
function throttleMsOf(answer: object): number {
  return 'throttleTimeMs' in answer && typeof answer.throttleTimeMs === 'number' ? answer.throttleTimeMs : 0
}
