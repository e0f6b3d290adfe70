import type { EngineConfig } from '../config/engine-config.ts'
import { Admin } from '../kafka/admin/admin.ts'
import type { OpenTransaction } from '../kafka/admin/open-transactions.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import { asMillraceError } from '../model/errors.ts'
import { SILENT_LOGGER } from '../model/logger.ts'
import type { TopicPartition } from '../model/topic-partition.ts'
import { buildCluster, type ClusterSurroundings } from './cluster-client.ts'
import type { TransactionQuestions } from './held-input-watch.ts'

/** Deadline of a question; whoever asks does something else meanwhile. */
const QUESTION_MS = 10_000

/** Questions about transactions over connections that are open while there is something to ask. */
export class ClusterTransactionQuestions implements TransactionQuestions {
  readonly #config: EngineConfig
  readonly #surroundings: Omit<ClusterSurroundings, 'logger'>
  #cluster: Cluster | undefined

  constructor(config: EngineConfig, surroundings: Omit<ClusterSurroundings, 'logger'>) {
    this.#config = config
    this.#surroundings = surroundings
  }

  async openTransactions(partitions: readonly TopicPartition[]): Promise<readonly OpenTransaction[]> {
    return await (await this.#admin()).openTransactions(partitions)
  }

  async groups(): Promise<readonly string[]> {
    const own = this.#config.applicationId
    try {
      return [own, ...(await (await this.#admin()).listGroups()).map(({ groupId }) => groupId)]
    } catch (error) {
      if (asMillraceError(error).code === 'NOT_AUTHORIZED') return [own]
      throw error
    }
  }

  async close(): Promise<void> {
    const cluster = this.#cluster
    this.#cluster = undefined
    await cluster?.close()
  }

  async #admin(): Promise<Admin> {
    if (this.#cluster === undefined) {
      const cluster = buildCluster(this.#config, `${this.#config.clientId}-watch`, {
        ...this.#surroundings,
        logger: SILENT_LOGGER,
      })
      this.#cluster = cluster
      try {
        await cluster.connect(QUESTION_MS)
      } catch (error) {
        await this.close()
        throw error
      }
    }
    return new Admin(this.#cluster, { clock: this.#surroundings.clock, timeoutMs: QUESTION_MS })
  }
}
