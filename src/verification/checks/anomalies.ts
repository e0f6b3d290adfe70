import { formatTopicPartition } from '../../model/topic-partition.ts'
import { missingNote } from '../observed-log.ts'
import type { RunObservation } from '../run-observation.ts'
import { causeOf, type MarkedRecord, placeOf, type TaskView, writtenTopics } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * After Elle: transactions are nodes, records their writes, source records their reads. One cause may have each effect
 * once (duplicate); nobody reads what was never committed (G1a) or what itself depends on the reader (G1c). That two
 * writers' records lie mixed in a partition (G0) is legal.
 */
export function checkAnomalies(
  run: RunObservation,
  tasks: readonly TaskView[],
  marked: readonly MarkedRecord[],
): CheckReport {
  const book = new CheckBook('anomalies')
  if (marked.length === 0) {
    book.leftOut('no record carries provenance (streams: provenance.headers)')
    return book.report()
  }
  checkDuplicates(marked, book)
  if (run.application.hasProvenance) checkForeign(run, marked, book)
  checkDependencies(marked, book)
  checkTasks(tasks, marked, book)
  const missing = missingNote(writtenTopics(run).flatMap(topic => run.logs.of(topic)))
  if (missing !== undefined) book.leftOut(missing)
  return book.report()
}

/** One provenance id at two visible offsets. */
function checkDuplicates(marked: readonly MarkedRecord[], book: CheckBook): void {
  const seen = new Map<string, MarkedRecord>()
  for (const one of marked) {
    const { record, provenance } = one
    if (record.fate !== 'committed') continue
    const { task, topic, partition, offset, ordinal, transaction } = provenance
    book.compared()
    // A punctuation has no source record; within its transaction its effects are counted.
    const cause = topic === '' ? `txn ${String(transaction)}` : `${topic}-${String(partition)}@${String(offset)}`
    const id = `${task}/${cause}#${String(ordinal)}`
    const before = seen.get(id)
    if (before !== undefined) {
      book.found(
        'duplicate',
        `${placeOf(before.record)} and ${placeOf(record)} are the same effect of ${causeOf(provenance)}`,
      )
    }
    seen.set(id, one)
  }
}

/** Visible records in topics of the application that it did not write, though it marks all it writes. */
function checkForeign(run: RunObservation, marked: readonly MarkedRecord[], book: CheckBook): void {
  const own = new Map<string, Set<number>>()
  for (const { record } of marked) {
    const name = `${record.topic}-${String(record.partition)}`
    own.set(name, (own.get(name) ?? new Set()).add(record.offset))
  }
  for (const topic of new Set(marked.map(({ record }) => record.topic))) {
    for (const log of run.logs.of(topic)) {
      const offsets = own.get(`${topic}-${String(log.partition)}`)
      const foreign = log.records.find(({ fate, offset }) => fate === 'committed' && offsets?.has(offset) !== true)
      if (foreign !== undefined) {
        book.found(
          'foreign',
          `${placeOf(foreign)} was not written by this application: something else writes to ${topic}`,
        )
      }
    }
  }
}

/** A record is of a task of the application, which reads what the record follows from. */
function checkTasks(tasks: readonly TaskView[], marked: readonly MarkedRecord[], book: CheckBook): void {
  const inputs = new Map(
    tasks.map(({ id, inputs: list }) => [id, new Set(list.map(input => formatTopicPartition(input.topicPartition)))]),
  )
  for (const { record, provenance } of marked) {
    const { task, topic, partition } = provenance
    const read = inputs.get(task)
    if (read !== undefined && (topic === '' || read.has(formatTopicPartition({ topic, partition })))) continue
    const told = read === undefined ? 'which there is not' : `which does not read ${causeOf(provenance)}`
    book.found('foreign', `${placeOf(record)} names task ${task}, ${told}`)
  }
}

/** Reads of one transaction from another, through topics that the application writes and reads. */
function checkDependencies(marked: readonly MarkedRecord[], book: CheckBook): void {
  const writers = new Map(marked.map(one => [placeOf(one.record), one]))
  const reads = new Map<number, Set<number>>()
  for (const { record, provenance } of marked) {
    const source = writers.get(causeOf(provenance))
    if (source === undefined) continue
    const [reader, writer] = [provenance.transaction, source.provenance.transaction]
    if (record.fate === 'committed' && source.record.fate !== 'committed') {
      book.found(
        'G1a',
        `${placeOf(record)} is visible and follows from ${placeOf(source.record)}, which is ${source.record.fate}`,
      )
    }
    if (reader === writer) {
      book.found(
        'G1c',
        `transaction ${String(reader)} read its own record ${placeOf(source.record)} before it was committed`,
      )
    }
    reads.set(reader, (reads.get(reader) ?? new Set()).add(writer))
  }
  const cycle = findCycle(reads)
  if (cycle !== undefined) book.found('G1c', `transactions read from each other in a circle: ${cycle.join(' ← ')}`)
}

/** Some circle of a graph, as its nodes; without recursion, because chains are long. */
export function findCycle(edges: ReadonlyMap<number, ReadonlySet<number>>): readonly number[] | undefined {
  const done = new Set<number>()
  for (const start of edges.keys()) {
    const path: number[] = []
    const onPath = new Set<number>()
    const stack: { readonly node: number; readonly next: Iterator<number> }[] = []
    const enter = (node: number): void => {
      path.push(node)
      onPath.add(node)
      stack.push({ node, next: (edges.get(node) ?? new Set<number>()).values() })
    }
    if (!done.has(start)) enter(start)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const step = top.next.next()
      if (step.done === true) {
        done.add(top.node)
        onPath.delete(top.node)
        path.pop()
        stack.pop()
      } else if (step.value !== top.node && onPath.has(step.value)) {
        return [...path.slice(path.indexOf(step.value)), step.value]
      } else if (!done.has(step.value) && step.value !== top.node) enter(step.value)
    }
  }
  return undefined
}
