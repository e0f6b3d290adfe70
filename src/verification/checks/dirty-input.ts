import { counted } from '../../model/counted.ts'
import { formatTopicPartition } from '../../model/topic-partition.ts'
import { type Standing, standings } from '../observed-log.ts'
import type { RunObservation } from '../run-observation.ts'
import { causeOf, type MarkedRecord, placeOf } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * I7: only committed input is processed. Also what an application wrote and then aborted is looked at: it must not have
 * read what was never committed.
 */
export function checkDirtyInput(run: RunObservation, marked: readonly MarkedRecord[]): CheckReport {
  const book = new CheckBook('dirtyInput')
  if (marked.length === 0) {
    book.leftOut('no record carries provenance; results of aborted input would show as unexplained records')
    return book.report()
  }
  const standingsOf = new Map<string, (offset: number) => Standing>()
  const gone = new Map<string, number>()
  for (const { record, provenance } of marked) {
    const { topic, partition, offset } = provenance
    if (topic === '') continue
    const name = formatTopicPartition({ topic, partition })
    const log = run.logs.get({ topic, partition })
    const standingOf = standingsOf.get(name) ?? (log === undefined ? () => 'nothing' as const : standings(log))
    standingsOf.set(name, standingOf)
    const standing = standingOf(offset)
    if (standing === 'gone') {
      gone.set(name, (gone.get(name) ?? 0) + 1)
      continue
    }
    book.compared()
    const fate = typeof standing === 'string' ? 'no record' : standing.fate
    if (fate === 'committed') continue
    book.found('dirty read', `${placeOf(record)} follows from ${causeOf(provenance)}, which is ${fate}`)
  }
  for (const [name, count] of gone) book.leftOut(`the input of ${counted(count, 'record')}, which is gone from ${name}`)
  return book.report()
}
