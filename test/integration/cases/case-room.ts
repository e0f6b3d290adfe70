import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import type { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { uniqueName, useBroker, type BrokerKind } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopicInProcess, type Isolation, type ReadRecord } from '../../support/kafka-reader.ts'
import { KafkaWriter, type RecordToWrite, type WrittenRecord } from '../../support/kafka-writer.ts'
import { MillraceProcess, type MillraceProcessOptions, type ProcessExit } from '../../support/millrace-process.ts'
import { createTopic } from '../../support/test-cluster.ts'
import { untilMarked } from '../../support/transaction-markers.ts'

/** Long enough for one application on a loaded machine. */
export const PATIENCE_MS = 60_000

type Block = Readonly<Record<string, unknown>>

/** The blocks of an application's file; `streams` and `kafka` hold only what differs from the defaults of a test. */
export interface CaseApplication {
  readonly id: string
  /** @default the broker itself */
  readonly servers?: string
  readonly streams?: Block
  readonly kafka?: Block
  readonly sources: Block
  readonly steps?: Block
  readonly sinks: Block
  readonly errors?: Block
  readonly http?: Block | false
}

/** Everything that the tests of one `describe` share: a real broker, its administrator, applications that end with each test. */
export class CaseRoom {
  readonly kafka: LocalKafka
  readonly admin: Admin
  readonly cluster: Cluster
  readonly #processes: MillraceProcess[] = []
  readonly #folders: string[] = []

  private constructor(kafka: LocalKafka, admin: Admin, cluster: Cluster) {
    this.kafka = kafka
    this.admin = admin
    this.cluster = cluster
  }

  static async open(kafka: LocalKafka): Promise<CaseRoom> {
    const { admin, cluster } = await adminOf(kafka)
    return new CaseRoom(kafka, admin, cluster)
  }

  /** Where clients without authentication connect. */
  get servers(): string {
    return this.kafka.internalBootstrapServers
  }

  /** A new topic. */
  async topic(prefix: string, partitions = 1, configs: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName(prefix)
    await createTopic(this.admin, name, { partitions, configs })
    return name
  }

  async write(topic: string, records: readonly RecordToWrite[]): Promise<WrittenRecord[]> {
    const writer = await KafkaWriter.open(this.servers)
    return await writer.write(topic, records)
  }

  /** The file of an application; JSON is YAML. */
  yaml({ id, servers, streams = {}, kafka = {}, http = false, ...rest }: CaseApplication): string {
    return JSON.stringify({
      streams: { 'application.id': id, 'commit.interval.ms': 50, 'startup.timeout.ms': 30_000, ...streams },
      kafka: {
        'bootstrap.servers': servers ?? this.servers,
        'session.timeout.ms': 6_000,
        'heartbeat.interval.ms': 1_000,
        ...kafka,
      },
      http,
      logging: { format: 'json' },
      ...rest,
    })
  }

  /** Starts an application; it ends with the test. */
  async start(
    application: CaseApplication,
    options: Omit<MillraceProcessOptions, 'yaml'> = {},
  ): Promise<MillraceProcess> {
    const process = await MillraceProcess.start({ ...options, yaml: this.yaml(application) })
    this.#processes.push(process)
    return process
  }

  /** Starts an application that ends by itself. */
  async runToEnd(
    application: CaseApplication,
    options: Omit<MillraceProcessOptions, 'yaml'> = {},
  ): Promise<{ readonly exit: ProcessExit; readonly text: string; readonly process: MillraceProcess }> {
    const process = await this.start(application, options)
    const exit = await process.untilExit(PATIENCE_MS)
    await this.untilMarked(application.id)
    return { exit, text: process.lines.join('\n'), process }
  }

  /** A temporary folder with these files; it goes with the test. */
  async folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-case-'))
    this.#folders.push(folder)
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)))
    return folder
  }

  /** What a topic holds; nothing while it does not exist. */
  async records(topic: string, isolation: Isolation = 'read_committed'): Promise<ReadRecord[]> {
    await this.cluster.refresh([topic])
    if ((await this.cluster.topic(topic)) === undefined) return []
    return await readTopicInProcess(this.servers, topic, isolation)
  }

  /** The committed values of a topic as texts, in order of partition and offset. */
  async values(topic: string): Promise<(string | undefined)[]> {
    return (await this.records(topic)).map(({ value }) => value?.toString())
  }

  /** Waits until a topic holds at least so many committed records. */
  async untilRecords(topic: string, count: number, timeoutMs = PATIENCE_MS): Promise<ReadRecord[]> {
    let records: ReadRecord[] = []
    await eventually(
      `${topic} holds ${String(count)} committed records`,
      async () => {
        records = await this.records(topic)
        return records.length >= count
      },
      timeoutMs,
    ).catch((error: unknown) => {
      throw new Error(`${topic} holds ${String(records.length)} of ${String(count)} records`, { cause: error })
    })
    return records
  }

  /** Committed offset of each partition from 0 on; `undefined` where there is none. */
  async offsets(group: string, topic: string, partitions = 1): Promise<(number | undefined)[]> {
    const places = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }))
    const committed = await this.admin.committedOffsets(group, places)
    return places.map(place => committed.get(place)?.offset)
  }

  /** Waits until a group has committed these offsets, and readers see all that was committed with them. */
  async untilOffsets(group: string, topic: string, wanted: readonly number[]): Promise<void> {
    await eventually(
      `${group} has committed ${wanted.join(', ')} of ${topic}`,
      async () => (await this.offsets(group, topic, wanted.length)).every((offset, index) => offset === wanted[index]),
      PATIENCE_MS,
    )
    await this.untilMarked(group)
  }

  /** Waits until readers see what an application has committed. */
  async untilMarked(applicationId: string): Promise<void> {
    await untilMarked(this.admin, `${applicationId}-`, PATIENCE_MS)
  }

  /** Transactional ids of an application that have a transaction open. */
  async openTransactions(applicationId: string): Promise<string[]> {
    const ongoing = await this.admin.listTransactions({ states: ['Ongoing'] })
    return ongoing.map(({ transactionalId }) => transactionalId).filter(id => id.startsWith(`${applicationId}-`))
  }

  /** Ends what a test started. */
  async tidy(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map(process => process.dispose()))
    await Promise.all(this.#folders.splice(0).map(folder => rm(folder, { recursive: true, force: true })))
  }

  async close(): Promise<void> {
    await this.cluster.close()
  }
}

/** Opens a room for the enclosing `describe`; ask for it inside the tests. */
export function useCaseRoom(kind: BrokerKind = 'tv2'): () => CaseRoom {
  const kafka = useBroker(kind)
  let room: CaseRoom | undefined
  before(async () => {
    room = await CaseRoom.open(kafka())
  })
  afterEach(async function () {
    this.timeout(PATIENCE_MS)
    await room?.tidy()
  })
  after(async () => {
    await room?.close()
  })
  return () => {
    if (room === undefined) throw new Error('useCaseRoom: ask for the room inside a test')
    return room
  }
}

/** Numbered values, each under its own key or the given one. */
export function numbered(count: number, from = 0, key?: string): RecordToWrite[] {
  return Array.from({ length: count }, (_, index) => ({
    key: key ?? `k${String(from + index)}`,
    value: String(from + index),
  }))
}
