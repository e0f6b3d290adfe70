import { expect } from 'chai'
import { openDemoCluster, type DemoCluster } from '../../../src/cli/demo/demo-cluster.ts'
import { orderIdOf } from '../../../src/cli/demo/order-plan.ts'
import { produceOrders } from '../../../src/cli/demo/order-producer.ts'
import { readWholeTopic } from '../../../src/cli/demo/topic-reader.ts'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { freePorts } from '../../../src/local-kafka/ports.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { MillraceProcess } from '../../support/millrace-process.ts'

interface Application {
  readonly id: string
  readonly servers: string
  readonly input: string
  readonly output: string
  /** Further lines below `kafka:`. */
  readonly kafka?: readonly string[]
  /** @default longer than any start takes */
  readonly startupMs?: number
}

function yamlOf({ id, servers, input, output, kafka = [], startupMs = 60_000 }: Application): string {
  return [
    'streams:',
    `  application.id: ${id}`,
    `  startup.timeout.ms: ${String(startupMs)}`,
    'kafka:',
    `  bootstrap.servers: "${servers}"`,
    ...kafka.map(line => `  ${line}`),
    'sources:',
    `  in: { topic: ${input}, key: "string?", value: "string?" }`,
    'sinks:',
    `  out: { from: in, topic: ${output} }`,
    'http: { port: 0 }',
    'logging: { format: json }',
  ].join('\n')
}

