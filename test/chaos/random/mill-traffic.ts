import { integerBetween } from '../../../src/cli/demo/seeded-random.ts'
import type { Random } from '../../../src/model/clock.ts'
import { numberedRecord } from '../../support/application-shape.ts'
import { uniqueName } from '../../support/broker.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'
import type { MillTopics } from './mill-application.ts'

/** Between two turns. */
const PAUSE_MS = 200
const ORDERS_PER_TURN = 8
const LINES_PER_TURN = 3
const ACCOUNTS = 7
const LINES = 20
const PRODUCTS = 5
/** Event time between two orders. */
const STEP_MS = 10
/** Of ten turns so many are written by transactions that abort. */
const ABORTS_IN_TEN = 2
/** A transaction of ours that a dead broker left open holds up readers for so long. */
const TRANSACTION_TIMEOUT_MS = 5_000

/**
 * Writes all inputs, a little at a time, by the Java client. What came of a write is not asked for: the model begins
 * with what a read_committed reader finds in the inputs.
 */
export class MillTraffic {
  readonly #servers: string
  readonly #topics: MillTopics
  readonly #random: Random
  readonly #pauseMs: number
  /** Recent, or the topics' retention would delete the input. */
  readonly #startMs = Date.now()
  #turns = 0
  #orders = 0
  #failures = 0
  #stopping = false
  #done: Promise<void> = Promise.resolve()
  #aborting: KafkaWriter | undefined

  private constructor(servers: string, topics: MillTopics, random: Random, pauseMs: number) {
    this.#pauseMs = pauseMs
    this.#servers = servers
    this.#topics = topics
    this.#random = random
  }

  /** Starts; `stop` must follow. */
  static flow(servers: string, topics: MillTopics, random: Random, pauseMs = PAUSE_MS): MillTraffic {
    const traffic = new MillTraffic(servers, topics, random, pauseMs)
    traffic.#done = traffic.#run()
    // Told by `stop`.
    traffic.#done.catch(() => undefined)
    return traffic
  }

  /** Writes that failed or whose outcome is unknown. */
  get failures(): number {
    return this.#failures
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#done
  }

  async #run(): Promise<void> {
    const writer = await KafkaWriter.open(this.#servers)
    while (!this.#stopping) {
      const aborts = integerBetween(this.#random, 1, 10) <= ABORTS_IN_TEN
      const batches = this.#nextTurn()
      try {
        if (aborts) await this.#writeAndAbort(batches)
        else for (const [topic, records] of batches) await writer.write(topic, records)
      } catch {
        this.#failures += 1
        if (aborts) this.#aborting = undefined
      }
      await new Promise(resolve => setTimeout(resolve, this.#pauseMs))
    }
  }

  async #writeAndAbort(batches: readonly (readonly [string, readonly RecordToWrite[]])[]): Promise<void> {
    this.#aborting ??= await KafkaWriter.open(this.#servers, {
      'transactional.id': uniqueName('upstream'),
      'transaction.timeout.ms': String(TRANSACTION_TIMEOUT_MS),
    })
    const writer = this.#aborting
    await writer.begin()
    for (const [topic, records] of batches) await writer.write(topic, records)
    await writer.abort()
  }

  #nextTurn(): readonly (readonly [string, readonly RecordToWrite[]])[] {
    const turn = this.#turns
    this.#turns += 1
    const from = this.#orders
    this.#orders += ORDERS_PER_TURN
    const numbers = Array.from({ length: ORDERS_PER_TURN }, (_, index) => from + index)
    const orders = numbers.map(n => ({ ...textOf(n), timestamp: this.#startMs + n * STEP_MS }))
    const payments = orders.map(({ key, timestamp }, index) => ({
      key,
      value: JSON.stringify({ n: from + index }),
      timestamp: timestamp + STEP_MS / 2,
    }))
    const timestamp = this.#startMs + from * STEP_MS
    const lines = Array.from({ length: LINES_PER_TURN }, (_, index) => {
      const n = turn * LINES_PER_TURN + index
      const value = JSON.stringify({ n, product: `p${String((n * 7) % PRODUCTS)}` })
      return { key: `l${String(integerBetween(this.#random, 0, LINES - 1))}`, value, timestamp }
    })
    const version = { key: `a${String(turn % ACCOUNTS)}`, value: JSON.stringify({ version: turn }), timestamp }
    const product = { key: `p${String(turn % PRODUCTS)}`, value: JSON.stringify({ n: turn }), timestamp }
    const topics = this.#topics
    return [
      [topics.orders, orders],
      [topics.payments, payments],
      [topics.accounts, [version]],
      [topics.lines, lines],
      ...(turn % 3 === 0 ? [[topics.products, [product]] as const] : []),
    ]
  }
}

function textOf(n: number): { key: string; value: string } {
  const { key, value } = numberedRecord(n)
  return { key, value }
}
