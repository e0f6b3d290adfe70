import type { OperatorConfig } from './application-config.ts'
import { plainValue, type ConfigNode, type ScalarNode } from './config-node.ts'
import { readExpression, readModuleReference, type ExpressionSpec } from './expression-spec.ts'
import { parseDurationMs } from '../model/duration.ts'
import { isBroken, type Fields } from './fields.ts'
import type { ProblemList } from './problems.ts'

/** Reads the operator of a step; `undefined` when it is wrong, which has been noted then. */
export function readOperator(kind: string, fields: Fields, problems: ProblemList): OperatorConfig | undefined {
  const read = READERS[kind]
  return read === undefined ? undefined : read({ fields, problems })
}

interface Reading {
  readonly fields: Fields
  readonly problems: ProblemList
}

const READERS: Readonly<Record<string, (reading: Reading) => OperatorConfig | undefined>> = {
  filter: reading => withExpression('filter', reading),
  drop: reading => withExpression('drop', reading),
  value: reading => withExpression('value', reading),
  key: reading => withExpression('key', reading),
  sum: reading => withExpression('sum', reading),
  min: reading => withExpression('min', reading),
  max: reading => withExpression('max', reading),
  reduce: reading => withExpression('reduce', reading),
  map: readMap,
  flatMap: readFlatMap,
  split: readSplit,
  repartition: readRepartition,
  count: reading => withNothing('count', reading),
  table: reading => withNothing('table', reading),
  aggregate: readAggregate,
  join: readJoin,
  stream: readStream,
  suppress: readSuppress,
  dedupe: readDedupe,
  peek: readPeek,
  process: reading => withModule('process', reading),
  processValues: reading => withModule('processValues', reading),
}

type ExpressionKind = Extract<OperatorConfig, { readonly expression: ExpressionSpec }>['kind']

function withExpression(
  kind: Exclude<ExpressionKind, 'peek'>,
  { fields, problems }: Reading,
): OperatorConfig | undefined {
  const node = fields.get(kind)
  const expression = node === undefined ? undefined : readExpression(node, problems)
  return expression === undefined ? undefined : { kind, expression }
}

function withNothing(kind: 'count' | 'table', { fields }: Reading): OperatorConfig {
  fields.fields(kind)?.checkKnown([])
  return { kind }
}

function withModule(kind: 'process' | 'processValues', { fields, problems }: Reading): OperatorConfig | undefined {
  const node = fields.get(kind)
  const module = node?.kind === 'map' ? node.entries.get('module')?.node : node
  const reference = module === undefined ? undefined : readModuleReference(module, problems)
  return reference === undefined ? undefined : { kind, reference }
}

