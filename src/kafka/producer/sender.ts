import { assert } from '../../model/assert.ts'
import type { Clock } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Connection } from '../connection/connection.ts'
import { decodeResponseBody, type ResponseBodies } from '../protocol/api.ts'
import { kafkaErrorName } from '../protocol/error-codes.ts'
import { retryPauseMs } from './retry-pause.ts'
import type { BrokerLink } from './broker-link.ts'
import { EarliestAlarm } from './earliest-alarm.ts'
import { LeaderLinks } from './leader-links.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'
import { PartitionLane } from './partition-lane.ts'
import { encodeProduceBody, type ProduceRequest, type ProduceSettings } from './produce-request.ts'
import { isFinal } from './producer-failure.ts'
import { judgeProduce, REFRESHES_LEADER } from './produce-verdict.ts'
import type { ProgressSignal } from './progress-signal.ts'
import type { SendGate } from './send-gate.ts'

/** What a request holds at most, beyond its first batch: several partitions of a broker share one. */
const REQUEST_BYTES_MAX = 1_048_576

/** Hears what becomes of the batches. */
export interface SenderListener {
  /** The broker has it. */
  acknowledged(lane: PartitionLane, batch: OutgoingBatch): void
  /** Without idempotence: given up. */
  dropped(lane: PartitionLane, batch: OutgoingBatch, cause: MillraceError): void
  /** A request got no answer: the broker may still act on it. */
  unsure(): void
  /** A batch cannot be delivered; nothing more is sent until it was discarded. `kafkaCode` is 0 without an answer. */
  failed(error: MillraceError, batch: OutgoingBatch | undefined, kafkaCode: number): void
  /** Something was answered, or may be tried again. */
  progressed(): void
}

/** Settings of `Sender`; see `ProducerOptions`. */
export interface SenderOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: ProduceSettings
  readonly idempotent: boolean
  readonly maxInFlightPerPartition: number
  readonly requestTimeoutMs: number
  readonly gate: SendGate
  readonly listener: SenderListener
  /** Notified with every answer. */
  readonly signal: ProgressSignal
}

/**
 * Sends closed batches to the leaders of their partitions: one connection per broker, up to five batches in flight per
 * partition, in order. What comes back is sent again with the identical bytes, one by one. Kafka: `Sender`.
 */
export class Sender {
  readonly #options: SenderOptions
  readonly #lanes: PartitionLane[] = []
  /** Lanes with work; order does not matter, each lane keeps its own. */
  readonly #active: PartitionLane[] = []
  readonly #links: LeaderLinks
  #outstanding = 0
  #stopped = false
  #draining = false
  readonly #alarm: EarliestAlarm

