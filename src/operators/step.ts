import { MillraceError } from '../model/errors.ts'
import type { RecordContext } from '../model/record.ts'

/** A user's function on a record, its types forgotten: value first, as in the DSL. */
export type Step = (value: unknown, key: unknown, record: RecordContext) => unknown

/** A user's function that combines an aggregate or left value, a value, and the key. */
export type CombineStep = (first: unknown, second: unknown, key: unknown, record: RecordContext) => unknown

/**
 * The result of a step, unless it is a promise: a record is one savepoint, so steps are synchronous.
 *
 * @throws MillraceError `STEP_RETURNED_PROMISE`
 */
export function sync(result: unknown): unknown {
  if (typeof result === 'object' && result !== null && 'then' in result && typeof result.then === 'function') {
    // The rejection would otherwise end the process as unhandled, after the failure was dealt with.
    if (result instanceof Promise) result.catch(() => {})
    throw new MillraceError('STEP_RETURNED_PROMISE')
  }
  return result
}

/** The result of a mapper: as `sync`, and a step that returns nothing makes a null. */
export function made(result: unknown): unknown {
  return sync(result) ?? null
}

/**
 * The answer of a condition.
 *
 * @throws MillraceError `STEP_RETURNED_PROMISE`
 */
export function holds(result: unknown): boolean {
  return Boolean(sync(result))
}
