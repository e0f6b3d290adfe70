import { expect } from 'chai'
import { systemClock } from '../../src/engine/system-clock.ts'
import { Connection } from '../../src/kafka/connection/connection.ts'
import { eventually } from './condition.ts'
import { addressOf } from './test-cluster.ts'

/** The broker gives a new producer id after this epoch. */
export const EPOCH_MAX = 32_766
/** Questions under way at once; the broker answers them one after the other. */
const WINDOW = 32
/** The coordinator is not there yet, or still busy with the question before. */
const NOT_NOW = [14, 15, 16, 51]
const TRANSACTION_COORDINATOR = 1

/**
 * Raises the epoch of a transactional id on a single broker, as that many lives of its owner would.
 *
 * @returns the producer id
 */
export async function raiseEpoch(bootstrapServers: string, transactionalId: string, to: number): Promise<number> {
  const connection = await Connection.open({
    ...addressOf(bootstrapServers),
    clientId: 'epochs',
    security: { protocol: 'PLAINTEXT' },
    connectTimeoutMs: 30_000,
    requestTimeoutMs: 60_000,
    clock: systemClock,
  })
  // Each InitProducerId without an id raises the epoch by one.
  const ask = async (): Promise<{ readonly producerId: number; readonly epoch: number }> => {
    const body = { transactionalId, transactionTimeoutMs: 10_000, producerId: -1, producerEpoch: -1 }
    const { errorCode, producerId, producerEpoch } = await connection.send('InitProducerId', body)
    if (errorCode !== 0) expect(errorCode).to.be.oneOf(NOT_NOW)
    return { producerId, epoch: producerEpoch }
  }
  try {
    // Asking for the coordinator is what makes the broker create the topic of transactions.
    await eventually('there is a coordinator', async () => {
      const { coordinators } = await connection.send('FindCoordinator', {
        keyType: TRANSACTION_COORDINATOR,
        coordinatorKeys: [transactionalId],
      })
      return coordinators.every(({ errorCode }) => errorCode === 0)
    })
    let last = await ask()
    while (last.epoch < to) {
      const room = Math.min(WINDOW, to - last.epoch)
      const answers = await Promise.all(Array.from({ length: room }, ask))
      for (const answer of answers) if (answer.epoch > last.epoch) last = answer
    }
    return last.producerId
  } finally {
    connection.destroy(new Error('done'))
  }
}
