import { assert } from '../model/assert.ts'
import { allValueReads, NO_FIELDS } from '../expressions/value-reads.ts'
import type { SideEncoding } from '../operators/side-bytes.ts'
import { FIELDS_MAX } from '../serdes/json-fields.ts'
import { isJson, isPlainJson } from '../serdes/json.ts'
import { rememberingSerializer } from '../serdes/remembering-serializer.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde, Serializer } from '../serdes/serde.ts'
import { bytes, isTextSerde, string } from '../serdes/text.ts'
import { readsPrimitives } from '../serdes/primitives.ts'
import { windowedFormOf, type WindowedForm } from '../serdes/windowed.ts'
import type { DraftForm } from './drafts.ts'
import type { GraphNode, Side } from './graph-node.ts'

/** What a source does with a side's bytes. */
export type SideReading = 'raw' | 'check' | 'decode' | 'inPlace' | { readonly fields: ReadonlySet<string> }

/** As `SideEncoding`, with the store still a name. */
export type FlowEncoding =
  Exclude<SideEncoding, { readonly kind: 'kept' }> | { readonly kind: 'kept'; readonly store: string }

/** Everything that reaches a set of nodes unchanged from the same origins. */
interface Flow {
  readonly origins: Set<GraphNode>
  isRead: boolean
  /** Fields that are read of values; `undefined` where they are read as a whole, as keys always are. */
  fields: ReadonlySet<string> | undefined
  /** Whether all who read it take a text in place. */
  isText: boolean
  readonly writers: Serializer<never>[]
  /** Whether another than a sink is among those who write. */
  isKept: boolean
}

/**
 * Finds out for one side of the records where it travels unchanged, who reads it and who writes it. Where nobody reads, the
 * bytes go from the source to topics and stores as they came: no decoding, no encoding, no copy.
 */
export class SideFlow {
  readonly #side: Side
  readonly #holdsBack: (node: GraphNode) => boolean
  readonly #flowOf = new Map<GraphNode, Flow>()
  /** Nodes that put a window around what they get, at once. */
  readonly #wrapping = new Set<GraphNode>()

