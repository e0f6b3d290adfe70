import type { DropReason } from '../model/record-failure.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made } from './step.ts'
import type { JoinStep } from './stream-table-join.ts'
import type { TableStore } from './table.ts'
import type { TableGetter } from './table-getter.ts'

/** Which entries of two joined tables give a result. */
export type JoinKind = 'inner' | 'left' | 'outer'

/** What one side of a join of tables works with. */
export interface TableJoinParts extends Site {
  readonly kind: JoinKind
  /** Whether this side's value stands left in the joiner. */
  readonly isLeft: boolean
  /** Reads the other table. */
  readonly other: TableGetter
  /** The bytes of the key, as the other table's store has them. */
  readonly keyBytes: KeyBytes
  readonly joiner: JoinStep
  readonly sendsOld: boolean
  readonly dropped: (reason: DropReason) => void
}

/**
 * An update of one table with the other's present value. Kafka Streams: `KTableKTableInnerJoin`, `LeftJoin`, `RightJoin` and
 * `OuterJoin`.
 */
export function tableTableJoin(parts: TableJoinParts, next: Forward): Forward {
  const { name, record, kind, isLeft, other, keyBytes, joiner, sendsOld, dropped } = parts
  const needsOther = kind === 'inner' || (kind === 'left' && !isLeft)
  const needsOwn = kind === 'inner' || (kind === 'left' && isLeft)
  const join = (key: unknown, own: unknown, partner: unknown): unknown =>
    (own === null && (needsOwn || partner === null)) || (partner === null && needsOther)
      ? null
      : made(isLeft ? joiner(own, partner, key) : joiner(partner, own, key))
  return (key, value, timestamp, headers, old) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    record.enter(name, timestamp, headers)
    const partner = other.get(keyBytes(key, headers), key)
    const partnerTime = other.timestamp
    const before = old ?? null
    // Nothing to pair with; and where that matters little, neither was there nor is a value of this side.
    if (partner === null && (needsOther || (value === null && before === null))) return
    next(
      key,
      join(key, value, partner),
      partner === null ? timestamp : Math.max(timestamp, partnerTime),
      headers,
      sendsOld ? join(key, before, partner) : null,
    )
  }
}

/** Both sides' results in one, kept if asked for. Kafka Streams: `KTableKTableJoinMerger`. */
export function tableJoinMerge(site: Site, kept: TableStore | undefined, next: Forward): Forward {
  if (kept === undefined) return next
  const { store, keyBytes } = kept
  return (key, value, timestamp, headers, old) => {
    site.record.enter(site.name, timestamp, headers)
    store.put(keyBytes(key, headers), value, timestamp)
    next(key, value, timestamp, headers, old)
  }
}

/** Reads the join of two tables that is not kept. Kafka Streams: `KTableKTableInnerJoinValueGetter` and its kin. */
export function joinedGetter(kind: JoinKind, left: TableGetter, right: TableGetter, joiner: JoinStep): TableGetter {
  let time = -1
  const get = (keyBytes: Uint8Array, key: unknown): unknown => {
    time = -1
    const leftValue = left.get(keyBytes, key)
    const leftTime = left.timestamp
    if (leftValue === null && kind !== 'outer') return null
    const rightValue = right.get(keyBytes, key)
    if (rightValue === null && (kind === 'inner' || leftValue === null)) return null
    time = Math.max(leftTime, rightValue === null ? -1 : right.timestamp)
    return made(joiner(leftValue, rightValue, key))
  }
  return {
    get,
    getAsOf: get,
    get timestamp() {
      return time
    },
  }
}
