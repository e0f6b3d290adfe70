import type { Expression } from '../expressions/expression.ts'
import { RECORD_VARIABLES, type RecordFacts } from '../expressions/scope.ts'
import { allValueReads } from '../expressions/value-reads.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { StreamHandle } from '../topology/handles.ts'
import { draftedLike } from '../topology/drafts.ts'
import type { ErasedSupplier } from '../topology/processor-node.ts'
import { declareFields, declareReads, fieldsOf, readsOf } from '../topology/reads.ts'
import type { OperatorConfig, StepConfig } from './application-config.ts'
import {
  computedKeySerde,
  computedValueSerde,
  resultOptions,
  serdeOf,
  storeOptions,
  type BuildContext,
} from './build-context.ts'
import type { ExpressionSpec } from './expression-spec.ts'
import type { Flow } from './flow.ts'
import { addLoggedPeek } from './logged-peek.ts'
import {
  condition,
  elementFunction,
  type ElementFunction,
  elements,
  headersFrom,
  ITEM_VARIABLES,
  mapper,
  PARTITION_VARIABLES,
  partitioner,
  type RecordFunction,
  textKey,
  timestampMs,
  withWindow,
} from './step-functions.ts'

type Of<K extends OperatorConfig['kind']> = Extract<OperatorConfig, { readonly kind: K }>

/** Keeps or drops records. */
export function buildFilter(
  stream: StreamHandle,
  step: StepConfig,
  { kind, expression }: Of<'filter' | 'drop'>,
  context: BuildContext,
): Flow {
  const predicate = conditionOf(expression, stream.parts.key, context)
  const options = { name: step.name }
  if (predicate === undefined) return { kind: 'stream', handle: stream }
  return {
    kind: 'stream',
    handle: kind === 'filter' ? stream.filter(predicate, options) : stream.filterNot(predicate, options),
  }
}

/** New value. */
export function buildValue(
  stream: StreamHandle,
  step: StepConfig,
  { expression }: Of<'value'>,
  context: BuildContext,
): Flow {
  const made = context.compiler.functionOf(expression, withWindow(RECORD_VARIABLES, stream.parts.key), mapper)
  const value = computedValueSerde(expression, step, context)
  const mapped = made === undefined ? stream : stream.mapValues(made, { name: step.name })
  return { kind: 'stream', handle: mapped.withSerdes({ value }) }
}

/** New key. */
export function buildKey(
  stream: StreamHandle,
  step: StepConfig,
  { expression }: Of<'key'>,
  context: BuildContext,
): Flow {
  const isText = step.key === undefined
  const selector = context.compiler.functionOf(
    expression,
    withWindow(RECORD_VARIABLES, stream.parts.key),
    isText ? textKey : mapper,
  )
  const keyed = selector === undefined ? stream : stream.selectKey(selector, { name: step.name })
  return { kind: 'stream', handle: keyed.withSerdes({ key: computedKeySerde(step, context) }) }
}

/** New key, value, headers and timestamp. */
export function buildMap(stream: StreamHandle, step: StepConfig, operator: Of<'map'>, context: BuildContext): Flow {
  const { compiler } = context
  const part = (
    spec: ExpressionSpec | undefined,
    make: (expression: Expression) => RecordFunction = mapper,
  ): RecordFunction | undefined => compiler.functionOf(spec, withWindow(RECORD_VARIABLES, stream.parts.key), make)
  const key = part(operator.key, step.key === undefined ? textKey : mapper)
  const value = part(operator.value)
  const headers = part(operator.headers)
  const timestamp = part(operator.timestamp, rawMapper)
  const serdes = {
    key: operator.key === undefined ? stream.parts.key : computedKeySerde(step, context),
    value: operator.value === undefined ? stream.parts.value : computedValueSerde(operator.value, step, context),
  }
  if (headers === undefined && timestamp === undefined) {
    return { kind: 'stream', handle: mapKeyAndValue(stream, step.name, key, value).withSerdes(serdes) }
  }
  const supplier: ErasedSupplier = {
    name: step.name,
    ...serdes,
    init:
      ({ forward, metadata }) =>
      (record: unknown) => {
        const { key: k, value: v, timestamp: time, headers: given } = asRecord(record)
        const facts: RecordFacts = { timestamp: time, headers: given, metadata: metadata() }
        forward({
          key: key === undefined ? k : (key(v, k, facts) ?? null),
          value: value === undefined ? v : (value(v, k, facts) ?? null),
          timestamp: timestamp === undefined ? time : timestampMs(timestamp(v, k, facts)),
          headers: headers === undefined ? given : headersFrom(headers(v, k, facts)),
        })
      },
  }
  const processed = key === undefined ? stream.processValues(supplier) : stream.process(supplier)
  return { kind: 'stream', handle: processed.withSerdes(serdes) }
}

