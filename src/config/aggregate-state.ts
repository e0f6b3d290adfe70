import { RECORD_VARIABLES, type VariableName } from '../expressions/scope.ts'
import { typeNameOf } from '../expressions/static-type.ts'
import { json } from '../serdes/json.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { OperatorConfig } from './application-config.ts'
import type { BuildContext } from './build-context.ts'
import type { ExpressionSpec } from './expression-spec.ts'
import { mapper, withReads, type RecordFunction, type StateFunction } from './step-functions.ts'

/** An aggregation. */
export type Aggregation = Extract<
  OperatorConfig,
  { readonly kind: 'count' | 'sum' | 'min' | 'max' | 'reduce' | 'aggregate' }
>

/** Serde of states that are computed. */
export const jsonSerde: AnySerde = json()

/** A value of its own for each key: nobody's change of one may show in another. */
export function constant(value: unknown): () => unknown {
  return typeof value === 'object' && value !== null ? () => structuredClone(value) : () => value
}

/** The step of `sum`, `min` or `max`. */
export function combinedAggregation(
  { kind, expression }: Extract<Aggregation, { readonly kind: 'sum' | 'min' | 'max' }>,
  context: BuildContext,
): StateFunction | undefined {
  return combinerOf(expression, COMBINERS[kind], RECORD_VARIABLES, context)
}

/** How two states of `sum`, `min` or `max` become one. */
export function mergedState(kind: 'sum' | 'min' | 'max'): (left: unknown, right: unknown) => unknown {
  return (left, right) => {
    if (kind === 'sum') return added(left, numberOf(right, kind))
    if (right === null) return left
    return better(left, numberOf(right, kind), kind === 'min' ? (a, b) => a < b : (a, b) => a > b)
  }
}

/** The step that combines the state with what an expression gives of each record. */
export function combinerOf(
  spec: ExpressionSpec,
  combine: (part: RecordFunction) => StateFunction,
  variables: ReadonlySet<VariableName>,
  { compiler }: BuildContext,
): StateFunction | undefined {
  if (spec.kind !== 'module') {
    const expression = compiler.compile(spec, variables)
    return expression === undefined ? undefined : withReads(expression, combine(mapper(expression)))
  }
  const part = compiler.functionOf(spec, variables, mapper)
  return part === undefined ? undefined : combine(part)
}

/** Sums of a `bigint` serde stay bigints. */
export function startOf(value: AnySerde | undefined): number | bigint {
  return value?.name === 'bigint' ? 0n : 0
}

/** How a state and a number become a state. */
export const COMBINERS: Readonly<Record<'sum' | 'min' | 'max', (part: RecordFunction) => StateFunction>> = {
  sum: part => (state, value, key, record) => added(state, numberOf(part(value, key, record), 'sum')),
  min: part => (state, value, key, record) => better(state, numberOf(part(value, key, record), 'min'), (a, b) => a < b),
  max: part => (state, value, key, record) => better(state, numberOf(part(value, key, record), 'max'), (a, b) => a > b),
}

/** Takes a number out of a sum again. */
export function differenceOf(part: RecordFunction): StateFunction {
  return (state, value, key, record) => added(state, -numberOf(part(value, key, record), 'sum'))
}

function added(state: unknown, more: number | bigint): number | bigint {
  const total = numberOf(state, 'sum')
  if (typeof total === 'bigint' || typeof more === 'bigint') return BigInt(total) + BigInt(more)
  const sum = total + more
  const rounded = Number.isSafeInteger(total) && Number.isSafeInteger(more) && !Number.isSafeInteger(sum)
  if (rounded || !Number.isFinite(sum)) throw new RangeError('the sum is beyond ±(2^53 - 1) and would be rounded')
  return sum
}

function better(
  state: unknown,
  candidate: number | bigint,
  wins: (a: number | bigint, b: number | bigint) => boolean,
): unknown {
  return state === null || wins(candidate, numberOf(state, 'min')) ? candidate : state
}

function numberOf(value: unknown, operator: string): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  throw new TypeError(`"${operator}" needs a number, got ${typeNameOf(value)}`)
}
