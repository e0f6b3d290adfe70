import { formatTopicPartition } from '../../model/topic-partition.ts'
import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** I6: a committed offset never goes back, neither in the group's own log nor before anybody's eyes. */
export function checkMonotony({ offsetHistory, history = [] }: RunObservation): CheckReport {
  const book = new CheckBook('monotony')
  const last = new Map<string, number>()
  const see = (name: string, offset: number, where: string): void => {
    book.compared()
    const before = last.get(name)
    if (before !== undefined && offset < before) {
      book.found('goes back', `${name} goes from ${String(before)} back to ${String(offset)} ${where}`)
    }
    last.set(name, offset)
  }
  for (const { topicPartition, offset, fate } of offsetHistory?.commits ?? []) {
    if (fate === 'committed') see(formatTopicPartition(topicPartition), offset, 'in the log of offsets')
  }
  for (const topicPartition of offsetHistory?.deleted ?? []) {
    book.found('deleted', `the committed offset of ${formatTopicPartition(topicPartition)} was deleted`)
  }
  last.clear()
  for (const event of history) {
    if (event.kind === 'committed') see(formatTopicPartition(event), event.offset, 'before an observer')
  }
  if (offsetHistory === undefined) book.leftOut('the commits of the group: __consumer_offsets may not be read')
  else if (!offsetHistory.isComplete) book.leftOut('the commits that __consumer_offsets was cleaned of')
  return book.report()
}
