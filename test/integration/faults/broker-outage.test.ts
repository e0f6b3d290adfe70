import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { adminOf } from '../../support/kafka-client.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { Traffic } from './traffic.ts'

const WAIT_MS = 90_000
/** Of the process, where it got stuck. */
const LINES_SHOWN = 40

/** What a node is to the application. */
type Role = 'leader of the output' | 'group coordinator' | 'transaction coordinator'

const ROLES: readonly Role[] = ['leader of the output', 'group coordinator', 'transaction coordinator']

describe('brokers that end under a running application', function () {
  this.timeout(240_000)
  const kafka = useBroker('three')
  let application: ApplicationUnderTest | undefined

  afterEach(async () => {
    await application?.dispose()
    application = undefined
    // As they were found: all three, whatever failed.
    await Promise.all(kafka().nodes.map(({ id }) => kafka().startNode(id)))
  })

  async function anApplication(): Promise<{ app: ApplicationUnderTest; process: MillraceProcess }> {
    const app = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      partitions: 3,
      replicationFactor: 3,
      kafka: { 'session.timeout.ms': 20_000, 'heartbeat.interval.ms': 500 },
    })
    application = app
    const process = await app.start()
    await process.untilLine('the application is running', WAIT_MS)
    return { app, process }
  }

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`give exact totals when leader and coordinators end by ${signal} in mid-transaction, one after the other (F16, F17)`, async () => {
      const { app, process } = await anApplication()
      const traffic = Traffic.flow(app)
      await traffic.more(50)
      let ended = 0
      for (const role of ROLES) {
        const nodeId = await nodeOf(role, app)
        await openTransaction(app)
        kafka().kill(nodeId, signal)
        await kafka().ended(nodeId)
        ended += 1
        await progress(app, process, `commits go on without the ${role}`)
        await kafka().startNode(nodeId)
        await inSync(app)
      }
      await traffic.stop()
      await app.expectExact(WAIT_MS)
      expect(process.hasExited).to.equal(false)
      await app.expectConsistent()
      faultFired('F16', ended, `brokers that ended by ${signal}`)
      faultFired('F17', ended - 1, 'coordinators that moved')
    })
  }

  it('give exact totals when the whole cluster is killed and comes back (F16, case 76)', async () => {
    const { app, process } = await anApplication()
    await app.write(100)
    const traffic = Traffic.flow(app)
    await traffic.more(50)
    await openTransaction(app)
    const ids = kafka().nodes.map(({ id }) => id)
    for (const id of ids) kafka().kill(id, 'SIGKILL')
    await Promise.all(ids.map(id => kafka().ended(id)))
    await Promise.all(ids.map(id => kafka().startNode(id)))
    await traffic.more(50, WAIT_MS)
    await traffic.stop()
    await app.expectExact(WAIT_MS)
    expect(process.hasExited).to.equal(false)
    await app.expectConsistent()
    faultFired('F16', ids.length, 'brokers killed at once')
  })

  /** Asked anew each time, of whoever is there. */
  async function nodeOf(role: Role, app: ApplicationUnderTest): Promise<number> {
    const { cluster, admin } = await adminOf(kafka())
    try {
      switch (role) {
        case 'leader of the output': {
          const topic = await cluster.topic(app.output)
          return topic?.partitions[0]?.leader ?? -1
        }
        case 'group coordinator':
          return await cluster.coordinator('group', app.id)
        case 'transaction coordinator': {
          const all = await admin.listTransactions()
          const id = all.find(({ transactionalId }) => transactionalId.startsWith(`${app.id}-`))?.transactionalId ?? ''
          return await cluster.coordinator('transaction', id)
        }
      }
    } finally {
      await cluster.close()
    }
  }

  /** Waits until every replica of the application's topics and of the coordinators' logs is in sync: one more node may end. */
  async function inSync(app: ApplicationUnderTest): Promise<void> {
    const { cluster } = await adminOf(kafka())
    const names = [app.input, app.output, ...app.repartitionTopics, ...app.changelogTopics]
    const logs = ['__consumer_offsets', '__transaction_state']
    try {
      await eventually(
        'all replicas are in sync',
        async () => {
          await cluster.refresh([...names, ...logs])
          const topics = await cluster.topics([...names, ...logs])
          return [...topics.values()].every(topic => topic.partitions.every(({ isr }) => isr.length === 3))
        },
        WAIT_MS,
      )
    } finally {
      await cluster.close()
    }
  }
})

async function openTransaction(app: ApplicationUnderTest): Promise<void> {
  await eventually(
    'a transaction is open',
    async () => {
      const open = await app.openTransactions().catch(() => [])
      return open.length > 0
    },
    WAIT_MS,
  )
}

/** Waits until the application commits more than at the first look; our look at a broker that ended may fail. */
async function progress(app: ApplicationUnderTest, process: MillraceProcess, claim: string): Promise<void> {
  let first: number | undefined
  let now: number | undefined
  let trouble: unknown
  try {
    await eventually(
      claim,
      async () => {
        now = await committedOf(app).catch((error: unknown) => {
          trouble = error
          return undefined
        })
        first ??= now
        return now !== undefined && first !== undefined && now > first
      },
      WAIT_MS,
    )
  } catch (error) {
    const lines = process.lines.slice(-LINES_SHOWN).join('\n')
    throw new Error(`${String(error)}; seen ${String(first)}, ${String(now)}, ${String(trouble)}\n${lines}`, {
      cause: error,
    })
  }
}

/** Sum of the committed offsets of the input. */
async function committedOf(app: ApplicationUnderTest): Promise<number> {
  const committed = await app.admin.committedOffsets(app.id, await app.partitionsOf(app.input), {
    requireStable: false,
  })
  let sum = 0
  for (const { offset } of committed.values()) sum += offset
  return sum
}
