import { formatTopicPartition } from '../../model/topic-partition.ts'
import { missingNote } from '../observed-log.ts'
import type { RunObservation } from '../run-observation.ts'
import { causeOf, type MarkedRecord, markedRecords, placeOf, writtenTopics } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * I5 and I8 from the log of each partition: what a task wrote stands in the order of its input. A record that goes back
 * is one of an old owner, if another producer wrote it, else one in the wrong order.
 */
export function checkFencing(
  run: RunObservation,
  marked: readonly MarkedRecord[],
): {
  readonly fencing: CheckReport
  readonly keyOrder: CheckReport
} {
  const fencing = new CheckBook('fencing')
  const keyOrder = new CheckBook('keyOrder')
  checkEpochs(run, fencing)
  if (marked.length === 0) {
    for (const book of [fencing, keyOrder]) book.leftOut('no record carries provenance (streams: provenance.headers)')
    return { fencing: fencing.report(), keyOrder: keyOrder.report() }
  }
  for (const topic of writtenTopics(run)) {
    for (const log of run.logs.of(topic)) {
      const last = new Map<string, MarkedRecord>()
      for (const one of markedRecords(run, log)) {
        if (one.record.fate !== 'committed' || one.provenance.topic === '') continue
        const writer = `${one.provenance.task}/${one.provenance.topic}`
        judge(last.get(writer), one, { fencing, keyOrder })
        last.set(writer, one)
      }
    }
  }
  const missing = missingNote(writtenTopics(run).flatMap(topic => run.logs.of(topic)))
  if (missing !== undefined) for (const book of [fencing, keyOrder]) book.leftOut(missing)
  return { fencing: fencing.report(), keyOrder: keyOrder.report() }
}

function judge(
  before: MarkedRecord | undefined,
  one: MarkedRecord,
  { fencing, keyOrder }: { readonly fencing: CheckBook; readonly keyOrder: CheckBook },
): void {
  fencing.compared()
  keyOrder.compared()
  if (before === undefined || !comesBefore(one, before)) return
  const isOtherOwner = before.record.producerId !== one.record.producerId
  const what = `${placeOf(one.record)} follows from ${causeOf(one.provenance)}, after ${placeOf(before.record)} from ${causeOf(before.provenance)}`
  if (isOtherOwner) fencing.found('old owner', `${what}, by another producer`)
  else keyOrder.found('order', what)
}

/** Whether `a` follows from an earlier source record than `b`, or from the same one earlier. */
function comesBefore(a: MarkedRecord, b: MarkedRecord): boolean {
  const [x, y] = [a.provenance, b.provenance]
  if (x.offset !== y.offset) return x.offset < y.offset
  return x.transaction === y.transaction && x.ordinal < y.ordinal
}

/** Epochs of a producer only grow within a partition. */
function checkEpochs(run: RunObservation, book: CheckBook): void {
  for (const log of run.logs.all()) {
    const epochs = new Map<number, number>()
    for (const { producerId, producerEpoch, offset } of log.records) {
      if (producerId < 0) continue
      const known = epochs.get(producerId) ?? -1
      if (producerEpoch < known) {
        book.found(
          'old epoch',
          `${formatTopicPartition(log)}@${String(offset)} is of epoch ${String(producerEpoch)} of producer ${String(producerId)}, after epoch ${String(known)}`,
        )
      }
      epochs.set(producerId, Math.max(known, producerEpoch))
    }
  }
}
