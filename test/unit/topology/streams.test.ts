import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { json } from '../../../src/serdes/json.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { keyValueStore } from '../../../src/stores/store-spec.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { buildTopology, streams } from '../../../src/topology/streams.ts'
import { isTopology } from '../../../src/topology/topology.ts'

const text = { key: string, value: string }

function mistakesOf(work: () => unknown): readonly MillraceError[] {
  try {
    work()
  } catch (thrown) {
    if (!(thrown instanceof MillraceError)) throw thrown
    expect(thrown.code).to.equal('TOPOLOGY_INVALID')
    const { cause } = thrown
    return cause instanceof AggregateError ? cause.errors.map(error => error as MillraceError) : []
  }
  throw new Error('nothing was thrown')
}

function problemsOf(work: () => unknown): { readonly code: string; readonly message: string }[] {
  return mistakesOf(work).map(({ code, message }) => ({ code, message }))
}

/** Repartition topics of two counts of one grouping. */
function repartitions(name: string | undefined): readonly string[] {
  const topology = streams(builder => {
    const grouped = builder
      .stream('s', text)
      .groupBy(value => value, { key: string, ...(name === undefined ? {} : { name }) })
    grouped.count({ store: 'c1' })
    grouped.count({ store: 'c2' })
  })
  const plan = planApplication(topology, { 'application.id': 'app' })
  return plan.subtopologies.flatMap(subtopology => subtopology.repartitionTopics.map(({ topic }) => topic))
}

/** Appends a value to a sum. */
function add(sum: string, value: string): string {
  return sum + value
}

