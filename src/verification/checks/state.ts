import type { ExpectedRecord, ModelRun } from '../model-run.ts'
import { type ObservedPartition, visible } from '../observed-log.ts'
import { hex, shown } from '../record-identity.ts'
import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

type Entries = ReadonlyMap<string, { readonly key: Buffer; readonly value: Buffer }>

/** I4: what the changelog folds to = the state that the model has after the same input = the local store, where it was dumped. */
export function checkState(run: RunObservation, models: readonly ModelRun[]): CheckReport {
  const book = new CheckBook('state')
  for (const { task, written, obstacles } of models) {
    for (const { name, changelogTopic, sourceTopicIsChangelog } of task.plan.stores) {
      if (changelogTopic === undefined || sourceTopicIsChangelog) {
        book.notChecked(`the store ${name} has no changelog of its own`)
        continue
      }
      const log = run.logs.get({ topic: changelogTopic, partition: task.partition })
      const where = `${name} of task ${task.id}`
      const folded = log === undefined ? new Map() : foldLog(log)
      const isCut = (log?.logStart ?? 0) > 0
      const model = obstacles.length > 0 || isCut ? undefined : foldModel(written, changelogTopic, task.partition)
      if (model === undefined) book.leftOut(`the state of ${where} cannot be computed again`)
      else compare(book, where, { model, changelog: folded }, openKeys(log))
      const dump = run.stores?.find(({ store, partition }) => store === name && partition === task.partition)
      if (dump !== undefined) {
        const entries = new Map(dump.entries.map(([key, value]) => [hex(key), { key, value }]))
        compare(book, where, { changelog: folded, 'local store': entries }, openKeys(log))
      }
    }
  }
  return book.report()
}

/** The newest value of each key; a deletion takes the key away. */
function foldLog(log: ObservedPartition): Entries {
  return fold(visible(log))
}

/** Keys of which a transaction that has no end yet holds a value: its marker may be on its way. */
function openKeys(log: ObservedPartition | undefined): ReadonlySet<string> {
  return new Set(log?.records.flatMap(({ fate, key }) => (fate === 'open' ? [hex(key)] : [])))
}

function foldModel(written: readonly ExpectedRecord[], topic: string, partition: number): Entries {
  return fold(written.filter(record => record.topic === topic && record.partition === partition))
}

function fold(records: readonly { readonly key: Buffer | null; readonly value: Buffer | null }[]): Entries {
  const entries = new Map<string, { readonly key: Buffer; readonly value: Buffer }>()
  for (const { key, value } of records) {
    if (key === null) continue
    if (value === null) entries.delete(hex(key))
    else entries.set(hex(key), { key, value })
  }
  return entries
}

function compare(
  book: CheckBook,
  where: string,
  sides: Readonly<Record<string, Entries>>,
  open: ReadonlySet<string>,
): void {
  const [[leftName, left], [rightName, right]] = twoOf(Object.entries(sides))
  for (const id of new Set([...left.keys(), ...right.keys()])) {
    book.compared()
    const [a, b] = [left.get(id), right.get(id)]
    if (a !== undefined && b !== undefined && a.value.equals(b.value)) continue
    if (open.has(id)) {
      book.unjudged(`the changelog of ${where} ends in a transaction that is still open`)
      continue
    }
    book.found(
      'state differs',
      `${where}, key ${shown(a?.key ?? b?.key ?? null)}: ${leftName} ${shown(a?.value ?? null)}, ${rightName} ${shown(b?.value ?? null)}`,
    )
  }
}

function twoOf(
  sides: readonly (readonly [string, Entries])[],
): readonly [readonly [string, Entries], readonly [string, Entries]] {
  const [first = ['', new Map()] as const, second = ['', new Map()] as const] = sides
  return [first, second]
}
