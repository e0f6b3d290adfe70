import { counted } from '../../model/counted.ts'
import { formatTopicPartition, sameTopicPartition } from '../../model/topic-partition.ts'
import type { OffsetCommit } from '../offset-history.ts'
import type { RunObservation } from '../run-observation.ts'
import { type InputView, type MarkedRecord, placeOf, type TaskView } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** What one transaction committed of one partition: the records from `from`, below `to`. */
interface CommittedRange {
  readonly transaction: number
  readonly from: number
  readonly to: number
}

/**
 * I2: each record was taken by the one transaction in whose range it lies. A commit names only where its range ends, so
 * the ranges of an input lie side by side from its beginning to C whatever happened: what can be refuted is that a
 * transaction's results follow from its own range. A record without any result says nothing of who took it; one whose
 * result is missing is told by `prefixFunction`. Without the log of commits the ranges are known by the results alone.
 */
export function checkTiling(
  run: RunObservation,
  tasks: readonly TaskView[],
  marked: readonly MarkedRecord[],
): CheckReport {
  const book = new CheckBook('tiling')
  const { offsetHistory } = run
  const byInput = effectsByInput(marked)
  if (marked.length === 0)
    book.leftOut('which transaction took which record: no record carries provenance (streams: provenance.headers)')
  for (const task of tasks) {
    checkPositions(task, marked, book)
    for (const input of task.inputs) {
      const name = formatTopicPartition(input.topicPartition)
      const effects = byInput.get(name) ?? []
      checkMetadata(run, input, book)
      if (offsetHistory?.isComplete === true) checkRanges(run, input, effects, book)
      checkIntervals(name, effects, book)
      for (const effect of effects) {
        book.compared()
        if (effect.offset >= input.committed) {
          book.found(
            'overlap',
            `${placeOf(effect.marked.record)} follows from ${name}@${String(effect.offset)}, which is not committed (C is ${String(input.committed)})`,
          )
        }
      }
    }
  }
  if (offsetHistory === undefined) book.leftOut('the range of each commit: __consumer_offsets may not be read')
  else if (!offsetHistory.isComplete) book.leftOut('the range of each commit: __consumer_offsets has been cleaned')
  return book.report()
}

/** Of several inputs none is ever read backwards: the positions that results name are a chain. */
function checkPositions({ id, inputs }: TaskView, marked: readonly MarkedRecord[], book: CheckBook): void {
  if (inputs.length < 2) return
  const places = marked.flatMap(one => {
    const { task, topic, offset, positions } = one.provenance
    if (one.record.fate !== 'committed' || task !== id || topic === '' || positions === undefined) return []
    const read = { ...positions, [topic]: offset }
    return [{ one, read, sum: Object.values(read).reduce((sum, position) => sum + position, 0) }]
  })
  let before: (typeof places)[number] | undefined
  for (const place of places.toSorted((a, b) => a.sum - b.sum)) {
    book.compared()
    const { read } = place
    const fallen = Object.entries(before?.read ?? {}).find(([topic, position]) => (read[topic] ?? 0) < position)
    if (before !== undefined && fallen !== undefined) {
      book.found(
        'order',
        `${placeOf(place.one.record)} was written with ${fallen[0]} read up to ${String(read[fallen[0]])}, and ${placeOf(before.one.record)}, which another input puts before it, up to ${String(fallen[1])}`,
      )
    }
    before = place
  }
}

interface Effect {
  readonly offset: number
  readonly transaction: number
  readonly marked: MarkedRecord
}

function effectsByInput(marked: readonly MarkedRecord[]): ReadonlyMap<string, readonly Effect[]> {
  const byInput = new Map<string, Effect[]>()
  for (const one of marked) {
    const { topic, partition, offset, transaction } = one.provenance
    if (one.record.fate !== 'committed' || topic === '') continue
    const name = formatTopicPartition({ topic, partition })
    const list = byInput.get(name) ?? []
    list.push({ offset, transaction, marked: one })
    byInput.set(name, list)
  }
  return byInput
}

