import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { type BrokerKind, TRANSACTION_BROKERS, useBroker } from '../../support/broker.ts'
import { EPOCH_MAX, raiseEpoch } from '../../support/epochs.ts'
import { faultFired } from '../../support/fault-count.ts'

/** With `transaction.version` 2 each commit takes an epoch, before it each life does: so many are left when the application starts. */
const EPOCHS_LEFT = { commits: 8, lives: 2 } as const
const RECORDS = 20
const ROUNDS_MAX = 60

for (const kind of TRANSACTION_BROKERS) describeEdge(kind)

function describeEdge(kind: BrokerKind): void {
  const epochs = kind === 'tv2' ? 'commits' : 'lives'
  const near = EPOCH_MAX - EPOCHS_LEFT[epochs]
  describe(`the last epoch of a producer id (${kind})`, function () {
    this.timeout(240_000)
    const kafka = useBroker(kind)
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
      const producerId = await raiseEpoch(kafka().bootstrapServers, transactionalId, near)
      const current = async (): Promise<{ readonly producerId: number; readonly epoch: number } | undefined> => {
        const found = (await application.admin.describeTransactions([transactionalId])).get(transactionalId)
        return found === undefined ? undefined : { producerId: found.producerId, epoch: found.producerEpoch }
      }
      expect(await current(), 'before the application starts').to.deep.equal({ producerId, epoch: near })

      let process = await application.start()
      let rounds = 0
      while ((await current())?.producerId === producerId) {
        rounds += 1
        expect(rounds, 'rounds of records until the edge').to.be.at.most(ROUNDS_MAX)
        if (epochs === 'lives') {
          await process.kill()
          process = await application.start()
        }
        await application.write(RECORDS)
        await application.untilCaughtUp()
      }
      await application.write(RECORDS)
      await application.expectExact()
      expect((await current())?.epoch, 'epochs count from 0 again').to.be.below(near)
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
}
