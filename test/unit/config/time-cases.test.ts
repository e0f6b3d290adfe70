import { expect } from 'chai'
import { drawGraph } from '../../../src/cli/graph-drawing.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { timeWindowed } from '../../../src/serdes/windowed.ts'
import type { TestDriver } from '../../../src/testing/test-driver.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { driverOf, HEAD, loadYaml, problemsOfYaml } from './yaml-application.ts'

const MINUTE = 60_000
/** In the year 2001: long over by any wall clock. */
const LONG_AGO = 1_000_000_020_000

type Input = readonly [topic: string, value: string, timestamp: number, key?: string]

const text = { key: string, value: string }
const LATE = `sources: { events: { topic: events, key: string, value: string } }
steps:
  counts: { from: events, window: { tumbling: 1m, grace: 10s }, count: {}, emit: final, late: { topic: too-late } }
sinks: { out: { from: counts, topic: out } }
`

function pipe(driver: TestDriver, inputs: readonly Input[]): void {
  for (const [topic, value, timestamp, key = 'a'] of inputs) driver.input(topic, text).pipe(key, value, timestamp)
}

function valuesOf(driver: TestDriver, topic: string): readonly (string | null)[] {
  return driver
    .output(topic, text)
    .readKeyValues()
    .map(([, value]) => value)
}

function countsOf(driver: TestDriver): readonly (number | null)[] {
  return driver
    .output('out', { key: timeWindowed(string, MINUTE), value: long })
    .readKeyValues()
    .map(([, value]) => value)
}

function joining(left: string, right: string, join: string): string {
  return `sources:
  l: { topic: l, ${left}key: string, value: string }
  r: { topic: r, ${right}key: string, value: string }
steps:
  j: { from: l, join: { with: r, ${join}, value: 'left + "/" + (right == null ? "-" : right)' }, serdes: { value: string } }
sinks: { out: { from: j, topic: out } }
`
}

async function joinedBy(yaml: string, inputs: readonly Input[]): Promise<readonly (string | null)[]> {
  using driver = await driverOf(yaml)
  pipe(driver, inputs)
  return valuesOf(driver, 'out')
}

describe('time', () => {
  it('closes windows of replayed records by their own times, never by the wall clock (case 60)', async () => {
    using driver = await driverOf(LATE)
    pipe(driver, [
      ['events', 'x', LONG_AGO],
      ['events', 'y', LONG_AGO + 1_000],
    ])
    driver.advanceWallClock('1d')
    expect(countsOf(driver)).to.deep.equal([])
    pipe(driver, [['events', 'z', LONG_AGO + 75_000]])
    expect(countsOf(driver)).to.deep.equal([2])
    expect([...driver.dropped]).to.deep.equal([])
  })

  it('counts what comes too late and writes it to its topic in the same transaction (cases 61, 62)', async () => {
    using driver = await driverOf(LATE, { commit: 'explicit' })
    pipe(driver, [
      ['events', 'in time', 0],
      ['events', 'moves the time', 75_000],
      ['events', 'too late', 1],
    ])
    expect(driver.dropped.get('late')).to.equal(1)
    expect(valuesOf(driver, 'too-late')).to.deep.equal(['too late'])
    // The late record goes with the transaction, and comes again with the next one.
    driver.abort()
    driver.commit()
    expect(valuesOf(driver, 'too-late')).to.deep.equal(['too late'])
    expect(countsOf(driver)).to.deep.equal([1])
  })

  it('has no grace that nobody wrote, and the graph shows it (case 63)', async () => {
    const problems = await problemsOfYaml(`${HEAD}${LATE.replace(', grace: 10s', '')}`)
    expect(problems).to.have.lengthOf(1)
    expect(problems[0]).to.include('lacks "grace"')
    const join = await problemsOfYaml(`${HEAD}${joining('', '', 'type: left, within: 50ms')}`)
    expect(join).to.have.lengthOf(1)
    expect(join[0]).to.include('lacks "grace"')

    const { topology } = await loadYaml(`${HEAD}${LATE}`)
    const plan = planApplication(topology, { 'application.id': 'app' })
    expect(drawGraph(plan, 'exactly_once_v2', 'text')).to.match(/counts \(.*grace 10000 ms/)
  })

  it('gives a left record without a partner its result when none can come, be it late or not (case 65)', async () => {
    const yaml = joining('', '', 'type: left, within: 50ms, grace: 10ms')
    const early: readonly Input[] = [
      ['l', 'waits', 0],
      ['r', 'moves the time', 60],
    ]
    expect(await joinedBy(yaml, early)).to.deep.equal([])
    expect(await joinedBy(yaml, [...early, ['r', 'and again', 61]])).to.deep.equal(['waits/-'])
    const late: readonly Input[] = [
      ['r', 'partner', 0],
      ['r', 'moves the time', 100, 'b'],
      ['l', 'late with a partner', 10],
      ['l', 'late without', 10, 'c'],
    ]
    expect(await joinedBy(yaml, late)).to.deep.equal(['late with a partner/partner', 'late without/-'])
  })

  it('joins a versioned table by time, whatever order the topics are fetched in (case 66)', async () => {
    const yaml = joining('', 'as: table, versioned: 1h, ', 'type: inner, grace: 100ms')
    const table: readonly Input[] = [
      ['r', 'first', 0],
      ['r', 'second', 40],
    ]
    const stream: readonly Input[] = [
      ['l', 'one', 10],
      ['l', 'two', 50],
    ]
    const last: Input = ['l', 'moves the time', 1_000]
    const expected = ['one/first', 'two/second']
    expect(await joinedBy(yaml, [...table, ...stream, last])).to.deep.equal(expected)
    expect(await joinedBy(yaml, [...stream, ...table, last])).to.deep.equal(expected)
  })
})
