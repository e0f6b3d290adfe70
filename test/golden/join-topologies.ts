import { string } from '../../src/serdes/text.ts'
import type { KTable } from '../../src/topology/dsl.ts'
import { num, read, text, type CaseBuilder } from './case-parts.ts'

const kept = { store: 'tt', value: string }
const pair = (l: string | null, r: string | null): string => `${String(l)}/${String(r)}`
const parities = (l: string | null, r: string | null): string => `${parity(l)}${parity(r)}`

function parity(value: string | null): string {
  return value === null ? '-' : String(num(value) % 2)
}

type Table = KTable<string, string>
type Unkept = KTable<string, string, 'no value serde'>

function plainTables(join: (left: Table, right: Table) => Unkept): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text)).toStream().to('out', { value: string })
  }
}

function keptTables(join: (left: Table, right: Table) => Table): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text)).toStream().to('out')
  }
}

function groupedTables(join: (left: Table, right: Table) => Unkept): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text))
      .groupBy((v, k) => [v, k], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  }
}

/** Joins of tables by their keys. */
export const TABLE_JOINS: Readonly<Record<string, CaseBuilder>> = {
  'ttjoin-inner': plainTables((l, r) => l.join(r, pair)),
  'ttjoin-left': plainTables((l, r) => l.leftJoin(r, pair)),
  'ttjoin-outer': plainTables((l, r) => l.outerJoin(r, pair)),
  'ttjoin-inner-materialized': keptTables((l, r) => l.join(r, pair, kept)),
  'ttjoin-left-materialized': keptTables((l, r) => l.leftJoin(r, pair, kept)),
  'ttjoin-outer-materialized': keptTables((l, r) => l.outerJoin(r, pair, kept)),
  'ttjoin-inner-groupBy': groupedTables((l, r) => l.join(r, parities)),
  'ttjoin-left-groupBy': groupedTables((l, r) => l.leftJoin(r, parities)),
  'ttjoin-outer-groupBy': groupedTables((l, r) => l.outerJoin(r, parities)),
  'ttjoin-nested': b => {
    const [left, right, third] = [b.table('l', text), b.table('r', text), b.table('t', text)]
    left.outerJoin(right, pair).leftJoin(third, pair).toStream().to('out', { value: string })
  },
  'ttjoin-null-joiner': b => {
    b.table('l', text)
      .join(b.table('r', text), (l, r) => (num(l) % 2 === 0 ? null : pair(l, r)), kept)
      .toStream()
      .to('out')
  },
  'misc-table-sources-of-one-topic': b => {
    read(b, 'in').to('out1')
    const table = b.table('in2', text)
    table.join(table, pair).toStream().to('out2', { value: string })
  },
}
