import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import type { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { type Isolation, readTopic, type ReadRecord } from '../../support/kafka-reader.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'
import { MillraceProcess, type MillraceProcessOptions } from '../../support/millrace-process.ts'
import { untilMarked } from '../../support/transaction-markers.ts'

const SETTLE_MS = 60_000
const LINES_SHOWN = 25

/** Names of one application. */
export interface Names {
  readonly id: string
  readonly servers: string
  readonly output: string
}

/** An application of a few lines, for tests that need a flow of their own. */
export interface ApplicationText extends Names {
  readonly inputs: readonly string[]
  /** Further lines below `streams:`. */
  readonly streams?: readonly string[]
  /** Further lines below `kafka:`. */
  readonly kafka?: readonly string[]
  /** Further options of every source, such as `as: table`. */
  readonly source?: string
}

/** Writes the records of all inputs into one output; keys and values are strings, which may be null. */
export function mergeYaml(application: ApplicationText): string {
  const sources = application.inputs.map((_, index) => `in${String(index)}`)
  return yamlOf(application, [
    'steps:',
    `  all: { from: [${sources.join(', ')}], filter: "true" }`,
    'sinks:',
    `  out: { from: all, topic: ${application.output} }`,
  ])
}

/** A file with the given steps and sinks over the sources `in0`, `in1`, … */
export function yamlOf(application: ApplicationText, flow: readonly string[]): string {
  const { id, servers, inputs, streams = [], kafka = [], source } = application
  const options = source === undefined ? '' : `, ${source}`
  return [
    'streams:',
    `  application.id: ${id}`,
    '  commit.interval.ms: 50',
    ...streams.map(line => `  ${line}`),
    'kafka:',
    `  bootstrap.servers: "${servers}"`,
    ...kafka.map(line => `  ${line}`),
    'http: { port: 0 }',
    'logging: { format: json }',
    'sources:',
    ...inputs.map((topic, index) => `  in${String(index)}: { topic: ${topic}, key: string, value: string${options} }`),
    ...flow,
  ].join('\n')
}

/** A real cluster with topics and processes of one test. */
export class Stage {
  readonly admin: Admin
  readonly cluster: Cluster
  readonly #kafka: LocalKafka
  readonly #processes: MillraceProcess[] = []

  private constructor(kafka: LocalKafka, { admin, cluster }: { admin: Admin; cluster: Cluster }) {
    this.#kafka = kafka
    this.admin = admin
    this.cluster = cluster
  }

  static async open(kafka: LocalKafka): Promise<Stage> {
    return new Stage(kafka, await adminOf(kafka))
  }

  /** Where clients come in that need no authentication. */
  get servers(): string {
    return this.#kafka.internalBootstrapServers
  }

  /** Names for an application. */
  names(): Names {
    return { id: uniqueName('app'), servers: this.servers, output: uniqueName('out') }
  }

  /** Creates a topic of a name of its own. */
  async topic(
    partitions = 1,
    configs: Readonly<Record<string, string>> = {},
    name = uniqueName('in'),
  ): Promise<string> {
    await this.admin.createTopics([{ name, partitions, replicationFactor: -1, configs }])
    return name
  }

  async write(topic: string, records: readonly RecordToWrite[]): Promise<void> {
    const writer = await KafkaWriter.open(this.servers)
    await writer.write(topic, records)
  }

  /** What the Java client reads. */
  async read(topic: string, isolation: Isolation = 'read_committed'): Promise<ReadRecord[]> {
    return await readTopic(this.servers, topic, isolation)
  }

  async start(yaml: string, options: Omit<MillraceProcessOptions, 'yaml'> = {}): Promise<MillraceProcess> {
    const process = await MillraceProcess.start({ yaml, ...options })
    this.#processes.push(process)
    return process
  }

  async partitionsOf(topic: string): Promise<readonly TopicPartition[]> {
    const info = await this.cluster.topic(topic)
    return (info?.partitions ?? []).map(({ partition }) => ({ topic, partition }))
  }

  /** Records, markers too, between what the group has committed and the ends. */
  async lagOf(group: string, topic: string): Promise<number> {
    const partitions = await this.partitionsOf(topic)
    if (partitions.length === 0) return Number.POSITIVE_INFINITY
    const committed = await this.admin.committedOffsets(group, partitions, { requireStable: false })
    const ends = await this.admin.listOffsets(partitions, 'latest', 'read_uncommitted')
    let lag = 0
    for (const [partition, end] of ends) lag += end - (committed.get(partition)?.offset ?? 0)
    return lag
  }

  /** Waits until the group has committed all of the topics, and readers see all that was committed (I15). */
  async settled(group: string, topics: readonly string[], timeoutMs = SETTLE_MS): Promise<void> {
    for (const topic of topics) {
      try {
        await eventually(`all of ${topic} is committed`, async () => (await this.lagOf(group, topic)) === 0, timeoutMs)
      } catch (error) {
        const lines = this.#processes.flatMap(process => ['---', ...process.lines.slice(-LINES_SHOWN)])
        throw new Error(`the lag is ${String(await this.lagOf(group, topic))}\n${lines.join('\n')}`, { cause: error })
      }
    }
    await untilMarked(this.admin, `${group}-`, timeoutMs)
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map(process => process.dispose()))
    await this.cluster.close()
  }
}
