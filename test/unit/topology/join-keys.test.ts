import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import type { Serde } from '../../../src/serdes/serde.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { KTable } from '../../../src/topology/dsl.ts'
import { declareReads } from '../../../src/topology/reads.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

/** How often a key was written anew. */
let written = 0

const noting: Serde<string> = {
  name: 'noting',
  serialize: key => {
    written += 1
    return string.serialize(key, { topic: 't', side: 'key', headers: NO_HEADERS })
  },
  deserialize: view => view.toString(),
}
const side = { key: noting, value: string }
const text = { key: string, value: string }

type Joiner = (left: string, right: string | null) => string
type Define = (b: StreamsBuilder, joiner: Joiner) => void

const within = { within: 10, grace: 0 }

const joins: Readonly<Record<string, Define>> = {
  'a stream with a table': (b, joiner) => {
    b.stream('left', side)
      .join(b.table('right', { ...side, store: 's' }), joiner)
      .to('out', { value: string })
  },
  'a stream with a table, left': (b, joiner) => {
    b.stream('left', side)
      .leftJoin(b.table('right', { ...side, store: 's' }), joiner)
      .to('out', { value: string })
  },
  'two tables': (b, joiner) => {
    b.table('left', { ...side, store: 'l' })
      .join(b.table('right', { ...side, store: 'r' }), joiner)
      .toStream()
      .to('out', { value: string })
  },
  'two streams': (b, joiner) => {
    b.stream('left', side).join(b.stream('right', side), joiner, within).to('out', { value: string })
  },
}

/** What comes out of a record on each side, as `key=value`. */
function outOf(define: Define, joiner: Joiner, cacheBytes = 0): string[] {
  const options = { commit: 'explicit', streams: { 'statestore.cache.max.bytes': cacheBytes } } as const
  using driver = new TestDriver(
    streams(b => define(b, joiner)),
    options,
  )
  driver.input('right', text).pipe('k', 'r', 1)
  driver.commit()
  driver.input('left', text).pipe('k', 'l', 2)
  driver.commit()
  return driver
    .output('out', text)
    .readKeyValues()
    .map(([key, value]) => `${String(key)}=${String(value)}`)
}

describe('the key of joined records', () => {
  beforeEach(() => {
    written = 0
  })

  for (const [name, define] of Object.entries(joins)) {
    it(`is written where the joined table has a cache, whoever reads it (${name})`, () => {
      expect(outOf(define, declareReads<Joiner>(bothSides), 100_000)).to.deep.equal(['k=l+r'])
      expect(outOf(define, bothSides, 100_000)).to.deep.equal(['k=l+r'])
    })

    it(`goes on with the bytes it was read with where the joiner does not read it (${name})`, () => {
      const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
      expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
      expect(written).to.equal(0)
    })

    it(`is read for a joiner of which nothing is known (${name})`, () => {
      const keys: unknown[] = []
      const joiner = (left: string, right: string | null, ...[key]: readonly unknown[]): string => {
        keys.push(key)
        return `${left}+${String(right)}`
      }
      expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
      expect(keys).to.deep.equal(['k'])
      expect(written).to.be.above(0)
    })
  }

  it('is read for a step on the table that keeps nothing', () => {
    const keys: unknown[] = []
    const known = (_: string, key: string): boolean => keys.push(key) > 0
    const filtered = (b: StreamsBuilder): KTable<string, string> =>
      b.table('right', { ...side, store: 's' }).filter(known)
    const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
    const define: Define = b => {
      b.stream('left', side).join(filtered(b), joiner).to('out', { value: string })
    }
    expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
    expect(new Set(keys)).to.deep.equal(new Set(['k']))
  })

  it('is read for a step on the other of two tables that keeps nothing', () => {
    const keys: unknown[] = []
    const known = (_: string, key: string): boolean => keys.push(key) > 0
    const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
    const define: Define = b => {
      const right = b.table('right', { ...side, store: 'r' }).filter(known)
      b.table('left', { ...side, store: 'l' })
        .join(right, joiner)
        .toStream()
        .to('out', { value: string })
    }
    expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
    expect(new Set(keys)).to.deep.equal(new Set(['k']))
  })

  it('is read where records wait for a partner: they leave at the time of another', () => {
    const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
    const define: Define = b => {
      b.stream('left', side).leftJoin(b.stream('right', side), joiner, within).to('out', { value: string })
    }
    expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
    expect(written).to.be.above(0)
  })

  it('is read where records wait for the table to have come as far', () => {
    const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
    const define: Define = b => {
      const right = b.stream('right', side).toTable({ store: 's', versioned: { historyRetention: 100 } })
      b.stream('left', side).join(right, joiner, { grace: 5, name: 'waiting' }).to('out', { value: string })
    }
    using driver = new TestDriver(streams(b => define(b, joiner)))
    driver.input('right', text).pipe('k', 'r', 1)
    const left = driver.input('left', text)
    left.pipe('k', 'l', 2)
    left.pipe('x', 'later', 10)
    // Too late to wait.
    left.pipe('k', 'late', 3)
    expect(driver.output('out', text).readKeyValues()).to.deep.equal([
      ['k', 'l+r'],
      ['k', 'late+r'],
    ])
  })

  for (const cached of ['left', 'right'] as const) {
    it(`is that of the record at work in the store of a join of two tables, of which only the ${cached} one has a cache`, () => {
      const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
      const define: Define = b => {
        const tableOf = (topic: 'left' | 'right'): KTable<string, string> =>
          topic === cached
            ? b.table(topic, { ...side, store: topic })
            : b.table(topic, { ...side, store: topic, versioned: { historyRetention: 100 } })
        tableOf('left').join(tableOf('right'), joiner, { store: 'joined', value: string }).toStream().to('out')
      }
      const options = { commit: 'explicit', streams: { 'statestore.cache.max.bytes': 100_000 } } as const
      using driver = new TestDriver(
        streams(b => define(b, bothSides)),
        options,
      )
      const other = cached === 'left' ? 'right' : 'left'
      driver.input(cached, text).pipe('k', '1', 1)
      driver.commit()
      driver.input(other, text).pipe('k', '2', 2)
      driver.input(cached, text).pipe('k', '3', 3)
      // The last record before the cache hands on what it held has another key.
      driver.input(other, text).pipe('x', '4', 4)
      driver.commit()
      const joined = cached === 'left' ? '3+2' : '2+3'
      expect([...driver.keyValueStore('joined', text).all()]).to.deep.equal([['k', joined]])
      expect(driver.output('out', text).readKeyValues()).to.deep.equal([['k', joined]])
    })
  }

  it('is read by a selector of the global table alone', () => {
    const joiner = declareReads<Joiner>((left, right) => `${left}+${String(right)}`)
    const define: Define = b => {
      const global = b.globalTable('right', { ...text, store: 'g' })
      b.stream('left', side)
        .join(global, (_, key) => key, joiner)
        .to('out', { value: string })
    }
    expect(outOf(define, joiner)).to.deep.equal(['k=l+r'])
  })
})

function bothSides(left: string, right: string | null): string {
  return `${left}+${String(right)}`
}
