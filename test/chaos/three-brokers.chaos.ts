import { expect } from 'chai'
import type { ResponseBodies } from '../../src/kafka/protocol/api.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'
import { Traffic } from '../integration/faults/traffic.ts'
import { ApplicationUnderTest } from '../support/application.ts'
import { useBroker } from '../support/broker.ts'
import { eventually } from '../support/condition.ts'
import { faultFired } from '../support/fault-count.ts'
import { KafkaProxy } from '../support/kafka-proxy.ts'
import type { MillraceProcess } from '../support/millrace-process.ts'

const WAIT_MS = 120_000
const CUT_MS = 4_000
const NOT_ENOUGH_REPLICAS = 19

describe('three brokers', function () {
  this.timeout(360_000)
  const kafka = useBroker('three')
  let application: ApplicationUnderTest
  let proxy: KafkaProxy
  let process: MillraceProcess

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      // So that one node leads no partition of the output.
      partitions: 2,
      replicationFactor: 3,
      kafka: { 'request.timeout.ms': 5_000, 'delivery.timeout.ms': 60_000 },
    })
    await application.write(50)
    process = await application.start({ bootstrapServers: proxy.bootstrapServers })
    await application.untilCaughtUp(WAIT_MS)
  })

  afterEach(async () => {
    for (const { id } of kafka().nodes) kafka().kill(id, 'SIGCONT')
    await application.dispose()
    await proxy.stop()
    await Promise.all(kafka().nodes.map(({ id }) => kafka().startNode(id)))
  })

  it('F21 of which the application is cut off from one at a time: progress or abort, and no half commit', async () => {
    const traffic = Traffic.flow(application)
    let refused = 0
    for (const { id } of kafka().nodes) {
      await traffic.more(20, WAIT_MS)
      proxy.cut(id)
      await new Promise(resolve => setTimeout(resolve, CUT_MS))
      refused += proxy.refused(id)
      proxy.heal(id)
      const until = await endOfInput(application)
      await eventually('it gets on', async () => (await committed(application)) >= until, WAIT_MS)
    }
    await traffic.stop()
    await application.expectExact(WAIT_MS)
    expect(process.hasExited, process.lines.slice(-10).join('\n')).to.equal(false)
    await application.expectConsistent()
    faultFired('F21', refused, 'connections refused by a broker that was cut off')
  })

  it('F26 with too few replicas in sync: waited out or aborted, and never acknowledged by fewer', async () => {
    await application.admin.alterConfigs(
      { type: 'topic', name: application.output },
      { set: { 'min.insync.replicas': '3' } },
    )
    const codes: number[] = []
    proxy.rule({
      api: 'Produce',
      direction: 'response',
      action: {
        type: 'rewrite',
        body: response => {
          codes.push(...produceCodes(response))
          return response
        },
      },
    })
    // A new leader with too few replicas in sync could not tell its readers how far they may read (KIP-966).
    const leaders = await application.leadersOf(application.output)
    const follower = kafka().nodes.find(({ id }) => !leaders.has(id))
    if (follower === undefined) throw new Error('every node leads a partition')
    kafka().kill(follower.id, 'SIGKILL')
    await kafka().ended(follower.id)
    const traffic = Traffic.flow(application)
    await eventually('the leader refuses', () => codes.includes(NOT_ENOUGH_REPLICAS), WAIT_MS)
    const visible = (await application.readOutput()).length
    await traffic.more(40, WAIT_MS)
    expect((await application.readOutput()).length, 'nothing becomes visible meanwhile').to.equal(visible)
    await kafka().startNode(follower.id)
    await traffic.stop()
    await application.expectExact(WAIT_MS)
    expect(process.hasExited, process.lines.slice(-10).join('\n')).to.equal(false)
    await application.expectConsistent()
    faultFired('F26', codes.filter(code => code === NOT_ENOUGH_REPLICAS).length, 'refusals of the leader')
  })
})

function produceCodes(response: ResponseBodies['Produce']): readonly number[] {
  return response.responses.flatMap(topic => topic.partitionResponses.map(({ errorCode }) => errorCode))
}

async function inputPartitions(app: ApplicationUnderTest): Promise<readonly TopicPartition[]> {
  return await app.partitionsOf(app.input)
}

async function endOfInput(app: ApplicationUnderTest): Promise<number> {
  const ends = await app.admin.listOffsets(await inputPartitions(app), 'latest', 'read_uncommitted')
  return [...ends].reduce((sum, [, end]) => sum + end, 0)
}

async function committed(app: ApplicationUnderTest): Promise<number> {
  const offsets = await app.admin.committedOffsets(app.id, await inputPartitions(app), { requireStable: false })
  return [...offsets].reduce((sum, [, { offset }]) => sum + offset, 0)
}
