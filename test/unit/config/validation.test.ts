import { expect } from 'chai'
import { HEAD, loadYaml, messageOfYaml, problemsOfYaml } from './yaml-application.ts'

const SOURCE = 'sources: { orders: { topic: orders, key: string, value: json } }\n'

describe('the check of a configuration', () => {
  it('shows the place, the line with a mark, and the nearest known key', async () => {
    const text = `${HEAD}${SOURCE}steps:
  totals:
    from: orders
    agregate: { init: 0, update: state + 1 }
sinks: { out: { from: totals, topic: totals } }
`
    expect(await messageOfYaml(text)).to.equal(
      [
        'file1.yaml:7:5  unknown key "agregate" in step "totals"',
        '    7 |     agregate: { init: 0, update: state + 1 }',
        '      |     ^^^^^^^^  did you mean "aggregate"?',
        '1 error. Nothing was started.',
      ].join('\n'),
    )
  })

  it('reports every mistake at once, in the order of the file', async () => {
    const problems =
      await problemsOfYaml(`streams: { application.id: app, num.stream.threads: many, comit.interval.ms: 5 }
kafka: { bootstrap.servers: x:1, sasl.jaas.config: y }
sources:
  orders: { topic: "a b", key: strng }
steps:
  paid: { from: oders, filter: valeu.x == 1 }
  both: { from: orders, filter: true, drop: false }
sinks:
  out: { from: paid }
`)
    expect(problems).to.deep.equal([
      '1:53 "num.stream.threads" of "streams" is an integer from 1 to 256, not "many"',
      '1:59 unknown property "comit.interval.ms" (did you mean "commit.interval.ms"?)',
      '2:34 "sasl.jaas.config" is not supported (write `sasl.mechanism`, `sasl.username` and `sasl.password`)',
      '4:20 "topic" of source "orders" is no topic name: letters, digits, ".", "_" and "-", at most 249',
      '4:32 "key" of source "orders" is a serde, not "strng" (did you mean "string"?)',
      '6:17 there is no source or step "oders" (did you mean "orders"?)',
      '7:39 step "both" has more than one operator: filter, drop (write a step for each)',
      '9:3 sink "out" lacks "topic"',
    ])
  })

  it('takes some of the optimizations, with commas between, and names one it does not know', async () => {
    const file = `streams: { application.id: app, topology.optimization: 'merge.repartition.topics, single.store.self.join' }
kafka: { bootstrap.servers: x:1 }
${SOURCE}sinks: { out: { from: orders, topic: t } }
`
    const loaded = await loadYaml(file)
    expect(loaded.config.streams['topology.optimization']).to.equal('merge.repartition.topics, single.store.self.join')
    expect(await problemsOfYaml(file.replace('topics,', 'topic,'))).to.deep.equal([
      '1:56 "topology.optimization" of "streams" is none, all, or some of reuse.ktable.source.topics, merge.repartition.topics, single.store.self.join with commas between, not "merge.repartition.topic, single.store.self.join" (did you mean "merge.repartition.topics"?)',
    ])
  })

  it('names the place inside an expression', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  paid: { from: orders, filter: value.status == paid }
  big: { from: orders, filter: 'size(value.items) > "3"' }
  sum: { from: orders, aggregate: { init: { n: 0 }, update: { n: "state.n +" } } }
sinks: { out: { from: paid, topic: t } }
`),
    ).to.deep.equal([
      `5:49 unknown name "paid" (known here: key, value, headers, timestamp, topic, partition, offset; a text is quoted: "'paid'")`,
      '6:33 ">" does not work on number and string',
      '7:76 unexpected token: EOF',
    ])
  })

  it('says what stands in a place where it cannot work', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  a: { from: orders, filter: "'text'" }
  b: { from: orders, groupBy: value.x, filter: true }
  c: { from: [orders] }
  d: { from: b2, value: value }
  d2: { from: d, value: value }
  b2: { from: d2, value: value }
  e: { from: orders, filter: 1 }
  f: { from: orders, filter: { literal: 'true' } }
  g: { from: orders, split: { none: null, some: [true] } }
  h: { from: orders, filter: { literal: true } }
`),
    ).to.include.members([
      '5:30 a condition is true or false, but this expression gives string',
      '11:30 a condition is true or false, but this expression gives number',
      '12:30 a condition is true or false, but this expression gives string',
      '13:37 a condition is true or false, but this expression gives null',
      '13:49 a condition is true or false, but this expression gives list',
      '6:22 "groupBy" of step "b" needs an aggregation (add count: {}, sum, min, max, reduce or aggregate; or write key: to re-key)',
      '9:15 steps read each other in a circle: d ← b2 ← d2 ← d (let one of them read a source; a loop goes through a topic, a sink and a source of it)',
    ])
  })

  it('says for each thing that cannot be read or written what to write instead', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  a: { from: nowhere, filter: true }
  b: { from: out, filter: true }
sinks: { out: { from: a, topic: t } }
`),
    ).to.include.members([
      '5:14 there is no source or step "nowhere" (there are orders, a, b)',
      '6:14 "out" is a sink, it cannot be read (read what the sink writes, the name in its `from`)',
    ])
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps: { item: { from: orders, value: value.x } }
sinks: { out: { from: item, topic: t } }
`),
    ).to.deep.equal([
      '5:10 out writes the value of item, and no serde of it is known (name it at the step that computes it, serdes: { key: …, value: … }, or at the sink)',
    ])
  })

  it('tells a mistake once that the graph would find too', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  w: { from: orders, window: { session: 1m, grace: 0s }, aggregate: { init: { n: 0 }, update: { n: state.n + 1 } } }
sinks: { out: { from: w, topic: t } }
`),
    ).to.deep.equal([
      '5:3 step "w" aggregates sessions and lacks "merge": two sessions may grow together (add merge: an expression of `left` and `right`, left being the earlier session)',
    ])
  })

  it('knows that names are shared by sources, steps and sinks', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps: { orders: { from: orders, filter: true } }
sinks: { 1st: { from: orders, topic: t } }
`),
    ).to.include.members([
      '4:10 the name "orders" is used by a source and a step (give one of them another name)',
      '5:10 "1st" is no name of a sink (letters, digits, "_" and "-", beginning with a letter)',
    ])
  })

  it('checks rules between properties and names both', async () => {
    expect(
      await problemsOfYaml(`streams: { application.id: app, commit.interval.ms: 10000 }
kafka: { bootstrap.servers: x, sasl.username: me, ssl.ca: x, session.timeout.ms: 2000, delivery.timeout.ms: 100 }
sources: {}
`),
    ).to.deep.equal([
      '1:33 commit.interval.ms (10000) is not below transaction.timeout.ms (10000) (the broker would abort every transaction before its commit: lower the first or raise the second)',
      '2:32 "sasl.username" is given, but security.protocol is PLAINTEXT: nobody would log in (write security.protocol: SASL_SSL)',
      '2:51 "ssl.ca" is given, but security.protocol is PLAINTEXT: nothing would be encrypted (write security.protocol: SSL)',
      '2:62 heartbeat.interval.ms (3000) is not below session.timeout.ms (2000) (the group would give the member up between two heartbeats; a third of it is usual)',
      '2:88 delivery.timeout.ms (100) is below request.timeout.ms + linger.ms (30005) (a batch would be given up before its first answer)',
    ])
  })

  it('refuses a password that would cross the network readable', async () => {
    const login = 'security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: "${P}"'
    const head = (servers: string): string =>
      `streams: { application.id: app }\nkafka: { bootstrap.servers: "${servers}", ${login} }\nsources: {}\n`
    const environment = { P: 'hunter2' }
    expect(await problemsOfYaml(head('kafka.example:9092'), { environment })).to.have.lengthOf(1)
    const { warnings } = await loadYaml(head('localhost:9092,[::1]:1'), { environment })
    expect(warnings.join()).to.contain('sends the password readable')
  })

  it('refuses stores under at_most_once', async () => {
    expect(
      await problemsOfYaml(`streams: { application.id: app, processing.guarantee: at_most_once }
kafka: { bootstrap.servers: x }
${SOURCE}steps: { n: { from: orders, count: {} } }
sinks: { out: { from: n, topic: t } }
`),
    ).to.deep.equal([
      '4:10 "n" keeps state, which at_most_once cannot: an update is never repeated, so a lost one stays lost (use exactly_once_v2 or at_least_once)',
    ])
  })

  it('refuses a join of keys written by different serdes', async () => {
    expect(
      await problemsOfYaml(`${HEAD}sources:
  orders: { topic: orders, key: string, value: json }
  customers: { topic: customers, as: table, key: json, value: json }
steps:
  j: { from: orders, join: { with: customers, value: right } }
sinks: { out: { from: j, topic: t, value: json } }
`),
    ).to.deep.equal([
      '7:36 keys written as string are joined with keys written as json (equal keys would have different bytes: use one serde on both sides)',
    ])
  })

  for (const [what, kind, bounds] of [
    ['tables', 'as: table, ', ''],
    ['streams', '', 'within: 5s, grace: 0s, '],
  ] as const) {
    for (const type of ['inner', 'left', 'outer']) {
      it(`tells one mistake of a join of two ${what} whose keys are written by different serdes (${type})`, async () => {
        expect(
          await problemsOfYaml(`${HEAD}sources:
  left: { topic: l, ${kind}key: string, value: json }
  right: { topic: r, ${kind}key: json, value: json }
steps:
  j: { from: left, join: { with: right, type: ${type}, ${bounds}value: "{'l': left, 'r': right}" } }
  after: { from: j, filter: value.l.x == 1 }
sinks: { out: { from: after, topic: t } }
`),
        ).to.deep.equal([
          '7:34 keys written as string are joined with keys written as json (equal keys would have different bytes: use one serde on both sides)',
        ])
      })
    }
  }

  it('asks for the serde of a value that nobody has described', async () => {
    const problems = await problemsOfYaml(`${HEAD}${SOURCE}steps: { names: { from: orders, value: value.name } }
sinks: { out: { from: names, topic: t } }
`)
    expect(problems).to.have.lengthOf(1)
    expect(problems[0]).to.match(/^5:10 .*no serde of it is known/)
  })

  it('wants a topic for dead letters', async () => {
    expect(
      await problemsOfYaml(`${HEAD}sources: { orders: { topic: o, errors: { processing: deadLetter } } }\n`),
    ).to.deep.equal(['3:32 "errors" of source "orders" sends dead letters nowhere (add deadLetterTopic: <topic>)'])
    await loadYaml(
      `${HEAD}errors: { deadLetterTopic: dlq }\nsources: { orders: { topic: o, errors: { processing: deadLetter } } }\n`,
    )
  })

  it('says of what is not built yet that it is not supported yet', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  n: { from: orders, count: {}, store: { type: lmdb } }
sinks: { out: { from: n, topic: t } }
`),
    ).to.deep.equal(['5:42 "type" of "store" of step "n" is not supported yet: stores on disk are missing'])
  })

  it('says that a step on a table needs a stream first', async () => {
    expect(
      await problemsOfYaml(`${HEAD}${SOURCE}steps:
  n: { from: orders, count: {} }
  keyed: { from: n, key: key }
sinks: { out: { from: keyed, topic: t } }
`),
    ).to.deep.equal([
      '6:3 step "keyed" (key) works on streams, and "n" is a table (put a step before it: { from: n, stream: { deletions: keep } })',
    ])
  })

  it('reports YAML that is none', async () => {
    expect(await problemsOfYaml(`${HEAD}sources: { a: 1, a: 2 }\nx: [\n`)).to.satisfy((problems: string[]) =>
      problems.every(problem => problem.includes('not valid YAML')),
    )
  })

  it('refuses keys that reach a prototype', async () => {
    expect(await problemsOfYaml(`${HEAD}sources: { __proto__: { topic: x } }\n`)).to.include(
      '3:12 the key "__proto__" is refused',
    )
  })

  it('warns about a source or step nobody reads, about ignored properties and plain-text passwords', async () => {
    const { warnings } = await loadYaml(`streams: { application.id: app, poll.ms: 5 }
kafka: { bootstrap.servers: x, security.protocol: SASL_SSL, sasl.mechanism: PLAIN, sasl.username: u, sasl.password: hunter2 }
${SOURCE}`)
    const texts = warnings.map(warning => warning.replace(/^\S*file1\.yaml:/, ''))
    expect(texts).to.deep.equal([
      '1:33  "poll.ms" is ignored (the loop is woken by data, it does not poll)',
      '2:102  "sasl.password" stands in the file as it is (refer to it by ${VAR} or ${file:/path})',
      '3:12  source "orders" is read by nobody',
    ])
  })
})
