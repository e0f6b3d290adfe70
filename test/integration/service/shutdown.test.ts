import { expect } from 'chai'
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

  it('ends with 75 when its time is over, whatever holds it; the next start goes on from the last commit', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(50))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      const application = copyOf(input, {
        servers: proxy.bootstrapServers,
        streams: { 'shutdown.timeout.ms': 2_000 },
        kafka: { 'transaction.timeout.ms': 60_000 },
      })
      const held = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', action: { type: 'hold' } })
      const process = await room().start(application)
      await held.waitHeld(1, PATIENCE_MS)
      const startedMs = Date.now()
      const exit = await process.terminate(PATIENCE_MS)
      expect(exit, process.lines.join('\n')).to.deep.equal({ code: 75, signal: null })
      expect(Date.now() - startedMs, 'long before request.timeout.ms').to.be.lessThan(20_000)
      await process.untilLine('SHUTDOWN_TIMED_OUT')
      held.remove()
      held.drop()
      expect(await room().records(`${input}-out`)).to.deep.equal([])
      await room().start(application, { stateDir: process.stateDir })
      await room().untilOffsets(application.id, input, [50])
      expect((await room().values(`${input}-out`)).length).to.equal(50)
    } finally {
      await proxy.stop()
    }
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
