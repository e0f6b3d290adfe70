import type { ProcessorHost } from '../operators/processor-context.ts'
import type { TaskProcessors } from './task-processors.ts'
import type { TaskPorts } from './task-ports.ts'

/** What a task gives its processors. */
export interface TaskHostParts {
  readonly taskId: string
  readonly applicationId: string
  readonly ports: Pick<TaskPorts, 'wallClockMs' | 'requestCommit'>
  readonly streamTime: () => number
  readonly processors: TaskProcessors
}

/** A task as its processors see it. Kafka Streams: `ProcessorContextImpl`. */
export function taskHost(parts: TaskHostParts): ProcessorHost {
  const { taskId, applicationId, ports, streamTime, processors } = parts
  return {
    taskId,
    applicationId,
    streamTime,
    wallClock: () => ports.wallClockMs(),
    requestCommit: () => {
      ports.requestCommit()
    },
    schedule: (node, everyMs, by, startAtMs, callback) =>
      by === 'streamTime'
        ? processors.byStreamTime.add(node, everyMs, startAtMs ?? 0, callback)
        : processors.byWallClock.add(node, everyMs, startAtMs ?? ports.wallClockMs() + everyMs, callback),
    onBegin: (node, begin) => {
      processors.onBegin(node, begin)
    },
    onClose: close => {
      processors.onClose(close)
    },
  }
}
