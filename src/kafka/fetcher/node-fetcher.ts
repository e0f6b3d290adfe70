import type { Timer } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import { AnswerSize } from './answer-size.ts'
import type { FetchConnection } from './fetch-cluster.ts'
import { type TakenAnswers, takeAnswers } from './fetch-answers.ts'
import { handleThrown } from './fetch-errors.ts'
import type { FetchHost } from './fetch-host.ts'
import { FrameLender } from './frame-lender.ts'
import type { FetchPartition } from './fetch-partition.ts'
import { type AskedPartition, fetchBody, type FetchLimits } from './fetch-request.ts'

/** How the waits of long polls are chosen. */
export interface FetchPace {
  /** First wait after something happened; doubles while nothing does, so that a newcomer is not kept waiting behind a parked poll. */
  readonly waitMinMs: number
  /** Longest wait. Kafka: `fetch.max.wait.ms`. */
  readonly waitMaxMs: number
}

/** Longest poll while a partition is full: it cannot join until the poll ends. */
const FULL_WAIT_MAX_MS = 64

/** How long a poll is held back for a full partition to be taken from, so that it can join. */
const FULL_HOLD_MS = 10

/** Fetches from one broker: one long poll at a time, over all its partitions that have room. */
export class NodeFetcher {
  readonly #host: FetchHost
  readonly #nodeId: number
  readonly #limits: FetchLimits
  readonly #pace: FetchPace
  /** Those served longest ago first: the broker fills an answer in this order (KIP-74). */
  readonly #partitions = new Set<FetchPartition>()
  readonly #frames = new FrameLender()
  readonly #size = new AnswerSize()
  #connection: FetchConnection | undefined
  #busy = false
  #closed = false
  #waitMs: number
  /** Full partitions as of the last look, and those of them whose reader may still come soon. */
  #full = 0
  #toHoldFor = 0
  #hold: Timer | undefined
  #pacing: Timer | undefined
  #throttle: Timer | undefined

  constructor(host: FetchHost, nodeId: number, limits: FetchLimits, pace: FetchPace) {
    this.#host = host
    this.#nodeId = nodeId
    this.#limits = limits
    this.#pace = pace
    this.#waitMs = pace.waitMinMs
  }

  add(partition: FetchPartition): void {
    this.#partitions.add(partition)
    this.nudge()
  }

  remove(partition: FetchPartition): void {
    this.#partitions.delete(partition)
  }

  /** Something about its partitions changed: polls are short again for a while. */
  nudge(): void {
    this.#waitMs = this.#pace.waitMinMs
    this.#pacing?.cancel()
    this.#pacing = undefined
  }

  /** A block was taken: there is room. */
  taken(): void {
    if (this.#hold !== undefined) {
      this.#hold.cancel()
      this.#hold = undefined
    }
    this.pump()
  }