describe('streams', () => {
  it('tells the repartition topics of unnamed groupings apart that feed one aggregate', () => {
    const topology = streams(b => {
      const [first, second, third] = ['a', 'b', 'c'].map(topic =>
        b.stream(topic, text).groupBy(v => v, { key: string }),
      )
      if (first === undefined || second === undefined || third === undefined) return
      first
        .cogroup<string>(add)
        .cogroup(second, add)
        .cogroup(third, add)
        .aggregate(() => '', { store: 'sums', value: string })
        .toStream()
        .to('out')
    })
    const { subtopologies } = planApplication(topology, { 'application.id': 'app' })

    expect(
      subtopologies.flatMap(({ repartitionTopics }) => repartitionTopics.map(({ topic }) => topic)),
    ).to.have.members(['app-sums-repartition', 'app-sums-2-repartition', 'app-sums-3-repartition'])
    const driver = new TestDriver(topology)
    for (const topic of ['a', 'b', 'c']) driver.input(topic, text).pipe(topic, 'same')
    expect(driver.output('out', text).readMap()).to.deep.equal(new Map([['same', 'samesamesame']]))
    driver.close()
  })

  it('numbers unnamed nodes and takes a number for named ones too', () => {
    const topology = streams(builder => {
      builder
        .stream('in', text)
        .filter(() => true, { name: 'mine' })
        .mapValues(value => value)
        .to('out', { value: string })
    })

    expect(topology.describe().subtopologies[0]?.nodes.map(node => node.name)).to.have.members([
      'KSTREAM-SOURCE-0000000000',
      'mine',
      'KSTREAM-MAPVALUES-0000000002',
      'KSTREAM-SINK-0000000003',
    ])
  })

  it('writes the text of the JVM for tables and joins with names', () => {
    const topology = streams(builder => {
      const table = builder.table('t', text)
      builder
        .stream('s', text)
        .selectKey(value => value)
        .join(table, left => left, { name: 'jj', key: string })
        .to('o', { value: string })
    })

    expect(String(topology.describe()).split('\n')).to.deep.equal([
      'Topologies:',
      '   Sub-topology: 0',
      '    Source: jj-repartition-source (topics: [jj-repartition])',
      '      --> jj',
      '    Source: KSTREAM-SOURCE-0000000001 (topics: [t])',
      '      --> KTABLE-SOURCE-0000000002',
      '    Processor: jj (stores: [t-STATE-STORE-0000000000])',
      '      --> KSTREAM-SINK-0000000009',
      '      <-- jj-repartition-source',
      '    Sink: KSTREAM-SINK-0000000009 (topic: o)',
      '      <-- jj',
      '    Processor: KTABLE-SOURCE-0000000002 (stores: [t-STATE-STORE-0000000000])',
      '      --> none',
      '      <-- KSTREAM-SOURCE-0000000001',
      '',
      '  Sub-topology: 1',
      '    Source: KSTREAM-SOURCE-0000000003 (topics: [s])',
      '      --> KSTREAM-KEY-SELECT-0000000004',
      '    Processor: KSTREAM-KEY-SELECT-0000000004 (stores: [])',
      '      --> jj-repartition-filter',
      '      <-- KSTREAM-SOURCE-0000000003',
      '    Processor: jj-repartition-filter (stores: [])',
      '      --> jj-repartition-sink',
      '      <-- KSTREAM-KEY-SELECT-0000000004',
      '    Sink: jj-repartition-sink (topic: jj-repartition)',
      '      <-- jj-repartition-filter',
      '',
      '',
    ])
  })

  it('names a table as given and its source after it', () => {
    const topology = buildTopology(builder => {
      builder
        .table('t', { ...text, name: 'prices' })
        .toStream()
        .to('o')
      builder.globalTable('g', { ...text, name: 'rates' })
    })
    const lines = String(topology.describe()).split('\n')

    expect(lines).to.include('    Source: prices-source (topics: [t])')
    expect(lines).to.include('    Processor: prices (stores: [])')
    expect(lines).to.include('  Sub-topology: 1 for global store (will not generate tasks)')
  })

  it('shares the repartition topic of a named grouping, and gives an unnamed one a topic per aggregation', () => {
    expect(repartitions('g')).to.deep.equal(['app-g-repartition'])
    expect(repartitions(undefined)).to.deep.equal(['app-c1-repartition', 'app-c2-repartition'])
  })

  it('reports every mistake at once', () => {
    const problems = problemsOf(() =>
      buildTopology(builder => {
        const stream = builder.stream('in', { ...text, name: 'same' })
        stream
          .filter(() => true, { name: 'same' })
          .mapValues(value => value)
          .to('out')
        builder.stream('in', text)
        stream.groupByKey().count({ store: 'c' })
        stream.groupByKey().count({ store: 'c' })
        stream.filter(() => true, { name: 'no name' })
      }),
    )

    expect(problems.map(({ code }) => code)).to.deep.equal([
      'NAME_TAKEN',
      'SERDE_MISSING',
      'NAME_TAKEN',
      'NAME_TAKEN',
      'TOPOLOGY_INVALID',
    ])
  })

  it('refuses a second default branch, which would get nothing', () => {
    const problems = problemsOf(() =>
      streams(builder => {
        builder.stream('in', text).split({ big: value => value.length > 9, rest: 'default', other: 'default' })
      }),
    )

    expect(problems.map(({ code }) => code)).to.deep.equal(['TOPOLOGY_INVALID'])
  })

  it('refuses to join keys that are written differently', () => {
    const problems = problemsOf(() =>
      buildTopology(builder => {
        const table = builder.table('t', { key: json(), value: string })
        builder.stream('s', text).joinTable(table, left => left, {}, false)
      }),
    )

    expect(problems.map(({ code }) => code)).to.deep.equal(['SERDE_MISMATCH'])
  })

  it('refuses the store of a table that keeps none', () => {
    const problems = problemsOf(() =>
      streams(builder => {
        const table = builder.table('t', text).mapValues(value => value)
        builder.stream('s', text).process({ stores: { table: table.store }, init: () => () => {} })
      }),
    )

    expect(problems.map(({ code }) => code)).to.deep.equal(['TABLE_NOT_MATERIALIZED'])
  })

  it('says how to mend windows and sessions that lack a part', () => {
    const actions = mistakesOf(() =>
      streams(builder => {
        const grouped = builder.stream('in', text).groupByKey()
        // @ts-expect-error A window has a grace.
        grouped.windowedBy({ tumbling: 5 }).count()
        // @ts-expect-error Sessions have a merger.
        grouped.windowedBy({ session: 5, grace: 0 }).aggregate(() => '', add, { value: string })
        const cogrouped = grouped.cogroup<string>(add).windowedBy({ session: 5, grace: 0 })
        // @ts-expect-error Sessions have a merger.
        cogrouped.aggregate(() => '', { value: string })
      }),
    ).map(({ action }) => action)
    expect(actions).to.deep.equal([
      "Write the window like { tumbling: '1m', grace: '10s' }.",
      'Give `aggregate` the merger as its third argument, (earlier, later) => state.',
      'Give `aggregate` the merger as its second argument, (earlier, later) => state.',
    ])
  })

  it('wraps what the building function itself throws', () => {
    expect(() =>
      streams(() => {
        throw new RangeError('oops')
      }),
    ).to.throw(MillraceError, /oops/)
  })

  it('is recognised as a topology, other objects are not', () => {
    expect(isTopology(streams(() => {}))).to.equal(true)
    expect(isTopology({ describe: () => ({}) })).to.equal(false)
  })
})

