import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { CommandCapture } from '../../support/command-capture.ts'
import { leaveHanging } from '../../support/hanging-transaction.ts'
import { kafkaTool } from '../../support/java-libraries.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const HOUR_MS = 3_600_000

/** A row of a table of Kafka's tool, by the names of its head. */
type ToolRow = Readonly<Record<string, string | undefined>>

/** Runs a command of ours in this process. */
async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = new CommandCapture()
  const code = await runCommandLine(argv, { version: '0', commands: COMMANDS }, io)
  return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') }
}

async function json(...argv: string[]): Promise<{ code: number; report: unknown }> {
  const { code, out, err } = await run(...argv, '--format', 'json')
  expect(out, err).not.to.equal('')
  return { code, report: JSON.parse(out) }
}

async function listed(...argv: string[]): Promise<Listed['transactions']> {
  return ((await json('txn', 'list', ...argv)).report as Listed).transactions
}

async function hanging(...argv: string[]): Promise<{ code: number; report: Hanging }> {
  const { code, report } = await json('txn', 'find-hanging', ...argv)
  return { code, report: report as Hanging }
}

function listedRow(row: ToolRow): unknown[] {
  return [row['TransactionalId'], row['Coordinator'], row['ProducerId'], row['TransactionState']]
}

interface Listed {
  readonly transactions: readonly (Readonly<Record<string, unknown>> & { readonly transactionalId: string })[]
}

interface Hanging {
  readonly partitions: number
  readonly found: readonly (Readonly<Record<string, unknown>> & { readonly topic: string })[]
}

