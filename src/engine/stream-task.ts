import { MillraceError } from '../model/errors.ts'
import type { RecordSource } from '../model/record-source.ts'
import { CurrentRecord } from '../operators/current-record.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { SubtopologyPlan } from '../topology/plan.ts'
import { HeldResults, STOP_ALWAYS } from './held-results.ts'
import type { IdleWait } from './idle-wait.ts'
import { AgeHistogram } from './histograms.ts'
import { PartitionQueue } from './partition-queue.ts'
import { tracedPorts } from './provenance-collector.ts'
import type { Punctuations } from './punctuations.ts'
import { UnresolvedTopic } from './record-collector.ts'
import { phaseOf } from './record-failures.ts'
import { compileTask } from './task-chain.ts'
import { TaskFailures } from './task-failures.ts'
import { TaskProcessors } from './task-processors.ts'
import type { TaskOptions, TaskPorts } from './task-ports.ts'
import { TaskStores } from './task-stores.ts'
import { TaskVariables } from './task-variables.ts'

/**
 * The synchronous heart of a task: takes records from its queues in the order of time, runs them through the compiled graph,
 * and keeps stores and variables so that a record, or a whole transaction, can be taken back. Used by the stream thread and by
 * the test driver alike. Kafka Streams: `StreamTask`.
 */
export class StreamTask {
  /** `<subtopology>_<partition>`. */
  readonly id: string
  readonly stores: readonly AnyState[]
  readonly idle: IdleWait | undefined
  /** How far records were behind stream time, of those that were. */
  readonly lateness = new AgeHistogram()
  readonly variables = new TaskVariables()
  readonly #ports: TaskPorts
  readonly #failures: TaskFailures
  readonly #record = new CurrentRecord()
  readonly #queues: readonly PartitionQueue[]
  /** The usual case, where there is nothing to choose. */
  readonly #onlyQueue: PartitionQueue | undefined
  readonly #queueOf: ReadonlyMap<string, PartitionQueue>
  readonly #processors: TaskProcessors
  readonly #held: HeldResults
  #streamTimeMs = -1
  /** Records that the present call of `process` has consumed. */
  #consumed = 0
  #moved = false
  #wrote = false

