import type { KnownVariables } from '../expressions/scope.ts'
import { nearestName } from '../model/nearest-name.ts'
import type { BuilderHandle } from '../topology/builder-handle.ts'
import type { StreamHandle, TableHandle } from '../topology/handles.ts'
import type { SerdePair } from '../topology/parts.ts'
import { buildTopology } from '../topology/streams.ts'
import type { Topology } from '../topology/topology.ts'
import type { GraphConfig, OperatorConfig, SourceConfig, StepConfig } from './application-config.ts'
import { buildStreamAggregation, buildTableAggregation } from './build-aggregation.ts'
import { buildStreamJoin, buildTableJoin } from './build-join.ts'
import { buildCogroup, updatesByInput } from './build-cogroup.ts'
import { hasUnreadableSerde, type BuildContext } from './build-context.ts'
import { buildSink, buildSource } from './build-source.ts'
import {
  buildDedupe,
  buildFilter,
  buildFlatMap,
  buildKey,
  buildMap,
  buildPeek,
  buildProcess,
  buildRepartition,
  buildSplit,
  buildToTable,
  buildValue,
} from './build-stream-step.ts'
import { buildSuppress, buildTableFilter, buildTableValue, buildToStream } from './build-table-step.ts'
import type { ScalarNode } from './config-node.ts'
import type { ExpressionSpec } from './expression-spec.ts'
import { noteMistakes } from './graph-mistakes.ts'
import { serdesOf, type Flow, type ReadableFlow } from './flow.ts'
import {
  knownOfAll,
  knownOfSource,
  knownOfStep,
  knownOfVariables,
  NOTHING_KNOWN,
  type KnownSides,
} from './known-values.ts'
import { orderSteps, targetOf } from './name-resolution.ts'

/** A graph and what is known of its topics. */
export interface BuiltGraph {
  readonly topology: Topology
  /** Serdes by topic: sources, sinks and changelogs. */
  readonly topicSerdes: ReadonlyMap<string, SerdePair>
}

/**
 * Builds the graph of an application; every mistake is noted at the place it was written. `undefined` when there were any.
 */
export function buildGraph(graph: GraphConfig, context: BuildContext, applicationId: string): BuiltGraph | undefined {
  const topicSerdes = new Map<string, SerdePair>()
  try {
    const topology = buildTopology(builder => {
      new GraphBuilder(builder, graph, context, topicSerdes).build()
      for (const { name, key, value, retentionMs } of builder.graph.stores.values()) {
        // Keys of windows have their bounds behind them: they are shown as bytes.
        topicSerdes.set(`${applicationId}-${name}-changelog`, retentionMs === undefined ? { key, value } : { value })
      }
      for (const { sink } of builder.graph.nodes) {
        if (sink?.topic !== undefined && sink.serdes !== undefined) topicSerdes.set(sink.topic, sink.serdes)
      }
    })
    return context.problems.hasMistakes ? undefined : { topology, topicSerdes }
  } catch (error) {
    noteMistakes(error, graph, context.problems)
    return undefined
  }
}

/** Builds sources, then steps in the order of their data, then sinks. */
class GraphBuilder {
  readonly #builder: BuilderHandle
  readonly #graph: GraphConfig
  readonly #context: BuildContext
  readonly #topicSerdes: Map<string, SerdePair>
  /** By name, and by `step.branch`. */
  readonly #flows = new Map<string, Flow>()
  /** What is known of them before any record is seen. */
  readonly #known = new Map<string, KnownSides>()
  readonly #splits = new Map<string, readonly string[]>()

  constructor(builder: BuilderHandle, graph: GraphConfig, context: BuildContext, topicSerdes: Map<string, SerdePair>) {
    this.#builder = builder
    this.#graph = graph
    this.#context = context
    this.#topicSerdes = topicSerdes
  }

