import type { Clock } from '../../model/clock.ts'
import type { TopicPartition, TopicPartitionMap } from '../../model/topic-partition.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import type { AdminContext } from './admin-call.ts'
import * as configs from './config-admin.ts'
import * as groups from './group-admin.ts'
import * as offsets from './offset-admin.ts'
import { openTransactions, type OpenTransaction } from './open-transactions.ts'
import * as topics from './topic-admin.ts'
import * as transactions from './transaction-admin.ts'

/** What an `Admin` needs beside the cluster. */
export interface AdminOptions {
  readonly clock: Clock
  /** Deadline of a call, in milliseconds. @default 30000 */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000

/**
 * What an administrator asks a cluster, all by our own codec: kafkajs lacks half of it. Every call is tried again while
 * its failure may pass, until its deadline. Failures are `MillraceError`: `NOT_AUTHORIZED`, `TOPIC_MISSING`,
 * `KAFKA_ERROR` with the broker's own text, `CONNECTION_LOST` or `REQUEST_TIMED_OUT`. Kafka: `Admin`.
 */
export class Admin {
  readonly #context: AdminContext

  constructor(cluster: Cluster, { clock, timeoutMs = TIMEOUT_MS }: AdminOptions) {
    this.#context = { cluster, clock, timeoutMs }
  }

