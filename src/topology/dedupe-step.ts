import { parseDurationMs } from '../model/duration.ts'
import { dedupe, dedupeRetentionMs } from '../operators/dedupe.ts'
import type { Step } from '../operators/step.ts'
import { nullable, withoutNull } from '../serdes/nullable.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { PASSES } from './graph-node.ts'
import type { StoreOptions } from './options.ts'
import type { StreamParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { repartitioned } from './stream-steps.ts'
import { serdeOf } from './stream-serdes.ts'

/** Options of `dedupe`, their types forgotten. */
export interface ErasedDedupeOptions extends StoreOptions {
  readonly within: unknown
}

const PREFIX = 'KSTREAM-DEDUPE-'

/** `dedupe`; a re-keyed stream is repartitioned first, because an id belongs to its key. */
export function addDedupe(stream: StreamParts, idOf: Step, options: ErasedDedupeOptions): StreamParts {
  const { graph } = stream
  const storeName = options.store ?? graph.numberedStoreName(PREFIX)
  if (options.store === undefined) graph.numberedResources.push(storeName)
  const name = graph.nameOr(options.name, PREFIX)
  const key = withoutNull(serdeOf(stream, 'key', undefined, name))
  const withinMs = parseDurationMs(options.within)
  if (withinMs === undefined || withinMs === 0) {
    graph.report('TOPOLOGY_INVALID', {
      node: name,
      what: `${name}: within is a duration above 0 such as '10m' or 600000, got ${JSON.stringify(options.within)}.`,
    })
  }
  const input = stream.rekeyed ? repartitioned(stream, options.name ?? storeName, {}, name) : stream
  const definition: StoreDefinition = {
    name: storeName,
    kind: 'window',
    key: nullable(bytes),
    value: bytes,
    options,
    retentionMs: dedupeRetentionMs(withinMs ?? 0),
    windowSizeMs: withinMs ?? 0,
  }
  graph.addStore(definition)
  const node = graph.add({
    name,
    parents: [input.node],
    use: side => ({ ...PASSES, reads: readsOf(idOf, side), writes: side === 'key' ? [key] : [] }),
    serdes: { key: input.key, value: input.value },
    compile: compiler =>
      dedupe(
        {
          ...compiler.site,
          store: compiler.windowStore(storeName),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)),
          dropped: compiler.dropped,
          withinMs: withinMs ?? 0,
        },
        idOf,
        compiler.next,
      ),
  })
  graph.connect(node, storeName)
  return { ...input, node }
}
