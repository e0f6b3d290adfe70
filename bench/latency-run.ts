import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { build } from 'hdr-histogram-js'
import type { Fetcher } from '../src/kafka/fetcher/fetcher.ts'
import type { Producer } from '../src/kafka/producer/producer.ts'
import type { RecordCursor } from '../src/kafka/records/record-cursor.ts'
import { NO_HEADERS } from '../src/model/headers.ts'
import { partitionForKey } from '../src/model/murmur2.ts'
import { plainFetcher } from '../test/support/plain-fetcher.ts'
import { connectCluster, createTopic } from '../test/support/test-cluster.ts'
import type { Contender } from './contenders/contender.ts'
import { ContenderProcess, withFolder } from './contender-process.ts'
import { Dice } from './dice.ts'
import { keyOf } from './inputs.ts'
import { LastCounter } from './output-check.ts'
import { newProducer } from './producer.ts'
import { mergesUpdates, type Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/**
 * From a record's append to a `read_committed` reader's receipt of its result, in ms. Where a cache merges the results of
 * several records, the last of them counts: the others have none.
 */
export interface LatencyMeasurement {
  /** Results that were measured. */
  readonly records: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** How long is measured, and how long the contender may warm up before. */
export interface LatencyTimes {
  readonly warmUpSeconds: number
  readonly seconds: number
}

const RECORDS_PER_SECOND = 2_000
const TICK_MS = 5
const RECORDS_PER_TICK = (RECORDS_PER_SECOND * TICK_MS) / 1_000
const START_TIMEOUT_MS = 60_000
/** Who cannot keep up, as on a machine with other work, has its backlog to do first. */
const TAIL_TIMEOUT_MS = 60_000
const LOOK_MS = 20
const HIGHEST_MS = 600_000

/**
 * Writes a steady 2,000 records/s and measures how late each one's result is seen. Only records of the time after the
 * warm-up count; the clock starts once the first result has been seen, and ends when the results stand for all records.
 *
 * @throws when a result is missing or comes twice
 */
export async function runLatency(
  stage: Stage,
  scenario: Scenario,
  contender: Contender,
  times: LatencyTimes,
): Promise<LatencyMeasurement> {
  const { application, output } = await stage.newApplication(scenario)
  const input = `${application}-in`
  await createTopic(stage.admin, input, { partitions: scenario.partitions, replicationFactor: scenario.brokers })
  await stage.untilQuiet()
  return await withFolder(async folder => {
    const { bootstrapServers, cli } = stage
    const places = { bootstrapServers, cli, application, input, table: '', output, stateFolder: `${folder}/state` }
    const running = await ContenderProcess.start(await contender.launch(scenario, places, folder), folder)
    const reader = await ResultReader.open(bootstrapServers, output, scenario)
    const writer = await SteadyWriter.open(stage, input, scenario)
    const until = async (timeoutMs: number, what: string, holds: () => boolean): Promise<void> => {
      const deadlineMs = performance.now() + timeoutMs
      while (!holds()) {
        await running.usage()
        writer.throwFailure()
        if (performance.now() > deadlineMs) {
          const counts = `${String(reader.seen)} results of ${String(writer.written)} records were seen`
          throw new Error(`no sign of ${what} in time; ${counts}:\n${await running.logEnd()}`)
        }
        await pause(LOOK_MS)
      }
    }
    try {
      await until(START_TIMEOUT_MS, 'the first result', () => reader.seen > 0)
      const fromMs = Date.now() + times.warmUpSeconds * 1_000
      const toMs = fromMs + times.seconds * 1_000
      reader.countFrom(fromMs, toMs)
      await until(toMs - Date.now() + TAIL_TIMEOUT_MS, 'the end of the time', () => Date.now() >= toMs)
      writer.stop()
      await until(TAIL_TIMEOUT_MS, 'the last result', () => reader.records >= writer.written)
      if (reader.records !== writer.written) {
        throw new Error(`${String(writer.written)} records were written, and results of ${String(reader.records)} seen`)
      }
      if (reader.seen !== writer.written && !mergesUpdates(scenario, contender.name)) {
        throw new Error(`${String(writer.written)} records were written, and ${String(reader.seen)} results seen`)
      }
      return reader.measurement()
    } finally {
      writer.stop()
      await writer.close()
      await reader.close()
      await running.end()
      await stage.remove(application, output)
    }
  })
}

/** Writes so many records every few milliseconds; each bears the time of its append. */
class SteadyWriter {
  written = 0
  readonly #producer: Producer
  readonly #timer: NodeJS.Timeout
  readonly #dice = new Dice(7)
  readonly #value: Buffer
  #nextMs = performance.now()

  private constructor(producer: Producer, topic: string, { partitions, keys, valueBytes }: Scenario) {
    this.#producer = producer
    this.#value = Buffer.from(this.#dice.text(valueBytes))
    const target = producer.records.topic(topic)
    this.#timer = setInterval(() => {
      // A timer that came late makes up for what it has missed.
      for (; this.#nextMs <= performance.now(); this.#nextMs += TICK_MS) {
        for (let i = 0; i < RECORDS_PER_TICK; i += 1) {
          const key = Buffer.from(keyOf(this.#dice.below(keys)))
          producer.records.append(target, partitionForKey(key, partitions), key, this.#value, Date.now(), NO_HEADERS)
          this.written += 1
        }
      }
      producer.pump()
    }, TICK_MS)
  }

  static async open(stage: Stage, topic: string, scenario: Scenario): Promise<SteadyWriter> {
    return new SteadyWriter(await newProducer(stage.cluster, { lingerMs: 0 }), topic, scenario)
  }

  throwFailure(): void {
    if (this.#producer.failure !== undefined) throw this.#producer.failure
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async close(): Promise<void> {
    await this.#producer.close(0)
  }
}

/** Reads results as they become visible. */
class ResultReader {
  seen = 0
  readonly #histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_MS,
    numberOfSignificantValueDigits: 3,
  })
  /** Counts per key are added up; of anything else each result stands for one record. */
  readonly #counts: LastCounter | undefined
  readonly #fetcher: Fetcher
  readonly #reading: Promise<void>
  readonly #closed = new AbortController()
  readonly #closeCluster: () => Promise<void>
  #fromMs = Number.POSITIVE_INFINITY
  #toMs = 0

  private constructor(
    fetcher: Fetcher,
    woken: EventEmitter,
    closeCluster: () => Promise<void>,
    topic: string,
    { partitions, workload }: Scenario,
  ) {
    this.#counts = workload === 'count' ? new LastCounter() : undefined
    this.#fetcher = fetcher
    this.#closeCluster = closeCluster
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))
    for (const partition of all) fetcher.add(partition, { offset: 0, leaderEpoch: -1 })
    this.#reading = this.#read(woken, all)
  }

  static async open(bootstrapServers: string, topic: string, scenario: Scenario): Promise<ResultReader> {
    const { cluster } = await connectCluster(bootstrapServers, { clientId: 'bench-reader' })
    const woken = new EventEmitter()
    const fetcher = plainFetcher(cluster, { onWake: () => woken.emit('wake') })
    return new ResultReader(fetcher, woken, () => cluster.close(), topic, scenario)
  }

  /** How many records the results stand for that have been seen. */
  get records(): number {
    return this.#counts?.sum ?? this.seen
  }

  /** Counts results of records that were appended from one moment to another. */
  countFrom(fromMs: number, toMs: number): void {
    this.#fromMs = fromMs
    this.#toMs = toMs
  }

  measurement(): LatencyMeasurement {
    const histogram = this.#histogram
    return {
      records: histogram.totalCount,
      p50: histogram.getValueAtPercentile(50),
      p90: histogram.getValueAtPercentile(90),
      p99: histogram.getValueAtPercentile(99),
      p999: histogram.getValueAtPercentile(99.9),
      max: histogram.maxValue,
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#reading
    await this.#fetcher.close()
    await this.#closeCluster()
  }

  async #read(woken: EventEmitter, partitions: readonly { topic: string; partition: number }[]): Promise<void> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      if (!this.#fetcher.hasData) {
        try {
          await once(woken, 'wake', { signal })
        } catch {
          return
        }
      }
      const nowMs = Date.now()
      for (const partition of partitions) {
        const block = this.#fetcher.take(partition)
        if (block === undefined) continue
        while (block.cursor.next()) this.#take(block.cursor, nowMs)
      }
    }
  }

  #take(result: RecordCursor, nowMs: number): void {
    this.seen += 1
    this.#counts?.add(result)
    const appendedMs = result.timestamp
    if (appendedMs >= this.#fromMs && appendedMs < this.#toMs)
      this.#histogram.recordValue(Math.max(0, nowMs - appendedMs))
  }
}
