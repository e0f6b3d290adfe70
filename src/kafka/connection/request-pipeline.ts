import type { Socket } from 'node:net'
import type { Clock, Timer } from '../../model/clock.ts'
import { asMillraceError, MillraceError, reasonOf } from '../../model/errors.ts'
import { decodeResponseHeader, encodeRequestHeader } from '../protocol/api.ts'
import type { ApiName } from '../protocol/messages.generated.ts'
import { formatAddress, type Address } from './address.ts'
import { explainSilentClose, isCertificateAlert, refusedByPeer } from './connection-errors.ts'
import { FrameReader } from './frame-reader.ts'
import type { SecurityOptions } from './security-options.ts'
import type { OpenSocket } from './socket-opening.ts'

/** A request as it goes on the wire. */
export interface WireRequest {
  readonly api: ApiName
  readonly version: number
  /** The encoded body in one or more buffers, which must not change until the request is settled. */
  readonly body: readonly Buffer[]
  readonly timeoutMs: number
  /** Where the answer's bytes go. @default a buffer of its own */
  readonly frames?: FrameSource | undefined
}

/** Where the bytes of an answer go. */
export interface FrameSource {
  /** A buffer of that length, for one answer; `undefined` where a new one does as well. */
  take(length: number): Buffer | undefined
}

/** A request between its submission and its answer. */
interface PendingRequest extends WireRequest {
  readonly resolve: (body: Buffer) => void
  readonly reject: (error: MillraceError) => void
  correlationId: number
  deadline: Timer | undefined
  settled: boolean
}

interface PipelineOptions extends Address {
  readonly clientId: string
  readonly security: SecurityOptions
  readonly clock: Clock
}

/** Hears from a pipeline. */
interface PipelineListener {
  /** The last request in flight was answered. */
  drained(): void
  /** The pipeline ended. */
  ended(): void
}

/**
 * Brokers ask for at most the length of their quota windows together, 11 s by default. Without a bound one wrong number
 * would silence the connection.
 */
const THROTTLE_MS_MAX = 30_000

/** More than any response that our fetch sizes allow; a bound against a peer that is no broker. */
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024
const FRAME_LENGTH_BYTES = 4
const CORRELATION_ID_MAX = 0x7f_ff_ff_ff

/**
 * The requests of one socket: they leave in the order of submission and are answered in that order. Ends as a whole:
 * after a timeout or a socket error every request that waits is rejected and none is accepted any more.
 */
export class RequestPipeline {
  readonly #socket: Socket
  readonly #options: PipelineOptions
  readonly #frames: FrameReader
  /** Written, in the order of the wire. */
  readonly #inFlight: PendingRequest[] = []
  /** Submitted while the pipeline was on hold or throttled. */
  readonly #held: PendingRequest[] = []
  #onHold = false
  #throttle: Timer | undefined
  #throttledUntilMs = Number.NEGATIVE_INFINITY
  #closeCause: MillraceError | undefined
  #lastCorrelationId = 0
  #lastUsedMs: number
  #listener: PipelineListener | undefined
  /** Whether anything beside ApiVersions was answered: a SASL listener answers that to everybody. */
  #served = false