describe('millrace run', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  const processes: MillraceProcess[] = []
  let demo: DemoCluster

  before(async () => {
    demo = await openDemoCluster(kafka().bootstrapServers, systemClock)
  })

  after(async () => {
    await demo.cluster.close()
  })

  afterEach(async () => {
    await Promise.all(processes.splice(0).map(process => process.dispose()))
  })

  const start = async (application: Application, args: readonly string[] = []): Promise<MillraceProcess> => {
    const process = await MillraceProcess.start({ yaml: yamlOf(application), args })
    processes.push(process)
    return process
  }

  const aTopic = async (): Promise<string> => {
    const name = uniqueName('in')
    await demo.admin.createTopics([{ name, partitions: 2, replicationFactor: 1, configs: {} }])
    return name
  }

  const anApplication = (input: string): Application => ({
    id: uniqueName('app'),
    servers: kafka().bootstrapServers,
    input,
    output: uniqueName('out'),
  })

  it('is ready when its tasks run, tells what it does, and stops on SIGTERM with 0', async () => {
    const process = await start(anApplication(await aTopic()))
    const line = await process.untilLine('health and metrics are served')
    const { port } = JSON.parse(line) as { port: number }
    const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${String(port)}${path}`)
    await eventually('ready', async () => (await ask('/readyz')).status === 200, 30_000)
    expect((await ask('/livez')).status).to.equal(200)
    expect((await ask('/startupz')).status).to.equal(200)
    const metrics = async (): Promise<string> => (await ask('/metrics')).text()
    const tasks = /^millrace_tasks\{thread="[^"]+",state="running"\} 2$/m
    await eventually('both tasks count', async () => tasks.test(await metrics()))
    // Known with the first answer of a broker to a fetch.
    await eventually('the lag is known', async () => (await metrics()).includes('millrace_lag_readable_records'))
    const info = (await (await ask('/info')).json()) as Record<string, unknown>
    expect(info).to.include({ guarantee: 'exactly_once_v2', threads: 1, state: 'running' })
    expect(info['topology']).to.be.a('string').that.includes('Sub-topology: 0')
    expect(process.log.map(({ msg }) => msg).join('\n')).to.include('isolation.level=read_committed')
    expect(await process.terminate()).to.deep.equal({ code: 0, signal: null })
  })

  it('ends with 78 and names the input topic that does not exist', async () => {
    const application = anApplication(uniqueName('nowhere'))
    const process = await start(application)
    expect((await process.untilExit()).code).to.equal(78)
    expect(process.lines.join('\n')).to.match(new RegExp(`^error: .*${application.input}`, 'm'))
  })

  it('ends with 69 when no broker answers before startup.timeout.ms', async () => {
    const [port = 0] = await freePorts(1)
    const process = await start({ ...anApplication('any'), servers: `127.0.0.1:${String(port)}`, startupMs: 3_000 })
    expect((await process.untilExit()).code).to.equal(69)
    expect(process.lines.join('\n')).to.include('BROKER_UNREACHABLE')
  })

  it('ends with 78 and names both values when the transaction timeout is above the maximum of the broker', async () => {
    const process = await start({ ...anApplication(await aTopic()), kafka: ['transaction.timeout.ms: 1000000'] })
    expect((await process.untilExit()).code).to.equal(78)
    expect(process.lines.join('\n')).to.match(/1000000.*900000/)
  })

  it('ends with 78 and the place of every mistake when the file is wrong', async () => {
    const process = await MillraceProcess.start({
      yaml: 'streams: { application.id: a, comit.interval.ms: 5 }\nsource: {}',
    })
    processes.push(process)
    expect((await process.untilExit()).code).to.equal(78)
    const text = process.lines.join('\n')
    expect(text).to.match(/app\.yaml:1:\d+ .*comit\.interval\.ms/)
    expect(text).to.match(/app\.yaml:2:\d+ .*source/)
    expect(text).to.match(/Nothing was started/)
  })

  it('copies what was committed, and nothing of aborted transactions', async () => {
    const application = anApplication(await aTopic())
    const order = { shop: 's', customer: 'c', status: 'paid', cents: 1, poison: undefined } as const
    const plan = [
      { aborted: true, orders: [{ ...order, id: 'o1' }] },
      { aborted: false, orders: [{ ...order, id: 'o2' }] },
    ]
    const target = { topic: application.input, partitions: 2, transactionalId: uniqueName('producer') }
    await produceOrders(demo, target, plan, () => true)
    await start(application)
    const copied = async (): Promise<readonly string[]> => {
      if ((await demo.cluster.topic(application.output)) === undefined) return []
      const { records } = await readWholeTopic(demo, application.output)
      return records.map(({ key, value }) => orderIdOf(key, value) ?? '').toSorted()
    }
    await eventually('the record is copied', async () => (await copied()).includes('o2'), 30_000)
    // Once these are through, on both partitions, so is everything before them.
    const later = Array.from({ length: 16 }, (_, index) => `o${String(index + 10)}`)
    await produceOrders(demo, target, [{ aborted: false, orders: later.map(id => ({ ...order, id })) }], () => true)
    await eventually('what came behind is copied', async () => isSubset(later, await copied()), 30_000)
    expect(await copied()).to.deep.equal(['o2', ...later].toSorted())
  })
})

describe('millrace run against a secured broker', function () {
  this.timeout(120_000)
  const kafka = useBroker('secure')

  it('ends with 77 and names mechanism and user, never the password, when the credentials are wrong', async () => {
    const process = await MillraceProcess.start({
      yaml: yamlOf({
        id: uniqueName('app'),
        servers: kafka().bootstrapServers,
        input: 'any',
        output: 'other',
        kafka: [
          'security.protocol: SASL_SSL',
          'sasl.mechanism: SCRAM-SHA-512',
          `sasl.username: ${LOCAL_USERS.application.username}`,
          'sasl.password: ${WRONG_PASSWORD}',
          `ssl.ca: ${JSON.stringify(kafka().ca)}`,
        ],
      }),
      env: { WRONG_PASSWORD: 'not-the-password' },
    })
    try {
      expect((await process.untilExit()).code).to.equal(77)
      const text = process.lines.join('\n')
      expect(text).to.include('SCRAM-SHA-512').and.to.include(LOCAL_USERS.application.username)
      expect(text).not.to.include('not-the-password')
    } finally {
      await process.dispose()
    }
  })
})

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every(member => all.includes(member))
}
