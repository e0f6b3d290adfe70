import { NO_FIELDS } from '../expressions/value-reads.ts'
import type { Side, SideUse } from './graph-node.ts'

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

const FIELDS = new WeakMap<object, ReadonlySet<string>>()

/** Says that of a value with fields a step reads only some, and changes nothing: the value may be other than an object then. */
export function declareFields<F extends object>(step: F, fields: ReadonlySet<string>): F {
  FIELDS.set(step, fields)
  return step
}

/** The fields of the value that a step reads; `undefined` when it may read all of it. */
export function fieldsOf(step: object): ReadonlySet<string> | undefined {
  return readsOf(step, 'value') ? FIELDS.get(step) : NO_FIELDS
}

const TEXT_STEPS = new WeakSet<object>()

/** Says that a step does nothing with a value that is text but put it beside other texts: it takes one in place, too. */
export function declareAsText<F extends object>(step: F): F {
  TEXT_STEPS.add(step)
  return step
}

/** Whether a step takes a text in place. */
export function takesTextInPlace(step: object): boolean {
  return TEXT_STEPS.has(step)
}

/** What a step that changes nothing does with a side: reads it, or some fields of it, or leaves it alone. */
export function useBy(step: object, side: Side): Pick<SideUse, 'reads' | 'fields' | 'asText'> {
  const reads = readsOf(step, side)
  return side === 'key' ? { reads } : { reads, fields: fieldsOf(step), asText: takesTextInPlace(step) }
}
