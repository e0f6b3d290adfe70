import { expect } from 'chai'
import type { OffsetAndMetadata } from '../../../../src/kafka/offset-and-metadata.ts'
import type { ProducerOptions } from '../../../../src/kafka/producer/producer-options.ts'
import { TopicPartitionMap } from '../../../../src/model/topic-partition.ts'
import { deferred } from '../../../../src/engine/deferred.ts'
import { eventually } from '../../../support/condition.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { type ScriptedAnswer, ScriptedProducer } from './scripted-producer.ts'

const TIMEOUT_MS = 5_000
/** Several times what a batch waits before it is sent again. */
const RETRY_PAUSES_MS = 100
const MEMBER = { generationId: 3, memberId: 'm', groupInstanceId: null }
const OFFSETS = new TopicPartitionMap<OffsetAndMetadata>([
  [
    { topic: 'in', partition: 0 },
    { offset: 7, leaderEpoch: -1, metadata: '' },
  ],
])
const NOT_LEADER_OR_FOLLOWER = 6
const NOT_COORDINATOR = 16
const INVALID_TXN_STATE = 48
const PRODUCER_FENCED = 90

describe('the transactions of a producer', () => {
  let scripted: ScriptedProducer

  async function start(transactionVersion: 0 | 2, options: Partial<ProducerOptions> = {}): Promise<ScriptedProducer> {
    scripted = await ScriptedProducer.start(transactionVersion, options)
    return scripted
  }

  afterEach(() => scripted.stop())

  async function write(value: string, partition = 0, topic = 'out'): Promise<void> {
    scripted.append(value, partition, topic)
    await scripted.producer.flush(TIMEOUT_MS)
  }

  async function commit(): Promise<void> {
    expect(await scripted.producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
  }

  /** Writes one record whose first answer is lost: a copy of the request may still arrive. */
  async function writeWithLoss(): Promise<void> {
    await start(0)
    let losses = 1
    scripted.produceAnswer = () => (losses-- > 0 ? 'lost' : 0)
    await write('twice on the wire')
    expect(scripted.valuesOf(0)).to.have.length(2)
  }

  it('take in every topic that is written before its first batch, in each of them anew', async () => {
    await start(2)
    for (const value of ['first', 'second']) {
      // The first of them begins the transaction; the others find it open, and are added together.
      await write(value, 1)
      scripted.append(value, 0, 'more')
      scripted.append(value)
      await scripted.producer.flush(TIMEOUT_MS)
      await commit()
    }
    const written = [scripted.valuesOf(0), scripted.valuesOf(1), scripted.valuesOf(0, 'more')]
    expect(written).to.deep.equal([
      ['first', 'second'],
      ['first', 'second'],
      ['first', 'second'],
    ])
  })

  it('take in all partitions of a moment by one request', async () => {
    await start(2)
    scripted.append('a', 1)
    scripted.append('b', 0, 'more')
    scripted.append('c')
    await scripted.producer.flush(TIMEOUT_MS)
    expect(scripted.additions).to.have.length(1)
    expect(scripted.additions.flat()).to.have.members(['out-0', 'out-1', 'more-0'])
  })

  it('take in partitions while their records wait for linger.ms, before they are sent', async () => {
    const { producer } = await start(2, { lingerMs: TIMEOUT_MS })
    scripted.append('a', 1)
    scripted.append('b')
    producer.pump()
    await eventually('the partitions are added', () => scripted.additions.length > 0)
    expect(scripted.additions.flat()).to.have.members(['out-0', 'out-1'])
    expect(scripted.batches).to.deep.equal([])
    await producer.flush(TIMEOUT_MS)
    await commit()
    expect(scripted.additions, 'a commit finds them added').to.have.length(1)
    expect([...scripted.valuesOf(1), ...scripted.valuesOf(0)]).to.deep.equal(['a', 'b'])
  })

  it('take in partitions as early in the tenth of them as in the first', async () => {
    const { producer } = await start(2, { lingerMs: TIMEOUT_MS })
    for (let count = 1; count <= 10; count += 1) {
      scripted.append(String(count))
      await eventually(
        'the partition is added while its record waits',
        () => {
          producer.pump()
          return scripted.additions.length === count
        },
        TIMEOUT_MS / 10,
      )
      await producer.flush(TIMEOUT_MS)
      await commit()
    }
    expect(scripted.valuesOf(0)).to.have.length(10)
  })

  it('are aborted when partitions were taken in and nothing was sent', async () => {
    const { producer } = await start(2, { lingerMs: TIMEOUT_MS })
    scripted.append('dropped')
    producer.pump()
    await eventually('the partition is added', () => scripted.additions.length > 0)
    await producer.abortTransaction(TIMEOUT_MS)
    expect(scripted.calls).to.deep.equal(['InitProducerId', 'abort'])
    await write('kept')
    await commit()
    expect(scripted.additions).to.deep.equal([['out-0'], ['out-0']])
    expect(scripted.valuesOf(0)).to.deep.equal(['kept'])
  })

  it('take in the group anew each time (transaction.version 0)', async () => {
    const { producer } = await start(0)
    for (const value of ['first', 'second']) {
      await write(value)
      expect(await producer.sendOffsets('g', MEMBER, OFFSETS, TIMEOUT_MS)).to.equal('done')
      await commit()
    }
    expect(scripted.calls).to.deep.equal(['InitProducerId', 'offsets', 'commit', 'offsets', 'commit'])
  })

  it('are aborted when the producer is closed, so that readers are not held up', async () => {
    const { producer } = await start(2)
    await write('half')
    await producer.close(TIMEOUT_MS)
    expect(scripted.calls).to.deep.equal(['InitProducerId', 'abort'])
  })

  it('are ended at the coordinator of now when the one of before refuses, or is gone', async () => {
    await start(2)
    await write('first')
    scripted.endTxnAnswers.push(NOT_COORDINATOR)
    scripted.coordinators(2)
    await commit()
    expect(scripted.findRequests).to.equal(2)
    await write('second')
    scripted.endTxnAnswers.push('lost')
    scripted.coordinators(1)
    await commit()
    expect(scripted.findRequests).to.equal(3)
  })

  describe('whose end got no answer', () => {
    it('are in doubt when the same request is refused afterwards: it may have been done the first time (I10)', async () => {
      const { producer } = await start(2)
      await write('in doubt')
      scripted.endTxnAnswers.push('lost', INVALID_TXN_STATE)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('unknown')
      expect(producer.transaction.state).to.equal('unknown')
    })

    it('are in doubt after one lost answer, and nothing is sent again: a late copy could end the next one (transaction.version 0)', async () => {
      const { producer } = await start(0)
      await write('in doubt')
      scripted.endTxnAnswers.push('lost')
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('unknown')
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'commit'])
    })

    it('are in doubt when a coordinator that was about to go may have done it (I10)', async () => {
      const { producer } = await start(2)
      await write('in doubt')
      scripted.endTxnAnswers.push(NOT_COORDINATOR, INVALID_TXN_STATE)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('unknown')
    })

    it('are refused when nothing was lost: they are not committed', async () => {
      const { producer } = await start(2)
      await write('refused')
      scripted.endTxnAnswers.push(INVALID_TXN_STATE)
      const error = await rejectionOf(producer.commitTransaction(TIMEOUT_MS))
      expect(error.details.kafkaCode).to.equal(INVALID_TXN_STATE)
    })
  })

  describe('after an answer to Produce was lost (transaction.version 0)', () => {
    it('get a new epoch at an abort: a late copy would open the next one (I9)', async () => {
      await writeWithLoss()
      await scripted.producer.abortTransaction(TIMEOUT_MS)
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'abort', 'InitProducerId'])
    })

    it('get a new epoch before the next one begins (I9)', async () => {
      await writeWithLoss()
      await commit()
      await write('next')
      expect(scripted.calls).to.deep.equal(['InitProducerId', 'commit', 'InitProducerId'])
      expect(scripted.batches.at(-1)).to.include({ epoch: 1, baseSequence: 0 })
    })
  })

  it('take in the group anew after a new epoch (transaction.version 0)', async () => {
    const { producer } = await start(0)
    await write('given up')
    expect(await producer.sendOffsets('g', MEMBER, OFFSETS, TIMEOUT_MS)).to.equal('done')
    expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
    await write('kept')
    expect(await producer.sendOffsets('g', MEMBER, OFFSETS, TIMEOUT_MS)).to.equal('done')
    await commit()
    expect(scripted.calls).to.deep.equal(['InitProducerId', 'offsets', 'InitProducerId', 'offsets', 'commit'])
  })

  it('get a new epoch at an abort in between, too, when there is doubt about theirs (I9)', async () => {
    await writeWithLoss()
    await commit()
    await scripted.producer.abortTransaction(TIMEOUT_MS)
    expect(scripted.calls).to.deep.equal(['InitProducerId', 'commit', 'InitProducerId'])
  })

  it('are not begun behind an abort that came while they were being opened', async () => {
    await writeWithLoss()
    await commit()
    const { producer } = scripted
    // The next one begins with a new epoch, whose answer takes its time.
    const { promise, resolve } = deferred<undefined>()
    scripted.initHeld = promise
    scripted.append('given up')
    producer.pump()
    await eventually('the new epoch is asked for', () => scripted.calls.length === 3)
    const aborted = producer.abortTransaction(TIMEOUT_MS)
    await new Promise(done => setTimeout(done, RETRY_PAUSES_MS))
    expect(scripted.calls, 'nothing else is asked meanwhile').to.have.length(3)
    resolve(undefined)
    await aborted

    expect(producer.transaction.state).to.equal('idle')
    await write('afterwards')
    await commit()
    expect(scripted.valuesOf(0)).to.deep.equal(['twice on the wire', 'twice on the wire', 'afterwards'])
  })

  it('are another owner’s when the broker says fenced, whatever the group says (transaction.version 2)', async () => {
    const { producer } = await start(2)
    producer.setAskGroup(() => Promise.resolve('ours'))
    scripted.initCode = PRODUCER_FENCED
    expect(await producer.refence(TIMEOUT_MS)).to.equal('fenced')
    expect(producer.transaction.state).to.equal('fenced')
  })

  it('ask the group whether they are another owner’s where the broker cannot tell (transaction.version 0)', async () => {
    const { producer } = await start(0)
    const answers: ('ours' | 'replaced')[] = ['replaced', 'ours']
    producer.setAskGroup(() => {
      // The id is taken anew only after the group has said that it is ours.
      if (answers.length === 1) scripted.initCode = 0
      return Promise.resolve(answers.shift() ?? 'replaced')
    })
    scripted.initCode = PRODUCER_FENCED
    expect(await producer.refence(TIMEOUT_MS)).to.equal('fenced')
    expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
  })
})

