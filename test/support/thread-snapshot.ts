import { DURATION_BUCKETS_SECONDS, type ThreadSnapshot } from '../../src/engine/thread-metrics.ts'

/** A snapshot of a thread that has done nothing yet, with the given differences. */
export function aThreadSnapshot(differences: Partial<ThreadSnapshot> = {}): ThreadSnapshot {
  const idle = { counts: Array.from({ length: DURATION_BUCKETS_SECONDS.length + 1 }, () => 0), sumSeconds: 0 }
  return {
    thread: '1',
    state: 'running',
    turnAgeMs: 0,
    tasks: [],
    partitions: [],
    stores: [],
    recordsProcessed: 0,
    recordsProduced: 0,
    bytesProduced: 0,
    processSeconds: idle,
    commitSeconds: idle,
    commits: new Map(),
    aborts: new Map(),
    dropped: new Map(),
    rebalances: 0,
    transactionAgeMs: undefined,
    ...differences,
  }
}
