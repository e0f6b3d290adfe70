import { expect } from 'chai'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { streams } from '../../../src/topology/streams.ts'

const CACHE = { 'statestore.cache.max.bytes': 1_000 }

describe('results held back by a cache', () => {
  it('leave once per key at the commit, the latest of each', () => {
    const topology = streams(b => {
      b.stream('in', { key: string, value: string }).groupByKey().count({ store: 'c' }).toStream().to('out')
    })
    using driver = new TestDriver(topology, { commit: 'explicit', streams: CACHE })
    const input = driver.input('in', { key: string, value: string })
    for (const key of ['a', 'b', 'a']) input.pipe(key, 'v')
    expect(driver.producedTopics).to.deep.equal([])
    driver.commit()
    expect(driver.output('out', { key: string, value: long }).readKeyValues()).to.deep.equal([
      ['b', 1],
      ['a', 2],
    ])
    expect(driver.output('app-c-changelog', { key: string, value: long }).readKeyValues()).to.deep.equal([
      ['b', 1],
      ['a', 2],
    ])
  })

  it('leave early, the oldest first, when the cache is full', () => {
    const topology = streams(b => {
      b.stream('in', { key: string, value: string }).groupByKey().count({ store: 'c' }).toStream().to('out')
    })
    // A key of one byte and a long: two fit.
    using driver = new TestDriver(topology, { commit: 'explicit', streams: { 'statestore.cache.max.bytes': 18 } })
    const input = driver.input('in', { key: string, value: string })
    for (const key of ['a', 'b', 'c']) input.pipe(key, 'v')
    expect(driver.output('out', { key: string, value: long }).readKeyValues()).to.deep.equal([['a', 1]])
  })

  it('stop the task when what follows them fails, whatever the policy, and are not half told', () => {
    let fails = true
    const topology = streams(b => {
      const counts = b.stream('in', { key: string, value: string }).groupByKey().count({ store: 'c' }).toStream()
      counts.to('out')
      counts
        .peek(() => {
          if (fails) throw new Error('boom')
        })
        .to('out2')
    })
    using driver = new TestDriver(topology, {
      commit: 'explicit',
      streams: CACHE,
      errors: { processing: 'skip' },
    })
    driver.input('in', { key: string, value: string }).pipe('a', 'v')
    expect(() => {
      driver.commit()
    }).to.throw('boom')
    fails = false
    expect(driver.output('out', { key: string, value: long }).isEmpty).to.equal(true)
  })

  it('stay apart from results of a store without caching', () => {
    const topology = streams(b => {
      b.stream('in', { key: string, value: string })
        .groupByKey()
        .count({ store: 'c', caching: false })
        .toStream()
        .to('out')
    })
    using driver = new TestDriver(topology, { commit: 'explicit', streams: CACHE })
    driver.input('in', { key: string, value: string }).pipe('a', 'v')
    expect(driver.output('out', { key: string, value: long }).readKeyValues()).to.deep.equal([['a', 1]])
  })
})
