import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { streams } from '../../../src/topology/streams.ts'

/** Values that pass, of records `[key, id, time]`. */
function passing(records: readonly (readonly [key: string, id: string, timestamp: number])[]): string[] {
  const topology = streams(builder => {
    builder
      .stream('in', { key: string, value: string })
      .dedupe(value => (value === 'none' ? null : value), { within: 10, store: 'ids' })
      .to('out')
  })
  const driver = new TestDriver(topology)
  const input = driver.input('in', { key: string, value: string })
  for (const [key, value, timestamp] of records) input.pipeRecord({ key, value, timestamp })
  const passed = driver.output('out', { key: string, value: string }).readAll()
  driver.close()
  return passed.map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${String(timestamp)}`)
}

/** Positions of the records that pass, of records with these ids. */
function passingIds(ids: readonly (string | number | bigint)[]): string[] {
  const topology = streams(builder => {
    builder
      .stream('in', { key: string, value: string })
      .dedupe(value => ids[Number(value)] ?? null, { within: 10, store: 'ids' })
      .to('out')
  })
  const driver = new TestDriver(topology)
  try {
    const input = driver.input('in', { key: string, value: string })
    for (const position of ids.keys()) input.pipeRecord({ key: 'a', value: String(position), timestamp: 100 })
    return driver
      .output('out', { key: string, value: string })
      .readAll()
      .map(({ value }) => String(value))
  } finally {
    driver.close()
  }
}

describe('dedupe', () => {
  it('drops an id that was seen exactly as long ago as it is remembered, and passes it a millisecond later', () => {
    const first = ['a', 'id', 100] as const
    expect(passing([first, ['a', 'id', 110]])).to.deep.equal(['a=id@100'])
    expect(passing([first, ['a', 'id', 111]])).to.deep.equal(['a=id@100', 'a=id@111'])
  })

  it('drops a record that comes late beside a later one of its id, as far back as it is remembered', () => {
    const first = ['a', 'id', 100] as const
    expect(passing([first, ['a', 'id', 90]])).to.deep.equal(['a=id@100'])
    expect(passing([first, ['a', 'id', 89]])).to.deep.equal(['a=id@100', 'a=id@89'])
  })

  it('remembers the first of an id, not those it dropped', () => {
    expect(
      passing([
        ['a', 'id', 100],
        ['a', 'id', 109],
        ['a', 'id', 112],
      ]),
    ).to.deep.equal(['a=id@100', 'a=id@112'])
  })

  it('tells ids of different keys apart, and passes what has none', () => {
    expect(
      passing([
        ['a', 'id', 100],
        ['b', 'id', 100],
        ['a', 'none', 100],
        ['a', 'none', 100],
      ]),
    ).to.deep.equal(['a=id@100', 'b=id@100', 'a=none@100', 'a=none@100'])
  })

  it('takes whole numbers for ids, and tells them from their texts', () => {
    expect(passingIds([1, '1', 1n, 1, '1', 2, -1])).to.deep.equal(['0', '1', '5', '6'])
  })

  it('refuses numbers that may stand for another one', () => {
    for (const id of [2 ** 53, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => passingIds([id]), String(id)).to.throw('an id is a text, a whole number')
    }
    expect(passingIds([2n ** 53n, 2n ** 53n + 1n])).to.deep.equal(['0', '1'])
  })
})
