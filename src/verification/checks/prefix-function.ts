import { counted } from '../../model/counted.ts'
import { formatTopicPartition } from '../../model/topic-partition.ts'
import type { ExpectedRecord, ModelRun } from '../model-run.ts'
import { type Keyed, notCleaned } from '../cleaned-records.ts'
import { missingOffsets, type ObservedPartition, type ObservedRecord, visible } from '../observed-log.ts'
import { hex, identityOf, shown } from '../record-identity.ts'
import type { RunObservation } from '../run-observation.ts'
import { differenceOf, type SequenceDifference, shuffleFault } from '../sequence-difference.ts'
import { markedRecords, placeOf } from '../task-view.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** Partition of records that may be in any, because they have no key. */
const ANY = -1

/**
 * I1: what is visible of a task is what its graph makes of its input below C, no more, no less, byte for byte. Every
 * intermediate value counts, in its order; a missing tail shows because the number of values follows from the input.
 */
export function checkPrefixFunction(run: RunObservation, models: readonly ModelRun[]): CheckReport {
  const book = new CheckBook('prefixFunction')
  for (const { obstacles } of models) for (const obstacle of obstacles) book.unjudged(obstacle)
  for (const { task, obstacles } of models) {
    if (task.inputs.length < 2 || obstacles.length > 0 || run.offsetHistory?.isComplete === true) continue
    book.leftOut(
      `task ${task.id} reads ${String(task.inputs.length)} inputs, and only results tell in which order: what a lost one would have shown is hidden with it, because the commits cannot be read whole`,
    )
  }
  for (const { failure, task } of models) {
    if (failure !== undefined) {
      book.found('stopped', `task ${task.id} committed its input, but its graph stops within it: ${failure}`)
    }
  }
  const judged = models.filter(({ obstacles }) => obstacles.length === 0)
  const inputs = models.reduce(
    (sum, { task }) => sum + task.inputs.reduce((n, { records }) => n + records.length, 0),
    0,
  )
  if (inputs === 0) book.unjudged('no input record is committed: there is nothing to judge')
  if (inputs > 0 && judged.length === models.length && judged.every(({ written }) => written.length === 0)) {
    book.unjudged('none of the committed input has a result: there is nothing to compare')
  }
  for (const topic of topicsToJudge(run, judged)) {
    // Where one writer cannot be computed, what it wrote cannot be told from what is wrong.
    if (models.some(({ obstacles, task }) => obstacles.length > 0 && mayWrite(run, task.plan.id, topic))) continue
    judgeTopic(run, topic, judged, book)
  }
  return book.report()
}

/** Topics that tasks write: those the model wrote to, and those that the graph names, which may have to be empty. */
function topicsToJudge(run: RunObservation, models: readonly ModelRun[]): readonly string[] {
  const topics = new Set(models.flatMap(({ written }) => written.map(({ topic }) => topic)))
  for (const { plan } of models.map(({ task }) => task)) {
    for (const topic of namedTopics(run, plan.id)) topics.add(topic)
  }
  return [...topics]
}

function namedTopics({ application }: RunObservation, subtopology: number): readonly string[] {
  const plan = application.plan.subtopologies.find(({ id }) => id === subtopology)
  if (plan === undefined) return []
  const letters = [application.policies.deadLetterTopic, ...plan.sources.map(({ errors }) => errors?.deadLetterTopic)]
  return [
    ...plan.sinkTopics,
    ...plan.repartitionTopics.map(({ topic }) => topic),
    ...plan.stores.flatMap(({ changelogTopic, sourceTopicIsChangelog }) =>
      changelogTopic === undefined || sourceTopicIsChangelog ? [] : [changelogTopic],
    ),
    ...letters.filter(topic => topic !== undefined),
  ]
}

function mayWrite(run: RunObservation, subtopology: number, topic: string): boolean {
  const plan = run.application.plan.subtopologies.find(({ id }) => id === subtopology)
  return plan?.hasDynamicSinks === true || namedTopics(run, subtopology).includes(topic)
}

