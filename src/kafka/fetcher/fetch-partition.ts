import { assert } from '../../model/assert.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { RecordCursor } from '../records/record-cursor.ts'
import { nextPartitionState, type PartitionState } from './partition-state.ts'

/** A run of record batches of one partition, prefetched, in the order of their offsets. */
export interface FetchedBlock {
  /** Stands before the first record at or past the position fetched from. */
  readonly cursor: RecordCursor
  /** First offset behind the block, known before its records are read. */
  readonly endOffset: number
  /** Size of its batches as they came. */
  readonly bytes: number
  /** Offset after the last replicated record, when the block was fetched. */
  readonly highWatermark: number
  /** Offset below which every transaction was decided, when the block was fetched. */
  readonly lastStableOffset: number
}

/** Where a partition's log begins and ends, by the latest answer of its leader. */
export interface Watermarks {
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStart: number
}

/** Blocks held per partition: one being waited for by the engine, one behind it. */
const BLOCKS_MAX = 2

const BACK_OFF_MIN_MS = 20
const BACK_OFF_MAX_MS = 1_000

/** One partition: where to fetch from, what was fetched and not yet taken, and what is wrong with it. */
export class FetchPartition {
  readonly topicPartition: TopicPartition
  /** Leader that fetches go to while `ready`; −1 at first. */
  nodeId = -1
  /** Leader epoch that the position was checked against; −1 at first. */
  leaderEpoch = -1
  /** Leader epoch of the leader being asked whether the position holds. */
  candidateEpoch = -1
  paused = false
  /** Set while it is full and its reader was waited for in vain. */
  slow = false
  /** Set once it is nobody's any more. */
  removed = false
  watermarks: Watermarks | undefined
  /** Whether the cached leader was found wrong, so that a fresh look is needed. */
  stale = false
  /** When to look for the leader again, by the monotonic clock. */
  retryAtMs = 0
  readonly #blocks: FetchedBlock[] = []
  #topicId: Buffer | undefined
  #topicKey = ''
  #state: PartitionState = 'locating'
  #offset: number
  #offsetEpoch: number
  #generation = 0
  #failure: MillraceError | undefined
  #attempts = 0
  #troubleSinceMs: number | undefined

  constructor(topicPartition: TopicPartition, offset: number, offsetEpoch: number) {
    this.topicPartition = topicPartition
    this.#offset = offset
    this.#offsetEpoch = offsetEpoch
  }

  /** 16 bytes, taken once, so that a topic recreated under the same name is noticed (KIP-516); undefined until known. */
  get topicId(): Buffer | undefined {
    return this.#topicId
  }

  /** The topic id as text, to pair answers by. */
  get topicKey(): string {
    return this.#topicKey
  }

  /** @returns false when the topic now has another id: it was recreated */
  fixTopicId(topicId: Buffer): boolean {
    if (this.#topicId === undefined) {
      this.#topicId = topicId
      this.#topicKey = topicId.toString('hex')
    }
    // Brokers without topic ids give zeros; there a recreated topic shows by its offsets only.
    return this.#topicId.equals(topicId)
  }

  get state(): PartitionState {
    return this.#state
  }

  /** Next offset to fetch: the end of what was fetched. */
  get offset(): number {
    return this.#offset
  }

  /** Leader epoch of the record before `offset`; −1 when unknown, and then the position is never checked. */
  get offsetEpoch(): number {
    return this.#offsetEpoch
  }

  /** Changes with every seek and removal; an answer to an older one is dropped. */
  get generation(): number {
    return this.#generation
  }

  /** How often in a row its leader was lost. */
  get attempts(): number {
    return this.#attempts
  }

  get hasBlock(): boolean {
    return this.#blocks.length > 0
  }

  get isFull(): boolean {
    return this.#blocks.length >= BLOCKS_MAX
  }

  /** What ended it, once everything fetched before has been taken. */
  get failure(): MillraceError | undefined {
    return this.#blocks.length === 0 ? this.#failure : undefined
  }

  takeBlock(): FetchedBlock | undefined {
    this.slow = false
    return this.#blocks.shift()
  }

  /** The failure, once. */
  takeFailure(): MillraceError | undefined {
    const failure = this.failure
    if (failure !== undefined) this.#failure = undefined
    return failure
  }

  /** Adds what was fetched from `offset` on, and goes on at its end. */
  push(block: FetchedBlock, end: { nextOffset: number; leaderEpoch: number }): void {
    assert(this.#blocks.length < BLOCKS_MAX, 'I14 bounds: fetched blocks', { partition: this.topicPartition.partition })
    assert(end.nextOffset > this.#offset, 'I2 tiling: a fetched block moves on', { ...end, offset: this.#offset })
    this.#blocks.push(block)
    this.#offset = end.nextOffset
    this.#offsetEpoch = end.leaderEpoch
  }

  /** A leader answered without an error: trouble is over. */
  answered(): void {
    this.#attempts = 0
    this.#troubleSinceMs = undefined
  }

  moveTo(offset: number, offsetEpoch: number): void {
    this.#state = nextPartitionState(this.#state, 'moved')
    this.#offset = offset
    this.#offsetEpoch = offsetEpoch
    this.forget()
    this.answered()
    this.retryAtMs = 0
  }

  /** Drops what is buffered, and what is under way. */
  forget(): void {
    this.#generation += 1
    this.#blocks.length = 0
    this.#failure = undefined
  }

  /** @returns whether the position has to be checked against the new leader first */
  located(nodeId: number, leaderEpoch: number): boolean {
    // A position written under the leader's own epoch cannot have been truncated by that leader.
    const check = this.#offsetEpoch >= 0 && leaderEpoch >= 0 && this.#offsetEpoch !== leaderEpoch
    const needsCheck = check && leaderEpoch !== this.leaderEpoch
    this.#state = nextPartitionState(this.#state, needsCheck ? 'epochChanged' : 'located')
    this.nodeId = nodeId
    this.stale = false
    this.candidateEpoch = leaderEpoch
    if (!needsCheck) this.leaderEpoch = leaderEpoch
    return needsCheck
  }

  validated(): void {
    this.#state = nextPartitionState(this.#state, 'validated')
    this.leaderEpoch = this.candidateEpoch
  }

  /** The cached leader is another one now: no trouble, just a look. */
  relocate(): void {
    this.#state = nextPartitionState(this.#state, 'leaderLost')
  }

  /**
   * The leader moved, is unreachable or refused: look again, at once at first, then with back-off.
   *
   * @returns since how many milliseconds bounded trouble lasts; 0 when unbounded
   */
  lost(nowMs: number, bounded: boolean): number {
    this.#state = nextPartitionState(this.#state, 'leaderLost')
    this.stale = true
    this.retryAtMs = this.#attempts === 0 ? nowMs : nowMs + backOffMs(this.#attempts)
    this.#attempts += 1
    if (!bounded) return 0
    this.#troubleSinceMs ??= nowMs
    return nowMs - this.#troubleSinceMs
  }

  fail(error: MillraceError): void {
    this.#state = nextPartitionState(this.#state, 'failed')
    this.#failure = error
  }
}

function backOffMs(attempts: number): number {
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_MIN_MS * 2 ** Math.min(attempts, 10))
}
