import { connect, type Socket } from 'node:net'
import { FrameReader } from '../../../src/kafka/connection/frame-reader.ts'
import {
  type ApiName,
  apiOfKey,
  decodeRequestHeader,
  decodeResponseBody,
  decodeResponseHeader,
  encodeResponseBody,
  encodeResponseHeader,
  type ResponseBodies,
} from '../../../src/kafka/protocol/api.ts'
import { namesAddresses, type Readdress, rewriteAddresses } from './address-rewriting.ts'
import { Exchange } from './exchange.ts'
import { refusalOf, withErrorCode } from './error-answer.ts'
import { FrameLane } from './frame-lane.ts'
import type { Direction, RuleHandle } from './proxy-rule.ts'

/** What a link needs of its proxy. */
export interface LinkHost {
  readonly rules: readonly RuleHandle[]
  readonly readdress: Readdress
  nodeIdOf(port: number): number | undefined
  seen(exchange: Exchange, direction: Direction): void
  failed(error: unknown): void
  closed(link: ProxyLink): void
}

/** A request the broker owes an answer to, or that has one of ours. */
interface Pending {
  /** Undefined for a request the codec does not know: it passes unseen. */
  readonly exchange: Exchange | undefined
  /** Answered in the broker's place, in its turn. */
  readonly ours?: Buffer
  /** The answer goes nowhere. */
  readonly swallow?: boolean
}

const FRAME_BYTES_MAX = 256 * 1024 * 1024

/** One client's connection and the one to the broker that belongs to it. */
export class ProxyLink {
  readonly #host: LinkHost
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #port: number
  readonly #requests: FrameLane
  readonly #responses: FrameLane
  readonly #pending: Pending[] = []
  readonly #ended: Promise<void>
  #end: (() => void) | undefined
  #clientGone = false
  #upstreamGone = false

