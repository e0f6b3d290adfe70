import { mkdtemp, rm, stat, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import { BrokerProcess, type BrokerLaunch } from './broker-process.ts'
import { finalizedFeatures } from './broker-features.ts'
import { brokerProperties, type NodePlace } from './broker-properties.ts'
import { makeCertificates, type Certificates } from './certificates.ts'
import { classArchive, type ClassArchive } from './class-archive.ts'
import { provideDistribution, type KafkaDistribution } from './jars.ts'
import { resolveOptions, type LocalKafkaOptions, type ResolvedOptions } from './options.ts'
import { freePorts, requireFreePort } from './ports.ts'
import { formatStorage, randomClusterId } from './storage.ts'
import { unavailable } from './unavailable.ts'
import { Watchdog } from './watchdog.ts'

/** One node of a local Kafka, as seen from outside. */
export interface LocalKafkaNode {
  readonly id: number
  /** Process id of its latest start. */
  readonly pid: number
  /** Loopback port for clients; the same at every start. */
  readonly port: number
  readonly running: boolean
  readonly logFile: string
}

interface Node {
  readonly place: NodePlace
  readonly launch: BrokerLaunch
  process: BrokerProcess | undefined
}

const START_TIMEOUT_MS = 90_000
const STOP_GRACE_MS = 10_000
/** Writing a class archive at exit takes a few seconds, more on a loaded machine. */
const ARCHIVE_GRACE_MS = 60_000
const START_ATTEMPTS_MAX = 3

/**
 * A real Kafka in KRaft mode on loopback ports, its data in a temporary folder. It ends with this process, however this
 * process ends.
 */
export class LocalKafka {
  /** `host:port` of every node, comma-separated, of the listener for clients. */
  readonly bootstrapServers: string
  /** As `bootstrapServers`, without TLS and authentication; the same unless `security` was asked for. */
  readonly internalBootstrapServers: string
  /** Certificate of the authority, PEM, where `security` was asked for. */
  readonly ca: string | undefined
  readonly options: ResolvedOptions
  readonly #folder: string
  readonly #watchdog: Watchdog
  readonly #archive: ClassArchive
  readonly #nodes: readonly Node[]
  #stopped = false

  private constructor(parts: {
    options: ResolvedOptions
    folder: string
    watchdog: Watchdog
    archive: ClassArchive
    nodes: readonly Node[]
    ca: string | undefined
  }) {
    this.options = parts.options
    this.#folder = parts.folder
    this.#watchdog = parts.watchdog
    this.#archive = parts.archive
    this.#nodes = parts.nodes
    this.ca = parts.ca
    this.bootstrapServers = addresses(parts.nodes.map(({ place }) => place.clientPort))
    this.internalBootstrapServers =
      parts.ca === undefined ? this.bootstrapServers : addresses(parts.nodes.map(({ place }) => place.internalPort))
  }

  /**
   * Starts brokers and waits until they serve.
   *
   * @throws LOCAL_KAFKA_UNAVAILABLE without Java, without a way to Kafka's jars, or when a broker does not start
   */
  static async start(options: LocalKafkaOptions = {}): Promise<LocalKafka> {
    const resolved = resolveOptions(options)
    if (resolved.version === '3.9.1' && resolved.transactionVersion !== 0) {
      throw new MillraceError('USAGE', { what: 'Kafka 3.9.1 has no transaction.version 2.' })
    }
    const distribution = await provideDistribution(resolved.version, resolved.onProgress)
    for (let attempt = 1; ; attempt += 1) {
      const kafka = await LocalKafka.#prepare(resolved, distribution)
      try {
        await Promise.all(kafka.#nodes.map(({ place }) => kafka.startNode(place.id)))
        await kafka.#assertFeatures()
        return kafka
      } catch (error) {
        const portTaken = error instanceof Error && error.message.includes('Address already in use')
        await kafka.#stopByForce()
        // Somebody else took a port between our look and the broker's bind.
        if (!portTaken || attempt === START_ATTEMPTS_MAX) throw error
      }
    }
  }

  static async #prepare(options: ResolvedOptions, distribution: KafkaDistribution): Promise<LocalKafka> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-kafka-'))
    const watchdog = new Watchdog(folder)
    try {
      const archive = await classArchive(distribution, options.jvm)
      const places = await choosePlaces(folder, options)
      const certificates = options.security === 'sasl_ssl' ? await prepareCertificates(folder) : undefined
      await formatStorage(distribution, options, places, randomClusterId())
      const nodes: Node[] = []
      for (const place of places) {
        const propertiesFile = join(folder, `node-${String(place.id)}.properties`)
        await writeFile(propertiesFile, brokerProperties(options, places, place, certificates?.broker))
        const launch: BrokerLaunch = {
          distribution,
          jvm: options.jvm,
          // Several JVMs must not write one archive file; the first node makes it.
          archiveFlags: archive.making && place.id > 1 ? [] : archive.flags,
          propertiesFile,
          logFile: join(folder, `node-${String(place.id)}.log`),
        }
        nodes.push({ place, launch, process: undefined })
      }
      return new LocalKafka({ options, folder, watchdog, archive, nodes, ca: certificates?.ca })
    } catch (error) {
      watchdog.release()
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** Its nodes, by id from 1. */
  get nodes(): readonly LocalKafkaNode[] {
    return this.#nodes.map(({ place, launch, process }) => ({
      id: place.id,
      pid: process?.pid ?? -1,
      port: place.clientPort,
      running: process?.running ?? false,
      logFile: launch.logFile,
    }))
  }

  /** Sends a signal to a node: SIGKILL, SIGTERM, or SIGSTOP and SIGCONT to pause it. */
  kill(nodeId: number, signal: NodeJS.Signals): void {
    this.#node(nodeId).process?.signal(signal)
  }

  /** Resolves when a node's process has ended. */
  async ended(nodeId: number): Promise<void> {
    await this.#node(nodeId).process?.ended
  }

  /** Starts a node that is not running, on the same ports and data, and waits until it serves. */
  async startNode(nodeId: number): Promise<void> {
    assert(!this.#stopped, 'a stopped local Kafka starts no node', { nodeId })
    const node = this.#node(nodeId)
    if (node.process?.running === true) return
    const logBytes = await stat(node.launch.logFile).then(
      ({ size }) => size,
      () => 0,
    )
    node.process = await BrokerProcess.start(node.launch, this.#watchdog)
    await node.process.ready(START_TIMEOUT_MS, logBytes)
  }

  /** Stops every node and removes the data. Safe to call twice. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    // Three nodes that stop in order wait for a quorum that they have just lost; their data goes away anyway.
    if (this.#nodes.length > 1) {
      await this.#stopByForce()
      return
    }
    this.#stopped = true
    const graceMs = this.#archive.making ? ARCHIVE_GRACE_MS : STOP_GRACE_MS
    // An archive whose writing was cut off must not be used.
    if (await this.#endAll(graceMs)) await this.#archive.keep()
    else await this.#archive.drop()
    await this.#cleanUp()
  }

  /**
   * A broker on wrongly formatted storage serves just as well, with every feature at 0: tests would then run without
   * what they test.
   */
  async #assertFeatures(): Promise<void> {
    for (const { place } of this.#nodes) {
      const port = this.ca === undefined ? place.clientPort : place.internalPort
      const level = (await finalizedFeatures(port)).get('transaction.version') ?? 0
      if (level !== this.options.transactionVersion) {
        throw unavailable(
          `Node ${String(place.id)} has transaction.version ${String(level)}, not ${String(this.options.transactionVersion)}.`,
        )
      }
    }
  }

  async #stopByForce(): Promise<void> {
    this.#stopped = true
    await this.#endAll(0)
    await this.#archive.drop()
    await this.#cleanUp()
  }

  /** @returns whether all of them ended in good order */
  async #endAll(graceMs: number): Promise<boolean> {
    const inOrder = await Promise.all(
      this.#nodes.flatMap(({ process }) => (process === undefined ? [] : [process.end(graceMs)])),
    )
    return inOrder.every(Boolean)
  }

  async #cleanUp(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
    this.#watchdog.release()
  }

  #node(nodeId: number): Node {
    const node = this.#nodes.find(({ place }) => place.id === nodeId)
    if (node === undefined) throw unavailable(`There is no node ${String(nodeId)}.`)
    return node
  }
}

async function choosePlaces(folder: string, options: ResolvedOptions): Promise<NodePlace[]> {
  const { nodes, port: chosen } = options
  if (chosen !== undefined) await requireFreePort(chosen)
  const ports = await freePorts(nodes * 3)
  if (chosen !== undefined) ports[0] = chosen
  const portAt = (index: number): number => {
    const port = ports[index]
    assert(port !== undefined, 'as many ports as asked for', { index })
    return port
  }
  return Array.from({ length: nodes }, (_, index) => ({
    id: index + 1,
    clientPort: portAt(index * 3),
    internalPort: portAt(index * 3 + 1),
    controllerPort: portAt(index * 3 + 2),
    dataFolder: join(folder, `data-${String(index + 1)}`),
  }))
}

async function prepareCertificates(folder: string): Promise<Certificates> {
  const tlsFolder = join(folder, 'tls')
  await mkdir(tlsFolder)
  return makeCertificates(tlsFolder)
}

function addresses(ports: readonly number[]): string {
  return ports.map(port => `127.0.0.1:${String(port)}`).join(',')
}
