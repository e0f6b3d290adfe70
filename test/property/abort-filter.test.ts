import { expect } from 'chai'
import fc from 'fast-check'
import type { AbortedTransaction } from '../../src/kafka/records/abort-filter.ts'
import { readBlock } from '../support/record-blocks.ts'
import { encodeMarker, encodeReferenceBatch } from '../support/reference-batches.ts'

/** One step of a partition's history. Producer 0 writes outside of transactions. */
type Step =
  | { readonly kind: 'write'; readonly producer: number; readonly records: number }
  | { readonly kind: 'end'; readonly producer: number; readonly outcome: 'commit' | 'abort' }

interface WrittenBatch {
  readonly bytes: Buffer
  readonly firstOffset: number
  readonly lastOffset: number
  readonly producer: number
  readonly offsets: readonly number[]
  isAborted: boolean
}

interface AbortedRange extends AbortedTransaction {
  /** Offset of its marker. */
  readonly endOffset: number
}

interface Log {
  readonly batches: WrittenBatch[]
  /** As a broker's index lists them: in order of their markers. */
  readonly aborted: AbortedRange[]
  /** First offset of the earliest transaction that is still open, or the end: readers see nothing from there on. */
  readonly lastStableOffset: number
}

/** Plays a history as a broker would; `keeps` says which records survive compaction (markers and batches stay). */
function play(steps: readonly Step[], keeps: (offset: number) => boolean): Log {
  const batches: WrittenBatch[] = []
  const aborted: AbortedRange[] = []
  const open = new Map<number, WrittenBatch[]>()
  let end = 0
  for (const step of steps) {
    if (step.kind === 'write') {
      const batch = writtenBatch(end, step, keeps)
      batches.push(batch)
      if (step.producer > 0) open.set(step.producer, [...(open.get(step.producer) ?? []), batch])
      end = batch.lastOffset + 1
      continue
    }
    const mine = open.get(step.producer)
    const bytes = encodeMarker(end, step.producer, step.outcome)
    batches.push({ bytes, firstOffset: end, lastOffset: end, producer: step.producer, offsets: [], isAborted: false })
    if (mine?.[0] !== undefined && step.outcome === 'abort') {
      aborted.push({ producerId: step.producer, firstOffset: mine[0].firstOffset, endOffset: end })
      for (const batch of mine) batch.isAborted = true
    }
    open.delete(step.producer)
    end += 1
  }
  const firstOpen = [...open.values()].map(list => list[0]?.firstOffset ?? end)
  return { batches, aborted, lastStableOffset: Math.min(end, ...firstOpen) }
}

function writtenBatch(
  baseOffset: number,
  step: { readonly producer: number; readonly records: number },
  keeps: (offset: number) => boolean,
): WrittenBatch {
  const lastOffset = baseOffset + step.records - 1
  const offsets = Array.from({ length: step.records }, (_, index) => baseOffset + index).filter(keeps)
  const bytes = encodeReferenceBatch({
    baseOffset,
    lastOffset,
    leaderEpoch: 0,
    attributes: step.producer > 0 ? 0x10 : 0,
    baseTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: BigInt(step.producer > 0 ? step.producer : -1),
    epoch: 0,
    baseSequence: 0,
    records: offsets.map(offset => ({ offset, timestamp: 0n, key: null, value: null, headers: [] })),
  })
  return { bytes, firstOffset: baseOffset, lastOffset, producer: step.producer, offsets, isAborted: false }
}

const producer = fc.integer({ min: 1, max: 3 })
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    producer: fc.integer({ min: 0, max: 3 }),
    records: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({
    kind: fc.constant('end' as const),
    producer,
    outcome: fc.constantFrom('commit' as const, 'abort' as const),
  }),
)

/** Most histories end with all transactions ended: one left open early would hide all the rest from readers. */
const anyHistory = fc
  .tuple(fc.array(anyStep, { maxLength: 40 }), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), fc.nat(9))
  .map(([steps, outcomes, chance]): readonly Step[] => {
    const ends = outcomes.map((isCommit, index) => ({
      kind: 'end' as const,
      producer: index + 1,
      outcome: isCommit ? ('commit' as const) : ('abort' as const),
    }))
    return chance === 0 ? steps : [...steps, ...ends]
  })

describe('the abort filter', () => {
  it('shows exactly the committed records, whoever overlaps whom, from any offset and cut off anywhere', () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.nat(1_000),
        fc.nat(40),
        fc.nat(30),
        fc.func(fc.boolean()),
        (steps, start, batchesMax, cut, keeps) => {
          const log = play(steps, keeps)
          const position = (start < 500 ? 0 : start) % (log.lastStableOffset + 1)
          const whole = log.batches
            .filter(batch => batch.lastOffset >= position && batch.lastOffset < log.lastStableOffset)
            .slice(0, batchesMax)
          const beyond = log.batches[log.batches.indexOf(whole.at(-1) ?? (log.batches[0] as WrittenBatch)) + 1]
          const tail = beyond?.bytes.subarray(0, Math.min(cut, beyond.bytes.length - 1)) ?? Buffer.alloc(0)
          const block = Buffer.concat([...whole.map(batch => batch.bytes), tail])
          const blockEnd = (whole.at(-1)?.lastOffset ?? position - 1) + 1
          // A broker sends the aborted transactions that reach into what it sends.
          const aborted = log.aborted.filter(each => each.endOffset >= position && each.firstOffset < blockEnd)

          const { records, position: next } = readBlock(block, { position, aborted })
          expect(records.map(record => record.offset)).to.deep.equal(
            whole
              .filter(batch => !batch.isAborted)
              .flatMap(batch => batch.offsets)
              .filter(offset => offset >= position),
          )
          expect(next).to.equal(blockEnd)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('hides nothing but markers from read_uncommitted', () => {
    fc.assert(
      fc.property(anyHistory, steps => {
        const log = play(steps, () => true)
        const block = Buffer.concat(log.batches.map(batch => batch.bytes))

        const { records } = readBlock(block, { aborted: log.aborted, isolation: 'read_uncommitted' })
        expect(records.map(record => record.offset)).to.deep.equal(log.batches.flatMap(batch => batch.offsets))
      }),
    )
  })
})
