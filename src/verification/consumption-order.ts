import { sameTopicPartition } from '../model/topic-partition.ts'
import type { ObservedRecord } from './observed-log.ts'
import type { OffsetHistory } from './offset-history.ts'
import type { InputView, MarkedRecord, TaskView } from './task-view.ts'

/** One step of a task: it takes a record, or a commit ends an interval. */
export type Consumption = { readonly kind: 'record'; readonly record: ObservedRecord } | { readonly kind: 'commit' }

/** How far every input of a task was read at some moment, by topic. */
type Positions = ReadonlyMap<string, number>

interface Mark {
  readonly positions: Positions
  /** What comes at these positions: the record of this topic, or a commit. */
  readonly next: { readonly topic: string; readonly offset: number } | 'commit'
}

/**
 * The order in which a task took its records. With one input it is that of offsets. With several, every record that had
 * an effect names the positions of all of them, and so does every commit. What lies between two of these had no effect,
 * or has lost it: then only an order that the log cannot tell from the true one hides it.
 */
export function consumptionOrder(
  task: TaskView,
  marked: readonly MarkedRecord[],
  history: OffsetHistory | undefined,
): readonly Consumption[] {
  const marks = [...effectMarks(task, marked), ...(history === undefined ? [] : commitMarks(task, history))]
  // Positions of one task only grow, so their sum orders them; a commit comes before the record that follows it.
  const ordered = marks.toSorted((a, b) => sumOf(a.positions) - sumOf(b.positions) || rankOf(a) - rankOf(b))
  const feed = new Feed(task.inputs)
  for (const mark of ordered) {
    feed.takeBelow(mark.positions)
    if (mark.next === 'commit') feed.commit()
    else feed.takeThrough(mark.next)
  }
  feed.takeRest()
  return feed.order
}

function effectMarks(task: TaskView, marked: readonly MarkedRecord[]): readonly Mark[] {
  if (task.inputs.length < 2) return []
  const seen = new Set<string>()
  const marks: Mark[] = []
  for (const { record, provenance } of marked) {
    const { topic, offset, positions } = provenance
    if (record.fate !== 'committed' || provenance.task !== task.id || topic === '' || positions === undefined) continue
    const id = `${topic}@${String(offset)}`
    if (seen.has(id)) continue
    seen.add(id)
    marks.push({ positions: new Map([...Object.entries(positions), [topic, offset]]), next: { topic, offset } })
  }
  return marks
}

/** The positions of each commit; all inputs of a task are committed together. */
function commitMarks(task: TaskView, history: OffsetHistory): readonly Mark[] {
  const byTransaction = new Map<number, Map<string, number>>()
  for (const { topicPartition, transaction, offset, fate } of history.commits) {
    const isInput = task.inputs.some(input => sameTopicPartition(input.topicPartition, topicPartition))
    if (!isInput || fate !== 'committed' || transaction === undefined) continue
    const positions = byTransaction.get(transaction) ?? new Map<string, number>()
    positions.set(topicPartition.topic, offset)
    byTransaction.set(transaction, positions)
  }
  return Array.from(byTransaction.values(), positions => ({ positions, next: 'commit' as const }))
}

function sumOf(positions: Positions): number {
  let sum = 0
  for (const position of positions.values()) sum += position
  return sum
}

function rankOf({ next }: Mark): number {
  return next === 'commit' ? 0 : 1
}

/** The inputs, taken record by record. */
class Feed {
  readonly order: Consumption[] = []
  readonly #inputs: ReadonlyMap<string, InputView>
  readonly #taken = new Map<string, number>()

  constructor(inputs: readonly InputView[]) {
    this.#inputs = new Map(inputs.map(input => [input.topicPartition.topic, input]))
  }

  takeBelow(positions: Positions): void {
    for (const [topic, position] of positions) this.#take(topic, position)
  }

  takeThrough({ topic, offset }: { readonly topic: string; readonly offset: number }): void {
    this.#take(topic, offset + 1)
  }

  takeRest(): void {
    for (const topic of this.#inputs.keys()) this.#take(topic, Number.POSITIVE_INFINITY)
  }

  commit(): void {
    this.order.push({ kind: 'commit' })
  }

  #take(topic: string, end: number): void {
    const records = this.#inputs.get(topic)?.records ?? []
    let at = this.#taken.get(topic) ?? 0
    for (let record = records[at]; record !== undefined && record.offset < end; record = records[at]) {
      this.order.push({ kind: 'record', record })
      at += 1
    }
    this.#taken.set(topic, at)
  }
}
