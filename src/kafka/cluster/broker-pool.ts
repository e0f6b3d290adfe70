import { sleep, type Clock, type Random } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import type { Address } from '../connection/address.ts'
import { Connection, type ConnectionOptions } from '../connection/connection.ts'
import { Backoff } from './backoff.ts'

/**
 * What a connection is for. A broker serves each connection strictly one request after the other, so a parked Fetch
 * or JoinGroup must not hold up anything else; all Produce requests to a broker share one connection, because the
 * first writes of a transaction must arrive in order.
 */
export type ConnectionPurpose = 'produce' | 'fetch' | 'coordinator' | 'join' | 'control'

/** What the pool needs. */
export interface BrokerPoolOptions {
  readonly connection: Omit<ConnectionOptions, 'host' | 'port'>
  readonly clock: Clock
  readonly random: Random
  /** First and longest delay between attempts to reach a broker. Kafka: `reconnect.backoff.ms`, `….max.ms`. */
  readonly backoffMs: number
  readonly backoffMaxMs: number
  /** Called with each new connection. */
  readonly onOpened: (connection: Connection) => void
}

interface Slot {
  readonly backoff: Backoff
  connection: Connection | undefined
  opening: Promise<Connection> | undefined
  openedAtMs: number
  notBeforeMs: number
  failedAtMs: number
}

/** A connection that lived shorter counts as a failed attempt, or a broker that hangs up at once is called in a loop. */
const SHORT_LIFE_MS = 1_000
/** Brokers close idle connections after 10 minutes by default; closing first avoids a request that meets it. */
const IDLE_MS_MAX = 540_000
/** Finite, because they are subtracted. */
const NEVER_FAILED_MS = -1e15
const OPEN_MS = -2e15

/** The open connections: one per broker and purpose, opened on demand, replaced when closed. */
export class BrokerPool {
  readonly #options: BrokerPoolOptions
  readonly #slots = new Map<string, Slot>()
  #closed = false

  constructor(options: BrokerPoolOptions) {
    this.#options = options
  }

  /**
   * The connection of a slot. Of several callers at once only one attempt is made; after a failed attempt the next
   * one waits.
   *
   * @param id - broker and purpose
   * @throws MillraceError as `Connection.open`; `NOT_RUNNING` after `close`
   */
  get(id: string, address: Address): Promise<Connection> {
    const slot = this.#slot(id)
    const open = this.#openConnection(slot)
    if (open !== undefined) return Promise.resolve(open)
    slot.opening ??= this.#open(slot, address).finally(() => {
      slot.opening = undefined
    })
    return slot.opening
  }

  /**
   * When the slot failed last, on the clock's time, for choosing among several: the lowest value for a slot with an
   * open connection, the next for one that never failed.
   */
  failedAtMs(id: string): number {
    const slot = this.#slots.get(id)
    if (slot === undefined) return NEVER_FAILED_MS
    return this.#openConnection(slot) === undefined ? slot.failedAtMs : OPEN_MS
  }

  /** Closes all connections and opens no more. */
  close(): void {
    this.#closed = true
    for (const { connection } of this.#slots.values()) connection?.destroy(closedPool())
    this.#slots.clear()
  }

  #slot(id: string): Slot {
    let slot = this.#slots.get(id)
    if (slot === undefined) {
      const { backoffMs, backoffMaxMs, random } = this.#options
      const backoff = new Backoff(backoffMs, backoffMaxMs, random)
      slot = {
        backoff,
        connection: undefined,
        opening: undefined,
        openedAtMs: 0,
        notBeforeMs: 0,
        failedAtMs: NEVER_FAILED_MS,
      }
      this.#slots.set(id, slot)
    }
    return slot
  }

  #openConnection(slot: Slot): Connection | undefined {
    const { connection } = slot
    if (connection === undefined) return undefined
    if (connection.idleMs > IDLE_MS_MAX) connection.destroy(new Error('idle for too long'))
    if (!connection.closed) return connection
    slot.connection = undefined
    const nowMs = this.#options.clock.nowMs()
    if (connection.closeCause?.code === 'REQUEST_TIMED_OUT') slot.failedAtMs = nowMs
    if (nowMs - slot.openedAtMs < SHORT_LIFE_MS) slot.notBeforeMs = nowMs + slot.backoff.next()
    else slot.backoff.reset()
    return undefined
  }

  async #open(slot: Slot, address: Address): Promise<Connection> {
    const { clock, connection: options, onOpened } = this.#options
    const waitMs = slot.notBeforeMs - clock.nowMs()
    if (waitMs > 0) await sleep(clock, waitMs)
    if (this.#closed) throw closedPool()
    let connection: Connection
    try {
      connection = await Connection.open({ ...options, host: address.host, port: address.port })
    } catch (error) {
      slot.failedAtMs = clock.nowMs()
      slot.notBeforeMs = slot.failedAtMs + slot.backoff.next()
      throw error
    }
    if (this.#isClosed()) {
      connection.destroy(closedPool())
      throw closedPool()
    }
    slot.connection = connection
    slot.openedAtMs = clock.nowMs()
    slot.failedAtMs = NEVER_FAILED_MS
    onOpened(connection)
    return connection
  }

  /** As a call, because it may change while `#open` waits. */
  #isClosed(): boolean {
    return this.#closed
  }
}

function closedPool(): MillraceError {
  return new MillraceError('NOT_RUNNING', { what: 'The connections to Kafka are closed.' })
}
