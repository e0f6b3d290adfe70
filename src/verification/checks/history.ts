import { formatTopicPartition } from '../../model/topic-partition.ts'
import { type ObservedRecord, visible } from '../observed-log.ts'
import { hex } from '../record-identity.ts'
import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * What a read_committed reader was shown while faults went on, against what is in the log afterwards: nothing that it saw
 * may be gone or aborted (G1a), and nothing may have appeared behind its back (lost write).
 */
export function checkHistory({ history, logs }: RunObservation): CheckReport {
  const book = new CheckBook('history')
  const reads = (history ?? []).filter(event => event.kind === 'read')
  if (reads.length === 0) {
    book.notChecked('no second reader looked on during the run')
    return book.report()
  }
  const read = new Map<string, Set<number>>()
  const records = new Map<string, ReadonlyMap<number, ObservedRecord>>()
  const highest = new Map<string, number>()
  for (const event of reads) {
    book.compared()
    const name = formatTopicPartition(event)
    const known = records.get(name) ?? new Map(logs.get(event)?.records.map(record => [record.offset, record]))
    records.set(name, known)
    const record = known.get(event.offset)
    const place = `${name}@${String(event.offset)}`
    if (event.offset <= (highest.get(name) ?? -1)) book.found('order', `${place} was shown after a higher offset`)
    highest.set(name, Math.max(highest.get(name) ?? -1, event.offset))
    read.set(name, (read.get(name) ?? new Set()).add(event.offset))
    judge(book, place, event, record, logs.get(event)?.isCompacted === true)
  }
  for (const log of logs.all()) {
    const name = formatTopicPartition(log)
    const seen = read.get(name)
    const [first, last] = boundsOf(seen ?? [])
    const missed = visible(log).find(({ offset }) => offset > first && offset < last && seen?.has(offset) !== true)
    if (missed !== undefined) {
      book.found(
        'lost write',
        `${name}@${String(missed.offset)} is visible now, and a reader passed it without being shown it`,
      )
    }
  }
  return book.report()
}

function judge(
  book: CheckBook,
  place: string,
  event: { readonly key: string | null; readonly value: string | null },
  record: ObservedRecord | undefined,
  isCompacted: boolean,
): void {
  if (record === undefined) {
    if (!isCompacted) book.found('G1a', `${place} was shown to a reader and is not in the log any more`)
    return
  }
  if (record.fate !== 'committed') book.found('G1a', `${place} was shown to a reader and is ${record.fate}`)
  const same = (event.key ?? '-') === hex(record.key) && (event.value ?? '-') === hex(record.value)
  if (!same) book.found('G1a', `${place} was shown with another key or value than it has`)
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
