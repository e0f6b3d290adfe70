import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { openDemoCluster, type DemoCluster } from '../../../src/cli/demo/demo-cluster.ts'
import { produceOrders } from '../../../src/cli/demo/order-producer.ts'
import { planOrders } from '../../../src/cli/demo/order-plan.ts'
import { seededRandom } from '../../../src/cli/demo/seeded-random.ts'
import { untilNoLag } from '../../../src/cli/demo/cluster-check.ts'
import { readWholeTopic } from '../../../src/cli/demo/topic-reader.ts'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { LOCAL_USERS } from '../../../src/local-kafka/options.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { MillraceProcess } from '../../support/millrace-process.ts'
import { untilMarked } from '../../support/transaction-markers.ts'

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new CommandCapture()
  const code = await runCommandLine(argv, { version: '0', commands: COMMANDS }, io)
  return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') }
}

describe('commands on a cluster', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let demo: DemoCluster
  let folder = ''
  let id = ''
  let yaml = ''

  before(async () => {
    demo = await openDemoCluster(kafka().bootstrapServers, systemClock)
  })

  after(async () => {
    await demo.cluster.close()
  })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
    id = uniqueName('counting')
    yaml = [
      'streams:',
      `  application.id: ${id}`,
      `  state.dir: ${join(folder, 'state')}`,
      '  commit.interval.ms: 50',
      `kafka: { bootstrap.servers: "${kafka().bootstrapServers}" }`,
      `sources: { in: { topic: ${id}-in, key: string } }`,
      'steps: { counts: { from: in, count: {} } }',
      `sinks: { out: { from: counts, topic: ${id}-out } }`,
      'http: false',
      'logging: { format: json }',
    ].join('\n')
    await writeFile(join(folder, 'app.yaml'), yaml)
  })

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  const app = (): string => join(folder, 'app.yaml')
  const createInput = (partitions: number): Promise<void> =>
    demo.admin.createTopics([{ name: `${id}-in`, partitions, replicationFactor: 1, configs: {} }])

  it('topics shows what is missing without a change, then creates it with the right counts and policies', async () => {
    await createInput(3)
    const dry = await run('topics', app(), '--dry-run')
    expect(dry.code, dry.err).to.equal(0)
    expect(dry.out).to.match(
      new RegExp(`${id}-counts-changelog +changelog +3 +would be created +.*cleanup.policy=compact`),
    )
    expect(await demo.cluster.topic(`${id}-out`)).to.equal(undefined)
    expect((await run('topics', app())).code).to.equal(0)
    await demo.cluster.refresh([`${id}-out`])
    expect((await demo.cluster.topic(`${id}-out`))?.partitions).to.have.length(3)
    const configs = await demo.admin.describeTopicConfigs([`${id}-counts-changelog`])
    expect(configs.get(`${id}-counts-changelog`)?.get('cleanup.policy')).to.equal('compact')
  })

  it('check goes on after a finding and ends with its exit code', async () => {
    const missing = await run('check', app())
    expect(missing.code).to.equal(78)
    expect(missing.out).to.match(/ok +transactions: transaction.version 2/)
    expect(missing.out).to.match(new RegExp(`FAIL +topics: .*${id}-in`))
    await createInput(2)
    const good = await run('check', app())
    expect(good.code, good.out).to.equal(0)
    expect(good.out).to.match(new RegExp(`${id}-in +input +2 +exists`))
    expect(await demo.cluster.topic(`${id}-out`)).to.equal(undefined)
  })

  it('reset refuses while the application runs, shows its plan, and starts over only with --execute', async () => {
    await createInput(2)
    const plan = planOrders({ random: seededRandom(5), records: 60 })
    const target = { topic: `${id}-in`, partitions: 2, transactionalId: uniqueName('producer') }
    await produceOrders(demo, target, plan, () => true)
    const inputs = [0, 1].map(partition => ({ topic: `${id}-in`, partition }))
    const outputs = async (): Promise<number> => (await readWholeTopic(demo, `${id}-out`)).records.length
    const stateArgs = ['--set', `streams.state.dir=${join(folder, 'state')}`]

    const first = await MillraceProcess.start({ yaml, args: stateArgs })
    try {
      await first.untilRunning()
      expect(await untilNoLag(demo, id, inputs, 30_000)).to.deep.equal([])
      const refused = await run('reset', app(), '--execute')
      expect(refused.code).to.equal(78)
      expect(refused.err).to.include('Stop every instance first')
    } finally {
      await first.terminate()
      await first.dispose()
    }
    // The offsets of the last transaction may have shown before its records.
    await untilMarked(demo.admin, `${id}-`)
    const before = await outputs()
    expect(before).to.equal(60)

    const shown = await run('reset', app())
    expect(shown.code, shown.err).to.equal(0)
    expect(shown.out).to.include(`${id}-counts-changelog`).and.to.include('Nothing was changed')
    expect((await demo.admin.committedOffsets(id, inputs)).size).to.equal(2)

    expect((await run('reset', app(), '--execute')).code).to.equal(0)
    for (const { offset } of (await demo.admin.committedOffsets(id, inputs)).values()) expect(offset).to.equal(0)

    const second = await MillraceProcess.start({ yaml, args: stateArgs })
    try {
      await eventually('all input is counted again, from one on', async () => (await outputs()) === 2 * before)
    } finally {
      await second.terminate()
      await second.dispose()
    }
    const { records } = await readWholeTopic(demo, `${id}-out`)
    const ones = records.filter(({ value }) => value?.readBigInt64BE() === 1n).map(({ key }) => key?.toString())
    expect(ones).to.have.length(2 * new Set(ones).size)
  })

  it('reset aborts what the application left open, and lets another whose name begins alike go on', async () => {
    await createInput(1)
    await demo.admin.createTopics([{ name: `${id}-open`, partitions: 1, replicationFactor: 1, configs: {} }])
    const start = new TopicPartitionMap([
      [
        { topic: `${id}-in`, partition: 0 },
        { offset: 0, leaderEpoch: -1, metadata: '' },
      ] as const,
    ])
    await demo.admin.alterGroupOffsets(`${id}-eu`, start)
    const openFor = async (transactionalId: string): Promise<KafkaWriter> => {
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': transactionalId })
      await writer.begin()
      await writer.write(`${id}-open`, [{ value: transactionalId }])
      return writer
    }
    const own = await openFor(`${id}-host-1`)
    const other = await openFor(`${id}-eu-host-1`)

    const { code, out, err } = await run('reset', app(), '--execute')
    expect(code, err).to.equal(0)
    expect(out).to.include(`${id}-host-1`).and.not.to.include(`${id}-eu-host-1`)
    await other.commit()
    const { records } = await readWholeTopic(demo, `${id}-open`)
    expect(records.map(({ value }) => value?.toString())).to.deep.equal([`${id}-eu-host-1`])
    await Promise.all([own.close(), other.close()])
  })
})

