import type { Step } from '../operators/step.ts'

const DRAFTED = new WeakMap<object, Step>()

/** Says how a step works where what it gives is only going to be written as JSON, at once. */
export function declareDrafted<F extends object>(step: F, drafted: Step): F {
  DRAFTED.set(step, drafted)
  return step
}

/** The step, or how it works where what it gives is only going to be written as JSON, at once. */
export function draftedStep(step: Step): Step {
  return DRAFTED.get(step) ?? step
}