  build(): void {
    for (const source of this.#graph.sources.values()) {
      const known = knownOfSource(source)
      const flow = buildSource(this.#builder, source, knowing(this.#context, variablesOf(known)))
      if (!this.#isOpaque(source)) this.#flows.set(source.name, flow)
      this.#known.set(source.name, known)
      for (const topic of source.topics) this.#topicSerdes.set(topic, serdesOf(flow))
    }
    for (const step of orderSteps(this.#graph, this.#context.problems)) this.#addStep(step)
    for (const sink of this.#graph.sinks.values()) {
      const flow = this.#readable(sink.from)
      if (flow === undefined) continue
      // A sink takes either: of a table it writes the updates, deletions as nulls.
      const stream = flow.kind === 'stream' ? flow.handle : flow.handle.toStream({ name: `${sink.name}-updates` })
      const serdes = buildSink(stream, sink, knowing(this.#context, variablesOf(this.#knownOf(sink.from))))
      if (typeof sink.topic === 'string') this.#topicSerdes.set(sink.topic, serdes)
    }
  }

  #addStep(step: StepConfig): void {
    const { operator } = step
    const input = knownOfAll(step.from.map(reference => this.#knownOf(reference)))
    const other = operator.kind === 'join' ? this.#knownOf(operator.with) : NOTHING_KNOWN
    const context = knowing(this.#context, knownOfVariables(step, input, other))
    const flows = this.#flowsOf(step, context)
    if (this.#isOpaque(step)) return
    const known = knownOfStep(step, input, spec => context.compiler.resultOf(spec))
    for (const [name, flow] of flows) {
      this.#flows.set(name, flow)
      this.#known.set(name, known)
    }
  }

  /** Whether nobody can say what it gives, after a mistake that has been noted: what reads it is checked no further. */
  #isOpaque(entry: SourceConfig | StepConfig): boolean {
    const { sources, steps } = this.#graph
    const isAmbiguous = sources.has(entry.name) && steps.has(entry.name)
    const isUndecoded = 'as' in entry && entry.as !== 'stream' && (entry.key === undefined || entry.value === undefined)
    return isAmbiguous || isUndecoded || hasUnreadableSerde(entry, this.#context)
  }

  /** What a step gives, by name: a split gives its branches. */
  #flowsOf(step: StepConfig, context: BuildContext): Iterable<readonly [name: string, flow: Flow]> {
    const updates = updatesByInput(step)
    if (updates !== undefined) {
      const table = this.#cogroup(step, updates, context)
      return table === undefined ? [] : [[step.name, { kind: 'table', handle: table }]]
    }
    const input = this.#inputOf(step)
    if (input === undefined) return []
    const { operator } = step
    if (operator.kind === 'split') {
      if (input.kind === 'table') {
        this.#refuseTable(step)
        return []
      }
      const branches = buildSplit(input.handle, step, operator, context)
      this.#splits.set(step.name, [...operator.branches.keys()])
      return Array.from(branches, ([branch, flow]) => [`${step.name}.${branch}`, flow])
    }
    const flow =
      input.kind === 'table'
        ? this.#tableStep(input, step, operator, context)
        : this.#streamStep(input.handle, step, operator, context)
    return flow === undefined ? [] : [[step.name, flow]]
  }

  #streamStep(
    stream: StreamHandle,
    step: StepConfig,
    operator: Exclude<OperatorConfig, { readonly kind: 'split' }>,
    context: BuildContext,
  ): Flow | undefined {
    switch (operator.kind) {
      case 'merge':
        return { kind: 'stream', handle: stream }
      case 'filter':
      case 'drop':
        return buildFilter(stream, step, operator, context)
      case 'value':
        return buildValue(stream, step, operator, context)
      case 'key':
        return buildKey(stream, step, operator, context)
      case 'map':
        return buildMap(stream, step, operator, context)
      case 'flatMap':
        return buildFlatMap(stream, step, operator, context)
      case 'repartition':
        return buildRepartition(stream, step, operator, context)
      case 'table':
        return buildToTable(stream, step, context)
      case 'dedupe':
        return buildDedupe(stream, step, operator, context)
      case 'suppress':
        context.problems.add(
          step.place,
          `step "${step.name}" (suppress) works on tables, and "${fromText(step)}" is a stream`,
          'aggregate first, or put a table: step before it',
        )
        return undefined
      case 'peek':
        return buildPeek(stream, step, operator, context)
      case 'process':
      case 'processValues':
        return buildProcess(stream, step, operator, context)
      case 'join': {
        const other = this.#flowOf(operator.with)
        return other === undefined ? undefined : buildStreamJoin(stream, other, step, operator, context)
      }
      case 'stream':
        context.problems.add(
          step.place,
          `step "${step.name}" makes a stream of what is one already`,
          'leave the step out',
        )
        return undefined
      case 'count':
      case 'sum':
      case 'min':
      case 'max':
      case 'reduce':
      case 'aggregate':
        return buildStreamAggregation(stream, step, operator, context)
    }
  }

  #tableStep(
    input: ReadableFlow & { readonly kind: 'table' },
    step: StepConfig,
    operator: OperatorConfig,
    context: BuildContext,
  ): Flow | undefined {
    switch (operator.kind) {
      case 'filter':
      case 'drop':
        return buildTableFilter(input.handle, step, operator, context)
      case 'value':
        return buildTableValue(input.handle, step, operator, context)
      case 'stream':
        return buildToStream(input.handle, step, operator)
      case 'suppress':
        return buildSuppress(input.handle, step, operator)
      case 'count':
      case 'sum':
      case 'min':
      case 'max':
      case 'reduce':
      case 'aggregate':
        if (step.groupBy !== undefined) return buildTableAggregation(input.handle, step, operator, context)
        context.problems.add(
          step.place,
          `step "${step.name}" aggregates the table "${fromText(step)}" without saying by what`,
          'add groupBy:, or put a stream: step before it',
        )
        return undefined
      case 'join': {
        const other = this.#flowOf(operator.with)
        return other === undefined ? undefined : buildTableJoin(input.handle, other, step, operator, context)
      }
      case 'merge':
      case 'key':
      case 'map':
      case 'flatMap':
      case 'split':
      case 'repartition':
      case 'table':
      case 'peek':
      case 'dedupe':
      case 'process':
      case 'processValues':
        this.#refuseTable(step)
        return undefined
    }
  }

  #cogroup(
    step: StepConfig,
    updates: ReadonlyMap<string, ExpressionSpec>,
    context: BuildContext,
  ): TableHandle | undefined {
    const { operator } = step
    const inputs: [string, StreamHandle][] = []
    for (const reference of step.from) {
      const flow = this.#readable(reference)
      if (flow === undefined) return undefined
      if (flow.kind === 'table') {
        this.#refuseTable(step)
        return undefined
      }
      inputs.push([reference.text, flow.handle])
    }
    return operator.kind === 'aggregate' ? buildCogroup(inputs, step, operator, updates, context) : undefined
  }

  #refuseTable(step: StepConfig): void {
    this.#context.problems.add(
      step.place,
      `step "${step.name}" (${step.operator.kind}) works on streams, and "${fromText(step)}" is a table`,
      `put a step before it: { from: ${fromText(step)}, stream: { deletions: keep } }`,
    )
  }

  /** The input of a step: of several streams their merge. */
  #inputOf(step: StepConfig): ReadableFlow | undefined {
    const flows = step.from.map(reference => this.#readable(reference))
    const known = flows.filter(flow => flow !== undefined)
    const [first, ...others] = known
    if (first === undefined || known.length < flows.length || others.length === 0)
      return known.length < flows.length ? undefined : first
    if (first.kind === 'table' || others.some(other => other.kind === 'table')) {
      this.#context.problems.add(
        step.place,
        `step "${step.name}" merges a table`,
        'only streams can be merged: put a stream: step before it',
      )
      return undefined
    }
    let merged = first.handle
    for (const [at, other] of others.entries()) {
      if (other.kind !== 'stream') continue
      this.#checkSerdes(step, first, other)
      const isLast = at === others.length - 1
      const name = isLast
        ? step.operator.kind === 'merge'
          ? step.name
          : `${step.name}-merge`
        : `${step.name}-merge-${String(at + 1)}`
      merged = merged.merge(other.handle, { name })
    }
    return { kind: 'stream', handle: merged }
  }

  #checkSerdes(step: StepConfig, first: ReadableFlow, other: ReadableFlow): void {
    for (const side of ['key', 'value'] as const) {
      const [left, right] = [first.handle.parts[side]?.name, other.handle.parts[side]?.name]
      if (left === right || left === undefined || right === undefined) continue
      this.#context.problems.add(
        step.place,
        `step "${step.name}" merges streams whose ${side}s are written as ${left} and as ${right}`,
        `bring them to one serde first`,
        'SERDE_MISMATCH',
      )
    }
  }