function judgeTopic(run: RunObservation, topic: string, models: readonly ModelRun[], book: CheckBook): void {
  const expected = models.flatMap(({ task, written }) =>
    written.filter(record => record.topic === topic).map(record => ({ task: task.id, record })),
  )
  const logs = run.logs.of(topic)
  if (logs.length === 0) {
    if (expected.length > 0)
      book.found('lost', `the topic ${topic} is gone, and ${String(expected.length)} records belong in it`)
    return
  }
  const keyless = expected.filter(({ record }) => record.partition === undefined)
  if (keyless.length > 0) {
    const found = logs.flatMap(log => visible(log).filter(({ key }) => key === null))
    if (compare(run, { topic, partition: ANY }, keyless, { found, logs, book, ordered: false })) {
      for (const log of logs)
        compareKeylessOrder(keyless, { found: visible(log).filter(({ key }) => key === null), book })
    }
  }
  for (const log of logs) {
    if (cannotJudge(log, book)) continue
    const here = expected.filter(({ record }) => record.partition === log.partition)
    const found = visible(log).filter(({ key }) => key !== null || keyless.length === 0)
    const writers = new Set(here.map(({ task }) => task))
    const place = { topic, partition: log.partition }
    if (isWrittenInSets(run, topic)) {
      const [expectedByKey, foundByKey] = [byKey(here, ({ record }) => record.key), byKey(found, ({ key }) => key)]
      compare(run, place, expectedByKey, { found: foundByKey, logs: [log], book, ordered: true })
      continue
    }
    if (writers.size < 2) {
      compare(run, place, here, { found, logs: [log], book, ordered: true })
      continue
    }
    const byTask = run.application.hasProvenance ? foundByTask(run, log, found) : undefined
    if (byTask === undefined) {
      const isComplete = compare(run, place, here, { found, logs: [log], book, ordered: false })
      if (isComplete) compareOrder(topic, here, { found, book })
      continue
    }
    for (const task of new Set([...writers, ...byTask.keys()])) {
      const mine = here.filter(one => one.task === task)
      compare(run, place, mine, { found: byTask.get(task) ?? [], logs: [log], book, ordered: true })
    }
  }
}

/**
 * Whether the topic is the changelog of a suppress buffer. A commit writes its changed keys in the order of a Java hash set,
 * whose size a restart forgets: only the order of each key's own records follows from the input.
 */
function isWrittenInSets({ application }: RunObservation, topic: string): boolean {
  return application.plan.subtopologies.some(({ stores }) =>
    stores.some(({ kind, changelogTopic }) => kind === 'suppress' && changelogTopic === topic),
  )
}

/** Those of each key together, in their order. */
function byKey<T>(items: readonly T[], keyOf: (item: T) => Buffer | null): readonly T[] {
  const texts = new Map(items.map(item => [item, keyOf(item)?.toString('latin1') ?? '']))
  const textOf = (item: T): string => texts.get(item) ?? ''
  return items.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b))))
}

function cannotJudge(log: ObservedPartition, book: CheckBook): boolean {
  if (log.logStart === 0) return false
  book.unjudged(
    `${formatTopicPartition(log)} begins at offset ${String(log.logStart)}: what was written before it is gone`,
  )
  return true
}

/** What each task wrote, by provenance; records without go to the task of no name, which nothing expects. */
function foundByTask(
  run: RunObservation,
  log: ObservedPartition,
  found: readonly ObservedRecord[],
): ReadonlyMap<string, readonly ObservedRecord[]> {
  const taskOf = new Map(markedRecords(run, log).map(({ record, provenance }) => [record.offset, provenance.task]))
  const byTask = new Map<string, ObservedRecord[]>()
  for (const record of found) {
    const task = taskOf.get(record.offset) ?? ''
    const list = byTask.get(task)
    if (list === undefined) byTask.set(task, [record])
    else list.push(record)
  }
  return byTask
}

interface Expected {
  readonly task: string
  readonly record: ExpectedRecord
}

interface Found {
  readonly found: readonly ObservedRecord[]
  readonly logs: readonly ObservedPartition[]
  readonly book: CheckBook
  readonly ordered: boolean
}

/** How records are told apart: without their time, where the wall clock or the broker stamps them. */
function identification(
  expected: readonly Expected[],
  found: readonly ObservedRecord[],
): (record: Parameters<typeof identityOf>[0]) => string {
  const isStamped =
    expected.some(({ record }) => record.timestamp === undefined) ||
    found.some(({ isStampedByBroker }) => isStampedByBroker)
  return isStamped ? record => identityOf({ ...record, timestamp: undefined }) : identityOf
}