  constructor(host: LinkHost, client: Socket, upstream: { readonly host: string; readonly port: number }) {
    this.#host = host
    this.#client = client
    this.#port = upstream.port
    this.#upstream = connect({ ...upstream, noDelay: true })
    this.#requests = new FrameLane(this.#upstream)
    this.#responses = new FrameLane(client)
    this.#ended = new Promise(resolve => {
      this.#end = resolve
    })
    this.#wire(
      client,
      frame => this.#onRequest(frame),
      () => {
        this.#clientGone = true
      },
    )
    this.#wire(
      this.#upstream,
      frame => this.#onResponse(frame),
      () => {
        this.#upstreamGone = true
      },
    )
  }

  get port(): number {
    return this.#port
  }

  /** Ends both sides with a reset. */
  reset(): void {
    this.#end?.()
    this.#client.resetAndDestroy()
    this.#upstream.resetAndDestroy()
  }

  #wire(socket: Socket, onFrame: (frame: Buffer) => void, onGone: () => void): void {
    const reader = new FrameReader(FRAME_BYTES_MAX, onFrame)
    socket.on('data', chunk => {
      try {
        reader.push(chunk)
      } catch (error) {
        this.#host.failed(error)
        this.reset()
      }
    })
    // The close that follows tells all there is to do.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      onGone()
      this.#settle()
    })
  }

  /**
   * Closes the other side once nothing is on its way. A client that went away leaves its requests behind: what is held
   * still goes to the broker when it is released, as bytes that a network kept back would.
   */
  #settle(): void {
    if (this.#upstreamGone && this.#responses.idle) {
      for (const { exchange } of this.#pending.splice(0)) exchange?.settle(undefined)
      this.#client.end()
      this.#client.destroySoon()
    }
    if (this.#clientGone && this.#requests.idle && this.#pending.length === 0) this.#upstream.destroy()
    if (!this.#clientGone || !this.#upstreamGone) return
    this.#end?.()
    this.#host.closed(this)
  }

  #onRequest(frame: Buffer): void {
    const { apiKey, apiVersion, correlationId, clientId, bodyOffset } = decodeRequestHeader(frame)
    const api = apiOfKey(apiKey)
    if (api === undefined) {
      this.#push(this.#requests, () => this.#forward({ exchange: undefined }, frame))
      return
    }
    const nodeId = this.#host.nodeIdOf(this.#port)
    const parts = { api, version: apiVersion, correlationId, clientId, nodeId, port: this.#port, frame, bodyOffset }
    const exchange = new Exchange(parts)
    this.#host.seen(exchange, 'request')
    this.#push(this.#requests, () => this.#handleRequest(exchange))
  }

  async #handleRequest(exchange: Exchange): Promise<void> {
    const rule = this.#ruleFor(exchange, 'request')
    let copies = 1
    let pieces: { bytes: number; gapMs: number } | undefined
    for (const action of rule?.actions ?? []) {
      if (action.type === 'duplicate') {
        copies += 1
      } else if (action.type === 'answer') {
        this.#answer(exchange, action.body(exchange))
        return
      } else if (action.type === 'error') {
        this.#answer(exchange, refusalOf(exchange, action.code))
        return
      } else {
        const done = await this.#common(action, this.#requests, exchange, rule)
        if (done === 'stop') return
        if (typeof done === 'object') pieces = done
      }
    }
    await this.#forward({ exchange }, exchange.frame, pieces)
    for (let copy = 1; copy < copies; copy += 1) await this.#forward({ exchange, swallow: true }, exchange.frame)
  }

  /** Answers in the broker's place, after the answers that are due before. */
  #answer(exchange: Exchange, response: ResponseBodies[ApiName]): void {
    const { api, version, correlationId } = exchange
    const header = encodeResponseHeader(api, version, correlationId)
    this.#pending.push({ exchange, ours: Buffer.concat([header, encodeResponseBody(api, version, response)]) })
    exchange.settle(response)
    this.#flushOurs()
  }

  async #forward(pending: Pending, frame: Buffer, pieces?: { bytes: number; gapMs: number }): Promise<void> {
    if (!isUnanswered(pending.exchange)) this.#pending.push(pending)
    await this.#requests.write(frame, pieces)
  }

  #onResponse(frame: Buffer): void {
    const pending = this.#pending.shift()
    if (pending === undefined) throw new Error('the broker answered what nobody asked')
    const { exchange, swallow } = pending
    this.#push(this.#responses, async () => {
      if (exchange === undefined) await this.#responses.write(frame)
      else if (swallow !== true) await this.#handleResponse(exchange, frame)
    })
    this.#flushOurs()
  }

  async #handleResponse(exchange: Exchange, frame: Buffer): Promise<void> {
    const { api, version } = exchange
    const { bodyOffset } = decodeResponseHeader(api, version, frame)
    const decode = (): ReturnType<typeof decodeResponseBody<ApiName>> =>
      decodeResponseBody(api, version, frame.subarray(bodyOffset))
    const rule = this.#ruleFor(exchange, 'response')
    const wanted =
      rule !== undefined || namesAddresses(api) || this.#host.rules.some(one => one.fired.includes(exchange))
    let response = wanted ? decode() : undefined
    let changed = false
    exchange.settle(response)
    this.#host.seen(exchange, 'response')
    let pieces: { bytes: number; gapMs: number } | undefined
    for (const action of rule?.actions ?? []) {
      if (action.type === 'rewrite' && response !== undefined) {
        response = action.body(response, exchange)
        changed = true
        continue
      }
      if (action.type === 'error' && response !== undefined) {
        response = withErrorCode(response, action.code)
        changed = true
        continue
      }
      const done = await this.#common(action, this.#responses, exchange, rule)
      if (done === 'stop') return
      if (typeof done === 'object') pieces = done
    }
    if (response !== undefined) {
      const readdressed = await rewriteAddresses(api, response, this.#host.readdress)
      changed ||= readdressed !== undefined
      response = readdressed ?? response
    }
    const out =
      changed && response !== undefined
        ? Buffer.concat([frame.subarray(0, bodyOffset), encodeResponseBody(api, version, response)])
        : frame
    await this.#responses.write(out, pieces)
  }

  /** Does what can be done to a frame of either direction; `stop`: it goes no further. */
  async #common(
    action: RuleHandle['actions'][number],
    lane: FrameLane,
    exchange: Exchange,
    rule: RuleHandle | undefined,
  ): Promise<'stop' | { bytes: number; gapMs: number } | undefined> {
    switch (action.type) {
      case 'hold':
        if ((await rule?.hold(this.#ended)) !== 'drop') return undefined
        lane.swallow()
        return 'stop'
      case 'drop':
        lane.swallow()
        return 'stop'
      case 'reset':
        this.reset()
        return 'stop'
      case 'delay':
        await new Promise(resolve => setTimeout(resolve, action.ms))
        return undefined
      case 'call':
        await action.run(exchange)
        return undefined
      case 'signal':
        process.kill(action.pid, action.signal)
        return undefined
      case 'slice':
        return { bytes: action.bytes, gapMs: action.gapMs ?? 0 }
      case 'throttle':
        return { bytes: Math.max(1, Math.ceil(action.bytesPerSecond / 50)), gapMs: 20 }
      case 'answer':
      case 'duplicate':
      case 'error':
      case 'rewrite':
        throw new Error(`${action.type} does not go with this direction`)
      default:
        return action satisfies never
    }
  }

  #flushOurs(): void {
    for (let head = this.#pending[0]; head?.ours !== undefined; head = this.#pending[0]) {
      const { ours } = head
      this.#pending.shift()
      this.#push(this.#responses, () => this.#responses.write(ours))
    }
  }

  #ruleFor(exchange: Exchange, direction: Direction): RuleHandle | undefined {
    return this.#host.rules.find(rule => rule.matches(exchange, direction))
  }

  #push(lane: FrameLane, work: () => Promise<void>): void {
    lane.push(
      work,
      error => {
        this.#host.failed(error)
        this.reset()
      },
      () => this.#settle(),
    )
  }
}

/** A produce with acks=0 is the only request without an answer. */
function isUnanswered(exchange: Exchange | undefined): boolean {
  return exchange?.api === 'Produce' && 'acks' in exchange.request && exchange.request.acks === 0
}
