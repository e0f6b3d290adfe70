import { systemClock } from '../../engine/system-clock.ts'
import type { Admin } from '../../kafka/admin/admin.ts'
import type { TransactionDescription } from '../../kafka/admin/transaction-admin.ts'
import { MillraceError } from '../../model/errors.ts'
import { formatTopicPartition } from '../../model/topic-partition.ts'
import { withCluster } from '../cluster-access.ts'
import type { CommandIo } from '../command-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { textTable } from '../text-table.ts'
import { ageText } from './age-text.ts'
import { loadCluster, type ClusterPlace } from './cluster-place.ts'
import { heldJson, heldPartitions, heldRecords, type HeldPartition } from './held-partitions.ts'
import { OwnerDirectory, ownerText, type OwnerGuess } from './owner-directory.ts'

/** A transactional id with all that is known of it. */
export interface DescribedTransaction {
  readonly description: TransactionDescription
  readonly owner: OwnerGuess | undefined
  /** Partitions on which its producer holds up readers. */
  readonly held: readonly HeldPartition[]
}

/** Looks at one transactional id. @throws MillraceError `NAME_UNKNOWN` */
export async function describeOne(
  admin: Admin,
  transactionalId: string,
  applicationId: string | undefined,
): Promise<DescribedTransaction> {
  const description = (await admin.describeTransactions([transactionalId])).get(transactionalId)
  if (description === undefined) {
    throw new MillraceError('NAME_UNKNOWN', {
      what: `The cluster knows no transactional id ${transactionalId}.`,
      action: '`millrace txn list --all` shows those there are.',
    })
  }
  const open = await admin.openTransactions(description.partitions)
  const own = open.filter(({ producerId }) => producerId === description.producerId)
  const owners = await OwnerDirectory.read(admin, applicationId)
  return { description, owner: await owners.of(transactionalId), held: await heldPartitions(admin, own) }
}

/** `millrace txn describe`. @returns the exit code */
export async function describeTransaction(
  place: ClusterPlace,
  transactionalId: string,
  format: 'text' | 'json',
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadCluster(place)
  const found = await withCluster(config, ({ admin }) => describeOne(admin, transactionalId, plan?.applicationId))
  io.out(format === 'json' ? JSON.stringify(jsonOf(found), undefined, 2) : describedText(found))
  return EXIT_CODES.ok
}

function jsonOf({ description, owner, held }: DescribedTransaction): object {
  const nowMs = systemClock.wallClockMs()
  const { startedAtMs } = description
  return {
    ...description,
    startedAtMs: startedAtMs < 0 ? null : startedAtMs,
    ageMs: startedAtMs < 0 ? null : nowMs - startedAtMs,
    owner: owner ?? null,
    held: held.map(each => heldJson(each, nowMs)),
  }
}

/** A transactional id for people. */
export function describedText({ description, owner, held }: DescribedTransaction): string {
  const { transactionalId, state, producerId, producerEpoch, timeoutMs, startedAtMs, partitions } = description
  const nowMs = systemClock.wallClockMs()
  const began =
    startedAtMs < 0 ? 'no transaction' : `${new Date(startedAtMs).toISOString()}, ${ageText(nowMs - startedAtMs)} ago`
  const lines = [
    ['transactional id', transactionalId],
    ['owner', ownerText(owner)],
    ['state', state],
    ['began', began],
    ['timeout', `${ageText(timeoutMs)} (its coordinator aborts it then)`],
    ['producer', `${String(producerId)}, epoch ${String(producerEpoch)}`],
  ]
  const rows = partitions.map(topicPartition => {
    const { topic, partition } = topicPartition
    const place = formatTopicPartition(topicPartition)
    const on = held.find(each => formatTopicPartition(each.topicPartition) === place)
    if (on === undefined) return [topic, String(partition), '-', '-', '-']
    return [topic, String(partition), String(on.startOffset), String(on.lastStableOffset), String(heldRecords(on))]
  })
  return [
    textTable(lines),
    ...(rows.length === 0
      ? []
      : ['', textTable([['topic', 'partition', 'from offset', 'readers are at', 'records held'], ...rows])]),
  ].join('\n')
}
