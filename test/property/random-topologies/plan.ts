import type { Operation, Operator, ValueType, Windows } from './operations.ts'

/** What a topology may read; `m` is two topics in one. A source that nobody picks is not built. */
export type SourceName = 's1' | 's2' | 'm' | 't1' | 't2' | 'v1' | 'g'

/** The topics it may read, their names of one length for the sizes of what is held back. */
export type TopicName = Exclude<SourceName, 'm'> | 'm1' | 'm2'

/** The topics of `m`. */
export const SEVERAL_TOPICS: readonly ['m1', 'm2'] = ['m1', 'm2']

/** How long the table `v1` keeps versions, in ms. */
export const HISTORY_MS = 30

const STREAM_SOURCES: readonly SourceName[] = ['s1', 's2', 'm']
const TABLE_SOURCES: readonly SourceName[] = ['t1', 't2', 'v1']

/** A table that an operator gives. */
export interface TableShape {
  readonly type: 'table'
  readonly isVersioned: boolean
  /** Of windowed keys. */
  readonly windows: Windows | null
  readonly values: ValueType
}

/** What an operator gives. */
export type Shape = { readonly type: 'stream'; readonly values: ValueType } | TableShape

/** Where an operator takes its input from: a source, or the result of an earlier step. */
export type Origin = { readonly source: SourceName } | { readonly step: number }

/** An input; a table may be taken as a stream, a stream as a table. */
export interface Input {
  readonly from: Origin
  readonly shape: Shape
}

/** An operator whose inputs are settled. */
export interface Step {
  readonly id: number
  readonly operation: Operation
  readonly inputs: readonly Input[]
  readonly shape: Shape
  readonly isWritten: boolean
  /** Whether what comes out of it was read from topics of the inputs, not from the application's own. */
  readonly isDirect: boolean
}

const TABLE: TableShape = { type: 'table', isVersioned: false, windows: null, values: 'text' }
const STREAM: Shape = { type: 'stream', values: 'text' }

type Wanted = 'stream' | 'table' | 'anyTable' | 'unversionedTable'

/** Settles the inputs of all operators. What nobody takes is written to a topic. */
export function planOf(operators: readonly Operator[]): readonly Step[] {
  const steps: Step[] = []
  for (const [id, { operation, input, other, isWritten }] of operators.entries()) {
    const wanted = wantedBy(operation)
    const inputs = wanted.map((want, at) => pick(steps, want, at === 0 ? input : other))
    const isDirect = !leadsThroughTopics(operation) && inputs.every(one => isReadDirectly(steps, one))
    steps.push({ id, operation, inputs, shape: shapeOf(operation, inputs), isWritten, isDirect })
  }
  const taken = new Set(
    steps.flatMap(({ inputs }) => inputs.flatMap(({ from }) => ('step' in from ? [from.step] : []))),
  )
  return steps.map(step => (taken.has(step.id) ? step : { ...step, isWritten: true }))
}

/** The topics that are read. */
export function topicsOf(steps: readonly Step[]): readonly TopicName[] {
  const used = new Set<SourceName>()
  for (const { operation, inputs } of steps) {
    for (const { from } of inputs) if ('source' in from) used.add(from.source)
    if (operation.kind === 'globalTableJoin') used.add('g')
  }
  return [...used].flatMap(source => (source === 'm' ? SEVERAL_TOPICS : [source]))
}

/** Whether an operation sends records through a topic of the application's own, or changes keys, so that a later one may. */
function leadsThroughTopics(operation: Operation): boolean {
  if (operation.kind === 'process') return !operation.keepsKey
  if (operation.kind === 'aggregate' || operation.kind === 'windowed') return operation.by !== null
  return ['map', 'flatMap', 'selectKey', 'repartition', 'tableGroup', 'foreignKeyJoin'].includes(operation.kind)
}

function isReadDirectly(steps: readonly Step[], { from, shape }: Input): boolean {
  const isWindowed = shape.type === 'table' && shape.windows !== null
  return 'source' in from || (steps[from.step]?.isDirect === true && !isWindowed)
}

function wantedBy(operation: Operation): readonly Wanted[] {
  switch (operation.kind) {
    case 'merge':
    case 'streamJoin':
    case 'cogroup':
      return ['stream', 'stream']
    case 'streamTableJoin':
      return ['stream', 'table']
    case 'tableFilter':
    case 'tableFilterNot':
    case 'tableMapValues':
    case 'tableTransformValues':
    case 'tableGroup':
      return ['anyTable']
    case 'suppress':
      return ['unversionedTable']
    case 'tableJoin':
    case 'foreignKeyJoin':
      return ['table', 'table']
    case 'filter':
    case 'filterNot':
    case 'mapValues':
    case 'flatMapValues':
    case 'map':
    case 'flatMap':
    case 'selectKey':
    case 'repartition':
    case 'convert':
    case 'split':
    case 'toTable':
    case 'dedupe':
    case 'process':
    case 'globalTableJoin':
    case 'aggregate':
    case 'windowed':
      return ['stream']
  }
}

function pick(steps: readonly Step[], want: Wanted, number: number): Input {
  const results = steps.toReversed().map(({ id, shape }): Input => ({ from: { step: id }, shape }))
  const sources = (want === 'stream' ? STREAM_SOURCES : TABLE_SOURCES).map((source): Input => ({
    from: { source },
    shape: want === 'stream' ? STREAM : { ...TABLE, isVersioned: source === 'v1' },
  }))
  const fitting = [...results, ...sources].filter(({ shape }) => {
    if (want === 'unversionedTable') return shape.type === 'stream' || !shape.isVersioned
    // A windowed table is joined as a stream of its updates only.
    return want !== 'table' || shape.type === 'stream' || shape.windows === null
  })
  const picked = fitting[number % fitting.length]
  if (picked === undefined) throw new RangeError('every operator has an input')
  return picked
}