describe('application plan', () => {
  it('names topics and stores by the application, and groups what is joined', () => {
    const topology = streams(builder => {
      const table = builder.table('customers', { ...text, store: 'customers' })
      builder
        .stream('orders', text)
        .selectKey(value => value)
        .leftJoin(table, left => left, { key: string, name: 'by-customer' })
        .to('out', { value: string })
    })
    const { subtopologies } = planApplication(topology, { 'application.id': 'shop' })
    const [joining, keying] = subtopologies

    expect(keying?.repartitionTopics).to.deep.equal([
      { topic: 'shop-by-customer-repartition', partitions: undefined, upstreamTopics: ['orders'] },
    ])
    expect(joining?.copartitionGroups).to.deep.equal([['shop-by-customer-repartition', 'customers']])
    expect(
      joining?.stores.map(({ name, changelogTopic, configs }) => [name, changelogTopic, configs['cleanup.policy']]),
    ).to.deep.equal([['customers', 'shop-customers-changelog', 'compact']])
    expect(joining?.sources.map(({ topics, internal, asTable }) => [topics[0], internal, asTable])).to.deep.equal([
      ['customers', false, true],
      ['shop-by-customer-repartition', true, false],
    ])
    expect(joining?.sinkTopics).to.deep.equal(['out'])
  })

  it('lets a table source be its own changelog when the topology is optimized', () => {
    const topology = streams(builder => {
      builder.table('t', { ...text, store: 't' })
    })
    const storeOf = (optimization: 'all' | 'none'): unknown =>
      planApplication(topology, { 'application.id': 'app', 'topology.optimization': optimization }).subtopologies[0]
        ?.stores[0]

    expect(storeOf('none')).to.include({ changelogTopic: 'app-t-changelog', sourceTopicIsChangelog: false })
    expect(storeOf('all')).to.include({ changelogTopic: 't', sourceTopicIsChangelog: true })
  })

  it('warns of numbered stores, and refuses them where names are asked for', () => {
    const topology = streams(builder => {
      builder.stream('in', text).groupByKey().count()
    })

    expect(planApplication(topology, { 'application.id': 'app' }).warnings).to.have.length(1)
    const problems = problemsOf(() =>
      planApplication(topology, { 'application.id': 'app', 'ensure.explicit.internal.resource.naming': true }),
    )
    expect(problems.map(({ code }) => code)).to.deep.equal(['NAME_REQUIRED'])
  })

  it('keeps a store without a changelog when logging is off, and passes topic properties on', () => {
    const topology = streams(builder => {
      builder.stream('in', text).process({
        stores: {
          a: keyValueStore('a', { ...text, logging: false }),
          b: keyValueStore('b', { ...text, logging: { 'min.compaction.lag.ms': '5' } }),
        },
        init: () => () => {},
      })
    })
    const stores = planApplication(topology, { 'application.id': 'app' }).subtopologies[0]?.stores ?? []

    expect(stores.map(store => store.changelogTopic)).to.deep.equal([undefined, 'app-b-changelog'])
    expect(stores[1]?.configs).to.include({ 'min.compaction.lag.ms': '5' })
  })

  it('starts sources without a committed offset where they say, else where the application says', () => {
    const topology = streams(builder => {
      builder
        .stream('a', { ...text, offsetReset: 'latest' })
        .repartition({ name: 'r' })
        .to('o')
      builder.stream('b', text).to('o')
    })
    const { subtopologies } = planApplication(topology, { 'application.id': 'app', 'auto.offset.reset': 'none' })
    const resets = new Map(
      subtopologies.flatMap(({ sources }) => sources.map(({ topics, offsetReset }) => [topics[0], offsetReset])),
    )

    expect([...resets]).to.have.deep.members([
      ['a', 'latest'],
      ['app-r-repartition', 'earliest'],
      ['b', 'none'],
    ])
  })

  it('refuses state under at_most_once and names it', () => {
    const topology = streams(builder => {
      builder.stream('in', text).groupByKey().count({ store: 'per-key' })
    })
    const planned = { 'application.id': 'app', 'processing.guarantee': 'at_most_once' } as const
    const refused = (): unknown => planApplication(topology, planned)
    expect(refused)
      .to.throw(MillraceError, /per-key/)
      .with.property('code', 'STORE_NOT_ALLOWED')

    const stateless = streams(builder => {
      builder.stream('in', text).to('out')
    })
    expect(planApplication(stateless, planned).subtopologies).to.have.lengthOf(1)
  })
})

describe('the typed surface', () => {
  it('asks for serdes that are missing and refuses asynchronous steps', () => {
    const problems = problemsOf(() =>
      streams(builder => {
        const stream = builder.stream('in', { key: string, value: json<{ n: number }>() })
        // @ts-expect-error a computed value has no serde yet
        stream.mapValues(value => value.n).to('out')
        // @ts-expect-error a promise is no value
        stream.mapValues(value => Promise.resolve(value)).to('out2', { value: json() })
        // @ts-expect-error a long is no text
        stream.mapValues(value => String(value.n)).to('out3', { value: long })
      }),
    )

    expect(problems.map(({ code }) => code)).to.deep.equal(['SERDE_MISSING'])
  })
})
