/** Upper bounds of the histograms of how long something took, in seconds; the last bucket is open. */
export const DURATION_BUCKETS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

/** Upper bounds of the histograms of distances in time, in seconds: 4 to the power of 0 … 13 ms, so that an index is found without a search. */
export const AGE_BUCKETS_SECONDS: readonly number[] = Array.from({ length: 14 }, (_, power) => 4 ** power / 1_000)

/** Longest distance below the open bucket, in ms. */
const AGE_MS_MAX = 4 ** 13

/** A histogram as plain numbers, so that it can be posted between threads and merged by adding. */
export interface HistogramSnapshot {
  /** Observations per bucket, one more for the open bucket; not cumulative. */
  readonly counts: readonly number[]
  readonly sumSeconds: number
}

/** How long something took. */
export class DurationHistogram {
  readonly #counts: number[] = Array.from({ length: DURATION_BUCKETS_SECONDS.length + 1 }, () => 0)
  #sumSeconds = 0

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1_000
    let bucket = 0
    while (bucket < DURATION_BUCKETS_SECONDS.length && seconds > (DURATION_BUCKETS_SECONDS[bucket] ?? 0)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sumSeconds += seconds
  }

  snapshot(): HistogramSnapshot {
    return { counts: [...this.#counts], sumSeconds: this.#sumSeconds }
  }
}

/** How far apart two points in time are, from a millisecond to a day. Fit for the hot path: an observation adds to two numbers. */
export class AgeHistogram {
  readonly #counts = new Float64Array(AGE_BUCKETS_SECONDS.length + 1)
  #sumMs = 0

  /** @param ms - a whole number; below 0 counts as 0 */
  observe(ms: number): void {
    const bucket = bucketOf(ms)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    if (ms > 0) this.#sumMs += ms
  }

  /** Adds what another one has observed. */
  add(other: AgeHistogram): void {
    for (const [bucket, count] of other.#counts.entries()) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count
    this.#sumMs += other.#sumMs
  }

  snapshot(): HistogramSnapshot {
    return { counts: [...this.#counts], sumSeconds: this.#sumMs / 1_000 }
  }
}

/** The lowest power of 4 that is not below: two bits each. */
function bucketOf(ms: number): number {
  if (ms > AGE_MS_MAX) return AGE_BUCKETS_SECONDS.length
  return ms <= 1 ? 0 : (33 - Math.clz32(ms - 1)) >> 1
}