  constructor({ socket, onChunk }: OpenSocket, options: PipelineOptions) {
    this.#socket = socket
    this.#options = options
    this.#lastUsedMs = options.clock.nowMs()
    this.#frames = new FrameReader(
      RESPONSE_BYTES_MAX,
      frame => {
        this.#answer(frame)
      },
      length => this.#inFlight[0]?.frames?.take(length) ?? Buffer.allocUnsafe(length),
    )
    onChunk(chunk => {
      this.#receive(chunk)
    })
    socket.on('end', () => {
      this.#lose(new Error('closed by the broker'))
    })
    socket.on('close', () => {
      this.#lose(new Error('closed'))
    })
    socket.on('error', error => {
      this.#lose(error)
    })
  }

  /** Why the pipeline ended; `undefined` while it works. */
  get closeCause(): MillraceError | undefined {
    return this.#closeCause
  }

  /** Whether no answer is due. */
  get drained(): boolean {
    return this.#inFlight.length === 0
  }

  /** How long nothing was sent or received, in milliseconds; 0 while an answer is due. */
  get idleMs(): number {
    return this.drained ? this.#options.clock.nowMs() - this.#lastUsedMs : 0
  }

  /** Tells one listener from now on. */
  listen(listener: PipelineListener): void {
    this.#listener = listener
  }

  /**
   * Sends a request, or keeps it back while the pipeline is on hold; its deadline runs from now on either way, and from
   * the end of a throttling.
   *
   * @param pastHold - sends it all the same
   * @returns the bytes of the answer's body
   * @throws MillraceError `CONNECTION_LOST`, `REQUEST_TIMED_OUT`, or what the pipeline ended with
   */
  submit(request: WireRequest, pastHold = false): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const { api, version, body, timeoutMs, frames } = request
      const cause = this.#closeCause
      if (cause !== undefined) {
        reject(this.#lost(api, cause))
        return
      }
      const pending: PendingRequest = {
        api,
        version,
        body,
        timeoutMs,
        frames,
        resolve,
        reject,
        correlationId: 0,
        deadline: undefined,
        settled: false,
      }
      const isHeld = (this.#onHold || this.#throttle !== undefined) && !pastHold
      this.#startDeadline(pending, isHeld ? this.throttledMs : 0)
      if (isHeld) this.#held.push(pending)
      else this.#write(pending)
    })
  }

  /** Keeps requests back from now on. */
  hold(): void {
    this.#onHold = true
  }

  /** Sends what was kept back, in order. */
  release(): void {
    this.#onHold = false
    this.#sendHeld()
  }

  /** Keeps requests back for so long: a quota is used up, and the broker would not read them any earlier (KIP-219). */
  throttle(delayMs: number): void {
    const { clock } = this.#options
    const untilMs = clock.nowMs() + Math.min(delayMs, THROTTLE_MS_MAX)
    if (this.#closeCause !== undefined || untilMs <= this.#throttledUntilMs) return
    this.#throttledUntilMs = untilMs
    this.#throttle?.cancel()
    this.#throttle = clock.after(untilMs - clock.nowMs(), () => {
      this.#throttle = undefined
      this.#sendHeld()
    })
  }

  /** For how long requests are kept back by a throttling; 0 without one. */
  get throttledMs(): number {
    return this.#throttle === undefined ? 0 : Math.max(0, this.#throttledUntilMs - this.#options.clock.nowMs())
  }

  #sendHeld(): void {
    if (this.#onHold || this.#throttle !== undefined) return
    for (const request of this.#held.splice(0)) this.#write(request)
  }

  /** Closes the socket at once and rejects every request that waits. Idempotent. */
  destroy(cause: Error): void {
    if (this.#closeCause !== undefined) return
    this.#closeCause = cause instanceof MillraceError ? cause : this.#ended(cause)
    this.#socket.destroy()
    this.#throttle?.cancel()
    this.#throttle = undefined
    this.#listener?.ended()
    for (const request of [...this.#inFlight.splice(0), ...this.#held.splice(0)]) {
      if (settle(request)) request.reject(this.#lost(request.api, cause))
    }
  }

  #write(request: PendingRequest): void {
    this.#lastCorrelationId = this.#lastCorrelationId === CORRELATION_ID_MAX ? 1 : this.#lastCorrelationId + 1
    request.correlationId = this.#lastCorrelationId
    const header = encodeRequestHeader(request.api, request.version, request.correlationId, this.#options.clientId)
    let bytes = header.length
    for (const part of request.body) bytes += part.length
    const start = Buffer.allocUnsafe(FRAME_LENGTH_BYTES + header.length)
    start.writeInt32BE(bytes, 0)
    start.set(header, FRAME_LENGTH_BYTES)

    this.#lastUsedMs = this.#options.clock.nowMs()
    this.#socket.cork()
    this.#socket.write(start)
    for (const part of request.body) this.#socket.write(part)
    this.#socket.uncork()
    this.#inFlight.push(request)
  }

  #startDeadline(request: PendingRequest, heldMs: number): void {
    request.deadline = this.#options.clock.after(heldMs + request.timeoutMs, () => {
      void this.#expire(request)
    })
  }

  async #expire(request: PendingRequest): Promise<void> {
    // After a stall of this process the answer may lie in the socket: let it be read before judging.
    await this.#options.clock.yieldToIo()
    if (request.settled) return
    const failure = new MillraceError('REQUEST_TIMED_OUT', {
      what: `The broker ${formatAddress(this.#options)} did not answer ${request.api} within ${String(request.timeoutMs)} ms.`,
    })
    settle(request)
    request.reject(failure)
    this.destroy(failure)
  }

  #receive(chunk: Buffer): void {
    this.#lastUsedMs = this.#options.clock.nowMs()
    try {
      this.#frames.push(chunk)
    } catch (error) {
      this.destroy(this.#withAddress(asMillraceError(error)))
    }
  }

  /** What the frame reader refuses knows nothing of the broker it came from. */
  #withAddress(error: MillraceError): MillraceError {
    const { what = error.message } = error.details
    return new MillraceError(error.code, { ...error.details, what: `${formatAddress(this.#options)}: ${what}` })
  }

  #answer(frame: Buffer): void {
    if (this.#closeCause !== undefined) return
    const request = this.#inFlight[0]
    if (request === undefined) throw this.#violation('an answer to nothing')
    const { correlationId, bodyOffset } = decodeResponseHeader(request.api, request.version, frame)
    if (correlationId !== request.correlationId) {
      throw this.#violation(
        `answer ${String(correlationId)} where ${String(request.correlationId)} (${request.api}) was due`,
      )
    }
    this.#inFlight.shift()
    this.#served ||= request.api !== 'ApiVersions'
    settle(request)
    request.resolve(frame.subarray(bodyOffset))
    if (this.drained) this.#listener?.drained()
  }

  #lose(cause: Error): void {
    if (this.#closeCause !== undefined) return
    if (isCertificateAlert(cause)) this.destroy(refusedByPeer(this.#options, this.#options.security, cause))
    else if (this.#served) this.destroy(cause)
    else this.destroy(explainSilentClose(this.#options, this.#options.security, cause))
  }

  /** What a request is rejected with: what is final as it is, all else as lost. */
  #lost(api: ApiName, cause: Error): MillraceError {
    const explained = cause instanceof MillraceError && cause.code === 'CONNECTION_LOST' && !this.#served
    if (explained || (cause instanceof MillraceError && cause.reaction === 'stop')) return cause
    return new MillraceError('CONNECTION_LOST', {
      cause,
      what: `The connection to ${formatAddress(this.#options)} was lost before ${api} was answered: ${reasonOf(cause)}`,
    })
  }

  #ended(cause: Error): MillraceError {
    return new MillraceError('CONNECTION_LOST', {
      cause,
      what: `The connection to ${formatAddress(this.#options)} was lost: ${reasonOf(cause)}`,
    })
  }

  #violation(what: string): MillraceError {
    return new MillraceError('PROTOCOL_VIOLATION', {
      what: `The broker ${formatAddress(this.#options)} sent ${what}.`,
    })
  }
}

/** Ends the waiting for an answer; false when it had ended. */
function settle(request: PendingRequest): boolean {
  if (request.settled) return false
  request.settled = true
  request.deadline?.cancel()
  return true
}
