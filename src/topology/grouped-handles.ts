import type { CombineStep } from '../operators/step.ts'
import type { AnySerde } from '../serdes/serde.ts'
import * as cogroup from './cogroup.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import type { ErasedWindowedOptions, GroupedStreamParts, TableParts } from './parts.ts'
import * as windowed from './windowed-grouping.ts'
import type { WindowsOptions } from './windows.ts'

/** A grouped stream in windows with its types forgotten; `Table` is the handle of what it becomes. */
export class WindowedStreamHandle<Table> {
  readonly parts: windowed.WindowedStreamParts
  readonly #table: (parts: TableParts) => Table

  constructor(parts: windowed.WindowedStreamParts, table: (parts: TableParts) => Table) {
    this.parts = parts
    this.#table = table
  }

  count(options: ErasedWindowedOptions = {}): Table {
    return this.#table(windowed.addWindowedCount(this.parts, options))
  }

  reduce(reducer: CombineStep, options: ErasedWindowedOptions = {}): Table {
    return this.#table(windowed.addWindowedReduce(this.parts, reducer, options))
  }

  /** In windows of time `(initializer, aggregator, options)`; in sessions a merger comes before the options. */
  aggregate(initializer: () => unknown, aggregator: CombineStep, ...rest: readonly unknown[]): Table {
    const { merge, options } = windowed.aggregateArguments(rest)
    const given = { ...options, merge: merge ?? options.merge }
    return this.#table(windowed.addWindowedAggregate(this.parts, initializer, aggregator, given))
  }
}

/** A `CogroupedKStream` with its types forgotten. */
export class CogroupedHandle<Table> {
  readonly inputs: cogroup.CogroupedParts
  readonly #table: (parts: TableParts) => Table

  constructor(inputs: cogroup.CogroupedParts, table: (parts: TableParts) => Table) {
    this.inputs = inputs
    this.#table = table
  }

  cogroup(other: { readonly parts: GroupedStreamParts }, aggregator: CombineStep): CogroupedHandle<Table> {
    const [first, ...rest] = this.inputs
    return new CogroupedHandle([first, ...rest, { grouped: other.parts, aggregator }], this.#table)
  }

  aggregate(initializer: () => unknown, options: StoreOptions & VersionedOption & { readonly value: AnySerde }): Table {
    return this.#table(cogroup.addCogrouped(this.inputs, initializer, options))
  }

  windowedBy(windows: WindowsOptions, options: windowed.ErasedWindowedBy = {}): WindowedCogroupedHandle<Table> {
    return new WindowedCogroupedHandle(cogroup.cogroupedWindowedBy(this.inputs, windows, options), this.#table)
  }
}

/** A `TimeWindowedCogroupedKStream` or `SessionWindowedCogroupedKStream` with its types forgotten. */
export class WindowedCogroupedHandle<Table> {
  readonly parts: cogroup.WindowedCogroupedParts
  readonly #table: (parts: TableParts) => Table

  constructor(parts: cogroup.WindowedCogroupedParts, table: (parts: TableParts) => Table) {
    this.parts = parts
    this.#table = table
  }

  /** In windows of time `(initializer, options)`; in sessions a merger comes before the options. */
  aggregate(initializer: () => unknown, ...rest: readonly unknown[]): Table {
    const { merge, options } = windowed.aggregateArguments(rest)
    const given = { ...options, merge: merge ?? options.merge }
    return this.#table(cogroup.addWindowedCogrouped(this.parts, initializer, given))
  }
}
