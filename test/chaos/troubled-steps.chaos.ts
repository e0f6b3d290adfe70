import { expect } from 'chai'
import { readFile, rm } from 'node:fs/promises'
import { uniqueName } from '../support/broker.ts'
import { eventually } from '../support/condition.ts'
import { faultFired } from '../support/fault-count.ts'
import type { MillraceProcess } from '../support/millrace-process.ts'
import { type CaseApplication, numbered, PATIENCE_MS, useCaseRoom } from '../integration/cases/case-room.ts'

const RECORDS = 30
/** Past the session of 2 s, and past the transaction timeout. */
const BLOCK_MS = 5_000
/** A step of a user that does harm when a record, or the file beside it, says so. */
const STEPS = `
import { existsSync, appendFileSync, unlinkSync } from 'node:fs'
const cell = new Int32Array(new SharedArrayBuffer(4))
const here = new URL('.', import.meta.url).pathname
export const blocking = value => {
  if (value === '20' && existsSync(here + 'block')) {
    appendFileSync(here + 'fired', 'x')
    unlinkSync(here + 'block')
    Atomics.wait(cell, 0, 0, ${String(BLOCK_MS)})
  }
  return value
}
const kept = []
export const leaking = value => {
  if (value === '20' && existsSync(here + 'leak')) {
    appendFileSync(here + 'fired', 'x')
    for (;;) kept.push(Array.from({ length: 100_000 }, () => ({ value })))
  }
  return value
}
`

describe('steps of a user that do harm', function () {
  this.timeout(240_000)
  const room = useCaseRoom()

  /** Counts of the one key, in order, each once. */
  const expectExact = async (id: string, input: string, records: number): Promise<void> => {
    await eventually('all is committed', async () => (await lag(id, input)) === 0, PATIENCE_MS)
    const counts = (await room().untilRecords(`${input}-out`, records)).map(({ value }) =>
      Number(value?.readBigInt64BE(0)),
    )
    expect(counts).to.deep.equal(Array.from({ length: records }, (_, index) => index + 1))
  }

  const lag = async (id: string, input: string): Promise<number> => {
    const [offset = 0] = await room().offsets(id, input)
    const ends = await room().admin.listOffsets([{ topic: input, partition: 0 }], 'latest', 'read_uncommitted')
    return [...ends.values()].reduce((sum, end) => sum + end, 0) - offset
  }

  it('F12 a loop that is blocked past its session: as a pause, another takes over, and a metric shows it', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'steps.mjs': STEPS, block: '' })
    const id = uniqueName('app')
    const app = application(id, input, `${folder}/steps.mjs#blocking`)
    await room().write(input, numbered(RECORDS, 0, 'k'))
    const blocked = await room().start(app)
    await eventually('the step blocks', async () => (await firedIn(folder)) > 0, PATIENCE_MS)
    const successor = await room().start(app)
    const port = await portOf(blocked)
    let turnAge = 0
    await eventually(
      'a metric shows it',
      async () => {
        turnAge = Math.max(turnAge, await turnAgeOf(port))
        return turnAge > 1
      },
      PATIENCE_MS,
    )
    await expectExact(id, input, RECORDS)
    await room().write(input, numbered(RECORDS, RECORDS, 'k'))
    await expectExact(id, input, 2 * RECORDS)
    expect([blocked.hasExited, successor.hasExited]).to.deep.equal([false, false])
    expect(blocked.lines.join('\n'), 'it has noticed').to.match(/MEMBERSHIP_LOST|PRODUCER_FENCED|TRANSACTION_/)
    faultFired('F12', await firedIn(folder), `blocks of ${String(BLOCK_MS)} ms`)
  })

  it('F15 memory that runs out: as a kill, and the next start goes on from C', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'steps.mjs': STEPS, leak: '' })
    const id = uniqueName('app')
    const app = application(id, input, `${folder}/steps.mjs#leaking`)
    await room().write(input, numbered(RECORDS, 0, 'k'))
    const bloated = await room().start(app, { env: { NODE_OPTIONS: '--max-old-space-size=64' } })
    const exit = await bloated.untilExit(PATIENCE_MS)
    expect(exit, bloated.lines.slice(-10).join('\n')).not.to.deep.equal({ code: 0, signal: null })
    const fired = await firedIn(folder)
    await rm(`${folder}/leak`)
    await room().start(app, { stateDir: bloated.stateDir })
    await expectExact(id, input, RECORDS)
    faultFired('F15', fired, 'records that took all memory')
  })
})

async function firedIn(folder: string): Promise<number> {
  return (await readFile(`${folder}/fired`, 'utf8').catch(() => '')).length
}

async function portOf(process: MillraceProcess): Promise<number> {
  return (JSON.parse(await process.untilLine('health and metrics are served', PATIENCE_MS)) as { port: number }).port
}

async function turnAgeOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
  const found = /^millrace_thread_turn_age_seconds\{.*\} (\S+)$/m.exec(text)
  return Number(found?.[1] ?? 0)
}

function application(id: string, input: string, module: string): CaseApplication {
  return {
    id,
    kafka: { 'session.timeout.ms': 2_000, 'heartbeat.interval.ms': 300, 'transaction.timeout.ms': 3_000 },
    http: { port: 0 },
    sources: { in: { topic: input, key: 'string', value: 'string' } },
    steps: {
      step: { from: 'in', value: { module }, serdes: { value: 'string' } },
      counts: { from: 'step', count: {} },
    },
    sinks: { out: { from: 'counts', topic: `${input}-out` } },
  }
}
