import { string } from '../../src/serdes/text.ts'
import type { CogroupedKStream } from '../../src/topology/cogroup-dsl.ts'
import type { KTable } from '../../src/topology/dsl.ts'
import type { Windowed } from '../../src/model/windowed.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import { num, read, text, type CaseBuilder } from './case-parts.ts'
import { sessionWindowsOf, timeWindowsOf } from './window-topologies.ts'

const stored = { store: 'cg', value: string }

function addTo(letter: 'A' | 'B'): (aggregate: string, value: string | null) => string {
  return (aggregate, value) => `${aggregate}${letter}${String(value)}`
}

function cogrouped(
  b: StreamsBuilder,
): CogroupedKStream<string, string, KTable<string, string>, KTable<Windowed<string>, string>> {
  return read(b, 'a').groupByKey().cogroup<string>(addTo('A')).cogroup(read(b, 'b').groupByKey(), addTo('B'))
}

function byHalf(value: string | null): string {
  return `k${String(num(value) % 2)}`
}

/** Cases of cogroup by the pattern of their names. */
export const COGROUPS: readonly (readonly [pattern: RegExp, build: CaseBuilder])[] = [
  [/^cogroup-plain$/, b => {
    cogrouped(b).aggregate(() => '', stored).toStream().to('out')
  }],
  [/^cogroup-(?:tumbling|sliding)$/, (b, _n, params) => {
    cogrouped(b).windowedBy(timeWindowsOf(params)).aggregate(() => '', stored).toStream().to('out')
  }],
  [/^cogroup-session$/, (b, _n, params) => {
    cogrouped(b).windowedBy(sessionWindowsOf(params)).aggregate(() => '', (p, q) => `${p}|${q}`, stored).toStream().to('out')
  }],
  [/^cogroup-rekeyed$/, b => {
    const a = read(b, 'a').groupBy(byHalf, { key: string, name: 'ga', value: text.value })
    const other = read(b, 'b').groupBy(byHalf, { key: string, name: 'gb', value: text.value })
    a.cogroup<string>(addTo('A')).cogroup(other, addTo('B')).aggregate(() => '', stored).toStream().to('out')
  }],
]