describe('check by a user with few rights', function () {
  this.timeout(120_000)
  const kafka = useBroker('secure')

  it('does not take a configuration that it may not read for a fault', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
    try {
      const id = uniqueName('few-rights')
      const { username, password } = LOCAL_USERS.application
      const config = {
        streams: { 'application.id': id, 'state.dir': folder },
        kafka: {
          'bootstrap.servers': kafka().bootstrapServers,
          'security.protocol': 'SASL_SSL',
          'sasl.mechanism': 'SCRAM-SHA-512',
          'sasl.username': username,
          'sasl.password': password,
          'ssl.ca': kafka().ca,
        },
        sources: { in: { topic: `${id}-in` } },
        sinks: { out: { from: 'in', topic: `${id}-out` } },
      }
      await writeFile(join(folder, 'app.yaml'), JSON.stringify(config))
      const { code, out } = await run('check', join(folder, 'app.yaml'))
      expect(out).to.match(/ok +transactions: .*may not read transaction.max.timeout.ms/)
      expect(out).to.match(/FAIL +topics: /)
      expect(code).to.equal(77)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('commands on transactions of a secured cluster', function () {
  this.timeout(120_000)
  const kafka = useBroker('secure')

  it("go in with the properties that Kafka's own tools take, and without them only say that they cannot", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
    try {
      const { username, password } = LOCAL_USERS.admin
      const properties = join(folder, 'client.properties')
      const text = [
        'security.protocol=SASL_SSL',
        'sasl.mechanism=SCRAM-SHA-512',
        'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\',
        `  username="${username}" password="${password}";`,
        'ssl.truststore.type=PEM',
        `ssl.truststore.location=${join(folder, 'ca.pem')}`,
        'request.timeout.ms=20000',
      ]
      await writeFile(join(folder, 'ca.pem'), kafka().ca ?? '')
      await writeFile(properties, text.join('\n'))
      const transactionalId = uniqueName('secured')
      const writer = await KafkaWriter.open(kafka().internalBootstrapServers, { 'transactional.id': transactionalId })
      await writer.begin()
      await writer.abort()
      await writer.close()

      const place = ['--bootstrap-server', kafka().bootstrapServers, '--command-config', properties]
      const listed = await run('txn', 'list', ...place)
      expect(listed.code, listed.err).to.equal(0)
      expect(listed.out).to.include(transactionalId)
      const wrong = join(folder, 'wrong.properties')
      await writeFile(wrong, text.join('\n').replace(password, 'not-this-one'))
      const refused = await run('txn', 'list', ...place.slice(0, 2), '--command-config', wrong)
      expect(refused.code).to.equal(77)
      expect(refused.out + refused.err).not.to.include('not-this-one')
      expect((await run('txn', 'list', '--command-config', properties)).code).to.equal(2)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
