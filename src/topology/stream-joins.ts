import { streamGlobalTableJoin, streamTableJoin, type JoinStep } from '../operators/stream-table-join.ts'
import { storeGetter } from '../operators/table-getter.ts'
import type { Step } from '../operators/step.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { READS, READS_AND_PASSES } from './graph-node.ts'
import { union, type Named, type SerdePair, type StreamParts, type TableParts } from './parts.ts'
import { repartitioned } from './stream-steps.ts'
import { serdeOf } from './stream-serdes.ts'

/** `join` and `leftJoin` with a table; a re-keyed stream is repartitioned first. Kafka Streams: `KStreamImpl.doStreamTableJoin`. */
export function addTableJoin(
  stream: StreamParts,
  table: TableParts,
  joiner: JoinStep,
  options: Named & SerdePair,
  isLeft: boolean,
): StreamParts {
  const { graph } = stream
  const step = options.name ?? (isLeft ? 'leftJoin' : 'join')
  const key = serdeOf(stream, 'key', options.key, step)
  const joined = stream.rekeyed
    ? repartitioned(
        stream,
        options.name ?? stream.node.name,
        { key, value: options.value, keepsNullKeys: isLeft },
        step,
      )
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
  const node = graph.add({
    name: graph.nameOr(options.name, isLeft ? 'KSTREAM-LEFTJOIN-' : 'KSTREAM-JOIN-'),
    parents: [joined.node],
    use: side => (side === 'key' ? { ...READS_AND_PASSES, writes: [table.key] } : READS),
    serdes: { key, value: undefined },
    compile: compiler =>
      streamTableJoin(
        {
          ...compiler.site,
          getter: table.origin.getter(compiler),
          keyBytes: compiler.keyBytes(table.key, compiler.changelogTopic(table.origin.stores()[0] ?? table.node.name)),
          dropped: compiler.dropped,
          joiner,
          isLeft,
        },
        compiler.next,
      ),
  })
  for (const store of table.origin.stores()) graph.connect(node, store)
  return { graph, node, key, value: undefined, rekeyed: false, sources }
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
    use: side => (side === 'key' ? READS_AND_PASSES : READS),
    serdes: { key: stream.key, value: undefined },
    compile: compiler =>
      streamGlobalTableJoin(
        {
          ...compiler.site,
          getter: storeGetter(compiler.store(table.name)),
          keyBytes: compiler.newKeyBytes(table.key, compiler.changelogTopic(table.name)),
          dropped: compiler.dropped,
          joiner,
          isLeft,
        },
        selector,
        compiler.next,
      ),
  })
  return { ...stream, node, value: undefined }
}
