import type { AnySerde } from '../serdes/serde.ts'
import type { TableHandle } from '../topology/handles.ts'
import { combinedAggregation, constant, jsonSerde, mergedState, startOf, type Aggregation } from './aggregate-state.ts'
import type { StepConfig } from './application-config.ts'
import { serdeOf, type BuildContext } from './build-context.ts'
import { stateFunction, STATE_VARIABLES, type StateFunction } from './step-functions.ts'

/** How two states of sessions are joined. */
type Merge = (left: unknown, right: unknown, key: unknown) => unknown

interface ValueOption {
  readonly value: AnySerde | undefined
}

interface StateOptions {
  readonly value: AnySerde
  /** Only of sessions. */
  readonly merge?: Merge
}

/** A grouped stream, in windows or not; `O` are the options of its results. */
export interface Grouped<O> {
  count(options: O): TableHandle
  reduce(reducer: StateFunction, options: O & ValueOption): TableHandle
  aggregate(initializer: () => unknown, aggregator: StateFunction, options: O & StateOptions): TableHandle
}

/** Aggregates a grouped stream; `mergeOf` says how sessions are joined, where there are any. */
export function aggregateGrouped<O>(
  grouped: Grouped<O>,
  options: O,
  { step, operator }: { readonly step: StepConfig; readonly operator: Aggregation },
  context: BuildContext,
  mergeOf?: (operator: Extract<Aggregation, { readonly kind: 'aggregate' }>) => Merge | undefined,
): TableHandle | undefined {
  const { compiler } = context
  const value = serdeOf(step.value, context)
  const stateOptions = (merge: Merge | undefined): O & StateOptions => ({
    ...options,
    value: value ?? jsonSerde,
    ...(mergeOf === undefined || merge === undefined ? {} : { merge }),
  })
  switch (operator.kind) {
    case 'count':
      return grouped.count(options)
    case 'reduce': {
      const reducer = compiler.functionOf(operator.expression, STATE_VARIABLES, stateFunction)
      return reducer === undefined ? undefined : grouped.reduce(reducer, { ...options, value })
    }
    case 'aggregate': {
      const update = compiler.functionOf(operator.update, STATE_VARIABLES, stateFunction)
      const merge = mergeOf?.(operator)
      return update === undefined ? undefined : grouped.aggregate(constant(operator.init), update, stateOptions(merge))
    }
    case 'sum':
    case 'min':
    case 'max': {
      const combine = combinedAggregation(operator, context)
      if (combine === undefined) return undefined
      const start = operator.kind === 'sum' ? startOf(value) : null
      return grouped.aggregate(constant(start), combine, stateOptions(mergedState(operator.kind)))
    }
  }
}
