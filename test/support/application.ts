import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProgress } from '../../src/engine/commit-offsets.ts'
import type { Admin } from '../../src/kafka/admin/admin.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'
import { checkRun } from '../../src/verification/check-run.ts'
import type { CheckName } from '../../src/verification/verdict.ts'
import { type ApplicationShape, numberedRecord, SHAPES, type ShapeName } from './application-shape.ts'
import { uniqueName } from './broker.ts'
import { eventually } from './condition.ts'
import { committedOffsets, type ReadRecord, readTopic, readTopicInProcess } from './kafka-reader.ts'
import { KafkaWriter } from './kafka-writer.ts'
import { MillraceProcess } from './millrace-process.ts'
import { observeEnded } from './run-verdict.ts'
import type { Account } from './sequence-account.ts'
import { connectCluster, createTopic, type TestCluster } from './test-cluster.ts'
import { untilMarked } from './transaction-markers.ts'

export type { ShapeName } from './application-shape.ts'
export type { Account } from './sequence-account.ts'

/** An application to put under test. */
export interface ApplicationOptions {
  readonly shape: ShapeName
  /** Of the brokers themselves, never through a proxy: what is checked must be true. */
  readonly bootstrapServers: string
  /** Of input and output. @default 2 */
  readonly partitions?: number
  /** @default 1 */
  readonly replicationFactor?: number
  /** Kafka Streams' properties, such as `commit.interval.ms: 100`. */
  readonly streams?: Readonly<Record<string, string | number | boolean>>
  /** Properties of the clients, such as `session.timeout.ms: 6000`. */
  readonly kafka?: Readonly<Record<string, string | number | boolean>>
  /** Whether all it writes says where it comes from, so that `expectConsistent` can judge the run. @default false */
  readonly judged?: boolean
  /** Further lines of the YAML file. */
  readonly lines?: readonly string[]
}

/** How one process of the application is started. */
export interface StartOptions {
  /** Which instance: each keeps a state directory of its own, which its next life finds again. @default 'a' */
  readonly instance?: string
  /** Where it finds Kafka: a proxy, for example. @default the brokers */
  readonly bootstrapServers?: string
  /** Properties of the clients for this process only. */
  readonly kafka?: Readonly<Record<string, string | number | boolean>>
  /** Environment, such as `MILLRACE_TEST_CRASH_AT`. */
  readonly env?: Readonly<Record<string, string>>
}

/** Short enough that a test sees several transactions. */
const COMMIT_INTERVAL_MS = 50
/** Checks that have to have compared something in every run. */
const JUDGED: readonly CheckName[] = [
  'readers',
  'prefixFunction',
  'tiling',
  'atomicity',
  'fencing',
  'keyOrder',
  'monotony',
  'dirtyInput',
  'anomalies',
]
const CAUGHT_UP_TIMEOUT_MS = 60_000
/** Of each process, where a wait has failed. */
const LINES_SHOWN = 25

/**
 * An application with topics, a group and state directories of its own, run as one or more processes, and the checks of
 * what it did: everything is read by the Java client, from the brokers themselves.
 */
export class ApplicationUnderTest {
  readonly id = uniqueName('app')
  readonly input = uniqueName('in')
  readonly output = uniqueName('out')
  readonly shape: ApplicationShape
  readonly admin: Admin
  readonly #options: ApplicationOptions
  readonly #client: TestCluster
  readonly #folder: string
  readonly #processes: MillraceProcess[] = []
  /** Event time of the first record: recent, or the topics' retention would delete the input. */
  readonly #startMs = Date.now()
  #written = 0

  private constructor(options: ApplicationOptions, client: TestCluster, folder: string) {
    this.#options = options
    this.#client = client
    this.admin = client.admin
    this.#folder = folder
    this.shape = SHAPES[options.shape]
  }

  /** Creates the topics; `dispose` it at the end. */
  static async create(options: ApplicationOptions): Promise<ApplicationUnderTest> {
    const client = await connectCluster(options.bootstrapServers)
    const folder = await mkdtemp(join(tmpdir(), 'millrace-state-'))
    const application = new ApplicationUnderTest(options, client, folder)
    const { partitions = 2, replicationFactor = 1 } = options
    for (const topic of [application.input, application.output]) {
      await createTopic(client.admin, topic, { partitions, replicationFactor })
    }
    return application
  }

  /** Starts a process; it may already be dead when this returns. */
  async start(options: StartOptions = {}): Promise<MillraceProcess> {
    const { env = {}, instance = 'a' } = options
    const process = await MillraceProcess.start({ yaml: this.yaml(options), env, stateDir: this.stateDir(instance) })
    this.#processes.push(process)
    return process
  }

