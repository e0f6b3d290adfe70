import { expect } from 'chai'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { uniqueName } from '../support/broker.ts'
import { eventually } from '../support/condition.ts'
import { faultFired } from '../support/fault-count.ts'
import { KafkaProxy } from '../support/kafka-proxy.ts'
import { PATIENCE_MS, useCaseRoom } from '../integration/cases/case-room.ts'

const HOUR_MS = 3_600_000
/** Preloaded into the process and its workers: the wall clock jumps as soon as a file says so. */
const CLOCK = `
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
const RealDate = Date
let offsetMs = 0
const look = () => {
  let wanted = offsetMs
  try { wanted = Number(readFileSync(process.env.CLOCK_FILE, 'utf8')) } catch {}
  if (wanted === offsetMs) return
  offsetMs = wanted
  appendFileSync(process.env.CLOCK_FILE + '.seen', (isMainThread ? 'main' : 'worker') + ' ' + offsetMs + '\\n')
}
setInterval(look, 20).unref()
globalThis.Date = class extends RealDate {
  constructor(...args) { if (args.length === 0) super(RealDate.now() + offsetMs); else super(...args) }
  static now() { return RealDate.now() + offsetMs }
}
`

describe('a wall clock that jumps', function () {
  this.timeout(180_000)
  const room = useCaseRoom()
  let proxy: KafkaProxy

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
  })

  afterEach(() => proxy.stop())

  it('F32 by an hour and back, in the middle of transactions: timeouts do not care, and no window closes by it', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'clock.mjs': CLOCK })
    const clockFile = join(folder, 'clock')
    // The beginning of a window.
    const startMs = Math.floor((Date.now() - 60_000) / 10_000) * 10_000
    const id = uniqueName('app')
    const application = await room().start(
      {
        id,
        servers: proxy.bootstrapServers,
        kafka: { 'transaction.timeout.ms': 8_000, 'session.timeout.ms': 10_000 },
        sources: { in: { topic: input, key: 'string', value: 'string' } },
        steps: {
          counts: {
            from: 'in',
            window: { tumbling: '10s', grace: '0s' },
            count: {},
            emit: 'final',
            store: { name: 'counts', retention: '1d' },
          },
        },
        sinks: { out: { from: 'counts', topic: `${input}-out` } },
      },
      {
        env: {
          CLOCK_FILE: clockFile,
          NODE_OPTIONS: `--import=${pathToFileURL(join(folder, 'clock.mjs')).href}`,
        },
      },
    )
    const seen = async (): Promise<readonly string[]> =>
      (await readFile(`${clockFile}.seen`, 'utf8').catch(() => '')).split('\n').filter(line => line !== '')
    const write = async (n: number, timestamp: number): Promise<void> => {
      await room().write(input, [{ key: 'k', value: String(n), timestamp }])
    }
    await application.untilRunning(PATIENCE_MS)
    let written = 0
    for (const offsetMs of [HOUR_MS, -HOUR_MS, 0]) {
      // The jump comes while a transaction is under way.
      const held = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', action: { type: 'hold' }, times: 1 })
      await write(written, startMs + written)
      written += 1
      await held.waitHeld(1, PATIENCE_MS)
      await writeFile(clockFile, String(offsetMs))
      await eventually(
        'every thread has another time',
        async () => (await seen()).filter(line => line.endsWith(` ${String(offsetMs)}`)).length >= 2,
        PATIENCE_MS,
      )
      held.release()
      await eventually(
        'it is committed',
        async () => offsetOf(await room().offsets(id, input)) > written - 1,
        PATIENCE_MS,
      )
    }
    expect(await room().records(`${input}-out`), 'no window is closed').to.deep.equal([])
    await write(written, startMs + 30_000)
    const [closed] = await room().untilRecords(`${input}-out`, 1)
    expect(closed?.value?.readBigInt64BE(0)).to.equal(BigInt(written))
    expect(application.log.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([])
    faultFired('F32', (await seen()).filter(line => line.startsWith('worker')).length, 'jumps in a stream thread')
  })
})

function offsetOf([offset]: readonly (number | undefined)[]): number {
  return offset ?? 0
}
