import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../../../src/cli/demo/seeded-random.ts'
import type { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { eventually } from '../../support/condition.ts'
import { EPOCH_MAX, raiseEpoch } from '../../support/epochs.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { CommittedFollower } from '../random/committed-follower.ts'
import { millId, millTopics, type MillTopics, millYaml, outputsOf } from '../random/mill-application.ts'
import { MillCluster } from '../random/mill-cluster.ts'
import { MillInstance } from '../random/mill-instance.ts'
import { complaintsOf, millAccounts, type MillRecords } from '../random/mill-model.ts'
import { MillTraffic } from '../random/mill-traffic.ts'
import { Odometer } from './odometer.ts'

/** What came of a soak. */
export interface SoakReport {
  readonly hours: number
  /** Committed input records. */
  readonly records: number
  readonly commits: number
  readonly aborts: number
  /** Lives of the second instance. */
  readonly lives: number
  /** Transactional ids that were given a new producer id because their epochs had run out. */
  readonly epochOverflows: number
  /** Of the instance that nobody stops, in MiB: once it runs, and at the end. */
  readonly memoryStartMib: number
  readonly memoryEndMib: number
  readonly violations: readonly string[]
  readonly verdict: 'consistent' | 'violated'
}

/** Commits until the epochs run out. */
const EPOCHS_LEFT = 20
const COMMIT_INTERVAL_MS = 5
/** Room for a model that keeps everything in memory. */
const ORDERS_MAX = 200_000
const ORDERS_PER_TURN = 8
const PAUSE_MS_MIN = 200
const STOP_EVERY_MS_MIN = 20_000
const STOPS = 20
const LOOK_MS = 5_000
const WAIT_MS = 120_000
const MIB = 1_048_576

/**
 * Runs an application for long: one instance all the time, whose memory is watched, one that is killed or stopped again
 * and again. Both begin shortly before their epochs run out, and commit every few milliseconds.
 */
export class SoakRun {
  readonly #kafka: LocalKafka
  readonly #hours: number
  readonly #id = millId()
  readonly #topics: MillTopics = millTopics(this.#id)
  readonly #violations: string[] = []
  readonly #odometer = new Odometer()

  constructor(kafka: LocalKafka, hours: number) {
    this.#kafka = kafka
    this.#hours = hours
  }

  /** Runs it all, up to the verdict. */
  async run(): Promise<SoakReport> {
    const servers = this.#kafka.bootstrapServers
    const durationMs = this.#hours * 3_600_000
    const folder = await mkdtemp(join(tmpdir(), 'millrace-soak-'))
    const cluster = await MillCluster.create(servers, { id: this.#id, topics: this.#topics })
    const ids = ['steady', 'restless'].map(name => `${this.#id}-${name}-1`)
    const producerIds = new Map<string, number>()
    for (const id of ids) producerIds.set(id, await raiseEpoch(servers, id, EPOCH_MAX - EPOCHS_LEFT))
    const [steady, restless] = [this.#instance('steady', folder), this.#instance('restless', folder)]
    const follower = await CommittedFollower.follow(servers, outputsOf(this.#topics))
    const pauseMs = Math.max(PAUSE_MS_MIN, (durationMs * ORDERS_PER_TURN) / ORDERS_MAX)
    const traffic = MillTraffic.flow(servers, this.#topics, seededRandom(1), pauseMs)
    try {
      const first = await steady.live()
      await restless.live()
      await eventually('the application writes', () => follower.records > 0, WAIT_MS)
      const memoryStartMib = await memoryMib(first)
      const lives = await this.#wear(durationMs, steady, restless)
      await traffic.stop()
      await restless.live()
      await cluster.untilDone(WAIT_MS)
      await cluster.untilDecided(WAIT_MS)
      await this.#odometer.look([steady, restless])
      const memoryEndMib = await memoryMib(first)
      const epochOverflows = await cluster.newProducerIds(producerIds)
      await Promise.all([steady, restless].map(instance => instance.end('SIGTERM')))
      await follower.stop()
      const records = await this.#read()
      this.#violations.push(...complaintsOf(millAccounts(records)))
      for (const output of ['ledger', 'totals', 'enriched', 'paid', 'priced'] as const) {
        this.#violations.push(...follower.differencesWith(this.#topics[output], records[output]))
      }
      return {
        hours: this.#hours,
        records: records.orders.length + records.payments.length + records.accounts.length + records.lines.length,
        commits: this.#odometer.commits,
        aborts: this.#odometer.aborts,
        lives,
        epochOverflows,
        memoryStartMib,
        memoryEndMib,
        violations: this.#violations,
        verdict: this.#violations.length === 0 ? 'consistent' : 'violated',
      }
    } finally {
      await traffic.stop().catch(() => undefined)
      await follower.stop().catch(() => undefined)
      await Promise.all([steady, restless].map(instance => instance.dispose()))
      await cluster.close()
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Stops and kills the restless instance in turns. @returns how many lives it had */
  async #wear(durationMs: number, steady: MillInstance, restless: MillInstance): Promise<number> {
    const deadline = Date.now() + durationMs
    const everyMs = Math.max(STOP_EVERY_MS_MIN, durationMs / STOPS)
    let nextStop = Date.now() + everyMs
    let lives = 1
    while (Date.now() < deadline) {
      await new Promise(resolve => setTimeout(resolve, Math.min(LOOK_MS, Math.max(1, deadline - Date.now()))))
      await this.#odometer.look([steady, restless])
      if (Date.now() < nextStop) continue
      nextStop += everyMs
      await restless.end(lives % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
      await restless.live()
      lives += 1
    }
    return lives
  }

  #instance(name: string, folder: string): MillInstance {
    return new MillInstance({
      name,
      stateDir: join(folder, name),
      yaml: millYaml({
        id: this.#id,
        topics: this.#topics,
        bootstrapServers: this.#kafka.bootstrapServers,
        logLevel: 'info',
        streams: { 'commit.interval.ms': COMMIT_INTERVAL_MS },
        kafka: { 'group.instance.id': name, 'session.timeout.ms': 10_000, 'transaction.timeout.ms': 10_000 },
      }),
      onUnexpectedExit: ({ instance, exit, lines }) => {
        this.#violations.push(`${instance} ended by itself: ${JSON.stringify(exit)}\n${lines.slice(-4).join('\n')}`)
      },
    })
  }

  async #read(): Promise<MillRecords> {
    const read: Partial<Record<keyof MillTopics, MillRecords['orders']>> = {}
    for (const [name, topic] of Object.entries(this.#topics) as [keyof MillTopics, string][]) {
      read[name] = await readTopic(this.#kafka.bootstrapServers, topic)
    }
    return read as MillRecords
  }
}

/** Resident memory of a process. */
async function memoryMib({ pid }: MillraceProcess): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8')
  const kib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN)
  return Math.round((kib * 1_024) / MIB)
}
