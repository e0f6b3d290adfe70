import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { Accumulator, type AccumulatorOptions } from '../../../../src/kafka/producer/accumulator.ts'
import type { OutgoingBatch } from '../../../../src/kafka/producer/outgoing-batch.ts'
import { PartitionLane } from '../../../../src/kafka/producer/partition-lane.ts'
import { RecordCursor } from '../../../../src/kafka/records/record-cursor.ts'

/** An accumulator whose batches are looked at instead of sent. */
export class FilledAccumulator {
  readonly accumulator: Accumulator
  readonly lanes: PartitionLane[] = []

  constructor(options: Partial<AccumulatorOptions> = {}) {
    this.accumulator = new Accumulator({
      batchSizeBytes: 1_024,
      bufferMemoryBytes: 1_000_000,
      compression: 'none',
      lingerMs: 0,
      deliveryTimeoutMs: 30_000,
      laneOf: (topic, partition) => {
        const lane = new PartitionLane(topic, partition)
        this.lanes.push(lane)
        return lane
      },
      onPending: () => undefined,
      onExpected: () => undefined,
      ...options,
    })
  }

  append(value: string, partition = 0, topic = 'out'): void {
    this.accumulator.append(this.accumulator.topic(topic), partition, null, Buffer.from(value), 1_000, NO_HEADERS)
  }

  /** The batches of a partition so far, oldest first. */
  batches(partition = 0, topic = 'out'): readonly OutgoingBatch[] {
    return this.lanes.find(lane => lane.topic === topic && lane.partition === partition)?.pending ?? []
  }

  /** Closes everything and reads every value of a partition, in order. */
  values(partition = 0, topic = 'out'): string[] {
    this.accumulator.close(0, true)
    return this.batches(partition, topic).flatMap(valuesOf)
  }
}

/** The values in a batch, in order. */
export function valuesOf(batch: OutgoingBatch): string[] {
  if (batch.baseSequence < 0) batch.sealed.stamp(null)
  const cursor = new RecordCursor()
  cursor.reset({
    topic: 'out',
    partition: 0,
    records: batch.sealed.bytes,
    position: 0,
    aborted: [],
    isolation: 'read_uncommitted',
  })
  const values: string[] = []
  while (cursor.next()) values.push(cursor.value?.toString() ?? 'null')
  return values
}
