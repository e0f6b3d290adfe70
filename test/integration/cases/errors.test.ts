import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { uniqueName } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import type { ReadRecord } from '../../support/kafka-reader.ts'
import { numbered, useCaseRoom, type CaseApplication } from './case-room.ts'

/** Bytes of a topic that takes no larger record. */
const SMALL_BYTES = 2_000

const text = (value: Buffer | null | undefined): string | undefined => value?.toString()

/** The headers of a record as texts. */
function headersOf(record: ReadRecord | undefined): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries((record?.headers ?? []).map(([name, value]) => [name, text(value)]))
}

/** Values of one partition: the order within it is the order of its inputs. */
function valuesByPartition(records: readonly ReadRecord[]): Readonly<Record<number, (string | undefined)[]>> {
  const values: Record<number, (string | undefined)[]> = {}
  for (const { partition, value } of records) (values[partition] ??= []).push(text(value))
  return values
}

/** Reads JSON and copies it; a record that is none is poison. */
const jsonCopy = (topic: string, more: Partial<CaseApplication> = {}): CaseApplication => ({
  id: uniqueName('app'),
  sources: { in: { topic, key: 'string?', value: 'json' } },
  sinks: { out: { from: 'in', topic: `${topic}-out` } },
  ...more,
})

/** A source with dead letters of its own. */
const source = (topic: string): object => ({
  topic,
  key: 'string?',
  value: 'json',
  errors: { deserialization: 'deadLetter', deadLetterTopic: `${topic}-dead` },
})

describe('a poison record', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  const poisoned = async (): Promise<string> => {
    const input = await room().topic('in')
    await room().write(input, [
      { key: 'a', value: '1' },
      { key: 'b', value: '{broken', headers: [['trace', 't1']] },
      { key: 'c', value: '3' },
    ])
    return input
  }

  it('stops the application with 65 and its place; what was before it is committed, and a cure goes on behind it (case 72)', async () => {
    const input = await poisoned()
    const application = jsonCopy(input)
    const { exit, text: said, process } = await room().runToEnd(application)
    expect(exit.code).to.equal(65)
    expect(said)
      .to.match(/^error: .+$/m)
      .and.to.match(/^ {2}where +.*topic .*in.*partition 0, offset 1$/m)
    expect(said).to.include('DESERIALIZATION_FAILED')
    const [offset = 0] = await room().offsets(application.id, input)
    expect(offset, 'never past the poison').to.be.at.most(1)
    expect(await room().openTransactions(application.id), 'readers are not held up').to.deep.equal([])
    expect((await room().values(`${input}-out`)).length).to.equal(offset)

    await room().start({ ...application, errors: { deserialization: 'skip' } }, { stateDir: process.stateDir })
    await room().untilOffsets(application.id, input, [3])
    expect(await room().values(`${input}-out`)).to.deep.equal(['1', '3'])
  })

  it('goes to the dead letters with the bytes it had and the headers of Kafka Streams, in one transaction with its offset (cases 70, 72)', async () => {
    const input = await poisoned()
    const application = jsonCopy(input, {
      errors: { deserialization: 'deadLetter', deadLetterTopic: `${input}-dead` },
      http: { port: 0 },
    })
    const process = await room().start(application)
    await room().untilOffsets(application.id, input, [3])
    expect(await room().values(`${input}-out`)).to.deep.equal(['1', '3'])
    const dead = await room().records(`${input}-dead`)
    expect(dead.map(({ key, value }) => [text(key), text(value)])).to.deep.equal([['b', '{broken']])
    const { '__streams.errors.stacktrace': stack, ...headers } = headersOf(dead[0])
    expect(headers).to.include({
      trace: 't1',
      '__streams.errors.topic': input,
      '__streams.errors.partition': '0',
      '__streams.errors.offset': '1',
    })
    expect(headers['__streams.errors.exception']).to.be.a('string').and.not.equal('')
    expect(headers['__streams.errors.message']).to.be.a('string').and.not.equal('')
    expect(stack).to.be.a('string')
    const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
    const counted = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
    await eventually('the dead letter counts', async () =>
      /^millrace_dropped_records_total\{.*reason="deadLettered".*\} 1$/m.test(await counted()),
    )
    await process.untilLine('a record failed')
    expect(process.log.filter(({ msg }) => msg === 'a record failed')).to.have.length(1)
  })

  it('goes to the dead letters of its own input, which are created on the same cluster (case 71)', async () => {
    const [left, right] = [await poisoned(), await poisoned()]
    const id = uniqueName('app')
    await room().start({
      id,
      sources: { left: source(left), right: source(right) },
      sinks: { l: { from: 'left', topic: `${left}-out` }, r: { from: 'right', topic: `${right}-out` } },
    })
    await room().untilOffsets(id, left, [3])
    await room().untilOffsets(id, right, [3])
    for (const topic of [left, right]) {
      const dead = await room().records(`${topic}-dead`)
      expect(dead.map(record => headersOf(record)['__streams.errors.topic'])).to.deep.equal([topic])
      expect(await room().values(`${topic}-out`)).to.deep.equal(['1', '3'])
    }
  })

  it('ends the start with 78 when the dead letters have no topic and none may be created (case 71)', async () => {
    const input = await poisoned()
    await room().admin.createTopics([{ name: `${input}-out`, partitions: 1, replicationFactor: 1, configs: {} }])
    const { exit, text: said } = await room().runToEnd(
      jsonCopy(input, {
        streams: { 'topics.create': false },
        errors: { deserialization: 'deadLetter', deadLetterTopic: `${input}-dead` },
      }),
    )
    expect(exit.code).to.equal(78)
    expect(said).to.match(new RegExp(`^error: .*${input}-dead \\(deadLetter, 1 partition\\)`, 'm'))
  })
})

