import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
import { CurrentRecord } from '../../../src/operators/current-record.ts'
import { TestLog } from '../../../src/testing/test-log.ts'

/** Stands on the first of some records. */
function aSource(): RecordSource {
  const log = new TestLog()
  for (const key of ['a', 'b']) {
    log.append({ key: Buffer.from(key), value: Buffer.from('v'), timestamp: 1, headers: NO_HEADERS })
  }
  const source = log.take()
  source.next()
  return source
}

/** What was held back, and is refused when it is let go. */
function failForHeld(record: CurrentRecord): void {
  const held = { timestamp: 0, headers: NO_HEADERS, topic: 'held', partition: 0, offset: 7 }
  expect(() => {
    record.actingFor(held, 'suppress', () => {
      throw new Error('refused')
    })
  }).to.throw('refused')
}

describe('the cause of what is being written', () => {
  it('is the record that let go what was held back', () => {
    const record = new CurrentRecord()
    const held = { timestamp: 0, headers: NO_HEADERS, topic: 'held', partition: 0, offset: 7 }
    record.begin('in', 0, aSource())
    record.actingFor(held, 'suppress', () => {
      expect(record.cause).to.deep.equal({ topic: 'in', partition: 0, offset: 0 })
      expect(record.view.metadata).to.deep.equal({ topic: 'held', partition: 0, offset: 7 })
    })
  })

  it('is the next record after one that failed while it let go what was held back', () => {
    const record = new CurrentRecord()
    const source = aSource()
    record.begin('in', 0, source)
    failForHeld(record)
    source.next()
    record.begin('in', 0, source)
    expect(record.cause).to.deep.equal({ topic: 'in', partition: 0, offset: 1 })
  })

  it('is no record in a punctuation after one that failed so', () => {
    const record = new CurrentRecord()
    record.begin('in', 0, aSource())
    failForHeld(record)
    record.beginPunctuation(5)
    expect(record.cause).to.deep.equal({ topic: '', partition: -1, offset: -1 })
  })
})
