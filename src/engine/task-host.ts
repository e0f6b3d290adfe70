import type { ProcessorHost } from '../operators/processor-context.ts'
import type { Punctuations } from './punctuations.ts'
import type { TaskPorts } from './task-ports.ts'

/** What a task gives its processors. */
export interface TaskHostParts {
  readonly taskId: string
  readonly applicationId: string
  readonly ports: Pick<TaskPorts, 'wallClockMs' | 'requestCommit'>
  readonly streamTime: () => number
  readonly byStreamTime: Punctuations
  readonly byWallClock: Punctuations
  readonly onClose: (callback: () => void) => void
}

/** A task as its processors see it. Kafka Streams: `ProcessorContextImpl`. */
export function taskHost(parts: TaskHostParts): ProcessorHost {
  const { taskId, applicationId, ports, streamTime, byStreamTime, byWallClock, onClose } = parts
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
        ? byStreamTime.add(node, everyMs, startAtMs ?? 0, callback)
        : byWallClock.add(node, everyMs, startAtMs ?? ports.wallClockMs() + everyMs, callback),
    onClose,
  }
}
