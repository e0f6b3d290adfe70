import type { KnownVariables, VariableName } from '../expressions/scope.ts'
import { UNKNOWN, type KnownValue, type StaticType } from '../expressions/static-type.ts'
import type { OperatorConfig, SerdeSpec, SourceConfig, StepConfig } from './application-config.ts'
import { updatesByInput } from './build-cogroup.ts'
import type { ExpressionSpec } from './expression-spec.ts'

/** What is known of the keys and values of a flow. */
export interface KnownSides {
  readonly key: KnownValue
  readonly value: KnownValue
}

type AggregateConfig = Extract<OperatorConfig, { readonly kind: 'aggregate' }>

/** A flow nothing is known of. */
export const NOTHING_KNOWN: KnownSides = { key: UNKNOWN, value: UNKNOWN }

/** What serdes read; those of JSON and of modules may read anything. */
const TYPES_OF_SERDES: Readonly<Record<string, StaticType>> = {
  string: 'string',
  uuid: 'string',
  long: 'number',
  bigint: 'number',
  integer: 'number',
  double: 'number',
  boolean: 'bool',
  bytes: 'bytes',
}

/** Types of results that are the same behind any serde which takes them. */
const LASTING: ReadonlySet<StaticType> = new Set(['number', 'string', 'bool', 'list', 'map'])

/** What a source reads. */
export function knownOfSource(source: SourceConfig): KnownSides {
  return { key: knownOfSide('key', source), value: knownOfSide('value', source) }
}

/** What flows have in common that are read as one. */
export function knownOfAll([first, ...others]: readonly KnownSides[]): KnownSides {
  if (first === undefined) return NOTHING_KNOWN
  const all = [first, ...others]
  return { key: common(all.map(({ key }) => key)), value: common(all.map(({ value }) => value)) }
}

/** What is known of the variables of a step's expressions; `other` is what it joins. */
export function knownOfVariables(step: StepConfig, input: KnownSides, other: KnownSides): KnownVariables {
  const { operator, groupBy } = step
  // Some expressions see the key before the grouping, some the one after it.
  const known = new Map<VariableName, KnownValue>([['value', input.value]])
  if (groupBy === undefined) known.set('key', input.key)
  if (operator.kind === 'join') return known.set('left', input.value).set('right', other.value)
  if (operator.kind !== 'aggregate') return known
  const state = stateOf(step, operator)
  return known.set('state', state).set('left', state).set('right', state)
}

/** What a step gives; `resultOf` says what is known of an expression's results. */
export function knownOfStep(
  step: StepConfig,
  input: KnownSides,
  resultOf: (spec: ExpressionSpec) => KnownValue,
): KnownSides {
  // What code gives nobody knows, whatever its serde is called: the next step sees it before any serde does.
  const computed = (spec: ExpressionSpec, serde: SerdeSpec | undefined): KnownValue =>
    spec.kind === 'module' ? UNKNOWN : written(resultOf(spec), serde)
  const computedKey = (spec: ExpressionSpec): KnownValue =>
    step.key === undefined && spec.kind !== 'module'
      ? { type: 'string', hint: `step "${step.name}" computes the key, which is text` }
      : computed(spec, step.key)
  const { key, value } = knownOfResult(step, step.operator, input, { computed, computedKey })
  const grouped = step.groupBy === undefined ? key : computedKey(step.groupBy)
  return {
    key: step.key?.kind === 'module' ? UNKNOWN : grouped,
    value: step.value?.kind === 'module' ? UNKNOWN : value,
  }
}

function knownOfResult(
  step: StepConfig,
  operator: OperatorConfig,
  input: KnownSides,
  {
    computed,
    computedKey,
  }: {
    readonly computed: (spec: ExpressionSpec, serde: SerdeSpec | undefined) => KnownValue
    readonly computedKey: (spec: ExpressionSpec) => KnownValue
  },
): KnownSides {
  const keyOf = (spec: ExpressionSpec | undefined): KnownValue => (spec === undefined ? input.key : computedKey(spec))
  switch (operator.kind) {
    case 'value':
    case 'join': {
      const spec = operator.kind === 'join' ? operator.value : operator.expression
      return { key: input.key, value: computed(spec, step.value) }
    }
    case 'key':
      return { key: computedKey(operator.expression), value: input.value }
    case 'map':
      return {
        key: keyOf(operator.key),
        value: operator.value === undefined ? input.value : computed(operator.value, step.value),
      }
    case 'flatMap':
      return {
        key: keyOf(operator.key),
        value: operator.value === undefined ? UNKNOWN : computed(operator.value, step.value),
      }
    case 'count':
    case 'sum':
    case 'min':
    case 'max':
      return {
        key: input.key,
        value: { type: 'number', hint: `step "${step.name}" (${operator.kind}) gives a number` },
      }
    case 'aggregate':
      return { key: input.key, value: stateOf(step, operator) }
    case 'reduce':
    case 'processValues':
      return { key: input.key, value: UNKNOWN }
    case 'process':
      return NOTHING_KNOWN
    case 'merge':
    case 'filter':
    case 'drop':
    case 'split':
    case 'repartition':
    case 'suppress':
    case 'dedupe':
    case 'table':
    case 'stream':
    case 'peek':
      return input
  }
}

function knownOfSide(side: 'key' | 'value', { name: source, as, [side]: serde }: SourceConfig): KnownValue {
  if (serde === undefined) {
    // A table without serdes is a mistake by itself.
    if (as !== 'stream') return UNKNOWN
    const hint = `source "${source}" names no serde for it, so it is bytes: write ${side}: json, or ${side}: string, there`
    return { type: 'bytes', hint }
  }
  const type = typeOfSerde(serde)
  if (type === 'dyn' || serde.kind !== 'named') return UNKNOWN
  return { type, hint: `source "${source}" reads it as ${serde.name}: write ${side}: json there if it is JSON` }
}

function typeOfSerde(serde: SerdeSpec | undefined): StaticType {
  return serde?.kind === 'named' ? (TYPES_OF_SERDES[serde.name.replace(/\?$/, '')] ?? 'dyn') : 'dyn'
}

/** What is known of a result behind its serde. */
function written(result: KnownValue, serde: SerdeSpec | undefined): KnownValue {
  if (LASTING.has(result.type)) return result
  const type = typeOfSerde(serde)
  return type === 'dyn' || serde?.kind !== 'named' ? UNKNOWN : { type, hint: `its serde is ${serde.name}` }
}

/** The states of an aggregate: an object of the fields that are written down, where all of them are. */
function stateOf(step: StepConfig, operator: AggregateConfig): KnownValue {
  const { init, update, subtract, merge } = operator
  if (step.value?.kind === 'module' || step.value?.kind === 'unreadable') return UNKNOWN
  const makers = [...(updatesByInput(step)?.values() ?? [update]), subtract, merge].filter(spec => spec !== undefined)
  const names = [
    init === null ? [] : namesOf(init),
    ...makers.map(spec => (spec.kind === 'template' ? spec.members.keys() : undefined)),
  ]
  const fields = new Map<string, KnownValue>()
  for (const some of names) {
    if (some === undefined) return UNKNOWN
    for (const name of some) fields.set(name, UNKNOWN)
  }
  return { type: 'map', fields, hint: `step "${step.name}" makes it` }
}

function namesOf(value: unknown): readonly string[] | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : undefined
}

function common([first, ...others]: readonly KnownValue[]): KnownValue {
  if (first === undefined || others.some(other => other.type !== first.type)) return UNKNOWN
  return others.every(other => other === first) ? first : { type: first.type, hint: first.hint }
}