  /**
   * @param nodes - of one subtopology, parents first
   * @param holdsBack - whether a cache stands between what a node gets and what it hands on
   */
  constructor(nodes: readonly GraphNode[], side: Side, holdsBack: (node: GraphNode) => boolean) {
    this.#side = side
    this.#holdsBack = holdsBack
    for (const node of nodes) this.#enter(node)
    for (const node of nodes) this.#note(node)
    // Children first: a key is read where somebody downstream reads that of its window, or writes it otherwise.
    for (const node of nodes.toReversed()) if (this.#wrapping.has(node)) this.#noteInner(node)
  }

  /** How a source reads the side. */
  readingOf(source: GraphNode): SideReading {
    const flow = this.#flow(source)
    if (!this.#travelsRaw(flow)) return this.#fieldsRead(flow, source) ?? this.#textRead(flow, source) ?? 'decode'
    const serde = this.#serdeOf(source)
    // Text and bytes cannot be wrong; anything else is checked where it enters, so that poison is found even if nobody reads it.
    return serde === string || serde === bytes ? 'raw' : 'check'
  }

  /** The fields that are all that anybody asks for of the values of a source. */
  #fieldsRead({ isRead, fields, writers }: Flow, source: GraphNode): SideReading | undefined {
    if (fields === undefined || fields.size > FIELDS_MAX || !isRead || writers.length > 0) return undefined
    return isPlainJson(this.#serdeOf(source)) ? { fields } : undefined
  }

  /** Whether the values of a source may stay where they lie. */
  #textRead({ isRead, isText, writers }: Flow, source: GraphNode): SideReading | undefined {
    const isInPlace = isRead && isText && writers.length === 0 && this.#serdeOf(source) === string
    return isInPlace ? 'inPlace' : undefined
  }

  /** The form in which all that a node gives is written to topics, where nobody reads it. */
  writtenAs(node: GraphNode): DraftForm | undefined {
    const { isRead, isKept, writers } = this.#flow(node)
    if (isRead || isKept || writers.length === 0) return undefined
    if (writers.every(writer => isJson(withoutNull(writer)))) return 'json'
    return writers.every(writer => isTextSerde(withoutNull(writer))) ? 'text' : undefined
  }

  /** How a node gets the bytes of the side it is handed. */
  encodingOf(node: GraphNode, serializer: Serializer<never>): FlowEncoding {
    const parent = node.parents[0]
    if (parent === undefined) return { kind: 'encode', serializer: rememberingSerializer(serializer) }
    const flow = this.#flow(parent)
    if (this.#travelsRaw(flow)) return { kind: 'source' }
    const isUnchanged = (origin: GraphNode): boolean =>
      origin.source !== undefined &&
      this.#sameBytes(origin, serializer) &&
      (!flow.isRead || readsPrimitives(this.#serdeOf(origin)))
    // A step that read an object may have changed it in place, as it could in the JVM; a string it could not.
    if ([...flow.origins].every(isUnchanged)) return { kind: 'source' }
    const window = this.#windowAround(flow, serializer)
    if (window !== undefined) return { kind: 'windowed', window }
    const kept = this.#keptBy(flow, serializer)
    if (kept !== undefined) return { kind: 'kept', store: kept }
    return { kind: 'encode', serializer: rememberingSerializer(serializer) }
  }

  /** The store that has just written a value in the very bytes asked for, if nobody can have changed the value since. */
  #keptBy(flow: Flow, serializer: Serializer<never>): string | undefined {
    const [origin, ...others] = flow.origins
    if (this.#side !== 'value' || flow.isRead || origin?.keeps === undefined || others.length > 0) return undefined
    const { value } = origin.serdes
    return value !== undefined && serializer === withoutNull(value) ? origin.keeps : undefined
  }

  /** The bounds behind the source's own key that make up the bytes asked for, where nobody has read the windowed key. */
  #windowAround(flow: Flow, serializer: Serializer<never>): WindowedForm | undefined {
    const form = formOf(serializer)
    if (form === undefined || flow.isRead) return undefined
    const isAround = (origin: GraphNode): boolean => this.#wrapping.has(origin) && this.#holds(origin, form)
    return [...flow.origins].every(isAround) ? form : undefined
  }

  /** Whether the key that a node puts a window around has, at its source, the bytes of a windowed key. */
  #holds({ parents }: GraphNode, { inner }: WindowedForm): boolean {
    const flows = parents.map(parent => this.#flow(parent))
    return flows.every(({ origins, isRead }) =>
      [...origins].every(
        origin =>
          origin.source !== undefined &&
          this.#sameBytes(origin, inner) &&
          (!isRead || readsPrimitives(this.#serdeOf(origin))),
      ),
    )
  }

  #noteInner(node: GraphNode): void {
    const outer = this.#flow(node)
    const isUnread = !outer.isRead && outer.writers.every(writer => this.#windowAround(outer, writer) !== undefined)
    if (isUnread) return
    for (const parent of node.parents) this.#flow(parent).isRead = true
  }

  #enter(node: GraphNode): void {
    const [first, ...others] = node.parents.map(parent => this.#flow(parent))
    const { passes, wraps } = node.use(this.#side)
    // What is held back comes later, when the source is at another record.
    const holdsBack = this.#holdsBack(node)
    // It writes what any of its parents hands it, whether it passes that on or not: `encodingOf` asks the first of them.
    if (first !== undefined) for (const other of others) this.#unite(first, other)
    if (wraps === true && !holdsBack) this.#wrapping.add(node)
    if (first === undefined || !passes || holdsBack) {
      const fields = this.#side === 'value' ? NO_FIELDS : undefined
      this.#flowOf.set(node, {
        origins: new Set([node]),
        isRead: false,
        fields,
        isText: true,
        writers: [],
        isKept: false,
      })
      return
    }
    this.#flowOf.set(node, first)
  }

  #note(node: GraphNode): void {
    const use = node.use(this.#side)
    for (const at of node.parents.length === 0 ? [node] : node.parents) {
      const flow = this.#flow(at)
      flow.isRead ||= use.reads
      if (use.reads) {
        flow.fields = allValueReads([flow.fields, use.fields])
        flow.isText &&= use.asText === true
      }
      flow.writers.push(...use.writes)
      flow.isKept ||= use.writes.length > 0 && node.kind !== 'sink'
    }
  }

  #unite(into: Flow, other: Flow): void {
    if (into === other) return
    for (const origin of other.origins) into.origins.add(origin)
    for (const [node, flow] of this.#flowOf) if (flow === other) this.#flowOf.set(node, into)
  }

  #travelsRaw(flow: Flow): boolean {
    if (flow.isRead) return false
    return [...flow.origins].every(
      origin => origin.source !== undefined && flow.writers.every(writer => this.#sameBytes(origin, writer)),
    )
  }

  #sameBytes(origin: GraphNode, serializer: Serializer<never>): boolean {
    const read = this.#serdeOf(origin)
    return serializer === read || ('deserialize' in serializer && withoutNull(asSerde(serializer)) === read)
  }

  #serdeOf({ source, name }: GraphNode): AnySerde {
    assert(source !== undefined, 'an origin with bytes is a source', { name })
    return withoutNull(source[this.#side])
  }

  #flow(node: GraphNode): Flow {
    const flow = this.#flowOf.get(node)
    assert(flow !== undefined, 'nodes come after their parents', { node: node.name })
    return flow
  }
}

function formOf(serializer: Serializer<never>): WindowedForm | undefined {
  return windowedFormOf('deserialize' in serializer ? withoutNull(asSerde(serializer)) : serializer)
}

function asSerde(serializer: Serializer<never>): AnySerde
function asSerde(serializer: unknown): unknown {
  return serializer
}
