import { counted } from '../../model/counted.ts'
import { systemClock } from '../../engine/system-clock.ts'
import type { Admin } from '../../kafka/admin/admin.ts'
import type { OpenTransaction } from '../../kafka/admin/open-transactions.ts'
import { asMillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import { withCluster } from '../cluster-access.ts'
import type { CommandIo } from '../command-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { textTable } from '../text-table.ts'
import { ageText } from './age-text.ts'
import { loadCluster, type ClusterPlace } from './cluster-place.ts'
import { heldJson, heldPartitions, heldRecords, type HeldPartition } from './held-partitions.ts'
import { searchedPartitions, type SearchPlace } from './searched-partitions.ts'

/** What `txn find-hanging` looks for. */
export interface HangingSearch extends SearchPlace {
  /** A transaction that is open for longer is shown although its coordinator will end it, in milliseconds. */
  readonly maxAgeMs: number
}

interface Found {
  readonly looked: number
  /** Topics that the user may not look at. */
  readonly refused: readonly string[]
  readonly held: readonly HeldPartition[]
}

/** `millrace txn find-hanging`. Kafka: `kafka-transactions.sh find-hanging`. @returns the exit code: 1 when there is one */
export async function findHanging(
  place: ClusterPlace,
  search: HangingSearch,
  format: 'text' | 'json',
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadCluster(place)
  const { looked, refused, held } = await withCluster(config, async access => {
    const partitions = await searchedPartitions(access, plan, config, search)
    const found = await openOn(access.admin, partitions)
    return { ...found, held: await heldPartitions(access.admin, found.open) }
  })
  const nowMs = systemClock.wallClockMs()
  const findings = held
    .filter(each => each.hanging || nowMs - each.sinceMs > search.maxAgeMs)
    .toSorted((a, b) => a.sinceMs - b.sinceMs)
  const found = { looked, refused, held: findings }
  io.out(format === 'json' ? jsonText(found, search, nowMs) : foundText(found, search, nowMs))
  return findings.length === 0 ? EXIT_CODES.ok : EXIT_CODES.failed
}

/** All partitions at once; where a topic is refused, topic by topic, so that the others are seen. */
async function openOn(
  admin: Admin,
  partitions: readonly TopicPartition[],
): Promise<{ looked: number; refused: readonly string[]; open: readonly OpenTransaction[] }> {
  try {
    return { looked: partitions.length, refused: [], open: await admin.openTransactions(partitions) }
  } catch (error) {
    const topics = new Set(partitions.map(({ topic }) => topic))
    if (asMillraceError(error).code !== 'NOT_AUTHORIZED' || topics.size === 1) throw error
    const refused: string[] = []
    const open: OpenTransaction[] = []
    let looked = 0
    for (const topic of topics) {
      const some = partitions.filter(partition => partition.topic === topic)
      try {
        open.push(...(await admin.openTransactions(some)))
        looked += some.length
      } catch (again) {
        if (asMillraceError(again).code !== 'NOT_AUTHORIZED') throw again
        refused.push(topic)
      }
    }
    return { looked, refused, open }
  }
}

function jsonText({ looked, refused, held }: Found, { maxAgeMs }: HangingSearch, nowMs: number): string {
  const report = {
    partitions: looked,
    refusedTopics: refused,
    maxAgeMs,
    found: held.map(each => heldJson(each, nowMs)),
  }
  return JSON.stringify(report, undefined, 2)
}

function foundText({ looked, refused, held }: Found, { maxAgeMs }: HangingSearch, nowMs: number): string {
  const not =
    refused.length === 0 ? [] : [`Not looked at, because reading them is not allowed: ${refused.join(', ')}`, '']
  if (held.length === 0) {
    return [
      ...not,
      `No transaction hangs, and none is open for longer than ${ageText(maxAgeMs)}, on ${counted(looked, 'partition')}.`,
    ].join('\n')
  }
  const head = ['topic', 'partition', 'from offset', 'producer', 'epoch', 'transactional id', 'finding', 'open for']
  return [
    ...not,
    textTable([head, ...held.map(each => rowOf(each, maxAgeMs, nowMs))]),
    '',
    ...held.flatMap(each => [consequenceOf(each, nowMs), `  ${remedyOf(each)}`]),
  ].join('\n')
}

function rowOf(held: HeldPartition, maxAgeMs: number, nowMs: number): readonly string[] {
  const { topicPartition, startOffset, producerId, producerEpoch, owner, hanging, sinceMs, sinceIsExact } = held
  return [
    topicPartition.topic,
    String(topicPartition.partition),
    String(startOffset),
    String(producerId),
    String(producerEpoch),
    owner?.transactionalId ?? '-',
    hanging ? 'hanging' : `older than ${ageText(maxAgeMs)}`,
    `${sinceIsExact ? '' : 'at least '}${ageText(nowMs - sinceMs)}`,
  ]
}

function consequenceOf(held: HeldPartition, nowMs: number): string {
  const { topicPartition, startOffset, lastStableOffset, sinceMs } = held
  const place = `${topicPartition.topic}, partition ${String(topicPartition.partition)}`
  if (startOffset !== lastStableOffset) {
    return `${place}: readers are held at offset ${String(lastStableOffset)} by another transaction, and will be at ${String(startOffset)} by this one.`
  }
  return `${place}: read_committed readers are held at offset ${String(startOffset)} for ${ageText(nowMs - sinceMs)} or longer; ${counted(heldRecords(held), 'record')} wait.`
}

function remedyOf({ topicPartition, startOffset, owner, hanging }: HeldPartition): string {
  if (!hanging && owner !== undefined) return `millrace txn abort --transactional-id ${owner.transactionalId}`
  const { topic, partition } = topicPartition
  return `millrace txn abort --topic ${topic} --partition ${String(partition)} --start-offset ${String(startOffset)}`
}
