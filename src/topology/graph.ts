import { MillraceError, type MillraceErrorDetails } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { GraphNode, NodeEffect, SideUse, Side, SinkDefinition, SourceDefinition } from './graph-node.ts'
import type { Optimization } from './optimization.ts'
import type { Repartition } from './repartition-topic.ts'

const NUMBER_DIGITS = 10
const NAME_CHARACTERS_MAX = 249

/** What a new node is made of; the rest follows from its place. */
export interface NodeDefinition {
  readonly name: string
  readonly kind?: GraphNode['kind']
  readonly parents: readonly GraphNode[]
  readonly source?: SourceDefinition
  readonly sink?: SinkDefinition
  readonly keeps?: string
  readonly effect?: NodeEffect
  readonly use: (side: Side) => SideUse
  readonly serdes?: GraphNode['serdes']
  readonly compile: GraphNode['compile']
}

/**
 * The graph as it is being built: nodes in the order of their calls, names numbered as the JVM does, and every mistake found
 * on the way. Kafka Streams: `InternalStreamsBuilder` and `InternalTopologyBuilder`.
 */
export class Graph {
  readonly nodes: GraphNode[] = []
  readonly stores = new Map<string, StoreDefinition>()
  /** Stores whose table reads its topic directly: that topic can be their changelog. */
  readonly sourceStores = new Map<string, GraphNode>()
  /** Sources whose topics must have equal partition counts. */
  readonly copartitioned: (readonly GraphNode[])[] = []
  readonly problems: MillraceError[] = []
  /** Names of stores and repartition topics that were numbered, not given. */
  numberedResources: string[] = []
  /** What `topology.optimization` names has its say while the graph is built. */
  readonly optimizations: ReadonlySet<Optimization>
  /** Repartition topics that nobody asked for: they can be merged. */
  readonly repartitions: Repartition[] = []
  /** The topic of the latest join of a re-keyed stream, by the stream's node. */
  readonly joinRepartitions = new Map<GraphNode, Repartition>()
  /** Joins that give results for records without a key: topics before them keep such records. */
  readonly keylessJoins = new Set<GraphNode>()
  /** Whether a stream is joined with itself: the graph then looks different when optimized. */
  hasSelfJoin = false
  readonly #names = new Set<string>()
  #nextNumber = 0

  constructor(optimizations: ReadonlySet<Optimization> = new Set()) {
    this.optimizations = optimizations
  }

  /** The name given, or the next numbered one; a number is taken in any case, so that naming a step renames no other. */
  nameOr(name: string | undefined, prefix: string): string {
    const numbered = this.numberedName(prefix)
    return name ?? numbered
  }

  /** A name such as `KSTREAM-FILTER-0000000003`. */
  numberedName(prefix: string): string {
    return `${prefix}${this.#takeNumber()}`
  }

  /** The name of an unnamed store, such as `KSTREAM-AGGREGATE-STATE-STORE-0000000002`. */
  numberedStoreName(prefix: string): string {
    return `${prefix}STATE-STORE-${this.#takeNumber()}`
  }

  add(definition: NodeDefinition): GraphNode {
    const { name, parents } = definition
    this.#checkName(name)
    if (this.#names.has(name))
      this.report('NAME_TAKEN', { node: name, what: `The name ${name} is used by two operators.` })
    this.#names.add(name)
    const node: GraphNode = {
      name,
      kind: definition.kind ?? 'processor',
      parents,
      children: [],
      stores: new Set(),
      lookUps: new Set(),
      source: definition.source,
      sink: definition.sink,
      keeps: definition.keeps,
      effect: definition.effect,
      use: definition.use,
      serdes: definition.serdes ?? { key: undefined, value: undefined },
      compile: definition.compile,
    }
    this.nodes.push(node)
    for (const parent of parents) parent.children.push(node)
    return node
  }

  /** Takes a node out again; its neighbours are the caller's to connect. */
  remove(node: GraphNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1)
    this.#names.delete(node.name)
    for (const { children } of node.parents) if (children.includes(node)) children.splice(children.indexOf(node), 1)
  }

  /** Makes a store known; the same definition may come again. */
  addStore(definition: StoreDefinition): void {
    this.#checkName(definition.name)
    const known = this.stores.get(definition.name)
    if (known !== undefined && known !== definition) {
      this.report('NAME_TAKEN', { node: definition.name, what: `The name ${definition.name} is used by two stores.` })
    }
    this.stores.set(definition.name, definition)
  }

  /** Lets a node use a store; nodes that share a store belong to one subtopology. */
  connect(node: GraphNode, store: string): void {
    node.stores.add(store)
  }

  /** The same for a store that the node only looks into. */
  connectLookUp(node: GraphNode, store: string): void {
    this.connect(node, store)
    node.lookUps.add(store)
  }

  /** Notes a mistake; all are reported together. */
  report(code: MillraceErrorCode, details: MillraceErrorDetails): void {
    this.problems.push(new MillraceError(code, details))
  }

  #takeNumber(): string {
    const number = String(this.#nextNumber).padStart(NUMBER_DIGITS, '0')
    this.#nextNumber += 1
    return number
  }

  /** Names become parts of topic names. Kafka Streams: `Named.validate`. */
  #checkName(name: string): void {
    if (/^[a-zA-Z0-9._-]+$/.test(name) && name !== '.' && name !== '..' && name.length <= NAME_CHARACTERS_MAX) return
    this.report('TOPOLOGY_INVALID', {
      node: name,
      what: `${JSON.stringify(name)} is no name: letters, digits, ".", "_" and "-", at most ${String(NAME_CHARACTERS_MAX)}.`,
    })
  }
}

/** One error for all mistakes of a graph; each of them is in `cause.errors`. */
export function topologyInvalid(problems: readonly MillraceError[]): MillraceError {
  const [only] = problems
  const lines = problems.map(problem => `${problem.code}: ${problem.message}`)
  return new MillraceError('TOPOLOGY_INVALID', {
    what:
      problems.length === 1 && only !== undefined
        ? only.message
        : `${String(problems.length)} mistakes:\n  ${lines.join('\n  ')}`,
    action: [...new Set(problems.map(problem => problem.action))].join(' '),
    cause: new AggregateError(problems, lines.join('; ')),
  })
}
