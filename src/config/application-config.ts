import type { InvalidTimestamp } from '../topology/options.ts'
import type { DropReason, ErrorPolicies } from '../model/record-failure.ts'
import type { WindowsOptions } from '../topology/windows.ts'
import type { ScalarNode } from './config-node.ts'
import type { ExpressionSpec, ModuleReference } from './expression-spec.ts'
import type { Place } from './source-file.ts'

/** A serde by name, or from a module. */
export type SerdeSpec =
  | { readonly kind: 'named'; readonly name: string; readonly place: Place }
  | { readonly kind: 'module'; readonly reference: ModuleReference; readonly place: Place }
  /** Keys of windows over keys of a named serde; only where a windowed stream is written. */
  | { readonly kind: 'windowed'; readonly name: string; readonly place: Place }
  /** Something that is no serde, which has been noted: nobody knows the bytes, so nothing that depends on them is checked. */
  | { readonly kind: 'unreadable' }

/** How a store is kept. */
export interface StoreSpecConfig {
  readonly name: string | undefined
  readonly maxBytes: number | undefined
  readonly logging: boolean | Readonly<Record<string, string>> | undefined
  /** How long windows are kept, in ms. */
  readonly retentionMs: number | undefined
  readonly caching: boolean | undefined
}

/** The windows of an aggregation. */
export interface WindowConfig {
  readonly windows: WindowsOptions
  readonly emit: 'updates' | 'final' | undefined
  readonly lateTopic: string | undefined
}

/** One entry of `sources:`. */
export interface SourceConfig {
  readonly name: string
  readonly place: Place
  readonly topics: readonly [string, ...string[]]
  readonly as: 'stream' | 'table' | 'globalTable'
  readonly key: SerdeSpec | undefined
  readonly value: SerdeSpec | undefined
  readonly timestamp: ExpressionSpec | undefined
  readonly onInvalidTimestamp: InvalidTimestamp | undefined
  readonly offsetReset: 'earliest' | 'latest' | 'none' | undefined
  readonly onOutOfRange: 'fail' | 'earliest' | 'latest' | undefined
  readonly errors: ErrorPolicies | undefined
  readonly store: StoreSpecConfig | undefined
  /** How long earlier versions of a table are kept, in ms. */
  readonly versionedMs: number | undefined
}

/** The operator of a step. */
export type OperatorConfig =
  | { readonly kind: 'merge' }
  | { readonly kind: 'filter'; readonly expression: ExpressionSpec }
  | { readonly kind: 'drop'; readonly expression: ExpressionSpec }
  | { readonly kind: 'value'; readonly expression: ExpressionSpec }
  | { readonly kind: 'key'; readonly expression: ExpressionSpec }
  | {
      readonly kind: 'map'
      readonly key: ExpressionSpec | undefined
      readonly value: ExpressionSpec | undefined
      readonly headers: ExpressionSpec | undefined
      readonly timestamp: ExpressionSpec | undefined
    }
  | {
      readonly kind: 'flatMap'
      readonly each: ExpressionSpec
      readonly key: ExpressionSpec | undefined
      readonly value: ExpressionSpec | undefined
    }
  | { readonly kind: 'split'; readonly branches: ReadonlyMap<string, ExpressionSpec | 'default'> }
  | {
      readonly kind: 'repartition'
      readonly partitions: number | undefined
      readonly partition: ExpressionSpec | undefined
    }
  | { readonly kind: 'count' }
  | { readonly kind: 'sum'; readonly expression: ExpressionSpec }
  | { readonly kind: 'min'; readonly expression: ExpressionSpec }
  | { readonly kind: 'max'; readonly expression: ExpressionSpec }
  | { readonly kind: 'reduce'; readonly expression: ExpressionSpec }
  | {
      readonly kind: 'aggregate'
      readonly init: unknown
      readonly update: ExpressionSpec
      readonly subtract: ExpressionSpec | undefined
      /** Joins two sessions, of `left` and `right`. */
      readonly merge: ExpressionSpec | undefined
    }
  | {
      readonly kind: 'join'
      readonly with: ScalarNode
      readonly type: 'inner' | 'left' | 'outer'
      /** How far the right record may lie before and after the left one. */
      readonly within: { readonly beforeMs: number; readonly afterMs: number } | undefined
      readonly graceMs: number | undefined
      /** Key into a global table, or foreign key into a table. */
      readonly on: ExpressionSpec | undefined
      readonly value: ExpressionSpec
    }
  | {
      readonly kind: 'suppress'
      /** A time in ms, or when the window closes. */
      readonly until: number | 'windowCloses'
      readonly maxRecords: number | undefined
      readonly maxBytes: number | undefined
      readonly whenFull: 'emit' | 'stop' | undefined
    }
  | { readonly kind: 'dedupe'; readonly id: ExpressionSpec; readonly withinMs: number }
  | { readonly kind: 'table' }
  | { readonly kind: 'stream'; readonly deletions: 'keep' | 'drop' }
  | { readonly kind: 'peek'; readonly expression: ExpressionSpec }
  | { readonly kind: 'process'; readonly reference: ModuleReference }
  | { readonly kind: 'processValues'; readonly reference: ModuleReference }

/** One entry of `steps:`. */
export interface StepConfig {
  readonly name: string
  readonly place: Place
  readonly from: readonly ScalarNode[]
  readonly operator: OperatorConfig
  readonly groupBy: ExpressionSpec | undefined
  readonly window: WindowConfig | undefined
  readonly key: SerdeSpec | undefined
  readonly value: SerdeSpec | undefined
  readonly store: StoreSpecConfig | undefined
  /** How long earlier versions of a table are kept, in ms. */
  readonly versionedMs: number | undefined
}

/** One entry of `sinks:`. */
export interface SinkConfig {
  readonly name: string
  readonly place: Place
  readonly from: ScalarNode
  readonly topic: string | ExpressionSpec
  readonly key: SerdeSpec | undefined
  readonly value: SerdeSpec | undefined
  readonly partition: ExpressionSpec | undefined
}

/** What happens in a test, in order. */
export type TestEvent =
  | {
      readonly kind: 'record'
      readonly place: Place
      readonly topic: string
      readonly key: unknown
      readonly value: unknown
      readonly timestamp: number | undefined
      readonly headers: Readonly<Record<string, string | null>> | undefined
    }
  | { readonly kind: 'advanceWallClock'; readonly byMs: number }
  | { readonly kind: 'restart' | 'abort' | 'commit' }

/** A record a test expects; what is `undefined` is not compared. */
export interface ExpectedRecord {
  readonly place: Place
  readonly topic: string
  readonly key: unknown
  readonly value: unknown
  readonly timestamp: number | undefined
  readonly headers: Readonly<Record<string, string | null>> | undefined
}

/** One entry of `tests:`. */
export interface TestConfig {
  readonly name: string
  readonly place: Place
  readonly events: readonly TestEvent[]
  readonly outputs: readonly ExpectedRecord[]
  readonly dropped: ReadonlyMap<DropReason, number>
}

/** What an application does, as its YAML says. */
export interface GraphConfig {
  /** Every name written, also of entries that could not be read; what lacks them is no further mistake. */
  readonly declared: ReadonlySet<string>
  readonly sources: ReadonlyMap<string, SourceConfig>
  readonly steps: ReadonlyMap<string, StepConfig>
  readonly sinks: ReadonlyMap<string, SinkConfig>
}
