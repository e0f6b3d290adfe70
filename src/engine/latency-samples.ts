import { AgeHistogram, type HistogramSnapshot } from './histograms.ts'

/** Samples of one commit interval; what comes after them is not sampled. */
const SAMPLES_MAX = 4_096

/** How old records were when their results became visible: samples wait for their commit. Kafka Streams: `record-e2e-latency`. */
export class LatencySamples {
  readonly #timestamps = new Float64Array(SAMPLES_MAX)
  readonly #seconds = new AgeHistogram()
  #count = 0

  /** Notes a record that was processed, by its event time in ms. */
  processed(timestamp: number): void {
    if (this.#count === SAMPLES_MAX) return
    this.#timestamps[this.#count] = timestamp
    this.#count += 1
  }

  /** The broker acknowledged the commit of what was processed. */
  committed(wallClockMs: number): void {
    for (let i = 0; i < this.#count; i += 1) this.#seconds.observe(wallClockMs - (this.#timestamps[i] ?? wallClockMs))
    this.#count = 0
  }

  /** What was processed since the last commit will be processed again. */
  forgotten(): void {
    this.#count = 0
  }

  snapshot(): HistogramSnapshot {
    return this.#seconds.snapshot()
  }
}
