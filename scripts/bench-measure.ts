import { BenchRun } from './bench-run.ts'
import { KEY_INTERVAL_MS, topologyOf, type Bench } from './bench-topologies.ts'

/** What was measured of an operator. */
export interface Measured {
  /** Time of the processor a record took, garbage collection included, in µs. */
  readonly cpuMicros: number
  /** Records written to output and changelog topics while it was measured. */
  readonly written: number
}

/** Records between two commits. */
const BLOCK_RECORDS = 10_000
/** Enough for the just-in-time compiler to settle. */
const WARM_UP_RECORDS = 50_000
/** Rounds through all keys after which windows and versions go as fast as they come. */
const WARM_UP_ROUNDS = 3
/** A prime, so that keys come in no order that a store could profit from, and each as often as the others. */
const KEY_STEP = 611_953

/**
 * Feeds an operator with some rounds of all keys, then measures further records, at least one round: decoding, stores,
 * changelog records, and a commit after every block; no network. The processor's time counts, not the wall's, so that
 * other work of the machine matters little.
 */
export function measure(bench: Bench, keys: number, records: number): Measured {
  const run = new BenchRun(topologyOf(bench))
  const inputs = new Inputs(bench, keys, run)
  const round = keys * bench.topics.length
  inputs.feed(Math.max(WARM_UP_ROUNDS * round, Math.min(WARM_UP_RECORDS, records)))
  const measured = Math.max(records, bench.keyed ? round : 0)
  const writtenBefore = run.written
  const micros = inputs.feed(measured)
  const written = run.written - writtenBefore
  run.close()
  return { cpuMicros: micros / measured, written }
}

/** The endless input of a measurement. */
class Inputs {
  readonly #bench: Bench
  readonly #keys: number
  readonly #run: BenchRun
  #count = 0

  constructor(bench: Bench, keys: number, run: BenchRun) {
    this.#bench = bench
    this.#keys = keys
    this.#run = run
  }

  /** Processes that many more records. Returns the processor's time in µs, without that to make the records. */
  feed(records: number): number {
    let micros = 0
    for (let left = records; left > 0; left -= BLOCK_RECORDS) {
      for (let made = Math.min(left, BLOCK_RECORDS); made > 0; made--) this.#append()
      const before = process.cpuUsage()
      this.#run.process()
      const { user, system } = process.cpuUsage(before)
      micros += user + system
    }
    return micros
  }

  #append(): void {
    const { topics } = this.#bench
    const at = Math.floor(this.#count / topics.length)
    const topic = topics[this.#count % topics.length] ?? ''
    this.#count += 1
    const key = Buffer.from(String((at * KEY_STEP) % this.#keys).padStart(9, '0'))
    const value = Buffer.alloc(8)
    value.writeUInt32BE(at % 0x1_0000_0000, 4)
    this.#run.append(topic, key, value, Math.floor((at * KEY_INTERVAL_MS) / this.#keys))
  }
}