  constructor(options: SenderOptions) {
    this.#options = options
    const { cluster, clock, logger, listener } = options
    this.#alarm = new EarliestAlarm(clock, () => {
      listener.progressed()
    })
    this.#links = new LeaderLinks({
      cluster,
      clock,
      logger,
      wakeAt: atMs => {
        this.#alarm.wakeAt(atMs)
      },
      onRefused: error => {
        this.#fail(error, undefined, 0)
      },
      onChanged: () => {
        listener.progressed()
      },
    })
  }

  /** Whether nothing waits and nothing is on its way. */
  get idle(): boolean {
    return this.#outstanding === 0 && this.#lanes.every(lane => lane.idle)
  }

  /** The lane of a partition that is written for the first time. */
  openLane(topic: string, partition: number): PartitionLane {
    const lane = new PartitionLane(topic, partition)
    this.#lanes.push(lane)
    return lane
  }

  /** Notes that a lane has work. */
  activate(lane: PartitionLane): void {
    if (lane.active) return
    lane.active = true
    this.#active.push(lane)
  }

  /** Sends what may be sent now. */
  drain(): void {
    if (this.#draining) return
    this.#draining = true
    const nowMs = this.#options.clock.nowMs()
    for (let sent = true; sent;) {
      sent = false
      for (const lane of this.#active) if (this.#offer(lane, nowMs)) sent = true
      for (const link of this.#links.all) if (link.hasRequest) this.#dispatch(link)
    }
    this.#retire()
    this.#draining = false
  }

  /** Sends nothing more until `resume`. */
  stop(): void {
    this.#stopped = true
  }

  /** Undoes `stop`. */
  resume(): void {
    this.#stopped = false
  }

  /**
   * Waits for the answers to what was sent, at most `boundMs`; then destroys the connections, so that nothing unanswered
   * can be answered any more. Only after `stop`.
   *
   * @returns false when something stayed unanswered
   */
  async quiesce(boundMs: number): Promise<boolean> {
    assert(this.#stopped, 'only a stopped sender comes to rest')
    const { clock, signal } = this.#options
    const untilMs = clock.nowMs() + boundMs
    while (this.#outstanding > 0 && clock.nowMs() < untilMs) await signal.next(untilMs - clock.nowMs())
    if (this.#outstanding === 0) return true
    for (const link of this.#links.all) {
      if (link.outstanding > 0) link.connection?.destroy(new Error('the transaction was aborted'))
    }
    while (this.#outstanding > 0) await signal.next(boundMs)
    return false
  }

  /**
   * Forgets everything that was not acknowledged; nothing may be outstanding.
   *
   * @returns whether something of it had been sent: its sequences are used up and missing
   */
  discard(release: (batch: OutgoingBatch) => void): boolean {
    assert(this.#outstanding === 0, 'F19 nothing in flight is forgotten')
    let gap = false
    for (const lane of this.#lanes) {
      gap ||= lane.sent.length > 0
      for (const batch of lane.sent) release(batch)
      for (const batch of lane.pending) release(batch)
      lane.clear()
    }
    this.#active.length = 0
    return gap
  }

  /** Every partition counts from 0 again: there is a new producer id or epoch. */
  restartSequences(): void {
    assert(
      this.#lanes.every(lane => lane.sent.length === 0),
      'no batch keeps the sequence of an old epoch',
    )
    for (const lane of this.#lanes) lane.restartSequence()
  }

  /** Ends the timer. */
  close(): void {
    this.#stopped = true
    this.#alarm.cancel()
  }

  /** Puts the lane's next batch into a request, when it may go; whether it did. */
  #offer(lane: PartitionLane, nowMs: number): boolean {
    const batch = this.#nextOf(lane, nowMs)
    if (batch === undefined) return false
    if (nowMs >= batch.deadlineMs) {
      this.#expire(lane, batch)
      return false
    }
    if (!this.#options.gate.admits(lane)) return false
    const link = this.#links.linkOf(lane, nowMs)
    const connection = link?.usable
    if (link === undefined || connection === undefined) return false
    if (connection.throttledMs > 0) {
      // What is on its way cannot be taken back: an abort would have to wait for it.
      this.#alarm.wakeAt(nowMs + connection.throttledMs)
      return false
    }
    if (lane.outstanding > 0 && lane.connection !== connection) return false
    if (link.building.bytes > 0 && link.building.bytes + batch.sealed.bytes.length > REQUEST_BYTES_MAX) {
      this.#dispatch(link)
    }
    if (batch.baseSequence < 0) this.#firstSend(lane, batch)
    batch.outstanding = true
    lane.outstanding += 1
    lane.connection = connection
    link.building.add(lane, batch)
    return true
  }

  #nextOf(lane: PartitionLane, nowMs: number): OutgoingBatch | undefined {
    if (this.#stopped) return undefined
    if (lane.retryAtMs > nowMs) {
      this.#alarm.wakeAt(lane.retryAtMs)
      return undefined
    }
    if (lane.recovering) return lane.outstanding > 0 ? undefined : lane.sent[0]
    const { gate, maxInFlightPerPartition } = this.#options
    const inFlightMax = lane.confirmed || gate.provesFirstSequence ? maxInFlightPerPartition : 1
    return lane.sent.length < inFlightMax ? lane.pending[0] : undefined
  }

  #firstSend(lane: PartitionLane, batch: OutgoingBatch): void {
    const { stamp } = this.#options.gate
    batch.baseSequence = lane.takeSequence(batch.sealed.count)
    batch.sealed.stamp(
      stamp === null
        ? null
        : {
            producerId: stamp.producerId,
            epoch: stamp.epoch,
            baseSequence: batch.baseSequence,
            transactional: stamp.transactional,
          },
    )
    lane.pending.shift()
    lane.sent.push(batch)
  }

  #dispatch(link: BrokerLink): void {
    const request = link.takeRequest()
    const { connection } = link
    assert(connection !== undefined, 'a request has a connection', { nodeId: link.nodeId })
    link.outstanding += 1
    this.#outstanding += 1
    void this.#exchange(link, connection, request)
  }

  /** Sends one request and deals with its answer; never rejects. */
  async #exchange(link: BrokerLink, connection: Connection, request: ProduceRequest): Promise<void> {
    const { settings, requestTimeoutMs, listener, signal } = this.#options
    let answer: ResponseBodies['Produce'] | MillraceError
    try {
      const version = this.#versionFor(connection)
      const body = encodeProduceBody(request, version, settings)
      answer = decodeResponseBody(
        'Produce',
        version,
        await connection.sendRaw('Produce', version, body, { timeoutMs: requestTimeoutMs }),
      )
    } catch (error) {
      answer = asMillraceError(error)
      // What is behind an answer that cannot be read is not to be trusted either.
      if (answer.code === 'PROTOCOL_VIOLATION') connection.destroy(answer)
    }
    link.outstanding -= 1
    this.#outstanding -= 1
    if (answer instanceof MillraceError) this.#lost(request, answer)
    else {
      connection.throttle(answer.throttleTimeMs)
      this.#answered(request, answer)
    }
    signal.notify()
    listener.progressed()
  }

  #versionFor(connection: Connection): number {
    const { min, max } = this.#options.gate.produceVersions
    const version = connection.apiVersions.best('Produce', max)
    if (version !== undefined && version >= min) return version
    throw new MillraceError('TRANSACTION_ABORTED', {
      reaction: 'refence',
      what: `The broker no longer takes Produce ${String(max)}: transaction.version of the cluster has changed.`,
    })
  }

  #answered(request: ProduceRequest, answer: ResponseBodies['Produce']): void {
    let guess = 0
    for (const { name, partitionResponses } of answer.responses) {
      for (const { index: partition, errorCode, errorMessage } of partitionResponses) {
        const index = request.indexOf(name, partition, guess)
        guess = index + 1
        const lane = request.lanes[index]
        const batch = request.batches[index]
        if (lane === undefined || batch?.outstanding !== true) continue
        batch.outstanding = false
        lane.outstanding -= 1
        this.#judge(lane, batch, errorCode, errorMessage)
      }
    }
    if (request.batches.some(batch => batch.outstanding)) {
      this.#lost(request, new MillraceError('PROTOCOL_VIOLATION', { what: 'A Produce answer lacks a partition.' }))
    }
  }

  #judge(lane: PartitionLane, batch: OutgoingBatch, code: number, message: string | null): void {
    const { idempotent, listener } = this.#options
    const verdict = judgeProduce({ code, message, lane, batch, idempotent })
    switch (verdict.type) {
      case 'acknowledged':
        lane.remove(batch)
        lane.confirmed = true
        listener.acknowledged(lane, batch)
        return
      case 'again':
        this.#comeBack(lane, batch, kafkaErrorName(code))
        if (REFRESHES_LEADER.has(code)) this.#links.refresh(lane.topic)
        return
      case 'dropped':
        lane.remove(batch)
        listener.dropped(lane, batch, verdict.cause)
        return
      case 'failed':
        this.#fail(verdict.cause, batch, code)
        return
    }
  }

  /** No answer: the broker may have the batches or not, and may still get them. */
  #lost(request: ProduceRequest, cause: MillraceError): void {
    const { idempotent, listener, logger } = this.#options
    logger.debug({ err: cause, batches: request.batches.length }, 'a Produce request got no answer')
    listener.unsure()
    for (const [index, lane] of request.lanes.entries()) {
      const batch = request.batches[index]
      if (batch?.outstanding !== true) continue
      batch.outstanding = false
      lane.outstanding -= 1
      if (idempotent) {
        this.#comeBack(lane, batch, cause.message)
      } else {
        // Sent again it might be there twice.
        lane.remove(batch)
        listener.dropped(lane, batch, cause)
      }
    }
    if (isFinal(cause) || cause.code === 'TRANSACTION_ABORTED') this.#fail(cause, undefined, 0)
    for (const topic of new Set(request.lanes.map(lane => lane.topic))) this.#links.refresh(topic)
  }

  #comeBack(lane: PartitionLane, batch: OutgoingBatch, reason: string): void {
    batch.failures += 1
    batch.lastReason = reason
    lane.recovering = true
    lane.retryAtMs = this.#options.clock.nowMs() + retryPauseMs(batch.failures)
    this.activate(lane)
    this.#alarm.wakeAt(lane.retryAtMs)
  }

  #expire(lane: PartitionLane, batch: OutgoingBatch): void {
    const cause = new MillraceError('REQUEST_TIMED_OUT', {
      what: `A batch was not acknowledged within delivery.timeout.ms: ${lane.leaderMisses > 0 ? 'the partition has no leader' : batch.lastReason}`,
      topic: lane.topic,
      partition: lane.partition,
    })
    if (this.#options.idempotent) {
      this.#fail(cause, batch, 0)
      return
    }
    lane.remove(batch)
    this.#options.listener.dropped(lane, batch, cause)
  }

  #fail(error: MillraceError, batch: OutgoingBatch | undefined, kafkaCode: number): void {
    this.stop()
    this.#options.listener.failed(error, batch, kafkaCode)
    this.#options.signal.notify()
  }

  #retire(): void {
    for (let i = this.#active.length - 1; i >= 0; i -= 1) {
      const lane = this.#active[i]
      if (lane === undefined || !lane.idle) continue
      lane.active = false
      const last = this.#active.pop()
      if (last !== undefined && i < this.#active.length) this.#active[i] = last
    }
  }
}
