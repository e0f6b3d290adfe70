import { parseDurationMs, type Duration, type TimestampMs } from '../model/duration.ts'
import type { SessionWindows as SessionBounds } from '../operators/session-aggregate.ts'
import type { SlidingWindows as SlidingBounds } from '../operators/sliding-window-aggregate.ts'
import type { TimeWindows as TimeBounds } from '../operators/time-window-aggregate.ts'
import type { Graph } from './graph.ts'

/** Fixed windows that follow each other. Kafka Streams: `TimeWindows.ofSizeAndGrace`. */
export interface TumblingWindows {
  /** Size of a window. */
  tumbling: Duration
  /** How long after its end a window still takes late records; there is no default, write `0` for none. */
  grace: Duration
  hopping?: never
  sliding?: never
  session?: never
  unlimited?: never
  every?: never
}

/** Overlapping windows of one size. Kafka Streams: `TimeWindows.ofSizeAndGrace(size, grace).advanceBy(every)`. */
export interface HoppingWindows {
  /** Size of a window. */
  hopping: Duration
  /** Distance between two window starts; at most the size. */
  every: Duration
  /** How long after its end a window still takes late records; there is no default, write `0` for none. */
  grace: Duration
  tumbling?: never
  sliding?: never
  session?: never
  unlimited?: never
}

/** Windows around each record: all records at most this far apart. Kafka Streams: `SlidingWindows.ofTimeDifferenceAndGrace`. */
export interface SlidingWindows {
  /** Largest time difference between two records of one window. */
  sliding: Duration
  /** How long after its end a window still takes late records; there is no default, write `0` for none. */
  grace: Duration
  tumbling?: never
  hopping?: never
  session?: never
  unlimited?: never
  every?: never
}

/** One window that never closes. Kafka Streams: `UnlimitedWindows.of().startOn(unlimited)`. */
export interface UnlimitedWindows {
  /** Start of the window in ms since 1970; `0` for all of time. Earlier records are counted as skipped. */
  unlimited: TimestampMs
  tumbling?: never
  hopping?: never
  sliding?: never
  session?: never
  every?: never
  grace?: never
}

/** Windows of activity that end after a silence. Kafka Streams: `SessionWindows.ofInactivityGapAndGrace`. */
export interface SessionWindows {
  /** Silence after which a session ends. */
  session: Duration
  /** How long after its end (and the gap) a session still takes late records; there is no default, write `0` for none. */
  grace: Duration
  tumbling?: never
  hopping?: never
  sliding?: never
  unlimited?: never
  every?: never
}

/** The windows whose bounds follow from time alone, unlike sessions. Kafka Streams: `Windows`, `SlidingWindows`. */
export type TimeWindows = TumblingWindows | HoppingWindows | SlidingWindows | UnlimitedWindows

/** How a windowed aggregation emits. Kafka Streams: `EmitStrategy`. */
export interface WindowedByOptions {
  /** `'updates'`: each change; `'final'`: one result when the window has closed. @default 'updates'. Kafka Streams: `onWindowUpdate`, `onWindowClose` */
  emit?: 'updates' | 'final'
  /** Where records go that come after the window closed, in the same transaction. @default dropped and counted as `late`. Kafka Streams: none */
  late?: { /** The topic; same key and value serdes as the grouped stream. */ topic: string }
}

/** Windows as the graph knows them; times in ms. */
export type WindowsDefinition =
  | ({ readonly kind: 'time' } & TimeBounds)
  | ({ readonly kind: 'sliding' } & SlidingBounds)
  | ({ readonly kind: 'session' } & SessionBounds)

/** Windows as a user writes them, in TypeScript or YAML. */
export type WindowsOptions = Readonly<
  Partial<Record<'tumbling' | 'hopping' | 'sliding' | 'session' | 'unlimited' | 'every' | 'grace', unknown>>
>

const HOUR_MS = 3_600_000
const KINDS = ['tumbling', 'hopping', 'sliding', 'session', 'unlimited'] as const

