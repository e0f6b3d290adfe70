import { parseDurationMs } from '../model/duration.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { OperatorConfig, StepConfig } from './application-config.ts'
import { readOperator } from './read-operator.ts'
import { readExpression } from './expression-spec.ts'
import type { Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'
import { readSerdes, readStore, refuseLater } from './read-parts.ts'
import { readWindow } from './read-window.ts'
import { OPERATORS, STEP_KEYS } from './vocabulary.ts'

/** Operators that keep a state per key. */
export const AGGREGATIONS: ReadonlySet<OperatorConfig['kind']> = new Set([
  'count',
  'sum',
  'min',
  'max',
  'reduce',
  'aggregate',
])

const OPERATOR_NAMES = Object.keys(OPERATORS)

/** Reads an entry of `steps:`. */
export function readStep(name: string, fields: Fields, problems: ProblemList): StepConfig | undefined {
  fields.checkKnown([...Object.keys(STEP_KEYS), ...OPERATOR_NAMES])
  fields.require('from')
  for (const [key, { later }] of Object.entries(STEP_KEYS)) {
    if (later !== undefined && fields.has(key)) refuseLater(key, fields, problems)
  }
  const from = fields.texts('from')
  const operator = chooseOperator(fields, problems)
  const groupByNode = fields.get('groupBy')
  const groupBy = groupByNode === undefined ? undefined : readExpression(groupByNode, problems)
  const serdes = readSerdes(fields, problems)
  const store = readStore(fields, problems)
  const window = readWindow(fields, problems)
  if (operator === undefined || from === undefined) return undefined
  // Without them it would be another step, and what reads it would be told that it is.
  for (const [key, part] of Object.entries({ groupBy, window }))
    if (part === undefined && (fields.has(key) || fields.isMistyped(key))) return undefined
  if (window !== undefined && !AGGREGATIONS.has(operator.kind)) {
    problems.add(
      fields.keyPlace('window'),
      `"window" of ${fields.what} needs an aggregation`,
      'add count: {}, sum, min, max, reduce or aggregate',
    )
  }
  if (groupBy !== undefined && !AGGREGATIONS.has(operator.kind)) {
    problems.add(
      fields.keyPlace('groupBy'),
      `"groupBy" of ${fields.what} needs an aggregation`,
      'add count: {}, sum, min, max, reduce or aggregate; or write key: to re-key',
    )
  }
  const versioned = fields.duration('versioned')
  if (
    versioned !== undefined &&
    operator.kind !== 'table' &&
    !(AGGREGATIONS.has(operator.kind) && window === undefined)
  ) {
    problems.add(
      fields.keyPlace('versioned'),
      `${fields.what} keeps no versions`,
      'write it at table: {}, at an aggregation without window, or at a source',
    )
  }
  return {
    name,
    place: fields.place,
    from,
    operator,
    groupBy,
    window,
    ...serdes,
    store,
    versionedMs: versioned === undefined ? undefined : parseDurationMs(versioned),
  }
}

function chooseOperator(fields: Fields, problems: ProblemList): OperatorConfig | undefined {
  const given = OPERATOR_NAMES.filter(name => fields.has(name))
  const [kind, ...others] = given
  if (kind === undefined) return withoutOperator(fields, problems)
  if (others.length > 0) {
    problems.add(
      fields.keyPlace(others[0] ?? kind),
      `${fields.what} has more than one operator: ${given.join(', ')}`,
      'write a step for each',
    )
    return undefined
  }
  const later = OPERATORS[kind]?.later
  if (later !== undefined) {
    refuseLater(kind, fields, problems)
    return undefined
  }
  return readOperator(kind, fields, problems)
}

function withoutOperator(fields: Fields, problems: ProblemList): OperatorConfig | undefined {
  if ((fields.texts('from')?.length ?? 0) > 1) return { kind: 'merge' }
  // A mistyped operator has been reported as an unknown key already.
  const known = [...Object.keys(STEP_KEYS), ...OPERATOR_NAMES]
  const mistyped = [...fields.node.entries.keys()].some(
    name => !known.includes(name) && nearestName(name, OPERATOR_NAMES) !== undefined,
  )
  if (!mistyped) problems.add(fields.place, `${fields.what} has no operator`, `one of ${OPERATOR_NAMES.join(', ')}`)
  return undefined
}
