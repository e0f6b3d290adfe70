import { MillraceError } from '../model/errors.ts'

/** One event of a run, a line of its NDJSON history; times in ms of one clock. */
export type HistoryEvent =
  /** A read_committed reader was shown this record while faults were going on. */
  | {
      readonly kind: 'read'
      readonly atMs: number
      readonly topic: string
      readonly partition: number
      readonly offset: number
      /** Key and value as hexadecimal text; `null` for none. */
      readonly key: string | null
      readonly value: string | null
    }
  /** Somebody asked the group for a committed offset. */
  | {
      readonly kind: 'committed'
      readonly atMs: number
      readonly topic: string
      readonly partition: number
      readonly offset: number
    }
  /** A fault fired, was healed, or something else happened that a counter counts. */
  | { readonly kind: 'happened'; readonly atMs: number; readonly name: string }

/** Writes an event as one line. */
export function historyLine(event: HistoryEvent): string {
  return JSON.stringify(event)
}

/** Reads an NDJSON history; a last line that is cut off, as a kill leaves it, is passed over. @throws MillraceError `USAGE` for any other line that is none */
export function readHistory(text: string): readonly HistoryEvent[] {
  const lines = text.split('\n')
  const unfinished = lines.pop() ?? ''
  const events = lines.filter(line => line !== '').map((line, at) => eventOf(line, at + 1))
  if (unfinished !== '') {
    try {
      events.push(eventOf(unfinished, lines.length + 1))
    } catch {
      return events
    }
  }
  return events
}

function eventOf(line: string, number: number): HistoryEvent {
  try {
    const event: unknown = JSON.parse(line)
    if (isEvent(event)) return event
  } catch {
    // Reported below, as any other line that is no event.
  }
  throw new MillraceError('USAGE', { what: `Line ${String(number)} of the history is no event.` })
}

function isEvent(value: unknown): value is HistoryEvent {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map(Object.entries(value))
  if (typeof fields.get('atMs') !== 'number') return false
  switch (fields.get('kind')) {
    case 'happened':
      return typeof fields.get('name') === 'string'
    case 'read':
    case 'committed':
      return (
        typeof fields.get('topic') === 'string' &&
        Number.isSafeInteger(fields.get('partition')) &&
        Number.isSafeInteger(fields.get('offset')) &&
        (fields.get('kind') === 'committed' || [fields.get('key'), fields.get('value')].every(isBytes))
      )
    default:
      return false
  }
}

/** Without this a key that the reader forgot to write would pass for none. */
function isBytes(value: unknown): boolean {
  return value === null || (typeof value === 'string' && /^(?:[0-9a-f]{2})*$/u.test(value))
}
