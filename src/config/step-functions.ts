import type { Evaluate } from '../expressions/compiled.ts'
import { draftedTemplate } from '../expressions/drafted.ts'
import type { Expression } from '../expressions/expression.ts'
import { ExpressionScope, RECORD_VARIABLES, type RecordFacts, type VariableName } from '../expressions/scope.ts'
import { decodingText, draftedSum, type SumPart } from '../expressions/text-sums.ts'
import { typeNameOf } from '../expressions/static-type.ts'
import { isTimestamp } from '../expressions/time-values.ts'
import { headersOf, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import { WindowedKey } from '../model/windowed.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { windowedFormOf } from '../serdes/windowed.ts'
import { declareDrafted } from '../topology/drafts.ts'
import { declareAsText, declareFields, declareReads } from '../topology/reads.ts'

/** Variables of an aggregation: the record's and `state`. */
export const STATE_VARIABLES: ReadonlySet<VariableName> = new Set([...RECORD_VARIABLES, 'state'])
/** Variables of the element of a flatMap. */
export const ITEM_VARIABLES: ReadonlySet<VariableName> = new Set([...RECORD_VARIABLES, 'item', 'index'])
/** Variables of a join's value. */
export const JOIN_VARIABLES: ReadonlySet<VariableName> = new Set(['left', 'right', 'key'])
/** Variables of a partition. */
export const PARTITION_VARIABLES: ReadonlySet<VariableName> = new Set(['key', 'value'])
/** Variables of a table's key and value for a group. */
export const ENTRY_VARIABLES: ReadonlySet<VariableName> = new Set(['key', 'value'])

/** The variables, and `window` where keys are those of windows. */
export function withWindow(variables: ReadonlySet<VariableName>, key: AnySerde | undefined): ReadonlySet<VariableName> {
  return key === undefined || windowedFormOf(key) === undefined ? variables : new Set([...variables, 'window'])
}

/** Of a windowed key, expressions see the key inside and the window apart. */
function enterKey(scope: ExpressionScope, key: unknown): void {
  if (key instanceof WindowedKey) {
    scope.key = key.key
    scope.window = key
  } else {
    scope.key = key
    scope.window = undefined
  }
}

/** A step's function on a record. */
export type RecordFunction = (value: unknown, key: unknown, record: RecordFacts) => unknown
/** A join's function on both values. */
export type JoinFunction = (left: unknown, right: unknown, key: unknown) => unknown
/** A step's function on a state and a record. */
export type StateFunction = (state: unknown, value: unknown, key: unknown, record: RecordFacts) => unknown

/** The value of an expression. One scope serves all records of the step. */
export function mapper(expression: Expression): RecordFunction {
  const { evaluate, template, sum } = expression
  if (sum !== undefined) return summing(expression, sum, evaluating)
  const step = evaluating(expression, evaluate)
  const drafted = template === undefined ? undefined : draftedTemplate(template)
  return drafted === undefined ? step : declareDrafted(step, 'json', evaluating(expression, drafted))
}

/** A step whose result is a sum: of texts, they need not be decoded to be put one behind the other. */
function summing<F extends object>(
  expression: Expression,
  sum: readonly SumPart[],
  make: (expression: Expression, evaluate: Evaluate) => F,
): F {
  const decoded = decodingText(expression.evaluate)
  return declareAsText(declareDrafted(make(expression, decoded), 'text', make(expression, draftedSum(sum, decoded))))
}

function evaluating(expression: Expression, evaluate: Evaluate): RecordFunction {
  const scope = new ExpressionScope()
  return withReads(expression, (value, key, record) => {
    scope.value = value
    enterKey(scope, key)
    scope.record = record
    return evaluate(scope)
  })
}

/** A condition: true or false, nothing else. */
export function condition(expression: Expression): RecordFunction {
  const inner = mapper(expression)
  return withReads(expression, (value, key, record) => {
    const result = inner(value, key, record)
    if (typeof result === 'boolean') return result
    throw new TypeError(`a condition is true or false, got ${typeNameOf(result)}`)
  })
}

/** A key that is text by default: anything else but null is a failure, because the serde would have to be another one. */
export function textKey(expression: Expression): RecordFunction {
  const inner = mapper(expression)
  return withReads(expression, (value, key, record) => textOrNull(inner(value, key, record)))
}

/** A new state, from `state` and the record. */
export function stateFunction(expression: Expression): StateFunction {
  const scope = new ExpressionScope()
  const { evaluate } = expression
  return withReads(expression, (state, value, key, record) => {
    scope.state = state
    scope.value = value
    enterKey(scope, key)
    scope.record = record
    return evaluate(scope)
  })
}

/** The value of a join. */
export function joiner(expression: Expression): JoinFunction {
  const { evaluate, sum } = expression
  return sum === undefined ? joining(expression, evaluate) : summing(expression, sum, joining)
}

function joining(expression: Expression, evaluate: Evaluate): JoinFunction {
  const scope = new ExpressionScope()
  return withReads(expression, (left, right, key) => {
    scope.left = left
    scope.right = right
    enterKey(scope, key)
    return evaluate(scope)
  })
}

/** The partitions of a record: a number, a list, or the default for null. */
export function partitioner(expression: Expression): (value: unknown, key: unknown) => unknown {
  const scope = new ExpressionScope()
  const { evaluate } = expression
  return (value, key) => {
    scope.value = value
    enterKey(scope, key)
    return evaluate(scope) ?? undefined
  }
}

/**
 * The event time in ms. An expression that fails is an invalid timestamp where the source says what to do with one; else its
 * message is worth more.
 */
export function timestampExtractor(
  expression: Expression,
  invalidIsHandled: boolean,
): (value: unknown, key: unknown, record: RecordFacts) => number {
  const scope = new ExpressionScope()
  const { evaluateRaw } = expression
  return withReads(expression, (value, key, record) => {
    scope.value = value
    enterKey(scope, key)
    scope.record = record
    try {
      return timestampMs(evaluateRaw(scope))
    } catch (error) {
      if (invalidIsHandled) return Number.NaN
      throw error
    }
  })
}

/** Milliseconds of a timestamp that an expression gave. */
export function timestampMs(result: unknown): number {
  if (isTimestamp(result)) return result.ms
  const ms = typeof result === 'bigint' ? Number(result) : result
  if (typeof ms === 'number' && Number.isSafeInteger(ms)) return ms
  throw new TypeError(`a timestamp is whole milliseconds since 1970 or timestamp(…), got ${typeNameOf(result)}`)
}

/** A step's function on an element of a list, and on the record that the list was made of. */
export type ElementFunction = (
  item: unknown,
  index: number,
  value: unknown,
  key: unknown,
  record: RecordFacts,
) => unknown

/** What an element of a flatMap becomes. */
export interface ElementParts {
  readonly key: ElementFunction | undefined
  readonly value: ElementFunction | undefined
  /** The key is text by default. */
  readonly keyIsText: boolean
}

/** The value of an expression of `item`, `index` and the record. */
export function elementFunction(expression: Expression): ElementFunction {
  const scope = new ExpressionScope()
  const { evaluate } = expression
  return withReads(expression, (item, index, value, key, record) => {
    scope.item = item
    scope.index = index
    scope.value = value
    enterKey(scope, key)
    scope.record = record
    return evaluate(scope)
  })
}

/** The elements of a flatMap, each with the key and value computed for it. */
export function elements(each: RecordFunction, { key, value, keyIsText }: ElementParts): RecordFunction {
  return (recordValue, recordKey, record) => {
    const items = each(recordValue, recordKey, record)
    if (!Array.isArray(items)) throw new TypeError(`flatMap needs a list, got ${typeNameOf(items)}`)
    return items.map((item: unknown, index) => {
      const made = value === undefined ? item : value(item, index, recordValue, recordKey, record)
      if (key === undefined) return made
      const newKey = key(item, index, recordValue, recordKey, record) ?? null
      return [keyIsText ? textOrNull(newKey) : newKey, made ?? null]
    })
  }
}

/** Headers that an expression gave: an object of texts, bytes and nulls. */
export function headersFrom(result: unknown): RecordHeaders {
  if (typeNameOf(result) !== 'map' || typeof result !== 'object' || result === null) {
    throw new TypeError(`headers are an object of texts, got ${typeNameOf(result)}`)
  }
  const list = Object.entries(result).map(([name, value]: [string, unknown]): RecordHeader => {
    if (value === null || value instanceof Uint8Array) return [name, value]
    if (typeof value === 'string') return [name, Buffer.from(value, 'utf8')]
    throw new TypeError(`the header "${name}" is a text, bytes or null, got ${typeNameOf(value)}`)
  })
  return headersOf(list)
}

function reads({ reads: names }: Expression, side: 'key' | 'value'): boolean {
  return names.has(side) || (side === 'key' && names.has('window'))
}

/** Says which sides the function reads, so that the other travels undecoded. */
export function withReads<F extends object>(expression: Expression, step: F): F {
  const { valueReads } = expression
  if (valueReads !== undefined) declareFields(step, valueReads)
  return declareReads(step, ...(['key', 'value'] as const).filter(side => reads(expression, side)))
}

function textOrNull(key: unknown): unknown {
  if (key === null || key === undefined || typeof key === 'string') return key
  throw new TypeError(
    `the key is ${typeNameOf(key)}, and a computed key is text: write string(…), or serdes: { key: … }`,
  )
}
