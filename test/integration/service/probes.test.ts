import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from '../cases/case-room.ts'

interface Probe {
  readonly status: number
  readonly body: {
    readonly state?: string
    readonly tasks?: readonly { readonly state: string; readonly restoreRemaining: number }[]
  }
}

async function askerOf(process: MillraceProcess): Promise<(path: string) => Promise<Probe>> {
  const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
  return async path => {
    const response = await fetch(`http://127.0.0.1:${String(port)}${path}`)
    return { status: response.status, body: (await response.json()) as Probe['body'] }
  }
}

const counting = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string', value: 'string' } },
  steps: { counts: { from: 'in', count: {} } },
  sinks: { out: { from: 'counts', topic: `${topic}-out` } },
  http: { port: 0 },
  ...more,
})

describe('the probes of a running application', function () {
  this.timeout(180_000)
  const room = useCaseRoom()

  it('are live and not ready before the start, during a restore and during a rebalance', async () => {
    const input = await room().topic('in', 2)
    await room().write(input, numbered(400))
    const first = await room().start(counting(input))
    const application = counting(input, {
      id: (JSON.parse(await first.untilLine('"applicationId"')) as { applicationId: string }).applicationId,
    })
    await room().untilRecords(`${input}-out`, 400)
    expect((await first.terminate()).code).to.equal(0)

    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      proxy.cut()
      const process = await room().start({ ...application, servers: proxy.bootstrapServers })
      const ask = await askerOf(process)
      expect((await ask('/livez')).status).to.equal(200)
      expect((await ask('/startupz')).status).to.equal(503)
      expect((await ask('/readyz')).status).to.equal(503)

      const restore = proxy.rule({
        api: 'Fetch',
        direction: 'response',
        // Topics go by ids; until the restore has ended nothing but changelogs is fetched.
        action: { type: 'hold' },
      })
      proxy.heal()
      await restore.waitHeld(1, PATIENCE_MS)
      const restoring = await ask('/readyz')
      expect(restoring.status).to.equal(503)
      expect(restoring.body.tasks?.map(({ state }) => state)).to.include('restoring')
      expect(
        Math.max(...(restoring.body.tasks ?? []).map(({ restoreRemaining }) => restoreRemaining)),
      ).to.be.greaterThan(0)
      expect((await ask('/livez')).status).to.equal(200)
      expect((await ask('/startupz')).status).to.equal(503)
      restore.remove()
      restore.release()
      await eventually('ready', async () => (await ask('/readyz')).status === 200, PATIENCE_MS)
      expect((await ask('/startupz')).status).to.equal(200)

      const rebalance = proxy.rule({ api: 'SyncGroup', direction: 'response', action: { type: 'hold' } })
      const other = await room().start(application)
      await rebalance.waitHeld(1, PATIENCE_MS)
      await eventually('not ready in a rebalance', async () => (await ask('/readyz')).status === 503, PATIENCE_MS)
      expect((await ask('/livez')).status).to.equal(200)
      expect((await ask('/startupz')).status, 'it has been ready once').to.equal(200)
      rebalance.remove()
      rebalance.release()
      const askOther = await askerOf(other)
      await eventually(
        'both are ready, one task each',
        async () => {
          const probes = await Promise.all([ask('/readyz'), askOther('/readyz')])
          return probes.every(({ status, body }) => status === 200 && body.tasks?.length === 1)
        },
        PATIENCE_MS,
      )
    } finally {
      await proxy.stop()
    }
  })
})
