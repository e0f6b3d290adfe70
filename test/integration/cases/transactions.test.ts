import { expect } from 'chai'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { numbered, PATIENCE_MS, useCaseRoom, type CaseApplication } from './case-room.ts'

const copyOf = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string', value: 'string' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))

/** Reads the metrics of a running application, and single values of them. */
async function metricsOf(process: MillraceProcess): Promise<(pattern: RegExp) => Promise<number[]>> {
  const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
  return async pattern => {
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
    return text
      .split('\n')
      .filter(line => !line.startsWith('#') && pattern.test(line))
      .map(line => Number(line.slice(line.lastIndexOf(' ') + 1)))
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

describe('transactions of an application', function () {
  this.timeout(120_000)
  const room = useCaseRoom()
  let proxy: KafkaProxy

  before(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
  })

  after(async () => {
    await proxy.stop()
  })

  it('hold what a timer emits while a batch runs in the same transaction (case 13)', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({
      'timer.mjs': [
        'export const timer = {',
        '  init: ({ forward, schedule }) => {',
        '    let ticks = 0',
        "    schedule({ every: 5, by: 'wallClock' }, () => {",
        '      ticks += 1',
        "      forward({ key: 'tick', value: `tick ${ticks}` })",
        '    })',
        '    return record => { forward(record) }',
        '  },',
        '}',
      ].join('\n'),
    })
    const id = uniqueName('app')
    await room().write(input, numbered(500))
    const process = await room().start({
      id,
      servers: proxy.bootstrapServers,
      streams: { 'commit.interval.ms': 200 },
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { timed: { from: 'in', process: `${folder}/timer.mjs#timer` } },
      sinks: { out: { from: 'timed', topic: `${input}-out` } },
    })
    await process.untilRunning(PATIENCE_MS)
    await room().write(input, numbered(500, 500))
    await room().untilOffsets(id, input, [1_000])
    await room().untilRecords(`${input}-out`, 1_020)
    expect(await process.terminate()).to.deep.equal({ code: 0, signal: null })
    const values = await room().values(`${input}-out`)
    expect(values.filter(value => value?.startsWith('tick') === false)).to.deep.equal(texts(1_000))
    const ticks = values.filter(value => value?.startsWith('tick') === true)
    expect(ticks).to.deep.equal(ticks.map((_, index) => `tick ${String(index + 1)}`))
    expect(process.log.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([])
  })

  it('follow each other in a tight loop, and wait out CONCURRENT_TRANSACTIONS (case 14)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(40))
    const busy = proxy.rule({
      api: 'AddOffsetsToTxn',
      direction: 'response',
      times: 3,
      action: { type: 'rewrite', body: response => ({ ...response, errorCode: 51 }) },
    })
    const folder = await room().folder({
      'each.mjs': [
        'export const each = {',
        '  init: ({ forward, requestCommit }) => record => {',
        '    forward(record)',
        '    requestCommit()',
        '  },',
        '}',
      ].join('\n'),
    })
    const id = uniqueName('app')
    const process = await room().start({
      id,
      servers: proxy.bootstrapServers,
      streams: { 'commit.interval.ms': 1 },
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { each: { from: 'in', process: `${folder}/each.mjs#each` } },
      sinks: { out: { from: 'each', topic: `${input}-out` } },
    })
    await process.untilRunning(PATIENCE_MS)
    for (let from = 40; from < 60; from += 1) await room().write(input, numbered(1, from))
    await room().untilOffsets(id, input, [60])
    busy.remove()
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(60))
    expect(process.log.filter(({ level }) => level === 'error')).to.deep.equal([])
  })

  it('left open by a kill do not hold up a restart (case 15)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(200))
    const application = copyOf(input, { kafka: { 'transaction.timeout.ms': 60_000 } })
    const first = await room().start(application, { env: { MILLRACE_TEST_CRASH_AT: 'produce:allAnswered' } })
    expect((await first.untilExit(PATIENCE_MS)).signal).to.equal('SIGKILL')
    expect(await room().openTransactions(application.id)).to.have.length(1)
    const startedMs = Date.now()
    await room().start(application, { stateDir: first.stateDir })
    await room().untilOffsets(application.id, input, [200])
    expect(Date.now() - startedMs, 'long before the timeout of the transaction').to.be.lessThan(40_000)
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(200))
    expect(await room().openTransactions(application.id)).to.deep.equal([])
  })

  it('hold both output and offsets, or neither, when the offsets are refused once (case 21)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(200))
    const application = copyOf(input, { servers: proxy.bootstrapServers, http: { port: 0 } })
    const refused = proxy.rule({
      api: 'TxnOffsetCommit',
      direction: 'request',
      times: 1,
      action: {
        type: 'answer',
        // INVALID_COMMIT_OFFSET_SIZE: nothing that a retry could cure.
        body: ({ request }) => ({
          throttleTimeMs: 0,
          topics: request.topics.map(({ name = '', partitions }) => ({
            name,

            topicId: Buffer.alloc(16),
            partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: 28 })),
          })),
        }),
      },
    })
    const process = await room().start(application)
    await refused.waitFired(1, PATIENCE_MS)
    await room().untilOffsets(application.id, input, [200])
    refused.remove()
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(200))
    expect(
      (await room().records(`${input}-out`, 'read_uncommitted')).length,
      'the first attempt was aborted',
    ).to.be.greaterThan(200)
    const metric = await metricsOf(process)
    let aborts = 0
    await eventually('the abort counts', async () => (aborts = sum(await metric(/^millrace_aborts_total\{/))) > 0)
    expect(aborts).to.equal(1)
  })

  it('move the offsets where a filter drops everything, and are not made while nothing happens (case 28)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(300))
    const id = uniqueName('app')
    await room().start({
      id,
      servers: proxy.bootstrapServers,
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { none: { from: 'in', filter: 'false' } },
      sinks: { out: { from: 'none', topic: `${input}-out` } },
    })
    await room().untilOffsets(id, input, [300])
    const ends = proxy.count('EndTxn')
    const heartbeats = proxy.count('Heartbeat')
    await eventually('time passes: heartbeats go on', () => proxy.count('Heartbeat') >= heartbeats + 3, PATIENCE_MS)
    expect(proxy.count('EndTxn') - ends, 'transactions of an idle application').to.equal(0)
    await room().write(input, numbered(1))
    await room().untilOffsets(id, input, [301])
    expect(proxy.count('EndTxn') - ends).to.be.greaterThan(0)
    expect(await room().records(`${input}-out`, 'read_uncommitted')).to.deep.equal([])
  })

  it('are committed in the middle of a batch where steps are slow, before they time out (case 31)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(25))
    const folder = await room().folder({
      'slow.mjs': [
        'const cell = new Int32Array(new SharedArrayBuffer(4))',
        'export const slow = value => {',
        '  Atomics.wait(cell, 0, 0, 200)',
        '  return value',
        '}',
      ].join('\n'),
    })
    const id = uniqueName('app')
    const process = await room().start({
      id,
      kafka: { 'transaction.timeout.ms': 3_000 },
      streams: { 'commit.interval.ms': 500 },
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { slow: { from: 'in', value: { module: `${folder}/slow.mjs#slow` }, serdes: { value: 'string' } } },
      sinks: { out: { from: 'slow', topic: `${input}-out` } },
    })
    const seen = new Set<number>()
    await eventually(
      'everything is committed',
      async () => {
        const [offset = 0] = await room().offsets(id, input)
        seen.add(offset)
        return offset === 25
      },
      PATIENCE_MS,
    )
    expect(seen.size, `commits in the middle: ${[...seen].join(', ')}`).to.be.greaterThan(2)
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(25))
    expect((await room().records(`${input}-out`, 'read_uncommitted')).length, 'nothing was aborted').to.equal(25)
    expect(process.log.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([])
  })

  it('of the input do not keep the lag above zero, and aborted ones are invisible (cases 35, 82)', async () => {
    const input = await room().topic('in')
    const writer = await KafkaWriter.open(room().servers, { 'transactional.id': uniqueName('writer') })
    await writer.transaction(input, numbered(5), 'commit')
    await writer.transaction(input, numbered(5, 100), 'abort')
    await writer.transaction(input, numbered(5, 5), 'commit')
    await writer.transaction(input, numbered(1, 100), 'abort')
    await writer.close()
    const application = copyOf(input, { http: { port: 0 } })
    const process = await room().start(application)
    const [end = 0] = (
      await room().admin.listOffsets([{ topic: input, partition: 0 }], 'latest', 'read_committed')
    ).values()
    expect(end, '16 records and 4 markers').to.equal(20)
    await room().untilOffsets(application.id, input, [end])
    expect(await room().values(`${input}-out`)).to.deep.equal(texts(10))
    const metric = await metricsOf(process)
    // The group knows of a commit before the application has its answer.
    await eventually('nothing is left to read', async () => (await metric(/^millrace_lag_readable_records\{/))[0] === 0)
    expect(await metric(/^millrace_lag_blocked_records\{/)).to.deep.equal([0])
  })
})
