import type { StaticType } from './static-type.ts'

/** The values a function takes, receiver first; fewer than four are filled up with `undefined`. */
export type FunctionBody = (a: unknown, b: unknown, c: unknown, d: unknown) => unknown

/** One overload of a function of the expression language. */
export interface FunctionDefinition {
  readonly name: string
  /** Called as `receiver.name(…)` (the first parameter), as `name(…)`, or as `space.name(…)`. */
  readonly form: 'method' | 'global' | `${'math' | 'optional'}.`
  readonly parameters: readonly StaticType[]
  readonly returns: StaticType
  /** For the reference. */
  readonly doc: string
  /** Throwing is a record-level failure; plain errors get the place added. */
  readonly body: FunctionBody
}

/** As the reference shows it: `string.indexOf(string, number) → number`. */
export function signatureOf(definition: FunctionDefinition): string {
  const [receiver, ...rest] = definition.parameters
  const returns = shownType(definition.returns)
  if (definition.form === 'method') {
    return `${shownType(receiver ?? 'dyn')}.${definition.name}(${rest.map(shownType).join(', ')}) → ${returns}`
  }
  const space = definition.form === 'global' ? '' : definition.form
  return `${space}${definition.name}(${definition.parameters.map(shownType).join(', ')}) → ${returns}`
}

function shownType(type: StaticType): string {
  return type === 'dyn' ? 'any' : type
}