/** The type of the values of a result as a stream: a table's become texts. */
export function valueOf(shape: Shape): ValueType {
  return shape.type === 'stream' ? shape.values : 'text'
}

/** Whether an operation makes texts of its inputs first: values become one, or come from streams of several types. */
export function takesTexts(operation: Operation, inputs: readonly Input[]): boolean {
  if (operation.kind === 'merge') return new Set(inputs.map(({ shape }) => valueOf(shape))).size > 1
  return (operation.kind === 'aggregate' || operation.kind === 'windowed') && operation.fold === 'reduce'
}

function shapeOf(operation: Operation, inputs: readonly Input[]): Shape {
  const shape = inputs[0]?.shape ?? STREAM
  const table = shape.type === 'table' ? shape : { ...TABLE, values: shape.values }
  const stream: Shape = { type: 'stream', values: takesTexts(operation, inputs) ? 'text' : valueOf(shape) }
  switch (operation.kind) {
    case 'convert':
      return { type: 'stream', values: operation.type }
    case 'filter':
    case 'filterNot':
    case 'selectKey':
    case 'repartition':
    case 'merge':
    case 'split':
    case 'dedupe':
      return stream
    case 'toTable':
      return { ...TABLE, values: valueOf(shape), isVersioned: operation.history !== null }
    case 'aggregate':
      return { ...TABLE, isVersioned: operation.history !== null }
    case 'windowed':
      return { ...TABLE, windows: operation.windows }
    case 'cogroup':
      return { ...TABLE, windows: operation.windows }
    case 'tableFilter':
    case 'tableFilterNot':
      return { ...table, isVersioned: table.isVersioned && !operation.isStored }
    case 'tableMapValues':
    case 'tableTransformValues':
      return { ...table, values: 'text', isVersioned: table.isVersioned && !operation.isStored }
    case 'suppress':
      return table
    case 'tableGroup':
      return TABLE
    case 'tableJoin':
    case 'foreignKeyJoin':
      return TABLE
    case 'mapValues':
    case 'flatMapValues':
    case 'map':
    case 'flatMap':
    case 'process':
    case 'streamJoin':
    case 'streamTableJoin':
    case 'globalTableJoin':
      return STREAM
  }
}

/** What a suppress waits for: windows close only where there are some. */
export function waitOf(until: number | 'windowCloses', shape: Shape | undefined): number | 'windowCloses' {
  return until === 'windowCloses' && (shape?.type !== 'table' || shape.windows === null) ? 15 : until
}

/** How much a suppress may hold, and what it does then; a final result is never early. */
export interface Bounds {
  readonly maxRecords: number
  readonly maxBytes: number
  readonly whenFull: 'emit' | 'stop'
}

/** The bounds of a suppress; bytes are known only where the name of the topic is that was read. */
export function boundsOf(operation: Extract<Operation, { kind: 'suppress' }>, { inputs, isDirect }: Step): Bounds {
  const isFinal = waitOf(operation.until, inputs[0]?.shape) === 'windowCloses'
  const isBounded = !isFinal || operation.whenFull === 'stop'
  // Windows come in numbers.
  const factor = isFinal ? 3 : 1
  const bound = (most: number | null): number => (isBounded && most !== null ? most * factor : Number.POSITIVE_INFINITY)
  return {
    maxRecords: bound(operation.maxRecords),
    // Numbers are taken for longs where sizes are counted.
    maxBytes: bound(isDirect && inputs[0]?.shape.values !== 'integer' ? operation.maxBytes : null),
    whenFull: isFinal ? 'stop' : operation.whenFull,
  }
}

/** How long stream records wait for a table: only for one with versions. */
export function graceOf(grace: number | null, table: Shape | undefined): number | null {
  return table?.type === 'table' && table.isVersioned ? grace : null
}

/** The kind of store that keeps a step's table under a name of the test's own; `undefined` when there is none. */
export function storeKindOf({
  operation,
  inputs,
  shape,
}: Step): 'keyValue' | 'versioned' | 'window' | 'session' | undefined {
  switch (operation.kind) {
    case 'aggregate':
      return operation.history === null ? 'keyValue' : 'versioned'
    case 'windowed':
    case 'cogroup':
      if (shape.type !== 'table' || shape.windows === null) return 'keyValue'
      return shape.windows.type === 'session' ? 'session' : 'window'
    case 'tableGroup':
    case 'foreignKeyJoin':
      return 'keyValue'
    case 'tableJoin':
      return operation.isStored ? 'keyValue' : undefined
    case 'tableFilter':
    case 'tableFilterNot':
    case 'tableMapValues':
    case 'tableTransformValues': {
      const [table] = inputs
      const isWindowed = table?.shape.type === 'table' && table.shape.windows !== null
      return operation.isStored && !isWindowed ? 'keyValue' : undefined
    }
    case 'filter':
    case 'filterNot':
    case 'mapValues':
    case 'flatMapValues':
    case 'map':
    case 'flatMap':
    case 'selectKey':
    case 'repartition':
    case 'convert':
    case 'merge':
    case 'split':
    case 'toTable':
    case 'dedupe':
    case 'process':
    case 'streamJoin':
    case 'streamTableJoin':
    case 'globalTableJoin':
    case 'suppress':
      return undefined
  }
}

/** How far apart records of one window may lie, in ms. */
export function lengthOf(windows: Windows): number {
  switch (windows.type) {
    case 'tumbling':
    case 'hopping':
      return windows.size
    case 'sliding':
      return windows.difference
    case 'session':
      return windows.gap
  }
}
