import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceStreams } from '../../../src/millrace-streams.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { readTopicsInProcess } from '../../support/kafka-reader.ts'
import type { RecordToWrite } from '../../support/kafka-writer.ts'
import type { CaseRoom } from '../cases/case-room.ts'
import { JvmStreams } from './jvm-streams.ts'
import { OPERATOR_OUTPUTS, operatorsTopology } from './operators-topology.ts'
import { differencesOf } from './topic-comparison.ts'

const INPUTS = { events: 3, pairs: 3, single: 1, versions: 3, rates: 1, orders: 3, customers: 3 } as const
const OUTPUT_PARTITIONS = 3
const PATIENCE_MS = 120_000

/** An input topic of both. */
export type TwinInput = keyof typeof INPUTS

/** One of our applications and one of the JVM with the same operators, over the same inputs. */
export class OperatorTwins {
  readonly #room: CaseRoom
  readonly #prefix = `${uniqueName('ops')}-`
  readonly #ids = { jvm: `${this.#prefix}jvm`, ours: `${this.#prefix}ours` } as const
  readonly #stateDir = join(tmpdir(), this.#ids.ours)
  #jvm: JvmStreams | undefined
  #ours: MillraceStreams | undefined

  constructor(room: CaseRoom) {
    this.#room = room
  }

  async createTopics(): Promise<void> {
    const outputs = Object.values(this.#ids).flatMap(id => OPERATOR_OUTPUTS.map(name => `${id}-${name}`))
    await this.#room.admin.createTopics([
      ...Object.entries(INPUTS).map(([name, partitions]) => newTopic(`${this.#prefix}${name}`, partitions)),
      ...outputs.map(name => newTopic(name, OUTPUT_PARTITIONS)),
    ])
  }

  async write(input: TwinInput, records: readonly RecordToWrite[]): Promise<void> {
    await this.#room.write(`${this.#prefix}${input}`, records)
  }

  /** Starts both; resolves when they run. */
  async start(): Promise<void> {
    const { servers } = this.#room
    const applicationId = this.#ids.ours
    this.#ours = new MillraceStreams({
      topology: operatorsTopology({ inputs: this.#prefix, applicationId }),
      config: {
        streams: {
          'application.id': applicationId,
          'state.dir': this.#stateDir,
          'commit.interval.ms': 50,
          // What was repartitioned is compared too.
          'repartition.purge.interval.ms': 3_600_000,
        },
        kafka: { 'bootstrap.servers': servers },
        http: false,
        logging: { level: 'error' },
      },
    })
    const [jvm] = await Promise.all([
      JvmStreams.start({
        source: 'StreamsOperators.java',
        words: stateDir => [servers, this.#ids.jvm, this.#prefix, stateDir],
      }),
      this.#ours.start(),
    ])
    this.#jvm = jvm
  }

  /**
   * Waits until both have committed behind all that these inputs have led to.
   *
   * @param internal - which topics of the applications lie behind them
   */
  async untilThrough(inputs: readonly TwinInput[], internal: RegExp): Promise<void> {
    const names = (await this.topicNames('jvm')).filter(name => internal.test(name))
    for (const id of Object.values(this.#ids)) {
      const topicsOf = (suffixes: readonly string[]): string[] => suffixes.map(name => `${id}-${name}`)
      // What lies behind is looked at once all before it is committed, with what that has written: nothing can come then.
      const stages = [
        inputs.map(name => `${this.#prefix}${name}`),
        topicsOf(names.filter(name => !isResponse(name))),
        topicsOf(names.filter(isResponse)),
      ]
      for (const topics of stages) {
        await eventually(`${id} is through ${topics.join(', ')}`, () => this.#isThrough(id, topics), PATIENCE_MS)
      }
    }
  }

  /** The topics of an application, without its id. */
  async topicNames(of: 'jvm' | 'ours'): Promise<string[]> {
    const prefix = `${this.#ids[of]}-`
    const names = (await this.#room.admin.listTopics()).map(({ name }) => name)
    return names
      .filter(name => name.startsWith(prefix))
      .map(name => name.slice(prefix.length))
      .toSorted()
  }

  /** Where what the two have written begins to differ. */
  async differences(): Promise<readonly string[]> {
    const names = await this.topicNames('jvm')
    const read = (id: string): ReturnType<typeof readTopicsInProcess> =>
      readTopicsInProcess(
        this.#room.servers,
        names.map(name => `${id}-${name}`),
      )
    const { jvm, ours } = this.#ids
    const [theirTopics, ourTopics] = await Promise.all([read(jvm), read(ours)])
    const differences: string[] = []
    for (const name of names) {
      const theirs = theirTopics.get(`${jvm}-${name}`) ?? []
      // Two empty topics would be equal and show nothing.
      if (theirs.length === 0) differences.push(`${name} is empty`)
      differences.push(...differencesOf(name, ourTopics.get(`${ours}-${name}`) ?? [], theirs))
    }
    return differences
  }

  /** Closes both as an operator would. */
  async close(): Promise<void> {
    await Promise.all([this.#jvm?.close(), this.#ours?.close()])
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#jvm?.dispose(), this.#ours?.close()])
    await rm(this.#stateDir, { recursive: true, force: true })
  }

  async #isThrough(group: string, topics: readonly string[]): Promise<boolean> {
    const { admin, cluster } = this.#room
    const found = await cluster.topics(topics)
    const partitions = [...found].flatMap(([topic, info]) =>
      info.partitions.map(({ partition }) => ({ topic, partition })),
    )
    // Where markers are still to come the last stable offset stands before what is on its way.
    const ends = await admin.listOffsets(partitions, 'latest', 'read_uncommitted')
    const committed = await admin.committedOffsets(group, partitions, { requireStable: false })
    return partitions.every(place => (committed.get(place)?.offset ?? 0) >= (ends.get(place) ?? 0))
  }
}

function isResponse(name: string): boolean {
  return name.includes('RESPONSE')
}

function newTopic(
  name: string,
  partitions: number,
): { name: string; partitions: number; replicationFactor: number; configs: Record<string, never> } {
  return { name, partitions, replicationFactor: 1, configs: {} }
}
