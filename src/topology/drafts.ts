const DRAFTED = new WeakMap<object, unknown>()

/** Says how a step works where what it gives is only going to be written as JSON, at once. */
export function declareDrafted<F extends object>(step: F, drafted: F): F {
  DRAFTED.set(step, drafted)
  return step
}

/** The step, or how it works where what it gives is only going to be written as JSON, at once. */
export function draftedStep<F extends object>(step: F): F
export function draftedStep(step: object): unknown {
  return DRAFTED.get(step) ?? step
}
