import { RECORD_VARIABLES } from '../expressions/scope.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { StreamHandle, TableHandle } from '../topology/handles.ts'
import type { ErasedTableOptions } from '../topology/parts.ts'
import type { OperatorConfig, StepConfig } from './application-config.ts'
import { computedValueSerde, serdeOf, storeOptions, type BuildContext } from './build-context.ts'
import type { Flow } from './flow.ts'
import { ENTRY_VARIABLES, joiner, JOIN_VARIABLES, mapper, withWindow, type RecordFunction } from './step-functions.ts'

type JoinConfig = Extract<OperatorConfig, { readonly kind: 'join' }>

/** Options of a join that only some joins have. */
type JoinOption = 'within' | 'grace' | 'on'

/** Joins a stream with a stream, a table or a global table. */
export function buildStreamJoin(
  stream: StreamHandle,
  other: Flow,
  step: StepConfig,
  operator: JoinConfig,
  context: BuildContext,
): Flow {
  const join = context.compiler.functionOf(operator.value, JOIN_VARIABLES, joiner)
  const unjoined: Flow = { kind: 'stream', handle: stream }
  const value = computedValueSerde(operator.value, step, context)
  const { key } = stream.parts
  const isLeft = operator.type === 'left'
  if (other.kind === 'globalTable') {
    const isWhole = requires(operator, context, 'a global table is looked up under a key', 'on')
    refuse(operator, context, 'a join with a global table', 'within', 'grace')
    refuseOuter(operator, context, 'a global table')
    const selector = context.compiler.functionOf(operator.on, withWindow(RECORD_VARIABLES, key), mapper)
    if (!isWhole || join === undefined || selector === undefined) return unjoined
    const joined = stream.joinGlobalTable(other.handle, selector, join, { name: step.name }, isLeft)
    return { kind: 'stream', handle: joined.withSerdes({ value }) }
  }
  const isSameKey = checkKeys(key, other.handle.parts.key, operator, context)
  if (other.kind === 'table') {
    refuse(operator, context, 'a join of a stream with a table', 'within', 'on')
    refuseOuter(operator, context, 'a table')
    if (join === undefined || !isSameKey) return unjoined
    const options = { name: step.name, key, value: stream.parts.value, grace: operator.graceMs }
    return {
      kind: 'stream',
      handle: stream.joinTable(other.handle, join, options, isLeft).withSerdes({ value }),
    }
  }
  if (!isSameKey) return unjoined
  refuse(operator, context, 'a join of two streams', 'on')
  const isWhole = requires(
    operator,
    context,
    'a join of two streams has bounds; write `grace: 0s` for none',
    'within',
    'grace',
  )
  if (!isWhole || join === undefined || operator.within === undefined || operator.graceMs === undefined) return unjoined
  const { beforeMs, afterMs } = operator.within
  const joined = stream.joinStream(
    other.handle,
    join,
    {
      ...storeOptions(step.name, step.store),
      within: { before: beforeMs, after: afterMs },
      grace: operator.graceMs,
      key,
      value: stream.parts.value,
      otherValue: other.handle.parts.value,
    },
    operator.type,
  )
  return { kind: 'stream', handle: joined.withSerdes({ value }) }
}

/** Joins a table with a table, by their keys or by a key in the value. */
export function buildTableJoin(
  table: TableHandle,
  other: Flow,
  step: StepConfig,
  operator: JoinConfig,
  context: BuildContext,
): Flow {
  const unjoined: Flow = { kind: 'table', handle: table }
  if (other.kind !== 'table') {
    context.problems.add(
      operator.with.place,
      `"${operator.with.text}" is no table, and step "${step.name}" joins a table`,
      'put a stream: step before it to join its updates',
    )
    return unjoined
  }
  refuse(operator, context, 'a join of two tables', 'within', 'grace')
  const join = context.compiler.functionOf(operator.value, JOIN_VARIABLES, joiner)
  const value = serdeOf(step.value, context) ?? computedValueSerde(operator.value, step, context)
  const kept = step.store === undefined ? { name: step.name } : storeOptions(step.name, step.store)
  if (operator.on !== undefined) {
    refuseOuter(operator, context, 'a table by a key in the value')
    const foreignKey = context.compiler.functionOf(operator.on, ENTRY_VARIABLES, mapper)
    if (join === undefined || foreignKey === undefined) return unjoined
    const options = { ...kept, value }
    const find = (held: unknown, key: unknown): unknown => foreignKey(held, key, NO_FACTS)
    const joined =
      operator.type === 'left'
        ? table.foreignKeyLeftJoin(other.handle, find, join, options)
        : table.foreignKeyJoin(other.handle, find, join, options)
    return { kind: 'table', handle: joined }
  }
  const isSameKey = checkKeys(table.parts.key, other.handle.parts.key, operator, context)
  if (join === undefined || !isSameKey) return unjoined
  const options = step.store === undefined ? kept : { ...kept, value }
  const joined = JOINS[operator.type](table, other.handle, join, options)
  return { kind: 'table', handle: step.store === undefined ? joined.withSerdes({ value }) : joined }
}

/** An entry of a table is read outside a record. */
const NO_FACTS: Parameters<RecordFunction>[2] = { timestamp: -1, headers: NO_HEADERS, metadata: undefined }

type JoinTables = (
  table: TableHandle,
  other: TableHandle,
  join: ReturnType<typeof joiner>,
  options: ErasedTableOptions,
) => TableHandle

const JOINS: Readonly<Record<JoinConfig['type'], JoinTables>> = {
  inner: (table, other, join, options) => table.join(other, join, options),
  left: (table, other, join, options) => table.leftJoin(other, join, options),
  outer: (table, other, join, options) => table.outerJoin(other, join, options),
}

function isGiven({ within, graceMs, on }: JoinConfig, option: JoinOption): boolean {
  return { within, grace: graceMs, on }[option] !== undefined
}

function refuse(
  operator: JoinConfig,
  { problems }: BuildContext,
  what: string,
  ...options: readonly JoinOption[]
): void {
  for (const option of options) {
    if (isGiven(operator, option)) problems.add(operator.with.place, `${what} has no "${option}"`, 'leave it out')
  }
}

function requires(
  operator: JoinConfig,
  { problems }: BuildContext,
  why: string,
  ...options: readonly JoinOption[]
): boolean {
  const missing = options.filter(option => !isGiven(operator, option))
  for (const option of missing) problems.add(operator.with.place, `the join lacks "${option}"`, why)
  return missing.length === 0
}

function refuseOuter(operator: JoinConfig, { problems }: BuildContext, what: string): void {
  if (operator.type === 'outer')
    problems.add(operator.with.place, `an outer join with ${what} does not exist`, 'write type: inner or type: left')
}

/** Whether both sides write keys alike; where not, nothing is joined, or the graph would find the same mistake once more. */
function checkKeys(
  left: AnySerde | undefined,
  right: AnySerde | undefined,
  operator: JoinConfig,
  { problems }: BuildContext,
): boolean {
  if (left === undefined || right === undefined || withoutNull(left).name === withoutNull(right).name) return true
  problems.add(
    operator.with.place,
    `keys written as ${withoutNull(left).name} are joined with keys written as ${withoutNull(right).name}`,
    'equal keys would have different bytes: use one serde on both sides',
    'SERDE_MISMATCH',
  )
  return false
}
