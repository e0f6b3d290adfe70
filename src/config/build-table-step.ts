import { RECORD_VARIABLES } from '../expressions/scope.ts'
import type { TableHandle } from '../topology/handles.ts'
import type { OperatorConfig, StepConfig } from './application-config.ts'
import { computedValueSerde, serdeOf, storeOptions, type BuildContext } from './build-context.ts'
import { conditionOf } from './build-stream-step.ts'
import type { Flow } from './flow.ts'
import { mapper, withWindow } from './step-functions.ts'

type Of<K extends OperatorConfig['kind']> = Extract<OperatorConfig, { readonly kind: K }>

/** Keeps or drops the entries of a table; with `store:` the result is kept. */
export function buildTableFilter(
  table: TableHandle,
  step: StepConfig,
  { kind, expression }: Of<'filter' | 'drop'>,
  context: BuildContext,
): Flow {
  const predicate = conditionOf(expression, table.parts.key, context)
  if (predicate === undefined) return { kind: 'table', handle: table }
  const value = serdeOf(step.value, context) ?? table.parts.value
  const options = step.store === undefined ? { name: step.name } : { ...storeOptions(step.name, step.store), value }
  return {
    kind: 'table',
    handle: kind === 'filter' ? table.filter(predicate, options) : table.filterNot(predicate, options),
  }
}

/** New values of a table; null deletes. */
export function buildTableValue(
  table: TableHandle,
  step: StepConfig,
  { expression }: Of<'value'>,
  context: BuildContext,
): Flow {
  const made = context.compiler.functionOf(expression, withWindow(RECORD_VARIABLES, table.parts.key), mapper)
  if (made === undefined) return { kind: 'table', handle: table }
  const value = computedValueSerde(expression, step, context)
  if (step.store !== undefined) {
    return { kind: 'table', handle: table.mapValues(made, { ...storeOptions(step.name, step.store), value }) }
  }
  return { kind: 'table', handle: table.mapValues(made, { name: step.name }).withSerdes({ value }) }
}

/** Holds back updates of a table. */
export function buildSuppress(
  table: TableHandle,
  step: StepConfig,
  { until, maxRecords, maxBytes, whenFull }: Of<'suppress'>,
): Flow {
  return { kind: 'table', handle: table.suppress({ name: step.name, until, maxRecords, maxBytes, whenFull }) }
}

/** Table → stream of its updates. */
export function buildToStream(table: TableHandle, step: StepConfig, { deletions }: Of<'stream'>): Flow {
  if (deletions === 'keep') return { kind: 'stream', handle: table.toStream({ name: step.name }) }
  const updates = table.toStream({ name: `${step.name}-updates` })
  return { kind: 'stream', handle: updates.filter(isPresent, { name: step.name }) }
}

function isPresent(value: unknown): boolean {
  return value !== null
}
