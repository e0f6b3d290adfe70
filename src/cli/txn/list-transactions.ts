import { counted } from '../../model/counted.ts'
import { systemClock } from '../../engine/system-clock.ts'
import type { Admin } from '../../kafka/admin/admin.ts'
import type {
  ListedTransaction,
  TransactionDescription,
  TransactionSurvey,
} from '../../kafka/admin/transaction-admin.ts'
import { asMillraceError } from '../../model/errors.ts'
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

interface Listing {
  readonly rows: readonly Row[]
  /** What could not be learnt, a sentence each. */
  readonly gaps: readonly string[]
}

/** `millrace txn list`. @returns the exit code: 69 when only a part of the brokers could be asked */
export async function listTransactions(
  place: ClusterPlace,
  selection: ListSelection,
  format: 'text' | 'json',
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadCluster(place)
  const { rows, gaps } = await withCluster(config, ({ admin }) => read(admin, selection, plan?.applicationId))
  io.out(format === 'json' ? JSON.stringify({ transactions: rows.map(jsonOf), gaps }, undefined, 2) : textOf(rows))
  if (gaps.length === 0) return EXIT_CODES.ok
  if (format === 'text') for (const gap of gaps) io.err(gap)
  return EXIT_CODES.incomplete
}

async function read(
  admin: Admin,
  { states, prefix, all }: ListSelection,
  applicationId: string | undefined,
): Promise<Listing> {
  const survey = await admin.surveyTransactions({ states })
  const gaps = gapsOf(survey)
  const isWhole = gaps.length === 0
  const listed =
    prefix === undefined ? survey.listed : survey.listed.filter(each => each.transactionalId.startsWith(prefix))
  const descriptions = await admin.describeListedTransactions(listed).catch((error: unknown) => {
    if (isWhole) throw error
    gaps.push(`The transactions were not described: ${asMillraceError(error).message}`)
    return new Map<string, TransactionDescription>()
  })
  const owners = isWhole
    ? await OwnerDirectory.read(admin, applicationId)
    : OwnerDirectory.ofApplication(admin, applicationId)
  const rows: Row[] = []
  for (const each of listed) {
    const owner = await owners.of(each.transactionalId)
    if (applicationId !== undefined && !all && prefix === undefined && owner?.application !== applicationId) continue
    rows.push({ ...each, description: descriptions.get(each.transactionalId), owner })
  }
  return { rows: rows.toSorted((a, b) => (a.transactionalId < b.transactionalId ? -1 : 1)), gaps }
}

function gapsOf({ silent, leaderless }: TransactionSurvey): string[] {
  const gaps = silent.map(
    ({ nodeId, failure }) =>
      `Broker ${String(nodeId)} did not answer, so the transactional ids it coordinates are missing: ${failure.message}`,
  )
  if (leaderless.length > 0) {
    gaps.push(
      `Nobody coordinates the transactional ids in ${counted(leaderless.length, 'partition')} of __transaction_state, which have no leader: they are missing.`,
    )
  }
  return gaps
}

/** How long a transaction is open; the broker still tells when one began that is over. */
function ageMsOf({ description }: Row): number | undefined {
  const { startedAtMs = -1, state = '' } = description ?? {}
  return startedAtMs < 0 || state.startsWith('Complete') ? undefined : systemClock.wallClockMs() - startedAtMs
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
