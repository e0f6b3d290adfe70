import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import type { Connection } from '../../../src/kafka/connection/connection.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { sharedJavaClient } from '../../support/java-client.ts'
import { type FiredEntry, firedLog, KafkaProxy } from '../../support/kafka-proxy.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { readTopicInProcess } from '../../support/kafka-reader.ts'
import { connectCluster, createTopic } from '../../support/test-cluster.ts'

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    return error instanceof MillraceError ? error.code : String(error)
  }
}

describe('the protocol proxy', function () {
  this.timeout(60_000)
  const kafka = useBroker('tv2')
  let proxy: KafkaProxy
  let direct: Cluster
  let admin: Admin
  let behind: Cluster
  let connection: Connection

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    const outside = await connectCluster(kafka().bootstrapServers)
    direct = outside.cluster
    admin = outside.admin
    behind = (await connectCluster(proxy.bootstrapServers)).cluster
    connection = await behind.anyConnection('control')
  })

  afterEach(async () => {
    await behind.close()
    await direct.close()
    await proxy.stop()
    expect(proxy.failures).to.deep.equal([])
  })

  async function exists(topic: string): Promise<boolean> {
    return (await admin.listTopics()).some(({ name }) => name === topic)
  }

  async function create(topic: string, timeoutMs = 15_000): Promise<number | undefined> {
    const topics = [{ name: topic, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }]
    const response = await connection.send('CreateTopics', { topics, timeoutMs: 10_000 }, { timeoutMs })
    return response.topics[0]?.errorCode
  }

  it('leads a client to itself, whatever names the brokers', async () => {
    const nodeId = await behind.coordinator('group', uniqueName('g'))

    const ports = [...behind.brokers.values()].map(({ port }) => `127.0.0.1:${String(port)}`)
    expect(ports.join(',')).to.equal(proxy.bootstrapServers)
    expect(behind.brokers.has(nodeId)).to.equal(true)
    expect(proxy.bootstrapServers).not.to.equal(kafka().bootstrapServers)
  })

  it('lets the Java client write, commit and read through it', async () => {
    const topic = uniqueName('proxied')
    await createTopic(admin, topic, { partitions: 2 })
    const client = await sharedJavaClient(proxy.bootstrapServers)
    const writer = `transactional.id=${uniqueName('t')}`
    await client.command(['begin', writer])
    await client.command(['write', writer, topic, '1'], ['0\t-1\t6b\t76'])
    await client.command(['commit', writer])
    const lines = await client.command(['read', topic, 'read_committed', '10000'])
    await client.command(['close', writer])

    expect(lines).to.have.length(1)
    expect(proxy.count('EndTxn')).to.equal(1)
    expect(proxy.count('Produce', 'response')).to.equal(1)
  })

  it('delivers a held request when it is released, though its client is long gone', async () => {
    const topic = uniqueName('late')
    const rule = proxy.rule({ api: 'CreateTopics', direction: 'request', action: { type: 'hold' }, nth: 1 })
    const failure = codeOf(create(topic, 1_000))
    await rule.waitHeld()
    expect(await failure).to.equal('REQUEST_TIMED_OUT')
    expect(connection.closed).to.equal(true)
    expect(await exists(topic)).to.equal(false)
    rule.release()

    expect((await rule.fired[0]?.answered)?.topics[0]?.errorCode).to.equal(0)
    await eventually('the topic exists', () => exists(topic))
  })

  it('loses a held request when it is dropped', async () => {
    const topic = uniqueName('lost')
    const rule = proxy.rule({ api: 'CreateTopics', direction: 'request', action: { type: 'hold' } })
    const failure = codeOf(create(topic, 1_000))
    await rule.waitHeld()
    rule.drop()

    expect(await failure).to.equal('REQUEST_TIMED_OUT')
    expect(await exists(topic)).to.equal(false)
  })

  it('loses a response: the broker did it, the client does not know', async () => {
    const topic = uniqueName('unsure')
    const rule = proxy.rule({ api: 'CreateTopics', direction: 'response', action: { type: 'drop' } })

    expect(await codeOf(create(topic, 1_000))).to.equal('REQUEST_TIMED_OUT')
    await rule.waitFired()
    await eventually('the topic exists', () => exists(topic))
  })

  it('resets both ends, once, at the nth match', async () => {
    proxy.rule({ api: 'CreateTopics', direction: 'response', action: { type: 'reset' }, nth: 2 })
    expect(await create(uniqueName('first'))).to.equal(0)

    expect(await codeOf(create(uniqueName('second')))).to.equal('CONNECTION_LOST')
    connection = await behind.anyConnection('control')
    expect(await create(uniqueName('third'))).to.equal(0)
  })

  it('sends a request twice and passes on one answer', async () => {
    const topic = uniqueName('twice')
    proxy.rule({ api: 'CreateTopics', direction: 'request', action: { type: 'duplicate' }, times: 1 })

    expect(await create(topic)).to.equal(0)
    expect(await create(topic), 'answers are in step again').to.equal(36)
  })

  it('answers in the place of the broker, in its turn', async () => {
    const topic = uniqueName('forged')
    const rule = proxy.rule({
      api: 'FindCoordinator',
      direction: 'request',
      times: 2,
      action: {
        type: 'answer',
        body: ({ request }) => ({
          throttleTimeMs: 0,
          // Of versions before 4, and empty in ours.
          errorCode: 0,
          errorMessage: null,
          nodeId: 0,
          host: '',
          port: 0,
          coordinators: request.coordinatorKeys.map(key => ({
            key,
            nodeId: -1,
            host: '',
            port: -1,
            errorCode: 15,
            errorMessage: null,
          })),
        }),
      },
    })
    const nodeId = await behind.coordinator('group', topic)

    expect(nodeId).to.equal(1)
    expect(rule.fired).to.have.length(2)
    expect(proxy.count('FindCoordinator')).to.equal(3)
    expect(proxy.count('FindCoordinator', 'response')).to.equal(1)
  })

  it('changes a response', async () => {
    proxy.rule({
      api: 'CreateTopics',
      direction: 'response',
      action: {
        type: 'rewrite',
        body: response => ({ ...response, topics: response.topics.map(topic => ({ ...topic, errorCode: 7 })) }),
      },
    })

    expect(await create(uniqueName('rewritten'))).to.equal(7)
  })

  it('refuses a request with an error code, in the words of each request', async () => {
    const id = uniqueName('t')
    const nodeId = await behind.coordinator('transaction', id)
    const coordinator = await behind.connection(nodeId, 'coordinator')
    proxy.rule({ api: '*', direction: 'request', action: { type: 'error', code: 51 }, clientId: 'test' })
    const transaction = { transactionalId: id, producerId: 1, producerEpoch: 0 }
    const start = { transactionalId: id, transactionTimeoutMs: 5_000, producerId: -1, producerEpoch: -1 }
    const offsets = [{ name: 'a', partitions: [{ partitionIndex: 3, committedOffset: 4, committedMetadata: null }] }]

    expect((await coordinator.send('InitProducerId', start)).errorCode).to.equal(51)
    expect((await coordinator.send('EndTxn', { ...transaction, committed: true })).errorCode).to.equal(51)
    const committed = await coordinator.send('TxnOffsetCommit', { ...transaction, groupId: id, topics: offsets })
    expect(committed.topics[0]?.partitions).to.deep.equal([{ partitionIndex: 3, errorCode: 51 }])
    for (const api of ['InitProducerId', 'EndTxn', 'TxnOffsetCommit'] as const) {
      expect(proxy.count(api, 'response'), 'answers of the broker').to.equal(0)
    }
  })

  it('tells that a request failed which the broker has done', async () => {
    const topic = uniqueName('denied')
    proxy.rule({ api: 'CreateTopics', direction: 'response', action: { type: 'error', code: 7 }, times: 1 })

    expect(await create(topic)).to.equal(7)
    // The controller answers before the brokers know the topic.
    await eventually('the topic exists', () => exists(topic))
  })

  it('stops and continues a process when a frame comes by', async () => {
    const child = spawn('sleep', ['30'])
    const { pid } = child
    if (pid === undefined) throw new Error('no process')
    const stateOf = (): string | undefined =>
      /^State:\s+(\S)/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]
    try {
      proxy.rule({
        api: 'CreateTopics',
        direction: 'request',
        nth: 1,
        action: { type: 'signal', pid, signal: 'SIGSTOP' },
      })
      proxy.rule({
        api: 'CreateTopics',
        direction: 'request',
        nth: 1,
        action: { type: 'signal', pid, signal: 'SIGCONT' },
      })
      await create(uniqueName('stops'))
      await eventually('it is stopped', () => stateOf() === 'T')
      await create(uniqueName('continues'))
      await eventually('it runs', () => stateOf() === 'S')
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('keeps a record of what fired', async () => {
    const file = join(tmpdir(), `${uniqueName('fired')}.ndjson`)
    const recorded = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers, record: firedLog(file) })
    const client = await connectCluster(recorded.bootstrapServers, { clientId: 'recorded' })
    try {
      recorded.rule({
        name: 'slow start',
        api: 'InitProducerId',
        direction: 'response',
        action: [
          { type: 'delay', ms: 1 },
          { type: 'slice', bytes: 5 },
        ],
      })
      const id = uniqueName('t')
      const coordinator = await client.cluster.connection(
        await client.cluster.coordinator('transaction', id),
        'coordinator',
      )
      await coordinator.send('InitProducerId', {
        transactionalId: id,
        transactionTimeoutMs: 5_000,
        producerId: -1,
        producerEpoch: -1,
      })

      const entries = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as FiredEntry)
      expect(entries).to.have.lengthOf(1)
      expect(entries[0]).to.deep.include({
        rule: 'slow start',
        api: 'InitProducerId',
        direction: 'response',
        actions: ['delay', 'slice'],
        nodeId: 1,
        clientId: 'recorded',
        transactionalId: id,
      })
      expect(entries[0]?.at).to.be.closeTo(Date.now(), 20_000)
    } finally {
      await client.cluster.close()
      await recorded.stop()
      rmSync(file, { force: true })
    }
  })

  it('delays, cuts into pieces and slows down without changing a byte', async () => {
    const topic = uniqueName('pieces')
    proxy.rule({
      api: 'CreateTopics',
      direction: 'request',
      action: [
        { type: 'delay', ms: 200 },
        { type: 'slice', bytes: 3 },
      ],
    })
    proxy.rule({ api: 'CreateTopics', direction: 'response', action: { type: 'throttle', bytesPerSecond: 4_000 } })
    const startedMs = Date.now()

    expect(await create(topic)).to.equal(0)
    expect(Date.now() - startedMs).to.be.at.least(300)
    await eventually('the topic exists', () => exists(topic))
  })

  it('runs something before a frame goes on, for the request that matches', async () => {
    const seen: string[] = []
    const topic = uniqueName('called')
    proxy.rule({
      api: ['CreateTopics', 'DeleteTopics'],
      direction: 'request',
      when: ({ request }) => 'topics' in request && request.topics.some(one => one.name === topic),
      action: { type: 'call', run: ({ api, nodeId }) => void seen.push(`${api} to ${String(nodeId)}`) },
    })
    await create(uniqueName('other'))
    await create(topic)

    expect(seen).to.deep.equal(['CreateTopics to 1'])
  })

  it('knows requests by their transactional id, and can send one again later', async () => {
    const id = uniqueName('t')
    const rule = proxy.rule({
      api: 'InitProducerId',
      direction: 'request',
      transactionalId: id,
      action: { type: 'delay', ms: 0 },
    })
    const call = { transactionTimeoutMs: 5_000, producerId: -1, producerEpoch: -1 }
    const nodeId = await behind.coordinator('transaction', id)
    const coordinator = await behind.connection(nodeId, 'coordinator')
    await coordinator.send('InitProducerId', { ...call, transactionalId: uniqueName('other') })
    const first = await coordinator.send('InitProducerId', { ...call, transactionalId: id })
    const [exchange] = rule.fired
    if (exchange === undefined) throw new Error('the rule did not fire')
    const second = await proxy.resend(exchange)

    expect(rule.fired).to.have.length(1)
    expect([first.errorCode, second.errorCode]).to.deep.equal([0, 0])
    expect(second.producerId).to.equal(first.producerId)
    expect(second.producerEpoch).to.equal(first.producerEpoch + 1)
  })

  it('cuts a broker off and lets it back', async () => {
    proxy.cut(1)
    expect(await codeOf(create(uniqueName('cut')))).to.equal('CONNECTION_LOST')
    proxy.heal(1)
    await eventually('the broker answers again', async () => {
      connection = await behind.anyConnection('control').catch(() => connection)
      return (await create(uniqueName('healed')).catch(() => -1)) === 0
    })
  })

  it('passes megabytes through', async () => {
    const topic = uniqueName('large')
    await createTopic(admin, topic)
    const writer = await KafkaWriter.open(proxy.bootstrapServers, { 'compression.type': 'none' })
    await writer.write(
      topic,
      Array.from({ length: 50 }, () => ({ partition: 0, value: 'ab'.repeat(25_000) })),
    )
    await writer.close()

    const records = await readTopicInProcess(proxy.bootstrapServers, topic)
    expect(records).to.have.length(50)
    expect(records.every(record => record.value?.length === 50_000)).to.equal(true)
  })
})
