import { expect } from 'chai'
import { MillraceError } from '../../../../src/model/errors.ts'
import { FilledAccumulator, valuesOf } from './filled-accumulator.ts'

const LONG = 'x'.repeat(400)

describe('accumulator', () => {
  it('keeps the order of a partition over several batches', () => {
    const filled = new FilledAccumulator()
    const expected = Array.from({ length: 20 }, (_, i) => `${String(i)}${LONG}`)
    for (const value of expected) filled.append(value)

    expect(filled.values()).to.deep.equal(expected)
    expect(filled.batches().length).to.be.greaterThan(5)
  })

  it('fills no batch beyond batch.size', () => {
    const filled = new FilledAccumulator()
    for (let i = 0; i < 200; i += 1) filled.append(`value ${String(i)}`)
    filled.accumulator.close(0, true)

    expect(Math.max(...filled.batches().map(batch => batch.sealed.bytes.length))).to.be.at.most(1_024)
  })

  it('takes everything of a record back that is rolled back, in every partition', () => {
    const filled = new FilledAccumulator()
    filled.append('kept 0', 0)
    filled.accumulator.beginRecord()
    filled.append('gone', 0)
    filled.append('gone', 1)
    filled.accumulator.rollbackRecord()
    filled.append('kept 1', 1)

    expect(filled.values(0)).to.deep.equal(['kept 0'])
    expect(filled.values(1)).to.deep.equal(['kept 1'])
  })

  it('takes a record back that had filled its batch and begun others', () => {
    const filled = new FilledAccumulator()
    filled.append('kept')
    filled.accumulator.beginRecord()
    for (let i = 0; i < 10; i += 1) filled.append(LONG)
    filled.accumulator.rollbackRecord()
    filled.append('after')

    expect(filled.values()).to.deep.equal(['kept', 'after'])
  })

  it('counts records, bytes and memory as if what was rolled back had never been there', () => {
    const filled = new FilledAccumulator()
    filled.append('kept')
    const before = countersOf(filled)
    filled.accumulator.beginRecord()
    for (let i = 0; i < 10; i += 1) filled.append(LONG, i % 3)
    filled.accumulator.rollbackRecord()

    expect(countersOf(filled)).to.deep.equal(before)
  })

  it('gives its memory back with every batch that is released', () => {
    const filled = new FilledAccumulator()
    for (let i = 0; i < 50; i += 1) filled.append(LONG, i % 4)
    filled.accumulator.close(0, true)
    for (const lane of filled.lanes) for (const batch of lane.pending) filled.accumulator.release(batch)

    expect(filled.accumulator.bufferedBytes).to.equal(0)
  })

  it('gives its memory back when it is discarded, even within a record', () => {
    const filled = new FilledAccumulator()
    for (let i = 0; i < 50; i += 1) filled.append(LONG, i % 4)
    filled.accumulator.beginRecord()
    filled.append('half done')
    filled.accumulator.discard()

    expect(filled.accumulator.bufferedBytes).to.equal(0)
    expect(filled.accumulator.inRecord).to.equal(false)
    expect(filled.values()).to.deep.equal([])
  })

  it('is full once buffer.memory is used up', () => {
    const filled = new FilledAccumulator({ bufferMemoryBytes: 5_000 })
    expect(filled.accumulator.isFull).to.equal(false)
    for (let i = 0; i < 13; i += 1) filled.append(LONG)
    expect(filled.accumulator.isFull).to.equal(true)
  })

  it('sends a record larger than batch.size in a batch of its own, in order', () => {
    const filled = new FilledAccumulator()
    filled.accumulator.register('out', 100_000)
    const large = 'y'.repeat(50_000)
    for (const value of ['before', large, 'after']) filled.append(value)

    expect(filled.values()).to.deep.equal(['before', large, 'after'])
    expect(filled.batches().map(batch => valuesOf(batch).length)).to.deep.equal([1, 1, 1])
  })

  it('refuses a record that its topic does not take, naming the partition, and goes on', () => {
    const filled = new FilledAccumulator()
    filled.accumulator.register('out', 2_000)
    filled.append('before', 3)

    expect(() => {
      filled.append('z'.repeat(2_000), 3)
    })
      .to.throw(MillraceError)
      .that.deep.includes({ code: 'RECORD_TOO_LARGE' })
      .with.property('details')
      .that.includes({ topic: 'out', partition: 3 })
    filled.append('after', 3)
    expect(filled.values(3)).to.deep.equal(['before', 'after'])
    expect(filled.accumulator.records).to.equal(2)
  })

  it('takes a record that is exactly as large as its topic allows, and none that is a byte larger', () => {
    const filled = new FilledAccumulator({ batchSizeBytes: 100 })
    // 61 bytes of header, 3 of the record's length, 1 + 1 + 1 + 1 (attributes, deltas, no key), 3 of the value's length, 1 (no headers).
    filled.accumulator.register('out', 61 + 3 + 4 + 3 + 20_000 + 1)
    filled.append('a'.repeat(20_000))
    expect(() => {
      filled.append('a'.repeat(20_001))
    }).to.throw(MillraceError)
    expect(filled.values()).to.have.lengthOf(1)
  })

  it('lets a batch wait for linger.ms, unless it is full', () => {
    const filled = new FilledAccumulator({ lingerMs: 50 })
    filled.append('waits')
    expect(filled.accumulator.close(1_000, false)).to.equal(50)
    expect(filled.accumulator.close(1_049, false)).to.equal(1)
    expect(filled.batches()).to.have.lengthOf(0)
    expect(filled.accumulator.close(1_050, false)).to.equal(-1)
    expect(filled.batches()).to.have.lengthOf(1)
  })

  it('tells what it expects to send while records wait, and nothing of a batch without any', () => {
    const expected: string[] = []
    const filled = new FilledAccumulator({
      lingerMs: 10,
      onExpected: ({ topic, partition }, nowMs) => expected.push(`${topic}-${String(partition)} at ${String(nowMs)}`),
    })
    filled.accumulator.register('small', 1_100)
    expect(() => {
      filled.append('z'.repeat(2_000), 0, 'small')
    }).to.throw(MillraceError)
    filled.append('waits', 3)
    filled.accumulator.close(5, false)
    filled.accumulator.close(15, false)
    expect(expected).to.deep.equal(['out-3 at 5'])
  })

  it('lets a batch that is due fill up while the one before is on its way', () => {
    const filled = new FilledAccumulator()
    filled.append('first')
    filled.accumulator.close(0, false)
    filled.append('second')
    filled.accumulator.close(1_000, false)
    expect(filled.batches()).to.have.lengthOf(1)

    filled.lanes[0]?.pending.shift()
    filled.accumulator.close(1_001, false)
    expect(filled.batches().flatMap(valuesOf)).to.deep.equal(['second'])
  })

  it('cuts batches to half after the broker found one too large', () => {
    const filled = new FilledAccumulator({ batchSizeBytes: 8_192 })
    filled.append('known')
    filled.accumulator.discard()
    filled.accumulator.refused('out', 30, 8_000)
    for (let i = 0; i < 100; i += 1) filled.append(LONG)
    filled.accumulator.close(0, true)

    expect(Math.max(...filled.batches().map(batch => batch.sealed.bytes.length))).to.be.within(2_048, 4_096)
  })

  it('refuses a record when it comes again after the broker found it too large alone', () => {
    const filled = new FilledAccumulator({ batchSizeBytes: 8_192 })
    const large = 'x'.repeat(2_000)
    filled.append(large)
    filled.accumulator.close(0, true)
    const [batch] = filled.batches()
    filled.accumulator.discard()
    filled.accumulator.refused('out', 1, batch?.bufferedBytes ?? 0)

    expect(() => {
      filled.append(large)
    })
      .to.throw(MillraceError)
      .with.property('code', 'RECORD_TOO_LARGE')
    filled.append(large.slice(1))
    expect(filled.accumulator.records).to.equal(2)
  })

  it('takes a limit that is told again only where it is smaller', () => {
    const filled = new FilledAccumulator({ batchSizeBytes: 8_192 })
    filled.accumulator.register('out', 4_000)
    filled.accumulator.register('out', 2_000)
    filled.accumulator.register('out', 4_000)
    filled.append('x'.repeat(1_800))
    expect(() => {
      filled.append('x'.repeat(2_000))
    }).to.throw(MillraceError, 'max.message.bytes')
  })

  it('closes nothing from within a record', () => {
    const filled = new FilledAccumulator()
    filled.accumulator.beginRecord()
    expect(() => filled.accumulator.close(0, true)).to.throw('between records')
  })

  it('reuses released buffers without mixing their contents', () => {
    const filled = new FilledAccumulator()
    for (let round = 0; round < 20; round += 1) {
      const expected = Array.from({ length: 10 }, (_, i) => `${String(round)}.${String(i)}${LONG}`)
      for (const value of expected) filled.append(value)
      expect(filled.values()).to.deep.equal(expected)
      for (const batch of filled.lanes[0]?.pending.splice(0) ?? []) filled.accumulator.release(batch)
    }
  })
})

function countersOf({ accumulator }: FilledAccumulator): object {
  const { records, bytes, bufferedBytes } = accumulator
  return { records, bytes, bufferedBytes }
}
