import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { abandonTransaction } from '../../../src/engine/transaction-abandonment.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { Answers, FakeProducer } from './engine-fakes.ts'

describe('abandonment of a transaction', () => {
  it('aborts what is open', async () => {
    const producer = new FakeProducer()
    await abandonTransaction(producer, 100)

    expect(producer.calls).to.deep.equal(['abort'])
  })

  it('never aborts a commit whose outcome is not known: a new epoch settles it (I10)', async () => {
    const producer = new FakeProducer()
    producer.state = 'unknown'
    await abandonTransaction(producer, 100)

    expect(producer.calls).to.deep.equal(['initialize'])
  })

  it('gets a new epoch where another owner has fenced it', async () => {
    const producer = new FakeProducer()
    producer.aborts = new Answers<'done'>(new MillraceError('PRODUCER_FENCED'))
    await abandonTransaction(producer, 100)

    expect(producer.calls).to.deep.equal(['abort', 'initialize'])
  })

  it('hands on any other failure', async () => {
    const producer = new FakeProducer()
    producer.aborts = new Answers<'done'>(new MillraceError('REQUEST_TIMED_OUT'))

    expect((await rejectionOf(abandonTransaction(producer, 100))).code).to.equal('REQUEST_TIMED_OUT')
  })
})
