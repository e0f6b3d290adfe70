import { expect } from 'chai'
import type { ProducerOptions } from '../../../../src/kafka/producer/producer-options.ts'
import { eventually } from '../../../support/condition.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { ScriptedProducer } from './scripted-producer.ts'

const TIMEOUT_MS = 5_000
/** Longer than a test may take. */
const LONG_MS = 600_000
const NOT_LEADER_OR_FOLLOWER = 6
const INVALID_PRODUCER_EPOCH = 47
const INVALID_RECORD = 87
const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53

describe('the producer', () => {
  let scripted: ScriptedProducer

  async function start(transactionVersion: 0 | 2, options: Partial<ProducerOptions> = {}): Promise<ScriptedProducer> {
    scripted = await ScriptedProducer.start(transactionVersion, options)
    return scripted
  }

  afterEach(() => scripted.stop())

  async function commit(values: readonly string[], partition = 0): Promise<void> {
    for (const value of values) scripted.append(value, partition)
    await scripted.producer.flush(TIMEOUT_MS)
    expect(await scripted.producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
  }

  /** Fails a batch for good and waits until the producer knows. */
  async function failOnce(code: number): Promise<void> {
    scripted.produceAnswer = () => code
    scripted.append('refused')
    scripted.producer.pump()
    await eventually('the producer has heard of it', () => scripted.producer.failure !== undefined)
    scripted.produceAnswer = () => 0
  }

  /** One batch of partition 0 that comes back, beside one of partition 1 that is acknowledged. */
  async function abortWithOneMissing(): Promise<void> {
    scripted.produceAnswer = ({ partition }) => (partition === 0 ? NOT_LEADER_OR_FOLLOWER : 0)
    scripted.append('comes back', 0)
    scripted.append('is there', 1)
    scripted.producer.pump()
    await eventually('both were sent', () => scripted.valuesOf(0).length > 0 && scripted.valuesOf(1).length > 0)
    await scripted.producer.abortTransaction(TIMEOUT_MS)
    scripted.produceAnswer = () => 0
  }

  it('sends nothing after an abort that was appended before it', async () => {
    const { producer } = await start(2)
    scripted.append('taken back')
    scripted.append('taken back', 1)
    await producer.abortTransaction(TIMEOUT_MS)
    expect(producer.transaction.ongoing).to.equal(false)

    await commit(['kept'])
    await commit(['kept'], 1)
    expect([scripted.valuesOf(0), scripted.valuesOf(1)]).to.deep.equal([['kept'], ['kept']])
  })

  it('sends nothing after an abort that a record had appended which never ended', async () => {
    const { producer } = await start(2)
    producer.records.beginRecord()
    scripted.append('half a record')
    await producer.abortTransaction(TIMEOUT_MS)

    await commit(['kept'])
    expect(scripted.valuesOf(0)).to.deep.equal(['kept'])
  })

  it('sends everything at a flush, what linger.ms would keep waiting too', async () => {
    await start(2, { lingerMs: LONG_MS })
    scripted.append('waits')
    scripted.producer.pump()
    scripted.append('waits too', 1)
    await commit(['waits as well'])
    expect([scripted.valuesOf(0), scripted.valuesOf(1)]).to.deep.equal([['waits', 'waits as well'], ['waits too']])
  })

  describe('after a batch was refused', () => {
    it('lets nobody flush, send offsets or commit before the abort', async () => {
      const { producer } = await start(2)
      await failOnce(INVALID_RECORD)
      const { failure } = producer

      expect(failure?.details.kafkaCode).to.equal(INVALID_RECORD)
      expect(await rejectionOf(producer.flush(TIMEOUT_MS))).to.equal(failure)
      expect(await rejectionOf(producer.commitTransaction(TIMEOUT_MS))).to.equal(failure)
      expect(scripted.calls).to.deep.equal(['InitProducerId'])
    })

    it('keeps the first failure of an answer that names several', async () => {
      const { producer } = await start(2)
      const appendBoth = (value: string): void => {
        scripted.append(value, 0)
        scripted.append(value, 2)
      }
      // Both belong to the transaction and have their connection: from here on they share a request.
      appendBoth('taken')
      await producer.flush(TIMEOUT_MS)
      scripted.batches.length = 0
      scripted.produceAnswer = () => INVALID_RECORD
      appendBoth('refused')
      producer.pump()
      await eventually('the producer has heard of both', () => producer.failure !== undefined)

      const partitions = scripted.batches.map(({ partition }) => partition)
      expect(partitions).to.have.members([0, 2])
      expect(producer.failure?.details.partition).to.equal(partitions[0])
    })

    it('sends nothing that is appended before the abort', async () => {
      const { producer } = await start(2)
      await failOnce(INVALID_RECORD)
      scripted.append('too early', 1)
      producer.pump()
      await producer.abortTransaction(TIMEOUT_MS)
      await commit(['afterwards'], 1)
      expect(scripted.valuesOf(1)).to.deep.equal(['afterwards'])
    })

    it('works again after the abort', async () => {
      const { producer } = await start(2)
      await failOnce(INVALID_PRODUCER_EPOCH)
      await producer.abortTransaction(TIMEOUT_MS)
      expect(producer.failure).to.equal(undefined)
      await commit(['afterwards'])
      expect(scripted.valuesOf(0)).to.deep.equal(['refused', 'afterwards'])
    })

    it('works again after it has become the owner anew', async () => {
      const { producer } = await start(2)
      await failOnce(INVALID_RECORD)
      scripted.initCode = TRANSACTIONAL_ID_AUTHORIZATION_FAILED
      scripted.endTxnCode = INVALID_PRODUCER_EPOCH
      await rejectionOf(producer.abortTransaction(TIMEOUT_MS))
      scripted.initCode = 0
      scripted.endTxnCode = 0
      await producer.initialize()
      expect(producer.failure).to.equal(undefined)
      await commit(['afterwards'])
      expect(scripted.valuesOf(0)).to.deep.equal(['refused', 'afterwards'])
    })
  })

  it('lets nobody go on after an abort that failed, until another one has worked', async () => {
    const { producer } = await start(2)
    scripted.append('written')
    await producer.flush(TIMEOUT_MS)
    scripted.endTxnCode = INVALID_PRODUCER_EPOCH
    scripted.initCode = TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    const cause = await rejectionOf(producer.abortTransaction(TIMEOUT_MS))

    expect(cause.details.kafkaCode).to.equal(TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    expect(producer.failure).to.equal(cause)
    expect(await rejectionOf(producer.flush(TIMEOUT_MS))).to.equal(cause)
    scripted.endTxnCode = 0
    scripted.initCode = 0
    await producer.abortTransaction(TIMEOUT_MS)
    await commit(['afterwards'])
    expect(scripted.valuesOf(0)).to.deep.equal(['written', 'afterwards'])
  })

  it('waits for nobody any more once the connections are closed', async () => {
    const { producer } = await start(2)
    scripted.append('never acknowledged')
    scripted.produceAnswer = () => NOT_LEADER_OR_FOLLOWER
    const flushed = rejectionOf(producer.flush(LONG_MS))
    await eventually('it was sent', () => scripted.batches.length > 0)
    await scripted.closeConnections()
    expect((await flushed).code).to.equal('NOT_RUNNING')
    expect((await rejectionOf(producer.abortTransaction(LONG_MS))).code).to.equal('NOT_RUNNING')
  })

  describe('when batches are forgotten that had used up sequences', () => {
    it('takes a new epoch, although every request was answered (transaction.version 0)', async () => {
      await start(0)
      await abortWithOneMissing()
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'abort', 'InitProducerId'])

      await commit(['afterwards'], 0)
      const { batches } = scripted
      expect(batches.at(-1)).to.deep.equal({
        topic: 'out',
        partition: 0,
        epoch: 1,
        baseSequence: 0,
        values: ['afterwards'],
      })
    })

    it('takes a new id without transactions', async () => {
      await start(0, { transactionalId: undefined })
      await abortWithOneMissing()
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'InitProducerId'])

      scripted.append('afterwards')
      await scripted.producer.flush(TIMEOUT_MS)
      const { batches } = scripted
      expect(batches.at(-1)).to.deep.equal({
        topic: 'out',
        partition: 0,
        epoch: 1,
        baseSequence: 0,
        values: ['afterwards'],
      })
    })

    it('keeps epoch and sequences where none is missing (transaction.version 0)', async () => {
      const { producer } = await start(0)
      scripted.append('is there')
      await producer.flush(TIMEOUT_MS)
      await producer.abortTransaction(TIMEOUT_MS)
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'abort'])

      await commit(['afterwards'], 0)
      const { batches } = scripted
      expect(batches.at(-1)).to.deep.equal({
        topic: 'out',
        partition: 0,
        epoch: 0,
        baseSequence: 1,
        values: ['afterwards'],
      })
    })
  })
})
