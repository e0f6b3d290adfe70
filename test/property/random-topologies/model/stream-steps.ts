import type { StreamJoinOperation } from '../operations.ts'
import { graceOf, type Input } from '../plan.ts'
import * as user from '../user-functions.ts'
import { recordOf, type Model } from './flow.ts'
import { GlobalTableJoin, StreamJoin, StreamTableJoin } from './stream-joins.ts'
import { Stateless } from './streams.ts'
import type { Stream, Wiring } from './wiring.ts'

/** Joins of a stream with whatever it can be joined with. */
export function joinStream(wiring: Wiring, operation: StreamJoinOperation, first: Input, second: Input): Stream {
  const { model } = wiring
  const stream = wiring.stream(first)
  switch (operation.kind) {
    case 'streamJoin': {
      const other = wiring.stream(second)
      const join = new StreamJoin(model, user.joinerOf(operation), { ...operation, kind: operation.join })
      for (const [side, one] of [stream, other].entries()) wiring.distributedForJoin(one).node.feeds(join, side)
      return { node: join, isRekeyed: false }
    }
    case 'streamTableJoin': {
      const table = wiring.table(second)
      const grace = graceOf(operation.grace, second.shape)
      const node = grace === null ? stream.node : stream.node.feeds(withKeys(model))
      const { node: distributed } = wiring.distributedForJoin({ ...stream, node })
      const join = new StreamTableJoin(table, user.joinerOf(operation), { isLeft: operation.isLeft, grace })
      return { node: distributed.feeds(join), isRekeyed: false }
    }
    case 'globalTableJoin': {
      const join = new GlobalTableJoin(model, wiring.globalRows, user.selector(operation.fn), {
        joiner: user.joinerOf(operation),
        isLeft: operation.isLeft,
      })
      return { ...stream, node: stream.node.feeds(join) }
    }
  }
}

/** Steps on streams that remember nothing. */
export function stateless(wiring: Wiring, { node, isRekeyed }: Stream, kind: string, fn: number): Stream {
  const { model } = wiring
  const holds = user.predicate(fn)
  switch (kind) {
    case 'filter':
      return { node: node.feeds(new Stateless(model, r => (holds(r.value, r.key) ? [r] : []))), isRekeyed }
    case 'filterNot':
      return { node: node.feeds(new Stateless(model, r => (holds(r.value, r.key) ? [] : [r]))), isRekeyed }
    case 'mapValues':
      return {
        node: node.feeds(new Stateless(model, r => [recordOf(r.key, user.mapper(fn)(r.value), r.time, r.headers)])),
        isRekeyed,
      }
    case 'flatMapValues':
      return {
        node: node.feeds(
          new Stateless(model, r =>
            user
              .flatMapper(fn)(r.value)
              .map(value => recordOf(r.key, value, r.time, r.headers)),
          ),
        ),
        isRekeyed,
      }
    case 'selectKey':
      return {
        node: node.feeds(
          new Stateless(model, r => [recordOf(user.selector(fn)(r.value, r.key), r.value, r.time, r.headers)]),
        ),
        isRekeyed: true,
      }
    default: {
      const pairs = kind === 'map' ? listed(user.pairMapper(fn)) : user.flatPairMapper(fn)
      return {
        node: node.feeds(
          new Stateless(model, r =>
            pairs(r.value, r.key).map(([key, value]) => recordOf(key, value, r.time, r.headers)),
          ),
        ),
        isRekeyed: true,
      }
    }
  }
}

function listed<T>(make: (value: unknown, key: unknown) => T): (value: unknown, key: unknown) => T[] {
  return (value, key) => [make(value, key)]
}

function withKeys(model: Model): Stateless {
  return new Stateless(model, record => (record.key === null ? [] : [record]))
}