/** Where the broker stamps only some, as after a change of the topic, the others still have the times of their writer. */
function ownTimeFaults(
  expected: readonly Expected[],
  found: readonly ObservedRecord[],
  idOf: ReturnType<typeof identification>,
): readonly ObservedRecord[] {
  const own = found.filter(({ isStampedByBroker }) => !isStampedByBroker)
  const isMixed = own.length > 0 && own.length < found.length
  if (!isMixed || expected.some(({ record }) => record.timestamp === undefined)) return []
  const open = new Map<string, number>()
  for (const { record } of expected) open.set(identityOf(record), (open.get(identityOf(record)) ?? 0) + 1)
  const known = new Set(expected.map(({ record }) => idOf(record)))
  return own.filter(record => {
    const left = open.get(identityOf(record)) ?? 0
    open.set(identityOf(record), left - 1)
    // What is not expected at any time is told already.
    return left <= 0 && known.has(idOf(record))
  })
}

/** @returns whether both hold the same, whatever the order */
function compare(
  run: RunObservation,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  expected: readonly Expected[],
  { found, logs, book, ordered }: Found,
): boolean {
  const idOf = identification(expected, found)
  const difference = differenceOf(
    expected.map(item => ({ id: idOf(item.record), item })),
    found.map(item => ({ id: idOf(item), item })),
    { ordered },
  )
  book.compared(expected.length)
  const uncleaned = withoutCleaned(difference, expected, { found, logs, ordered }, idOf)
  const lost = withoutOpen(uncleaned, { idOf, logs, book })
  const place = partition === ANY ? topic : `${topic}-${String(partition)}`
  const cleaned = difference.lost.length - uncleaned.length
  if (cleaned > 0) book.leftOut(`${counted(cleaned, 'record')} of ${place}, which the cleaner may have taken`)
  const told = globalsNote(run, expected)
  if (told !== undefined && (lost.length > 0 || difference.unexplained.length > 0)) {
    book.unjudged(told)
    return false
  }
  for (const { task, record } of lost) {
    book.found(
      'lost',
      `${place} lacks ${described(record)}, which task ${task} had to write for ${placeOf(record.cause)}`,
    )
  }
  for (const record of ownTimeFaults(expected, found, idOf)) {
    book.found('unexplained', `${placeOf(record)} holds ${described(record)} with a time that no committed input gives`)
  }
  for (const record of difference.duplicated) {
    book.found('duplicate', `${placeOf(record)} repeats ${described(record)}`)
  }
  for (const record of difference.unexplained) {
    book.found('unexplained', `${placeOf(record)} holds ${described(record)}, which follows from no committed input`)
  }
  const fallen = ordered ? (difference.outOfOrder ?? orderFault(difference, expected, found, idOf)) : undefined
  if (fallen !== undefined) {
    book.found('order', `${placeOf(fallen)} is not where it belongs: another record comes first`)
  }
  return difference.lost.length + difference.duplicated.length + difference.unexplained.length === 0
}

/** Where some is missing for a good reason, what is left has its order all the same: each fits behind the one before. */
function orderFault(
  { lost, duplicated, unexplained }: SequenceDifference<Expected, ObservedRecord>,
  expected: readonly Expected[],
  found: readonly ObservedRecord[],
  idOf: ReturnType<typeof identification>,
): ObservedRecord | undefined {
  if (lost.length === 0 || duplicated.length + unexplained.length > 0) return undefined
  let next = 0
  for (const record of found) {
    const id = idOf(record)
    while (next < expected.length) {
      const one = expected[next]
      if (one !== undefined && idOf(one.record) === id) break
      next += 1
    }
    if (next >= expected.length) return record
    next += 1
  }
  return undefined
}

/** What stands in a transaction that has no end yet may still become visible: its marker may be on its way. */
function withoutOpen(
  lost: readonly Expected[],
  { idOf, logs, book }: Pick<Found, 'logs' | 'book'> & { readonly idOf: ReturnType<typeof identification> },
): readonly Expected[] {
  if (lost.length === 0) return lost
  const open = new Map<string, number>()
  for (const record of logs.flatMap(({ records }) => records.filter(({ fate }) => fate === 'open')))
    open.set(idOf(record), (open.get(idOf(record)) ?? 0) + 1)
  return lost.filter(({ record }) => {
    const left = open.get(idOf(record)) ?? 0
    if (left === 0) return true
    open.set(idOf(record), left - 1)
    book.unjudged(`${record.topic} holds results of committed input in a transaction that is still open`)
    return false
  })
}

