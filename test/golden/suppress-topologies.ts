import { string } from '../../src/serdes/text.ts'
import type { KTable } from '../../src/topology/dsl.ts'
import { num, numberOf, read, text, type CaseBuilder, type CaseParams } from './case-parts.ts'
import { append, sessionWindowsOf, timeWindowsOf } from './window-topologies.ts'
import type { Windowed } from '../../src/model/windowed.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'

function counted(b: StreamsBuilder, params: CaseParams, store?: string): KTable<Windowed<string>, number> {
  return read(b, 'in').groupByKey().windowedBy(timeWindowsOf(params)).count(store === undefined ? {} : { store })
}

/** Cases of suppress by the pattern of their names. */
export const SUPPRESS: readonly (readonly [pattern: RegExp, build: CaseBuilder])[] = [
  [/^suppress-tumbling-g\d+$/, (b, _n, params) => {
    read(b, 'in')
      .groupByKey()
      .windowedBy(timeWindowsOf(params))
      .aggregate(() => '', append, { store: 'w', value: string })
      .suppress({ until: 'windowCloses', name: 'sup' })
      .toStream()
      .to('out')
  }],
  [/^suppress-(?:hopping|sliding)$/, (b, _n, params) => {
    counted(b, params).suppress({ until: 'windowCloses' }).toStream().to('out')
  }],
  [/^suppress-session$/, (b, _n, params) => {
    read(b, 'in')
      .groupByKey()
      .windowedBy(sessionWindowsOf(params))
      .aggregate(() => '', append, (p, q) => `${p}|${q}`, { store: 's', value: string })
      .suppress({ until: 'windowCloses', name: 'sup' })
      .toStream()
      .to('out')
  }],
  [/^suppress-timelimit-table$/, (b, _n, params) => {
    b.table('in', text).suppress({ until: numberOf(params, 'limit'), name: 'sup' }).toStream().to('out')
  }],
  [/^suppress-timelimit-zero$/, (b, _n, params) => {
    b.table('in', text).suppress({ until: numberOf(params, 'limit') }).toStream().to('out')
  }],
  [/^suppress-timelimit-table-groupBy$/, (b, _n, params) => {
    b.table('in', text)
      .suppress({ until: numberOf(params, 'limit'), name: 'sup' })
      .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  }],
  [/^suppress-timelimit-maxrecords$/, (b, _n, params) => {
    read(b, 'in')
      .groupByKey()
      .count({ store: 'c' })
      .suppress({ until: numberOf(params, 'limit'), maxRecords: numberOf(params, 'maxRecords'), name: 'sup' })
      .toStream()
      .to('out')
  }],
  [/^suppress-timelimit-windowed$/, (b, _n, params) => {
    counted(b, params).suppress({ until: numberOf(params, 'limit'), name: 'sup' }).toStream().to('out')
  }],
  [/^suppress-shutdown-when-full$/, (b, _n, params) => {
    counted(b, params)
      .suppress({ until: 'windowCloses', maxRecords: numberOf(params, 'maxRecords'), name: 'sup' })
      .toStream()
      .to('out')
  }],
  [/^cached-off-commit-suppress$/, b => {
    counted(b, { size: 100, grace: 50 }, 'w').suppress({ until: 'windowCloses', name: 'sup' }).toStream().to('out')
  }],
]