describe('a step that fails', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  it('leaves nothing of what it emitted before: dead letter and offset are all there is (case 68)', async () => {
    const input = await room().topic('in')
    const folder = await room().folder({
      'steps.mjs': [
        'export const twice = {',
        '  init: ({ forward }) => record => {',
        '    forward({ key: record.key, value: `first of ${record.value}` })',
        "    if (record.value === '2') throw new RangeError('two is too much')",
        '    forward({ key: record.key, value: `second of ${record.value}` })',
        '  },',
        '}',
      ].join('\n'),
    })
    await room().write(input, numbered(4))
    const id = uniqueName('app')
    await room().start({
      id,
      sources: { in: { topic: input, key: 'string', value: 'string' } },
      steps: { twice: { from: 'in', process: `${folder}/steps.mjs#twice` }, counted: { from: 'twice', count: {} } },
      sinks: { out: { from: 'twice', topic: `${input}-out` }, counts: { from: 'counted', topic: `${input}-counts` } },
      errors: { processing: 'deadLetter', deadLetterTopic: `${input}-dead` },
    })
    await room().untilOffsets(id, input, [4])
    const values = [0, 1, 3].flatMap(number => [`first of ${String(number)}`, `second of ${String(number)}`])
    expect(await room().values(`${input}-out`)).to.deep.equal(values)
    const dead = await room().records(`${input}-dead`)
    expect(dead.map(({ value }) => text(value))).to.deep.equal(['2'])
    expect(headersOf(dead[0])).to.include({
      '__streams.errors.exception': 'RangeError',
      '__streams.errors.offset': '2',
    })
    const counts = (await room().untilRecords(`${input}-counts`, 6)).map(({ key }) => text(key))
    expect(new Set(counts), 'the store kept nothing of it either').to.deep.equal(new Set(['k0', 'k1', 'k3']))
  })

  it('stops with 65 naming the step, and the offset stays (case 38)', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(1))
    const application: CaseApplication = {
      id: uniqueName('app'),
      sources: { in: { topic: input, key: 'string', value: 'json' } },
      steps: { wrong: { from: 'in', value: 'value.missing', serdes: { value: 'json' } } },
      sinks: { out: { from: 'wrong', topic: `${input}-out` } },
    }
    const { exit, text: said } = await room().runToEnd(application)
    expect(exit.code).to.equal(65)
    expect(said)
      .to.match(/^ {2}where +.*step .*wrong|^ {2}where +.*wrong/m)
      .and.to.include('PROCESSING_FAILED')
    expect(await room().offsets(application.id, input)).to.deep.equal([undefined])
    expect(await room().records(`${input}-out`)).to.deep.equal([])
  })
})

