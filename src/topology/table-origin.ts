import {
  filterGetter,
  mapValuesGetter,
  storeGetter,
  transformedGetter,
  versionedGetter,
  type TableGetter,
} from '../operators/table-getter.ts'
import type { JoinStep } from '../operators/stream-table-join.ts'
import { joinedGetter, type JoinKind } from '../operators/table-table-join.ts'
import type { Step } from '../operators/step.ts'
import type { NodeCompiler } from './graph-node.ts'

/**
 * Where a table's present and earlier values come from; decided while the graph is built, because a later step may ask for
 * either. Kafka Streams: `KTableImpl.enableSendingOldValues` and `valueGetterSupplier`.
 */
export interface TableOrigin {
  /** Whether updates carry the value before. */
  readonly sendsOld: boolean
  /** Asks for the values before; `force` gives a source a store for it. Returns whether they will come. */
  sendOld(force: boolean): boolean
  /** Sees to it that present values can be read. */
  materialize(): void
  /** Stores a reader of present values uses. */
  stores(): readonly string[]
  /** Whether reading present values runs user code on the key. */
  readonly readsKey: boolean
  /** Whether values come from a store with versions, so that what held at a time can be asked for and older versions come late. */
  readonly isVersioned: boolean
  getter(compiler: NodeCompiler): TableGetter
}

/** A table that is always kept: an aggregation, or a step with a store. */
export class StoredTable implements TableOrigin {
  readonly #store: string
  readonly #getter: (compiler: NodeCompiler) => TableGetter
  readonly isVersioned: boolean
  #sendsOld = false

  /** @param getter - how the store is read; a key-value store unless it says otherwise */
  constructor(
    store: string,
    getter: (compiler: NodeCompiler) => TableGetter = compiler => storeGetter(compiler.store(store)),
    isVersioned = false,
  ) {
    this.#store = store
    this.#getter = getter
    this.isVersioned = isVersioned
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

  getter(compiler: NodeCompiler): TableGetter {
    return this.#getter(compiler)
  }
}

/** A table read from a topic or made of a stream: kept once it has a name or somebody needs its store. Kafka Streams: `KTableSource`. */
export class SourceTable implements TableOrigin {
  readonly #store: string
  readonly #keep: () => void
  readonly #isVersioned: boolean
  #isKept: boolean
  #sendsOld = false

  /** @param keep - adds the store to the graph */
  constructor(store: string, options: { readonly isKept: boolean; readonly isVersioned: boolean }, keep: () => void) {
    const { isKept, isVersioned } = options
    this.#store = store
    this.#isKept = isKept
    this.#isVersioned = isVersioned
    this.#keep = keep
    if (isKept) keep()
  }

  get isKept(): boolean {
    return this.#isKept
  }

  get sendsOld(): boolean {
    return this.#sendsOld
  }

  sendOld(force: boolean): boolean {
    if (!this.#isKept && !force) return false
    this.materialize()
    this.#sendsOld = true
    return true
  }

  materialize(): void {
    if (this.#isKept) return
    this.#isKept = true
    this.#keep()
  }

  stores(): readonly string[] {
    return [this.#store]
  }

  get readsKey(): boolean {
    return false
  }

  get isVersioned(): boolean {
    return this.#isVersioned
  }

  getter(compiler: NodeCompiler): TableGetter {
    return this.#isVersioned
      ? versionedGetter(compiler.versionedStore(this.#store))
      : storeGetter(compiler.store(this.#store))
  }
}

/** What a step makes of the values of a table. */
export type DerivingStep =
  | { readonly kind: 'filter'; readonly step: Step; readonly keep: boolean }
  | { readonly kind: 'mapValues'; readonly step: Step }
  /** A transformer is made once per place that uses it, as it may remember things. */
  | { readonly kind: 'transformValues'; readonly newStep: (compiler: NodeCompiler) => Step }

/** A step on a table that keeps nothing: present values are made from the parent's. */
export class DerivedTable implements TableOrigin {
  readonly #parent: TableOrigin
  readonly #step: DerivingStep
  #sendsOld = false

  constructor(parent: TableOrigin, step: DerivingStep) {
    this.#parent = parent
    this.#step = step
  }

  get sendsOld(): boolean {
    return this.#sendsOld
  }

  sendOld(force: boolean): boolean {
    if (this.#parent.sendOld(force)) this.#sendsOld = true
    return this.#sendsOld
  }

  materialize(): void {
    this.#parent.materialize()
  }

  stores(): readonly string[] {
    return this.#parent.stores()
  }

  get readsKey(): boolean {
    return true
  }

  get isVersioned(): boolean {
    return this.#parent.isVersioned
  }

  getter(compiler: NodeCompiler): TableGetter {
    const parent = this.#parent.getter(compiler)
    const { site } = compiler
    switch (this.#step.kind) {
      case 'filter':
        return filterGetter(site, parent, this.#step.step, this.#step.keep)
      case 'mapValues':
        return mapValuesGetter(site, parent, this.#step.step)
      case 'transformValues':
        return transformedGetter(site, parent, this.#step.newStep(compiler))
    }
  }
}

/** The join of two tables, kept or made of both when asked for. Kafka Streams: `KTableKTableAbstractJoin` and its merger. */
export class JoinedTable implements TableOrigin {
  readonly #left: TableOrigin
  readonly #right: TableOrigin
  readonly #kind: JoinKind
  readonly #joiner: JoinStep
  readonly #store: string | undefined
  #sendsOld = false

  constructor(parts: {
    readonly left: TableOrigin
    readonly right: TableOrigin
    readonly kind: JoinKind
    readonly joiner: JoinStep
    readonly store: string | undefined
  }) {
    this.#left = parts.left
    this.#right = parts.right
    this.#kind = parts.kind
    this.#joiner = parts.joiner
    this.#store = parts.store
  }

  get sendsOld(): boolean {
    return this.#sendsOld
  }

  sendOld(): boolean {
    this.#left.sendOld(true)
    this.#right.sendOld(true)
    this.#sendsOld = true
    return true
  }

  materialize(): void {
    this.#left.materialize()
    this.#right.materialize()
  }

  stores(): readonly string[] {
    return this.#store === undefined ? [...this.#left.stores(), ...this.#right.stores()] : [this.#store]
  }

  get readsKey(): boolean {
    return this.#store === undefined
  }

  get isVersioned(): boolean {
    return false
  }

  getter(compiler: NodeCompiler): TableGetter {
    return this.#store === undefined
      ? joinedGetter(this.#kind, this.#left.getter(compiler), this.#right.getter(compiler), this.#joiner)
      : storeGetter(compiler.store(this.#store))
  }
}
