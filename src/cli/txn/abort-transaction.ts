import { counted } from '../../model/counted.ts'
import type { Admin } from '../../kafka/admin/admin.ts'
import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import { withCluster } from '../cluster-access.ts'
import type { CommandIo } from '../command-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { loadCluster, type ClusterPlace } from './cluster-place.ts'
import { describedText, describeOne, type DescribedTransaction } from './describe-transaction.ts'
import { heldPartitions, heldRecords, type HeldPartition } from './held-partitions.ts'

/** Which transaction to end: that of an id, or one that hangs on a partition. */
export type AbortTarget =
  { readonly transactionalId: string } | { readonly topicPartition: TopicPartition; readonly startOffset: number }

const NOTHING_CHANGED = '\nNothing was changed. Add --execute to do it.'

/** `millrace txn abort`. @returns the exit code */
export async function abortTransaction(
  place: ClusterPlace,
  target: AbortTarget,
  { execute }: { readonly execute: boolean },
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadCluster(place)
  await withCluster(config, async ({ admin }) => {
    if ('transactionalId' in target) {
      await abortById(admin, await describeOne(admin, target.transactionalId, plan?.applicationId), execute, io)
    } else await abortOnPartition(admin, await hangingAt(admin, target.topicPartition, target.startOffset), execute, io)
  })
  return EXIT_CODES.ok
}

async function abortById(
  admin: Admin,
  described: DescribedTransaction,
  execute: boolean,
  io: CommandIo,
): Promise<void> {
  const { transactionalId, state } = described.description
  io.out(describedText(described))
  if (state !== 'Ongoing') {
    io.out(
      state.startsWith('Prepare')
        ? `\nNothing to abort: its coordinator is ending it already (${state}).`
        : `\nNothing to abort: ${transactionalId} has no transaction open. One that hangs on a partition is named by --topic, --partition and --start-offset.`,
    )
    return
  }
  io.out(`\n${consequencesOf(described)}`)
  if (!execute) {
    io.out(NOTHING_CHANGED)
    return
  }
  await admin.fenceTransaction(transactionalId)
  const after = (await admin.describeTransactions([transactionalId])).get(transactionalId)
  io.out(`\nDone. ${transactionalId} is ${after?.state ?? 'gone'}; its records are invisible, and readers go on.`)
}

function consequencesOf({ owner, description: { partitions } }: DescribedTransaction): string {
  const lines = [
    `To abort it makes its records on ${counted(partitions.length, 'partition')} invisible for ever, and takes back the offsets in it; read_committed readers go on behind them.`,
    'Its producer is fenced: what it does next with this id fails.',
  ]
  if (owner?.member === 'alive') {
    lines.push(
      'Its owner seems to be alive. An application of millrace takes a new epoch and processes the same input again, with nothing lost or doubled; other producers may have to be restarted.',
    )
  } else {
    lines.push('The input it was made of is processed again by whoever reads it next.')
  }
  return lines.join('\n')
}

/** @throws MillraceError `NAME_UNKNOWN` when nothing is open there, `CONFIG_CONFLICT` when a coordinator will end it */
async function hangingAt(admin: Admin, topicPartition: TopicPartition, startOffset: number): Promise<HeldPartition> {
  const open = await admin.openTransactions([topicPartition])
  const wanted = open.find(each => each.startOffset === startOffset)
  if (wanted === undefined) {
    const offsets = open.map(each => String(each.startOffset))
    throw new MillraceError('NAME_UNKNOWN', {
      ...topicPartition,
      what: `No transaction is open from offset ${String(startOffset)} on.`,
      action: offsets.length === 0 ? 'None is open there.' : `Open there are those from ${offsets.join(', ')} on.`,
    })
  }
  if (!wanted.hanging && wanted.owner !== undefined) {
    throw new MillraceError('CONFIG_CONFLICT', {
      ...topicPartition,
      what: `The transaction from offset ${String(startOffset)} on does not hang: its coordinator has it as ${wanted.owner.transactionalId} (${wanted.owner.state}). A marker on one partition would tear it apart.`,
      action: `Abort it as a whole: millrace txn abort --transactional-id ${wanted.owner.transactionalId}`,
    })
  }
  const [held] = await heldPartitions(admin, [wanted])
  return (
    held ?? { ...wanted, lastStableOffset: startOffset, highWatermark: startOffset, sinceMs: 0, sinceIsExact: false }
  )
}

async function abortOnPartition(admin: Admin, held: HeldPartition, execute: boolean, io: CommandIo): Promise<void> {
  const { topicPartition, producerId, producerEpoch, startOffset, lastTimestampMs, owner } = held
  const place = `${topicPartition.topic}, partition ${String(topicPartition.partition)}`
  io.out(
    [
      `${place}: a transaction of producer ${String(producerId)}, epoch ${String(producerEpoch)}${owner === undefined ? '' : ` (${owner.transactionalId})`}, is open from offset ${String(startOffset)} on, and no coordinator will end it.`,
      `Its last record is of ${new Date(lastTimestampMs).toISOString()}; ${counted(heldRecords(held), 'record')} wait behind offset ${String(held.lastStableOffset)}.`,
      '',
      'To abort it writes a marker into this partition: the records of that producer from there on are invisible for ever, and read_committed readers go on.',
      'A user without Describe on its transactional id cannot see whether a coordinator still knows it. Then the marker would tear the transaction apart: make sure that its producer is gone.',
    ].join('\n'),
  )
  if (!execute) {
    io.out(NOTHING_CHANGED)
    return
  }
  await admin.abortOnPartition(held)
  const left = await admin.openTransactions([topicPartition])
  const stable = await admin.listOffsets([topicPartition], 'latest', 'read_committed')
  if (left.some(each => each.producerId === producerId && each.startOffset === startOffset)) {
    throw new MillraceError('KAFKA_ERROR', {
      ...topicPartition,
      what: 'The marker is written, and the transaction is still open.',
    })
  }
  io.out(`\nDone. Readers get to offset ${String(stable.get(topicPartition) ?? 0)} now.`)
}
