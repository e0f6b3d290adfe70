import { expect } from 'chai'
import { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { eventually } from '../../support/condition.ts'
import { failureOf, ProducerRoom } from './producer-room.ts'

const TIMEOUT_MS = 20_000

/** What takes a week elsewhere: an idle transactional id is forgotten. Long enough to begin a transaction in time. */
const FORGETFUL = {
  'transactional.id.expiration.ms': '1500',
  'transaction.remove.expired.transaction.cleanup.interval.ms': '200',
}

describe('a transactional id that the broker has forgotten', function () {
  this.timeout(120_000)
  let kafka: LocalKafka
  let room: ProducerRoom

  before(async () => {
    kafka = await LocalKafka.start({ test: true, properties: FORGETFUL })
  })

  after(() => kafka.stop())

  beforeEach(async () => {
    room = await ProducerRoom.open(kafka.bootstrapServers)
  })

  afterEach(() => room.close())

  const forgotten = (): Promise<void> =>
    eventually(
      'the broker has forgotten the id',
      async () => !(await room.admin.describeTransactions([room.transactionalId])).has(room.transactionalId),
    )

  it('is had again by an abort, which takes it for nobody else, and nothing is lost', async () => {
    const producer = await room.producer()
    await room.commit(producer, ['before'])
    await forgotten()

    room.append(producer, ['refused'])
    const { code, details } = await failureOf(producer.flush(TIMEOUT_MS))
    expect([code, details.kafkaCode]).to.deep.equal(['TRANSACTION_TIMED_OUT', 49])
    await producer.abortTransaction(TIMEOUT_MS)
    await room.commit(producer, ['after'])
    expect(await room.committed()).to.deep.equal(['before', 'after'])
  })

  it('is not had again by an owner whose id another process has taken meanwhile', async () => {
    const older = await room.producer()
    await room.commit(older, ['older'])
    await forgotten()

    const newer = await room.producer()
    // An open transaction keeps it from being forgotten once more.
    room.append(newer, ['newer'])
    await newer.flush(TIMEOUT_MS)
    room.append(older, ['zombie'], 1)
    expect((await failureOf(older.flush(TIMEOUT_MS))).details.kafkaCode).to.equal(49)
    expect((await failureOf(older.abortTransaction(TIMEOUT_MS))).code).to.equal('PRODUCER_FENCED')
    expect(await newer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
    expect([await room.committed(), await room.written(1)]).to.deep.equal([['older', 'newer'], []])
  })
})