function readMap({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('map')
  if (inner === undefined) return undefined
  inner.checkKnown(['key', 'value', 'headers', 'timestamp'])
  const part = (name: string): ExpressionSpec | undefined => expressionOf(inner, name, problems)
  if (inner.node.entries.size === 0)
    problems.add(inner.place, `${inner.what} changes nothing`, 'give key, value, headers or timestamp')
  const parts = { key: part('key'), value: part('value'), headers: part('headers'), timestamp: part('timestamp') }
  return isUnreadable(inner, parts) ? undefined : { kind: 'map', ...parts }
}

function readFlatMap({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('flatMap')
  if (inner === undefined) return undefined
  inner.checkKnown(['each', 'key', 'value'])
  inner.require('each', 'an expression that gives a list')
  const each = expressionOf(inner, 'each', problems)
  const parts = { key: expressionOf(inner, 'key', problems), value: expressionOf(inner, 'value', problems) }
  return each === undefined || isUnreadable(inner, parts) ? undefined : { kind: 'flatMap', each, ...parts }
}

function readSplit({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('split')
  if (inner === undefined) return undefined
  const branches = new Map<string, ExpressionSpec | 'default'>()
  for (const [name, { node, keyPlace }] of inner.node.entries) {
    if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) {
      problems.add(
        keyPlace,
        `a branch is named by letters, digits, "_" and "-", beginning with a letter, not "${name}"`,
      )
    }
    const condition = node.kind === 'scalar' && node.text === 'default' ? 'default' : readExpression(node, problems)
    if (condition !== undefined) branches.set(name, condition)
  }
  const rest = [...branches.values()].filter(condition => condition === 'default')
  if (rest.length > 1) problems.add(inner.place, `${inner.what} has more than one default branch`)
  if (inner.node.entries.size === 0) problems.add(inner.place, `${inner.what} has no branches`)
  if (isUnreadable(inner, Object.fromEntries(Array.from(inner.node.entries, ([name]) => [name, branches.get(name)]))))
    return undefined
  return { kind: 'split', branches }
}

function readRepartition({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('repartition')
  if (inner === undefined) return undefined
  inner.checkKnown(['partitions', 'partition'])
  return {
    kind: 'repartition',
    partitions: inner.integer('partitions', 1, 10_000),
    partition: expressionOf(inner, 'partition', problems),
  }
}

function readAggregate({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('aggregate')
  if (inner === undefined) return undefined
  inner.checkKnown(['init', 'update', 'subtract', 'merge'])
  inner.require('init', 'the state before the first record, constants')
  inner.require('update', 'an expression of `state` and `value`')
  const init = inner.get('init')
  const update = updateOf(inner, namesOf(fields.get('from')), problems)
  const [subtract, merge] = [expressionOf(inner, 'subtract', problems), expressionOf(inner, 'merge', problems)]
  if (init === undefined || isBroken(init) || update === undefined || isUnreadable(inner, { subtract, merge }))
    return undefined
  return { kind: 'aggregate', init: plainValue(init), update, subtract, merge }
}

/** Whether a part that was written cannot be read: without it the operator would seem to lack it. */
function isUnreadable(fields: Fields, parts: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(parts).some(
    ([name, part]) => part === undefined && (fields.has(name) || fields.isMistyped(name)),
  )
}

/** The names of several inputs; empty for one. */
function namesOf(from: ConfigNode | undefined): ReadonlySet<string> {
  if (from?.kind !== 'list') return new Set()
  return new Set(from.items.flatMap(item => (item.kind === 'scalar' ? [item.text] : [])))
}

/** Reads `update`; with one member for each of several inputs, every member is an expression of its own, a module too. */
function updateOf(inner: Fields, inputs: ReadonlySet<string>, problems: ProblemList): ExpressionSpec | undefined {
  const node = inner.get('update')
  const isByInput =
    node?.kind === 'map' &&
    inputs.size > 1 &&
    node.entries.size === inputs.size &&
    [...inputs].every(name => node.entries.has(name))
  if (!isByInput) return expressionOf(inner, 'update', problems)
  const members = new Map<string, ExpressionSpec>()
  for (const [name, entry] of node.entries) {
    const member = readExpression(entry.node, problems)
    if (member !== undefined) members.set(name, member)
  }
  return { kind: 'template', members, place: node.place }
}

function readJoin({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('join')
  if (inner === undefined) return undefined
  inner.checkKnown(['with', 'type', 'value', 'within', 'grace', 'on'])
  inner.require('with', 'the table to look up')
  inner.require('value', 'an expression of `left` and `right`')
  const type = inner.choice('type', ['inner', 'left', 'outer'])
  const within = readWithin(inner)
  const grace = inner.duration('grace')
  const on = expressionOf(inner, 'on', problems)
  const table = scalarOf(inner, 'with', problems)
  const value = expressionOf(inner, 'value', problems)
  if (table === undefined || value === undefined || isUnreadable(inner, { type, within, grace, on })) return undefined
  return { kind: 'join', with: table, type: type ?? 'inner', within, graceMs: parseDurationMs(grace), on, value }
}

/** `within: 10s`, or `{ before: 5s, after: 10s }`. */
function readWithin(fields: Fields): { readonly beforeMs: number; readonly afterMs: number } | undefined {
  const node = fields.get('within')
  if (node === undefined || isBroken(node)) return undefined
  if (node.kind !== 'map') {
    const ms = parseDurationMs(fields.duration('within'))
    return ms === undefined ? undefined : { beforeMs: ms, afterMs: ms }
  }
  const inner = fields.fields('within')
  if (inner === undefined) return undefined
  inner.checkKnown(['before', 'after'])
  for (const side of ['before', 'after']) inner.require(side, 'a duration; 0s for none')
  const [beforeMs, afterMs] = [parseDurationMs(inner.duration('before')), parseDurationMs(inner.duration('after'))]
  return beforeMs === undefined || afterMs === undefined ? undefined : { beforeMs, afterMs }
}

function readStream({ fields }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('stream')
  inner?.checkKnown(['deletions'])
  return { kind: 'stream', deletions: inner?.choice('deletions', ['keep', 'drop']) ?? 'keep' }
}

function readSuppress({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('suppress')
  if (inner === undefined) return undefined
  inner.checkKnown(['until', 'maxRecords', 'maxBytes', 'whenFull'])
  inner.require('until', '`windowCloses`, or a duration')
  const node = inner.get('until')
  const closes = node?.kind === 'scalar' && node.text === 'windowCloses'
  const until = closes ? 'windowCloses' : parseDurationMs(inner.duration('until'))
  const whenFull = inner.choice('whenFull', ['emit', 'stop'])
  if (closes && whenFull === 'emit') {
    problems.add(inner.get('whenFull')?.place, 'a final result cannot be early', 'leave out whenFull: emit')
  }
  if (until === undefined) return undefined
  return {
    kind: 'suppress',
    until,
    maxRecords: inner.integer('maxRecords', 1),
    maxBytes: inner.integer('maxBytes', 1),
    whenFull: closes ? undefined : whenFull,
  }
}

function readDedupe({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('dedupe')
  if (inner === undefined) return undefined
  inner.checkKnown(['id', 'within'])
  inner.require('id', 'an expression that gives a text or a whole number')
  inner.require('within', 'how long an id is remembered')
  const id = expressionOf(inner, 'id', problems)
  const withinMs = parseDurationMs(inner.duration('within'))
  if (withinMs === 0) problems.add(inner.get('within')?.place, `"within" of ${inner.what} is above 0`)
  return id === undefined || withinMs === undefined ? undefined : { kind: 'dedupe', id, withinMs }
}

function readPeek({ fields, problems }: Reading): OperatorConfig | undefined {
  const inner = fields.fields('peek')
  if (inner === undefined) return undefined
  if (!inner.has('module')) {
    inner.checkKnown(['log'])
    inner.require('log', 'an expression; its value is logged')
  }
  const expression = inner.has('module') ? readExpression(inner.node, problems) : expressionOf(inner, 'log', problems)
  return expression === undefined ? undefined : { kind: 'peek', expression }
}

function expressionOf(fields: Fields, name: string, problems: ProblemList): ExpressionSpec | undefined {
  const node = fields.get(name)
  return node === undefined ? undefined : readExpression(node, problems)
}

function scalarOf(fields: Fields, name: string, problems: ProblemList): ScalarNode | undefined {
  const node = fields.get(name)
  if (node === undefined || isBroken(node)) return undefined
  if (node.kind === 'scalar' && node.text !== '') return node
  problems.add(node.place, `"${name}" of ${fields.what} is a name`)
  return undefined
}
