import { expect } from 'chai'
import fc from 'fast-check'
import { KeyLookAhead } from '../../../src/engine/key-look-ahead.ts'
import { RecordCursor } from '../../../src/kafka/records/record-cursor.ts'
import { murmur2 } from '../../../src/model/murmur2.ts'
import type { UpcomingKeys } from '../../../src/model/upcoming-keys.ts'
import { encodeReferenceBatch } from '../../support/reference-batches.ts'

type Keys = readonly (Uint8Array | null)[]

/** Batches of records with these keys, one after the other. */
function blockOf(batches: readonly Keys[]): Buffer {
  let offset = 0
  return Buffer.concat(
    batches.map(keys => {
      const baseOffset = offset
      offset += keys.length
      return encodeReferenceBatch({
        baseOffset,
        lastOffset: offset - 1,
        leaderEpoch: 0,
        attributes: 0,
        baseTimestamp: 1_000n,
        maxTimestamp: 2_000n,
        producerId: -1n,
        epoch: -1,
        baseSequence: -1,
        records: keys.map((key, at) => ({
          offset: baseOffset + at,
          timestamp: 1_000n + BigInt(at),
          key: key === null ? null : Buffer.from(key),
          value: Buffer.from('a value'),
          headers: [],
        })),
      })
    }),
  )
}

function cursorOn(records: Buffer, position: number): RecordCursor {
  const cursor = new RecordCursor()
  cursor.reset({ topic: 't', partition: 0, records, position, aborted: [], isolation: 'read_committed' })
  return cursor
}

/** Reads a block to its end. @returns the hash known for each record beside its key's own, those not known left out */
function knownHashes(ahead: KeyLookAhead, cursor: RecordCursor): [known: number, own: number][] {
  const hashes: [number, number][] = []
  while (cursor.next()) {
    ahead.moved(cursor)
    const { keyHash } = ahead
    if (keyHash !== undefined) hashes.push([keyHash, murmur2(cursor.key ?? Buffer.alloc(0))])
  }
  ahead.left()
  return hashes
}

describe('looking ahead at keys', () => {
  const key = fc.option(fc.uint8Array({ maxLength: 100 }), { nil: null })
  const batches = fc.array(fc.array(key, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 5 })

  it('knows of every record the hash of its own key, whatever batches and blocks it lies in', () => {
    fc.assert(
      fc.property(batches, batches, fc.nat(30), (first, second, from) => {
        const ahead = new KeyLookAhead([])
        const records = first.flat().length
        const position = Math.min(from, records - 1)
        const hashes = [
          ...knownHashes(ahead, cursorOn(blockOf(first), position)),
          ...knownHashes(ahead, cursorOn(blockOf(second), 0)),
        ]
        expect(hashes).to.have.length(records - position + second.flat().length)
        for (const [known, own] of hashes) expect(known).to.equal(own)
      }),
    )
  })

  it('tells the stores of the keys once each, before their records', () => {
    const told: number[] = []
    const store = { lookAhead: ({ hashes, count }: UpcomingKeys) => told.push(...hashes.subarray(0, count)) }
    const keys = Array.from({ length: 50 }, (_, at) => Buffer.from(`key-${String(at)}`))
    const cursor = cursorOn(blockOf([keys]), 0)
    const ahead = new KeyLookAhead([store])
    for (let read = 1; cursor.next(); read += 1) {
      ahead.moved(cursor)
      expect(told.length).to.be.at.least(read)
    }
    expect(told).to.deep.equal(keys.map(bytes => murmur2(bytes)))
  })

  it('leaves what is no record to the reading of it', () => {
    fc.assert(
      fc.property(batches, fc.nat(), fc.nat(255), (keys, at, byte) => {
        const block = blockOf(keys)
        const header = 61
        block[header + (at % (block.length - header))] = byte
        const ahead = new KeyLookAhead([])
        const cursor = cursorOn(block, 0)
        try {
          while (cursor.next()) ahead.moved(cursor)
        } catch (error) {
          expect(error).to.have.property('code').that.is.oneOf(['PROTOCOL_VIOLATION', 'CORRUPT_RECORD'])
        }
      }),
    )
  })
})