/** The cheapest step that does it: what stays as it is travels undecoded. */
function mapKeyAndValue(
  stream: StreamHandle,
  name: string,
  key: RecordFunction | undefined,
  value: RecordFunction | undefined,
): StreamHandle {
  if (key === undefined) return value === undefined ? stream : stream.mapValues(value, { name })
  if (value === undefined) return stream.selectKey(key, { name })
  const pairWith = (made: RecordFunction): RecordFunction =>
    readingAs((v, k, record) => [key(v, k, record), made(v, k, record)], key, value)
  return stream.map(draftedLike(value, pairWith), { name })
}

/** Any number of records. */
export function buildFlatMap(
  stream: StreamHandle,
  step: StepConfig,
  operator: Of<'flatMap'>,
  context: BuildContext,
): Flow {
  const { compiler } = context
  const each = compiler.functionOf(operator.each, withWindow(RECORD_VARIABLES, stream.parts.key), expression => {
    expectList(operator.each, expression, context)
    return mapper(expression)
  })
  const part = (spec: ExpressionSpec | undefined): ElementFunction | undefined =>
    compiler.functionOf(spec, withWindow(ITEM_VARIABLES, stream.parts.key), elementFunction)
  const [key, value] = [part(operator.key), part(operator.value)]
  const serdes = {
    key: operator.key === undefined ? stream.parts.key : computedKeySerde(step, context),
    value: computedValueSerde(operator.value ?? operator.each, step, context),
  }
  if (each === undefined) return { kind: 'stream', handle: stream.withSerdes(serdes) }
  const parts = { key, value, keyIsText: step.key === undefined }
  const many = readingAs(elements(each, parts), each, ...[key, value].filter(made => made !== undefined))
  const options = { name: step.name }
  const mapped = operator.key === undefined ? stream.flatMapValues(many, options) : stream.flatMap(many, options)
  return { kind: 'stream', handle: mapped.withSerdes(serdes) }
}

/** Branches, each read as `step.branch`. */
export function buildSplit(
  stream: StreamHandle,
  step: StepConfig,
  operator: Of<'split'>,
  context: BuildContext,
): ReadonlyMap<string, Flow> {
  const conditions: Record<string, RecordFunction | 'default'> = {}
  for (const [name, spec] of operator.branches) {
    const predicate = spec === 'default' ? 'default' : conditionOf(spec, stream.parts.key, context)
    if (predicate !== undefined) conditions[name] = predicate
  }
  // The branch nodes are named by this and their own name, without anything between.
  const branches = stream.split(conditions, { name: `${step.name}.` })
  return new Map(Object.entries(branches).map(([name, handle]) => [name, { kind: 'stream', handle }]))
}

/** Writes to a repartition topic and reads it back. */
export function buildRepartition(
  stream: StreamHandle,
  step: StepConfig,
  operator: Of<'repartition'>,
  context: BuildContext,
): Flow {
  const key = serdeOf(step.key, context)
  const value = serdeOf(step.value, context)
  const chosen = context.compiler.functionOf(operator.partition, PARTITION_VARIABLES, partitioner)
  return {
    kind: 'stream',
    handle: stream.repartition({ name: step.name, key, value, partitions: operator.partitions, partitioner: chosen }),
  }
}

