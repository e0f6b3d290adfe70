import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../../src/local-kafka/command.ts'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { kafkaTool } from '../../support/java-libraries.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { numbered, useCaseRoom } from '../cases/case-room.ts'

/** Records of both transactions, and the marker of each in either partition. */
const WRITTEN = 50 + 20 + 2 * 2

const SCRIPT = fileURLToPath(new URL('../../../scripts/kafka.js', import.meta.url))

describe("Kafka's own command-line tools", function () {
  this.timeout(240_000)
  const room = useCaseRoom()

  it('are run by `npm run kafka -- tool`, on the Kafka that is named', async () => {
    const topic = await room().topic('in', 2)
    const tool = ['tool', 'kafka-topics', '--describe', '--topic', topic]
    const { exitCode, output } = await runCommand(process.execPath, [SCRIPT, ...tool], {
      timeoutMs: 120_000,
      env: { KAFKA_BOOTSTRAP_SERVERS: room().servers },
    })
    expect(exitCode, output).to.equal(0)
    expect(output).to.match(new RegExp(`Topic: ${topic}\\s.*PartitionCount: 2`))
  })

  it('see the group with lag 0, the same ends, and no transaction that hangs; a Java reader sees the output', async () => {
    const input = await room().topic('in', 2)
    const output = `${input}-out`
    const writer = await KafkaWriter.open(room().servers, { 'transactional.id': uniqueName('writer') })
    await writer.transaction(input, numbered(50), 'commit')
    await writer.transaction(input, numbered(20, 500), 'abort')
    await writer.close()
    const id = uniqueName('app')
    await room().start({
      id,
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      sinks: { out: { from: 'in', topic: output } },
    })
    const places = [0, 1].map(partition => ({ topic: input, partition }))
    let wanted: readonly number[] = []
    const areMarked = async (): Promise<boolean> => {
      const ends = await room().admin.listOffsets(places, 'latest', 'read_committed')
      wanted = places.map(place => ends.get(place) ?? 0)
      return wanted.reduce((sum, end) => sum + end, 0) === WRITTEN
    }
    await eventually('the markers of both transactions are there', areMarked, 60_000)
    await room().untilOffsets(id, input, wanted)

    const bootstrap = ['--bootstrap-server', room().servers]
    const [group, offsets, hanging] = await Promise.all([
      kafkaTool('org.apache.kafka.tools.consumer.group.ConsumerGroupCommand', [
        ...bootstrap,
        '--describe',
        '--group',
        id,
      ]),
      kafkaTool('org.apache.kafka.tools.GetOffsetShell', [...bootstrap, '--topic', input]),
      kafkaTool('org.apache.kafka.tools.TransactionsCommand', [
        ...bootstrap,
        'find-hanging',
        '--broker-id',
        '1',
        '--max-transaction-timeout',
        '1',
      ]),
    ])
    expect(group.exitCode, group.output).to.equal(0)
    const rows = group.output
      .split('\n')
      .filter(line => line.startsWith(id))
      .map(line => line.split(/\s+/))
    expect(
      rows.map(([, topic, partition, current, end, lag]) => [topic, partition, current, end, lag]),
    ).to.have.deep.members(wanted.map((end, partition) => [input, String(partition), String(end), String(end), '0']))
    expect(new Set(rows.map(row => row[6])).size, 'one member owns both').to.equal(1)
    expect(rows[0]?.[6]).not.to.equal('-')

    expect(offsets.exitCode, offsets.output).to.equal(0)
    for (const [partition, end] of wanted.entries())
      expect(offsets.output).to.include(`${input}:${String(partition)}:${String(end)}`)

    expect(hanging.exitCode, hanging.output).to.equal(0)
    expect(hanging.output).not.to.include(input)

    const values = (await readTopic(room().servers, output)).map(({ value }) => Number(value?.toString()))
    expect(values.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, index) => index))
  })
})
