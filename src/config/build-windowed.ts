import type { GroupedStreamHandle, TableHandle } from '../topology/handles.ts'
import type { StepConfig, WindowConfig } from './application-config.ts'
import { combinedAggregation, constant, jsonSerde, mergedState, startOf, type Aggregation } from './aggregate-state.ts'
import { serdeOf, storeOptions, type BuildContext } from './build-context.ts'
import { joiner, JOIN_VARIABLES, stateFunction, STATE_VARIABLES } from './step-functions.ts'

/** Aggregates a grouped stream in windows. */
export function aggregateWindowed(
  grouped: GroupedStreamHandle,
  step: StepConfig,
  window: WindowConfig,
  operator: Aggregation,
  context: BuildContext,
): TableHandle | undefined {
  const { compiler } = context
  const { lateTopic, emit } = window
  const windowed = grouped.windowedBy(window.windows, {
    emit,
    late: lateTopic === undefined ? undefined : { topic: lateTopic },
  })
  const options = storeOptions(step.name, step.store)
  const value = serdeOf(step.value, context)
  switch (operator.kind) {
    case 'count':
      return windowed.count(options)
    case 'reduce': {
      const reducer = compiler.functionOf(operator.expression, STATE_VARIABLES, stateFunction)
      return reducer === undefined ? undefined : windowed.reduce(reducer, { ...options, value })
    }
    case 'aggregate': {
      const update = compiler.functionOf(operator.update, STATE_VARIABLES, stateFunction)
      const merge = mergeOf(step, window, operator, context)
      return update === undefined
        ? undefined
        : windowed.aggregate(constant(operator.init), update, { ...options, value: value ?? jsonSerde, merge })
    }
    case 'sum':
    case 'min':
    case 'max': {
      const combine = combinedAggregation(operator, context)
      if (combine === undefined) return undefined
      const start = operator.kind === 'sum' ? startOf(value) : null
      const merge = mergedState(operator.kind)
      return windowed.aggregate(constant(start), combine, { ...options, value: value ?? jsonSerde, merge })
    }
  }
}

/** How two sessions are joined; windows of time do not grow together. */
export function mergeOf(
  step: StepConfig,
  window: WindowConfig,
  { merge }: Extract<Aggregation, { readonly kind: 'aggregate' }>,
  { compiler, problems }: BuildContext,
): ReturnType<typeof joiner> | undefined {
  const isSession = window.windows.session !== undefined
  if (isSession && merge === undefined) {
    problems.add(
      step.place,
      `step "${step.name}" aggregates sessions and lacks "merge": two sessions may grow together`,
      'add merge: an expression of `left` and `right`, left being the earlier session',
    )
  }
  if (!isSession && merge !== undefined) {
    problems.add(step.place, `step "${step.name}" has "merge", and only sessions are merged`, 'leave it out')
  }
  return compiler.functionOf(merge, JOIN_VARIABLES, joiner)
}