  #knownOf(reference: ScalarNode): KnownSides {
    const { name, branch } = targetOf(reference)
    return this.#known.get(branch === undefined ? name : `${name}.${branch}`) ?? NOTHING_KNOWN
  }

  /** What a step or sink may read: a global table is there to be looked up, and has no updates. */
  #readable(reference: ScalarNode): ReadableFlow | undefined {
    const flow = this.#flowOf(reference)
    if (flow?.kind !== 'globalTable') return flow
    this.#context.problems.add(
      reference.place,
      `"${reference.text}" is a global table: it can only be joined`,
      'write join: { with: …, on: …, value: … } on a stream, or read the topic as: table',
    )
    return undefined
  }

  #flowOf(reference: ScalarNode): Flow | undefined {
    const { name, branch } = targetOf(reference)
    const branches = this.#splits.get(name)
    if (branches === undefined) {
      const flow = this.#flows.get(name)
      if (flow !== undefined && branch !== undefined)
        this.#context.problems.add(
          reference.place,
          `"${name}" is no split and has no branch "${branch}"`,
          undefined,
          'NAME_UNKNOWN',
        )
      return flow
    }
    const flow = branch === undefined ? undefined : this.#flows.get(`${name}.${branch}`)
    // A branch whose condition is wrong is not there, which has been noted.
    if (flow !== undefined || (branch !== undefined && branches.includes(branch))) return flow
    const nearest = branch === undefined ? undefined : nearestName(branch, branches)
    this.#context.problems.add(
      reference.place,
      branch === undefined
        ? `"${name}" is a split: name one of its branches`
        : `the split "${name}" has no branch "${branch}"`,
      nearest === undefined
        ? `write ${branches.map(known => `${name}.${known}`).join(' or ')}`
        : `did you mean "${name}.${nearest}"?`,
      'NAME_UNKNOWN',
    )
    return undefined
  }
}

function knowing(context: BuildContext, known: KnownVariables): BuildContext {
  return { ...context, compiler: context.compiler.knowing(known) }
}

function variablesOf({ key, value }: KnownSides): KnownVariables {
  return new Map([
    ['key', key],
    ['value', value],
  ])
}

function fromText(step: StepConfig): string {
  return step.from.map(reference => reference.text).join(', ')
}