function checkRanges(run: RunObservation, input: InputView, effects: readonly Effect[], book: CheckBook): void {
  const name = formatTopicPartition(input.topicPartition)
  const commits = (run.offsetHistory?.commits ?? []).filter(
    commit => commit.fate === 'committed' && sameTopicPartition(commit.topicPartition, input.topicPartition),
  )
  const ranges = rangesOf(commits, run.beginnings?.get(input.topicPartition) ?? 0)
  checkSteps(name, commits, book)
  checkStrangers(input, commits, book)
  const last = commits.at(-1)
  if (last !== undefined && last.offset !== input.committed) {
    book.found(
      'inconsistent offset',
      `${name}: the group says ${String(input.committed)}, its log ends with ${String(last.offset)}`,
    )
  }
  for (const { offset, transaction, marked } of effects) {
    const range = ranges.get(transaction)
    if (range === undefined) {
      book.found(
        'gap',
        `${placeOf(marked.record)} is of transaction ${String(transaction)}, which committed nothing of ${name}`,
      )
    } else if (offset < range.from || offset >= range.to) {
      book.found(
        'overlap',
        `${placeOf(marked.record)} follows from ${name}@${String(offset)}, outside the range ${String(range.from)} to ${String(range.to)} of its transaction ${String(transaction)}`,
      )
    }
  }
}

/** A transaction ends once: offsets that it committed a second time are of another one, under its number. */
function checkSteps(name: string, commits: readonly OffsetCommit[], book: CheckBook): void {
  const moments = new Map<number, OffsetCommit>()
  for (const commit of commits) {
    if (commit.transaction === undefined) continue
    const first = moments.get(commit.transaction) ?? commit
    moments.set(commit.transaction, first)
    if (first.decidedAt === commit.decidedAt) continue
    book.found(
      'two steps',
      `transaction ${String(commit.transaction)} committed ${name} up to ${String(first.offset)}, and later up to ${String(commit.offset)}`,
    )
  }
}

/** Offsets that something else committed: nothing says who took the records that they pass. */
function checkStrangers(
  { records, topicPartition }: InputView,
  commits: readonly OffsetCommit[],
  book: CheckBook,
): void {
  for (const [index, { transaction, offset }] of commits.entries()) {
    if (transaction !== undefined) continue
    const from = commits[index - 1]?.offset ?? 0
    const passed = records.filter(record => record.offset >= from && record.offset < offset)
    if (passed.length === 0) continue
    book.leftOut(
      `who took ${counted(passed.length, 'record')} of ${formatTopicPartition(topicPartition)} from ${String(from)} on: a tool or another client committed offset ${String(offset)}`,
    )
  }
}

function rangesOf(commits: readonly OffsetCommit[], beginning: number): ReadonlyMap<number, CommittedRange> {
  const ranges = new Map<number, CommittedRange>()
  let before: OffsetCommit | undefined
  for (const commit of commits) {
    const { transaction, offset } = commit
    // Offsets whose answer was lost are sent again in the same transaction: the log holds them twice, the range is one.
    const first = before !== undefined && isSentAgain(before, commit) ? ranges.get(transaction ?? -1) : undefined
    const from = first?.from ?? before?.offset ?? beginning
    if (transaction !== undefined) ranges.set(transaction, { transaction, from, to: offset })
    before = commit
  }
  return ranges
}

/** Whether both became valid by one marker, so in one transaction of the broker. */
function isSentAgain(before: OffsetCommit, commit: OffsetCommit): boolean {
  return (
    before.transaction === commit.transaction &&
    before.producerId === commit.producerId &&
    before.decidedAt === commit.decidedAt
  )
}

/** Without the log of offsets: what the transactions touched must be intervals that do not lie within each other. */
function checkIntervals(name: string, effects: readonly Effect[], book: CheckBook): void {
  const intervals = new Map<number, { min: number; max: number; at: MarkedRecord }>()
  for (const { offset, transaction, marked } of effects) {
    const known = intervals.get(transaction)
    if (known === undefined) intervals.set(transaction, { min: offset, max: offset, at: marked })
    else {
      known.min = Math.min(known.min, offset)
      known.max = Math.max(known.max, offset)
    }
  }
  const ordered = [...intervals].toSorted(([, a], [, b]) => a.min - b.min)
  for (const [index, [transaction, { min, at }]] of ordered.entries()) {
    const before = ordered[index - 1]
    if (before !== undefined && before[1].max >= min) {
      book.found(
        'overlap',
        `the transactions ${String(before[0])} and ${String(transaction)} both hold ${name} around ${String(min)}; see ${placeOf(at.record)}`,
      )
    }
  }
}

/** Our metadata name the offset they belong to; under exactly-once every commit is ours. */
function checkMetadata(run: RunObservation, { topicPartition, hasCommit }: InputView, book: CheckBook): void {
  const held = run.committed.get(topicPartition)
  if (!hasCommit || held === undefined) return
  if (held.metadata === '')
    book.leftOut(`${formatTopicPartition(topicPartition)} was committed without metadata, by a tool or another client`)
}
