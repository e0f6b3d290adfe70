import { expect } from 'chai'
import { readProgress } from '../../../src/engine/commit-offsets.ts'
import type { MillraceConfig } from '../../../src/index.ts'
import { type BrokerKind, uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { committedOffsets, type Isolation, readTopic } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { MillraceProcess } from '../../support/millrace-process.ts'
import { connectCluster, createTopic, type TestCluster } from '../../support/test-cluster.ts'

const LONG_MS = 60_000
const PROGRAM = new URL('../../support/programs/ticker.js', import.meta.url)
const UNKNOWN_MEMBER_ID = 25
const KINDS: readonly BrokerKind[] = ['tv2', 'tv0']

for (const kind of KINDS) {
  describe(`a task that only writes by the clock (${kind})`, function () {
    this.timeout(150_000)
    const kafka = useBroker(kind)
    const group = uniqueName('ticker')
    const input = uniqueName('in')
    const output = uniqueName('out')
    const processes: MillraceProcess[] = []
    let client: TestCluster
    let proxy: KafkaProxy

    before(async () => {
      proxy = await KafkaProxy.start(kafka())
      client = await connectCluster(kafka().bootstrapServers)
      for (const topic of [input, output]) await createTopic(client.admin, topic)
    })

    after(async () => {
      await Promise.all(processes.map(process => process.dispose()))
      await client.cluster.close()
      await proxy.stop()
    })

    const start = async (name: string, bootstrapServers: string): Promise<MillraceProcess> => {
      const config: MillraceConfig = {
        streams: { 'application.id': group, 'commit.interval.ms': 50 },
        kafka: {
          'bootstrap.servers': bootstrapServers,
          'session.timeout.ms': 2_000,
          'consumer.heartbeat.interval.ms': 300,
          // Far off: what stops the zombie is the group, not the end of its transaction's time.
          'transaction.timeout.ms': 120_000,
        },
        logging: { format: 'json' },
      }
      const process = await MillraceProcess.startProgram(PROGRAM, {
        TICKER_CONFIG: JSON.stringify(config),
        TICKER_NAME: name,
        TICKER_INPUT: input,
        TICKER_OUTPUT: output,
      })
      processes.push(process)
      return process
    }

    const ticks = async (isolation: Isolation): Promise<string[]> =>
      (await readTopic(kafka().bootstrapServers, output, isolation)).map(({ value }) => String(value))

    const transactionOfGroup = async (): Promise<number | undefined> => {
      const [committed] = await committedOffsets(kafka().bootstrapServers, group)
      return committed === undefined ? undefined : readProgress(committed).transaction
    }

    /** Waits for a commit that names another transaction than the last one seen. */
    const untilNextCommit = async (): Promise<void> => {
      const last = await transactionOfGroup()
      await eventually('another commit', async () => (await transactionOfGroup()) !== last, LONG_MS)
    }

    it('is fenced by the group like any other: nothing a zombie wrote by the clock is ever visible (I5)', async () => {
      await (await KafkaWriter.open(kafka().bootstrapServers)).write(input, [{ key: 'k', value: 'v' }])
      const zombie = await start('zombie', proxy.bootstrapServers)
      await eventually('it ticks', async () => (await ticks('read_committed')).length > 0, LONG_MS)
      // The input was read long ago: this transaction holds nothing but ticks.
      const held = proxy.rule({
        api: 'TxnOffsetCommit',
        direction: 'request',
        times: 1,
        action: [{ type: 'call', run: () => zombie.signal('SIGSTOP') }, { type: 'hold' }],
      })
      await held.waitHeld(1, LONG_MS)
      const visible = new Set(await ticks('read_committed'))
      const written = (await ticks('read_uncommitted')).filter(tick => !visible.has(tick))
      expect(written, 'ticks in the open transaction').not.to.deep.equal([])

      const successor = await start('successor', kafka().bootstrapServers)
      await untilNextCommit()
      await untilNextCommit()
      zombie.signal('SIGCONT')
      held.release()
      const [exchange] = held.fired
      const answer = await exchange?.answered
      const codes = answer?.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode))
      expect(codes, 'the answer to the offsets of the zombie').to.deep.equal([UNKNOWN_MEMBER_ID])
      await eventually(
        'the successor is visible behind what the zombie left',
        async () => (await ticks('read_committed')).some(tick => tick.startsWith('successor')),
        LONG_MS,
      )

      for (const process of [zombie, successor]) {
        expect(await process.terminate(LONG_MS), process.lines.join('\n')).to.deep.equal({ code: 0, signal: null })
      }
      const all = await ticks('read_committed')
      expect(all.filter(tick => written.includes(tick))).to.deep.equal([])
      expect(new Set(all).size, 'each tick once').to.equal(all.length)
    })
  })
}
