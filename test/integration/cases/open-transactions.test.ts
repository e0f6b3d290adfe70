import { expect } from 'chai'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { uniqueName } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { eventually } from '../../support/condition.ts'
import { leaveHanging } from '../../support/hanging-transaction.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import type { LogLine, MillraceProcess } from '../../support/millrace-process.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const copyOf = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string', value: 'string' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

async function run(...argv: string[]): Promise<{ code: number; out: string }> {
  const io = new CommandCapture()
  const code = await runCommandLine(argv, { version: '0', commands: COMMANDS }, io)
  return { code, out: [...io.stdout, ...io.stderr].join('\n') }
}

/** The value of a metric with one series. */
async function metricOf(process: MillraceProcess, name: string): Promise<number | undefined> {
  const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name}{`))
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
}

async function warned(process: MillraceProcess): Promise<LogLine> {
  return JSON.parse(await process.untilLine(/holds up an input/, PATIENCE_MS)) as LogLine
}

describe('a transaction that a dead process left open', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('is listed and ended by the commands, and readers go on behind it (case 26)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(10))
    const application = copyOf(input, { kafka: { 'transaction.timeout.ms': 600_000 } })
    const folder = await room().folder({ 'app.yaml': room().yaml(application) })
    const file = `${folder}/app.yaml`
    const process = await room().start(application, { env: { MILLRACE_TEST_CRASH_AT: 'produce:allAnswered' } })
    expect((await process.untilExit(PATIENCE_MS)).signal).to.equal('SIGKILL')
    await room().write(`${input}-out`, [{ key: 'other', value: 'of another writer' }])
    expect(await readTopic(room().servers, `${input}-out`), 'readers are held up').to.deep.equal([])

    const list = await run('txn', 'list', file, '--state', 'Ongoing')
    expect(list.code, list.out).to.equal(0)
    const id = new RegExp(`^${application.id}-\\S+`, 'm').exec(list.out)?.[0] ?? ''
    expect(list.out).to.match(new RegExp(`^${id} .*Ongoing +\\d+\\.\\ds +10m 0s .*${application.id} `, 'm'))
    const hanging = await run('txn', 'find-hanging', file, '--max-age', '1ms')
    expect(hanging.code).to.equal(1)
    expect(hanging.out).to.include(`${input}-out, partition 0: read_committed readers are held at offset 0`)

    expect((await run('txn', 'abort', file, '--transactional-id', id)).out).to.include('Nothing was changed')
    const abort = await run('txn', 'abort', file, '--transactional-id', id, '--execute')
    expect(abort.code, abort.out).to.equal(0)
    expect((await run('txn', 'list', file, '--state', 'Ongoing')).out).to.equal('No transactional ids.')
    const values = (await readTopic(room().servers, `${input}-out`)).map(({ value }) => value?.toString())
    expect(values, 'nothing of the dead process').to.deep.equal(['of another writer'])
    expect(await room().offsets(application.id, input), 'nor its offsets').to.deep.equal([undefined])
  })
})

describe('a transaction of another producer that stays open on the input', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('counts as blocked, has an age, and is named by the log; when it ends the lag is gone (case 37)', async () => {
    const input = await room().topic('in')
    const transactionalId = uniqueName('foreign')
    const writer = await KafkaWriter.open(room().servers, { 'transactional.id': transactionalId })
    await writer.transaction(input, numbered(5), 'commit')
    const application = copyOf(input, { http: { port: 0 }, streams: { 'blocked.input.warn.ms': 1_500 } })
    const process = await room().start(application)
    await room().untilOffsets(application.id, input, [6])
    const isZero = async (name: string): Promise<void> => {
      await eventually(`${name} is 0`, async () => (await metricOf(process, name)) === 0)
    }
    await isZero('millrace_input_transaction_age_seconds')

    await writer.begin()
    await writer.write(input, numbered(4, 5))
    const line = await warned(process)
    const [open] = await room().admin.openTransactions([{ topic: input, partition: 0 }])
    expect(line).to.include({
      level: 'warn',
      topic: input,
      partition: 0,
      lastStableOffset: 6,
      highWatermark: 10,
      blockedRecords: 4,
      producerId: open?.producerId,
      producerEpoch: open?.producerEpoch,
      transactionalId,
      transactionState: 'Ongoing',
    })
    await isZero('millrace_lag_readable_records')
    expect(await metricOf(process, 'millrace_lag_blocked_records')).to.equal(4)
    const stableAge = (await metricOf(process, 'millrace_last_stable_offset_age_seconds')) ?? 0
    expect(stableAge).to.be.greaterThan(1.4)
    expect(await metricOf(process, 'millrace_input_transaction_age_seconds')).to.be.at.least(stableAge)
    // More of it, and of others behind it: it is the same that holds everything up, and needs no further line.
    await room().write(input, numbered(3, 100))
    await eventually('all seven count', async () => (await metricOf(process, 'millrace_lag_blocked_records')) === 7)

    await writer.commit()
    await writer.close()
    await room().untilOffsets(application.id, input, [14])
    const values = [...numbered(9), ...numbered(3, 100)].map(({ value }) => value)
    expect(await room().values(`${input}-out`)).to.deep.equal(values)
    await process.untilLine('an input that was held up goes on', PATIENCE_MS)
    await isZero('millrace_lag_blocked_records')
    await isZero('millrace_last_stable_offset_age_seconds')
    expect(process.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).to.deep.equal([line.msg])
    expect((await process.terminate()).code).to.equal(0)
  })

  it('is named as one that hangs where no coordinator will end it', async () => {
    const input = await room().topic('in')
    const application = copyOf(input, { streams: { 'blocked.input.warn.ms': 1_000 } })
    const process = await room().start(application)
    await process.untilRunning(PATIENCE_MS)
    const left = await leaveHanging(room(), { topic: input, partition: 0 }, uniqueName('hanging'))
    const line = await warned(process)
    expect(line.msg).to.include('no coordinator will end').and.to.include('millrace txn find-hanging')
    expect(line).to.include({ topic: input, producerId: left.producerId, lastStableOffset: left.startOffset })
    await room().write(input, numbered(2))
    const folder = await room().folder({ 'app.yaml': room().yaml(application) })
    const place = ['--topic', input, '--partition', '0', '--start-offset', String(left.startOffset)]
    const abort = await run('txn', 'abort', `${folder}/app.yaml`, ...place, '--execute')
    expect(abort.code, abort.out).to.equal(0)
    await room().untilOffsets(application.id, input, [4])
    expect(await room().values(`${input}-out`)).to.deep.equal(['0', '1'])
  })
})
