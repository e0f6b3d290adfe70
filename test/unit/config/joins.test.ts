import { expect } from 'chai'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import type { TestDriver } from '../../../src/testing/test-driver.ts'
import { driverOf, HEAD, problemsOfYaml } from './yaml-application.ts'

const text = { key: string, value: string }

type Input = readonly [topic: string, key: string, value: string | null, timestamp: number]

function pipe(driver: TestDriver, inputs: readonly Input[]): void {
  for (const [topic, key, value, timestamp] of inputs)
    driver.input(topic, { key: string, value: nullable(string) }).pipe(key, value, timestamp)
}

async function outOf(yaml: string, inputs: readonly Input[]): Promise<readonly (readonly unknown[])[]> {
  using driver = await driverOf(yaml)
  pipe(driver, inputs)
  return driver.output('out', { key: string, value: nullable(string) }).readKeyValues()
}

/** Two inputs, `l` and `r`, read as given, and one join of them. */
function joining(as: string, join: string, step = ''): string {
  const [left = 'stream', right = left] = as.split(' ')
  return `sources:
  l: { topic: l, as: ${left}, key: string, value: string }
  r: { topic: r, as: ${right}, key: string, value: string }
steps:
  j: { from: l, join: { with: r, ${join} }, serdes: { value: string }${step} }
sinks: { out: { from: j, topic: out } }
`
}

const BOTH = `value: '(left == null ? "-" : left) + "/" + (right == null ? "-" : right)'`

function versioned(join: string): string {
  return joining('stream table', join).replace('r: { topic: r,', 'r: { topic: r, versioned: 1h,')
}

/** What is wrong with a join, without its place. */
async function mistakes(as: string, join: string): Promise<readonly string[]> {
  const problems = await problemsOfYaml(`${HEAD}${joining(as, join)}`)
  return problems.map(problem => problem.replace(/^\d+:\d+ /, ''))
}

