import type { MetricFamily, Sample } from './exposition.ts'
import { AGE_BUCKETS_SECONDS, DURATION_BUCKETS_SECONDS, type HistogramSnapshot } from './histograms.ts'
import type { PartitionSnapshot, ThreadSnapshot, TopicSnapshot } from './thread-metrics.ts'

/** What one metric says; docs/metrics.md is generated from the table. */
export interface MetricDefinition {
  readonly type: MetricFamily['type']
  readonly help: string
  readonly labels: readonly string[]
  /** Its series for one thread. */
  readonly samplesOf: (thread: ThreadSnapshot) => readonly Sample[]
}

/** Every metric of a thread: base units, labels bounded by threads, tasks, partitions and closed unions. */
export const THREAD_METRICS: Readonly<Record<string, MetricDefinition>> = {
  millrace_thread_state: {
    type: 'gauge',
    help: '1 for the state a thread is in.',
    labels: ['thread', 'state'],
    samplesOf: ({ thread, state }) => [one({ thread, state }, 1)],
  },
  millrace_thread_turn_age_seconds: {
    type: 'gauge',
    help: 'Time since the loop of a thread last turned; it grows while a step blocks.',
    labels: ['thread'],
    samplesOf: ({ thread, turnAgeMs }) => [one({ thread }, turnAgeMs / 1_000)],
  },
  millrace_tasks: {
    type: 'gauge',
    help: 'Tasks of a thread by state.',
    labels: ['thread', 'state'],
    samplesOf: ({ thread, tasks }) =>
      [...countBy(tasks, ({ state }) => state)].map(([state, count]) => one({ thread, state }, count)),
  },
  millrace_records_processed_total: {
    type: 'counter',
    help: 'Input records processed, including those of transactions that were aborted and repeated.',
    labels: ['thread'],
    samplesOf: ({ thread, recordsProcessed }) => [one({ thread }, recordsProcessed)],
  },
  millrace_records_consumed_total: {
    type: 'counter',
    help: 'Input records consumed by topic, repartition topics too, including those that are skipped or repeated after an abort.',
    labels: ['thread', 'topic'],
    samplesOf: thread => perTopic(thread, ({ recordsConsumed }) => recordsConsumed),
  },
  millrace_bytes_consumed_total: {
    type: 'counter',
    help: 'Bytes of the fetched batches that tasks took, as they came from the broker (compressed).',
    labels: ['thread', 'topic'],
    samplesOf: thread => perTopic(thread, ({ bytesConsumed }) => bytesConsumed),
  },
  millrace_records_produced_total: {
    type: 'counter',
    help: 'Records written for good (committed, or acknowledged without transactions): outputs, changelogs, repartition topics, dead letters.',
    labels: ['thread', 'topic'],
    samplesOf: thread => perTopic(thread, ({ recordsProduced }) => recordsProduced),
  },
  millrace_bytes_produced_total: {
    type: 'counter',
    help: 'Bytes of those records in their batches, before compression.',
    labels: ['thread', 'topic'],
    samplesOf: thread => perTopic(thread, ({ bytesProduced }) => bytesProduced),
  },
  millrace_poll_seconds: {
    type: 'histogram',
    help: 'Time from the end of one turn of the loop to the next: waiting for fetched records, answers and timers.',
    labels: ['thread'],
    samplesOf: ({ thread, pollSeconds }) => histogram({ thread }, DURATION_BUCKETS_SECONDS, pollSeconds),
  },
  millrace_process_seconds: {
    type: 'histogram',
    help: 'Time to process one chunk of records.',
    labels: ['thread'],
    samplesOf: ({ thread, processSeconds }) => histogram({ thread }, DURATION_BUCKETS_SECONDS, processSeconds),
  },
  millrace_punctuate_seconds: {
    type: 'histogram',
    help: 'Time of one punctuation.',
    labels: ['thread'],
    samplesOf: ({ thread, punctuateSeconds }) => histogram({ thread }, DURATION_BUCKETS_SECONDS, punctuateSeconds),
  },
  millrace_commit_seconds: {
    type: 'histogram',
    help: 'Time from the start of a commit to the acknowledgement of the broker.',
    labels: ['thread'],
    samplesOf: ({ thread, commitSeconds }) => histogram({ thread }, DURATION_BUCKETS_SECONDS, commitSeconds),
  },
  millrace_record_lateness_seconds: {
    type: 'histogram',
    help: 'How far records that came behind stream time were behind it, by event time; records in order are not counted.',
    labels: ['thread'],
    samplesOf: ({ thread, latenessSeconds }) => histogram({ thread }, AGE_BUCKETS_SECONDS, latenessSeconds),
  },
  millrace_end_to_end_latency_seconds: {
    type: 'histogram',
    help: 'From the event time of an input record to the acknowledged commit of its results. Sampled: the last record of each run of up to 16, at most 4,096 a commit.',
    labels: ['thread'],
    samplesOf: ({ thread, latencySeconds }) => histogram({ thread }, AGE_BUCKETS_SECONDS, latencySeconds),
  },
  millrace_commits_total: {
    type: 'counter',
    help: 'Acknowledged commits by what made them due.',
    labels: ['thread', 'reason'],
    samplesOf: ({ thread, commits }) => [...commits].map(([reason, count]) => one({ thread, reason }, count)),
  },
  millrace_aborts_total: {
    type: 'counter',
    help: 'Aborted transactions by error code; PRODUCER_FENCED counts fences.',
    labels: ['thread', 'code'],
    samplesOf: ({ thread, aborts }) => [...aborts].map(([code, count]) => one({ thread, code }, count)),
  },
  millrace_dropped_records_total: {
    type: 'counter',
    help: 'Records that left the flow by reason: late, nullKey, skipped, deadLettered and others; attempts, aborted ones too.',
    labels: ['thread', 'reason'],
    samplesOf: ({ thread, dropped }) => [...dropped].map(([reason, count]) => one({ thread, reason }, count)),
  },
  millrace_rebalances_total: {
    type: 'counter',
    help: 'Rebalances of the group that a thread took part in.',
    labels: ['thread'],
    samplesOf: ({ thread, rebalances }) => [one({ thread }, rebalances)],
  },
  millrace_transaction_age_seconds: {
    type: 'gauge',
    help: 'Age of the open transaction; 0 while none is open.',
    labels: ['thread'],
    samplesOf: ({ thread, transactionAgeMs }) => [one({ thread }, (transactionAgeMs ?? 0) / 1_000)],
  },
  millrace_lag_readable_records: {
    type: 'gauge',
    help: 'Records that could be read and are not yet processed: from the position to the last stable offset.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ position, lastStableOffset }) => gap(position, lastStableOffset)),
  },
  millrace_lag_blocked_records: {
    type: 'gauge',
    help: "Records that an open transaction of the topic's writers holds back: from the last stable offset to the high watermark.",
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread =>
      perPartition(thread, ({ lastStableOffset, highWatermark }) => gap(lastStableOffset, highWatermark)),
  },
  millrace_buffered_records: {
    type: 'gauge',
    help: 'Fetched and not yet processed, by offsets: markers and gaps of compaction are counted too.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ position, fetchedTo }) => gap(position, fetchedTo)),
  },
  millrace_last_stable_offset_age_seconds: {
    type: 'gauge',
    help: 'How long the last stable offset of an input has stood still while all below it is read and records above it wait; 0 otherwise.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ held }) => (held?.heldForMs ?? 0) / 1_000),
  },
  millrace_input_transaction_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest open transaction that holds up an input: by its coordinator once the input is held up for longer than `blocked.input.warn.ms`, before that the time its last stable offset has stood still; 0 while nothing is held up.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ held }) => (held?.transactionAgeMs ?? 0) / 1_000),
  },
  millrace_position_offset: {
    type: 'gauge',
    help: 'Next offset to process.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ position }) => position),
  },
  millrace_committed_offset: {
    type: 'gauge',
    help: 'Offset committed last.',
    labels: ['thread', 'topic', 'partition'],
    samplesOf: thread => perPartition(thread, ({ committed }) => committed),
  },
  millrace_restore_remaining_records: {
    type: 'gauge',
    help: 'Changelog records that a task still has to read before it runs.',
    labels: ['thread', 'task'],
    samplesOf: ({ thread, tasks }) =>
      tasks.map(({ id, restoreRemaining }) => one({ thread, task: id }, restoreRemaining)),
  },
  millrace_restored_records_total: {
    type: 'counter',
    help: 'Changelog records read into stores; its rate is the speed of a restore.',
    labels: ['thread'],
    samplesOf: ({ thread, recordsRestored }) => [one({ thread }, recordsRestored)],
  },
  millrace_store_entries: {
    type: 'gauge',
    help: 'Entries of a state store.',
    labels: ['thread', 'task', 'store'],
    samplesOf: ({ thread, stores }) => stores.map(({ task, store, entries }) => one({ thread, task, store }, entries)),
  },
  millrace_store_bytes: {
    type: 'gauge',
    help: 'Bytes of the keys and values of a state store.',
    labels: ['thread', 'task', 'store'],
    samplesOf: ({ thread, stores }) => stores.map(({ task, store, bytes }) => one({ thread, task, store }, bytes)),
  },
  millrace_throttle_seconds_total: {
    type: 'counter',
    help: 'Pauses that brokers asked for because a quota was used up.',
    labels: ['thread'],
    samplesOf: ({ thread, throttledMs }) => [one({ thread }, throttledMs / 1_000)],
  },
  millrace_event_loop_delay_seconds: {
    type: 'gauge',
    help: "How late timers of the thread's own event loop fired over the last minute: median, 99th percentile, maximum. That of the main thread is `nodejs_eventloop_lag_…`.",
    labels: ['thread', 'quantile'],
    samplesOf: ({ thread, eventLoopDelay: { p50Ms, p99Ms, maxMs } }) => [
      one({ thread, quantile: '0.5' }, p50Ms / 1_000),
      one({ thread, quantile: '0.99' }, p99Ms / 1_000),
      one({ thread, quantile: '1' }, maxMs / 1_000),
    ],
  },
}