  /** Sends the next poll if none is out and a partition has room. */
  pump(): void {
    if (this.#busy || this.#closed || this.#throttle !== undefined || this.#pacing !== undefined) return
    const asked = this.#collect()
    if (asked.length === 0) return
    const connection = this.#connection
    if (connection === undefined || connection.closed) {
      void this.#connect(asked)
      return
    }
    if (this.#toHoldFor > 0) {
      this.#hold ??= this.#host.clock.after(FULL_HOLD_MS, () => this.#holdNoLonger())
      return
    }
    void this.#poll(connection, asked)
  }

  close(): void {
    this.#closed = true
    this.#partitions.clear()
    for (const timer of [this.#hold, this.#pacing, this.#throttle]) timer?.cancel()
    // A parked poll would be answered in half a second; nobody waits for it.
    if (this.#busy) this.#connection?.destroy(new MillraceError('CONNECTION_LOST', { what: 'The fetcher was closed.' }))
  }

  #collect(): AskedPartition[] {
    const asked: AskedPartition[] = []
    this.#full = 0
    this.#toHoldFor = 0
    for (const partition of this.#partitions) {
      const leader = this.#host.cluster.leaderOf(partition.topicPartition)
      if (leader?.nodeId !== this.#nodeId || leader.leaderEpoch !== partition.leaderEpoch) {
        this.#partitions.delete(partition)
        this.#host.moved(partition)
      } else if (partition.isFull) {
        if (partition.paused) continue
        this.#full += 1
        if (!partition.slow) this.#toHoldFor += 1
      } else if (!partition.paused) {
        asked.push({ partition, generation: partition.generation, offset: partition.offset })
      }
    }
    return asked
  }

  /** Whoever did not make room by now is not waited for again until it does. */
  #holdNoLonger(): void {
    this.#hold = undefined
    for (const partition of this.#partitions) if (partition.isFull) partition.slow = true
    this.pump()
  }

  async #connect(asked: readonly AskedPartition[]): Promise<void> {
    this.#busy = true
    try {
      this.#connection = await this.#host.cluster.connection(this.#nodeId, 'fetch')
    } catch (error) {
      this.#lose(asked, error)
    }
    this.#busy = false
    // After a failure too: partitions that came meanwhile were not asked for, and nobody else would send their poll.
    this.pump()
  }

  async #poll(connection: FetchConnection, asked: readonly AskedPartition[]): Promise<void> {
    const host = this.#host
    const waitMs = this.#full > 0 ? Math.min(this.#waitMs, FULL_WAIT_MAX_MS) : this.#waitMs
    const version = connection.apiVersions.best('Fetch')
    if (version === undefined) {
      this.#lose(asked, new MillraceError('BROKER_TOO_OLD', { what: 'The broker has no usable version of Fetch.' }))
      return
    }
    this.#busy = true
    const sentAtMs = host.clock.nowMs()
    const limits = {
      ...this.#limits,
      maxBytes: this.#size.of(this.#limits.maxBytes),
      partitionMaxBytes: this.#size.of(this.#limits.partitionMaxBytes),
    }
    let taken: TakenAnswers
    try {
      const frames = this.#frames
      const response = await connection.send('Fetch', fetchBody(asked, waitMs, limits), { version, frames })
      if (this.#closed) return
      const loan = frames.lend()
      taken = takeAnswers(host, asked, { version, response, isolation: this.#limits.isolation, loan })
      loan?.release()
      this.#throttled(response.throttleTimeMs)
    } catch (error) {
      if (error instanceof MillraceError && error.code === 'REQUEST_TIMED_OUT')
        this.#size.late(host.clock.nowMs() - sentAtMs, limits.maxBytes)
      this.#lose(asked, error)
      this.#busy = false
      this.pump()
      return
    }
    if (taken.served.length > 0) this.#size.came(host.clock.nowMs() - sentAtMs)
    this.#busy = false
    for (const partition of taken.served) if (this.#partitions.delete(partition)) this.#partitions.add(partition)
    if (taken.changed) this.#waitMs = this.#pace.waitMinMs
    else this.#idle(waitMs - (host.clock.nowMs() - sentAtMs))
    // The next poll goes out before anybody processes what came.
    this.pump()
    if (taken.served.length > 0) host.wake()
  }

  /** An answer brought nothing: wait longer next time, and never ask more often than the polls were meant to last. */
  #idle(leftMs: number): void {
    this.#waitMs = Math.min(this.#pace.waitMaxMs, this.#waitMs * 2)
    if (leftMs <= this.#pace.waitMinMs / 2) return
    this.#pacing = this.#host.clock.after(leftMs, () => {
      this.#pacing = undefined
      this.pump()
    })
  }

  /** Over a quota it is the client that has to wait (KIP-219). */
  #throttled(delayMs: number): void {
    if (delayMs <= 0) return
    this.#throttle = this.#host.clock.after(delayMs, () => {
      this.#throttle = undefined
      this.pump()
    })
  }

  #lose(asked: readonly AskedPartition[], error: unknown): void {
    if (this.#closed) return
    for (const { partition, generation } of asked) {
      this.#partitions.delete(partition)
      if (partition.state !== 'ready') continue
      if (partition.generation === generation) handleThrown(this.#host, partition, error)
      // Sought while the poll was out: its position is new, but it needs a leader all the same.
      else if (!partition.removed) this.#host.moved(partition)
    }
  }
}
