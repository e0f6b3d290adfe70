import { setTimeout as pause } from 'node:timers/promises'
import type { Admin } from '../src/kafka/admin/admin.ts'
import type { Cluster } from '../src/kafka/cluster/cluster.ts'
import { LocalKafka } from '../src/local-kafka/local-kafka.ts'
import { connectCluster, createTopic } from '../test/support/test-cluster.ts'
import { Inputs } from './inputs.ts'
import { cpuSecondsOfAll } from './process-usage.ts'
import type { Scenario } from './scenario.ts'

/** Brokers are quiet when they take less than a tenth of a processor. */
const QUIET_SHARE = 0.1
const LOOK_MS = 250
const QUIET_TIMEOUT_MS = 20_000

const BROKER_PROPERTIES = {
  // Topics go as soon as they are deleted, not a minute later in the middle of somebody else's run.
  'log.segment.delete.delay.ms': '100',
}

/** What a stage is made of. */
export interface StageOptions {
  readonly brokers: 1 | 3
  /** File of millrace's command line. */
  readonly cli: string
  /** Told what takes long. */
  readonly say: (line: string) => void
}

/** The brokers of a run, with the inputs. */
export class Stage {
  readonly bootstrapServers: string
  /** File of millrace's command line. */
  readonly cli: string
  readonly brokerPids: readonly number[]
  readonly cluster: Cluster
  readonly admin: Admin
  readonly inputs: Inputs
  readonly #kafka: LocalKafka
  #applications = 0

  private constructor(kafka: LocalKafka, cli: string, cluster: Cluster, admin: Admin) {
    this.cli = cli
    this.#kafka = kafka
    this.bootstrapServers = kafka.bootstrapServers
    this.brokerPids = kafka.nodes.map(({ pid }) => pid)
    this.cluster = cluster
    this.admin = admin
    this.inputs = new Inputs(cluster, admin)
  }

  static async open({ brokers, cli, say }: StageOptions): Promise<Stage> {
    const kafka = await LocalKafka.start({
      nodes: brokers,
      jvm: 'throughput',
      properties: BROKER_PROPERTIES,
      onProgress: say,
    })
    try {
      const { cluster, admin } = await connectCluster(kafka.bootstrapServers, { clientId: 'millrace-bench' })
      return new Stage(kafka, cli, cluster, admin)
    } catch (error) {
      await kafka.stop()
      throw error
    }
  }

  /** A name that no run had before, and an empty topic for its results. */
  async newApplication({ partitions, brokers }: Scenario): Promise<{ application: string; output: string }> {
    this.#applications += 1
    const application = `bench-${String(this.#applications)}`
    const output = `${application}-out`
    await createTopic(this.admin, output, { partitions, replicationFactor: brokers })
    return { application, output }
  }

  /** Deletes what a run has written: its output and what its application has made. */
  async remove(application: string, output: string): Promise<void> {
    const topics = await this.admin.listTopics()
    const own = topics.map(({ name }) => name).filter(name => name.startsWith(`${application}-`) && name !== output)
    await this.admin.deleteTopics([output, ...own])
  }

  /** Resolves once the brokers have nothing to do any more, or 20 s later. */
  async untilQuiet(): Promise<void> {
    const deadlineMs = performance.now() + QUIET_TIMEOUT_MS
    let before = cpuSecondsOfAll(this.brokerPids)
    while (performance.now() < deadlineMs) {
      await pause(LOOK_MS)
      const now = cpuSecondsOfAll(this.brokerPids)
      if (now - before < (QUIET_SHARE * LOOK_MS) / 1_000) return
      before = now
    }
  }

  async close(): Promise<void> {
    await this.cluster.close()
    await this.#kafka.stop()
  }
}