/** All metrics of the given threads. */
export function threadMetricFamilies(threads: readonly ThreadSnapshot[]): readonly MetricFamily[] {
  return Object.entries(THREAD_METRICS).map(([name, { type, help, samplesOf }]) => ({
    name,
    help,
    type,
    samples: threads.flatMap(samplesOf),
  }))
}

function one(labels: Readonly<Record<string, string>>, value: number): Sample {
  return { labels, value }
}

/** Prometheus wants cumulative buckets; snapshots are not, so that they merge by adding. */
function histogram(
  labels: Readonly<Record<string, string>>,
  bounds: readonly number[],
  { counts, sumSeconds }: HistogramSnapshot,
): Sample[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    const bound = bounds[index]
    return { labels: { ...labels, le: bound === undefined ? '+Inf' : String(bound) }, value: total, suffix: '_bucket' }
  })
  return [...buckets, { labels, value: sumSeconds, suffix: '_sum' }, { labels, value: total, suffix: '_count' }]
}

function perTopic({ thread, topics }: ThreadSnapshot, valueOf: (topic: TopicSnapshot) => number): Sample[] {
  return topics.map(topic => one({ thread, topic: topic.topic }, valueOf(topic)))
}

function perPartition(
  { thread, partitions }: ThreadSnapshot,
  valueOf: (partition: PartitionSnapshot) => number | undefined,
): Sample[] {
  return partitions.flatMap(partition => {
    const value = valueOf(partition)
    return value === undefined
      ? []
      : [one({ thread, topic: partition.topic, partition: String(partition.partition) }, value)]
  })
}

/** Watermarks are as of the last fetch, so the position may be ahead of them. */
function gap(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from)
}

function countBy<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, number> {
  const counts = new Map<K, number>()
  for (const item of list) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return counts
}
