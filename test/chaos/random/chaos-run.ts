import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { integerBetween, seededRandom } from '../../../src/cli/demo/seeded-random.ts'
import type { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { eventually } from '../../support/condition.ts'
import { firedLog, KafkaProxy } from '../../support/kafka-proxy.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import { CommittedFollower } from './committed-follower.ts'
import { FaultExecutor } from './fault-executor.ts'
import { faultSchedule } from './fault-schedule.ts'
import { millId, millTopics, type MillTopics, millYaml, outputsOf } from './mill-application.ts'
import { MillCluster } from './mill-cluster.ts'
import { MillInstance } from './mill-instance.ts'
import { complaintsOf, millAccounts, type MillRecords } from './mill-model.ts'
import { MillTraffic } from './mill-traffic.ts'
import { type Sometimes, sometimesOf } from './sometimes.ts'
import { verifyByCommand } from './verify-command.ts'

/** One run of random faults. */
export interface ChaosOptions {
  readonly seed: number
  readonly kafka: LocalKafka
  /** How long faults are thrown. */
  readonly durationMs: number
}

/** How the application is set up; the seed decides. */
export interface ChaosVariation {
  readonly instances: number
  readonly threads: number
  readonly commitIntervalMs: number
  /** Whether `group.instance.id` is given, so that a stopped instance keeps its place. */
  readonly isNamed: boolean
  /** Whether records say where they come from, so that `millrace verify` can judge; else repartition topics are purged. */
  readonly isMarked: boolean
}

/** The variation of a seed. */
export function variationOf(seed: number): ChaosVariation {
  const random = seededRandom(seed + 3)
  return {
    instances: integerBetween(random, 2, 3),
    threads: integerBetween(random, 1, 2),
    commitIntervalMs: [5, 50, 50, 400][integerBetween(random, 0, 3)] ?? 50,
    isNamed: random() < 0.3,
    isMarked: random() < 0.7,
  }
}

/** What came of a run. */
export interface ChaosReport {
  /** Empty when all of it held. */
  readonly violations: readonly string[]
  readonly variation: ChaosVariation
  readonly sometimes: Sometimes
  /** Records of each topic at the end. */
  readonly records: Readonly<Record<string, number>>
  /** What the second reader saw while the faults went on. */
  readonly followed: number
  /** Logs of all processes and the record of what fired; kept when there are violations. */
  readonly folder: string
}

const CLIENT = {
  'session.timeout.ms': 6_000,
  'heartbeat.interval.ms': 500,
  'transaction.timeout.ms': 6_000,
  'request.timeout.ms': 4_000,
  'delivery.timeout.ms': 20_000,
  'max.poll.interval.ms': 30_000,
}
const PURGE_INTERVAL_MS = 2_000
const SKIPPED_MARKERS = "Couldn't find leader endpoint for partitions"
/** Faults at one time. */
const FAULTS_AT_ONCE = 6
/** After so many the application must show that it still gets on. */
const FAULTS_PER_ROUND = 20
/** Three processes with two threads each, on a loaded machine. */
const START_MS = 300_000
/** Sessions, transactions, the broker's look-around and restores on a loaded machine, together (I15). */
const HEAL_MS = 120_000

/** Throws random faults at a counting and joining application, then checks everything it did. */
export class ChaosRun {
  readonly #options: ChaosOptions
  readonly #variation: ChaosVariation
  readonly #id = millId()
  readonly #topics: MillTopics = millTopics(this.#id)
  readonly #instances = new Map<string, MillInstance>()
  readonly #guests: MillInstance[] = []
  readonly #violations: string[] = []
  readonly #happened = new Map<string, number>()
  #stopping = false

  constructor(options: ChaosOptions) {
    this.#options = options
    this.#variation = variationOf(options.seed)
  }

  /** Runs it all, up to the verdict. */
  async run(): Promise<ChaosReport> {
    const { kafka, seed } = this.#options
    const folder = await mkdtemp(join(tmpdir(), `millrace-chaos-${String(seed)}-`))
    const record = firedLog(join(folder, 'faults.ndjson'))
    const cluster = await MillCluster.create(kafka.bootstrapServers, { id: this.#id, topics: this.#topics })
    const proxy = await KafkaProxy.start({ bootstrapServers: kafka.bootstrapServers, record })
    const history = join(folder, 'history.ndjson')
    const follower = await CommittedFollower.follow(kafka.bootstrapServers, outputsOf(this.#topics), firedLog(history))
    const traffic = MillTraffic.flow(kafka.bootstrapServers, this.#topics, seededRandom(seed + 1))
    let records: Partial<MillRecords> = {}
    try {
      for (const name of ['a', 'b', 'c'].slice(0, this.#variation.instances)) {
        this.#instances.set(name, this.#instance(name, proxy, folder))
      }
      await Promise.all([...this.#instances.values()].map(instance => instance.live()))
      await eventually('the application writes', () => follower.records > 0, START_MS)
      await this.#storm(proxy, cluster, record)
      await this.#guard('at the end of the traffic', () => traffic.stop())
      await this.#heal(proxy)
      await this.#guard('after the faults', () => cluster.untilDone(HEAL_MS))
      await this.#guard('after the faults', () => cluster.untilDecided(HEAL_MS))
      await Promise.all([...this.#instances.values()].map(instance => instance.alone(() => instance.end('SIGTERM'))))
      await this.#guard('after the stop', () => cluster.untilDecided(HEAL_MS))
      await this.#guard('of the second reader', () => follower.stop())
      records = await this.#judge(follower)
      if (this.#variation.isMarked) {
        const yaml = this.#yaml('verify', kafka.bootstrapServers)
        this.#violations.push(...(await verifyByCommand({ yaml, folder, history })))
      }
      this.#violations.push(...(await markersForgottenBy(kafka)))
      this.#violations.push(...proxy.failures.map(failure => `the proxy itself failed: ${String(failure)}`))
    } catch (error) {
      await this.#keep(folder, records)
      throw new Error(`the run was not finished; logs in ${folder}; ${this.#violations.join('; ')}`, { cause: error })
    } finally {
      this.#stopping = true
      await traffic.stop().catch(() => undefined)
      await follower.stop().catch(() => undefined)
      await Promise.all(this.#everyone().map(instance => instance.dispose()))
      await proxy.stop()
      await cluster.close()
    }
    const lives = this.#everyone().flatMap(instance => instance.lives)
    if (this.#violations.length === 0) await rm(folder, { recursive: true, force: true })
    else await this.#keep(folder, records)
    return {
      violations: this.#violations,
      variation: this.#variation,
      sometimes: sometimesOf(lives, this.#happened),
      records: Object.fromEntries(Object.entries(records).map(([name, { length }]) => [name, length])),
      followed: follower.records,
      folder,
    }
  }

  #everyone(): readonly MillInstance[] {
    return [...this.#instances.values(), ...this.#guests]
  }

  #instance(name: string, proxy: KafkaProxy, folder: string): MillInstance {
    return new MillInstance({
      name,
      stateDir: join(folder, `state-${name}`),
      yaml: this.#yaml(name, proxy.bootstrapServers),
      onUnexpectedExit: ({ instance, exit, lines }) => {
        if (this.#stopping) return
        const how = `code ${String(exit.code)}, signal ${String(exit.signal)}`
        this.#violations.push(`instance ${instance} ended by itself (${how}):\n${lines.slice(-4).join('\n')}`)
      },
    })
  }

  #yaml(name: string, bootstrapServers: string): string {
    const { threads, commitIntervalMs, isNamed, isMarked } = this.#variation
    return millYaml({
      id: this.#id,
      topics: this.#topics,
      bootstrapServers,
      streams: {
        'commit.interval.ms': commitIntervalMs,
        'num.stream.threads': threads,
        'repartition.purge.interval.ms': PURGE_INTERVAL_MS,
        'provenance.headers': isMarked,
      },
      kafka: { ...CLIENT, 'client.id': name, ...(isNamed ? { 'group.instance.id': name } : {}) },
    })
  }

  /** The faults, up to a few at once; in between the application must show that it gets on. */
  async #storm(proxy: KafkaProxy, cluster: MillCluster, record: (entry: object) => void): Promise<void> {
    const { kafka, seed, durationMs } = this.#options
    const deadline = Date.now() + durationMs
    const executor = new FaultExecutor({
      kafka,
      proxy,
      instances: this.#instances,
      guest: () => {
        const guest = this.#instance(`guest${String(this.#guests.length)}`, proxy, tmpdir())
        this.#guests.push(guest)
        return guest
      },
      stopping: () => Date.now() > deadline + 10_000,
    })
    const schedule = faultSchedule(seededRandom(seed), {
      instances: [...this.#instances.keys()],
      nodes: kafka.nodes.length,
    })
    while (Date.now() < deadline) {
      const running = new Set<Promise<void>>()
      for (let count = 0; count < FAULTS_PER_ROUND && Date.now() < deadline; count += 1) {
        const { afterMs, fault } = schedule.next().value
        await new Promise(resolve => setTimeout(resolve, afterMs))
        if (running.size >= FAULTS_AT_ONCE) await Promise.race(running)
        const done: Promise<void> = executor.run(fault).then(
          happened => {
            record({ at: Date.now(), fault, happened })
            if (happened) this.#happened.set(fault.kind, (this.#happened.get(fault.kind) ?? 0) + 1)
            return undefined
          },
          (error: unknown) => {
            this.#violations.push(`the fault ${JSON.stringify(fault)} could not be done: ${String(error)}`)
          },
        )
        running.add(done)
        void done.finally(() => running.delete(done))
      }
      await Promise.all(running)
      await this.#heal(proxy)
      await this.#guard('between two rounds of faults', () => cluster.untilPassed(HEAL_MS))
    }
  }

  /** Everything is there and lives. */
  async #heal(proxy: KafkaProxy): Promise<void> {
    proxy.heal()
    await Promise.all(this.#options.kafka.nodes.map(({ id }) => this.#options.kafka.startNode(id)))
    await Promise.all([...this.#instances.values()].map(instance => instance.alone(() => instance.live())))
  }

  async #guard(when: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#violations.push(`${when}: ${String(error)}`)
    }
  }

  /** Reads everything by the Java client and compares it with the model and with what the second reader saw. */
  async #judge(follower: CommittedFollower): Promise<MillRecords> {
    const records = await this.#read()
    this.#violations.push(...complaintsOf(millAccounts(records)))
    for (const output of ['ledger', 'totals', 'enriched', 'paid', 'priced'] as const) {
      this.#violations.push(...follower.differencesWith(this.#topics[output], records[output]))
    }
    return records
  }

  /** What somebody needs who looks for the cause: the log of every life and the records of every topic. */
  async #keep(folder: string, records: Partial<MillRecords>): Promise<void> {
    for (const instance of this.#everyone()) {
      for (const [index, life] of instance.lives.entries()) {
        await writeFile(join(folder, `${instance.name}-${String(index)}.log`), life.lines.join('\n'))
      }
    }
    for (const { id, logFile } of this.#options.kafka.nodes) {
      await copyFile(logFile, join(folder, `broker-${String(id)}.log`))
    }
    for (const [name, all] of Object.entries(records)) {
      const lines = all.map(({ partition, offset, timestamp, key, value, headers }) =>
        JSON.stringify({
          partition,
          offset,
          timestamp,
          key: String(key),
          value: String(value),
          headers: headers.map(([header, bytes]) => [header, String(bytes)]),
        }),
      )
      await writeFile(join(folder, `${name}.ndjson`), lines.join('\n'))
    }
  }

  async #read(): Promise<MillRecords> {
    const servers = this.#options.kafka.bootstrapServers
    const read: Partial<Record<keyof MillTopics, MillRecords['orders']>> = {}
    for (const [name, topic] of Object.entries(this.#topics) as [keyof MillTopics, string][]) {
      read[name] = await readTopic(servers, topic)
    }
    return read as MillRecords
  }
}

/**
 * What makes a run void: Kafka 4.4 skips the markers of partitions that have no leader at that moment, as if they had
 * been deleted. Records of an aborted transaction can then become visible with the next one, whoever the client is.
 */
async function markersForgottenBy(kafka: LocalKafka): Promise<readonly string[]> {
  const logs = await Promise.all(kafka.nodes.map(({ logFile }) => readFile(logFile, 'utf8')))
  const skipped = logs.flatMap(log => log.split('\n')).filter(line => line.includes(SKIPPED_MARKERS))
  return skipped.length === 0
    ? []
    : [`void: the broker skipped transaction markers ${String(skipped.length)} times: ${skipped[0] ?? ''}`]
}