/** The cleaner takes records of which a later one of the same key exists; each leaves a hole in the offsets. */
function withoutCleaned(
  { lost, duplicated, unexplained }: SequenceDifference<Expected, ObservedRecord>,
  expected: readonly Expected[],
  { found, logs, ordered }: Pick<Found, 'found' | 'logs' | 'ordered'>,
  idOf: ReturnType<typeof identification>,
): readonly Expected[] {
  if (lost.length === 0 || !logs.every(({ isCompacted }) => isCompacted)) return lost
  const holes = logs.reduce((sum, log) => sum + missingOffsets(log), 0)
  if (lost.length > holes) return lost
  if (ordered && duplicated.length + unexplained.length === 0) {
    const keyed = (record: Parameters<typeof identityOf>[0]): Omit<Keyed<Expected>, 'item'> => ({
      id: idOf(record),
      key: identityKey(record),
      isDeletion: record.value === null,
    })
    return notCleaned(
      expected.map(item => ({ ...keyed(item.record), item })),
      found.map(keyed),
    )
  }
  // Of several writers nobody knows who was last; the newest of each is not taken.
  const last = new Map(expected.map(one => [identityKey(one.record), one]))
  return lost.filter(one => last.get(identityKey(one.record)) === one && one.record.value !== null)
}

function identityKey({ key }: { readonly key: Buffer | null }): string {
  return hex(key)
}

/** A global table is read as it is at the end; a task may have seen an earlier state of it. */
function globalsNote(run: RunObservation, expected: readonly Expected[]): string | undefined {
  const tasks = new Set(expected.map(({ task }) => Number(task.split('_')[0])))
  const tables = run.application.plan.subtopologies
    .filter(({ id }) => tasks.has(id))
    .flatMap(({ globalTables }) => globalTables.map(({ topic }) => topic))
  return tables.length === 0
    ? undefined
    : `the results differ from those with the global table of today (${tables.join(', ')}), which may have been another then`
}

/** Without provenance the writers of a partition cannot be told apart, but each of them wrote its own records in order. */
function compareOrder(
  topic: string,
  expected: readonly Expected[],
  { found, book }: Pick<Found, 'found' | 'book'>,
): void {
  const idOf = identification(expected, found)
  const byTask = new Map<string, string[]>()
  for (const { task, record } of expected) {
    const list = byTask.get(task)
    if (list === undefined) byTask.set(task, [idOf(record)])
    else list.push(idOf(record))
  }
  const at = shuffleFault(found.map(idOf), [...byTask.values()])
  if (at === 'unknown')
    book.leftOut(`the order within ${topic}, where several tasks write the same (needs provenance.headers)`)
  const fault = typeof at === 'number' ? found[at] : undefined
  if (fault !== undefined) book.found('order', `${placeOf(fault)} is not where it belongs: no writer had it next`)
}

/** Records without a key may be in any partition, but in each of them those of one task stand in the order of writing. */
function compareKeylessOrder(expected: readonly Expected[], { found, book }: Pick<Found, 'found' | 'book'>): void {
  const idOf = identification(expected, found)
  const places = new Map<string, { readonly task: string; readonly at: number } | 'several'>()
  for (const [at, { task, record }] of expected.entries()) {
    const id = idOf(record)
    places.set(id, places.has(id) ? 'several' : { task, at })
  }
  const last = new Map<string, number>()
  for (const record of found) {
    const place = places.get(idOf(record))
    // Of equal records nobody can tell which is which.
    if (place === undefined || place === 'several') continue
    if (place.at < (last.get(place.task) ?? -1)) {
      book.found('order', `${placeOf(record)} is not where it belongs: task ${place.task} wrote it before another one`)
      return
    }
    last.set(place.task, place.at)
  }
}

function described({ key, value }: { readonly key: Buffer | null; readonly value: Buffer | null }): string {
  return `${shown(key)} = ${shown(value)}`
}
