import type { StreamHandle, TableHandle } from '../topology/handles.ts'
import type { StepConfig } from './application-config.ts'
import { constant, jsonSerde, type Aggregation } from './aggregate-state.ts'
import { groupStream } from './build-aggregation.ts'
import { resultOptions, serdeOf, type BuildContext } from './build-context.ts'
import { mergeOf } from './build-windowed.ts'
import type { ExpressionSpec } from './expression-spec.ts'
import { stateFunction, STATE_VARIABLES, type StateFunction } from './step-functions.ts'

type AggregateOperator = Extract<Aggregation, { readonly kind: 'aggregate' }>

/**
 * How each of several inputs adds to one state, by the input's name: `update: { a: …, b: … }` with exactly the names of
 * `from`. `undefined` when the step aggregates the merge of its inputs.
 */
export function updatesByInput(step: StepConfig): ReadonlyMap<string, ExpressionSpec> | undefined {
  const { operator, from } = step
  if (from.length < 2 || operator.kind !== 'aggregate' || operator.update.kind !== 'template') return undefined
  const { members } = operator.update
  const names = from.map(reference => reference.text)
  return members.size === new Set(names).size && names.every(name => members.has(name)) ? members : undefined
}

/** Feeds one aggregate from several streams. */
export function buildCogroup(
  inputs: readonly (readonly [name: string, stream: StreamHandle])[],
  step: StepConfig,
  operator: AggregateOperator,
  updates: ReadonlyMap<string, ExpressionSpec>,
  context: BuildContext,
): TableHandle | undefined {
  const parts = inputs.map(([name, stream]) => ({
    grouped: groupStream(stream, { ...step, name: `${step.name}-${name.replaceAll('.', '-')}` }, context),
    update: context.compiler.functionOf<StateFunction>(updates.get(name), STATE_VARIABLES, stateFunction),
  }))
  const [first, ...others] = parts
  if (first?.grouped === undefined || first.update === undefined) return undefined
  let cogrouped = first.grouped.cogroup(first.update)
  for (const { grouped, update } of others) {
    if (grouped === undefined || update === undefined) return undefined
    cogrouped = cogrouped.cogroup(grouped, update)
  }
  const options = { ...resultOptions(step), value: serdeOf(step.value, context) ?? jsonSerde }
  const { window } = step
  if (window === undefined) return cogrouped.aggregate(constant(operator.init), options)
  const { lateTopic, emit } = window
  const windowed = cogrouped.windowedBy(window.windows, {
    emit,
    late: lateTopic === undefined ? undefined : { topic: lateTopic },
  })
  return windowed.aggregate(constant(operator.init), { ...options, merge: mergeOf(step, window, operator, context) })
}
