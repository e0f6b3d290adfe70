import { formatTopicPartition } from '../../model/topic-partition.ts'
import { visible } from '../observed-log.ts'
import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * Two ways to know what is committed must agree: the markers in the log, and the broker's list of aborted transactions.
 * Offsets must grow, and nothing below the last stable offset may be undecided.
 */
export function checkReaders({ logs }: RunObservation): CheckReport {
  const book = new CheckBook('readers')
  for (const log of logs.all()) {
    const name = formatTopicPartition(log)
    const byMarkers = visible(log).map(({ offset }) => offset)
    const shown = log.shownCommitted
    book.compared(byMarkers.length)
    const at = Array.from({ length: Math.max(shown.length, byMarkers.length) }, (_, index) => index).find(
      index => shown[index] !== byMarkers[index],
    )
    if (at !== undefined) {
      book.found(
        'readers disagree',
        `${name}: the markers show offset ${String(byMarkers[at])}, the list of aborted transactions ${String(shown[at])}`,
      )
    }
    const undecided = log.records.find(({ fate, offset }) => fate === 'open' && offset < log.lastStableOffset)
    if (undecided !== undefined) {
      book.found('undecided', `${name}@${String(undecided.offset)} lies below the last stable offset and has no marker`)
    }
    const fallen = log.records.find(({ offset }, index) => offset <= (log.records[index - 1]?.offset ?? -1))
    if (fallen !== undefined)
      book.found('offsets', `${name}: offset ${String(fallen.offset)} does not follow the one before`)
  }
  return book.report()
}
