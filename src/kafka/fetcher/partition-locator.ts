import type { Timer } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { FetchedTopic } from './fetch-cluster.ts'
import { handleThrown } from './fetch-errors.ts'
import type { FetchHost } from './fetch-host.ts'
import type { FetchPartition } from './fetch-partition.ts'
import { groupBy } from './group-by.ts'
import { validatePositions } from './position-validation.ts'

/**
 * Finds the leaders of partitions that have none, in rounds with back-off: cached metadata first, a fresh look where
 * the cached leader was wrong, then the check of positions under a new leader epoch (KIP-320).
 */
export class PartitionLocator {
  readonly #host: FetchHost
  readonly #lost = new Set<FetchPartition>()
  #running = false
  #closed = false
  #pause: { readonly timer: Timer; readonly end: () => void } | undefined

  constructor(host: FetchHost) {
    this.#host = host
  }

  add(partition: FetchPartition): void {
    this.#lost.add(partition)
    this.#wake()
  }

  remove(partition: FetchPartition): void {
    this.#lost.delete(partition)
  }

  close(): void {
    this.#closed = true
    this.#lost.clear()
    this.#pause?.end()
  }

  #wake(): void {
    this.#pause?.end()
    if (this.#running || this.#closed) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    // Everything added in this turn of the loop belongs to one round.
    await Promise.resolve()
    while (!this.#closed && this.#lost.size > 0) {
      const nowMs = this.#host.clock.nowMs()
      const due = [...this.#lost].filter(partition => partition.retryAtMs <= nowMs)
      if (due.length > 0) await this.#round(due)
      else await this.#sleep(Math.min(...Array.from(this.#lost, partition => partition.retryAtMs)) - nowMs)
    }
    this.#running = false
  }

  async #round(due: readonly FetchPartition[]): Promise<void> {
    for (const partition of due) this.#lost.delete(partition)
    const fresh = due.filter(partition => !partition.stale)
    const stale = due.filter(partition => partition.stale)
    // Those whose leader is in the cache do not wait for a broker that may be slow to answer.
    await this.#locate(fresh)
    if (stale.length === 0 || this.#closed) return
    const generations = stale.map(partition => partition.generation)
    try {
      await this.#host.cluster.refresh([...new Set(stale.map(partition => partition.topicPartition.topic))])
    } catch (error) {
      for (const [index, partition] of stale.entries()) {
        if (this.#still(partition, generations[index])) handleThrown(this.#host, partition, error)
      }
      return
    }
    await this.#locate(stale.filter((partition, index) => this.#still(partition, generations[index])))
  }

  async #locate(partitions: readonly FetchPartition[]): Promise<void> {
    const toValidate: FetchPartition[] = []
    for (const [topic, members] of groupBy(partitions, partition => partition.topicPartition.topic)) {
      const generations = members.map(partition => partition.generation)
      let found: FetchedTopic | undefined
      let thrown: unknown
      try {
        found = await this.#host.cluster.topic(topic)
      } catch (error) {
        thrown = error
      }
      for (const [index, partition] of members.entries()) {
        if (!this.#still(partition, generations[index])) continue
        if (thrown !== undefined) handleThrown(this.#host, partition, thrown)
        else if (this.#place(partition, found)) toValidate.push(partition)
      }
    }
    if (toValidate.length > 0 && !this.#closed) await validatePositions(this.#host, toValidate)
  }

  /** @returns whether the position has to be checked before it is fetched */
  #place(partition: FetchPartition, found: FetchedTopic | undefined): boolean {
    const host = this.#host
    const { topic, partition: number } = partition.topicPartition
    if (found === undefined) {
      const known = partition.topicId !== undefined
      const what = known ? 'The topic was deleted while it was being read.' : 'The topic does not exist.'
      host.lost(partition, new MillraceError(known ? 'TOPIC_RECREATED' : 'TOPIC_MISSING', { topic, what }), true)
      return false
    }
    if (!partition.fixTopicId(found.topicId)) {
      const what = 'The topic was deleted and recreated while it was being read.'
      host.fail(partition, new MillraceError('TOPIC_RECREATED', { topic, partition: number, what }))
      return false
    }
    const info = found.partitions.find(one => one.partition === number)
    if (info === undefined) {
      const what = `The topic has ${String(found.partitions.length)} partitions.`
      host.lost(partition, new MillraceError('TOPIC_MISSING', { topic, partition: number, what }), true)
      return false
    }
    if (info.leader < 0) {
      const what = 'The partition has no leader.'
      host.lost(
        partition,
        new MillraceError('KAFKA_ERROR', {
          topic,
          partition: number,
          what,
          kafkaCode: ERROR_CODE.LEADER_NOT_AVAILABLE,
        }),
        false,
      )
      return false
    }
    if (partition.located(info.leader, info.leaderEpoch)) return true
    host.ready(partition)
    return false
  }

  /** Whether nobody sought, removed or closed while an answer was awaited. */
  #still(partition: FetchPartition, generation: number | undefined): boolean {
    return !this.#closed && partition.generation === generation && partition.state === 'locating'
  }

  async #sleep(delayMs: number): Promise<void> {
    await new Promise<void>(resolve => {
      const end = (): void => {
        this.#pause?.timer.cancel()
        this.#pause = undefined
        resolve()
      }
      this.#pause = { timer: this.#host.clock.after(delayMs, end), end }
    })
  }
}
