import { systemClock } from '../../engine/system-clock.ts'
import type { ListedTransaction, TransactionDescription } from '../../kafka/admin/transaction-admin.ts'
import { withCluster } from '../cluster-access.ts'
import type { CommandIo } from '../command-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { textTable } from '../text-table.ts'
import { ageText } from './age-text.ts'
import { loadCluster, type ClusterPlace } from './cluster-place.ts'
import { OwnerDirectory, type OwnerGuess } from './owner-directory.ts'

/** Which transactional ids `txn list` shows. */
export interface ListSelection {
  /** States such as `Ongoing`; all when empty. */
  readonly states: readonly string[]
  /** Only ids that begin so; instead of those of the application. */
  readonly prefix: string | undefined
  /** Those of all applications and producers of the cluster. */
  readonly all: boolean
}

interface Row extends ListedTransaction {
  readonly description: TransactionDescription | undefined
  readonly owner: OwnerGuess | undefined
}

/** `millrace txn list`. @returns the exit code */
export async function listTransactions(
  place: ClusterPlace,
  { states, prefix, all }: ListSelection,
  format: 'text' | 'json',
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadCluster(place)
  const applicationId = plan?.applicationId
  const rows = await withCluster(config, async ({ admin }) => {
    const listed = await admin.listTransactions({ states })
    const named = prefix === undefined ? listed : listed.filter(each => each.transactionalId.startsWith(prefix))
    const descriptions = await admin.describeListedTransactions(named)
    const owners = await OwnerDirectory.read(admin, applicationId)
    const found: Row[] = []
    for (const each of named) {
      const owner = await owners.of(each.transactionalId)
      if (applicationId !== undefined && !all && prefix === undefined && owner?.application !== applicationId) continue
      found.push({ ...each, description: descriptions.get(each.transactionalId), owner })
    }
    return found.toSorted((a, b) => (a.transactionalId < b.transactionalId ? -1 : 1))
  })
  io.out(format === 'json' ? JSON.stringify({ transactions: rows.map(jsonOf) }, undefined, 2) : textOf(rows))
  return EXIT_CODES.ok
}

function ageMsOf({ description }: Row): number | undefined {
  const startedAtMs = description?.startedAtMs ?? -1
  return startedAtMs < 0 ? undefined : systemClock.wallClockMs() - startedAtMs
}

function jsonOf(row: Row): object {
  const { transactionalId, producerId, state, coordinator, description, owner } = row
  return {
    transactionalId,
    producerId,
    producerEpoch: description?.producerEpoch ?? null,
    // As of the second look, so that it belongs to the age.
    state: description?.state ?? state,
    ageMs: ageMsOf(row) ?? null,
    timeoutMs: description?.timeoutMs ?? null,
    partitions: description?.partitions ?? [],
    coordinator,
    application: owner?.application ?? null,
    instance: owner?.instance ?? null,
    member: owner?.member ?? null,
    host: owner?.host ?? null,
  }
}

function textOf(rows: readonly Row[]): string {
  if (rows.length === 0) return 'No transactional ids.'
  return textTable([
    ['transactional id', 'producer', 'epoch', 'state', 'open for', 'timeout', 'partitions', 'coordinator', 'owner'],
    ...rows.map(row => {
      const { transactionalId, producerId, state, coordinator, description, owner } = row
      const ageMs = ageMsOf(row)
      return [
        transactionalId,
        String(producerId),
        description === undefined ? '?' : String(description.producerEpoch),
        description?.state ?? state,
        ageMs === undefined ? '-' : ageText(ageMs),
        description === undefined ? '?' : ageText(description.timeoutMs),
        description === undefined ? '?' : String(description.partitions.length),
        `broker ${String(coordinator)}`,
        owner === undefined ? '-' : `${owner.application} ${owner.instance}${owner.member === 'gone' ? ' (gone)' : ''}`,
      ]
    }),
  ])
}
