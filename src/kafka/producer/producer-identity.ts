import { assert } from '../../model/assert.ts'
import { crashPoint } from '../../model/crash-point.ts'
import { MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Deadline } from '../cluster/deadline.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { type TransactionCalls, failureOf } from './transaction-calls.ts'
import { brokerFailure } from './producer-failure.ts'
import type { ProducerStamp } from './send-gate.ts'
import { protocolOf, spokenVersions, type TransactionProtocol } from './transaction-versions.ts'

const NO_ID = -1

/** Settings of `ProducerIdentity`; see `ProducerOptions`. */
export interface ProducerIdentityOptions {
  readonly calls: TransactionCalls
  readonly cluster: Cluster
  readonly logger: Logger
  readonly transactionalId: string | undefined
  readonly transactionTimeoutMs: number
  /** There is a new id or epoch: every partition counts its sequences from 0. */
  readonly onChanged: () => void
}

/** Producer id and epoch: gets them, renews them, and finds out whether they are still ours. */
export class ProducerIdentity {
  readonly #options: ProducerIdentityOptions
  #producerId = NO_ID
  #epoch = NO_ID
  #protocol: TransactionProtocol = 1
  #askGroup: (() => Promise<'ours' | 'replaced'>) | undefined

  constructor(options: ProducerIdentityOptions) {
    this.#options = options
  }

  /** Whether there is an id. */
  get isKnown(): boolean {
    return this.#producerId !== NO_ID
  }

  /** What batches and requests carry. */
  get stamp(): ProducerStamp {
    assert(this.isKnown, 'a producer id is known before anything is sent')
    const transactional = this.#options.transactionalId !== undefined
    return { producerId: this.#producerId, epoch: this.#epoch, transactional }
  }

  /** The protocol that this id and epoch were given under. */
  get protocol(): TransactionProtocol {
    return this.#protocol
  }

  /** Whether the cluster speaks another protocol by now. */
  get protocolChanged(): boolean {
    return protocolOf(this.#options.cluster.transactionVersion) !== this.#protocol
  }

  /** Who knows whether this process still has its place, where InitProducerId cannot tell. */
  setAskGroup(ask: () => Promise<'ours' | 'replaced'>): void {
    this.#askGroup = ask
  }

  /** Takes id and epoch from the answer to EndTxn 5; the id is another one when the epochs were used up. */
  adopt(producerId: number, epoch: number): void {
    assert(producerId >= 0 && epoch >= 0, 'an ended transaction names the next epoch', { producerId, epoch })
    this.#producerId = producerId
    this.#epoch = epoch
    this.#options.onChanged()
  }

  /**
   * Becomes the owner of the transactional id, or gets a new id without one. An open transaction of the owner before is
   * aborted and that owner is fenced.
   *
   * @throws MillraceError
   */
  async acquire(deadline: Deadline): Promise<void> {
    const code = await this.#initProducerId(NO_ID, NO_ID, deadline)
    if (code !== 0) throw brokerFailure(code, 'transaction', this.#place)
  }

  /**
   * Raises the epoch of our own id, and so aborts what is open and refuses what is late. Tells fenced from timed out.
   *
   * @throws MillraceError
   */
  async renew(deadline: Deadline): Promise<'ours' | 'fenced'> {
    const code = await this.#initProducerId(this.#producerId, this.#epoch, deadline)
    if (code === 0) return 'ours'
    if (code === ERROR_CODE.INVALID_PRODUCER_ID_MAPPING) return 'fenced'
    if (code !== ERROR_CODE.PRODUCER_FENCED && code !== ERROR_CODE.INVALID_PRODUCER_EPOCH)
      throw brokerFailure(code, 'transaction', this.#place)
    if (protocolOf(this.#options.cluster.transactionVersion) === 2) return 'fenced'
    return this.#askAndAcquire(deadline)
  }

  /**
   * With transaction.version 0 the broker calls an owner fenced whose transaction it has merely aborted. Then only the
   * group knows better, and an id that is still ours is acquired anew.
   */
  async #askAndAcquire(deadline: Deadline): Promise<'ours' | 'fenced'> {
    if (this.#askGroup === undefined) return 'fenced'
    if (
      (await deadline.bound('The group did not say whether this member has its place', this.#askGroup())) === 'replaced'
    ) {
      return 'fenced'
    }
    await this.acquire(deadline)
    return 'ours'
  }

  async #initProducerId(producerId: number, producerEpoch: number, deadline: Deadline): Promise<number> {
    const { calls, cluster, transactionalId, transactionTimeoutMs, logger } = this.#options
    try {
      const { answer } = await calls.call({
        route: transactionalId === undefined ? 'anyBroker' : { kind: 'transaction', id: transactionalId },
        api: 'InitProducerId',
        versions: spokenVersions(protocolOf(cluster.transactionVersion), 'InitProducerId'),
        body: { transactionalId: transactionalId ?? null, transactionTimeoutMs, producerId, producerEpoch },
        callKind: 'transaction',
        deadline,
        // Asked again with the same epoch the broker answers the same; without one it only raises the epoch once more.
        resendsLost: true,
        codesOf: ({ errorCode }) => [errorCode],
        onSent: () => {
          crashPoint('initProducerId:sent')
        },
      })
      if (answer.errorCode !== 0) return answer.errorCode
      crashPoint('initProducerId:answered')
      // After the answer: the connection to the coordinator has read the cluster's features anew.
      this.#protocol = protocolOf(cluster.transactionVersion)
      this.adopt(answer.producerId, answer.producerEpoch)
      logger.debug(
        { transactionalId, producerId: answer.producerId, epoch: answer.producerEpoch },
        'producer id acquired',
      )
      return 0
    } catch (error) {
      throw failureOf(error)
    }
  }

  get #place(): string {
    const { transactionalId } = this.#options
    return transactionalId === undefined ? 'InitProducerId' : `InitProducerId of transactional id ${transactionalId}`
  }
}

/** The error of an owner that was replaced. */
export function fencedError(transactionalId: string): MillraceError {
  return new MillraceError('PRODUCER_FENCED', { what: `Another process uses the transactional id ${transactionalId}.` })
}
