import type { CurrentRecord } from './current-record.ts'
import type { Forward } from './forward.ts'
import { holds, made, sync, type Step } from './step.ts'

/** Where an operator stands: its name and its task's record. */
export interface Site {
  readonly name: string
  readonly record: CurrentRecord
}

/** Passes on the records for which the condition is `keep`. Kafka Streams: `KStreamFilter`. */
export function filter({ name, record }: Site, predicate: Step, keep: boolean, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    if (holds(predicate(value, key, record.view)) === keep) next(key, value, timestamp, headers)
  }
}

/** Passes on records that have a key: the filter in front of a repartition topic. Kafka Streams: the null-key filter of `OptimizableRepartitionNode`. */
export function keyed(dropped: () => void, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null || key === undefined) dropped()
    else next(key, value, timestamp, headers)
  }
}

/** New key and value. Kafka Streams: `KStreamMap`. */
export function map({ name, record }: Site, mapper: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    const [newKey, newValue] = pairOf(sync(mapper(value, key, record.view)))
    next(newKey ?? null, newValue ?? null, timestamp, headers)
  }
}

/** New value. Kafka Streams: `KStreamMapValues`. */
export function mapValues({ name, record }: Site, mapper: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    next(key, made(mapper(value, key, record.view)), timestamp, headers)
  }
}

/** New key. Kafka Streams: `KStreamMap` under `selectKey`. */
export function selectKey({ name, record }: Site, selector: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    next(made(selector(value, key, record.view)), value, timestamp, headers)
  }
}

/** Any number of pairs per record. Kafka Streams: `KStreamFlatMap`. */
export function flatMap({ name, record }: Site, mapper: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    for (const pair of manyOf(sync(mapper(value, key, record.view)))) {
      const [newKey, newValue] = pairOf(pair)
      next(newKey ?? null, newValue ?? null, timestamp, headers)
      // The iterable may be lazy: what it does next is this operator's doing again.
      record.enter(name, timestamp, headers)
    }
  }
}

/** Any number of values per record. Kafka Streams: `KStreamFlatMapValues`. */
export function flatMapValues({ name, record }: Site, mapper: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    for (const newValue of manyOf(sync(mapper(value, key, record.view)))) {
      next(key, newValue ?? null, timestamp, headers)
      record.enter(name, timestamp, headers)
    }
  }
}

/** Looks at each record. Kafka Streams: `KStreamPeek`. */
export function peek({ name, record }: Site, action: Step, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    sync(action(value, key, record.view))
    next(key, value, timestamp, headers)
  }
}

/** Passes each record to the first branch whose condition holds; `undefined` = the default branch. Kafka Streams: `KStreamBranch`. */
export function branch(
  { name, record }: Site,
  conditions: readonly Step[],
  branches: readonly Forward[],
  rest: Forward | undefined,
): Forward {
  return (key, value, timestamp, headers) => {
    for (const [at, condition] of conditions.entries()) {
      record.enter(name, timestamp, headers)
      if (!holds(condition(value, key, record.view))) continue
      branches[at]?.(key, value, timestamp, headers)
      return
    }
    rest?.(key, value, timestamp, headers)
  }
}

/** The pair a mapper returned. @throws TypeError when it is none */
export function pairOf(pair: unknown): readonly unknown[] {
  if (Array.isArray(pair) && pair.length === 2) return pair
  throw new TypeError('a mapper returns [key, value]')
}

function manyOf(many: unknown): Iterable<unknown> {
  if (typeof many === 'string' || (typeof many === 'object' && many !== null && Symbol.iterator in many))
    return iterable(many)
  throw new TypeError('a flat mapper returns an iterable, such as a list')
}

function iterable(many: object | string): Iterable<unknown>
function iterable(many: unknown): unknown {
  return many
}
