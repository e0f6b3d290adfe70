import type { Clock, Timer } from '../model/clock.ts'
import { asMillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { formatTopicPartition, TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { OpenTransaction } from '../kafka/admin/open-transactions.ts'
import { HeldInputs, type HeldInput } from './held-inputs.ts'
import type { HeldInputAge, ThreadSnapshot } from './thread-metrics.ts'
import { transactionOwner } from './transaction-owner.ts'

/** Whom the watch asks about transactions, over connections of its own. */
export interface TransactionQuestions {
  openTransactions(partitions: readonly TopicPartition[]): Promise<readonly OpenTransaction[]>
  /** Ids of the groups of the cluster, to guess whose transactional id it is. */
  groups(): Promise<readonly string[]>
  /** Ends the connections; a later question opens them again. */
  close(): Promise<void>
}

/** What the watch needs. */
export interface HeldInputWatchOptions {
  readonly snapshots: () => Promise<readonly ThreadSnapshot[]>
  readonly questions: TransactionQuestions
  readonly clock: Clock
  readonly logger: Logger
  /** How long an input may be held up before the log names by whom. */
  readonly warnAfterMs: number
}

interface Reported {
  readonly lastStableOffset: number
  readonly atMs: number
  /** When the transaction began, by the wall clock; `undefined` where no coordinator tells. */
  readonly startedAtMs: number | undefined
  /** Whether the input has gone on since. */
  readonly over: boolean
}

/** How often the threads are asked where they stand. */
const LOOK_MS = 1_000
/** How often the log says again what it has said of an input that is still held up. */
const REPEAT_MS = 300_000
/** Of an input that one transaction after the other holds up, the log speaks no more often than this. */
const QUIET_MS = 60_000
/** Partitions that one line of questions is about; the others have their turn at the next look. */
const PARTITIONS_MAX = 100

/**
 * Watches, off the data path, whether open transactions of others hold up inputs, and writes to the log by whom: nothing
 * of the application is at fault then, and nothing in its own log would say why it does not go on.
 */
export class HeldInputWatch {
  readonly #options: HeldInputWatchOptions
  readonly #held = new HeldInputs()
  readonly #reported = new TopicPartitionMap<Reported>()
  #timer: Timer | undefined
  #closed = false
  #refused = false

  constructor(options: HeldInputWatchOptions) {
    this.#options = options
    this.#schedule()
  }

  /** The snapshots with how long each input has been held up. */
  annotate(threads: readonly ThreadSnapshot[]): readonly ThreadSnapshot[] {
    return threads.map(thread => ({
      ...thread,
      partitions: thread.partitions.map(partition => {
        const held = this.#ageOf(partition)
        return held === undefined ? partition : { ...partition, held }
      }),
    }))
  }

  #ageOf(topicPartition: TopicPartition): HeldInputAge | undefined {
    const held = this.#held.of(topicPartition)
    if (held === undefined) return undefined
    const { clock } = this.#options
    const heldForMs = clock.nowMs() - held.sinceMs
    const reported = this.#reported.get(topicPartition)
    const known = reported?.lastStableOffset === held.lastStableOffset ? reported.startedAtMs : undefined
    const transactionAgeMs = known === undefined ? heldForMs : Math.max(heldForMs, clock.wallClockMs() - known)
    return { heldForMs, transactionAgeMs }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#options.questions.close()
  }

  #schedule(): void {
    this.#timer = this.#options.clock.after(LOOK_MS, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { snapshots, clock, questions, logger } = this.#options
    try {
      for (const { topicPartition } of this.#held.look(await snapshots(), clock.nowMs())) this.#goesOn(topicPartition)
      const due = this.#held.all.filter(held => this.#isDue(held)).slice(0, PARTITIONS_MAX)
      if (due.length > 0 && !this.#closed) await this.#report(due)
      this.#forget()
      if (this.#reported.size === 0) await questions.close()
    } catch (error) {
      const { code, message } = asMillraceError(error)
      logger.debug({ code, err: message }, 'who holds up an input cannot be asked now')
    } finally {
      // What was asked while it was closed has opened its connection again.
      if (this.#closed) await questions.close()
      else this.#schedule()
    }
  }

  #isDue({ topicPartition, lastStableOffset, sinceMs }: HeldInput): boolean {
    const nowMs = this.#options.clock.nowMs()
    if (nowMs - sinceMs < this.#options.warnAfterMs) return false
    const reported = this.#reported.get(topicPartition)
    if (reported === undefined) return true
    const quietMs = reported.lastStableOffset === lastStableOffset ? REPEAT_MS : QUIET_MS
    return nowMs - reported.atMs >= quietMs
  }

  async #report(due: readonly HeldInput[]): Promise<void> {
    const { questions, clock, logger } = this.#options
    let open: readonly OpenTransaction[] = []
    try {
      open = await questions.openTransactions(due.map(({ topicPartition }) => topicPartition))
    } catch (error) {
      const failure = asMillraceError(error)
      if (failure.code !== 'NOT_AUTHORIZED') throw failure
      if (!this.#refused) {
        this.#refused = true
        const { code, message, action } = failure
        logger.warn({ code, err: message, action }, 'who holds up inputs may not be asked: a right is missing')
      }
    }
    const groups = open.length === 0 ? [] : await questions.groups()
    const told = new Map<number | undefined, number>()
    for (const held of due) {
      const holder = open.find(each => holds(each, held))
      this.#reported.set(held.topicPartition, {
        lastStableOffset: held.lastStableOffset,
        atMs: clock.nowMs(),
        startedAtMs: holder === undefined || holder.hanging ? undefined : startOf(holder),
        over: false,
      })
      // It may have ended since; the next look shows that.
      if (holder === undefined && !this.#refused) continue
      const lines = told.get(holder?.producerId) ?? 0
      told.set(holder?.producerId, lines + 1)
      if (lines === 0) logger.warn(this.#fieldsOf(held, holder, groups), sentenceOf(holder))
    }
    for (const [producerId, inputs] of told) {
      if (inputs > 1) logger.warn({ producerId, partitions: inputs - 1 }, 'the same holds up further inputs')
    }
  }

  #fieldsOf(held: HeldInput, holder: OpenTransaction | undefined, groups: readonly string[]): object {
    const { topicPartition, lastStableOffset, highWatermark, sinceMs } = held
    const { clock } = this.#options
    const place = {
      ...topicPartition,
      lastStableOffset,
      highWatermark,
      blockedRecords: highWatermark - lastStableOffset,
      heldForSeconds: secondsBetween(sinceMs, clock.nowMs()),
    }
    if (holder === undefined) return place
    const { producerId, producerEpoch, owner, hanging } = holder
    const startedAtMs = hanging ? undefined : startOf(holder)
    const transactionalId = owner?.transactionalId
    const guess = transactionalId === undefined ? undefined : transactionOwner(transactionalId, groups)
    return {
      ...place,
      producerId,
      producerEpoch,
      ...(transactionalId === undefined ? {} : { transactionalId, transactionState: owner?.state }),
      ...(startedAtMs === undefined ? {} : { openForSeconds: secondsBetween(startedAtMs, clock.wallClockMs()) }),
      ...(guess === undefined ? {} : { application: guess.applicationId, instance: guess.instance }),
      lastWriteSecondsAgo: secondsBetween(holder.lastTimestampMs, clock.wallClockMs()),
    }
  }

  #goesOn(topicPartition: TopicPartition): void {
    const reported = this.#reported.get(topicPartition)
    // Held up by the next transaction already: nothing that anybody would call going on.
    if (reported === undefined || reported.over || this.#held.of(topicPartition) !== undefined) return
    this.#reported.set(topicPartition, { ...reported, over: true })
    this.#options.logger.info({ partition: formatTopicPartition(topicPartition) }, 'an input that was held up goes on')
  }

  /** Forgets what need not be kept from being said again. */
  #forget(): void {
    const nowMs = this.#options.clock.nowMs()
    for (const [place, { over, atMs }] of Array.from(this.#reported)) {
      if (over && nowMs - atMs >= QUIET_MS) this.#reported.delete(place)
    }
  }
}

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) / 1_000)
}

/** Readers stand at the first record of the oldest one. */
function holds({ topicPartition, startOffset }: OpenTransaction, held: HeldInput): boolean {
  const { topic, partition } = held.topicPartition
  return (
    topicPartition.topic === topic && topicPartition.partition === partition && startOffset === held.lastStableOffset
  )
}

function startOf({ owner }: OpenTransaction): number | undefined {
  return owner === undefined || owner.startedAtMs < 0 ? undefined : owner.startedAtMs
}

function sentenceOf(holder: OpenTransaction | undefined): string {
  if (holder === undefined) return 'an open transaction holds up an input; which one may not be asked'
  if (holder.owner === undefined) {
    return 'a transaction holds up an input; no coordinator tells whose: it hangs, or Describe on its transactional id is missing (millrace txn find-hanging)'
  }
  return holder.hanging
    ? 'a transaction that no coordinator will end holds up an input (millrace txn find-hanging)'
    : 'an open transaction of another producer holds up an input'
}
