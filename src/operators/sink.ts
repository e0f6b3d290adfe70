import { counted } from '../model/counted.ts'
import { MillraceError } from '../model/errors.ts'
import type { RecordHeaders } from '../model/headers.ts'
import { partitionForHash, partitionForKey } from '../model/murmur2.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { RecordSource } from '../model/record-source.ts'
import type { Forward } from './forward.ts'
import type { RecordBytes, SideBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { sync, type Step } from './step.ts'

/** Where the records of one topic go. */
export interface TopicOutput {
  /** As `RecordOutput.send`. */
  send(
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void
  /** How many partitions it has. @throws UnresolvedTopic */
  readonly partitionsKnown: number
  /** Sends key, value and headers of a source record as they are, to the partition of the key. */
  sendSource(source: RecordSource, timestamp: number): void
}

/** Where operators write: the part of the engine's collector that they use. */
export interface RecordOutput {
  output(topic: string): TopicOutput
  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void
  partitionCount(topic: string): number
}

/** A user's partitioner: a number, several, `[]` for none, `undefined` for the default. */
export type PartitionerStep = (value: unknown, key: unknown, topic: string, partitionCount: number) => unknown

/** What a sink works with. */
export interface SinkParts extends Site {
  readonly output: RecordOutput
  /** A topic, or the step that chooses one per record. */
  readonly topic: string | Step
  readonly bytes: RecordBytes
  readonly partitioner: PartitionerStep | undefined
  /**
   * Bytes of a window at the end of every key, which do not choose the partition: all windows of a key go where the key
   * goes. Kafka Streams: `WindowedStreamPartitioner`.
   *
   * @default 0
   */
  readonly windowBytes?: number | undefined
  readonly dropped: (reason: DropReason) => void
}

/** Writes to a topic. Kafka Streams: `SinkNode`. */
export function sink(parts: SinkParts): Forward {
  const { name, record, output, topic, partitioner, windowBytes = 0 } = parts
  const encode = encoder(parts)
  const partitionOf = (target: string, keyBytes: Uint8Array | null): number | undefined =>
    windowBytes === 0 || keyBytes === null
      ? undefined
      : partitionForKey(keyBytes, output.partitionCount(target), keyBytes.length - windowBytes)
  const { keyHashes } = record
  if (typeof topic === 'string' && partitioner === undefined) {
    const target = output.output(topic)
    if (parts.bytes.isSource && windowBytes === 0) return unchangedSink(parts, encode, target)
    const isAroundSource = windowBytes > 0 && parts.bytes.isWindowOfSource
    return (key, value, timestamp, headers) => {
      record.node = name
      const keyBytes = encode.key(key, headers)
      // Of a window around the source's own key, that key's bytes, whose hash is known by their identity.
      const partitioned = isAroundSource ? record.lentKey : windowBytes === 0 ? keyBytes : null
      const partition =
        partitioned !== null && keyBytes !== null
          ? partitionForHash(keyHashes.of(partitioned), target.partitionsKnown)
          : partitionOf(topic, keyBytes)
      target.send(partition, keyBytes, encode.value(value, headers), timestamp, headers)
    }
  }
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    const target = typeof topic === 'string' ? topic : topicOf(sync(topic(value, key, record.view)))
    const keyBytes = encode.key(key, headers)
    const valueBytes = encode.value(value, headers)
    const partitions =
      partitioner === undefined
        ? partitionOf(target, keyBytes)
        : partitioner(value, key, target, output.partitionCount(target))
    sendTo(parts, target, partitions, partition => {
      output.send(target, partition, keyBytes, valueBytes, timestamp, headers)
    })
  }
}

/** Writes records as they were read, but for their time; those that a step gave other headers or took a side from are put together anew. */
function unchangedSink({ name, record }: SinkParts, encode: Encoder, target: TopicOutput): Forward {
  return (key, value, timestamp, headers) => {
    record.node = name
    const { source } = record
    const isUnchanged =
      source !== undefined &&
      headers === record.sourceHeaders &&
      source.hasKey === (key !== null) &&
      source.hasValue === (value !== null)
    if (isUnchanged) target.sendSource(source, timestamp)
    else target.send(undefined, encode.key(key, headers), encode.value(value, headers), timestamp, headers)
  }
}

/** Sends to one, several or no partitions. */
function sendTo(
  parts: SinkParts,
  topic: string,
  partitions: unknown,
  send: (partition: number | undefined) => void,
): void {
  if (partitions === undefined || partitions === null) {
    send(undefined)
    return
  }
  if (!Array.isArray(partitions)) {
    send(checkedPartition(parts, topic, sync(partitions)))
    return
  }
  if (partitions.length === 0) parts.dropped('partitionerNone')
  for (const partition of partitions) send(checkedPartition(parts, topic, partition))
}

function checkedPartition({ name, output }: SinkParts, topic: string, partition: unknown): number {
  const count = output.partitionCount(topic)
  if (typeof partition === 'number' && Number.isInteger(partition) && partition >= 0 && partition < count)
    return partition
  throw new MillraceError('PARTITION_OUT_OF_RANGE', {
    node: name,
    topic,
    what: `The partitioner chose ${String(partition)} and the topic has ${counted(count, 'partition')}.`,
  })
}

function topicOf(topic: unknown): string {
  if (typeof topic === 'string' && topic !== '') return topic
  throw new TypeError('the step that chooses a topic returns its name')
}

interface Encoder {
  readonly key: SideBytes
  readonly value: SideBytes
}

/** A serializer that throws is a failure of production, unlike any other user code. */
function encoder({ name, bytes: { keyBytes, valueBytes } }: SinkParts): Encoder {
  const guarded = (side: 'key' | 'value', bytes: SideBytes): SideBytes => {
    return (value, headers) => {
      try {
        return bytes(value, headers)
      } catch (cause) {
        throw new MillraceError('SERIALIZATION_FAILED', {
          node: name,
          cause,
          what: `The ${side} cannot be written: ${reason(cause)}`,
        })
      }
    }
  }
  return { key: guarded('key', keyBytes), value: guarded('value', valueBytes) }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
