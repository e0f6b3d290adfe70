import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import type { LogLine, MillraceProcess } from '../../support/millrace-process.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const RECORDS = 5_000
const HANDOVER_MS_MAX = 2_000
/** A busy machine only makes a handover longer, so one that is quick enough will do. */
const HANDOVERS_MAX = 3
const DEBUG = ['--set', 'logging.level=debug']

/** Steps that take their time while files exist: `slow` 20 ms for each record, `block` for ever at the value "block". */
const STEPS = `
  import { existsSync, writeFileSync } from 'node:fs'
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const file = name => new URL(name, import.meta.url)
  export const slow = value => {
    if (existsSync(file('slow'))) Atomics.wait(cell, 0, 0, 20)
    return value
  }
  export const block = value => {
    if (value === 'block' && process.env.BLOCKS === 'yes') {
      writeFileSync(file('blocked'), '')
      while (existsSync(file('blocks'))) Atomics.wait(cell, 0, 0, 20)
    }
    return value
  }
`

function applicationOf(input: string, step: string, kafka: CaseApplication['kafka']): CaseApplication {
  return {
    id: uniqueName('app'),
    ...(kafka === undefined ? {} : { kafka }),
    sources: { in: { topic: input, key: 'string', value: 'string' } },
    steps: { long: { from: 'in', value: { module: step }, serdes: { value: 'string' } } },
    sinks: { out: { from: 'long', topic: `${input}-out` } },
  }
}

describe('steps that take long', function () {
  this.timeout(180_000)
  const room = useCaseRoom()

  it('hand over a partition at once, whatever was prefetched of it (case 8)', async () => {
    const input = await room().topic('in', 2)
    const folder = await room().folder({ 'steps.mjs': STEPS, slow: '' })
    await room().write(input, numbered(RECORDS))
    const application = applicationOf(input, join(folder, 'steps.mjs#slow'), { 'heartbeat.interval.ms': 200 })
    const first = await room().start(application, { args: DEBUG })
    await eventually(
      'the first replica is in the midst of what it has fetched',
      async () => (await room().offsets(application.id, input, 2)).some(offset => (offset ?? 0) > 0),
      PATIENCE_MS,
    )
    let quickestMs = Number.POSITIVE_INFINITY
    for (let handovers = 0; handovers < HANDOVERS_MAX && quickestMs >= HANDOVER_MS_MAX; handovers += 1) {
      const since = first.log.length
      const second = await room().start(application, { args: DEBUG })
      await second.untilLine(/"added":\["/, PATIENCE_MS)
      quickestMs = Math.min(quickestMs, timeOf(second, isGiven) - timeOf(first, isTold, since))
      expect((await second.terminate(PATIENCE_MS)).code).to.equal(0)
    }
    expect(quickestMs, 'from when the group rebalances to when the partition is given').to.be.lessThan(HANDOVER_MS_MAX)
    const [left = 0, right = 0] = await room().offsets(application.id, input, 2)
    expect(left + right, 'most was not processed yet').to.be.lessThan(RECORDS / 2)

    await rm(join(folder, 'slow'))
    await room().untilRecords(`${input}-out`, RECORDS)
    const values = (await room().values(`${input}-out`)).map(Number)
    expect(values.toSorted((a, b) => a - b)).to.deep.equal(numbered(RECORDS).map(({ value }) => Number(value)))
  })

  it('and block lose their partition, and what they were at counts once (case 23)', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'steps.mjs': STEPS, blocks: '' })
    const application = applicationOf(input, join(folder, 'steps.mjs#block'), {
      'session.timeout.ms': 2_000,
      'heartbeat.interval.ms': 300,
      'transaction.timeout.ms': 5_000,
    })
    const texts = [...numbered(50), { key: 'k', value: 'block' }, ...numbered(50, 50)]
    await room().write(input, texts)
    const blocked = await room().start(application, { env: { BLOCKS: 'yes' } })
    await eventually('the step blocks', () => existsSync(join(folder, 'blocked')), PATIENCE_MS)
    const other = await room().start(application)
    await room().untilOffsets(application.id, input, [texts.length])
    await room().untilRecords(`${input}-out`, texts.length)
    expect(blocked.log.filter(isGiven), 'it knows nothing of it yet').to.have.length(1)

    await rm(join(folder, 'blocks'))
    await blocked.untilLine(/MEMBERSHIP_LOST|MAX_POLL_INTERVAL_EXCEEDED|PRODUCER_FENCED|TRANSACTION_/, PATIENCE_MS)
    expect((await other.terminate(PATIENCE_MS)).code).to.equal(0)
    await room().write(input, numbered(10, 100))
    await room().untilRecords(`${input}-out`, texts.length + 10)
    const expected = [...texts, ...numbered(10, 100)].map(({ value }) => value)
    expect(await room().values(`${input}-out`)).to.deep.equal(expected)
    expect(blocked.hasExited).to.equal(false)
  })
})

function isTold({ msg, event }: LogLine): boolean {
  return msg === 'group event' && event === 'rebalanceNeeded'
}

function isGiven({ msg, added }: LogLine): boolean {
  return msg === 'assignment applied' && Array.isArray(added) && added.length > 0
}

/** When a process logged such a line first. */
function timeOf(process: MillraceProcess, fits: (line: LogLine) => boolean, since = 0): number {
  const line = process.log.slice(since).find(fits)
  return new Date(String(line?.['time'])).getTime()
}