describe('joins of a YAML application', () => {
  it('pair streams within a time; what stays alone leaves when its time is over', async () => {
    const inputs: readonly Input[] = [
      ['l', 'a', 'l1', 0],
      ['r', 'a', 'r1', 40],
      ['l', 'b', 'l2', 50],
      ['r', 'c', 'r3', 60],
      ['l', 'x', 'l4', 500],
    ]
    const within = `within: 50ms, grace: 0s, ${BOTH}`
    const pair = ['a', 'l1/r1']
    expect(await outOf(joining('stream', within), inputs)).to.deep.equal([pair])
    expect(await outOf(joining('stream', `type: left, ${within}`), inputs)).to.deep.equal([pair, ['b', 'l2/-']])
    expect(await outOf(joining('stream', `type: outer, ${within}`), inputs)).to.deep.equal([
      pair,
      ['b', 'l2/-'],
      ['c', '-/r3'],
    ])
  })

  it('take bounds before and after apart', async () => {
    const inputs: readonly Input[] = [
      ['l', 'a', 'l', 100],
      ['r', 'a', 'early', 90],
      ['r', 'a', 'late', 150],
    ]
    const join = `within: { before: 0s, after: 50ms }, grace: 0s, ${BOTH}`
    expect(await outOf(joining('stream', join), inputs)).to.deep.equal([['a', 'l/late']])
  })

  it('pair tables by their keys, and tell deletions', async () => {
    const inputs: readonly Input[] = [
      ['l', 'a', 'l1', 0],
      ['r', 'a', 'r1', 10],
      ['r', 'b', 'r2', 20],
      ['l', 'a', null, 30],
    ]
    const results = {
      inner: [
        ['a', 'l1/r1'],
        ['a', null],
      ],
      left: [
        ['a', 'l1/-'],
        ['a', 'l1/r1'],
        ['a', null],
      ],
      outer: [
        ['a', 'l1/-'],
        ['a', 'l1/r1'],
        ['b', '-/r2'],
        ['a', '-/r1'],
      ],
    }
    for (const [type, expected] of Object.entries(results)) {
      expect(await outOf(joining('table', `type: ${type}, ${BOTH}`), inputs), type).to.deep.equal(expected)
      const kept = joining('table', `type: ${type}, ${BOTH}`, ', store: joined')
      expect(await outOf(kept, inputs), `${type}, kept`).to.deep.equal(expected)
    }
  })

  it('pair tables by a key in the value', async () => {
    const inputs: readonly Input[] = [
      ['l', 'o1', 'c1', 0],
      ['r', 'c1', 'Ada', 10],
      ['l', 'o2', 'c2', 20],
      ['r', 'c1', 'Bo', 30],
    ]
    expect(await outOf(joining('table', `on: value, ${BOTH}`), inputs)).to.deep.equal([
      ['o1', 'c1/Ada'],
      ['o1', 'c1/Bo'],
    ])
    expect(await outOf(joining('table', `type: left, on: value, ${BOTH}`), inputs)).to.deep.equal([
      ['o1', 'c1/-'],
      ['o1', 'c1/Ada'],
      ['o2', 'c2/-'],
      ['o1', 'c1/Bo'],
    ])
  })

  it('look up a global table under a computed key', async () => {
    const inputs: readonly Input[] = [
      ['r', 'c1', 'Ada', 0],
      ['l', 'o1', 'c1', 10],
      ['l', 'o2', 'c2', 20],
    ]
    expect(await outOf(joining('stream globalTable', `on: value, ${BOTH}`), inputs)).to.deep.equal([['o1', 'c1/Ada']])
    expect(await outOf(joining('stream globalTable', `type: left, on: value, ${BOTH}`), inputs)).to.deep.equal([
      ['o1', 'c1/Ada'],
      ['o2', 'c2/-'],
    ])
  })

  it('find in a versioned table what held then, and wait for it', async () => {
    const inputs: readonly Input[] = [
      ['r', 'a', 'first', 0],
      ['r', 'a', 'second', 100],
      ['l', 'a', 'l1', 50],
      ['r', 'a', 'between', 40],
      ['l', 'a', 'l2', 200],
    ]
    expect(await outOf(versioned(BOTH), inputs)).to.deep.equal([
      ['a', 'l1/first'],
      ['a', 'l2/second'],
    ])
    expect(await outOf(versioned(`grace: 100ms, ${BOTH}`), inputs)).to.deep.equal([['a', 'l1/between']])
  })

  it('change nothing when the application dies or a transaction is aborted in between (I13)', async () => {
    const inputs: readonly Input[] = [
      ['l', 'a', 'l1', 0],
      ['r', 'b', 'r1', 10],
      ['l', 'b', 'l2', 20],
      ['l', 'c', 'l3', 30],
      ['r', 'a', 'r2', 200],
      ['r', 'c', 'r3', 35],
      ['l', 'a', 'l4', 400],
    ]
    const yaml = joining('stream', `type: outer, within: 50ms, grace: 10ms, ${BOTH}`)
    const expected = await outOf(yaml, inputs)
    for (let at = 0; at <= inputs.length; at++) {
      for (const event of ['restart', 'abort'] as const) {
        using driver = await driverOf(yaml, { commit: 'explicit' })
        pipe(driver, inputs.slice(0, Math.max(0, at - 2)))
        driver.commit()
        pipe(driver, inputs.slice(Math.max(0, at - 2), at))
        driver[event]()
        pipe(driver, inputs.slice(at))
        driver.commit()
        const found = driver.output('out', text).readKeyValues()
        expect(found, `${event} after ${String(at)}`).to.deep.equal(expected)
      }
    }
  })

  it('say what a join lacks, or has too much of', async () => {
    expect(await mistakes('stream', BOTH)).to.deep.equal([
      'the join lacks "within" (a join of two streams has bounds; write `grace: 0s` for none)',
      'the join lacks "grace" (a join of two streams has bounds; write `grace: 0s` for none)',
    ])
    expect(await mistakes('stream table', `type: outer, within: 1s, ${BOTH}`)).to.deep.equal([
      'a join of a stream with a table has no "within" (leave it out)',
      'an outer join with a table does not exist (write type: inner or type: left)',
    ])
    expect(await mistakes('stream globalTable', BOTH)).to.deep.equal([
      'the join lacks "on" (a global table is looked up under a key)',
    ])
    expect(await mistakes('table stream', BOTH)).to.deep.equal([
      '"r" is no table, and step "j" joins a table (put a stream: step before it to join its updates)',
    ])
    expect(await mistakes('stream table', `grace: 1s, ${BOTH}`)).to.deep.equal([
      'j waits for the table, and the table keeps no versions: it would be joined as it is later (Give the table `versioned`, or leave `grace` out.)',
    ])
    expect(await mistakes('globalTable stream', BOTH)).to.deep.equal([
      '"l" is a global table: it can only be joined (write join: { with: …, on: …, value: … } on a stream, or read the topic as: table)',
    ])
  })
})
