import { formatTopicPartition, type TopicPartition } from '../../model/topic-partition.ts'
import type { Fate, ObservedLogs } from '../observed-log.ts'
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
    book.notChecked('no record carries provenance; results of aborted input would show as unexplained records')
    return book.report()
  }
  const fates = new FateIndex(run.logs)
  for (const { record, provenance } of marked) {
    const { topic, partition, offset } = provenance
    if (topic === '') continue
    book.compared()
    const fate = fates.of({ topic, partition }, offset)
    if (fate === 'committed' || fate === 'gone') continue
    book.found(
      'dirty read',
      `${placeOf(record)} follows from ${causeOf(provenance)}, which ${fate === 'none' ? 'is no record' : `is ${fate}`}`,
    )
  }
  return book.report()
}

/** Fates of input records by offset. */
class FateIndex {
  readonly #logs: ObservedLogs
  readonly #byPartition = new Map<string, ReadonlyMap<number, Fate>>()

  constructor(logs: ObservedLogs) {
    this.#logs = logs
  }

  /** `gone`: below the beginning of the log, or cleaned away; `none`: a marker, or behind the end. */
  of(topicPartition: TopicPartition, offset: number): Fate | 'gone' | 'none' {
    const log = this.#logs.get(topicPartition)
    if (log === undefined) return 'none'
    const name = formatTopicPartition(topicPartition)
    const fates = this.#byPartition.get(name) ?? new Map(log.records.map(record => [record.offset, record.fate]))
    this.#byPartition.set(name, fates)
    const fate = fates.get(offset)
    if (fate !== undefined) return fate
    return offset < log.logStart || log.isCompacted ? 'gone' : 'none'
  }
}
