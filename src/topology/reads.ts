import type { Side } from './graph-node.ts'

const DECLARED = new WeakMap<object, ReadonlySet<Side>>()

/**
 * Says which sides a step reads, so that the other need not be decoded for it. An expression knows; of a user's function
 * nothing can be known, and it is taken to read both.
 */
export function declareReads<F extends object>(step: F, ...sides: readonly Side[]): F {
  DECLARED.set(step, new Set(sides))
  return step
}

/** Whether a step may read a side. */
export function readsOf(step: object, side: Side): boolean {
  return DECLARED.get(step)?.has(side) ?? true
}
