import { WireWriter } from '../protocol/wire-writer.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'
import type { PartitionLane } from './partition-lane.ts'

/** Produce requests from this version on are written in the compact form (KIP-482). */
const FLEXIBLE_FROM = 9

/** What all Produce requests of a producer have in common. */
export interface ProduceSettings {
  readonly transactionalId: string | null
  readonly acks: -1 | 1
  /** How long the broker waits for its replicas. */
  readonly timeoutMs: number
}

/** One Produce request while it is put together and until it is answered: at most one batch of each partition. */
export class ProduceRequest {
  readonly lanes: PartitionLane[] = []
  readonly batches: OutgoingBatch[] = []
  /** Bytes of the batches. */
  bytes = 0

  /** Adds the batch of one partition. */
  add(lane: PartitionLane, batch: OutgoingBatch): void {
    this.lanes.push(lane)
    this.batches.push(batch)
    this.bytes += batch.sealed.bytes.length
  }

  /** Which of its batches went to a partition; −1 for none. Brokers usually answer in the order of the request. */
  indexOf(topic: string, partition: number, guess: number): number {
    const guessed = this.lanes[guess]
    if (guessed?.partition === partition && guessed.topic === topic) return guess
    return this.lanes.findIndex(lane => lane.partition === partition && lane.topic === topic)
  }
}

/**
 * The body of a Produce request, versions 3 to 12. Written by hand, because the generic encoder would copy every batch:
 * the batches are parts of the result as they are.
 */
export function encodeProduceBody(request: ProduceRequest, version: number, settings: ProduceSettings): Buffer[] {
  const compact = version >= FLEXIBLE_FROM
  const parts: Buffer[] = []
  const topics = lanesByTopic(request)
  let writer = new WireWriter(128)
  writer.string(settings.transactionalId, compact)
  writer.int16(settings.acks)
  writer.int32(settings.timeoutMs)
  writer.arrayLength(topics.size, compact)
  for (const [topic, indexes] of topics) {
    writer.string(topic, compact)
    writer.arrayLength(indexes.length, compact)
    for (const index of indexes) {
      const lane = request.lanes[index]
      const batch = request.batches[index]
      if (lane === undefined || batch === undefined) continue
      writer.int32(lane.partition)
      writer.arrayLength(batch.sealed.bytes.length, compact)
      parts.push(writer.finish(), batch.sealed.bytes)
      writer = new WireWriter(64)
      if (compact) writer.unsignedVarint(0)
    }
    if (compact) writer.unsignedVarint(0)
  }
  if (compact) writer.unsignedVarint(0)
  if (writer.bytes > 0) parts.push(writer.finish())
  return parts
}

function lanesByTopic(request: ProduceRequest): ReadonlyMap<string, number[]> {
  const topics = new Map<string, number[]>()
  for (const [index, { topic }] of request.lanes.entries()) {
    const indexes = topics.get(topic)
    if (indexes === undefined) topics.set(topic, [index])
    else indexes.push(index)
  }
  return topics
}