  /** The state directory of an instance. */
  stateDir(instance = 'a'): string {
    return join(this.#folder, instance)
  }

  yaml({ bootstrapServers = this.#options.bootstrapServers, kafka = {} }: StartOptions = {}): string {
    const { replicationFactor = 1 } = this.#options
    return [
      'streams:',
      `  application.id: ${this.id}`,
      ...linesOf({
        'commit.interval.ms': COMMIT_INTERVAL_MS,
        'replication.factor': replicationFactor,
        ...(this.#options.judged === true ? { 'provenance.headers': true } : {}),
        ...this.#options.streams,
      }),
      'kafka:',
      ...linesOf({ 'bootstrap.servers': bootstrapServers, ...this.#options.kafka, ...kafka }),
      ...this.shape.flow(this),
      'http: { port: 0 }',
      'logging: { format: json, level: debug }',
      ...(this.#options.lines ?? []),
    ].join('\n')
  }

  /** Writes the next records of the numbered sequence into the input, by the Java producer. */
  async write(count: number): Promise<void> {
    const writer = await KafkaWriter.open(this.#options.bootstrapServers)
    const from = this.#written
    const records = Array.from({ length: count }, (_, index) => numberedRecord(from + index))
    // Time goes on evenly from record to record, so that each partition's time is known.
    await writer.write(
      this.input,
      records.map(({ key, value, n }) => ({ key, value, timestamp: this.#startMs + n })),
    )
    this.#written += count
  }

  /**
   * Waits until every source partition, of repartition topics too, is committed to its end, with the markers of what was
   * committed (I15).
   */
  async untilCaughtUp(timeoutMs = CAUGHT_UP_TIMEOUT_MS): Promise<void> {
    let lag = Number.NaN
    try {
      await eventually('the group has no lag', async () => (lag = await this.lag()) === 0, timeoutMs)
    } catch (error) {
      const lines = this.#processes.flatMap(process => ['---', ...process.lines.slice(-LINES_SHOWN)])
      throw new Error(`the lag is still ${String(lag)}\n${lines.join('\n')}`, { cause: error })
    }
    await untilMarked(this.admin, `${this.id}-`, timeoutMs)
  }

  /** Records (markers too) between the committed offsets and the ends of all source partitions. */
  async lag(): Promise<number> {
    let lag = 0
    for (const topic of [this.input, ...this.repartitionTopics]) {
      const partitions = await this.partitionsOf(topic)
      if (partitions.length === 0) return Number.POSITIVE_INFINITY
      const committed = await this.admin.committedOffsets(this.id, partitions, { requireStable: false })
      const ends = await this.admin.listOffsets(partitions, 'latest', 'read_uncommitted')
      for (const [partition, end] of ends) lag += end - (committed.get(partition)?.offset ?? 0)
    }
    return lag
  }

  get repartitionTopics(): readonly string[] {
    return this.shape.repartitions.map(name => `${this.id}-${name}-repartition`)
  }

  get changelogTopics(): readonly string[] {
    return this.shape.stores.map(name => `${this.id}-${name}-changelog`)
  }

  /** Ids of the brokers that lead partitions of a topic. */
  async leadersOf(topic: string): Promise<ReadonlySet<number>> {
    await this.#client.cluster.refresh([topic])
    const info = await this.#client.cluster.topic(topic)
    return new Set(info?.partitions.map(({ leader }) => leader))
  }

  async partitionsOf(topic: string): Promise<readonly TopicPartition[]> {
    const info = await this.#client.cluster.topic(topic)
    return (info?.partitions ?? []).map(({ partition }) => ({ topic, partition }))
  }

  /** What a read_committed reader sees in the output, per partition in order of offsets. */
  readOutput(): Promise<ReadRecord[]> {
    return readTopic(this.#options.bootstrapServers, this.output)
  }

  /** Compares what came out with what the whole input demands. */
  async account(): Promise<Account> {
    const input = await readTopic(this.#options.bootstrapServers, this.input)
    return this.shape.compare(input, await this.readOutput())
  }

  /** As `expectExact`, but only input, output and offsets, and read by our own fetcher: for a look in between. */
  async expectExactSoFar(timeoutMs = CAUGHT_UP_TIMEOUT_MS): Promise<void> {
    const { bootstrapServers } = this.#options
    await this.untilCaughtUp(timeoutMs)
    await this.#untilReadable(timeoutMs)
    const input = await readTopicInProcess(bootstrapServers, this.input)
    this.#expectNoDifference(this.shape.compare(input, await readTopicInProcess(bootstrapServers, this.output)))
  }

  /** Waits for the end of the input, then everything must be exactly as the input demands (I1–I4, I8). */
  async expectExact(timeoutMs = CAUGHT_UP_TIMEOUT_MS): Promise<void> {
    await this.untilCaughtUp(timeoutMs)
    await this.#untilReadable(timeoutMs)
    const input = await readTopic(this.#options.bootstrapServers, this.input)
    const output = await this.readOutput()
    this.#expectNoDifference(this.shape.compare(input, output))
    await this.expectNothingOpen()
    await this.#expectCommittedProgress(input)
    for (const topic of this.changelogTopics) {
      const changelog = await readTopic(this.#options.bootstrapServers, topic)
      expect(lastValues(changelog), `fold of ${topic} (I4)`).to.deep.equal(lastValues(output))
    }
  }

  /**
   * What a process that is gone or stopped has left open holds up readers of what others have committed behind it, until
   * its time is over (reliability: the order of a check).
   */
  async #untilReadable(timeoutMs: number): Promise<void> {
    for (const topic of [this.output, ...this.changelogTopics]) {
      const partitions = await this.partitionsOf(topic)
      await eventually(
        `what is written to ${topic} is decided`,
        async () => {
          const ends = await this.admin.listOffsets(partitions, 'latest', 'read_uncommitted')
          const stable = await this.admin.listOffsets(partitions, 'latest', 'read_committed')
          return [...ends].every(([partition, end]) => stable.get(partition) === end)
        },
        timeoutMs,
      )
    }
  }

  /**
   * Ends every process, then has the checker judge the whole run by its logs: every output, changelog record, offset and
   * transaction of every life (docs/correctness.md). Only for an application that was `judged` from the beginning.
   */
  async expectConsistent(): Promise<void> {
    await Promise.all(this.#processes.filter(one => !one.hasExited).map(one => one.terminate(CAUGHT_UP_TIMEOUT_MS)))
    // With an instance id of its own a member keeps its place, and the group would look alive for a session.
    const { members } = await this.admin.describeGroup(this.id)
    await this.admin.removeMembers(this.id, members)
    const { verdict, checks } = checkRun(await observeEnded(this.yaml(), this.#client))
    const wrong = JSON.stringify(checks.filter(({ state }) => state === 'failed' || state === 'unjudged'))
    expect(verdict, `verdict on ${this.id}: ${wrong}`).to.equal('consistent')
    const passed = checks.filter(({ state }) => state === 'passed').map(({ check }) => check)
    expect(passed).to.include.members(this.shape.stores.length === 0 ? JUDGED : [...JUDGED, 'state'])
  }

  #expectNoDifference(account: Account): void {
    const records = this.#written
    expect(account, `output of ${this.id}`).to.deep.equal({
      records,
      outputs: records,
      duplicates: 0,
      lost: 0,
      wrong: [],
    })
  }

  /** No transaction of the application is open, and none holds up a reader. */
  async expectNothingOpen(): Promise<void> {
    await eventually('no transaction of the application is open', async () => {
      const open = await this.openTransactions()
      return open.length === 0
    })
    for (const topic of [this.output, ...this.changelogTopics, ...this.repartitionTopics]) {
      const partitions = await this.partitionsOf(topic)
      const ends = await this.admin.listOffsets(partitions, 'latest', 'read_uncommitted')
      const stable = await this.admin.listOffsets(partitions, 'latest', 'read_committed')
      expect([...stable], `last stable offsets of ${topic}`).to.have.deep.members([...ends])
    }
  }

  /** Transactional ids of the application with a transaction that is not over. */
  async openTransactions(): Promise<readonly string[]> {
    const open = await this.admin.listTransactions({ states: ['Ongoing', 'PrepareCommit', 'PrepareAbort'] })
    return open.map(({ transactionalId }) => transactionalId).filter(id => id.startsWith(`${this.id}-`))
  }

  /** The committed offsets are the ends, and say which transaction committed them and what time it is. */
  async #expectCommittedProgress(records: readonly ReadRecord[]): Promise<void> {
    const committed = await committedOffsets(this.#options.bootstrapServers, this.id)
    const ends = await this.admin.listOffsets(await this.partitionsOf(this.input), 'latest', 'read_uncommitted')
    for (const [{ partition }, end] of ends) {
      if (end === 0) continue
      const found = committed.find(at => at.topic === this.input && at.partition === partition)
      expect(found?.offset, `committed offset of partition ${String(partition)}`).to.equal(end)
      if (found === undefined) continue
      const { transaction, partitionTime } = readProgress(found)
      // `readProgress` gives the number only where the metadata name the committed offset itself.
      expect(transaction, 'millrace.txn beside the offset it belongs to').to.be.a('number')
      const times = records.filter(record => record.partition === partition).map(({ timestamp }) => timestamp)
      expect(partitionTime, `partition time of partition ${String(partition)}`).to.equal(Math.max(...times))
    }
  }

  /** Ends all processes and forgets the state directories. */
  async dispose(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map(process => process.dispose()))
    await this.#client.cluster.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

function linesOf(properties: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(properties).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`)
}

function lastValues(records: readonly ReadRecord[]): Record<string, string | null> {
  const last: Record<string, string | null> = {}
  for (const { key, value } of records) {
    last[`key ${key?.toString('utf8') ?? 'null'}`] = value === null ? null : value.toString('hex')
  }
  return last
}
