import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { Connection } from '../../../src/kafka/connection/connection.ts'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { addressOf } from '../../support/test-cluster.ts'

/** The broker gives a new producer id after this epoch. */
const EPOCH_MAX = 32_766
/** Far enough from it that the application starts before and commits beyond. */
const EPOCH_NEAR = EPOCH_MAX - 8
/** Questions under way at once; the broker answers them one after the other. */
const WINDOW = 32
/** The coordinator is not there yet, or still busy with the question before. */
const NOT_NOW = [14, 15, 16, 51]
const TRANSACTION_COORDINATOR = 1
const RECORDS = 20
const ROUNDS_MAX = 60

describe('the last epoch of a producer id', function () {
  this.timeout(240_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest

  after(async () => {
    await application.dispose()
  })

  /** Each InitProducerId without an id raises the epoch by one. @returns the producer id */
  const raiseEpoch = async (transactionalId: string): Promise<number> => {
    const connection = await Connection.open({
      ...addressOf(kafka().bootstrapServers),
      clientId: 'epochs',
      security: { protocol: 'PLAINTEXT' },
      connectTimeoutMs: 30_000,
      requestTimeoutMs: 60_000,
      clock: systemClock,
    })
    const ask = async (): Promise<{ readonly producerId: number; readonly epoch: number }> => {
      const body = { transactionalId, transactionTimeoutMs: 10_000, producerId: -1, producerEpoch: -1 }
      const { errorCode, producerId, producerEpoch } = await connection.send('InitProducerId', body, { version: 5 })
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
      while (last.epoch < EPOCH_NEAR) {
        const room = Math.min(WINDOW, EPOCH_NEAR - last.epoch)
        const answers = await Promise.all(Array.from({ length: room }, ask))
        for (const answer of answers) if (answer.epoch > last.epoch) last = answer
      }
      return last.producerId
    } finally {
      connection.destroy(new Error('done'))
    }
  }

  it('is passed without a loss: the next transaction has a new producer id (F27)', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'counts',
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'group.instance.id': 'edge' },
      streams: { 'commit.interval.ms': 20 },
    })
    const transactionalId = `${application.id}-edge-1`
    const producerId = await raiseEpoch(transactionalId)
    const current = async (): Promise<{ readonly producerId: number; readonly epoch: number } | undefined> => {
      const found = (await application.admin.describeTransactions([transactionalId])).get(transactionalId)
      return found === undefined ? undefined : { producerId: found.producerId, epoch: found.producerEpoch }
    }
    expect(await current(), 'before the application starts').to.deep.equal({ producerId, epoch: EPOCH_NEAR })

    const process = await application.start()
    let rounds = 0
    while ((await current())?.producerId === producerId) {
      rounds += 1
      expect(rounds, 'rounds of records until the edge').to.be.at.most(ROUNDS_MAX)
      await application.write(RECORDS)
      await application.untilCaughtUp()
    }
    await application.write(RECORDS)
    await application.expectExact()
    expect((await current())?.epoch, 'epochs count from 0 again').to.be.below(EPOCH_NEAR)
    faultFired('F27', Number((await current())?.producerId !== producerId), 'producer ids after the last epoch')
    const warnings = process.log.filter(({ level }) => level === 'warn' || level === 'error')
    expect(warnings.map(({ msg }) => msg)).to.deep.equal([])

    // The next life finds the new id.
    await process.kill()
    await application.write(RECORDS)
    await application.start()
    await application.expectExact()
  })
})
