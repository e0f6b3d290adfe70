import type { Duration } from '../model/duration.ts'
import type { Forward } from '../operators/forward.ts'
import { streamGlobalTableJoin, streamTableJoin, type JoinStep } from '../operators/stream-table-join.ts'
import { storeGetter } from '../operators/table-getter.ts'
import type { Step } from '../operators/step.ts'
import { waitForTable } from '../operators/waiting-records.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { draftedStep } from './drafts.ts'
import { PASSES, READS, type NodeCompiler } from './graph-node.ts'
import { readsOf, takesTextInPlace } from './reads.ts'
import { durationOr0 } from './join-options.ts'
import { union, type Named, type SerdePair, type StreamParts, type TableParts } from './parts.ts'
import { repartitionedForJoin } from './stream-steps.ts'
import { serdeOf } from './stream-serdes.ts'

/** Options of a join with a table, their types forgotten. */
export interface ErasedTableJoinOptions extends Named, SerdePair {
  readonly grace?: Duration | undefined
}

/** `join` and `leftJoin` with a table; a re-keyed stream is repartitioned first. Kafka Streams: `KStreamImpl.doStreamTableJoin`. */
export function addTableJoin(
  stream: StreamParts,
  table: TableParts,
  joiner: JoinStep,
  options: ErasedTableJoinOptions,
  isLeft: boolean,
): StreamParts {
  const { graph } = stream
  const step = options.name ?? (isLeft ? 'leftJoin' : 'join')
  const key = serdeOf(stream, 'key', options.key, step)
  const joined = stream.rekeyed
    ? repartitionedForJoin(stream, options.name, { key, value: options.value }, step)
    : stream
  const [left, right] = [withoutNull(key).name, table.key.name]
  if (left !== right) {
    graph.report('SERDE_MISMATCH', {
      node: step,
      what: `${step} joins keys written as ${left} with a table whose keys are written as ${right}: equal keys would have different bytes.`,
    })
  }
  table.origin.materialize()
  const sources = union(joined.sources, table.sources)
  graph.copartitioned.push(sources)
  const name = graph.nameOr(options.name, isLeft ? 'KSTREAM-LEFTJOIN-' : 'KSTREAM-JOIN-')
  const buffer = bufferOf(joined, table, options, name)
  const node = graph.add({
    name,
    parents: [joined.node],
    // Records that waited have another key than the record that ends their wait.
    use: side => {
      if (side === 'key') {
        const reads = buffer !== undefined || readsOf(joiner, 'key') || table.origin.readsKey
        return { reads, passes: buffer === undefined, writes: [table.key] }
      }
      return buffer === undefined
        ? { ...READS, asText: takesTextInPlace(joiner) }
        : { ...READS, writes: [buffer.value] }
    },
    serdes: { key, value: undefined },
    compile: compiler => {
      const topic = compiler.changelogTopic(table.origin.stores()[0] ?? table.node.name)
      const join = streamTableJoin(
        {
          ...compiler.site,
          getter: table.origin.getter(compiler),
          keyBytes: buffer === undefined ? compiler.keyBytes(table.key, topic) : compiler.newKeyBytes(table.key, topic),
          dropped: compiler.dropped,
          joiner: draftedStep(joiner, compiler.writtenAs),
          isLeft,
        },
        compiler.next,
      )
      return buffer === undefined ? join : waiting(buffer, compiler, isLeft, join)
    },
  })
  if (isLeft) graph.keylessJoins.add(node)
  if (buffer !== undefined) {
    graph.addStore(buffer.store)
    graph.connect(node, buffer.store.name)
  }
  for (const store of table.origin.stores()) graph.connectLookUp(node, store)
  return { graph, node, key, value: undefined, rekeyed: false, sources }
}

/** A buffer in which stream records wait, with the serdes of what they are. */
interface Buffering {
  readonly store: StoreDefinition
  readonly key: AnySerde
  readonly value: AnySerde
  readonly graceMs: number
}

/** With grace, stream records wait for the table; only one that knows what held then can make use of that. */
function bufferOf(
  stream: StreamParts,
  table: TableParts,
  { grace, value }: ErasedTableJoinOptions,
  name: string,
): Buffering | undefined {
  if (grace === undefined) return undefined
  const { graph } = stream
  if (!table.origin.isVersioned) {
    graph.report('TABLE_NOT_VERSIONED', {
      node: name,
      what: `${name} waits for the table, and the table keeps no versions: it would be joined as it is later.`,
      action: 'Give the table `versioned`, or leave `grace` out.',
    })
  }
  return {
    store: { name: `${name}-Buffer`, kind: 'keyValue', key: bytes, value: bytes, options: {} },
    key: withoutNull(table.key),
    value: withoutNull(serdeOf(stream, 'value', value, name)),
    graceMs: durationOr0(graph, grace, 'grace', name),
  }
}

function waiting(
  { store, key, value, graceMs }: Buffering,
  compiler: NodeCompiler,
  isLeft: boolean,
  join: Forward,
): Forward {
  const topic = compiler.changelogTopic(store.name)
  return waitForTable(
    {
      ...compiler.site,
      store: compiler.store(store.name),
      key: erasedSerde(key),
      value: erasedSerde(value),
      keyBytes: compiler.keyBytes(key, topic),
      valueBytes: compiler.sideBytes('value', value, topic),
      topic,
      graceMs,
      observed: compiler.variable('time', -1),
      sequence: compiler.variable('seq', 0),
      isLeft,
      dropped: compiler.dropped,
    },
    join,
  )
}

/** `join` and `leftJoin` with a global table. Kafka Streams: `KStreamImpl.globalTableJoin`. */
export function addGlobalTableJoin(
  stream: StreamParts,
  table: StoreDefinition,
  selector: Step,
  joiner: JoinStep,
  options: Named,
  isLeft: boolean,
): StreamParts {
  const { graph } = stream
  const node = graph.add({
    // The JVM calls the inner one so, too.
    name: graph.nameOr(options.name, 'KSTREAM-LEFTJOIN-'),
    parents: [stream.node],
    use: side => (side === 'key' ? { ...PASSES, reads: readsOf(selector, 'key') || readsOf(joiner, 'key') } : READS),
    serdes: { key: stream.key, value: undefined },
    compile: compiler =>
      streamGlobalTableJoin(
        {
          ...compiler.site,
          getter: storeGetter(compiler.store(table.name)),
          keyBytes: compiler.newKeyBytes(table.key, compiler.changelogTopic(table.name)),
          dropped: compiler.dropped,
          joiner: draftedStep(joiner, compiler.writtenAs),
          isLeft,
        },
        selector,
        compiler.next,
      ),
  })
  if (isLeft) graph.keylessJoins.add(node)
  return { ...stream, node, value: undefined }
}
