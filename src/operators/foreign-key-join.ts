import { murmur3Hash128 } from '../model/murmur3.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { RecordHeaders } from '../model/headers.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes, SideBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made } from './step.ts'
import type { JoinStep } from './stream-table-join.ts'
import {
  Instruction,
  newSubscription,
  Subscription,
  SubscriptionAnswer,
  subscriptionKey,
  subscriptionPrefix,
} from './subscription.ts'
import type { TableGetter } from './table-getter.ts'

/** A user's function that finds a foreign key in a value; `null` for none. */
export type ForeignKeyStep = (value: unknown, key: unknown) => unknown

/** What the left side of a foreign-key join works with. */
export interface SubscriptionSendParts extends Site {
  readonly foreignKey: ForeignKeyStep
  /** Bytes of the left key and value. */
  readonly keyBytes: KeyBytes
  readonly valueBytes: SideBytes
  /** Bytes of a foreign key, to see whether two are the same. */
  readonly foreignKeyBytes: KeyBytes
  readonly isLeft: boolean
  readonly dropped: (reason: DropReason) => void
}

/** Tells the rows a left row refers to, and referred to, of its change. Kafka Streams: `SubscriptionSendProcessorSupplier`. */
export function sendSubscriptions(parts: SubscriptionSendParts, next: Forward): Forward {
  const { name, record, foreignKey, keyBytes, valueBytes, foreignKeyBytes, isLeft, dropped } = parts
  const differ = (a: unknown, b: unknown, headers: RecordHeaders): boolean =>
    a === null || b === null || Buffer.compare(foreignKeyBytes(a, headers), foreignKeyBytes(b, headers)) !== 0
  return (key, value, timestamp, headers, old) => {
    const before = old ?? null
    if (key === null || (value === null && before === null)) {
      if (key === null) dropped('nullKey')
      return
    }
    record.enter(name, timestamp, headers)
    const from = before === null ? null : made(foreignKey(before, key))
    const to = value === null ? null : made(foreignKey(value, key))
    const primaryKey = keyBytes(key, headers)
    const bytes = valueBytes(value, headers)
    const hash = bytes === null ? null : murmur3Hash128(bytes)
    const { partition } = record.view.origin
    const moved = from !== null && differ(from, to, headers)
    if (to === null && !isLeft) {
      if (value !== null) dropped('nullKey')
      if (from === null) return
      next(from, newSubscription(hash, Instruction.deleteAndAnswer, primaryKey, partition), timestamp, headers)
      return
    }
    if (moved) next(from, newSubscription(hash, Instruction.deleteSilently, primaryKey, partition), timestamp, headers)
    // A left join wants an answer even without a foreign key: the result with nothing on the right. An inner join wants
    // one without a match only where the row moved: a result may have to go.
    const instruction = isLeft || moved ? Instruction.answerAlways : Instruction.answerMatch
    next(to, newSubscription(hash, instruction, primaryKey, partition), timestamp, headers)
  }
}

/** What keeps subscriptions beside the table they are to. */
export interface SubscriptionStoreParts extends Site {
  readonly store: KeyValueState
  /** Bytes of the foreign key. */
  readonly keyBytes: KeyBytes
  readonly dropped: (reason: DropReason) => void
}

/** Keeps a subscription, or forgets it. Kafka Streams: `SubscriptionReceiveProcessorSupplier`. */
export function receiveSubscriptions(
  { name, record, store, keyBytes, dropped }: SubscriptionStoreParts,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    const subscription = asSubscription(value)
    const { instruction } = subscription
    record.enter(name, timestamp, headers)
    if (key === null) {
      if (instruction !== Instruction.answerAlways) {
        dropped('nullKey')
        return
      }
    } else {
      const isOver = instruction === Instruction.deleteSilently || instruction === Instruction.deleteAndAnswer
      store.put(
        subscriptionKey(keyBytes(key, headers), subscription.primaryKey),
        isOver ? null : subscription.bytes,
        timestamp,
      )
    }
    next(key, subscription, timestamp, headers)
  }
}

