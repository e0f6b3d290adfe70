import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { type ApplicationText, Stage, yamlOf } from './stage.ts'
import { Traffic } from './traffic.ts'

const READY_MS_MAX = 1_000
/** A busy machine only makes a start longer, so one that is quick enough will do. */
const READY_LIVES_MAX = 8
const WAIT_MS = 60_000
const GIVEN = /"added":\["/
/** Two markers, or one record and its marker, of each transaction are left by the compaction of few records. */
const SMALL_SEGMENTS = {
  'cleanup.policy': 'compact',
  'segment.ms': '100',
  'min.cleanable.dirty.ratio': '0.001',
  'max.compaction.lag.ms': '200',
  'delete.retention.ms': '100',
}

/** Counts records per key. */
function countYaml(application: ApplicationText): string {
  return yamlOf(application, [
    'steps:',
    '  counts: { from: in0, count: {} }',
    'sinks:',
    `  out: { from: counts, topic: ${application.output} }`,
  ])
}

/** A table whose entries go through a store of their own. */
function tableYaml(application: ApplicationText): string {
  return yamlOf({ ...application, source: 'as: table' }, [
    'sinks:',
    `  out: { from: in0, topic: ${application.output} }`,
  ])
}

/** When a line was logged. */
const timeOf = (line: string): number => {
  const { time } = JSON.parse(line) as { readonly time: string }
  return new Date(time).getTime()
}

/** Whether something of what went through the repartition topic is committed. */
const hasCounted = async (app: ApplicationUnderTest): Promise<boolean> => {
  const [topic = ''] = app.repartitionTopics
  const committed = await app.admin.committedOffsets(app.id, await app.partitionsOf(topic), { requireStable: false })
  return [...committed.values()].some(({ offset }) => offset > 0)
}

/** What the start of a process restored, over all stores. */
const restored = (process: MillraceProcess): { records: number; entries: number } => {
  const lines = process.log.filter(({ msg }) => msg === 'store restored')
  const sum = (field: string): number => lines.reduce((total, line) => total + Number(line[field]), 0)
  return { records: sum('records'), entries: sum('entries') }
}

describe('stores after a crash', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let stage: Stage

  beforeEach(async () => {
    stage = await Stage.open(kafka())
  })
  afterEach(() => stage.close())

  for (const { directory, next } of [
    { directory: 'the same state directory', next: 'a' },
    { directory: 'an empty state directory', next: 'b' },
  ]) {
    it(`equal the fold of their changelog after kill −9 with ${directory}, over a repartition topic, with two threads (I4)`, async () => {
      const app = await ApplicationUnderTest.create({
        shape: 'totals',
        judged: true,
        bootstrapServers: kafka().bootstrapServers,
        partitions: 4,
        streams: { 'num.stream.threads': 2 },
        kafka: { 'session.timeout.ms': 3_000, 'heartbeat.interval.ms': 300, 'transaction.timeout.ms': 5_000 },
      })
      try {
        const first = await app.start()
        await first.untilLine(GIVEN, WAIT_MS)
        const traffic = Traffic.flow(app)
        await traffic.more(200)
        await eventually('there is something to restore', () => hasCounted(app), WAIT_MS)
        await first.kill()
        await traffic.more(50)
        const second = await app.start({ instance: next })
        await second.untilLine('"msg":"store restored"', WAIT_MS)
        await traffic.more(50)
        await traffic.stop()
        await app.expectExact()
        await app.expectConsistent()
      } finally {
        await app.dispose()
      }
    })
  }

  const started = async (yaml: string, stateDir?: string): Promise<MillraceProcess> => {
    const process = await stage.start(yaml, stateDir === undefined ? {} : { stateDir })
    await process.untilLine('the application is running', WAIT_MS)
    return process
  }

  it('forget what was deleted, and know it when it comes again (F35, case 52)', async () => {
    const application = { ...stage.names(), inputs: [await stage.topic()] }
    const [input = ''] = application.inputs
    const first = await started(tableYaml(application))
    await stage.write(input, [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
      { key: 'a', value: null },
    ])
    await stage.settled(application.id, [input])
    await first.kill()
    const second = await started(tableYaml(application), first.stateDir)
    expect(restored(second)).to.deep.equal({ records: 3, entries: 1 })
    await stage.write(input, [{ key: 'b', value: null }])
    await stage.settled(application.id, [input])
    const found = await stage.read(application.output)
    expect(found.map(({ key, value }) => [String(key), value === null ? null : String(value)])).to.deep.equal([
      ['a', '1'],
      ['b', '2'],
      ['a', null],
      ['b', null],
    ])
    const changelog = await stage.read(`${application.id}-in0-changelog`)
    faultFired('F35', changelog.filter(({ value }) => value === null).length, 'tombstones')
  })

  it('are restored past markers of aborted transactions at the end of the changelog (case 45)', async () => {
    const application = { ...stage.names(), inputs: [await stage.topic()] }
    const [input = ''] = application.inputs
    const first = await started(countYaml(application))
    await stage.write(input, [{ key: 'k', value: 'x' }])
    await stage.settled(application.id, [input])
    await first.kill()
    const changelog = `${application.id}-counts-changelog`
    const foreign = await KafkaWriter.open(stage.servers, { 'transactional.id': `${application.id}-foreign` })
    await foreign.transaction(changelog, [{ partition: 0, key: 'k', value: Buffer.alloc(8) }], 'abort')
    await foreign.transaction(changelog, [{ partition: 0, key: 'k', value: Buffer.alloc(8) }], 'abort')
    await foreign.close()
    const second = await started(countYaml(application), first.stateDir)
    expect(restored(second)).to.deep.equal({ records: 1, entries: 1 })
    await stage.write(input, [{ key: 'k', value: 'x' }])
    await stage.settled(application.id, [input])
    const found = await stage.read(application.output)
    expect(found.map(({ value }) => value?.readBigInt64BE(0))).to.deep.equal([1n, 2n])
  })

  it('are ready at once when there is nothing to restore (case 46)', async () => {
    const application = { ...stage.names(), inputs: [await stage.topic(2)] }
    let last = await started(countYaml(application))
    let quickestMs = Number.POSITIVE_INFINITY
    for (let lives = 0; lives < READY_LIVES_MAX && quickestMs >= READY_MS_MAX; lives += 1) {
      await last.terminate()
      last = await stage.start(countYaml(application), { stateDir: last.stateDir })
      const given = await last.untilLine(GIVEN, WAIT_MS)
      const running = await last.untilLine('the application is running', WAIT_MS)
      quickestMs = Math.min(quickestMs, timeOf(running) - timeOf(given))
      expect(restored(last)).to.deep.equal({ records: 0, entries: 0 })
    }
    expect(quickestMs, 'from the assignment to running').to.be.lessThan(READY_MS_MAX)
  })

  it('are restored from a compacted changelog (F35)', async () => {
    const application = { ...stage.names(), inputs: [await stage.topic()] }
    const [input = ''] = application.inputs
    const changelog = await stage.topic(1, SMALL_SEGMENTS, `${application.id}-counts-changelog`)
    const first = await started(countYaml(application))
    const keys = ['a', 'b', 'c']
    const rounds = 20
    for (let round = 0; round < rounds; round += 1)
      await stage.write(
        input,
        keys.map(key => ({ key, value: 'x' })),
      )
    await stage.settled(application.id, [input])
    await first.kill()
    const left = async (): Promise<number> => {
      // A segment is only rolled by a write, and only rolled segments are compacted.
      await stage.write(changelog, [{ key: 'other', value: Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), partition: 0 }])
      const records = await stage.read(changelog)
      return records.filter(({ key }) => String(key) !== 'other').length
    }
    await eventually('the changelog is compacted', async () => (await left()) < keys.length * 2, WAIT_MS)
    faultFired('F35', keys.length * rounds - (await left()), 'records that compaction removed')
    const second = await started(countYaml(application), first.stateDir)
    expect(restored(second).entries).to.equal(keys.length + 1)
    await stage.write(
      input,
      keys.map(key => ({ key, value: 'x' })),
    )
    await stage.settled(application.id, [input])
    const found = await stage.read(application.output)
    for (const key of keys) {
      const counts = found
        .filter(record => String(record.key) === key)
        .map(({ value }) => Number(value?.readBigInt64BE(0)))
      expect(counts).to.deep.equal(Array.from({ length: rounds + 1 }, (_, index) => index + 1))
    }
  })

  it('are not taken for empty when the group was deleted: 78, and reset is named (F39)', async () => {
    const application = { ...stage.names(), inputs: [await stage.topic()] }
    const [input = ''] = application.inputs
    const first = await started(countYaml(application))
    await stage.write(input, [{ key: 'k', value: 'x' }])
    await stage.settled(application.id, [input])
    expect((await first.terminate()).code).to.equal(0)
    await eventually(
      'the group is empty and deleted',
      async () => await stage.admin.deleteGroup(application.id).catch(() => false),
    )
    const second = await stage.start(countYaml(application), { stateDir: first.stateDir })
    expect((await second.untilExit(WAIT_MS)).code).to.equal(78)
    const text = second.lines.join('\n')
    expect(text).to.include('COMMITTED_OFFSET_MISSING').and.to.include('millrace reset')
    faultFired('F39', Number(second.hasExited), 'starts without the offsets of the group')
    expect(await stage.read(application.output)).to.have.length(1)
  })

  for (const topic of ['counts-changelog', 'counts-repartition']) {
    it(`are not placed on a ${topic} topic with another partition count: 78 and both counts (case 49)`, async () => {
      const application = { ...stage.names(), inputs: [await stage.topic(4)] }
      await stage.topic(
        3,
        topic.endsWith('changelog') ? { 'cleanup.policy': 'compact' } : {},
        `${application.id}-${topic}`,
      )
      const grouped = yamlOf(application, [
        'steps:',
        '  counts: { from: in0, groupBy: value, count: {} }',
        'sinks:',
        `  out: { from: counts, topic: ${application.output} }`,
      ])
      const process = await stage.start(grouped)
      expect((await process.untilExit(WAIT_MS)).code).to.equal(78)
      const text = process.lines.join('\n')
      expect(text).to.include('TOPIC_MISMATCH').and.to.include(`${application.id}-${topic}`)
      expect(text).to.match(/has 3 partitions, the application needs 4/)
    })
  }

  it('of a table that keeps no changelog of its own come from its source topic, up to the committed offset', async () => {
    const application = {
      ...stage.names(),
      inputs: [await stage.topic(1, { 'cleanup.policy': 'compact' })],
      streams: ['topology.optimization: all'],
    }
    const [input = ''] = application.inputs
    const yaml = yamlOf({ ...application, source: 'as: table' }, [
      'steps:',
      '  perValue: { from: in0, groupBy: value, count: {} }',
      'sinks:',
      `  out: { from: perValue, topic: ${application.output} }`,
    ])
    await stage.write(input, [
      { key: 'a', value: 'x' },
      { key: 'b', value: 'x' },
    ])
    const first = await started(yaml)
    await stage.settled(application.id, [input, `${application.id}-perValue-key-repartition`])
    await first.kill()
    await stage.write(input, [{ key: 'a', value: 'y' }])
    const second = await started(yaml, first.stateDir)
    await stage.settled(application.id, [input, `${application.id}-perValue-key-repartition`])
    const found = await stage.read(application.output)
    const last = new Map(found.map(({ key, value }) => [String(key), Number(value?.readBigInt64BE(0))]))
    expect(Object.fromEntries(last)).to.deep.equal({ x: 1, y: 1 })
    expect(second.hasExited).to.equal(false)
  })
})