  constructor(plan: SubtopologyPlan, partition: number, options: TaskOptions, ports: TaskPorts) {
    this.id = `${String(plan.id)}_${String(partition)}`
    this.#ports = tracedPorts(ports, () => ({
      plan,
      partition,
      task: this.id,
      record: this.#record,
      positionOf: topic => this.#queueOf.get(topic)?.position,
    }))
    this.idle = ports.idle
    this.#failures = new TaskFailures(this.id, options.policies, this.#ports, this.#record)
    const stores = new TaskStores(plan, partition, this.#ports.collector, options.sharedGlobals, this.#record)
    this.stores = stores.own
    this.#held = new HeldResults(stores.own)
    this.#processors = new TaskProcessors(this.id, this.variables, ports.logger)
    const record = this.#record
    const entries = compileTask(plan, {
      taskId: this.id,
      ports: this.#ports,
      record,
      stores,
      variables: this.variables,
      processors: this.#processors,
      streamTime: () => this.#streamTimeMs,
    })
    this.#queues = plan.sources.flatMap(({ topics, node }, at) => {
      const entry = entries[at]
      const { source } = node
      if (entry === undefined || source === undefined) return []
      const lookedUp = stores.own.filter(store => entry.lookedUp.has(store.name))
      return topics.map(topic => new PartitionQueue(topic, partition, entry, source, record, lookedUp))
    })
    this.#onlyQueue = this.#queues.length === 1 ? this.#queues[0] : undefined
    this.#queueOf = new Map(this.#queues.map(queue => [queue.topic, queue]))
  }

  /**
   * Makes the processors, once stores and variables are complete. After an abort they are made anew; the first record or
   * punctuation does it if nobody else has.
   *
   * @throws MillraceError what `init` threw, or `PROCESSING_FAILED`
   */
  begin(): void {
    if (this.#processors.areMade) return
    this.#ports.collector.beginRecord()
    this.#record.beginPunctuation(this.#streamTimeMs)
    try {
      this.#processors.make()
    } catch (thrown) {
      this.#rollback()
      throw thrown
    }
    this.#endRecord()
  }

  /** Hands over a block; the task reads it to its end before it takes the next of that topic. */
  enqueue(topic: string, source: RecordSource): void {
    this.#queue(topic).enqueue(source)
    this.idle?.filled(topic)
  }

  /** Whether something of that topic is left to process. */
  queued(topic: string): boolean {
    return !this.#queue(topic).isEmpty
  }

  /**
   * Processes up to `maxRecords`, the lowest timestamp of all queues first. Each record is a savepoint. Returns how many
   * records were consumed, skipped ones too.
   *
   * @throws MillraceError with the reaction `stop` when a policy says so; the state is that before the record
   * @throws UnresolvedTopic when the first step to run chose a topic nobody has looked up; its record is put back
   */
  process(maxRecords: number): number {
    this.begin()
    this.idle?.begin()
    // One that failed for a topic that was unknown is called again before anything else happens.
    this.#punctuateStreamTime()
    this.#consumed = 0
    try {
      while (this.#consumed < maxRecords) {
        const queue = this.#choose()
        if (queue === undefined) break
        this.#processHead(queue)
      }
    } catch (thrown) {
      // The records before it are told of first: the next call meets the same topic at once.
      if (!(thrown instanceof UnresolvedTopic) || this.#consumed === 0) throw thrown
    }
    return this.#consumed
  }

  /** Next offset to process; `undefined` until something of the topic was handed over. */
  position(topic: string): number | undefined {
    return this.#queue(topic).position
  }

  /** Highest timestamp taken from the topic's partition, in ms; −1 at first. */
  partitionTime(topic: string): number {
    return this.#queue(topic).time
  }

  /** Takes over the partition time that was committed. */
  setPartitionTime(topic: string, ms: number): void {
    this.#queue(topic).setTime(ms)
    this.#streamTimeMs = Math.max(this.#streamTimeMs, ms)
  }

  /** Event time of the record processed last, in ms; −1 at first. */
  get recordTimeMs(): number {
    return this.#record.sourceTimestamp
  }

  /** Records that were consumed, by topic, those of aborted transactions too. */
  get consumed(): readonly { readonly topic: string; readonly records: number }[] {
    return this.#queues.map(({ topic, consumed }) => ({ topic, records: consumed }))
  }

  /** Highest event time the task has seen, in ms; −1 at first. */
  get streamTimeMs(): number {
    return this.#streamTimeMs
  }

  /** Earliest event time at the head of a queue, in ms; `undefined` when all are empty or their head cannot be read. */
  headTimestamp(): number | undefined {
    let earliest: number | undefined
    for (const queue of this.#queues) {
      if (queue.isEmpty) continue
      const timestamp = this.#readable(queue) ? queue.timestamp : -1
      if (earliest === undefined || timestamp < earliest) earliest = timestamp
    }
    return earliest
  }

  /** Runs wall-clock punctuations that are due. */
  punctuate(): void {
    this.begin()
    this.#punctuate(this.#processors.byWallClock, this.#ports.wallClockMs())
  }

  /** Wall-clock time of the next punctuation; `undefined` when none is scheduled. */
  get nextPunctuationMs(): number | undefined {
    const next = this.#processors.byWallClock.nextMs
    return Number.isFinite(next) ? next : undefined
  }

  /**
   * Writes what operators hold back until a commit: results in caches, and the changelogs of caches and buffers.
   *
   * @throws MillraceError when a record cannot be written; what was held back is then still there
   */
  flush(): void {
    const { collector } = this.#ports
    if (this.#held.isNone) return
    this.#record.leaveSource()
    collector.beginRecord()
    try {
      this.#held.flush()
    } catch (thrown) {
      this.#rollback()
      this.#failures.answer(thrown, STOP_ALWAYS)
    }
    this.#endRecord()
  }

  /** Makes everything since the last commit final: the broker has acknowledged it. */
  commitState(): void {
    for (const store of this.stores) store.commit()
    this.variables.commit()
    for (const queue of this.#queues) queue.commit()
    this.#moved = false
    this.#wrote = false
  }

  /** Takes stores, variables and times back to the last commit, drops the queues and ends the processors. */
  abortState(): void {
    this.#processors.close()
    for (const store of this.stores) store.abort()
    this.variables.abort()
    for (const queue of this.#queues) queue.abort()
    this.#streamTimeMs = Math.max(-1, ...this.#queues.map(queue => queue.time))
    this.#moved = false
    this.#wrote = false
  }

  clearQueues(): void {
    for (const queue of this.#queues) queue.clear()
  }

  /** Whether anything was written or consumed since the last commit. */
  get uncommitted(): boolean {
    return this.#moved || this.#wrote || this.stores.some(store => store.dirty)
  }

  close(): void {
    this.#processors.close()
    this.clearQueues()
    for (const store of this.stores) store.close()
  }

  /** The queue whose head comes first. Heads that fail are dealt with on the way, so the one returned is ready. */
  #choose(): PartitionQueue | undefined {
    const only = this.#onlyQueue
    if (only !== undefined) return only.isEmpty ? undefined : only
    let chosen: PartitionQueue | undefined
    for (const queue of this.#queues) {
      if (queue.isEmpty) {
        if (this.idle?.mustWait(queue.topic) === true) return undefined
        continue
      }
      // A head that cannot be read has no time: it is dealt with at once.
      if (!this.#readable(queue)) return queue
      if (chosen === undefined || queue.timestamp < chosen.timestamp) chosen = queue
    }
    return chosen
  }

  #readable(queue: PartitionQueue): boolean {
    try {
      return queue.head() === 'ready'
    } catch {
      // Decoded again, and reported, when it is processed.
      return false
    }
  }

  #processHead(queue: PartitionQueue): void {
    const { collector } = this.#ports
    const record = this.#record
    const timeBeforeMs = this.#streamTimeMs
    collector.beginRecord()
    try {
      const head = queue.head()
      queue.begin()
      if (head === 'ready') {
        record.sourceTimestamp = queue.timestamp
        if (queue.timestamp > this.#streamTimeMs) this.#streamTimeMs = queue.timestamp
        else if (queue.timestamp < this.#streamTimeMs) this.lateness.observe(this.#streamTimeMs - queue.timestamp)
        record.enter(queue.sourceName, queue.timestamp, record.sourceHeaders)
        queue.forward(queue.key, queue.value, queue.timestamp, record.sourceHeaders)
        this.#held.evict()
      } else if (head === 'skip') {
        this.#ports.dropped('negativeTimestamp', 1, record.cause)
      }
    } catch (thrown) {
      this.#rollback()
      const failed = record.releases.takeFailed()
      if (failed !== undefined || thrown instanceof UnresolvedTopic) {
        queue.putBack()
        // Punctuations that its time makes due come behind it.
        this.#streamTimeMs = timeBeforeMs
      } else if (phaseOf(thrown) === 'deserialization') this.#enterUnread(queue)
      this.#failures.answer(thrown, queue.source.errors)
      if (failed !== undefined) {
        record.leaveOut(failed)
        this.#endRecord()
        return
      }
    }
    this.#endRecord()
    queue.consume()
    this.#consumed += 1
    this.#moved = true
    this.#punctuateStreamTime()
  }

  #punctuateStreamTime(): void {
    const { byStreamTime } = this.#processors
    if (byStreamTime.nextMs <= this.#streamTimeMs) this.#punctuate(byStreamTime, this.#streamTimeMs)
  }

  #enterUnread(queue: PartitionQueue): void {
    queue.begin()
    this.#record.node = queue.sourceName
    this.#record.sourceTimestamp = queue.rawTimestamp
  }

  #punctuate(punctuations: Punctuations, nowMs: number): void {
    punctuations.punctuate(nowMs, (node, call, punctuation) => {
      this.variables.endRecord()
      while (!this.#hasPunctuated(nowMs, node, call, punctuation));
      this.#record.releases.forget()
    })
  }

  /** Calls a punctuation; `false` when it has to be called again without a result that it let go of, as a record would be. */
  #hasPunctuated(nowMs: number, node: string, call: () => void, punctuation: object): boolean {
    const record = this.#record
    let failed: number | undefined
    this.#ports.collector.beginRecord()
    record.beginPunctuation(nowMs, punctuation)
    record.node = node
    try {
      if (this.#ports.timed === undefined) call()
      else this.#ports.timed(call)
    } catch (thrown) {
      this.#rollback()
      failed = record.releases.takeFailed()
      this.#failures.answer(thrown, undefined)
      if (failed !== undefined) record.leaveOut(failed)
    }
    this.#endRecord()
    return failed === undefined
  }

  #endRecord(): void {
    if (this.#ports.collector.endRecord()) this.#wrote = true
    for (const store of this.stores) store.endRecord()
    this.#processors.endRecord()
    this.variables.endRecord()
  }

  #rollback(): void {
    this.#ports.collector.rollbackRecord()
    for (const store of this.stores) store.rollbackRecord()
    this.#processors.rollbackRecord()
    this.variables.rollbackRecord()
  }

  #queue(topic: string): PartitionQueue {
    const queue = this.#queueOf.get(topic)
    if (queue === undefined)
      throw new MillraceError('INTERNAL', { task: this.id, topic, what: 'The task does not read this topic.' })
    return queue
  }
}
