import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import type { RecordToWrite } from '../../support/kafka-writer.ts'
import { PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const MINUTE_MS = 60_000

describe('late records, grace and records without a partner', function () {
  this.timeout(180_000)
  const room = useCaseRoom()

  /** Counts per minute with 10 s of grace, once a minute has closed; and left records with their partners. */
  async function application(): Promise<{
    app: CaseApplication
    events: string
    pairs: string
    closed: string
    joined: string
  }> {
    const [events, pairs, closed, joined] = [
      await room().topic('events'),
      await room().topic('pairs'),
      await room().topic('closed'),
      await room().topic('joined'),
    ]
    const app: CaseApplication = {
      id: uniqueName('time'),
      sources: {
        events: { topic: events, key: 'string', value: 'string' },
        pairs: { topic: pairs, key: 'string', value: 'string' },
      },
      steps: {
        counts: { from: 'events', window: { tumbling: '1m', grace: '10s' }, count: {} },
        final: { from: 'counts', suppress: { until: 'windowCloses' } },
        lefts: { from: 'pairs', filter: 'value.startsWith("L")' },
        rights: { from: 'pairs', filter: 'value.startsWith("R")' },
        both: {
          from: 'lefts',
          join: {
            with: 'rights',
            type: 'left',
            within: '50ms',
            grace: '10ms',
            value: 'left + "/" + (right == null ? "-" : right)',
          },
          serdes: { value: 'string' },
        },
      },
      sinks: { closed: { from: 'final', topic: closed }, joined: { from: 'both', topic: joined } },
      http: { port: 0 },
    }
    return { app, events, pairs, closed, joined }
  }

  it('are counted and logged with their place (62), close windows by what was written (63), and follow one rule (65)', async () => {
    const { app, events, pairs, closed, joined } = await application()
    const startMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS
    const process = await room().start(app)
    const event = (timestamp: number): RecordToWrite => ({ key: 'a', value: 'v', timestamp: startMs + timestamp })
    await room().write(events, [0, 69_999].map(event))
    await room().untilOffsets(app.id, events, [2])
    expect(await room().records(closed), 'one millisecond of grace is left').to.deep.equal([])
    // The minute closes 10 s after its end, not a day after it; then it is too late for another one.
    await room().write(events, [70_000, 1].map(event))
    const [final] = await room().untilRecords(closed, 1)
    expect([final?.value?.readBigInt64BE(), final?.timestamp]).to.deep.equal([1n, startMs])
    await room().untilOffsets(app.id, events, [4])

    const line = await process.untilLine(/"reason":"late"/, PATIENCE_MS)
    expect(JSON.parse(line)).to.include({ reason: 'late', records: 1, topic: events, partition: 0, offset: 3 })
    const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
    expect(text).to.match(/^millrace_dropped_records_total\{[^}]*reason="late"[^}]*\} 1$/m)

    const pair = (key: string, value: string, timestamp: number): RecordToWrite => ({
      key,
      value,
      timestamp: startMs + timestamp,
    })
    await room().write(pairs, [
      pair('a', 'L waits', 0),
      pair('b', 'R partner', 20),
      pair('c', 'R moves the time', 100),
      pair('b', 'L late with a partner', 30),
      pair('d', 'L late without', 10),
    ])
    const results = await room().untilRecords(joined, 3)
    expect(results.map(({ value }) => String(value))).to.deep.equal([
      'L waits/-',
      'L late with a partner/R partner',
      'L late without/-',
    ])
    await process.terminate()
  })

  it('ask for the grace that nobody wrote, before anything is started (63)', async () => {
    const { app } = await application()
    const counts = { from: 'events', window: { tumbling: '1m' }, count: {} }
    const { exit, text } = await room().runToEnd({ ...app, steps: { ...app.steps, counts } })
    expect(exit.code).to.equal(78)
    expect(text).to.include('lacks "grace"')
  })
})
