import type { ExpressionScope, KnownVariables, VariableName } from './scope.ts'
import type { KnownValue, StaticType } from './static-type.ts'

/** Computes a part of an expression. */
export type Evaluate = (scope: ExpressionScope) => unknown

/** A compiled part of an expression. */
export interface Compiled extends KnownValue {
  readonly evaluate: Evaluate
  /** The value, when it does not depend on the record. */
  readonly constant?: { readonly value: unknown }
  /** Part of a chain that contains `.?`: a null on the way makes the whole chain null. */
  readonly optional?: boolean
}

/** What is known around the part being compiled. */
export interface Surroundings {
  /** Variables the step gives. */
  readonly variables: ReadonlySet<VariableName>
  /** What is known of some of them. */
  readonly known: KnownVariables
  /** Variables of enclosing macros and their slots in `ExpressionScope.locals`. */
  readonly locals: ReadonlyMap<string, number>
  /** Collects the step variables that are read. */
  readonly reads: Set<VariableName>
  /** Told of everything that may make a value JSON does not have, such as a timestamp. */
  readonly marks: { special: boolean; iterates: boolean }
  /** Fields that `has()` asks for: the expression knows that they may be missing. */
  readonly askedFor: Set<string>
}

/** A part without record. */
export function constantOf(value: unknown, type: StaticType): Compiled {
  return { type, evaluate: () => value, constant: { value } }
}
