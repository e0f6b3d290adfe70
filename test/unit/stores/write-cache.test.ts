import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { WriteCache } from '../../../src/stores/write-cache.ts'

const CONTEXT = { topic: 'in', partition: 0, offset: 0, timestamp: 0, headers: NO_HEADERS }
/** Of each entry: a key of one byte and a value of one. */
const ENTRY_BYTES = 2

/** A cache with room for so many entries, and the keys it has told of. */
class CacheBench {
  readonly told: string[] = []
  readonly cache: WriteCache

  constructor(entriesMax: number) {
    this.cache = new WriteCache({
      changelog: undefined,
      loggedHeaders: 'none',
      maxBytes: entriesMax * ENTRY_BYTES,
      context: () => CONTEXT,
      value: long,
      topic: 'changelog',
    })
    this.cache.listener = ({ key }) => this.told.push(key.toString())
  }

  write(...keys: readonly string[]): void {
    for (const key of keys) this.cache.write(Buffer.from(key), Buffer.of(1), 1, 0, null)
  }

  record(...keys: readonly string[]): void {
    this.write(...keys)
    this.cache.evict()
    this.cache.endRecord()
  }
}

describe('a write cache', () => {
  it('tells of what it has no room for in the order of the latest writes, and of the rest so at the flush', () => {
    const bench = new CacheBench(3)
    bench.record('a')
    bench.record('b')
    bench.record('c')
    bench.record('a')
    bench.record('d')
    expect(bench.told).to.deep.equal(['b'])
    bench.cache.flush()
    expect(bench.told).to.deep.equal(['b', 'c', 'a', 'd'])
    expect(bench.cache.isEmpty).to.equal(true)
  })

  it('keeps that order when a record is taken back', () => {
    const bench = new CacheBench(3)
    bench.record('a')
    bench.record('b')
    bench.record('c')
    bench.write('a', 'b', 'x')
    bench.cache.rollbackRecord()
    expect(bench.cache.holds(Buffer.from('x'))).to.equal(false)
    bench.record('d')
    expect(bench.told).to.deep.equal(['a'])
    bench.cache.flush()
    expect(bench.told).to.deep.equal(['a', 'b', 'c', 'd'])
  })

  it('keeps it too when a flush is taken back', () => {
    const bench = new CacheBench(9)
    bench.record('a')
    bench.record('b')
    bench.record('a')
    bench.cache.flush()
    bench.cache.rollbackRecord()
    bench.told.length = 0
    bench.record('c')
    bench.cache.flush()
    expect(bench.told).to.deep.equal(['b', 'a', 'c'])
  })
})
