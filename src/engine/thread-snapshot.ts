import type { ActiveTask } from './active-task.ts'
import type { StreamThread } from './stream-thread.ts'
import type { PartitionSnapshot, StoreSnapshot, ThreadSnapshot } from './thread-metrics.ts'

/** Everything a thread tells about itself at this moment, as plain data that can be posted. */
export function snapshotOf(thread: StreamThread, name: string, nowMs: number): ThreadSnapshot {
  const tasks = thread.tasks()
  const { openedAtMs } = thread.clients.producer.transaction
  const { records, bytes } = thread.clients.producer.totals
  return {
    thread: name,
    state: thread.state,
    tasks: tasks.map(task => ({ id: task.id, state: task.state, restoreRemaining: thread.restoreRemaining(task) })),
    partitions: tasks.flatMap(task => partitionsOf(task, thread)),
    stores: tasks.flatMap(storesOf),
    transactionAgeMs: openedAtMs === undefined ? undefined : nowMs - openedAtMs,
    recordsProduced: records,
    bytesProduced: bytes,
    ...thread.metrics.counters(nowMs),
  }
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