/** What answers a subscription with the present value. */
export interface SubscriptionJoinParts extends Site {
  /** Reads the table subscribed to. */
  readonly getter: TableGetter
  readonly keyBytes: KeyBytes
  /** Bytes of a value of that table. */
  readonly valueBytes: SideBytes
}

/** Answers a subscription. Kafka Streams: `SubscriptionJoinProcessorSupplier`. */
export function joinSubscriptions(
  { name, record, getter, keyBytes, valueBytes }: SubscriptionJoinParts,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    const subscription = asSubscription(value)
    const { instruction } = subscription
    record.enter(name, timestamp, headers)
    const foreign = key === null ? null : getter.get(keyBytes(key, headers), key)
    const time = foreign === null ? timestamp : Math.max(timestamp, getter.timestamp)
    if (instruction === Instruction.deleteSilently || (instruction === Instruction.answerMatch && foreign === null))
      return
    const answered = instruction === Instruction.deleteAndAnswer ? null : valueBytes(foreign, headers)
    next(
      subscription.primaryKey,
      new SubscriptionAnswer(subscription.hash, answered, subscription.primaryPartition),
      time,
      headers,
    )
  }
}

/** What tells the subscribers of a row of its change. */
export interface ForeignTableParts extends Site {
  readonly store: KeyValueState
  readonly keyBytes: KeyBytes
  readonly valueBytes: SideBytes
  readonly dropped: (reason: DropReason) => void
}

/** Tells every subscriber of a row of its change. Kafka Streams: `ForeignTableJoinProcessorSupplier`. */
export function tellSubscribers(
  { name, record, store, keyBytes, valueBytes, dropped }: ForeignTableParts,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    record.enter(name, timestamp, headers)
    const answered = valueBytes(value, headers)
    for (const [, held] of store.scan({ prefix: subscriptionPrefix(keyBytes(key, headers)) })) {
      const { primaryKey, hash, primaryPartition } = asSubscription(held)
      next(primaryKey, new SubscriptionAnswer(hash, answered, primaryPartition), timestamp, headers)
    }
  }
}

/** What makes results of answers. */
export interface AnswerParts extends Site {
  /** Reads the left table. */
  readonly getter: TableGetter
  readonly keyBytes: KeyBytes
  /** Bytes of a left value, for its hash. */
  readonly valueBytes: SideBytes
  readonly foreignValue: (bytes: Uint8Array) => unknown
  readonly joiner: JoinStep
  readonly isLeft: boolean
  readonly dropped: (reason: DropReason) => void
}

/** Joins an answer with the left row, if that is still the one that asked. Kafka Streams: `ResponseJoinProcessorSupplier`. */
export function resolveAnswers(parts: AnswerParts, next: Forward): Forward {
  const { name, record, getter, keyBytes, valueBytes, foreignValue, joiner, isLeft, dropped } = parts
  return (key, value, timestamp, headers) => {
    if (!(value instanceof SubscriptionAnswer)) throw new TypeError('a response topic holds answers')
    record.enter(name, timestamp, headers)
    const left = getter.get(keyBytes(key, headers), key)
    const leftBytes = valueBytes(left, headers)
    const { hash } = value
    const isCurrent = leftBytes === null || hash === null ? leftBytes === hash : murmur3Hash128(leftBytes).equals(hash)
    if (!isCurrent) {
      dropped('staleResponse')
      return
    }
    const right = value.foreignValue === null ? null : foreignValue(value.foreignValue)
    next(key, left === null || (right === null && !isLeft) ? null : made(joiner(left, right, key)), timestamp, headers)
  }
}

function asSubscription(value: unknown): Subscription {
  if (value instanceof Subscription) return value
  if (value instanceof Uint8Array) return new Subscription(Buffer.from(value.buffer, value.byteOffset, value.length))
  throw new TypeError('a registration topic holds subscriptions')
}
