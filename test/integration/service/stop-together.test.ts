import { expect } from 'chai'
import { MillraceStreams, type MillraceStreamsOptions } from '../../../src/index.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { createTopic } from '../../support/test-cluster.ts'
import { numbered, PATIENCE_MS, useCaseRoom } from '../cases/case-room.ts'

const MODULE = new URL('../../support/programs/poison-topology.js', import.meta.url)
const PARTITIONS = 4
const RECORDS = 40

async function inline(input: string): Promise<MillraceStreamsOptions['topology']> {
  // A module is evaluated once: each test has another input.
  const module = (await import(`${MODULE.href}?${input}`)) as { default: MillraceStreamsOptions['topology'] }
  return module.default
}

describe('instances that stop', function () {
  this.timeout(180_000)
  const room = useCaseRoom()
  const instances: MillraceStreams[] = []

  afterEach(async () => {
    delete process.env['POISON_INPUT']
    await Promise.all(instances.splice(0).map(instance => instance.close({ timeout: '1s' })))
  })

  async function anInput(): Promise<string> {
    const input = await room().topic('in', PARTITIONS)
    await createTopic(room().admin, `${input}-out`, { partitions: PARTITIONS })
    // Workers take over the environment they are started in.
    process.env['POISON_INPUT'] = input
    return input
  }

  async function start(
    id: string,
    topology: MillraceStreamsOptions['topology'],
    { servers = room().servers, threads = 1 }: { readonly servers?: string; readonly threads?: number } = {},
  ): Promise<MillraceStreams> {
    const instance = new MillraceStreams({
      topology,
      config: {
        streams: {
          'application.id': id,
          'commit.interval.ms': 50,
          'num.stream.threads': threads,
          'state.dir': await room().folder(),
        },
        kafka: { 'bootstrap.servers': servers },
        logging: { level: 'silent' },
      },
    })
    instances.push(instance)
    await instance.start()
    return instance
  }

  it('stop together where the handler of one chooses shutdownApplication', async () => {
    const input = await anInput()
    const id = uniqueName('app')
    const all = [
      await start(id, MODULE, { threads: 2 }),
      await start(id, await inline(input)),
      await start(id, await inline(input)),
    ]
    const asked: MillraceStreams[] = []
    for (const instance of all) {
      instance.onError(() => {
        asked.push(instance)
        return 'shutdownApplication'
      })
    }
    await room().write(input, numbered(RECORDS))
    await room().untilRecords(`${input}-out`, RECORDS)
    await eventually('all of them run', () => all.every(({ state }) => state === 'running'), PATIENCE_MS)
    const closed = all.map(async instance => await rejectionOf(instance.closed))
    await room().write(input, [{ key: 'any', value: 'poison' }])

    const codes = (await Promise.all(closed)).map(({ code }) => code)
    expect(asked, 'only the one that failed is asked').to.have.length(1)
    const expected = all.map(instance => (asked.includes(instance) ? 'PROCESSING_FAILED' : 'SHUTDOWN_REQUESTED'))
    expect(codes).to.deep.equal(expected)
    expect(all.map(({ state }) => state)).to.deep.equal(['failed', 'failed', 'failed'])
    expect(await room().openTransactions(id)).to.deep.equal([])
    expect(await room().records(`${input}-out`)).to.have.length(RECORDS)
  })

  it('end in time on the thread of the caller too, while they wait for a broker', async () => {
    const input = await anInput()
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      const instance = await start(uniqueName('app'), await inline(input), { servers: proxy.bootstrapServers })
      const held = proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'hold' } })
      await room().write(input, numbered(1))
      await held.waitHeld(1, PATIENCE_MS)
      const startedMs = performance.now()
      await instance.close({ timeout: '1s' })
      // The request itself may take 30 s.
      expect(performance.now() - startedMs).to.be.lessThan(15_000)
      await instance.closed
      expect(instance.state).to.equal('closed')
      expect(await room().records(`${input}-out`)).to.deep.equal([])
    } finally {
      await proxy.stop()
    }
  })
})
