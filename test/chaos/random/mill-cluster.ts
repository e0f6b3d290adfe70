import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import { eventually } from '../../support/condition.ts'
import { connectCluster, createTopic, type TestCluster } from '../../support/test-cluster.ts'
import { inputsOf, type MillTopics, outputsOf } from './mill-application.ts'

const REQUEST_TIMEOUT_MS = 5_000
const PARTITIONS = 3
const LOOK_MS = 100
/** A wait that gets on, but never to its end, is over after so many times its limit. */
const QUIET_TIMES_MAX = 5
const OPEN_STATES = ['Ongoing', 'PrepareCommit', 'PrepareAbort']

/** A look at the cluster from outside of all faults; brokers may be away while it looks. */
export class MillCluster {
  readonly #client: TestCluster
  readonly #id: string
  readonly #topics: MillTopics

  private constructor(client: TestCluster, id: string, topics: MillTopics) {
    this.#client = client
    this.#id = id
    this.#topics = topics
  }

  /** Connects, and creates the topics that the application expects. */
  static async create(
    bootstrapServers: string,
    mill: { readonly id: string; readonly topics: MillTopics },
  ): Promise<MillCluster> {
    const client = await connectCluster(bootstrapServers, { requestTimeoutMs: REQUEST_TIMEOUT_MS })
    for (const topic of Object.values(mill.topics) as string[]) {
      await createTopic(client.admin, topic, { partitions: PARTITIONS, replicationFactor: -1 })
    }
    return new MillCluster(client, mill.id, mill.topics)
  }

  /** Topics that the application made for itself. */
  async internalTopics(): Promise<readonly string[]> {
    const all = await this.#client.admin.listTopics()
    return all.map(({ name }) => name).filter(name => name.startsWith(`${this.#id}-`))
  }

  /** Waits until the application has committed all that is in its inputs now (I15). */
  async untilPassed(timeoutMs: number): Promise<void> {
    const goals: (readonly [TopicPartition, number])[] = []
    await patiently(async () => {
      goals.length = 0
      goals.push(...(await this.#ends(inputsOf(this.#topics), 'read_uncommitted')))
    }, timeoutMs)
    await this.#untilCommitted(() => Promise.resolve(goals), timeoutMs)
  }

  /** Waits until every source, internal ones too, is committed to its end (I15). */
  async untilDone(timeoutMs: number): Promise<void> {
    await this.#untilCommitted(async () => {
      const internal = (await this.internalTopics()).filter(name => !name.endsWith('-changelog'))
      return await this.#ends([...inputsOf(this.#topics), ...internal], 'read_uncommitted')
    }, timeoutMs)
  }

  /** Waits until nothing is open and every reader sees the ends (I3, I15). */
  async untilDecided(timeoutMs: number): Promise<void> {
    let open: readonly string[] = []
    let behind: readonly string[] = []
    try {
      await eventually(
        'every transaction of the application is over',
        async () => {
          const transactions = await this.#client.admin.listTransactions({ states: OPEN_STATES })
          open = transactions.map(({ transactionalId }) => transactionalId).filter(id => id.startsWith(`${this.#id}-`))
          const topics = [...outputsOf(this.#topics), ...(await this.internalTopics())]
          const ends = new Map(await this.#ends(topics, 'read_uncommitted'))
          const stable = await this.#ends(topics, 'read_committed')
          behind = stable.filter(([at, offset]) => ends.get(at) !== offset).map(([at]) => nameOf(at))
          return open.length === 0 && stable.length === ends.size && behind.length === 0
        },
        timeoutMs,
      )
    } catch (error) {
      throw new Error(`${String(error)}; open: ${open.join(', ')}; behind: ${behind.join(', ')}`, { cause: error })
    }
  }

  /** What is not committed yet, in words. */
  async lags(): Promise<readonly string[]> {
    const internal = (await this.internalTopics()).filter(name => !name.endsWith('-changelog'))
    return await this.#open(await this.#ends([...inputsOf(this.#topics), ...internal], 'read_uncommitted'))
  }

  /** How many transactional ids have another producer id than the given one: their epochs have run out. */
  async newProducerIds(before: ReadonlyMap<string, number>): Promise<number> {
    const now = await this.#client.admin.describeTransactions([...before.keys()])
    return [...before].filter(([id, producerId]) => now.get(id)?.producerId !== producerId).length
  }

  async close(): Promise<void> {
    await this.#client.cluster.close()
  }

  /** Fails when nothing more of it was committed for so long: how fast a loaded machine gets on says nothing. */
  async #untilCommitted(
    goalsOf: () => Promise<readonly (readonly [TopicPartition, number])[]>,
    quietMs: number,
  ): Promise<void> {
    const end = Date.now() + quietMs * QUIET_TIMES_MAX
    let deadline = Date.now() + quietMs
    let before = ''
    let trouble: unknown
    for (;;) {
      const open = await goalsOf()
        .then(goals => this.#open(goals))
        .catch((error: unknown) => {
          trouble = error
          return undefined
        })
      if (open?.length === 0) return
      const now = Date.now()
      const state = open?.join(', ') ?? before
      if (state !== before) deadline = now + quietMs
      before = state
      if (now > Math.min(deadline, end)) {
        throw new Error(`not committed: ${before}; ${String(trouble)}`)
      }
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    }
  }

  async #open(goals: readonly (readonly [TopicPartition, number])[]): Promise<readonly string[]> {
    const partitions = goals.map(([partition]) => partition)
    const committed = await this.#client.admin.committedOffsets(this.#id, partitions, { requireStable: false })
    return goals
      .filter(([partition, goal]) => (committed.get(partition)?.offset ?? 0) < goal)
      .map(
        ([partition, goal]) =>
          `${nameOf(partition)} ${String(committed.get(partition)?.offset ?? 0)} of ${String(goal)}`,
      )
  }

  async #ends(
    topics: readonly string[],
    isolation: 'read_committed' | 'read_uncommitted',
  ): Promise<readonly (readonly [TopicPartition, number])[]> {
    const partitions: TopicPartition[] = []
    for (const topic of topics) partitions.push(...(await this.#partitionsOf(topic)))
    const ends = await this.#client.admin.listOffsets(partitions, 'latest', isolation)
    return partitions.map(partition => [partition, ends.get(partition) ?? -1] as const)
  }

  readonly #partitions = new Map<string, readonly TopicPartition[]>()

  async #partitionsOf(topic: string): Promise<readonly TopicPartition[]> {
    const known = this.#partitions.get(topic)
    if (known !== undefined) return known
    const info = await this.#client.cluster.topic(topic)
    const partitions = (info?.partitions ?? []).map(({ partition }) => ({ topic, partition }))
    if (partitions.length > 0) this.#partitions.set(topic, partitions)
    return partitions
  }
}

function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${String(partition)}`
}

async function patiently(work: () => Promise<void>, timeoutMs: number): Promise<void> {
  let trouble: unknown
  try {
    await eventually(
      'the cluster answers',
      async () => {
        try {
          await work()
          return true
        } catch (error) {
          trouble = error
          return false
        }
      },
      timeoutMs,
    )
  } catch (error) {
    throw new Error(`${String(error)}: ${String(trouble)}`, { cause: error })
  }
}
