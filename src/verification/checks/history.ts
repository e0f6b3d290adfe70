import { counted } from '../../model/counted.ts'
import { formatTopicPartition } from '../../model/topic-partition.ts'
import type { HistoryEvent } from '../history.ts'
import { type ObservedLogs, type ObservedPartition, type Standing, standings, visible } from '../observed-log.ts'
import { hex } from '../record-identity.ts'
import type { RunObservation } from '../run-observation.ts'
import { inputTopics, writtenTopics } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

type ReadEvent = Extract<HistoryEvent, { kind: 'read' }>

/** What was shown of one partition. */
interface Shown {
  readonly offsets: Set<number>
  readonly standingOf: (offset: number) => Standing
  highest: number
}

/**
 * What a read_committed reader was shown while faults went on, against what is in the log afterwards: nothing that it saw
 * may be gone or aborted (G1a), and nothing may have appeared behind its back (lost write).
 */
export function checkHistory(run: RunObservation): CheckReport {
  const book = new CheckBook('history')
  const { history, logs } = run
  if (history === undefined) {
    book.notChecked('no second reader looked on during the run')
    return book.report()
  }
  const own = new Set([...inputTopics(run.application.plan), ...writtenTopics(run)])
  const reads = history.filter(event => event.kind === 'read').filter(({ topic }) => own.has(topic))
  // A history was given to be looked at: one that shows nothing must not look like one that holds.
  if (reads.length === 0) book.unjudged('the history names no record of the application that a reader was shown')
  const shown = new Map<string, Shown>()
  const gone = new Map<string, number>()
  for (const event of reads) {
    const name = formatTopicPartition(event)
    const place = `${name}@${String(event.offset)}`
    const known = shown.get(name) ?? shownOf(logs.get(event))
    shown.set(name, known)
    if (event.offset <= known.highest) book.found('order', `${place} was shown after a higher offset`)
    known.highest = Math.max(known.highest, event.offset)
    known.offsets.add(event.offset)
    const standing = known.standingOf(event.offset)
    if (standing === 'gone') gone.set(name, (gone.get(name) ?? 0) + 1)
    else judge(book, place, event, standing)
  }
  for (const [name, count] of gone)
    book.leftOut(`${counted(count, 'record')} of ${name}, which the cleaner or retention has taken since`)
  checkMissed(logs, shown, book)
  if (reads.length > 0) nameUnseen(run, shown, book)
  return book.report()
}

function shownOf(log: ObservedPartition | undefined): Shown {
  return { offsets: new Set(), standingOf: log === undefined ? () => 'nothing' : standings(log), highest: -1 }
}

function judge(book: CheckBook, place: string, event: ReadEvent, standing: Exclude<Standing, 'gone'>): void {
  book.compared()
  if (standing === 'marker') book.found('G1a', `${place} was shown to a reader and is the end of a transaction now`)
  else if (standing === 'nothing') book.found('G1a', `${place} was shown to a reader and is not in the log any more`)
  else {
    if (standing.fate !== 'committed') book.found('G1a', `${place} was shown to a reader and is ${standing.fate}`)
    const isSame = (event.key ?? '-') === hex(standing.key) && (event.value ?? '-') === hex(standing.value)
    if (!isSame) book.found('G1a', `${place} was shown with another key or value than it has`)
  }
}

/** Between the first and the last record that a reader was shown of a partition it was shown all. */
function checkMissed(logs: ObservedLogs, shown: ReadonlyMap<string, Shown>, book: CheckBook): void {
  for (const log of logs.all()) {
    const name = formatTopicPartition(log)
    const seen = shown.get(name)
    if (seen === undefined) continue
    const [first, last] = boundsOf(seen.offsets)
    const missed = visible(log).find(({ offset }) => offset > first && offset < last && !seen.offsets.has(offset))
    if (missed === undefined) continue
    book.found(
      'lost write',
      `${name}@${String(missed.offset)} is visible now, and a reader passed it without being shown it`,
    )
  }
}

/** Partitions that the reader was to follow, and of which it was shown nothing. */
function nameUnseen(run: RunObservation, shown: ReadonlyMap<string, Shown>, book: CheckBook): void {
  const followed = new Set(run.logs.all().flatMap(log => (shown.has(formatTopicPartition(log)) ? [log.topic] : [])))
  for (const log of run.logs.all()) {
    const name = formatTopicPartition(log)
    if (followed.has(log.topic) && !shown.has(name) && visible(log).length > 0)
      book.leftOut(`${name}, of which the reader was shown nothing`)
  }
}

function boundsOf(offsets: Iterable<number>): readonly [first: number, last: number] {
  let first = Number.POSITIVE_INFINITY
  let last = -1
  for (const offset of offsets) {
    first = Math.min(first, offset)
    last = Math.max(last, offset)
  }
  return [first, last]
}
