import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { postedError, receivedError } from '../../../src/engine/posted-error.ts'
import { logMessage } from '../../../src/engine/thread-messages.ts'

/** What arrives on another thread. */
function afterTheWay(error: MillraceError): MillraceError {
  return receivedError(structuredClone(postedError(error)))
}

describe('errors between threads', () => {
  it('keep code, message, remedy, reaction and place', () => {
    const error = new MillraceError('PROCESSING_FAILED', {
      task: '0_3',
      node: 'totals',
      topic: 'orders',
      partition: 3,
      offset: 17,
      what: 'The step failed.',
      action: 'Correct the step.',
      reaction: 'stop',
      cause: new Error('boom'),
    })
    const received = afterTheWay(error)

    expect(received).to.be.instanceOf(MillraceError)
    expect([received.code, received.message, received.action, received.reaction, received.exitCode]).to.deep.equal([
      error.code,
      error.message,
      error.action,
      error.reaction,
      error.exitCode,
    ])
    expect([received.details.task, received.details.topic, received.details.offset]).to.deep.equal([
      '0_3',
      'orders',
      17,
    ])
  })

  it('name the place once', () => {
    const error = new MillraceError('STORE_FULL', { task: '0_1', node: 'counts' })

    expect(afterTheWay(error).message).to.equal(error.message)
  })

  it('keep the stack of what was thrown first', () => {
    const cause = new TypeError('x is not a function')
    const received = afterTheWay(new MillraceError('INTERNAL', { cause }))

    expect(received.stack).to.equal(cause.stack)
  })

  it('travel whatever their cause holds', () => {
    const cause = Object.assign(new Error('no'), { socket: () => {} })

    expect(afterTheWay(new MillraceError('CONNECTION_LOST', { cause })).code).to.equal('CONNECTION_LOST')
  })
})

describe('log lines between threads', () => {
  it('arrive with errors readable and everything else that can travel', () => {
    const err = new MillraceError('CONNECTION_LOST', { cause: Object.assign(new Error('no'), { socket: () => {} }) })
    const line = structuredClone(logMessage('warn', { err, count: 3, place: { topic: 'in' } }, 'gone'))

    expect(line).to.deep.include({ type: 'log', level: 'warn', message: 'gone' })
    expect(line).to.have.nested.property('fields.count', 3)
    expect(line).to.have.nested.property('fields.place.topic', 'in')
    expect(line).to.have.nested.property('fields.err.code', 'CONNECTION_LOST')
    expect(line).to.have.nested.property('fields.err.message', err.message)
  })

  it('arrive whatever a step logs', () => {
    const fields = { work: () => {}, mark: Symbol('m'), held: { socket: () => {} } }

    expect(() => structuredClone(logMessage('info', fields, 'odd'))).not.to.throw()
  })
})
