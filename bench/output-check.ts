import { setTimeout as pause } from 'node:timers/promises'
import type { RecordCursor } from '../src/kafka/records/record-cursor.ts'
import { visitTopics } from '../test/support/topic-visitor.ts'
import type { FilledTopic } from './inputs.ts'
import type { WorkloadName } from './scenario.ts'

/** What a right output comes to. */
export interface Expected {
  readonly workload: WorkloadName
  readonly input: FilledTopic
  readonly tableValueBytes: number
  /** A cache lets only the last update of a key and commit through: the number of records is then not known. */
  readonly isCached: boolean
}

/** What an output comes to: its records, and a sum that depends on the workload. */
interface Tally {
  readonly records: number
  readonly sum: number
}

/** The markers of the last transaction may follow its offsets by a moment. */
const ATTEMPTS_MAX = 20
const PAUSE_MS = 100

/**
 * Reads an output as `read_committed` and compares what is there with what has to be.
 *
 * @returns how many records there are
 * @throws when anything is missing, doubled or wrong
 */
export async function checkOutput(bootstrapServers: string, topic: string, expected: Expected): Promise<number> {
  const wanted = tallyOf(expected)
  for (let attempt = 1; ; attempt += 1) {
    const found = await readTally(bootstrapServers, topic, expected.workload)
    const isRight = found.sum === wanted.sum && (found.records === wanted.records || expected.isCached)
    if (isRight) return found.records
    const isLate = found.records < wanted.records || expected.isCached
    if (!isLate || attempt === ATTEMPTS_MAX) throw new Error(`wrong output: ${differenceOf(wanted, found)}`)
    await pause(PAUSE_MS)
  }
}

function differenceOf(wanted: Tally, found: Tally): string {
  return (
    `${String(wanted.records)} records that come to ${String(wanted.sum)} were expected, ` +
    `${String(found.records)} that come to ${String(found.sum)} are there`
  )
}

function tallyOf({ workload, input, tableValueBytes }: Expected): Tally {
  const { records, valueBytes, paid } = input
  switch (workload) {
    case 'copy':
      return { records, sum: valueBytes }
    case 'json':
      return { records: paid.records, sum: paid.net }
    case 'join':
      return { records, sum: valueBytes + records * tableValueBytes }
    case 'count':
    case 'windowed':
      return { records, sum: records }
  }
}

async function readTally(bootstrapServers: string, topic: string, workload: WorkloadName): Promise<Tally> {
  let records = 0
  const count = counterFor(workload)
  await visitTopics(bootstrapServers, [topic], { timeoutMs: 120_000 }, (_topic, _partition, record) => {
    records += 1
    count.add(record)
  })
  return { records, sum: count.sum }
}

interface Counter {
  readonly sum: number
  add(record: RecordCursor): void
}

function counterFor(workload: WorkloadName): Counter {
  switch (workload) {
    case 'copy':
    case 'join':
      return new ByteCounter()
    case 'json':
      return new NetCounter()
    case 'count':
    case 'windowed':
      return new LastCounter()
  }
}

/** Bytes of all values. */
class ByteCounter implements Counter {
  sum = 0
  add({ valueBytes }: RecordCursor): void {
    this.sum += valueBytes
  }
}

/** What the orders come to after their fees. */
class NetCounter implements Counter {
  sum = 0
  add({ value }: RecordCursor): void {
    this.sum += netOf(JSON.parse(value?.toString() ?? 'null'))
  }
}

function netOf(payment: unknown): number {
  const isPayment = typeof payment === 'object' && payment !== null && 'net' in payment
  return isPayment && typeof payment.net === 'number' ? payment.net : Number.NaN
}

/** The last count of each key: together they come to all records, if every count grew by one at a time. */
export class LastCounter implements Counter {
  sum = 0
  readonly #last = new Map<string, number>()
  add({ key, value }: Pick<RecordCursor, 'key' | 'value'>): void {
    const name = key?.toString('latin1') ?? ''
    const count = Number(value?.readBigInt64BE() ?? 0n)
    this.sum += count - (this.#last.get(name) ?? 0)
    this.#last.set(name, count)
  }
}
