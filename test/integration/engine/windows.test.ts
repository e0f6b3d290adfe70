import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import type { RecordToWrite } from '../../support/kafka-writer.ts'
import type { ReadRecord } from '../../support/kafka-reader.ts'
import { useCaseRoom, type CaseApplication } from '../cases/case-room.ts'

const SIZE_MS = 10_000
const GRACE_MS = 2_000
const RECORDS = 120
const PATIENCE_MS = 60_000

interface Input {
  readonly key: string
  readonly timestamp: number
}

/** Every fifth record is late by up to 15 s: some fall into windows that have closed. */
function inputs(startMs: number): readonly Input[] {
  return Array.from({ length: RECORDS }, (_, at) => ({
    key: `k${String(at % 3)}`,
    timestamp: startMs + at * 500 - (at % 5 === 4 ? (at * 1_237) % 15_000 : 0),
  }))
}

/** What windows hold when they have closed, and which records came too late, by the rules alone. */
function expected(records: readonly Input[]): { readonly finals: Record<string, number>; readonly late: number[] } {
  const counts: Record<string, number> = {}
  const late: number[] = []
  let observed = 0
  for (const { key, timestamp } of records) {
    observed = Math.max(observed, timestamp)
    const start = timestamp - (timestamp % SIZE_MS)
    if (start + SIZE_MS + GRACE_MS <= observed) late.push(timestamp)
    else counts[`${key}@${String(start)}`] = (counts[`${key}@${String(start)}`] ?? 0) + 1
  }
  const isClosed = (window: string): boolean => Number(window.split('@')[1]) + SIZE_MS + GRACE_MS <= observed
  return { finals: Object.fromEntries(Object.entries(counts).filter(([window]) => isClosed(window))), late }
}

/** A final result as `key@start`, and its count. */
function finalOf({ key, value }: ReadRecord): [string, number] {
  if (key === null || value === null) throw new Error('a final result has a key and a value')
  const start = key.readBigInt64BE(key.length - 8)
  return [`${key.subarray(0, -8).toString()}@${String(start)}`, Number(value.readBigInt64BE())]
}

const toWrite = (records: readonly Input[]): RecordToWrite[] => records.map(record => ({ ...record, value: 'v' }))

describe('windows and suppress on a real broker', function () {
  this.timeout(240_000)
  const room = useCaseRoom()

  /** Counts per window, final results to `out`, late records to `late`. */
  async function application(): Promise<{ app: CaseApplication; input: string; out: string; late: string }> {
    const [input, out, late] = [await room().topic('in'), await room().topic('out'), await room().topic('late')]
    const app: CaseApplication = {
      id: uniqueName('windows'),
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: {
        counts: {
          from: 'in',
          window: { tumbling: `${String(SIZE_MS)}ms`, grace: `${String(GRACE_MS)}ms` },
          late: { topic: late },
          count: {},
        },
        final: { from: 'counts', suppress: { until: 'windowCloses' } },
      },
      sinks: { out: { from: 'final', topic: out } },
    }
    return { app, input, out, late }
  }

  async function expectExact(out: string, late: string, records: readonly Input[]): Promise<void> {
    const { finals, late: lateTimes } = expected(records)
    const results = await room().untilRecords(out, Object.keys(finals).length, PATIENCE_MS)
    const lateRecords = await room().untilRecords(late, lateTimes.length, PATIENCE_MS)
    expect(results, 'each window once').to.have.length(Object.keys(finals).length)
    expect(Object.fromEntries(results.map(finalOf))).to.deep.equal(finals)
    expect(lateRecords.map(({ timestamp }) => timestamp)).to.deep.equal(lateTimes)
    expect(lateTimes, 'the input has late records').not.to.have.length(0)
  }

  it('closes each window of old records once, by their times, and gives late ones to their topic (cases 60, 61)', async () => {
    const { app, input, out, late } = await application()
    const records = inputs(1_500_000_000_000)
    const process = await room().start(app)
    await room().write(input, toWrite(records))
    await room().untilOffsets(app.id, input, [RECORDS])
    await expectExact(out, late, records)
    await process.terminate()
  })

  for (const crashAt of ['flush:done', 'endTxn:answered'] as const) {
    it(`keeps every window, and late records with them, over kill -9 in mid-window at ${crashAt} (case 61)`, async () => {
      const { app, input, out, late } = await application()
      const records = inputs(Math.floor(Date.now() / SIZE_MS) * SIZE_MS - 120_000)
      const half = RECORDS / 2 + 1
      const first = await room().start(app)
      await room().write(input, toWrite(records.slice(0, half)))
      await room().untilOffsets(app.id, input, [half])
      await first.kill()
      // The second life dies inside the commit of what it reads; the third takes up what that left.
      const second = await room().start(app, { stateDir: first.stateDir, env: { MILLRACE_TEST_CRASH_AT: crashAt } })
      await room().write(input, toWrite(records.slice(half)))
      expect(await second.untilExit(PATIENCE_MS)).to.deep.equal({ code: null, signal: 'SIGKILL' })
      await room().start(app, { stateDir: first.stateDir })
      await room().untilOffsets(app.id, input, [RECORDS])
      await expectExact(out, late, records)
    })
  }
})