  /**
   * Creates topics and waits until every partition has a leader.
   *
   * @param options - `existing`: a topic that exists already is kept as it is, or fails the call. @default keep
   */
  createTopics(
    list: readonly topics.NewTopic[],
    timeoutMs: number = this.#context.timeoutMs,
    { existing = 'keep' }: { readonly existing?: 'keep' | 'fail' } = {},
  ): Promise<void> {
    return topics.createTopics(this.#context, list, timeoutMs, existing)
  }

  /** Deletes topics and waits until the metadata no longer name them; those that do not exist are let pass. */
  deleteTopics(names: readonly string[]): Promise<void> {
    return topics.deleteTopics(this.#context, names)
  }

  /** Grows a topic to a number of partitions and waits until the metadata show them. */
  createPartitions(topic: string, count: number): Promise<void> {
    return topics.createPartitions(this.#context, topic, count)
  }

  /** All topics that the principal may see. */
  listTopics(): Promise<readonly topics.ListedTopic[]> {
    return topics.listTopics(this.#context)
  }

  /** The effective configuration of topics, defaults included, as text. */
  describeTopicConfigs(names: readonly string[]): Promise<Map<string, Map<string, string>>> {
    return configs.describeTopicConfigs(this.#context, names)
  }

  /** The effective configuration of one broker, as text. @param nodeId - any broker by default */
  describeBrokerConfig(nodeId?: number): Promise<Map<string, string>> {
    return configs.describeBrokerConfig(this.#context, nodeId)
  }

  /** Changes some values of a configuration (KIP-339). Kafka: `incrementalAlterConfigs`. */
  alterConfigs(resource: configs.ConfigResource, changes: configs.ConfigChanges): Promise<void> {
    return configs.alterConfigs(this.#context, resource, changes)
  }

  /**
   * Offsets of partitions: the start, the end (`read_uncommitted`: high watermark, `read_committed`: last stable
   * offset), or the first record at or after a time (−1 when there is none).
   */
  listOffsets(
    partitions: readonly TopicPartition[],
    at: offsets.OffsetSpec,
    isolation: offsets.IsolationLevel,
  ): Promise<TopicPartitionMap<number>> {
    return offsets.listOffsets(this.#context, partitions, at, isolation)
  }

  /**
   * Deletes the records below an offset of each partition; −1 deletes all.
   *
   * @returns the offset where each log begins now
   */
  deleteRecords(before: TopicPartitionMap<number>): Promise<TopicPartitionMap<number>> {
    return offsets.deleteRecords(this.#context, before)
  }

  /** A consumer group with its members; state `Dead` when there is none. */
  describeGroup(groupId: string): Promise<groups.GroupDescription> {
    return groups.describeGroup(this.#context, groupId)
  }

  /** The groups of all brokers. */
  listGroups(): Promise<readonly groups.ListedGroup[]> {
    return groups.listGroups(this.#context)
  }

  /**
   * Deletes a group that has no members, with its offsets.
   *
   * @returns false when there was none
   * @throws MillraceError `KAFKA_ERROR` at once when it has members, naming them
   */
  deleteGroup(groupId: string): Promise<boolean> {
    return groups.deleteGroup(this.#context, groupId)
  }

  /**
   * The offsets that a group has committed, of some partitions or of all; a partition without one is absent.
   *
   * @param options - `requireStable`: waits while a transaction with an offset of theirs is open. @default true
   */
  committedOffsets(
    groupId: string,
    partitions?: readonly TopicPartition[],
    { requireStable = true }: { readonly requireStable?: boolean } = {},
  ): Promise<TopicPartitionMap<OffsetAndMetadata>> {
    return groups.committedOffsets(this.#context, groupId, partitions, requireStable)
  }

  /** Sets offsets of a group that has no members. */
  alterGroupOffsets(groupId: string, to: TopicPartitionMap<OffsetAndMetadata>): Promise<void> {
    return groups.alterGroupOffsets(this.#context, groupId, to)
  }

  /** Removes members from a group; a static one by its instance id with an empty member id. */
  removeMembers(
    groupId: string,
    members: readonly { readonly memberId: string; readonly groupInstanceId: string | null }[],
  ): Promise<void> {
    return groups.removeMembers(this.#context, groupId, members)
  }

  /** The transactional ids of all brokers. */
  listTransactions(filter: transactions.TransactionFilter = {}): Promise<readonly transactions.ListedTransaction[]> {
    return transactions.listTransactions(this.#context, filter)
  }

  /** As `listTransactions`, but what some brokers answer is told although others do not; fails when none answers. */
  surveyTransactions(filter: transactions.TransactionFilter = {}): Promise<transactions.TransactionSurvey> {
    return transactions.surveyTransactions(this.#context, filter)
  }

  /** Transactional ids with their partitions; those that do not exist are absent. */
  describeTransactions(
    transactionalIds: readonly string[],
  ): Promise<ReadonlyMap<string, transactions.TransactionDescription>> {
    return transactions.describeTransactions(this.#context, transactionalIds)
  }

  /** What a listing named, with partitions, age and timeout, by one request to each coordinator. */
  describeListedTransactions(
    listed: readonly transactions.ListedTransaction[],
  ): Promise<ReadonlyMap<string, transactions.TransactionDescription>> {
    return transactions.describeListedTransactions(this.#context, listed)
  }

  /** The producers that partitions remember, with where their open transactions begin. */
  describeProducers(
    partitions: readonly TopicPartition[],
  ): Promise<TopicPartitionMap<readonly transactions.ProducerDescription[]>> {
    return transactions.describeProducers(this.#context, partitions)
  }

  /** Aborts what a transactional id has open and fences its owner. Kafka: `fenceProducers`. */
  fenceTransaction(transactionalId: string): Promise<void> {
    return transactions.fenceTransaction(this.#context, transactionalId)
  }

  /**
   * Writes an abort marker behind the back of the coordinator, for a transaction of which no coordinator knows any more;
   * one that is known would be torn apart by it. Needs Alter on the cluster. Kafka: `abortTransaction`.
   */
  abortOnPartition(transaction: transactions.PartitionTransaction): Promise<void> {
    return transactions.abortOnPartition(this.#context, transaction)
  }

  /** Every transaction that is open on the partitions, with what its coordinator says of it. */
  openTransactions(partitions: readonly TopicPartition[]): Promise<readonly OpenTransaction[]> {
    return openTransactions(this.#context, partitions)
  }
}
