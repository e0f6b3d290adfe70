import { RECORD_VARIABLES, type RecordFacts } from '../expressions/scope.ts'
import { NO_HEADERS } from '../model/headers.ts'
import type { GroupedStreamHandle, GroupedTableHandle, StreamHandle, TableHandle } from '../topology/handles.ts'
import {
  COMBINERS,
  combinerOf,
  constant,
  differenceOf,
  jsonSerde,
  startOf,
  type Aggregation,
} from './aggregate-state.ts'
import type { StepConfig } from './application-config.ts'
import { computedKeySerde, resultOptions, serdeOf, type BuildContext } from './build-context.ts'
import { aggregateWindowed } from './build-windowed.ts'
import type { Flow } from './flow.ts'
import { aggregateGrouped } from './grouped-aggregation.ts'
import { ENTRY_VARIABLES, mapper, stateFunction, STATE_VARIABLES, textKey, withWindow } from './step-functions.ts'

/** Aggregates a stream by its key, or by `groupBy`; `undefined` after a mistake. */
export function buildStreamAggregation(
  stream: StreamHandle,
  step: StepConfig,
  operator: Aggregation,
  context: BuildContext,
): Flow | undefined {
  const grouped = groupStream(stream, step, context)
  const options = resultOptions(step)
  const table =
    grouped === undefined
      ? undefined
      : step.window === undefined
        ? aggregateGrouped(grouped, options, { step, operator }, context)
        : aggregateWindowed(grouped, step, step.window, operator, context)
  return table === undefined ? undefined : { kind: 'table', handle: table }
}

/** Aggregates a table by `groupBy`: each change takes the old value out and puts the new one in. `undefined` after a mistake. */
export function buildTableAggregation(
  table: TableHandle,
  step: StepConfig,
  operator: Aggregation,
  context: BuildContext,
): Flow | undefined {
  const grouped = groupTable(table, step, context)
  const options = resultOptions(step)
  const result = grouped === undefined ? undefined : aggregateTable(grouped, options, step, operator, context)
  return result === undefined ? undefined : { kind: 'table', handle: result }
}

/** Groups a stream by its key, or by `groupBy`. */
export function groupStream(
  stream: StreamHandle,
  step: StepConfig,
  context: BuildContext,
): GroupedStreamHandle | undefined {
  // The repartition topic is named after the step and not its store: giving the store a name moves no records.
  if (step.groupBy === undefined)
    return stream.groupByKey({ name: step.name, key: stream.parts.key, value: stream.parts.value })
  const isText = step.key === undefined
  const selector = context.compiler.functionOf(
    step.groupBy,
    withWindow(RECORD_VARIABLES, stream.parts.key),
    isText ? textKey : mapper,
  )
  if (selector === undefined) return undefined
  const keyed = stream.selectKey(selector, { name: `${step.name}-key` })
  return keyed.groupByKey({ name: step.name, key: computedKeySerde(step, context), value: stream.parts.value })
}

function groupTable(table: TableHandle, step: StepConfig, context: BuildContext): GroupedTableHandle | undefined {
  const selector = context.compiler.functionOf(
    step.groupBy,
    withWindow(ENTRY_VARIABLES, table.parts.key),
    step.key === undefined ? textKey : mapper,
  )
  if (selector === undefined) return undefined
  const { value } = table.parts
  if (value === undefined) {
    context.problems.add(
      step.place,
      `step "${step.name}" writes values whose serde nobody has named`,
      'add serdes: { value: … } to the step before',
      'SERDE_MISSING',
    )
    return undefined
  }
  return table.groupBy((entry, key) => [selector(entry, key, NO_FACTS), entry], {
    name: `${step.name}-key`,
    key: computedKeySerde(step, context),
    value,
  })
}

type Options = ReturnType<typeof resultOptions>

function aggregateTable(
  grouped: GroupedTableHandle,
  options: Options,
  step: StepConfig,
  operator: Aggregation,
  context: BuildContext,
): TableHandle | undefined {
  const { compiler, problems } = context
  const value = serdeOf(step.value, context)
  switch (operator.kind) {
    case 'count':
      return grouped.count(options)
    case 'sum': {
      const add = combinerOf(operator.expression, COMBINERS.sum, ENTRY_VARIABLES, context)
      const subtract = combinerOf(operator.expression, differenceOf, ENTRY_VARIABLES, context)
      if (add === undefined || subtract === undefined) return undefined
      return grouped.aggregate(constant(startOf(value)), add, subtract, { ...options, value: value ?? jsonSerde })
    }
    case 'aggregate': {
      const update = compiler.functionOf(operator.update, STATE_VARIABLES, stateFunction)
      const subtract = compiler.functionOf(operator.subtract, STATE_VARIABLES, stateFunction)
      if (operator.subtract === undefined) {
        problems.add(
          step.place,
          `step "${step.name}" aggregates a table and lacks "subtract"`,
          'say how an old value is taken out again',
        )
      }
      if (update === undefined || subtract === undefined) return undefined
      return grouped.aggregate(constant(operator.init), update, subtract, { ...options, value: value ?? jsonSerde })
    }
    case 'min':
    case 'max':
    case 'reduce':
      problems.add(
        step.place,
        `"${operator.kind}" cannot take an old value of a table out again`,
        'write aggregate: { init, update, subtract }, or a stream: step first',
      )
      return undefined
  }
}

const NO_FACTS: RecordFacts = { timestamp: 0, headers: NO_HEADERS, metadata: undefined }
