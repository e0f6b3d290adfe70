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
})