describe('an output that cannot be written', function () {
  this.timeout(120_000)
  const room = useCaseRoom()

  /** Input of which the record `big` fits into no output. */
  const withBig = async (): Promise<string> => {
    const input = await room().topic('in')
    await room().admin.createTopics([
      {
        name: `${input}-out`,
        partitions: 1,
        replicationFactor: 1,
        configs: { 'max.message.bytes': String(SMALL_BYTES) },
      },
    ])
    await room().write(input, [
      { key: 'a', value: '1' },
      { key: 'big', value: JSON.stringify('x'.repeat(2 * SMALL_BYTES)) },
      { key: 'c', value: '3' },
    ])
    return input
  }

  it('stops with 65 and names the limit of the topic; the offset stays in front of it (case 38)', async () => {
    const input = await withBig()
    const application = jsonCopy(input)
    const { exit, text: said } = await room().runToEnd(application)
    expect(exit.code).to.equal(65)
    expect(said).to.include('RECORD_TOO_LARGE').and.to.include(`the topic ${input}-out, whose max.message.bytes`)
    const [offset = 0] = await room().offsets(application.id, input)
    expect(offset).to.be.at.most(1)
    expect((await room().values(`${input}-out`)).length).to.equal(offset)
    expect(await room().openTransactions(application.id)).to.deep.equal([])
  })

  it('goes to the dead letters, and the next record flows (F34, case 17)', async () => {
    const input = await withBig()
    const application = jsonCopy(input, {
      errors: { production: 'deadLetter', deadLetterTopic: `${input}-dead` },
    })
    await room().start(application)
    await room().untilOffsets(application.id, input, [3])
    expect(await room().values(`${input}-out`)).to.deep.equal(['1', '3'])
    const dead = await room().records(`${input}-dead`)
    expect(dead.map(({ key }) => text(key))).to.deep.equal(['big'])
    expect(headersOf(dead[0])).to.include({ '__streams.errors.exception': 'RECORD_TOO_LARGE' })
    faultFired('F34', dead.length, 'records that were too large')
  })

  it('is skipped where the policy says so (case 17)', async () => {
    const input = await withBig()
    const application = jsonCopy(input, { errors: { production: 'skip' } })
    await room().start(application)
    await room().untilOffsets(application.id, input, [3])
    expect(await room().values(`${input}-out`)).to.deep.equal(['1', '3'])
  })

  it('keeps the offset when the limit of its topic shrinks under the application (case 38)', async () => {
    const input = await room().topic('in')
    const application = jsonCopy(input)
    await room().write(input, [{ key: 'a', value: '1' }])
    const process = await room().start(application)
    await room().untilOffsets(application.id, input, [1])
    await room().admin.alterConfigs(
      { type: 'topic', name: `${input}-out` },
      { set: { 'max.message.bytes': String(SMALL_BYTES) } },
    )
    await room().write(input, [{ key: 'big', value: JSON.stringify('x'.repeat(2 * SMALL_BYTES)) }])
    const exit = await process.untilExit(60_000)
    const said = process.lines.join('\n')
    expect(exit.code, said).to.equal(65)
    expect(said, 'the source record').to.include(`${input}-0 at offset 1`)
    expect(await room().offsets(application.id, input)).to.deep.equal([1])
    expect(await room().values(`${input}-out`)).to.deep.equal(['1'])
    expect(await room().openTransactions(application.id)).to.deep.equal([])
  })

  for (const compression of ['none', 'lz4']) {
    it(`follows its policy when the limit of its topic shrinks under the application (case 17, ${compression})`, async () => {
      const input = await room().topic('in')
      const dead = await room().topic('dead')
      const application = jsonCopy(input, {
        errors: { production: 'deadLetter', deadLetterTopic: dead },
        kafka: { 'producer.compression.type': compression },
      })
      await room().write(input, [{ key: 'a', value: '0' }])
      const process = await room().start(application)
      await room().untilOffsets(application.id, input, [1])
      await room().admin.alterConfigs(
        { type: 'topic', name: `${input}-out` },
        { set: { 'max.message.bytes': String(SMALL_BYTES) } },
      )
      // Random, so that it stays large when it is compressed; the small ones of a batch come to more than the limit too.
      const big = (): string => JSON.stringify(randomBytes(2 * SMALL_BYTES).toString('base64'))
      const small = Array.from({ length: 300 }, (_, n) => ({ key: 'a', value: String(n + 1) }))
      await room().write(input, [
        ...small.slice(0, 100),
        { key: 'big', value: big() },
        ...small.slice(100, 200),
        { key: 'bigger', value: JSON.stringify(big() + big()) },
        ...small.slice(200),
      ])
      await room().untilOffsets(application.id, input, [303])

      expect((await room().values(`${input}-out`)).map(Number)).to.deep.equal(Array.from({ length: 301 }, (_, n) => n))
      const letters = await room().records(dead)
      expect(letters.map(({ key }) => text(key))).to.deep.equal(['big', 'bigger'])
      expect(headersOf(letters[0])).to.include({ '__streams.errors.exception': 'RECORD_TOO_LARGE' })
      expect(process.hasExited).to.equal(false)
    })
  }

  it('keeps the offset and says so when its topic is deleted under the application (case 38)', async () => {
    const input = await room().topic('in')
    const application = jsonCopy(input)
    await room().write(input, [{ key: 'a', value: '1' }])
    const process = await room().start({ ...application, kafka: { 'request.timeout.ms': 4_000 } })
    await room().untilOffsets(application.id, input, [1])
    await room().admin.deleteTopics([`${input}-out`])
    await room().write(input, [{ key: 'b', value: '2' }])
    const exit = await process.untilExit(90_000)
    expect(exit.code, process.lines.join('\n')).to.equal(78)
    expect(process.lines.join('\n')).to.include(`${input}-out`)
    expect(await room().offsets(application.id, input)).to.deep.equal([1])
  })

  it('ends the start with 78 when it has no topic and none may be created', async () => {
    const input = await room().topic('in')
    const { exit, text: said } = await room().runToEnd(jsonCopy(input, { streams: { 'topics.create': false } }))
    expect(exit.code).to.equal(78)
    expect(said).to.match(new RegExp(`^error: .*${input}-out \\(output, 1 partition\\)`, 'm'))
    expect(said).to.include('TOPIC_MISSING')
  })

  it('stops with 78 when a step chooses a topic that does not exist, and the offset stays', async () => {
    const input = await room().topic('in')
    await room().write(input, numbered(2))
    const application: CaseApplication = {
      id: uniqueName('app'),
      sources: { in: { topic: input, key: 'string', value: 'json' } },
      sinks: { out: { from: 'in', topicFrom: "'nowhere-' + key" } },
    }
    const { exit, text: said } = await room().runToEnd(application)
    expect(exit.code).to.equal(78)
    expect(said).to.include('nowhere-k0').and.to.include('TOPIC_MISSING')
    expect(await room().offsets(application.id, input)).to.deep.equal([undefined])
  })

  it('leaves every key in order and nothing twice when one of three partitions refuses a batch (case 34)', async () => {
    const input = await room().topic('in')
    await room().admin.createTopics([{ name: `${input}-out`, partitions: 3, replicationFactor: 1, configs: {} }])
    const records = Array.from({ length: 300 }, (_, index) => ({ key: `k${String(index % 9)}`, value: String(index) }))
    const proxy = await KafkaProxy.start({ bootstrapServers: room().servers })
    try {
      // The broker has taken the batch, and says that it has not: sent again, it must not be there twice.
      const refused = proxy.rule({
        api: 'Produce',
        direction: 'response',
        times: 3,
        when: ({ request }) => request.topicData.some(({ name }) => name === `${input}-out`),
        action: {
          type: 'rewrite',
          body: response => ({
            ...response,
            responses: response.responses.map(topic => ({
              ...topic,
              partitionResponses: topic.partitionResponses.map(partition =>
                partition.index === 1 ? { ...partition, errorCode: 19, baseOffset: -1 } : partition,
              ),
            })),
          }),
        },
      })
      const application = jsonCopy(input, { servers: proxy.bootstrapServers })
      await room().start(application)
      await room().write(input, records)
      await room().untilOffsets(application.id, input, [records.length])
      expect(refused.fired.length).to.be.greaterThan(0)
      const byPartition = valuesByPartition(await room().records(`${input}-out`))
      const all = Object.values(byPartition).flatMap(values => values.map(Number))
      expect(all.toSorted((a, b) => a - b)).to.deep.equal(records.map((_, index) => index))
      for (const values of Object.values(byPartition)) {
        expect(values.map(Number)).to.deep.equal(values.map(Number).toSorted((a, b) => a - b))
      }
    } finally {
      await proxy.stop()
    }
  })
})
