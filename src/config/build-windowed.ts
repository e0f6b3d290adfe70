import type { GroupedStreamHandle, TableHandle } from '../topology/handles.ts'
import type { StepConfig, WindowConfig } from './application-config.ts'
import type { Aggregation } from './aggregate-state.ts'
import { storeOptions, type BuildContext } from './build-context.ts'
import { aggregateGrouped } from './grouped-aggregation.ts'
import { joiner, JOIN_VARIABLES } from './step-functions.ts'

/** Aggregates a grouped stream in windows. */
export function aggregateWindowed(
  grouped: GroupedStreamHandle,
  step: StepConfig,
  window: WindowConfig,
  operator: Aggregation,
  context: BuildContext,
): TableHandle | undefined {
  const { lateTopic, emit } = window
  const windowed = grouped.windowedBy(window.windows, {
    emit,
    late: lateTopic === undefined ? undefined : { topic: lateTopic },
  })
  return aggregateGrouped(windowed, storeOptions(step.name, step.store), { step, operator }, context, aggregation =>
    mergeOf(step, window, aggregation, context),
  )
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
    // Stands in, so that the graph does not find the same mistake once more.
    return left => left
  }
  if (!isSession && merge !== undefined) {
    problems.add(step.place, `step "${step.name}" has "merge", and only sessions are merged`, 'leave it out')
  }
  return compiler.functionOf(merge, JOIN_VARIABLES, joiner)
}
