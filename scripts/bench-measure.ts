import { BenchRun } from './bench-run.ts'
import { KEY_INTERVAL_MS, topologyOf, type Bench } from './bench-topologies.ts'

/** What was measured of an operator. */
export interface Measured {
  readonly recordsPerSecond: number
  /** Records written to output and changelog topics while it was measured. */
  readonly written: number
}

/** Records between two commits. */
const BLOCK_RECORDS = 10_000
/** Enough for the just-in-time compiler to settle. */
const WARM_UP_RECORDS = 50_000
/** A prime, so that keys come in no order that a store could profit from, and each as often as the others. */
const KEY_STEP = 611_953

/**
 * Feeds an operator with one record of every key, then measures the time of further records: decoding, stores, changelog
 * records, and a commit after every block; no network.
 */
export function measure(bench: Bench, keys: number, records: number): Measured {
  const run = new BenchRun(topologyOf(bench))
  const inputs = new Inputs(bench, keys, run)
  inputs.feed(keys * bench.topics.length + Math.min(WARM_UP_RECORDS, records))
  const writtenBefore = run.written
  const seconds = inputs.feed(records)
  const written = run.written - writtenBefore
  run.close()
  return { recordsPerSecond: records / seconds, written }
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

  /** Processes that many more records. Returns the seconds it took, without those to make the records. */
  feed(records: number): number {
    let ns = 0n
    for (let left = records; left > 0; left -= BLOCK_RECORDS) {
      for (let made = Math.min(left, BLOCK_RECORDS); made > 0; made--) this.#append()
      const before = process.hrtime.bigint()
      this.#run.process()
      ns += process.hrtime.bigint() - before
    }
    return Number(ns) / 1e9
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
