import { counted } from '../../model/counted.ts'
import type { StreamTableJoin, WindowJoin } from '../join-observation.ts'
import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * Joins against plain models of their own, besides the replay of the graph.
 *
 * @param isAtRest - while something waits to be processed, results that are missing may still come
 */
export function checkJoins({ joins = [] }: RunObservation, isAtRest: boolean): CheckReport {
  const book = new CheckBook('joins')
  if (joins.length === 0) book.notChecked('no independent model of a join was given')
  for (const join of joins) {
    const missing = join.kind === 'streamTable' ? checkStreamTable(join, book) : checkWindow(join, book)
    if (isAtRest) for (const what of missing) book.found('lost', what)
    else if (missing.length > 0) {
      book.unjudged(`${counted(missing.length, 'result')} missing, and the run has not come to rest`)
    }
  }
  return book.report()
}

/**
 * Each stream record has one result; the version of the table it names is the newest of its key that had been read before,
 * and versions that one partition uses never get older.
 *
 * @returns what is missing
 */
function checkStreamTable({ stream, table, results }: StreamTableJoin, book: CheckBook): readonly string[] {
  const byId = new Map(stream.map(record => [record.id, record]))
  const seen = new Set<string>()
  const position = new Map<number, number>()
  for (const { id, partition, tablePosition, version } of results) {
    book.compared()
    const record = byId.get(id)
    if (record === undefined) {
      book.found('unexplained', `a result of ${id}, which is no committed record of the stream`)
      continue
    }
    if (seen.has(id)) book.found('duplicate', `a second result of ${id}`)
    seen.add(id)
    const before = position.get(partition) ?? 0
    if (tablePosition < before) {
      book.found(
        'goes back',
        `the result of ${id} read the table up to ${String(tablePosition)}, an earlier one up to ${String(before)}`,
      )
    }
    position.set(partition, Math.max(before, tablePosition))
    const legal = table.findLast(
      row => row.key === record.key && row.partition === partition && row.offset < tablePosition,
    )
    const wanted = legal?.isDeletion === true ? undefined : legal?.offset
    if (wanted !== version) {
      book.found(
        'wrong version',
        `the result of ${id} used version ${String(version)} of ${record.key}, and ${String(wanted)} was the newest`,
      )
    }
  }
  return stream.filter(({ id }) => !seen.has(id)).map(({ id }) => `${id} has no result`)
}

/**
 * The set of pairs is that of all pairs within the window by event time, each exactly once.
 *
 * @returns what is missing
 */
function checkWindow({ left, right, beforeMs, afterMs, pairs, late }: WindowJoin, book: CheckBook): readonly string[] {
  const isLate = new Set(late)
  const rights = new Map<string, typeof right>()
  for (const record of right) rights.set(record.key, [...(rights.get(record.key) ?? []), record])
  const expected = new Set<string>()
  for (const { id, key, timestamp } of left) {
    for (const other of rights.get(key) ?? []) {
      const isWithin = other.timestamp >= timestamp - beforeMs && other.timestamp <= timestamp + afterMs
      if (isWithin && !isLate.has(id) && !isLate.has(other.id)) expected.add(`${id} × ${other.id}`)
    }
  }
  const seen = new Set<string>()
  for (const [leftId, rightId] of pairs) {
    book.compared()
    const pair = `${leftId} × ${rightId}`
    if (seen.has(pair)) book.found('duplicate', `the pair ${pair} a second time`)
    else if (!expected.has(pair) && !isLate.has(leftId) && !isLate.has(rightId)) {
      book.found('unexplained', `the pair ${pair} lies in no window`)
    }
    seen.add(pair)
  }
  return [...expected].filter(pair => !seen.has(pair)).map(pair => `the pair ${pair} is missing`)
}
