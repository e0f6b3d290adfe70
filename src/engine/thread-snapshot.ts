import type { ActiveTask } from './active-task.ts'
import type { StreamThread } from './stream-thread.ts'
import type { EventLoopDelay } from './event-loop-delay.ts'
import type { PartitionSnapshot, StoreSnapshot, ThreadSnapshot, TopicSnapshot } from './thread-metrics.ts'

/** Everything a thread tells about itself at this moment, as plain data that can be posted. */
export function snapshotOf(
  thread: StreamThread,
  name: string,
  nowMs: number,
  eventLoopDelay: EventLoopDelay,
): ThreadSnapshot {
  const tasks = thread.tasks()
  const counting = tasks.map(({ task }) => task)
  const { openedAtMs } = thread.clients.producer.transaction
  return {
    thread: name,
    state: thread.state,
    tasks: tasks.map(task => ({ id: task.id, state: task.state, restoreRemaining: thread.restorer.remainingOf(task) })),
    partitions: tasks.flatMap(task => partitionsOf(task, thread)),
    stores: tasks.flatMap(storesOf),
    transactionAgeMs: openedAtMs === undefined ? undefined : nowMs - openedAtMs,
    topics: topicsOf(thread),
    throttledMs: thread.clients.cluster.throttledTotalMs,
    recordsRestored: thread.restorer.recordsRestored,
    latenessSeconds: thread.metrics.lateness(counting),
    eventLoopDelay: eventLoopDelay.snapshot(nowMs),
    ...thread.metrics.counters(nowMs),
  }
}

function topicsOf(thread: StreamThread): readonly TopicSnapshot[] {
  const consumed = thread.metrics.consumption(thread.tasks().map(({ task }) => task))
  const produced = thread.clients.producer.totals
  const topics = new Set([...consumed.keys(), ...produced.keys()])
  return Array.from(topics, topic => ({
    topic,
    recordsConsumed: consumed.get(topic)?.records ?? 0,
    bytesConsumed: consumed.get(topic)?.bytes ?? 0,
    recordsProduced: produced.get(topic)?.records ?? 0,
    bytesProduced: produced.get(topic)?.bytes ?? 0,
  }))
}

function partitionsOf(task: ActiveTask, thread: StreamThread): readonly PartitionSnapshot[] {
  return task.inputs.map(input => {
    const watermarks = thread.clients.fetcher.watermarks(input.topicPartition)
    return {
      ...input.topicPartition,
      task: task.id,
      position: task.positionOf(input),
      committed: input.committed,
      lastStableOffset: watermarks?.lastStableOffset,
      highWatermark: watermarks?.highWatermark,
      fetchedTo: thread.clients.fetcher.fetchedTo(input.topicPartition),
    }
  })
}

function storesOf(task: ActiveTask): readonly StoreSnapshot[] {
  return task.task.stores.map(store => ({
    task: task.id,
    store: store.name,
    entries: store.entries,
    bytes: store.bytes,
  }))
}