describe('the batches of a producer', () => {
  let scripted: ScriptedProducer

  afterEach(() => scripted.stop())

  it('are sent again one by one, in their order, when one came back', async () => {
    scripted = await ScriptedProducer.start(2, { batchSizeBytes: 100 })
    // Each value fills a batch.
    const values = ['first', 'second', 'third'].map(value => value.padEnd(60, '.'))
    const answers = values.map(() => deferred<ScriptedAnswer>())
    scripted.produceAnswer = ({ values: [value] }) => answers[values.indexOf(value ?? '')]?.promise ?? 0
    for (const value of values) scripted.append(value)
    scripted.producer.pump()
    const flushed = scripted.producer.flush(TIMEOUT_MS)
    await eventually('all are out', () => scripted.batches.length === values.length)
    answers[0]?.resolve(NOT_LEADER_OR_FOLLOWER)
    await new Promise(resolve => setTimeout(resolve, RETRY_PAUSES_MS))
    expect(scripted.valuesOf(0), 'not sent again while others are out').to.deep.equal(values)

    scripted.produceAnswer = () => 0
    for (const answer of answers) answer.resolve(NOT_LEADER_OR_FOLLOWER)
    await flushed
    expect(scripted.valuesOf(0)).to.deep.equal([...values, ...values])
    expect(scripted.batches.map(({ baseSequence }) => baseSequence)).to.deep.equal([0, 1, 2, 0, 1, 2])
  })

  it('go out one by one until the broker has the first of an epoch (transaction.version 0)', async () => {
    scripted = await ScriptedProducer.start(0, { batchSizeBytes: 100 })
    const values = ['first', 'second', 'third'].map(value => value.padEnd(60, '.'))
    for (const epoch of [0, 1]) {
      const first = deferred<ScriptedAnswer>()
      scripted.produceAnswer = ({ values: [value] }) => (value === values[0] ? first.promise : 0)
      for (const value of values) scripted.append(value)
      const flushed = scripted.producer.flush(TIMEOUT_MS)
      const sent = (): number => scripted.batches.filter(batch => batch.epoch === epoch).length
      await eventually('the first is out', () => sent() > 0)
      await new Promise(done => setTimeout(done, RETRY_PAUSES_MS))
      expect(sent(), 'the others wait for its answer').to.equal(1)
      first.resolve(0)
      await flushed
      expect(sent()).to.equal(values.length)
      await scripted.producer.refence(TIMEOUT_MS)
    }
  })

  it('go out five at a time at the most, which is what brokers remember', async () => {
    scripted = await ScriptedProducer.start(2, { batchSizeBytes: 100 })
    const { promise, resolve } = deferred<ScriptedAnswer>()
    scripted.produceAnswer = () => promise
    for (let count = 0; count < 8; count += 1) scripted.append(String(count).padEnd(60, '.'))
    const flushed = scripted.producer.flush(TIMEOUT_MS)
    await eventually('five are out', () => scripted.batches.length >= 5)
    await new Promise(done => setTimeout(done, RETRY_PAUSES_MS))
    expect(scripted.batches).to.have.length(5)
    resolve(0)
    await flushed
    expect(scripted.batches).to.have.length(8)
  })

  it('are sent again when an answer leaves them out', async () => {
    scripted = await ScriptedProducer.start(2)
    let answers = 0
    scripted.produceAnswer = () => ((answers += 1) === 1 ? 'missing' : 0)
    scripted.append('left out')
    await scripted.producer.flush(TIMEOUT_MS)
    expect(scripted.batches.map(({ baseSequence }) => baseSequence)).to.deep.equal([0, 0])
  })

  it('are not sent to a new leader before the old one has answered: they would overtake', async () => {
    scripted = await ScriptedProducer.start(2, { batchSizeBytes: 100 })
    const first = deferred<ScriptedAnswer>()
    let refusals = 1
    scripted.produceAnswer = ({ values: [value] }) => {
      if (value === 'first') return first.promise
      return value === 'elsewhere' && refusals-- > 0 ? NOT_LEADER_OR_FOLLOWER : 0
    }
    for (const partition of [0, 1]) scripted.append('zeroth', partition)
    await scripted.producer.flush(TIMEOUT_MS)
    scripted.append('first')
    scripted.producer.pump()
    await eventually('it is out', () => scripted.valuesOf(0).includes('first'))
    // The refusal of another partition has the leaders asked for anew.
    scripted.lead(2)
    scripted.append('elsewhere', 1)
    scripted.producer.pump()
    await eventually('the other one was sent again', () => scripted.valuesOf(1).length === 3)
    // Full batches, which wait for nothing else.
    const more = ['second', 'third'].map(value => value.padEnd(60, '.'))
    for (const value of more) scripted.append(value)
    scripted.producer.pump()
    await new Promise(done => setTimeout(done, RETRY_PAUSES_MS))
    expect(scripted.valuesOf(0)).to.deep.equal(['zeroth', 'first'])

    first.resolve(0)
    await scripted.producer.flush(TIMEOUT_MS)
    expect(scripted.valuesOf(0)).to.deep.equal(['zeroth', 'first', ...more])
  })

  it('fail the transaction when they were not acknowledged within delivery.timeout.ms', async () => {
    scripted = await ScriptedProducer.start(2, { deliveryTimeoutMs: 300 })
    scripted.produceAnswer = () => NOT_LEADER_OR_FOLLOWER
    scripted.append('never taken')
    const error = await rejectionOf(scripted.producer.flush(TIMEOUT_MS))
    expect(error.code).to.equal('REQUEST_TIMED_OUT')
    expect(error.message).to.contain('delivery.timeout.ms')
  })

  it('are given up, never sent twice, when no answer came and they carry no numbers', async () => {
    const dropped: string[] = []
    scripted = await ScriptedProducer.start(2, {
      transactionalId: undefined,
      idempotent: false,
      onDropped: (topic, partition, records) => dropped.push(`${topic}-${String(partition)}: ${String(records)}`),
    })
    scripted.produceAnswer = () => 'lost'
    scripted.append('once')
    await scripted.producer.flush(TIMEOUT_MS)
    expect(dropped).to.deep.equal(['out-0: 1'])
    expect(scripted.valuesOf(0)).to.deep.equal(['once'])
  })
})
