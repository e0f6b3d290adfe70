import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { historyLine } from '../../../src/verification/history.ts'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { kindsOf, reportOf, verify, verifyText, type VerifyResult } from './verify-room.ts'

const RECORDS = 200
/** For a start and a few commits on a machine that has other things to do. */
const PATIENCE_MS = 90_000

/** Everything that a result says about why it could not be judged. */
function reasonsOf({ checks }: VerifyResult): string {
  return checks.flatMap(({ state, reasons }) => (state === 'unjudged' ? reasons : [])).join('\n')
}

describe('millrace verify on a real cluster', function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest
  let folder = ''

  afterEach(async () => {
    await application.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  const create = async (streams: Readonly<Record<string, string | number | boolean>>): Promise<void> => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-verify-'))
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      bootstrapServers: kafka().bootstrapServers,
      streams,
    })
  }

  it('finds a run consistent that went through a kill, tells each change that was made to it, and never says yes to a part', async () => {
    await create({ 'provenance.headers': true })
    await application.write(RECORDS)
    const first = await application.start({ env: { MILLRACE_TEST_CRASH_AT: 'txnOffsetCommit:answered' } })
    await first.untilExit(PATIENCE_MS)
    await application.write(RECORDS)
    const second = await application.start()
    await application.untilCaughtUp(PATIENCE_MS)

    const running = await verify(application.yaml(), '--wait', '1s')
    expect(running.code, running.text).to.equal(75)
    expect(reasonsOf(running)).to.match(/the application is running/)
    expect((await second.terminate()).code).to.equal(0)

    const good = await verify(application.yaml())
    expect(good.verdict, good.text).to.equal('consistent')
    expect(good.code).to.equal(0)
    expect(good.provenance).to.equal(true)
    expect((await verify(application.yaml(), '--strict')).code).to.equal(0)
    // Each record goes through two tasks.
    expect(good.summary.inputRecords).to.equal(RECORDS * 4)
    for (const check of [
      'quiescence',
      'readers',
      'prefixFunction',
      'tiling',
      'atomicity',
      'state',
      'fencing',
    ] as const) {
      expect(reportOf(good, check).state, `${check}\n${good.text}`).to.equal('passed')
    }

    const text = await verifyText(application.yaml())
    expect(text.code).to.equal(0)
    expect(text.out).to.match(/^prefixFunction +ok +\d+ +outputs are what the input gives/m)
    expect(text.out).to.match(/Verdict: consistent/)

    const tooMuch = await verify(application.yaml(), '--max-records', '100')
    expect(tooMuch.code, tooMuch.text).to.equal(75)

    const seen = join(folder, 'seen.ndjson')
    const event = {
      kind: 'read',
      atMs: 1,
      topic: application.output,
      partition: 0,
      offset: 0,
      key: '00',
      value: '00',
    } as const
    await writeFile(seen, `${historyLine(event)}\n`)
    const otherwise = await verify(application.yaml(), '--history', seen)
    expect(otherwise.code, otherwise.text).to.equal(65)
    expect(kindsOf(otherwise, 'history')).to.deep.equal(['G1a'])

    const writer = await KafkaWriter.open(kafka().bootstrapServers)
    await writer.write(application.output, [{ key: 'a1', value: '{"count":1,"sum":7}' }])
    const changed = await verifyText(application.yaml())
    expect(changed.code, changed.out).to.equal(65)
    expect(changed.out).to.match(/unexplained: .* which follows from no committed input/)
  })

  it('judges without provenance what can be judged, and says what cannot', async () => {
    await create({})
    await application.write(RECORDS)
    const process = await application.start()
    await application.untilCaughtUp(PATIENCE_MS)
    expect((await process.terminate()).code).to.equal(0)

    const result = await verify(application.yaml())
    expect(result.code, result.text).to.equal(0)
    expect(result.provenance).to.equal(false)
    expect(reportOf(result, 'atomicity').state).to.equal('notChecked')
    expect((await verify(application.yaml(), '--strict')).code).to.equal(75)
    const empty = join(folder, 'empty.ndjson')
    await writeFile(empty, '')
    expect((await verify(application.yaml(), '--history', empty)).code).to.equal(75)
    expect(reportOf(result, 'prefixFunction').compared).to.be.greaterThan(RECORDS * 2)

    const [partition] = await application.partitionsOf(application.output)
    if (partition === undefined) throw new Error('the output has no partition')
    await application.admin.deleteRecords(new TopicPartitionMap([[partition, 3]]))
    const cut = await verify(application.yaml())
    expect(cut.code, cut.text).to.equal(75)
    expect(reasonsOf(cut)).to.match(/begins at offset 3/)
  })

  it('judges nothing that was not run, and names an open transaction', async () => {
    await create({})
    const empty = await verify(application.yaml(), '--wait', '1s')
    expect(empty.code, empty.text).to.equal(75)
    const writer = await KafkaWriter.open(kafka().bootstrapServers, {
      'transactional.id': `${application.id}-upstream`,
    })
    await writer.begin()
    await writer.write(application.input, [{ key: 'k', value: 'v', partition: 1 }])
    const open = await verify(application.yaml(), '--wait', '1s')
    await writer.abort()
    expect(open.code, open.text).to.equal(75)
    expect(reasonsOf(open)).to.include(`a transaction is open on ${application.input}-1`)
  })
})

describe('millrace verify', () => {
  it('ends with 69 where no broker answers, and with 2 for an option that is none', async () => {
    const yaml = [
      'streams: { application.id: a, startup.timeout.ms: 300 }',
      'kafka: { bootstrap.servers: "127.0.0.1:1" }',
      'sources: { in: { topic: in, key: string, value: string } }',
      'sinks: { out: { from: in, topic: out } }',
    ].join('\n')
    expect((await verifyText(yaml)).code).to.equal(69)
    expect((await verifyText(yaml, '--wait', 'long')).code).to.equal(2)
  })
})
