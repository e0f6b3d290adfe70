import { expect } from 'chai'
import { string } from '../../../src/serdes/text.ts'
import { sessionWindowed } from '../../../src/serdes/windowed.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { streams } from '../../../src/topology/streams.ts'

describe('sessions that are emitted when they have closed', () => {
  it('have the headers of the record that closed them, as in the JVM', () => {
    const topology = streams(b => {
      b.stream('in', { key: string, value: string })
        .groupByKey()
        .windowedBy({ session: 10, grace: 0 }, { emit: 'final' })
        .reduce((a, v) => a + v, { store: 's' })
        .toStream()
        .to('out')
    })
    const driver = new TestDriver(topology)
    const input = driver.input('in', { key: string, value: string })
    input.pipeRecord({ key: 'a', value: '1', timestamp: 0, headers: [['of', 'first']] })
    input.pipeRecord({ key: 'b', value: '2', timestamp: 100, headers: [['of', 'second']] })
    const [closed] = driver.output('out', { key: sessionWindowed(string), value: string }).readAll()

    expect(closed).to.deep.include({ value: '1', timestamp: 0 })
    expect(
      [...(closed?.headers ?? [])].map(([name, bytes]) => [name, Buffer.from(bytes ?? []).toString()]),
    ).to.deep.equal([['of', 'second']])
    driver.close()
  })
})
