import { assert } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import { parseDurationMs } from '../model/duration.ts'
import type { RecordHeaders } from '../model/headers.ts'
import type { RecordMetadata } from '../model/record.ts'
import type { CurrentRecord } from './current-record.ts'
import type { Forward } from './forward.ts'
import { sync } from './step.ts'

/** When a punctuation happens, as the user wrote it. */
export interface ScheduleOptions {
  readonly every: number | string
  readonly by: 'streamTime' | 'wallClock'
  readonly startAt?: number
}

/** What a processor needs of its task. */
export interface ProcessorHost {
  readonly taskId: string
  readonly applicationId: string
  streamTime(): number
  wallClock(): number
  requestCommit(): void
  /** Registers a punctuation under the node's name. */
  schedule(
    node: string,
    everyMs: number,
    by: 'streamTime' | 'wallClock',
    startAtMs: number | undefined,
    callback: (timestamp: number) => void,
  ): { cancel(): void }
  /** Registers what makes a processor: called once the stores are complete, and again after an abort. */
  onBegin(node: string, begin: () => void): void
  /** Registers what is called when a processor that was made is done with. */
  onClose(close: () => void): void
}

/** A record a processor forwards, its types forgotten. */
export interface ForwardedRecord {
  readonly key?: unknown
  readonly value: unknown
  readonly timestamp?: number
  readonly headers?: RecordHeaders
}

/** What `process` and `processValues` hand to `init`, its types forgotten. No member needs `this`. */
export interface ErasedProcessorContext {
  readonly stores: Readonly<Record<string, unknown>>
  readonly forward: (record: ForwardedRecord, child?: string) => void
  readonly schedule: (options: ScheduleOptions, callback: (timestamp: number) => unknown) => { cancel(): void }
  readonly requestCommit: () => void
  readonly metadata: () => RecordMetadata | undefined
  readonly streamTime: () => number
  readonly wallClock: () => number
  readonly taskId: string
  readonly applicationId: string
}

/** What a processor is made of, its types forgotten. */
export interface ErasedProcessorSupplier {
  readonly init: (context: ErasedProcessorContext) => unknown
}

/** Everything a processor node is built from. */
export interface ProcessorParts {
  readonly name: string
  readonly record: CurrentRecord
  readonly host: ProcessorHost
  readonly stores: Readonly<Record<string, unknown>>
  /** `processValues`: the key of what is forwarded is that of the record. */
  readonly keepsKey: boolean
  readonly next: Forward
  /** The child of a name; `undefined` when there is none. */
  readonly childNamed: (name: string) => Forward | undefined
}

/** A user's processor as an operator. Kafka Streams: `ProcessorNode` with `ProcessorContextImpl`. */
export function processRecords(parts: ProcessorParts, supplier: ErasedProcessorSupplier): Forward {
  const { name, record, host } = parts
  const current: CurrentKey = { key: undefined, isSet: false }
  let handler: Handler | undefined
  host.onBegin(name, () => {
    record.node = name
    handler = processorOf(supplier.init(contextOf(parts, current)), name)
    if (handler.close !== undefined) host.onClose(handler.close)
  })
  return (key, value, timestamp, headers) => {
    const outer = current.key
    const wasSet = current.isSet
    current.key = key
    current.isSet = true
    record.enter(name, timestamp, headers)
    try {
      assert(handler !== undefined, 'processors are made before the first record', { node: name })
      sync(handler.process({ key, value, timestamp, headers }))
    } finally {
      current.key = outer
      current.isSet = wasSet
    }
  }
}

interface CurrentKey {
  key: unknown
  isSet: boolean
}

function contextOf(parts: ProcessorParts, current: CurrentKey): ErasedProcessorContext {
  const { name, record, host, stores } = parts
  return {
    stores,
    forward: forwarder(parts, current),
    schedule: ({ every, by, startAt }, callback) => {
      const everyMs = parseDurationMs(every)
      if (everyMs === undefined || everyMs === 0) {
        throw new MillraceError('USAGE', {
          node: name,
          what: `schedule: "every" is a duration above 0, got ${String(every)}.`,
        })
      }
      return host.schedule(name, everyMs, by, startAt, timestamp => {
        record.node = name
        sync(callback(timestamp))
      })
    },
    requestCommit: () => {
      host.requestCommit()
    },
    metadata: () => record.view.metadata,
    streamTime: () => host.streamTime(),
    wallClock: () => host.wallClock(),
    taskId: host.taskId,
    applicationId: host.applicationId,
  }
}

/** `forward` puts the view back afterwards: the processor may go on and read it. */
function forwarder(
  { name, record, keepsKey, next, childNamed }: ProcessorParts,
  current: CurrentKey,
): ErasedProcessorContext['forward'] {
  return (forwarded, child) => {
    const { view } = record
    const { timestamp: timestampBefore, headers: headersBefore } = view
    const timestamp = forwarded.timestamp ?? timestampBefore
    if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
      // Not `TIMESTAMP_INVALID`: that is a source's, and answered by the policy for what cannot be read.
      throw new MillraceError('PROCESSING_FAILED', {
        node: name,
        what: `The processor ${name} forwarded a record with the timestamp ${String(timestamp)}.`,
      })
    }
    if (keepsKey && !current.isSet) {
      throw new MillraceError('USAGE', {
        node: name,
        what: 'processValues forwards under the key of a record, and there is none in a punctuation.',
      })
    }
    const target = child === undefined ? next : childNamed(child)
    if (target === undefined)
      throw new MillraceError('CHILD_UNKNOWN', {
        node: name,
        what: `The processor ${name} has no child ${String(child)}.`,
      })
    target(
      keepsKey ? current.key : (forwarded.key ?? null),
      forwarded.value ?? null,
      timestamp,
      forwarded.headers ?? headersBefore,
    )
    record.enter(name, timestampBefore, headersBefore)
  }
}

interface Handler {
  readonly process: (record: unknown) => unknown
  readonly close: (() => void) | undefined
}

function processorOf(made: unknown, name: string): Handler {
  if (typeof made === 'function') return { process: record => callable(made)(record), close: undefined }
  if (typeof made === 'object' && made !== null && 'process' in made && typeof made.process === 'function') {
    const { process } = made
    const close = 'close' in made && typeof made.close === 'function' ? made.close : undefined
    return {
      process: record => callable(process).call(made, record),
      close: close === undefined ? undefined : () => void callable(close).call(made),
    }
  }
  throw new MillraceError('USAGE', {
    node: name,
    what: '`init` returns a function, or an object with a function `process`.',
  })
}

function callable(value: Function): (this: unknown, ...args: unknown[]) => unknown
function callable(value: unknown): unknown {
  return value
}
