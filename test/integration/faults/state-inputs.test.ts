import { expect } from 'chai'
import type { ResponseBodies } from '../../../src/kafka/protocol/api.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import type { LogLine, MillraceProcess } from '../../support/millrace-process.ts'
import { type ApplicationText, mergeYaml, Stage } from './stage.ts'
import { Traffic } from './traffic.ts'

const WAIT_MS = 60_000
const GIVEN = /"added":\["/
const UNSTABLE_OFFSET_COMMIT = 88

describe('inputs and internal topics', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let stage: Stage
  let underTest: ApplicationUnderTest | undefined
  let proxy: KafkaProxy | undefined

  beforeEach(async () => {
    stage = await Stage.open(kafka())
  })
  afterEach(async () => {
    await underTest?.dispose()
    await proxy?.stop()
    await stage.close()
    underTest = undefined
    proxy = undefined
  })

  const started = async (yaml: string, stateDir?: string): Promise<MillraceProcess> => {
    const process = await stage.start(yaml, stateDir === undefined ? {} : { stateDir })
    await process.untilLine('the application is running', WAIT_MS)
    return process
  }

  const valuesOf = async (topic: string): Promise<string[]> => {
    const records = await stage.read(topic)
    return records.map(({ value }) => String(value))
  }

  it('show nothing of aborted transactions, and have no lag behind the markers (F40, cases 35, 82)', async () => {
    const input = await stage.topic()
    const application = { ...stage.names(), inputs: [input] }
    await started(mergeYaml(application))
    const writer = await KafkaWriter.open(stage.servers, { 'transactional.id': `${application.id}-upstream` })
    const committed: string[] = []
    for (let i = 0; i < 12; i += 1) {
      const end = i % 2 === 0 ? 'abort' : 'commit'
      const values = [`${String(i)}a`, `${String(i)}b`]
      await writer.transaction(
        input,
        values.map(value => ({ key: 'k', value })),
        end,
      )
      if (end === 'commit') committed.push(...values)
    }
    await writer.transaction(input, [{ key: 'k', value: 'last' }], 'abort')
    await stage.settled(application.id, [input])
    expect(await valuesOf(application.output)).to.deep.equal(committed)
    const all = await stage.read(input, 'read_uncommitted')
    faultFired('F40', all.length - committed.length, 'records of aborted transactions in the input')
    await writer.close()
  })

  it('give up what is processed of repartition topics, and never more than that', async () => {
    const app = await ApplicationUnderTest.create({
      shape: 'totals',
      bootstrapServers: kafka().bootstrapServers,
      streams: { 'repartition.purge.interval.ms': 100 },
    })
    underTest = app
    await app.start()
    const traffic = Traffic.flow(app)
    const [topic = ''] = app.repartitionTopics
    const startsOf = async (): Promise<TopicPartitionMap<number>> =>
      await app.admin.listOffsets(await app.partitionsOf(topic), 'earliest', 'read_uncommitted')
    await eventually(
      'records are deleted',
      async () => Array.from((await startsOf()).values()).some(start => start > 0),
      WAIT_MS,
    )
    for (let look = 0; look < 10; look += 1) {
      const starts = await startsOf()
      const committed = await app.admin.committedOffsets(app.id, [...starts.keys()], { requireStable: false })
      for (const [partition, start] of starts) expect(start).to.be.at.most(committed.get(partition)?.offset ?? 0)
      await traffic.more(10)
    }
    await traffic.stop()
    await app.untilCaughtUp()
    await eventually('little is left', async () => {
      // A purge follows a commit; the last one of a partition may come with the next commit of another.
      await app.write(26)
      await app.untilCaughtUp()
      const starts = await startsOf()
      const ends = await app.admin.listOffsets([...starts.keys()], 'latest', 'read_uncommitted')
      return Array.from(ends, ([partition, end]) => end - (starts.get(partition) ?? 0)).every(left => left < 100)
    })
    await app.expectExact()
  })

  it('are taken over without a transaction that stays open meanwhile, while other tasks go on (case 32)', async () => {
    const between = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    proxy = between
    const app = await ApplicationUnderTest.create({
      shape: 'counts',
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'transaction.timeout.ms': 2_000, 'heartbeat.interval.ms': 200 },
    })
    underTest = app
    const heir = await app.start({ instance: 'a', bootstrapServers: between.bootstrapServers })
    await heir.untilLine(GIVEN, WAIT_MS)
    const other = await app.start({ instance: 'b' })
    await other.untilLine(GIVEN, WAIT_MS)
    await app.write(100)
    await app.untilCaughtUp()
    const traffic = Traffic.flow(app)
    // As long as another owner's transaction were open.
    const unstable = between.rule({
      api: 'OffsetFetch',
      direction: 'response',
      action: { type: 'rewrite', body: asUnstable },
    })
    expect((await other.terminate()).code).to.equal(0)
    await unstable.waitFired(1, WAIT_MS)
    const commits = between.count('EndTxn', 'response')
    await eventually(
      'the heir goes on with what it had',
      () => between.count('EndTxn', 'response') > commits + 5,
      WAIT_MS,
    )
    await traffic.stop()
    await eventually('no transaction is open', async () => (await app.openTransactions()).length === 0, WAIT_MS)
    unstable.remove()
    await app.expectExact()
    expect(heir.log.filter(({ msg }) => msg === 'going back to the last commit')).to.deep.equal([])
  })

  /** Five records processed, five deleted unseen, five left. */
  const bereft = async (
    policy: string,
  ): Promise<{ application: ApplicationText; input: string; process: MillraceProcess }> => {
    const input = await stage.topic()
    const application = { ...stage.names(), inputs: [input], source: `onOutOfRange: ${policy}` }
    const write = (from: number): Promise<void> =>
      stage.write(
        input,
        Array.from({ length: 5 }, (_, index) => ({ key: 'k', value: String(from + index) })),
      )
    await write(0)
    const first = await started(mergeYaml(application))
    await stage.settled(application.id, [input])
    expect((await first.terminate()).code).to.equal(0)
    await write(5)
    await write(10)
    await stage.admin.deleteRecords(new TopicPartitionMap([[{ topic: input, partition: 0 }, 10]]))
    const process = await stage.start(mergeYaml(application), { stateDir: first.stateDir })
    return { application, input, process }
  }

  describe('whose records were deleted before they were processed (F37, case 42)', () => {
    const before = ['0', '1', '2', '3', '4']

    it('stop the application by default: 65, and the offset is named', async () => {
      const { application, input, process } = await bereft('fail')
      expect((await process.untilExit(WAIT_MS)).code).to.equal(65)
      const text = process.lines.join('\n')
      expect(text)
        .to.include('OFFSET_OUT_OF_RANGE')
        .and.to.include(input)
        .and.to.match(/offset\D*5\b/)
      expect(await valuesOf(application.output)).to.deep.equal(before)
      faultFired('F37', Number(process.hasExited), 'stops at an offset that is gone')
    })

    it('are read on from the earliest record, loudly, where that is the policy', async () => {
      const { application, input, process } = await bereft('earliest')
      await stage.settled(application.id, [input])
      expect(await valuesOf(application.output)).to.deep.equal([...before, '10', '11', '12', '13', '14'])
      const told = JSON.parse(await process.untilLine('onOutOfRange', WAIT_MS)) as LogLine
      expect(told).to.include({ level: 'error', from: 5, to: 10, policy: 'earliest' })
    })

    it('are read on from the end, loudly, where that is the policy', async () => {
      const { application, input, process } = await bereft('latest')
      await process.untilLine('onOutOfRange', WAIT_MS)
      await stage.write(input, [{ key: 'k', value: 'new' }])
      await stage.settled(application.id, [input])
      expect(await valuesOf(application.output)).to.deep.equal([...before, 'new'])
    })
  })

  it('stop the application when they are deleted and made again: 78, TOPIC_RECREATED (F36)', async () => {
    const input = await stage.topic()
    const application = { ...stage.names(), inputs: [input] }
    const process = await started(mergeYaml(application))
    await stage.write(input, [{ key: 'k', value: '0' }])
    await stage.settled(application.id, [input])
    await stage.admin.deleteTopics([input])
    await stage.topic(1, {}, input)
    await stage.write(input, [{ key: 'k', value: 'of another topic' }])
    expect((await process.untilExit(WAIT_MS)).code).to.equal(78)
    expect(process.lines.join('\n')).to.include('TOPIC_RECREATED').and.to.include(input)
    expect(await valuesOf(application.output)).to.deep.equal(['0'])
    faultFired('F36', Number(process.hasExited), 'stops at a topic that was made anew')
  })
})

/** The answer of a group in which a transaction with offsets is open. */
function asUnstable(answer: ResponseBodies['OffsetFetch']): ResponseBodies['OffsetFetch'] {
  return {
    ...answer,
    groups: answer.groups.map(group => ({
      ...group,
      topics: group.topics.map(topic => ({
        ...topic,
        partitions: topic.partitions.map(partition => ({ ...partition, errorCode: UNSTABLE_OFFSET_COMMIT })),
      })),
    })),
  }
}
