import { HISTORY_MS, SEVERAL_TOPICS, type Input, type Shape, type SourceName } from '../plan.ts'
import * as user from '../user-functions.ts'
import { Model, recordOf, Sink, Source, type ModelNode } from './flow.ts'
import { Keyed, Stateless } from './streams.ts'
import { SourceTable, TableNode } from './tables.ts'
import { VersionedTable } from './versions.ts'

/** A stream: where it comes out, and whether its keys have changed since records were last distributed by them. */
export interface Stream {
  readonly node: ModelNode
  readonly isRekeyed: boolean
}

export type Result = Stream | TableNode

/** What the steps of a topology are put together with: their inputs, and the topics between them. */
export class Wiring {
  readonly model = new Model()
  readonly globalRows = new Map<string, unknown>()
  readonly #results = new Map<string, Result>()
  /** Repartition topics of joins, which those of one stream share. */
  readonly #joinTopics = new Map<ModelNode, Source>()
  #topics = 0

  /** Names the result of a step. */
  keep(step: number, result: Result): void {
    this.#results.set(String(step), result)
  }

  write({ node }: Stream, topic: string): void {
    node.feeds(new Sink(this.model, topic))
  }

  /** The stream behind a repartition topic, if its keys have changed. */
  distributed({ node, isRekeyed }: Stream): Stream {
    return { node: isRekeyed ? this.repartition(node) : node, isRekeyed: false }
  }

  /** The same for a join. */
  distributedForJoin({ node, isRekeyed }: Stream): Stream {
    if (!isRekeyed) return { node, isRekeyed }
    const source = this.#joinTopics.get(node) ?? this.repartition(node)
    this.#joinTopics.set(node, source)
    return { node: source, isRekeyed: false }
  }

  /** A repartition topic takes records with a key only. */
  repartition(node: ModelNode): Source {
    return this.topic(node.feeds(new Keyed(this.model)))
  }

  /** Sends what comes out of a node through a topic of the application's own. */
  topic(node: ModelNode): Source {
    this.#topics += 1
    const name = `internal-${String(this.#topics)}`
    node.feeds(new Sink(this.model, name))
    return new Source(this.model, name, true)
  }

  /** The table of a stream. */
  toTable(stream: Stream, history: number | null): TableNode {
    const { node } = this.distributed(stream)
    return node.feeds(history === null ? new SourceTable(this.model, false) : new VersionedTable(this.model, history))
  }

  /** An input as a stream. */
  stream({ from, shape }: Input, isText = false): Stream {
    const stream = this.asStream('step' in from ? this.#resultOf(from.step) : this.#source(from.source), shape)
    return isText ? { ...stream, node: this.#texts(stream.node) } : stream
  }

  /** An input as a table. */
  table({ from }: Input): TableNode {
    const result = 'step' in from ? this.#resultOf(from.step) : this.#source(from.source)
    return result instanceof TableNode ? result : this.toTable(result, null)
  }

  #resultOf(step: number): Result {
    const result = this.#results.get(String(step))
    if (result === undefined) throw new RangeError(`step ${String(step)} comes later`)
    return result
  }

  #source(name: SourceName): Result {
    const known = this.#results.get(name)
    if (known !== undefined) return known
    const result = name === 'm' ? this.#several() : this.#single(name)
    this.#results.set(name, result)
    return result
  }

  #single(name: Exclude<SourceName, 'm'>): Result {
    const source = new Source(this.model, name, false)
    return tableOf(this.model, source, name) ?? { node: source, isRekeyed: false }
  }

  /** Several topics as one stream: of records of one time those of the first topic come first. */
  #several(): Stream {
    const sources = SEVERAL_TOPICS.map(topic => new Source(this.model, topic, false))
    const node = new Stateless(this.model, record => [record])
    for (const source of sources) source.feeds(node)
    return { node, isRekeyed: false }
  }

  /** A table's updates; keys of windows become texts, and so do numbers. */
  asStream(result: Result, shape: Shape): Stream {
    if (!(result instanceof TableNode)) return result
    return { node: this.#texts(result), isRekeyed: shape.type === 'table' && shape.windows !== null }
  }

  #texts(node: ModelNode): ModelNode {
    return node.feeds(
      new Stateless(this.model, ({ key, value, time, headers }) => [
        recordOf(
          typeof key === 'string' || key === null ? key : user.keyText(key),
          value === null ? null : user.textOf(value),
          time,
          headers,
        ),
      ]),
    )
  }
}

function tableOf(model: Model, source: Source, name: Exclude<SourceName, 'm'>): TableNode | undefined {
  switch (name) {
    case 't1':
      return source.feeds(new SourceTable(model, true))
    case 't2':
      return source.feeds(new SourceTable(model, false))
    case 'v1':
      return source.feeds(new VersionedTable(model, HISTORY_MS))
    case 's1':
    case 's2':
    case 'g':
      return undefined
  }
}
