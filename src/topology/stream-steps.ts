import { allValueReads } from '../expressions/value-reads.ts'
import type { Forward } from '../operators/forward.ts'
import { sink } from '../operators/sink.ts'
import * as stateless from '../operators/stateless.ts'
import type { Step } from '../operators/step.ts'
import { PASSES, type GraphNode, type NodeCompiler, type Side, type SideUse } from './graph-node.ts'
import {
  union,
  type ErasedRepartitionOptions,
  type ErasedSinkOptions,
  type Named,
  type SerdePair,
  type StreamParts,
} from './parts.ts'
import { addProcessor, type ErasedSupplier } from './processor-node.ts'
import { draftedStep } from './drafts.ts'
import { fieldsOf, readsOf, useBy } from './reads.ts'
import { addRepartition, takeRepartitionNumbers } from './repartition.ts'
import type { RepartitionOptions } from './repartition-topic.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { windowedFormOf } from '../serdes/windowed.ts'
import { serdeOf } from './stream-serdes.ts'

/** Which sides a mapper replaces. */
interface Replaced {
  readonly key?: true
  readonly value?: true
}

/** `filter` and `filterNot`. */
export function addFilter(stream: StreamParts, predicate: Step, keep: boolean, options: Named): StreamParts {
  return addLook(stream, 'KSTREAM-FILTER-', predicate, options, ({ site, next }) =>
    stateless.filter(site, predicate, keep, next),
  )
}

/** `peek`. */
export function addPeek(stream: StreamParts, action: Step, options: Named): StreamParts {
  return addLook(stream, 'KSTREAM-PEEK-', action, options, ({ site, next }) => stateless.peek(site, action, next))
}

/** `foreach`. */
export function addForeach(stream: StreamParts, action: Step, options: Named): void {
  addLook(stream, 'KSTREAM-FOREACH-', action, options, ({ site, next }) => stateless.peek(site, action, next))
}

/** `map`. */
export function addMap(stream: StreamParts, mapper: Step, options: Named): StreamParts {
  return addMapper(stream, 'KSTREAM-MAP-', mapper, { key: true, value: true }, options, ({ site, next, writtenAs }) =>
    stateless.map(site, draftedStep(mapper, writtenAs), next),
  )
}

/** `mapValues`. */
export function addMapValues(stream: StreamParts, mapper: Step, options: Named): StreamParts {
  return addMapper(stream, 'KSTREAM-MAPVALUES-', mapper, { value: true }, options, ({ site, next, writtenAs }) =>
    stateless.mapValues(site, draftedStep(mapper, writtenAs), next),
  )
}

/** `flatMap`. */
export function addFlatMap(stream: StreamParts, mapper: Step, options: Named): StreamParts {
  return addMapper(stream, 'KSTREAM-FLATMAP-', mapper, { key: true, value: true }, options, ({ site, next }) =>
    stateless.flatMap(site, mapper, next),
  )
}

/** `flatMapValues`. */
export function addFlatMapValues(stream: StreamParts, mapper: Step, options: Named): StreamParts {
  return addMapper(stream, 'KSTREAM-FLATMAPVALUES-', mapper, { value: true }, options, ({ site, next }) =>
    stateless.flatMapValues(site, mapper, next),
  )
}

/** `selectKey`. */
export function addSelectKey(stream: StreamParts, selector: Step, options: Named): StreamParts {
  return addMapper(stream, 'KSTREAM-KEY-SELECT-', selector, { key: true }, options, ({ site, next }) =>
    stateless.selectKey(site, selector, next),
  )
}

/** `merge`. */
export function addMerge(stream: StreamParts, other: StreamParts, options: Named): StreamParts {
  const { graph } = stream
  const node = graph.add({
    name: graph.nameOr(options.name, 'KSTREAM-MERGE-'),
    parents: stream.node === other.node ? [stream.node] : [stream.node, other.node],
    effect: 'merges',
    use: () => PASSES,
    serdes: { key: stream.key, value: stream.value },
    compile: ({ next }) => next,
  })
  return { ...stream, node, rekeyed: stream.rekeyed || other.rekeyed, sources: union(stream.sources, other.sources) }
}

/** `split`: conditions in order; `'default'` takes the rest. */
export function addSplit(
  stream: StreamParts,
  branches: Readonly<Record<string, Step | 'default'>>,
  options: Named,
): Readonly<Record<string, StreamParts>> {
  const { graph } = stream
  const base = graph.nameOr(options.name, 'KSTREAM-BRANCH-')
  const names = Object.keys(branches)
  const conditions: { readonly at: number; readonly condition: Step }[] = []
  for (const [at, name] of names.entries()) {
    const condition = branches[name]
    if (typeof condition === 'function') conditions.push({ at, condition })
  }
  const restAt = names.findIndex(name => branches[name] === 'default')
  if (restAt !== names.findLastIndex(name => branches[name] === 'default')) {
    graph.report('TOPOLOGY_INVALID', {
      node: base,
      what: `${base} has more than one default branch: only the first would get records.`,
      action: 'Give all branches but one a condition.',
    })
  }
  const children: GraphNode[] = []
  const node = graph.add({
    name: base,
    parents: [stream.node],
    use: side => ({
      ...PASSES,
      reads: conditions.some(({ condition }) => readsOf(condition, side)),
      fields: allValueReads(conditions.map(({ condition }) => fieldsOf(condition))),
    }),
    serdes: { key: stream.key, value: stream.value },
    compile: compiler => {
      const forwards = children.map(child => compiler.child(child))
      const taken = conditions.flatMap(({ at }) => forwards[at] ?? [])
      return stateless.branch(
        compiler.site,
        conditions.map(({ condition }) => condition),
        taken,
        forwards[restAt],
      )
    },
  })
  return Object.fromEntries(
    names.map(name => {
      // Each branch takes a number that no name shows, as in the JVM.
      graph.numberedName('')
      const child = graph.add({
        name: `${base}${name}`,
        parents: [node],
        use: () => PASSES,
        serdes: node.serdes,
        compile: ({ next }) => next,
      })
      children.push(child)
      return [name, { ...stream, node: child }]
    }),
  )
}