/** What windows a user asked for; mistakes are noted, and an hour's windows stand in for what cannot be read. */
export function windowsOf(graph: Graph, options: WindowsOptions, step: string): WindowsDefinition {
  const report = (what: string): void => {
    graph.report('TOPOLOGY_INVALID', {
      node: step,
      what: `${step}: ${what}`,
      action: "Write the window like { tumbling: '1m', grace: '10s' }.",
    })
  }
  const [kind, ...others] = KINDS.filter(name => options[name] !== undefined)
  if (kind === undefined || others.length > 0) report(`a window is one of ${KINDS.join(', ')}.`)
  const duration = (name: keyof WindowsOptions, least: number): number => {
    const ms = parseDurationMs(options[name])
    if (ms !== undefined && ms >= least) return ms
    report(
      options[name] === undefined
        ? `${name} is missing${name === 'grace' ? '; write 0 for none' : ''}.`
        : `${name} is a duration${least > 0 ? ' above 0' : ''} such as '1m' or 60000, got ${JSON.stringify(options[name])}.`,
    )
    return least
  }
  const graceMs = kind === 'unlimited' ? 0 : duration('grace', 0)
  if (kind === undefined) return { kind: 'time', sizeMs: HOUR_MS, advanceMs: HOUR_MS, graceMs, firstStartMs: 0 }
  switch (kind) {
    case 'sliding':
      return { kind: 'sliding', differenceMs: duration('sliding', 0), graceMs }
    case 'session':
      return { kind: 'session', gapMs: duration('session', 1), graceMs }
    case 'unlimited': {
      const { POSITIVE_INFINITY } = Number
      const firstStartMs = duration('unlimited', 0)
      return { kind: 'time', sizeMs: POSITIVE_INFINITY, advanceMs: POSITIVE_INFINITY, graceMs, firstStartMs }
    }
    case 'hopping': {
      const sizeMs = duration('hopping', 1)
      const advanceMs = duration('every', 1)
      if (advanceMs > sizeMs) report(`every (${String(advanceMs)} ms) is at most the size (${String(sizeMs)} ms).`)
      return { kind: 'time', sizeMs, advanceMs, graceMs, firstStartMs: 0 }
    }
    case 'tumbling': {
      const sizeMs = duration('tumbling', 1)
      return { kind: 'time', sizeMs, advanceMs: sizeMs, graceMs, firstStartMs: 0 }
    }
  }
}

/** Shortest retention with which the windows can be kept, in ms. */
export function retentionMsOf(windows: WindowsDefinition): number {
  switch (windows.kind) {
    case 'time':
      return windows.sizeMs + windows.graceMs
    case 'sliding':
      // The right window of the record before may start two differences back.
      return windows.differenceMs * 2 + windows.graceMs
    case 'session':
      return windows.gapMs + windows.graceMs
  }
}

/** Size of the windows in a key, in ms: end − start. Sessions have none of their own. */
export function windowSizeMsOf(windows: WindowsDefinition): number {
  switch (windows.kind) {
    case 'time':
      return Math.min(windows.sizeMs, Number.MAX_SAFE_INTEGER)
    case 'sliding':
      return windows.differenceMs
    case 'session':
      return 0
  }
}

/** Windows in words: what `graph` shows of them. */
export function windowsText(windows: WindowsDefinition): string {
  const grace = `grace ${String(windows.graceMs)} ms`
  switch (windows.kind) {
    case 'sliding':
      return `sliding windows of ${String(windows.differenceMs)} ms, ${grace}`
    case 'session':
      return `sessions with a gap of ${String(windows.gapMs)} ms, ${grace}`
    case 'time': {
      const { sizeMs, advanceMs, firstStartMs } = windows
      if (!Number.isFinite(sizeMs)) return `one window from ${String(firstStartMs)} ms on`
      const every = advanceMs === sizeMs ? '' : ` every ${String(advanceMs)} ms`
      return `windows of ${String(sizeMs)} ms${every}, ${grace}`
    }
  }
}
