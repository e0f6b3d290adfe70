import { string } from '../../src/serdes/text.ts'
import { num, read, text, type CaseBuilder } from './case-parts.ts'
import { append } from './window-topologies.ts'

/** Cases with a cache by the pattern of their names. */
export const CACHED: readonly (readonly [pattern: RegExp, build: CaseBuilder])[] = [
  [/^cached-aggregate$/, b => {
    read(b, 'in').groupByKey().aggregate(() => '', append, { store: 'agg', value: string }).toStream().to('out')
  }],
  [/^cached-tumbling-count$/, b => {
    read(b, 'in').groupByKey().windowedBy({ tumbling: 100, grace: 50 }).count({ store: 'w' }).toStream().to('out')
  }],
  [/^cached-session-aggregate$/, b => {
    read(b, 'in')
      .groupByKey()
      .windowedBy({ session: 30, grace: 40 })
      .aggregate(() => '', append, (p, q) => `${p}|${q}`, { store: 's', value: string })
      .toStream()
      .to('out')
  }],
  [/^cached-table-groupBy$/, b => {
    b.table('in', text)
      .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  }],
  [/^cached-table-table-join$/, b => {
    b.table('l', text)
      .outerJoin(b.table('r', text), (l, r) => `${String(l)}/${String(r)}`, { store: 'tt', value: string })
      .toStream()
      .to('out')
  }],
]
