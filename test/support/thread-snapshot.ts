import { AGE_BUCKETS_SECONDS, DURATION_BUCKETS_SECONDS, type HistogramSnapshot } from '../../src/engine/histograms.ts'
import type { ThreadSnapshot } from '../../src/engine/thread-metrics.ts'

/** A snapshot of a thread that has done nothing yet, with the given differences. */
export function aThreadSnapshot(differences: Partial<ThreadSnapshot> = {}): ThreadSnapshot {
  const idle = emptyHistogram(DURATION_BUCKETS_SECONDS)
  const ageless = emptyHistogram(AGE_BUCKETS_SECONDS)
  return {
    thread: '1',
    state: 'running',
    turnAgeMs: 0,
    tasks: [],
    partitions: [],
    stores: [],
    topics: [],
    recordsProcessed: 0,
    recordsRestored: 0,
    pollSeconds: idle,
    processSeconds: idle,
    punctuateSeconds: idle,
    commitSeconds: idle,
    latenessSeconds: ageless,
    latencySeconds: ageless,
    commits: new Map(),
    aborts: new Map(),
    dropped: new Map(),
    rebalances: 0,
    transactionAgeMs: undefined,
    throttledMs: 0,
    eventLoopDelay: { p50Ms: 0, p99Ms: 0, maxMs: 0 },
    ...differences,
  }
}

function emptyHistogram(bounds: readonly number[]): HistogramSnapshot {
  return { counts: Array.from({ length: bounds.length + 1 }, () => 0), sumSeconds: 0 }
}
