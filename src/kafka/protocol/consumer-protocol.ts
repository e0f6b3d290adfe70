import type { TopicPartition } from '../../model/topic-partition.ts'
import { MillraceError } from '../../model/errors.ts'
import { groupByTopic } from '../partition-grouping.ts'
import { decode, encode } from './api.ts'
import type { ConsumerProtocolAssignment, ConsumerProtocolSubscription } from './messages.generated.ts'
import { EMBEDDED_SCHEMAS } from './schemas.generated.ts'

/** What a member tells the group's leader in JoinGroup. Kafka: `ConsumerPartitionAssignor.Subscription`. */
export interface Subscription {
  readonly topics: readonly string[]
  readonly userData: Buffer | null
  /** What it owned before this round (version 1, KIP-429). */
  readonly ownedPartitions: readonly TopicPartition[]
  /** The generation it owned them in; −1 when unknown (version 2, KIP-792). */
  readonly generationId: number
  /** Its rack (version 3, KIP-881). */
  readonly rackId: string | null
}

/** What the leader gives a member in SyncGroup. Kafka: `ConsumerPartitionAssignor.Assignment`. */
export interface Assignment {
  readonly partitions: readonly TopicPartition[]
  readonly userData: Buffer | null
}

/** The last version; a reader of an earlier one ignores what follows its fields. */
const CONSUMER_PROTOCOL_VERSION = 3

/** Bytes of a subscription; topics and owned partitions are sorted, as the JVM does. */
export function encodeSubscription(subscription: Subscription, version = CONSUMER_PROTOCOL_VERSION): Buffer {
  const owned = subscription.ownedPartitions.toSorted(byTopicAndPartition)
  return withVersion('ConsumerProtocolSubscription', version, {
    topics: subscription.topics.toSorted(),
    userData: subscription.userData,
    ...(version >= 1 ? { ownedPartitions: topicsOf(owned) } : {}),
    ...(version >= 2 ? { generationId: subscription.generationId } : {}),
    ...(version >= 3 ? { rackId: subscription.rackId } : {}),
  })
}

/**
 * A subscription of any version; later versions are read as the last one known here.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decodeSubscription(bytes: Buffer): Subscription {
  const message = subscriptionOf(bytes)
  return {
    topics: message.topics,
    userData: message.userData,
    ownedPartitions: partitionsOf(message.ownedPartitions),
    generationId: message.generationId,
    rackId: message.rackId,
  }
}

/** Bytes of an assignment; topics in order of first appearance. */
export function encodeAssignment(assignment: Assignment, version = CONSUMER_PROTOCOL_VERSION): Buffer {
  return withVersion('ConsumerProtocolAssignment', version, {
    assignedPartitions: topicsOf(assignment.partitions),
    userData: assignment.userData,
  })
}

/**
 * An assignment of any version. No bytes at all are an assignment of nothing: what a broker hands to members that the
 * leader forgot.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decodeAssignment(bytes: Buffer): Assignment {
  if (bytes.length === 0) return { partitions: [], userData: null }
  const message = assignmentOf(bytes)
  return { partitions: partitionsOf(message.assignedPartitions), userData: message.userData }
}

type EmbeddedName = keyof typeof EMBEDDED_SCHEMAS

function withVersion(name: EmbeddedName, version: number, body: object): Buffer {
  const prefix = Buffer.allocUnsafe(2)
  prefix.writeInt16BE(version)
  return Buffer.concat([prefix, encode(EMBEDDED_SCHEMAS[name], version, body)])
}

function subscriptionOf(bytes: Buffer): ConsumerProtocolSubscription
function subscriptionOf(bytes: Buffer): object {
  return bodyOf('ConsumerProtocolSubscription', bytes)
}

function assignmentOf(bytes: Buffer): ConsumerProtocolAssignment
function assignmentOf(bytes: Buffer): object {
  return bodyOf('ConsumerProtocolAssignment', bytes)
}

function bodyOf(name: EmbeddedName, bytes: Buffer): object {
  const version = bytes.length < 2 ? -1 : bytes.readInt16BE(0)
  if (version < 0) throw new MillraceError('PROTOCOL_VIOLATION', { what: `${name} has no version` })
  const isLater = version > CONSUMER_PROTOCOL_VERSION
  const known = Math.min(version, CONSUMER_PROTOCOL_VERSION)
  return decode(EMBEDDED_SCHEMAS[name], known, bytes.subarray(2), 'number', isLater ? 'ignored' : 'refused')
}

function topicsOf(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  return [...groupByTopic(partitions)].map(([topic, list]) => ({ topic, partitions: list }))
}

function partitionsOf(topics: readonly { topic: string; partitions: readonly number[] }[]): TopicPartition[] {
  return topics.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
}

function byTopicAndPartition(a: TopicPartition, b: TopicPartition): number {
  if (a.topic === b.topic) return a.partition - b.partition
  return a.topic < b.topic ? -1 : 1
}