/** `repartition`. */
export function addRepartitionStep(stream: StreamParts, options: ErasedRepartitionOptions): StreamParts {
  return repartitioned(
    stream,
    options.name ?? stream.graph.numberedName('KSTREAM-REPARTITION-'),
    { ...options, origin: 'askedFor' },
    options.name ?? 'repartition',
  )
}

/** The stream behind a repartition topic. */
export function repartitioned(
  stream: StreamParts,
  base: string,
  options: ErasedRepartitionOptions & Pick<RepartitionOptions, 'origin'>,
  step: string,
): StreamParts {
  const key = serdeOf(stream, 'key', options.key, step)
  const value = serdeOf(stream, 'value', options.value, step)
  const source = addRepartition(stream.graph, { ...options, parent: stream.node, base, key, value })
  return { ...stream, node: source, key, value, rekeyed: false, sources: [source] }
}

/**
 * The stream behind a repartition topic of a join. Joins of one stream without names of their own share the topic of the
 * first. Kafka Streams: `KStreamImpl.repartitionForJoin`.
 *
 * @param base - of the topic's name; `undefined` for a join without a name
 */
export function repartitionedForJoin(
  stream: StreamParts,
  base: string | undefined,
  options: SerdePair,
  step: string,
): StreamParts {
  const { graph, node } = stream
  const known = base === undefined ? graph.joinRepartitions.get(node) : undefined
  if (known !== undefined) {
    takeRepartitionNumbers(graph)
    const { source, options: serdes } = known
    return { ...stream, node: source, key: serdes.key, value: serdes.value, rekeyed: false, sources: [source] }
  }
  const behind = repartitioned(stream, base ?? node.name, options, step)
  const added = graph.repartitions.find(({ source }) => source === behind.node)
  if (added !== undefined) graph.joinRepartitions.set(node, added)
  return behind
}

/** `to`. */
export function addSink(stream: StreamParts, topic: string | Step, options: ErasedSinkOptions): void {
  const { graph } = stream
  const name = graph.nameOr(options.name, 'KSTREAM-SINK-')
  const key = options.key ?? serdeOf(stream, 'key', undefined, name)
  const value = options.value ?? serdeOf(stream, 'value', undefined, name)
  const { partitioner } = options
  const windowBytes = windowedFormOf(withoutNull(key))?.windowBytes
  const reads = (side: Side): boolean =>
    partitioner !== undefined || (typeof topic === 'function' && readsOf(topic, side))
  graph.add({
    name,
    kind: 'sink',
    parents: [stream.node],
    sink: { topic: typeof topic === 'string' ? topic : undefined, internal: false, partitions: undefined },
    use: side => ({ reads: reads(side), passes: false, writes: [side === 'key' ? key : value] }),
    compile: compiler => {
      const told = typeof topic === 'string' ? topic : name
      return sink({
        ...compiler.site,
        output: compiler.output,
        topic,
        bytes: compiler.recordBytes(key, value, told),
        partitioner,
        windowBytes,
        dropped: compiler.dropped,
      })
    },
  })
}

/** `process` and `processValues`. */
export function addProcess(stream: StreamParts, supplier: ErasedSupplier, keepsKey: boolean): StreamParts {
  const node = addProcessor(stream.graph, stream.node, supplier, keepsKey)
  const value = supplier.value ?? stream.value
  return keepsKey
    ? { ...stream, node, value }
    : { ...stream, node, value, key: supplier.key ?? stream.key, rekeyed: true }
}

/** A step that looks at a record and hands it on unchanged. */
function addLook(
  stream: StreamParts,
  prefix: string,
  step: Step,
  options: Named,
  compile: (compiler: NodeCompiler) => Forward,
): StreamParts {
  const use = (side: Side): SideUse => ({ ...PASSES, ...useBy(step, side) })
  const node = stream.graph.add({
    name: stream.graph.nameOr(options.name, prefix),
    parents: [stream.node],
    use,
    compile,
  })
  return { ...stream, node }
}

function addMapper(
  stream: StreamParts,
  prefix: string,
  step: Step,
  replaced: Replaced,
  options: Named,
  compile: (compiler: NodeCompiler) => Forward,
): StreamParts {
  const use = (side: Side): SideUse => ({ ...useBy(step, side), passes: replaced[side] !== true, writes: [] })
  const node = stream.graph.add({
    name: stream.graph.nameOr(options.name, prefix),
    parents: [stream.node],
    effect: replaced.key === true ? 'changesKey' : 'changesValue',
    use,
    compile,
  })
  return {
    ...stream,
    node,
    key: replaced.key === true ? undefined : stream.key,
    value: replaced.value === true ? undefined : stream.value,
    rekeyed: stream.rekeyed || replaced.key === true,
  }
}
