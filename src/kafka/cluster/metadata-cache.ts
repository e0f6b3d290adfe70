import type { Clock } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { Address } from '../connection/address.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import type { ResponseBodies } from '../protocol/messages.generated.ts'
import type { PartitionInfo, PartitionLeader, TopicInfo } from './topic-info.ts'

type TopicMetadata = ResponseBodies['Metadata']['topics'][number]

interface Entry {
  readonly topic: TopicInfo
  readonly learnedAtMs: number
}

/**
 * What the brokers said about themselves and about topics. Answers of different brokers may arrive out of order, so a
 * partition's leader epoch never goes back (KIP-320). Kafka: `MetadataSnapshot`.
 */
export class MetadataCache {
  readonly #clock: Clock
  readonly #maxAgeMs: number
  readonly #topics = new Map<string, Entry>()
  /** Topics that a broker answered with an error other than "does not exist", and the code. */
  readonly #refused = new Map<string, number>()
  #brokers = new Map<number, Address>()
  #controllerId = -1

  constructor(clock: Clock, maxAgeMs: number) {
    this.#clock = clock
    this.#maxAgeMs = maxAgeMs
  }

  /** The brokers that are alive, by node id. */
  get brokers(): ReadonlyMap<number, Address> {
    return this.#brokers
  }

  /** Node id of the controller; with KRaft any broker, which forwards. −1 when unknown. */
  get controllerId(): number {
    return this.#controllerId
  }

  /** Names of the topics that are known, however old. */
  get names(): Iterable<string> {
    return this.#topics.keys()
  }

  /** A topic, however old. */
  topic(name: string): TopicInfo | undefined {
    return this.#topics.get(name)?.topic
  }

  /** Whether a topic is known and young enough to be trusted without asking. */
  fresh(name: string): boolean {
    const entry = this.#topics.get(name)
    return entry !== undefined && this.#clock.nowMs() - entry.learnedAtMs < this.#maxAgeMs
  }

  /** Who leads a partition; `undefined` when unknown or without a leader. */
  leaderOf({ topic, partition }: TopicPartition): PartitionLeader | undefined {
    const info = this.#topics.get(topic)?.topic.partitions[partition]
    return info === undefined || info.leader < 0 ? undefined : { nodeId: info.leader, leaderEpoch: info.leaderEpoch }
  }

  /** @throws MillraceError `NOT_AUTHORIZED`, or `KAFKA_ERROR` that may pass, when the brokers did not describe it */
  checkDescribed(name: string): void {
    const kafkaCode = this.#refused.get(name)
    if (kafkaCode === undefined) return
    if (kafkaCode === ERROR_CODE.TOPIC_AUTHORIZATION_FAILED) {
      throw new MillraceError('NOT_AUTHORIZED', {
        kafkaCode,
        what: `The principal may not describe the topic ${name}.`,
        action: `Grant Describe (or Read, or Write) on the topic ${name}.`,
      })
    }
    throw new MillraceError('KAFKA_ERROR', {
      kafkaCode,
      what: `The brokers cannot describe the topic ${name} at the moment: ${kafkaErrorName(kafkaCode)}.`,
      reaction: 'retry',
    })
  }

  /** Where a node listens, as a coordinator look-up told it. */
  learnBroker(nodeId: number, address: Address): void {
    if (!this.#brokers.has(nodeId)) this.#brokers.set(nodeId, address)
  }

  /** Takes an answer in. */
  apply({ brokers, controllerId, topics }: ResponseBodies['Metadata']): void {
    // A broker that is starting may answer before it knows the others.
    if (brokers.length > 0) this.#brokers = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]))
    this.#controllerId = controllerId
    for (const topic of topics) this.#applyTopic(topic)
  }

  #applyTopic(answer: TopicMetadata): void {
    const { name, errorCode } = answer
    if (name === null) return
    this.#refused.delete(name)
    if (errorCode === ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION || errorCode === ERROR_CODE.INVALID_TOPIC_EXCEPTION) {
      this.#topics.delete(name)
      return
    }
    if (errorCode !== 0) {
      this.#refused.set(name, errorCode)
      return
    }
    const known = this.#topics.get(name)?.topic
    const same = known?.topicId.equals(answer.topicId) === true ? known : undefined
    const topic = { name, topicId: answer.topicId, internal: answer.isInternal, partitions: partitionsOf(answer, same) }
    this.#topics.set(name, { topic, learnedAtMs: this.#clock.nowMs() })
  }
}

function partitionsOf(answer: TopicMetadata, known: TopicInfo | undefined): PartitionInfo[] {
  const partitions = [...(known?.partitions ?? [])]
  const ordered = answer.partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex)
  for (const { partitionIndex, leaderId, leaderEpoch, replicaNodes, isrNodes } of ordered) {
    const before = partitions[partitionIndex]
    if (before !== undefined && leaderEpoch !== -1 && leaderEpoch < before.leaderEpoch) continue
    partitions[partitionIndex] = {
      partition: partitionIndex,
      leader: leaderId,
      leaderEpoch,
      replicas: replicaNodes,
      isr: isrNodes,
    }
  }
  return partitions
}
