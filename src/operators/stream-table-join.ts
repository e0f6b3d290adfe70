import type { DropReason } from '../model/record-failure.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made, type Step } from './step.ts'
import type { TableGetter } from './table-getter.ts'

/** Joins a left and a right value. */
export type JoinStep = (left: unknown, right: unknown, key: unknown) => unknown

/** What a join of a stream with a table works with. */
export interface StreamTableJoinParts extends Site {
  readonly getter: TableGetter
  /** The bytes of the key to look up, as the table's store has them. */
  readonly keyBytes: KeyBytes
  readonly dropped: (reason: DropReason) => void
  readonly joiner: JoinStep
  readonly isLeft: boolean
}

/** Each record with the table's present value, or the one that held at its time. A left join passes null keys on without a partner. Kafka Streams: `KStreamKTableJoinProcessor`. */
export function streamTableJoin(parts: StreamTableJoinParts, next: Forward): Forward {
  const { name, record, getter, keyBytes, dropped, joiner, isLeft } = parts
  return (key, value, timestamp, headers) => {
    if (value === null || (key === null && !isLeft)) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    const right = key === null ? null : getter.getAsOf(keyBytes(key, headers), key, timestamp)
    if (right === null && !isLeft) return
    next(key, made(joiner(value, right, key)), timestamp, headers)
  }
}

/** Each record with a global table's value under a key of its choice. Kafka Streams: `KStreamGlobalKTableJoin`. */
export function streamGlobalTableJoin(parts: StreamTableJoinParts, selector: Step, next: Forward): Forward {
  const { name, record, getter, keyBytes, dropped, joiner, isLeft } = parts
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    const mapped = made(selector(value, key, record.view))
    if (value === null || (mapped === null && !isLeft)) {
      dropped(mapped === null ? 'nullKey' : 'nullValue')
      return
    }
    const right = mapped === null ? null : getter.get(keyBytes(mapped, headers), mapped)
    if (right === null && !isLeft) return
    next(key, made(joiner(value, right, key)), timestamp, headers)
  }
}
