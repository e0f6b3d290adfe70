import { sessionGetter, windowGetter } from '../operators/windowed-getter.ts'
import { StoredTable } from './table-origin.ts'

/** A table of windows, which is always kept. Kafka Streams: `KTableImpl` of a windowed aggregation. */
export function windowedTable(store: string, kind: 'window' | 'session'): StoredTable {
  return new StoredTable(store, compiler =>
    kind === 'window' ? windowGetter(compiler.windowStore(store)) : sessionGetter(compiler.sessionStore(store)),
  )
}
