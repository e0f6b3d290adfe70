import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { NewTopic } from '../../../src/kafka/admin/topic-admin.ts'
import type { TopicInfo } from '../../../src/kafka/cluster/topic-info.ts'
import { planTopics, prepareTopics, type TopicPreparationOptions } from '../../../src/engine/topic-preparation.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { planOf } from './engine-fakes.ts'

const text = { key: string, value: string }

function counting(builder: StreamsBuilder): void {
  builder
    .stream('in', text)
    .selectKey(value => value)
    .repartition({ name: 'keyed', ...text })
    .groupByKey()
    .count({ store: 'c' })
    .toStream()
    .mapValues(String)
    .to('out', { value: string })
}

const REPARTITION = 'app-keyed-repartition'
const CHANGELOG = 'app-c-changelog'

class TopicBench {
  readonly topics = new Map<string, number>([['in', 3]])
  readonly configs = new Map<string, Map<string, string>>()
  readonly created: NewTopic[] = []
  refusesConfigs = false
  readonly options: TopicPreparationOptions

  constructor(options: Partial<TopicPreparationOptions> = {}) {
    this.options = {
      cluster: {
        topics: names =>
          Promise.resolve(
            new Map(
              names.flatMap(name => {
                const partitions = this.topics.get(name)
                return partitions === undefined ? [] : [[name, infoOf(name, partitions)] as const]
              }),
            ),
          ),
      },
      admin: {
        createTopics: topics => {
          this.created.push(...topics)
          return Promise.resolve()
        },
        describeTopicConfigs: () =>
          this.refusesConfigs ? Promise.reject(new MillraceError('NOT_AUTHORIZED')) : Promise.resolve(this.configs),
      },
      logger: SILENT_LOGGER,
      plan: planOf(counting),
      deadLetterTopics: ['dead'],
      create: true,
      replicationFactor: -1,
      topicConfigs: {},
      timeoutMs: 1_000,
      ...options,
    }
  }

  /** All topics are there as they should be. */
  complete(): this {
    for (const topic of ['out', 'dead', REPARTITION, CHANGELOG]) this.topics.set(topic, 3)
    return this
  }
}

function infoOf(name: string, partitions: number): TopicInfo {
  return {
    name,
    topicId: Buffer.alloc(16),
    internal: false,
    partitions: Array.from({ length: partitions }, (_, partition) => ({
      partition,
      leader: 0,
      leaderEpoch: 0,
      replicas: [0],
      isr: [0],
    })),
  }
}

describe('topic preparation', () => {
  it('plans every topic with its kind, its width and what it lacks', async () => {
    const planned = await planTopics(new TopicBench().options)

    expect(planned.map(({ topic, kind, partitions, exists }) => [topic, kind, partitions, exists])).to.deep.equal([
      ['in', 'input', 3, true],
      ['out', 'output', 3, false],
      ['dead', 'deadLetter', 3, false],
      [REPARTITION, 'repartition', 3, false],
      [CHANGELOG, 'changelog', 3, false],
    ])
  })

  it('creates what is missing: repartition topics that never lose a record by age, changelogs that are compacted', async () => {
    const bench = new TopicBench()
    const prepared = await prepareTopics(bench.options)
    const configs = new Map(bench.created.map(({ name, configs: own }) => [name, own]))

    expect([...configs.keys()]).to.deep.equal(['out', 'dead', REPARTITION, CHANGELOG])
    expect(configs.get(REPARTITION)).to.include({ 'cleanup.policy': 'delete', 'retention.ms': '-1' })
    expect(configs.get(CHANGELOG)).to.include({ 'cleanup.policy': 'compact' })
    expect(prepared.partitions.get(CHANGELOG)).to.equal(3)
    expect(bench.created.every(({ replicationFactor }) => replicationFactor === -1)).to.equal(true)
  })

  it('creates nothing where everything is there, and reads the limits of what is written', async () => {
    const bench = new TopicBench().complete()
    bench.configs.set('out', new Map([['max.message.bytes', '2000']]))
    const { maxMessageBytes } = await prepareTopics(bench.options)

    expect(bench.created).to.deep.equal([])
    expect([maxMessageBytes.get('out'), maxMessageBytes.get(CHANGELOG)]).to.deep.equal([2_000, 1_048_588])
  })

  it('stops for missing inputs, naming all of them', async () => {
    const bench = new TopicBench({
      plan: planOf(builder => {
        builder.stream(['one', 'in', 'two'], text).to('out')
      }),
    })
    const failure = await rejectionOf(planTopics(bench.options))

    expect(failure.code).to.equal('TOPIC_MISSING')
    expect(failure.message).to.include('one, two').and.not.include('in,')
  })

  it('creates nothing where it must not, naming what is missing and how wide it should be', async () => {
    const bench = new TopicBench({ create: false })
    bench.topics.set('out', 3)
    const failure = await rejectionOf(prepareTopics(bench.options))

    expect(failure.code).to.equal('TOPIC_MISSING')
    expect(failure.message).to.include(`${CHANGELOG} (changelog, 3 partitions)`).and.not.include('out (')
    expect(bench.created).to.deep.equal([])
  })

  for (const [kind, topic] of [
    ['changelog', CHANGELOG],
    ['repartition', REPARTITION],
  ] as const) {
    it(`stops where a ${kind} topic has another width than its tasks, naming both`, async () => {
      const bench = new TopicBench().complete()
      bench.topics.set(topic, 4)
      const failure = await rejectionOf(prepareTopics(bench.options))

      expect([failure.code, failure.details.topic]).to.deep.equal(['TOPIC_MISMATCH', topic])
      expect(failure.message).to.include('has 4 partitions').and.include('needs 3')
    })
  }

  it('takes an output as wide as it is', async () => {
    const bench = new TopicBench().complete()
    bench.topics.set('out', 12)

    expect((await prepareTopics(bench.options)).partitions.get('out')).to.equal(12)
  })

  for (const [topic, name, found, wanted] of [
    [CHANGELOG, 'cleanup.policy', 'delete', 'compact'],
    [REPARTITION, 'retention.ms', '604800000', '-1'],
  ] as const) {
    it(`stops where ${name} of ${topic} would lose records, naming both values`, async () => {
      const bench = new TopicBench().complete()
      bench.configs.set(topic, new Map([[name, found]]))
      const failure = await rejectionOf(prepareTopics(bench.options))

      expect(failure.code).to.equal('TOPIC_MISMATCH')
      expect(failure.message).to.include(`${name}=${found}`).and.include(`${name}=${wanted}`)
    })
  }

  it('does without the configuration of topics where it may not read it', async () => {
    const bench = new TopicBench().complete()
    bench.refusesConfigs = true

    expect((await prepareTopics(bench.options)).maxMessageBytes.get('out')).to.equal(1_048_588)
  })

  it('gives properties of internal topics to those alone', async () => {
    const bench = new TopicBench({ topicConfigs: { 'min.insync.replicas': '2' } })
    await prepareTopics(bench.options)
    const having = bench.created.filter(({ configs }) => 'min.insync.replicas' in configs).map(({ name }) => name)

    expect(having).to.deep.equal([REPARTITION, CHANGELOG])
  })
})
