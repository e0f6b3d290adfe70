import { formatTopicPartition, type TopicPartition } from '../../model/topic-partition.ts'
import type { RunObservation } from '../run-observation.ts'
import { inputTopics, type TaskView } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** Whether the run has come to rest: everything read, everything decided. A run that has not cannot be judged. */
export function checkQuiescence(run: RunObservation, tasks: readonly TaskView[]): CheckReport {
  const book = new CheckBook('quiescence')
  for (const reason of run.unsettled) book.unjudged(reason)
  for (const log of run.logs.all()) {
    book.compared()
    if (log.lastStableOffset < log.highWatermark) {
      book.unjudged(
        `a transaction is open on ${formatTopicPartition(log)} from offset ${String(log.lastStableOffset)}: readers see nothing behind it`,
      )
    }
  }
  checkMissing(run, book)
  for (const { inputs } of tasks) {
    for (const { topicPartition, committed, log } of inputs) {
      book.compared()
      const name = formatTopicPartition(topicPartition)
      if (committed > log.highWatermark) {
        book.found(
          'beyond the end',
          `${name} is committed up to ${String(committed)} and ends at ${String(log.highWatermark)}: the topic was made anew or cut off`,
        )
      }
      const behind = log.records.filter(({ offset, fate }) => fate === 'committed' && offset >= committed).length
      if (behind > 0) book.unjudged(`${name} has ${String(behind)} records that are not processed yet (lag)`)
    }
  }
  return book.report()
}

/** Partitions that have a committed offset, and that the topic has not: it was made anew with fewer of them. */
function checkMissing(run: RunObservation, book: CheckBook): void {
  const inputs = new Set(inputTopics(run.application.plan))
  const commits = (run.offsetHistory?.commits ?? []).filter(({ fate }) => fate === 'committed')
  const held: TopicPartition[] = [...run.committed.keys(), ...commits.map(({ topicPartition }) => topicPartition)]
  const missing = held.filter(
    one => inputs.has(one.topic) && run.logs.has(one.topic) && run.logs.get(one) === undefined,
  )
  for (const name of new Set(missing.map(formatTopicPartition)))
    book.found('beyond the end', `${name} has a committed offset and does not exist: the topic was made anew`)
}
