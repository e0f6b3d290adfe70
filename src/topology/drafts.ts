/** What a step may give in place of a value that is only going to be written, at once: something that writes itself as JSON, or as text. */
export type DraftForm = 'json' | 'text'

interface Drafted {
  readonly form: DraftForm
  readonly step: unknown
}

const DRAFTED = new WeakMap<object, Drafted>()

/** Says how a step works where what it gives is only going to be written in a form, at once. */
export function declareDrafted<F extends object>(step: F, form: DraftForm, drafted: F): F {
  DRAFTED.set(step, { form, step: drafted })
  return step
}

/** A step that is made of another one, which drafts where that one does. */
export function draftedLike<F extends object>(step: F, make: (step: F) => F): F {
  const made = make(step)
  const form = DRAFTED.get(step)?.form
  return form === undefined ? made : declareDrafted(made, form, make(draftedStep(step, form)))
}

/** The step, or how it works where what it gives is only going to be written in that form, at once. */
export function draftedStep<F extends object>(step: F, form: DraftForm | undefined): F
export function draftedStep(step: object, form: DraftForm | undefined): unknown {
  const drafted = DRAFTED.get(step)
  return drafted !== undefined && drafted.form === form ? drafted.step : step
}
