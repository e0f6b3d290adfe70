import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { access, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { finalizedFeatures } from '../../../src/local-kafka/broker-features.ts'
import { isAlive } from '../../../src/local-kafka/cache.ts'
import { LocalKafka } from '../../../src/local-kafka/local-kafka.ts'
import { freePorts } from '../../../src/local-kafka/ports.ts'
import { TRANSACTION_BROKERS, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopicInProcess } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const LEVELS: Readonly<Record<string, number | undefined>> = { tv2: 2, tv0: undefined, '3.9.1': undefined }

describe('local Kafka', function () {
  this.timeout(120_000)

  for (const kind of TRANSACTION_BROKERS) {
    describe(`of kind ${kind}`, () => {
      const kafka = useBroker(kind)

      it('has the transaction.version asked for', async () => {
        const [node] = kafka().nodes
        expect((await finalizedFeatures(node?.port ?? 0)).get('transaction.version')).to.equal(LEVELS[kind])
      })
    })
  }

  it('refuses transaction.version 2 on a Kafka that does not have it', async () => {
    const failure = await LocalKafka.start({ version: '3.9.1', transactionVersion: 2 }).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'USAGE')
  })

  it('serves on the port asked for, alone, also after its node was killed and started again', async () => {
    const [port = 0] = await freePorts(1)
    const kafka = await LocalKafka.start({ port })
    try {
      expect(kafka.bootstrapServers).to.equal(`127.0.0.1:${String(port)}`)
      const second: unknown = await LocalKafka.start({ port }).catch((error: unknown) => error)
      expect(second).to.have.property('code', 'LOCAL_KAFKA_UNAVAILABLE')
      expect(String(second)).to.contain(`Port ${String(port)} of 127.0.0.1 is taken`)
      kafka.kill(1, 'SIGKILL')
      await kafka.ended(1)
      expect(kafka.nodes[0]?.running).to.equal(false)
      await kafka.startNode(1)
      expect(kafka.nodes[0]).to.include({ running: true, port })
      expect(await finalizedFeatures(port)).to.include.keys('metadata.version')
    } finally {
      await kafka.stop()
    }
  })

  it('keeps records however old their timestamps are', async () => {
    // Retention is looked at every second, from the first one on.
    const kafka = await LocalKafka.start({
      properties: { 'log.retention.check.interval.ms': '1000', 'log.initial.task.delay.ms': '1000' },
    })
    const { admin, cluster } = await adminOf(kafka)
    try {
      const weekMs = String(7 * 24 * 3_600_000)
      await admin.createTopics(
        [
          { name: 'kept', partitions: 1, configs: {}, replicationFactor: 1 },
          { name: 'of-a-week', partitions: 1, configs: { 'retention.ms': weekMs }, replicationFactor: 1 },
        ],
        30_000,
      )
      const writer = await KafkaWriter.open(kafka.bootstrapServers)
      for (const topic of ['kept', 'of-a-week']) await writer.write(topic, [{ key: 'k', value: 'v', timestamp: 1_000 }])
      const old = { topic: 'of-a-week', partition: 0 }
      const start = async (): Promise<number | undefined> =>
        (await admin.listOffsets([old], 'earliest', 'read_uncommitted')).get(old)
      await eventually('retention is looked at', async () => (await start()) === 1, 60_000)
      expect(await readTopicInProcess(kafka.bootstrapServers, 'kept')).to.have.lengthOf(1)
    } finally {
      await cluster.close()
      await kafka.stop()
    }
  })

  it('ends, and removes its data, when its parent is killed by SIGKILL', async () => {
    const module = pathToFileURL(
      join(dirname(fileURLToPath(import.meta.url)), '../../../src/local-kafka/local-kafka.js'),
    ).href
    const script = join(process.cwd(), `build-parent-${String(process.pid)}.mjs`)
    await writeFile(
      script,
      `import { LocalKafka } from '${module}'
       const { nodes } = await LocalKafka.start()
       console.log(JSON.stringify(nodes[0]))
       setInterval(() => undefined, 1000)`,
    )
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const line = await new Promise<string>((resolve, reject) => {
        createInterface(parent.stdout).once('line', resolve)
        parent.once('exit', code => {
          reject(new Error(`the parent ended with ${String(code)}`))
        })
      })
      const node = JSON.parse(line) as { pid: number; logFile: string }
      expect(isAlive(node.pid)).to.equal(true)
      parent.kill('SIGKILL')
      await eventually('the broker is gone', () => !isAlive(node.pid))
      await eventually('its folder is gone', () =>
        access(node.logFile).then(
          () => false,
          () => true,
        ),
      )
    } finally {
      parent.kill('SIGKILL')
      await rm(script, { force: true })
    }
  })
})
