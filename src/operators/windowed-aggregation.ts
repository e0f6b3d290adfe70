import type { RecordHeaders } from '../model/headers.ts'
import type { DropReason } from '../model/record-failure.ts'
import { WindowedKey } from '../model/windowed.ts'
import type { Forward } from './forward.ts'
import type { LongVariable } from './long-variable.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { sync, type CombineStep } from './step.ts'

/** How the values of a window become one: how it starts, and how a value is added. A result of null deletes. */
export interface Fold {
  readonly initializer: () => unknown
  readonly add: CombineStep
}

/** Counts. */
export const COUNT_FOLD: Fold = { initializer: () => 0, add: total => Number(total) + 1 }

/** The fold of a reducer: the first value starts. */
export function reduceFold(reducer: CombineStep): Fold {
  return {
    initializer: () => null,
    add: (total, value, key, record) => (total === null ? value : reducer(total, value, key, record)),
  }
}

/** The fold of user code. */
export function aggregateFold(initializer: () => unknown, aggregator: CombineStep): Fold {
  return { initializer: () => sync(initializer()), add: aggregator }
}

/** What every windowed aggregation works with, whatever its store. */
export interface WindowedAggregationParts extends Site {
  /** The bytes of the record's key. */
  readonly keyBytes: KeyBytes
  /** A key from its bytes, for windows that are emitted when others' records close them. */
  readonly readKey: (bytes: Buffer) => unknown
  readonly dropped: (reason: DropReason, count?: number) => void
  /** Whether somebody downstream needs the value before. */
  readonly sendsOld: boolean
  /** Each window once, when it has closed. Kafka Streams: `EmitStrategy.onWindowClose`. */
  readonly emitsFinal: boolean
  /** Highest time of a record that reached the aggregation, in ms. */
  readonly observed: LongVariable
  /** Close time at the last emission, in ms. */
  readonly lastClose: LongVariable
  /** Writes a record that came too late to the late topic. */
  readonly late: Forward | undefined
}

/** Counts a record that came too late for every window, and writes it to the late topic if there is one. */
export function giveUpLate(
  { dropped, late }: WindowedAggregationParts,
  key: unknown,
  value: unknown,
  timestamp: number,
  headers: RecordHeaders,
): void {
  dropped('late')
  late?.(key, value, timestamp, headers)
}

/** A window's key. */
export function windowed(key: unknown, start: number, end: number): WindowedKey<unknown> {
  return new WindowedKey(key, start, end)
}
