import { expect } from 'chai'
import fc from 'fast-check'
import { FilledAccumulator } from '../unit/kafka/producer/filled-accumulator.ts'

/** One step of a task: an input record that writes some outputs, and is then kept or rolled back. */
const inputRecord = fc.record({
  outputs: fc.array(fc.record({ partition: fc.nat({ max: 3 }), bytes: fc.nat({ max: 1_500 }) }), { maxLength: 12 }),
  isKept: fc.boolean(),
  closesAfter: fc.constantFrom('nothing', 'due', 'everything'),
})

describe('producer savepoints', () => {
  it('send exactly what was kept, in order, whatever was rolled back between', () => {
    fc.assert(
      fc.property(
        fc.array(inputRecord, { maxLength: 60 }),
        fc.integer({ min: 200, max: 2_000 }),
        (records, batchBytes) => {
          const filled = new FilledAccumulator({ batchSizeBytes: batchBytes })
          const expected: string[][] = [[], [], [], []]
          let number = 0
          for (const { outputs, isKept, closesAfter } of records) {
            filled.accumulator.beginRecord()
            for (const { partition, bytes } of outputs) {
              number += 1
              const value = `${String(number)}:${'v'.repeat(bytes)}`
              filled.append(value, partition)
              if (isKept) expected[partition]?.push(value)
            }
            if (isKept) filled.accumulator.endRecord()
            else filled.accumulator.rollbackRecord()
            if (closesAfter !== 'nothing') filled.accumulator.close(number, closesAfter === 'everything')
          }

          expect(filled.accumulator.records).to.equal(expected.flat().length)
          for (const [partition, values] of expected.entries()) expect(filled.values(partition)).to.deep.equal(values)
          for (const lane of filled.lanes) for (const batch of lane.pending) filled.accumulator.release(batch)
          expect(filled.accumulator.bufferedBytes).to.equal(0)
        },
      ),
    )
  })
})
