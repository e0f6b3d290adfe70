/** The clients a property reaches. */
export type Client = 'consumer' | 'producer' | 'admin'

/** What a property takes. */
export type PropertyType =
  | { readonly kind: 'text' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'list'; readonly words: readonly string[]; readonly parts: readonly string[] }

/** A property of Kafka's (or ours) that is honoured. */
export interface PropertyDefinition {
  readonly name: string
  readonly type: PropertyType
  /** As the reference shows it; `undefined` = none. */
  readonly default: string | number | boolean | undefined
  readonly doc: string
  readonly required?: boolean
  /** What to do instead of a value that is not there, such as one of Kafka's that is not supported. */
  readonly instead?: string
  /** For properties of the `kafka:` block: which clients it reaches; a prefix must fit. */
  readonly clients?: readonly Client[]
  /** Whether it is ours, not Kafka's. */
  readonly ours?: boolean
}

/** Largest value of Java's `int` and of a safe integer, the bounds of Kafka's number properties. */
export const INT_MAX = 2_147_483_647

/** A property that holds an integer. */
export function integer(min: number, max: number = INT_MAX): PropertyType {
  return { kind: 'integer', min, max }
}

/** A property that holds one of some words. */
export function oneOf(...choices: readonly string[]): PropertyType {
  return { kind: 'choice', choices }
}

/** A property that holds one of some words, or several of others with commas between. */
export function oneOrSeveralOf(words: readonly string[], parts: readonly string[]): PropertyType {
  return { kind: 'list', words, parts }
}

/** A property that holds a text. */
export const TEXT: PropertyType = { kind: 'text' }
/** A property that holds a text nobody may see. */
export const SECRET: PropertyType = { kind: 'secret' }
/** A property that holds true or false. */
export const BOOLEAN: PropertyType = { kind: 'boolean' }
