import type { TableGetter } from '../operators/table-getter.ts'
import { sessionGetter, windowGetter } from '../operators/windowed-getter.ts'
import type { NodeCompiler } from './graph-node.ts'
import type { TableOrigin } from './table-origin.ts'

/** A table of windows, which is always kept. Kafka Streams: `KTableImpl` of a windowed aggregation. */
export class WindowedTable implements TableOrigin {
  readonly #store: string
  readonly #kind: 'window' | 'session'
  #sendsOld = false

  constructor(store: string, kind: 'window' | 'session') {
    this.#store = store
    this.#kind = kind
  }

  get sendsOld(): boolean {
    return this.#sendsOld
  }

  sendOld(): boolean {
    this.#sendsOld = true
    return true
  }

  materialize(): void {}

  stores(): readonly string[] {
    return [this.#store]
  }

  get readsKey(): boolean {
    return false
  }

  get isVersioned(): boolean {
    return false
  }

  getter(compiler: NodeCompiler): TableGetter {
    return this.#kind === 'window'
      ? windowGetter(compiler.windowStore(this.#store))
      : sessionGetter(compiler.sessionStore(this.#store))
  }
}
