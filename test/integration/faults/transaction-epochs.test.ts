import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { EPOCH_MAX, raiseEpoch } from '../../support/epochs.ts'
import { faultFired } from '../../support/fault-count.ts'

/** Far enough from it that the application starts before and commits beyond. */
const EPOCH_NEAR = EPOCH_MAX - 8
const RECORDS = 20
const ROUNDS_MAX = 60

describe('the last epoch of a producer id', function () {
  this.timeout(240_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest

  after(async () => {
    await application.dispose()
  })

  it('is passed without a loss: the next transaction has a new producer id (F27)', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'counts',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'group.instance.id': 'edge' },
      streams: { 'commit.interval.ms': 20 },
    })
    const transactionalId = `${application.id}-edge-1`
    const producerId = await raiseEpoch(kafka().bootstrapServers, transactionalId, EPOCH_NEAR)
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
    await application.expectConsistent()
  })
})