/** Stream → table. */
export function buildToTable(stream: StreamHandle, step: StepConfig, context: BuildContext): Flow {
  const serdes = { key: serdeOf(step.key, context), value: serdeOf(step.value, context) }
  return { kind: 'table', handle: stream.toTable({ ...resultOptions(step), ...serdes }) }
}

/** Drops what was seen before. */
export function buildDedupe(
  stream: StreamHandle,
  step: StepConfig,
  { id, withinMs }: Of<'dedupe'>,
  context: BuildContext,
): Flow {
  const idOf = context.compiler.functionOf(id, withWindow(RECORD_VARIABLES, stream.parts.key), mapper)
  if (idOf === undefined) return { kind: 'stream', handle: stream }
  return { kind: 'stream', handle: stream.dedupe(idOf, { ...storeOptions(step.name, step.store), within: withinMs }) }
}

/** Logs an expression of each record. */
export function buildPeek(
  stream: StreamHandle,
  step: StepConfig,
  { expression }: Of<'peek'>,
  context: BuildContext,
): Flow {
  if (expression.kind === 'module') {
    const action = context.compiler.functionOf(expression, withWindow(RECORD_VARIABLES, stream.parts.key), mapper)
    return { kind: 'stream', handle: action === undefined ? stream : stream.peek(action, { name: step.name }) }
  }
  const compiled = context.compiler.compile(expression, withWindow(RECORD_VARIABLES, stream.parts.key))
  if (compiled === undefined) return { kind: 'stream', handle: stream }
  return { kind: 'stream', handle: new StreamHandle(addLoggedPeek(stream.parts, step.name, mapper(compiled))) }
}

/** A processor of the user's own; `undefined` when it could not be loaded: nobody knows what it would give. */
export function buildProcess(
  stream: StreamHandle,
  step: StepConfig,
  { kind, reference }: Of<'process' | 'processValues'>,
  context: BuildContext,
): Flow | undefined {
  const value = context.compiler.exportOf(reference)
  if (value === undefined) return undefined
  if (!isSupplier(value)) {
    const place = `${reference.path}#${reference.exportName}`
    context.problems.add(
      reference.place,
      `${place} is no processor: it needs init(context)`,
      'export processor({ … })',
      'MODULE_NOT_LOADED',
    )
    return undefined
  }
  const written = { key: serdeOf(step.key, context), value: serdeOf(step.value, context) }
  const supplier: ErasedSupplier = {
    ...value,
    name: step.name,
    key: written.key ?? value.key,
    value: written.value ?? value.value,
  }
  return { kind: 'stream', handle: kind === 'process' ? stream.process(supplier) : stream.processValues(supplier) }
}

/** A condition, checked to be one as far as that is known; `key` is the serde of the input's keys. */
export function conditionOf(
  spec: ExpressionSpec,
  key: AnySerde | undefined,
  context: BuildContext,
): RecordFunction | undefined {
  return context.compiler.functionOf(spec, withWindow(RECORD_VARIABLES, key), expression => {
    context.compiler.expectType(expression, spec, 'a condition is true or false', 'bool')
    return condition(expression)
  })
}

/** Says that a function reads what its parts read. */
function readingAs<F extends object>(step: F, ...parts: readonly object[]): F {
  const fields = allValueReads(parts.map(fieldsOf))
  if (fields !== undefined) declareFields(step, fields)
  return declareReads(step, ...(['key', 'value'] as const).filter(side => parts.some(part => readsOf(part, side))))
}

function expectList(spec: ExpressionSpec, expression: Expression, { compiler }: BuildContext): void {
  compiler.expectType(expression, spec, '"each" is a list', 'list')
}

function rawMapper(expression: Expression): RecordFunction {
  return mapper({ ...expression, evaluate: expression.evaluateRaw })
}

function isSupplier(value: unknown): value is ErasedSupplier {
  return typeof value === 'object' && value !== null && 'init' in value && typeof value.init === 'function'
}

interface ProcessedRecord {
  readonly key: unknown
  readonly value: unknown
  readonly timestamp: number
  readonly headers: RecordFacts['headers']
}

/** What the engine hands to a processor. */
function asRecord(record: unknown): ProcessedRecord
function asRecord(record: unknown): unknown {
  return record
}
