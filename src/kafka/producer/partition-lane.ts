import type { Connection } from '../connection/connection.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'

/** Sequences are int32 without sign: after 2^31−1 comes 0. Kafka: `DefaultRecordBatch.incrementSequence`. */
const SEQUENCES = 2 ** 31

/** The way of one partition's batches to its leader, in order. */
export class PartitionLane {
  readonly topic: string
  readonly partition: number
  /** Closed and not sent, oldest first. */
  readonly pending: OutgoingBatch[] = []
  /** Sent and not acknowledged, in order of their sequences. */
  readonly sent: OutgoingBatch[] = []
  /** How many of `sent` wait for an answer. */
  outstanding = 0
  /** The connection those were sent on; nothing goes out on another one before they are answered, or order would be lost. */
  connection: Connection | undefined
  /** A batch came back: what was sent is sent again one by one, in order, before anything new. */
  recovering = false
  /** Monotonic time before which nothing is tried again. */
  retryAtMs = 0
  /** Look-ups of the leader that found none, in a row. */
  leaderMisses = 0
  /** The broker has acknowledged a batch of the current producer id and epoch. */
  confirmed = false
  /** Serial number of the transaction that this partition was added to; 0 for none. */
  addedIn = 0
  /** Waits to be added to the transaction. */
  awaitsAdding = false
  /** Is in the sender's list of lanes with work. */
  active = false
  #nextSequence = 0

  constructor(topic: string, partition: number) {
    this.topic = topic
    this.partition = partition
  }

  /** Nothing waits and nothing is on its way. */
  get idle(): boolean {
    return this.pending.length === 0 && this.sent.length === 0
  }

  /** A sent batch is done with; the last one ends the recovery. */
  remove(batch: OutgoingBatch): void {
    if (this.sent[0] === batch) this.sent.shift()
    else this.sent.splice(0, this.sent.length, ...this.sent.filter(other => other !== batch))
    if (this.pending[0] === batch) this.pending.shift()
    if (this.sent.length === 0) this.recovering = false
  }

  /** Forgets every batch. */
  clear(): void {
    this.pending.length = 0
    this.sent.length = 0
    this.recovering = false
    this.retryAtMs = 0
    this.active = false
    this.awaitsAdding = false
  }

  /** The sequence of the next batch, which holds `records` records. */
  takeSequence(records: number): number {
    const sequence = this.#nextSequence
    this.#nextSequence = (sequence + records) % SEQUENCES
    return sequence
  }

  /** A new producer epoch counts from 0, or from `sequence` in tests. */
  restartSequence(sequence = 0): void {
    this.#nextSequence = sequence
    this.confirmed = false
  }
}
