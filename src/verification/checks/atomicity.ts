import { formatTopicPartition } from '../../model/topic-partition.ts'
import { missingNote } from '../observed-log.ts'
import type { OffsetCommit } from '../offset-history.ts'
import type { RunObservation } from '../run-observation.ts'
import { type MarkedRecord, placeOf, writtenTopics } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** Everything that was written under one number: outputs, changelog records and offsets. */
interface Transaction {
  readonly records: MarkedRecord[]
  readonly commits: OffsetCommit[]
}

/** I3: outputs, changelog records and offsets of one transaction are visible together, or none of them ever. */
export function checkAtomicity(run: RunObservation, marked: readonly MarkedRecord[]): CheckReport {
  const book = new CheckBook('atomicity')
  if (run.application.guarantee === 'exactly_once_v2') judgeOutside(run, book)
  judgeMarkers(run, book)
  if (marked.length === 0) {
    book.leftOut('no record carries provenance, so transactions cannot be told apart (streams: provenance.headers)')
    return book.report()
  }
  const { offsetHistory } = run
  if (offsetHistory === undefined)
    book.leftOut('whether offsets went with their records: __consumer_offsets may not be read')
  else if (!offsetHistory.isComplete)
    book.leftOut('whether offsets went with their records: __consumer_offsets has been cleaned')
  const missing = missingNote(writtenTopics(run).flatMap(topic => run.logs.of(topic)))
  if (missing !== undefined) book.leftOut(missing)
  for (const [number, transaction] of transactionsOf(marked, offsetHistory?.commits ?? [])) {
    book.compared()
    judgeRecords(book, number, transaction)
    if (run.application.guarantee !== 'exactly_once_v2') continue
    judgeOneTransaction(book, number, transaction)
    if (offsetHistory?.isComplete === true) judgeOffsets(book, number, transaction)
  }
  return book.report()
}

/** What was sent outside of transactions was visible before its offsets, or after them: that nothing went wrong was luck. */
function judgeOutside(run: RunObservation, book: CheckBook): void {
  for (const topic of writtenTopics(run)) {
    for (const { records } of run.logs.of(topic)) {
      const first = records.find(({ isTransactional }) => !isTransactional)
      if (first !== undefined) book.unjudged(`${placeOf(first)} was written outside of a transaction`)
    }
  }
  const commits = run.offsetHistory?.commits ?? []
  // Those of tools, which name no transaction of ours, are told by what they skip or repeat.
  const first = commits.find(({ transaction, producerId }) => transaction !== undefined && producerId < 0)
  if (first === undefined) return
  book.unjudged(
    `offset ${String(first.offset)} of ${formatTopicPartition(first.topicPartition)} was committed outside of a transaction`,
  )
}

/** What one marker ends is one transaction, of one epoch: others are of transactions whose own marker was forgotten. */
function judgeMarkers(run: RunObservation, book: CheckBook): void {
  for (const { records } of writtenTopics(run).flatMap(topic => run.logs.of(topic))) {
    const firsts = new Map<number, (typeof records)[number]>()
    for (const record of records) {
      if (!record.isTransactional || record.decidedAt === undefined) continue
      const first = firsts.get(record.decidedAt) ?? record
      firsts.set(record.decidedAt, first)
      if (first.producerEpoch === record.producerEpoch) continue
      book.found(
        'two epochs',
        `the marker at ${String(record.decidedAt)} ends ${placeOf(first)} of epoch ${String(first.producerEpoch)} and ${placeOf(record)} of epoch ${String(record.producerEpoch)}`,
      )
    }
  }
}

function judgeRecords(book: CheckBook, number: number, { records }: Transaction): void {
  const seen = records.find(({ record }) => record.fate === 'committed')
  const aborted = records.find(({ record }) => record.fate === 'aborted')
  const open = records.find(({ record }) => record.fate === 'open')
  if (seen === undefined) return
  if (aborted !== undefined) {
    book.found(
      'torn',
      `of transaction ${String(number)} ${placeOf(seen.record)} is visible and ${placeOf(aborted.record)} is aborted`,
    )
  } else if (open !== undefined) {
    // The markers of a transaction are written one after the other: this one may be on its way.
    book.unjudged(
      `of transaction ${String(number)} ${placeOf(seen.record)} is visible and ${placeOf(open.record)} is still open`,
    )
  }
}

/** One transaction of ours is one of the broker: one producer, one epoch, and one moment in each partition. */
function judgeOneTransaction(book: CheckBook, number: number, { records, commits }: Transaction): void {
  const writers = [...records.map(({ record }) => record), ...commits]
  const producers = new Set(writers.map(({ producerId: id, producerEpoch: epoch }) => `${String(id)}:${String(epoch)}`))
  if (producers.size > 1) {
    book.found(
      'two producers',
      `transaction ${String(number)} was written by the producers (id:epoch) ${[...producers].join(' and ')}`,
    )
  }
  const outside = records.find(({ record }) => !record.isTransactional)
  const isMixed = records.some(({ record }) => record.isTransactional) || commits.some(({ producerId: id }) => id >= 0)
  if (outside !== undefined && isMixed) {
    book.found('torn', `${placeOf(outside.record)} of transaction ${String(number)} was written outside of it`)
  }
  const moments = new Map<string, number>()
  for (const { record } of records) {
    if (!record.isTransactional || record.decidedAt === undefined) continue
    const partition = formatTopicPartition(record)
    const known = moments.get(partition) ?? record.decidedAt
    moments.set(partition, known)
    if (known === record.decidedAt) continue
    book.found(
      'torn',
      `transaction ${String(number)} was decided in two steps: in ${partition} at ${String(known)} and at ${String(record.decidedAt)}`,
    )
  }
}

function judgeOffsets(book: CheckBook, number: number, { records, commits }: Transaction): void {
  const seen = records.find(({ record }) => record.fate === 'committed')
  const aborted = records.find(({ record }) => record.fate === 'aborted')
  const fates = new Set(commits.map(({ fate }) => fate))
  const isCommitted = fates.has('committed')
  if (isCommitted && fates.has('aborted'))
    book.found('torn', `of the offsets of transaction ${String(number)} only some are committed`)
  if (seen !== undefined && !isCommitted) {
    const told = `${placeOf(seen.record)} is visible, and transaction ${String(number)} committed no offsets`
    if (fates.has('open')) book.unjudged(`${told} yet`)
    else book.found('torn', told)
  }
  if (aborted !== undefined && isCommitted) {
    book.found(
      'torn',
      `transaction ${String(number)} committed its offsets, and its record ${placeOf(aborted.record)} is aborted`,
    )
  }
}

function transactionsOf(
  marked: readonly MarkedRecord[],
  commits: readonly OffsetCommit[],
): ReadonlyMap<number, Transaction> {
  const transactions = new Map<number, Transaction>()
  const of = (number: number): Transaction => {
    const known = transactions.get(number) ?? { records: [], commits: [] }
    transactions.set(number, known)
    return known
  }
  for (const one of marked) of(one.provenance.transaction).records.push(one)
  for (const commit of commits) if (commit.transaction !== undefined) of(commit.transaction).commits.push(commit)
  return transactions
}