describe('commands on transactions', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let admin: Admin
  let cluster: Cluster
  let folder = ''
  const writers: KafkaWriter[] = []

  before(async () => {
    ;({ admin, cluster } = await adminOf(kafka()))
    folder = await mkdtemp(join(tmpdir(), 'millrace-txn-'))
  })

  afterEach(async () => {
    await Promise.all(writers.splice(0).map(writer => writer.close()))
  })

  after(async () => {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  })

  const servers = (): string[] => ['--bootstrap-server', kafka().bootstrapServers]

  /** One of Kafka's own commands on transactions, its table by columns. */
  async function tool(...args: string[]): Promise<ToolRow[]> {
    const { exitCode, output } = await kafkaTool('org.apache.kafka.tools.TransactionsCommand', [...servers(), ...args])
    expect(exitCode, output).to.equal(0)
    const [head = [], ...rows] = output
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => line.trim().split(/\s*\t\s*|\s{2,}|\s+/))
    return rows.map(row => Object.fromEntries(head.map((name, index) => [name, row[index]])))
  }

  async function newTopic(partitions = 2): Promise<string> {
    const name = uniqueName('txn')
    await admin.createTopics([{ name, partitions, replicationFactor: 1, configs: {} }])
    return name
  }

  /** A producer with a transaction open on the partition. */
  async function openOn(topic: string, partition: number, transactionalId = uniqueName('writer')): Promise<string> {
    const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': transactionalId })
    writers.push(writer)
    await writer.begin()
    await writer.write(topic, [{ partition, value: 'open' }])
    return transactionalId
  }

  /** The file of an application that reads and writes the topic. */
  async function fileOf(id: string, topic: string): Promise<string> {
    const file = join(folder, `${id}.yaml`)
    await writeFile(
      file,
      JSON.stringify({
        streams: { 'application.id': id, 'state.dir': folder },
        kafka: { 'bootstrap.servers': kafka().bootstrapServers },
        sources: { in: { topic, key: 'string?', value: 'string' } },
        sinks: { out: { from: 'in', topic: `${topic}-out` } },
      }),
    )
    return file
  }

  it("list shows what Kafka's own tool shows, and which are whose", async () => {
    const topic = await newTopic()
    const id = uniqueName('app')
    const [own, foreign] = [`${id}-host-1`, uniqueName('foreign')]
    await openOn(topic, 0, own)
    await openOn(topic, 1, foreign)
    const [all, theirs] = await Promise.all([listed(...servers()), tool('list')])
    const wanted = theirs.filter(({ TransactionalId }) => [own, foreign].includes(TransactionalId ?? '')).map(listedRow)
    const ours = all
      .filter(({ transactionalId }) => [own, foreign].includes(transactionalId))
      .map(row => [row.transactionalId, String(row['coordinator']), String(row['producerId']), row['state']])
    expect(wanted).to.have.length(2)
    expect(ours).to.have.deep.members(wanted)

    const file = await fileOf(id, topic)
    const mine = await listed('--application', file)
    expect(mine.map(({ transactionalId }) => transactionalId)).to.deep.equal([own])
    expect(mine[0]).to.deep.include({
      state: 'Ongoing',
      application: id,
      instance: 'host-1',
      partitions: [{ topic, partition: 0 }],
    })
    const text = await run('txn', 'list', file, '--prefix', foreign, '--state', 'Ongoing')
    expect(text.code).to.equal(0)
    expect(text.out.split('\n')).to.have.length(2)
    expect(text.out).to.match(new RegExp(`^${foreign} .*Ongoing +\\d+\\.\\ds `, 'm'))
    expect((await run('txn', 'list', file, '--state', 'Empty')).out).to.equal('No transactional ids.')
  })

  it('list tells of a transaction that is over no age, though the broker still knows when it began', async () => {
    const id = await openOn(await newTopic(), 0)
    await writers.at(-1)?.commit()
    const description = (await admin.describeTransactions([id])).get(id)
    expect(description?.startedAtMs).to.be.greaterThan(0)
    const row = (await listed(...servers())).find(({ transactionalId }) => transactionalId === id)
    expect(row).to.deep.include({ state: 'CompleteCommit', ageMs: null })
  })

  it("describe shows what Kafka's own tool shows, and where readers are held up", async () => {
    const topic = await newTopic()
    const id = await openOn(topic, 1)
    const [theirs] = await tool('describe', '--transactional-id', id)
    const { report } = await json('txn', 'describe', id, ...servers())
    expect(report).to.deep.include({
      transactionalId: id,
      state: theirs?.['TransactionState'],
      producerId: Number(theirs?.['ProducerId']),
      producerEpoch: Number(theirs?.['ProducerEpoch']),
      timeoutMs: Number(theirs?.['TransactionTimeoutMs']),
      startedAtMs: Number(theirs?.['CurrentTransactionStartTimeMs']),
      partitions: [{ topic, partition: 1 }],
      owner: null,
    })
    expect(theirs?.['TopicPartitions']).to.equal(`${topic}-1`)
    const text = await run('txn', 'describe', id, ...servers())
    expect(text.out)
      .to.match(/^state +Ongoing$/m)
      .and.to.match(new RegExp(`^${topic} +1 +0 +0 +1$`, 'm'))

    const unknown = await run('txn', 'describe', 'no-such-id', ...servers())
    expect(unknown.code).to.equal(78)
    expect(unknown.err).to.include('knows no transactional id no-such-id')
  })

  it("find-hanging finds what Kafka's own tool finds, and abort ends it so that readers go on", async () => {
    const topic = await newTopic()
    const transactionalId = uniqueName('hanging')
    const place = { topic, partition: 0 }
    const left = await leaveHanging({ admin, cluster }, place, transactionalId, Date.now() - HOUR_MS)
    const after = await KafkaWriter.open(kafka().bootstrapServers)
    await after.write(topic, [{ partition: 0, value: 'behind' }])
    expect(await readTopic(kafka().bootstrapServers, topic)).to.deep.equal([])

    const [theirs, ...more] = await tool('find-hanging', '--topic', topic)
    expect(more).to.deep.equal([])
    const { code, report } = await hanging(...servers(), '--topic', topic)
    expect(code, 'something was found').to.equal(1)
    expect(report.found).to.have.length(1)
    expect(report.found[0]).to.deep.include({
      topic: theirs?.['Topic'],
      partition: Number(theirs?.['Partition']),
      producerId: Number(theirs?.['ProducerId']),
      producerEpoch: Number(theirs?.['ProducerEpoch']),
      startOffset: Number(theirs?.['StartOffset']),
      lastTimestampMs: Number(theirs?.['LastTimestamp']),
      hanging: true,
      lastStableOffset: left.startOffset,
      heldRecords: 2,
    })
    const text = await run('txn', 'find-hanging', ...servers(), '--topic', topic, '--partition', '0')
    expect(text.out).to.match(/read_committed readers are held at offset 0 for 1h 0m or longer; 2 records wait/)
    const command = /millrace (txn abort .*)$/m.exec(text.out)?.[1] ?? ''
    const abort = [...command.split(' '), ...servers()]

    const dry = await run(...abort)
    expect(dry.code, dry.err).to.equal(0)
    expect(dry.out).to.include('Nothing was changed')
    expect(await admin.openTransactions([place])).to.have.length(1)
    const done = await run(...abort, '--execute')
    expect(done.code, done.err).to.equal(0)
    expect(done.out).to.include('Readers get to offset 3 now')
    expect(await tool('find-hanging', '--topic', topic)).to.deep.equal([])
    expect((await run('txn', 'find-hanging', ...servers(), '--topic', topic)).code).to.equal(0)
    const values = (await readTopic(kafka().bootstrapServers, topic)).map(({ value }) => value?.toString())
    expect(values).to.deep.equal(['behind'])
    const again = await run(...abort)
    expect(again.code).to.equal(78)
    expect(again.err).to.include('No transaction is open from offset 0 on')
  })

  it('find-hanging shows one that is open for long, and abort ends it by its id alone', async () => {
    const topic = await newTopic()
    const id = uniqueName('app')
    const file = await fileOf(id, topic)
    const own = await openOn(topic, 0, `${id}-host-1`)
    expect((await run('txn', 'find-hanging', file)).code, 'younger than 15 minutes').to.equal(0)
    const { code, report } = await hanging(file, '--max-age', '0s')
    expect(code).to.equal(1)
    expect(report.partitions, 'input and the offsets of the group').to.equal(3)
    expect(report.found).to.have.length(1)
    expect(report.found[0]).to.deep.include({ topic, partition: 0, hanging: false, transactionalId: own })

    const torn = await run('txn', 'abort', file, '--topic', topic, '--partition', '0', '--start-offset', '0')
    expect(torn.code).to.equal(78)
    expect(torn.err).to.include(`millrace txn abort --transactional-id ${own}`)

    const dry = await run('txn', 'abort', file, '--transactional-id', own)
    expect(dry.out).to.include('Nothing was changed').and.to.include('Its producer is fenced')
    expect(await admin.openTransactions([{ topic, partition: 0 }])).to.have.length(1)
    const done = await run('txn', 'abort', file, '--transactional-id', own, '--execute')
    expect(done.code, done.err).to.equal(0)
    expect(await admin.openTransactions([{ topic, partition: 0 }])).to.deep.equal([])
    const again = await run('txn', 'abort', file, '--transactional-id', own, '--execute')
    expect(again.out).to.include('Nothing to abort')
  })

  it('need a cluster, and say what else is missing', async () => {
    expect((await run('txn')).code).to.equal(2)
    expect((await run('txn', 'list')).err).to.include('Name the YAML file of an application, or --bootstrap-server')
    expect((await run('txn', 'abort', ...servers())).code).to.equal(2)
    expect((await run('txn', 'find-hanging', ...servers(), '--partition', '1')).code).to.equal(2)
    expect((await run('txn', 'find-hanging', ...servers(), '--max-age', 'long')).code).to.equal(2)
    const missing = await run('txn', 'find-hanging', ...servers(), '--topic', uniqueName('missing'))
    expect(missing.code).to.equal(78)
  })
})
