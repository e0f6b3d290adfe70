import { expect } from 'chai'
import { errorFields } from '../../../src/model/error-fields.ts'
import { MillraceError } from '../../../src/model/errors.ts'

describe('error fields of a log line', () => {
  it('have type and message whatever was thrown', () => {
    for (const thrown of [new TypeError('no'), new MillraceError('INTERNAL', { what: 'no' }), 'no']) {
      expect(errorFields(thrown)).to.include({ message: 'no' }).and.to.have.property('type').that.is.a('string')
    }
  })

  it('tell code, place, reaction and cure of an error of ours, and only what is known', () => {
    const fields = errorFields(new MillraceError('TOPIC_MISSING', { topic: 'orders', partition: 3 }))
    expect(fields).to.have.all.keys('type', 'code', 'message', 'reaction', 'action', 'topic', 'partition')
    expect(fields).to.include({ type: 'MillraceError', code: 'TOPIC_MISSING', topic: 'orders', partition: 3 })
  })

  it('keep the code of a system error and where a foreign error was thrown', () => {
    const thrown = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    expect(errorFields(thrown)).to.include({ code: 'ECONNREFUSED', stack: thrown.stack })
  })

  it('keep a forged line break within the line', () => {
    expect(errorFields(new Error('a\nERROR b')).message).to.equal(String.raw`a\nERROR b`)
  })
})
