import { long } from '../../src/serdes/numbers.ts'
import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import { sessionStore, windowStore } from '../../src/stores/store-spec.ts'
import type { KTable } from '../../src/topology/dsl.ts'
import type { Windowed } from '../../src/model/windowed.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import type { SessionWindows, TimeWindows } from '../../src/topology/windows.ts'
import { num, numberOf, read, text, type CaseBuilder, type CaseParams } from './case-parts.ts'

/** As the cases aggregate: text is appended, `DEL` deletes. */
export function append(aggregate: string | null, value: string | null): string | null {
  return value === 'DEL' ? null : `${aggregate ?? ''}${String(value)};`
}

/** The windows a case's parameters name. */
export function timeWindowsOf(params: CaseParams): TimeWindows {
  if ('timeDifference' in params) return { sliding: numberOf(params, 'timeDifference'), grace: numberOf(params, 'grace') }
  const size = numberOf(params, 'size')
  const every = 'advance' in params ? numberOf(params, 'advance') : size
  const grace = numberOf(params, 'grace')
  return every === size ? { tumbling: size, grace } : { hopping: size, every, grace }
}

export function sessionWindowsOf(params: CaseParams): SessionWindows {
  return { session: numberOf(params, 'gap'), grace: numberOf(params, 'grace') }
}

function emitOf(params: CaseParams): 'updates' | 'final' {
  return params['emit'] === 'onWindowClose' ? 'final' : 'updates'
}

function out<V>(table: KTable<Windowed<string>, V>): void {
  table.toStream().to("out")
}

function counted(b: StreamsBuilder, params: CaseParams, store?: string): void {
  out(read(b, 'in').groupByKey().windowedBy(timeWindowsOf(params), { emit: emitOf(params) }).count(store === undefined ? {} : { store }))
}

function aggregated(b: StreamsBuilder, params: CaseParams): void {
  out(
    read(b, 'in')
      .groupByKey()
      .windowedBy(timeWindowsOf(params), { emit: emitOf(params) })
      .aggregate(() => '', append, { store: 'w', value: string }),
  )
}

/** Cases by the pattern of their names; numbers in names are parameters. */
export const WINDOWS: readonly (readonly [pattern: RegExp, build: CaseBuilder])[] = [
  [/^window-(?:tumbling|hopping|sliding)-[-\d]+g\d+-count(?:-close)?(?:-throttled)?$/, (b, _n, params) => { counted(b, params) }],
  [/^window-(?:tumbling|hopping|sliding)-[-\d]+g\d+-aggregate$/, (b, _n, params) => { aggregated(b, params) }],
  [/^window-(?:tumbling|hopping|sliding)-[-\d]+g\d+-(?:inmemory|headers-format)$/, (b, _n, params) => { aggregated(b, params) }],
  [/^window-tumbling-\d+-g\d+-longrun$/, (b, _n, params) => { counted(b, params, 'w') }],
  [/^window-(?:tumbling|hopping|sliding)-[-\d]+g\d+-reduce-close$/, (b, _n, params) => {
    out(
      read(b, 'in')
        .groupByKey()
        .windowedBy(timeWindowsOf(params), { emit: emitOf(params) })
        .reduce((a, v) => `${a}+${String(v)}`, { store: 'w' }),
    )
  }],
  [/^window-unlimited$/, b => { out(read(b, 'in').groupByKey().windowedBy({ unlimited: 0 }).count()) }],
  [/^window-tumbling-groupBy-table$/, (b, _n, params) => {
    read(b, 'in')
      .groupByKey()
      .windowedBy(timeWindowsOf(params))
      .count()
      .groupBy((n, w) => [`w${String(n % 2)}`, w.key], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { value: string })
      .toStream()
      .to('out')
  }],
  [/^session-gap\d+-g\d+-count$/, (b, _n, params) => { out(read(b, 'in').groupByKey().windowedBy(sessionWindowsOf(params)).count()) }],
  [/^session-gap\d+-g\d+-(?:inmemory|headers-format)$/, (b, _n, params) => {
    out(
      read(b, 'in')
        .groupByKey()
        .windowedBy(sessionWindowsOf(params))
        .aggregate(() => '', append, (p, q) => `${p}|${q}`, { value: string, storeType: 'memory' }),
    )
  }],
  [/^session-gap\d+-g\d+-(?:aggregate|aggregate-close)$/, (b, _n, params) => {
    out(
      read(b, 'in')
        .groupByKey()
        .windowedBy(sessionWindowsOf(params), { emit: emitOf(params) })
        .aggregate(() => '', append, (p, q) => `${p}|${q}`, { store: 's', value: string }),
    )
  }],
  [/^session-gap\d+-g\d+-reduce$/, (b, _n, params) => {
    out(read(b, 'in').groupByKey().windowedBy(sessionWindowsOf(params)).reduce((a, v) => `${a}+${String(v)}`, { store: 's' }))
  }],
  [/^proc-dedup-window$/, b => {
    b.stream('in', { key: nullable(string), value: nullable(string) })
      .processValues({
        stores: { w: windowStore('w', { key: string, value: string, retention: 300, windowSize: 100 }) },
        value: string,
        init:
          ({ stores: { w }, forward }) =>
          ({ key, value, timestamp }) => {
            if (key === null || value === null) return
            const id = String(num(value) % 5)
            if ([...w.fetch(id, timestamp - 100, timestamp + 100)].length > 0) return
            w.put(id, key, timestamp)
            forward({ value: `${value}@${id}` })
          },
      })
      .to('out')
  }],
  [/^proc-session-store$/, b => {
    read(b, 'in')
      .process({
        stores: { ss: sessionStore('ss', { key: string, value: long, retention: 200 }) },
        value: string,
        init:
          ({ stores: { ss }, forward }) =>
          ({ key, timestamp }) => {
            if (key === null) return
            let [start, end, count] = [timestamp, timestamp, 1]
            for (const [session, n] of ss.findSessions(key, timestamp - 30, timestamp + 30)) {
              start = Math.min(start, session.start)
              end = Math.max(end, session.end)
              count += n
              ss.remove(session)
            }
            ss.put({ key, start, end }, count)
            forward({ key, value: `${String(start)}-${String(end)}=${String(count)}` })
          },
      })
      .to('out')
  }],
  [/^proc-window-store-duplicates$/, b => {
    read(b, 'in')
      .process({
        stores: { wd: windowStore('wd', { key: string, value: string, retention: 300, windowSize: 100, retainDuplicates: true }) },
        value: string,
        init:
          ({ stores: { wd }, forward }) =>
          ({ key, value, timestamp }) => {
            if (key === null) return
            wd.put(key, value, timestamp)
            forward({ key, value: [...wd.fetch(key, timestamp - 50, timestamp + 50)].map(([, v]) => v).join(',') })
          },
      })
      .to('out')
  }],
]
