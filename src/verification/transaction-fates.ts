import type { TopicPartition } from '../model/topic-partition.ts'
import type { ObservedMarker, ObservedRecord } from './observed-log.ts'
import type { RawBatch } from './raw-batches.ts'

/** The aborted transactions that a broker names in an answer. */
export interface NamedAbort {
  readonly producerId: number
  readonly firstOffset: number
}

/**
 * Decides from the markers in the log alone what became of each record: the next marker of its producer ends its
 * transaction. The broker's list of aborted transactions is not asked, nor the engine's filter.
 */
export function judgeByMarkers(
  batches: readonly RawBatch[],
  { topic, partition }: TopicPartition,
): { readonly records: readonly ObservedRecord[]; readonly markers: readonly ObservedMarker[] } {
  const records: ObservedRecord[] = []
  const markers: ObservedMarker[] = []
  /** Positions in `records` that wait for the end of a producer's transaction. */
  const waiting = new Map<number, number[]>()
  for (const batch of batches) {
    const { producerId, producerEpoch, isTransactional, isStampedByBroker, marker, lastOffset } = batch
    if (marker === 'commit' || marker === 'abort') {
      markers.push({ offset: lastOffset, producerId, producerEpoch, kind: marker })
      for (const at of waiting.get(producerId) ?? []) {
        const record = records[at]
        if (record === undefined) continue
        records[at] = { ...record, fate: marker === 'commit' ? 'committed' : 'aborted', decidedAt: lastOffset }
      }
      waiting.delete(producerId)
      continue
    }
    if (marker === 'other') continue
    for (const record of batch.records) {
      if (isTransactional) waitFor(waiting, producerId, records.length)
      records.push({
        topic,
        partition,
        ...record,
        producerId,
        producerEpoch,
        isTransactional,
        isStampedByBroker,
        fate: isTransactional ? 'open' : 'committed',
        decidedAt: isTransactional ? undefined : record.offset,
      })
    }
  }
  return { records, markers }
}

/** Offsets that a read_committed reader is shown, by the list that the broker sent along with the batches. */
export function shownByBroker(batches: readonly RawBatch[], aborted: readonly NamedAbort[]): readonly number[] {
  const shown: number[] = []
  const begins = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset)
  const hidden = new Set<number>()
  let next = 0
  for (const { producerId, isTransactional, marker, lastOffset, records } of batches) {
    for (let begin = begins[next]; begin !== undefined && begin.firstOffset <= lastOffset; begin = begins[next]) {
      hidden.add(begin.producerId)
      next += 1
    }
    if (marker === 'commit' || marker === 'abort') hidden.delete(producerId)
    else if (marker === undefined && !(isTransactional && hidden.has(producerId))) {
      for (const { offset } of records) shown.push(offset)
    }
  }
  return shown
}

function waitFor(waiting: Map<number, number[]>, producerId: number, at: number): void {
  const list = waiting.get(producerId)
  if (list === undefined) waiting.set(producerId, [at])
  else list.push(at)
}
