import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from '../cases/case-room.ts'

const copyOf = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string', value: 'string' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

/** Far below `request.timeout.ms`: whatever waits for a broker at the stop would wait longer than that. */
const STOP_MS = 4_000

/** Brokers that give no answer while there is something to commit. */
const TROUBLES: readonly {
  readonly trouble: string
  readonly harm: (proxy: KafkaProxy, write: () => Promise<unknown>) => Promise<unknown>
}[] = [
  {
    trouble: 'while offsets get no answer',
    harm: async (proxy, write) => {
      const held = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', action: { type: 'hold' } })
      await write()
      await held.waitHeld(1, PATIENCE_MS)
    },
  },
  {
    trouble: 'while outputs get no answer',
    harm: async (proxy, write) => {
      const held = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'hold' } })
      await write()
      await held.waitHeld(1, PATIENCE_MS)
    },
  },
  {
    trouble: 'while no broker is reached',
    harm: async (proxy, write) => {
      const held = proxy.rule({ api: 'AddPartitionsToTxn', direction: 'request', action: { type: 'hold' } })
      await write()
      await held.waitHeld(1, PATIENCE_MS)
      proxy.cut()
    },
  },
]

/** A step of a user that never comes back from the value 10 while the file beside it is there. */
const ENDLESS = `
import { existsSync, writeFileSync } from 'node:fs'
const here = new URL('.', import.meta.url).pathname
export const endless = value => {
  if (value === '10' && existsSync(here + 'block')) {
    writeFileSync(here + 'blocked', '')
    for (;;);
  }
  return value
}
`

describe('SIGTERM', function () {
  this.timeout(180_000)
  const room = useCaseRoom()

  it('under load, five times: exit 0 in time, and nothing twice or lost (case 74)', async () => {
    const input = await room().topic('in', 2)
    const application = copyOf(input)
    let written = 0
    let stateDir: string | undefined
    for (let round = 0; round < 5; round += 1) {
      await room().write(input, numbered(400, written))
      written += 400
      const process = await room().start(application, stateDir === undefined ? {} : { stateDir })
      await process.untilRunning(PATIENCE_MS)
      // Stopped as soon as something is written: in the middle of the load.
      await room().untilRecords(`${input}-out`, written - 399)
      await room().write(input, numbered(100, written))
      written += 100
      const startedMs = Date.now()
      expect(await process.terminate(PATIENCE_MS), process.lines.join('\n')).to.deep.equal({ code: 0, signal: null })
      expect(Date.now() - startedMs, 'within shutdown.timeout.ms').to.be.lessThan(30_000)
      expect(await room().openTransactions(application.id)).to.deep.equal([])
      expect((await room().admin.describeGroup(application.id)).members, 'the group was left').to.have.length(0)
      stateDir = process.stateDir
    }
    await room().start(application, stateDir === undefined ? {} : { stateDir })
    const records = await room().untilRecords(`${input}-out`, written)
    const values = records.map(({ value }) => Number(value?.toString()))
    expect(values.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: written }, (_, index) => index))
  })

  it('leaves the group, but keeps its place there under a given instance id (case 78)', async () => {
    const input = await room().topic('in')
    const given = copyOf(input, { kafka: { 'group.instance.id': 'pod-1', 'session.timeout.ms': 45_000 } })
    const own = copyOf(input)
    for (const [application, left] of [
      [given, 1],
      [own, 0],
    ] as const) {
      const process = await room().start(application)
      await process.untilRunning(PATIENCE_MS)
      expect(await process.terminate()).to.deep.equal({ code: 0, signal: null })
      const { members } = await room().admin.describeGroup(application.id)
      expect(members, application.id).to.have.length(left)
    }
  })

  for (const { trouble, harm } of TROUBLES) {
    it(`${trouble}: exit 0 in time, and the next start does again what was not committed`, async () => {
      const input = await room().topic('in')
      const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
      try {
        const application = copyOf(input, {
          servers: proxy.bootstrapServers,
          streams: { 'shutdown.timeout.ms': STOP_MS },
          kafka: { 'transaction.timeout.ms': 60_000 },
        })
        const process = await room().start(application)
        await process.untilRunning(PATIENCE_MS)
        await room().write(input, numbered(30))
        await room().untilOffsets(application.id, input, [30])
        await harm(proxy, () => room().write(input, numbered(20, 30)))
        const startedMs = Date.now()
        const exit = await process.terminate(PATIENCE_MS)
        expect(exit, process.lines.join('\n')).to.deep.equal({ code: 0, signal: null })
        expect(Date.now() - startedMs, 'long before request.timeout.ms').to.be.lessThan(20_000)
        await process.untilLine('the last commit failed')
        expect(await room().records(`${input}-out`)).to.have.length(30)

        await room().start({ ...application, servers: room().servers }, { stateDir: process.stateDir })
        await room().untilOffsets(application.id, input, [50])
        expect((await room().values(`${input}-out`)).length).to.equal(50)
      } finally {
        await proxy.stop()
      }
    })
  }

  it('ends with 75 when a step never returns; the next start goes on from the last commit', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({ 'steps.mjs': ENDLESS, block: '' })
    const application = copyOf(input, {
      // No commit may come between the first record and the one that blocks.
      streams: { 'shutdown.timeout.ms': 1_000, 'commit.interval.ms': 5_000 },
      steps: { checked: { from: 'in', value: { module: `${folder}/steps.mjs#endless` }, serdes: { value: 'string' } } },
      sinks: { out: { from: 'checked', topic: `${input}-out` } },
    })
    await room().write(input, numbered(20))
    const process = await room().start(application)
    await eventually('the step blocks', () => existsSync(`${folder}/blocked`), PATIENCE_MS)
    const exit = await process.terminate(PATIENCE_MS)
    expect(exit, process.lines.join('\n')).to.deep.equal({ code: 75, signal: null })
    await process.untilLine('SHUTDOWN_TIMED_OUT')
    expect(await room().records(`${input}-out`)).to.deep.equal([])

    await rm(`${folder}/block`)
    await room().start({ ...application, streams: {} }, { stateDir: process.stateDir })
    await room().untilOffsets(application.id, input, [20])
    expect((await room().values(`${input}-out`)).length).to.equal(20)
  })

  it('during a start that waits for the broker ends it with 0', async () => {
    const input = await room().topic('in')
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      proxy.cut()
      const process = await room().start(copyOf(input, { servers: proxy.bootstrapServers }))
      await process.untilLine('Kafka cannot be reached yet', PATIENCE_MS)
      expect(await process.terminate()).to.deep.equal({ code: 0, signal: null })
      await eventually('it says that it stops', () => process.lines.some(line => line.includes('stopping')))
    } finally {
      await proxy.stop()
    }
  })
})
