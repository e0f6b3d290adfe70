/** How far a contender was at a moment, and what it had cost by then. */
export interface Sample {
  /** Since its start. */
  readonly atMs: number
  /** Input records whose results are visible. */
  readonly done: number
  readonly clientCpuSeconds: number
  readonly brokerCpuSeconds: number
}

/** Rates and costs of a span. */
export interface Pace {
  readonly recordsPerSecond: number
  /** Time of the client's processors per record, in µs. */
  readonly clientCpuMicros: number
  /** Time of the brokers' processors per record, in µs. */
  readonly brokerCpuMicros: number
}

/** From the start of the process to the last visible result. */
export function wholePace(samples: readonly Sample[]): Pace {
  return paceBetween(samples[0], samples.at(-1))
}

/**
 * The second half, from commit to commit: from the first sample with half of the records to the last one but one. The last
 * commit has waited for its interval without work, which says nothing of a rate; it counts where there is no other with
 * another quarter of the records.
 */
export function steadyPace(samples: readonly Sample[]): Pace {
  const records = samples.at(-1)?.done ?? 0
  const from = samples.find(({ done }) => done >= records / 2)
  const beforeLast = samples.findLast(({ done }) => done < records)
  const enough = (from?.done ?? 0) + records / 4
  return paceBetween(from, beforeLast !== undefined && beforeLast.done >= enough ? beforeLast : samples.at(-1))
}

function paceBetween(from: Sample | undefined, to: Sample | undefined): Pace {
  if (from === undefined || to === undefined || to.done === from.done) {
    return { recordsPerSecond: Number.NaN, clientCpuMicros: Number.NaN, brokerCpuMicros: Number.NaN }
  }
  const records = to.done - from.done
  return {
    recordsPerSecond: (records / (to.atMs - from.atMs)) * 1_000,
    clientCpuMicros: ((to.clientCpuSeconds - from.clientCpuSeconds) / records) * 1e6,
    brokerCpuMicros: ((to.brokerCpuSeconds - from.brokerCpuSeconds) / records) * 1e6,
  }
}
