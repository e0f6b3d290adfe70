import { expect } from 'chai'
import { HEAD, problemsOfYaml } from './yaml-application.ts'

const ORDERS = 'orders: { topic: orders, key: string, value: json }'

/** What is wrong in a file, what is reported: that, and nothing that follows from it. */
const MISTAKES: readonly (readonly [what: string, text: string, ...problems: readonly string[]])[] = [
  [
    'a misspelt serde of a source',
    `sources: { orders: { topic: orders, key: string, value: jsn }, customers: { topic: c, as: table, key: string, value: json } }
steps:
  paid: { from: orders, filter: value.status == "paid" }
  joined: { from: paid, join: { with: customers, value: { order: left.id, name: right.name } } }
  n: { from: joined, count: {}, groupBy: value.name }
sinks: { out: { from: n, topic: t } }
`,
    '3:57 "value" of source "orders" is a serde, not "jsn" (did you mean "json"?)',
  ],
  [
    'a misspelt serde of one side of a join',
    `sources: { ${ORDERS}, customers: { topic: c, as: table, key: strng, value: json } }
steps: { joined: { from: orders, join: { with: customers, value: right } } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '3:104 "key" of source "customers" is a serde, not "strng" (did you mean "string"?)',
  ],
  [
    'a misspelt key of a source',
    `sources: { orders: { topic: orders, key: string, vlue: json } }
steps: { paid: { from: orders, filter: value.status == "paid" } }
sinks: { out: { from: paid, topic: t } }
`,
    '3:50 unknown key "vlue" in source "orders" (did you mean "value"?)',
  ],
  [
    'a table without a serde of its keys',
    `sources: { ${ORDERS}, customers: { topic: c, as: table, value: json } }
steps: { joined: { from: orders, join: { with: customers, value: right } } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '3:65 source "customers" lacks "key" (a table decodes its key: write key: string or key: json)',
  ],
  [
    'a misspelt kind of a source',
    `sources: { ${ORDERS}, customers: { topic: c, as: tabel, key: string, value: json, store: s } }
steps: { big: { from: customers, suppress: { until: 5s } } }
sinks: { out: { from: big, topic: t } }
`,
    '3:92 "as" of source "customers" is one of stream, table, globalTable, not "tabel" (did you mean "table"?)',
  ],
  [
    'a serde of a step that is a list',
    `sources: { ${ORDERS} }
steps:
  ids: { from: orders, value: value.id, serdes: { value: [json] } }
  n: { from: ids, groupBy: value.x, reduce: state }
  merged: { from: [ids, orders] }
sinks: { out: { from: merged, topic: t }, ids-out: { from: ids, topic: u } }
`,
    '5:58 "value" of "serdes" of step "ids" is a serde, not a list',
  ],
  [
    'serdes of a step under a misspelt key',
    `sources: { ${ORDERS} }
steps: { ids: { from: orders, value: value.id, serde: { value: string } } }
sinks: { out: { from: ids, topic: t } }
`,
    '4:48 unknown key "serde" in step "ids" (did you mean "serdes"?)',
  ],
  [
    'a reduce whose serde is misspelt',
    `sources: { ${ORDERS} }
steps: { ids: { from: orders, value: value.id, serdes: { value: strng } }, last: { from: ids, reduce: value } }
sinks: { out: { from: last, topic: t } }
`,
    '4:65 "value" of "serdes" of step "ids" is a serde, not "strng" (did you mean "string"?)',
  ],
  [
    'a serde of a module that cannot be imported',
    `sources: { orders: { topic: orders, key: { module: ./missing.js#order }, value: json }, customers: { topic: c, as: table, key: string, value: json } }
steps: { joined: { from: orders, join: { with: customers, value: right } } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '3:52 the module ./missing.js cannot be imported',
  ],
  [
    'a misspelt serde of a sink of windows',
    `sources: { ${ORDERS} }
steps: { n: { from: orders, window: { tumbling: 1m, grace: 0s }, count: {} } }
sinks: { out: { from: n, topic: t, key: strng } }
`,
    '5:41 "key" of sink "out" is a serde, not "strng" (did you mean "string"?)',
  ],
  [
    'an aggregation whose expression is wrong',
    `sources: { ${ORDERS} }
steps:
  n: { from: orders, groupBy: value.x, sum: valeu.n }
  held: { from: n, suppress: { until: 5s } }
  stream: { from: held, stream: {} }
sinks: { out: { from: stream, topic: t } }
`,
    '5:45 unknown name "valeu"',
  ],
  [
    'a branch whose condition is wrong',
    `sources: { ${ORDERS} }
steps:
  by: { from: orders, split: { big: valeu.n > 5, rest: default } }
  big: { from: by.big, filter: value.a == 1 }
sinks: { out: { from: big, topic: t }, rest: { from: by.rest, topic: u } }
`,
    '5:37 unknown name "valeu"',
  ],
  [
    'a misspelt window',
    `sources: { ${ORDERS} }
steps:
  n: { from: orders, windw: { tumbling: 1m, grace: 0s }, count: {} }
  last: { from: n, suppress: { until: windowCloses } }
sinks: { out: { from: last, topic: t } }
`,
    '5:22 unknown key "windw" in step "n" (did you mean "window"?)',
  ],
  [
    'an unreadable bound of a join',
    `sources: { ${ORDERS}, other: { topic: o, key: string, value: json } }
steps: { joined: { from: orders, join: { with: other, within: soon, grace: 0s, value: right } } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '4:63 "within" of "join" of step "joined" is a duration such as 500ms, 10s, 1m, 2h or 7d, not "soon"',
  ],
  [
    'a misspelt bound of a join',
    `sources: { ${ORDERS}, other: { topic: o, key: string, value: json } }
steps: { joined: { from: orders, join: { with: other, witin: 5s, grace: 0s, value: right } } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '4:55 unknown key "witin" in "join" of step "joined" (did you mean "within"?)',
  ],
  [
    'a misspelt part of an aggregate',
    `sources: { ${ORDERS} }
steps: { n: { from: orders, aggregate: { init: 0, updat: state + 1 } }, held: { from: n, suppress: { until: 5s } } }
sinks: { out: { from: held, topic: t } }
`,
    '4:51 unknown key "updat" in "aggregate" of step "n" (did you mean "update"?)',
  ],
  [
    'an unreadable topic of a source that a test feeds',
    `sources: { orders: { topic: "a b", key: string, value: json } }
sinks: { out: { from: orders, topic: t } }
tests: [{ name: x, inputs: [{ source: orders, key: a, value: 1 }], outputs: [{ sink: out, key: a, value: 1 }] }]
`,
    '3:29 "topic" of source "orders" is no topic name: letters, digits, ".", "_" and "-", at most 249',
  ],
  [
    'a processor that cannot be imported',
    `sources: { ${ORDERS}, customers: { topic: c, as: table, key: long, value: json } }
steps:
  scored: { from: orders, process: ./missing.js#score }
  joined: { from: scored, join: { with: customers, value: right } }
sinks: { out: { from: joined, topic: t, value: json } }
`,
    '5:36 the module ./missing.js cannot be imported',
  ],
  [
    'a circle beside the steps that lead to it, read twice',
    `sources: { ${ORDERS} }
steps:
  after: { from: a, filter: value.x == 1 }
  a: { from: [b, b] }
  b: { from: [a, a, orders] }
sinks: { out: { from: after, topic: t } }
`,
    '7:15 steps read each other in a circle: a ← b ← a (let one of them read a source; a loop goes through a topic, a sink and a source of it)',
  ],
  [
    'a condition that was not written',
    `sources: { ${ORDERS} }
steps: { paid: { from: orders, filter: }, n: { from: paid, groupBy: value.x, count: {} } }
sinks: { out: { from: n, topic: t } }
`,
    '4:40 the expression is empty (write null where a null is meant)',
  ],
  [
    'a key to group by that was not written',
    `sources: { ${ORDERS} }
steps: { n: { from: orders, groupBy: , count: {} } }
sinks: { out: { from: n, topic: t } }
`,
    '4:38 the expression is empty (write null where a null is meant)',
  ],
  [
    'a field of an object that was not written',
    `sources: { ${ORDERS} }
steps: { made: { from: orders, value: { id: value.id, at: } } }
sinks: { out: { from: made, topic: t } }
`,
    '4:59 the expression is empty (write null where a null is meant)',
  ],
  [
    'a key to map to that was not written',
    `sources: { ${ORDERS} }
steps: { made: { from: orders, map: { key: , value: value.id } } }
sinks: { out: { from: made, topic: t } }
`,
    '4:44 the expression is empty (write null where a null is meant)',
  ],
  [
    'a step that reads itself',
    `sources: { ${ORDERS} }
steps: { first: { from: loop, filter: true }, loop: { from: loop, filter: true } }
sinks: { out: { from: first, topic: t } }
`,
    '4:61 steps read each other in a circle: loop ← loop (let one of them read a source; a loop goes through a topic, a sink and a source of it)',
  ],
  [
    'the name of a source taken by a step that reads it',
    `sources: { ${ORDERS} }
steps: { orders: { from: orders, filter: value.x == 1 } }
sinks: { out: { from: orders, topic: t } }
`,
    '4:10 the name "orders" is used by a source and a step (give one of them another name)',
  ],
]

describe('one mistake of a configuration', () => {
  for (const [what, text, ...expected] of MISTAKES) {
    it(`is told once: ${what}`, async () => {
      const problems = await problemsOfYaml(HEAD + text)
      expect(problems, problems.join('\n')).to.have.lengthOf(expected.length)
      for (const [at, start] of expected.entries()) expect(problems[at]?.slice(0, start.length)).to.equal(start)
    })
  }

  it('hides no other one: steps that read something else are checked', async () => {
    const problems = await problemsOfYaml(`${HEAD}sources: { ${ORDERS}, odd: { topic: odd, value: jsn } }
steps: { a: { from: orders, filter: valeu.x }, b: { from: odd, filter: value.x } }
`)
    expect(problems.map(problem => problem.split(' ', 1)[0])).to.deep.equal(['3:91', '4:37'])
  })
})
