import { NO_HEADERS } from '../model/headers.ts'
import { nowhere, type Forward } from '../operators/forward.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { INT64_BYTES, readSafeInt64 } from '../serdes/int64.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { CachedWrite, WriteCache } from '../stores/write-cache.ts'
import type { NodeCompiler } from './graph-node.ts'

const SEQUENCE_BYTES = 4

/** A store whose results may be held back. */
interface CachedStore {
  readonly name: string
  readonly cache: WriteCache | undefined
}

/**
 * Where a node that writes a store hands its results: to its children, or nowhere when the store has a cache. Then the cache
 * tells of them at the commit. Kafka Streams: `TimestampedTupleForwarder` and `CacheFlushListener`.
 *
 * @param key - serde of the keys downstream
 */
export function resultsOf(compiler: NodeCompiler, store: CachedStore, key: AnySerde, sendsOld: () => boolean): Forward {
  return through(compiler, store, key, ({ timestamp, context }) => [timestamp, context.headers], 0, sendsOld)
}

/** The same for windows of time. */
export function windowResultsOf(
  compiler: NodeCompiler,
  store: CachedStore,
  key: AnySerde,
  sendsOld: () => boolean,
): Forward {
  return through(
    compiler,
    store,
    key,
    ({ timestamp, context }) => [timestamp, context.headers],
    SEQUENCE_BYTES,
    sendsOld,
  )
}

/** The same for sessions: a result's time is the end of its session; where stores keep headers they have none for it. */
export function sessionResultsOf(
  compiler: NodeCompiler,
  store: CachedStore,
  key: AnySerde,
  sendsOld: () => boolean,
): Forward {
  const keepsHeaders = store.cache?.loggedHeaders === 'ofRemovals'
  return through(
    compiler,
    store,
    key,
    write => [endOf(write.key), keepsHeaders ? NO_HEADERS : write.context.headers],
    0,
    sendsOld,
  )
}

function through(
  compiler: NodeCompiler,
  { name, cache }: CachedStore,
  key: AnySerde,
  metadataOf: (write: CachedWrite) => readonly [timestamp: number, headers: CachedWrite['context']['headers']],
  tailBytes: number,
  sendsOld: () => boolean,
): Forward {
  const { next, site } = compiler
  if (cache === undefined) return next
  const keySerde = erasedSerde(key)
  const context = { topic: compiler.changelogTopic(name), side: 'key' as const, headers: NO_HEADERS }
  cache.tellsOld = sendsOld
  cache.listener = write => {
    const keyBytes = write.key.subarray(0, write.key.length - tailBytes)
    const [timestamp, headers] = metadataOf(write)
    site.record.actingFor(write.context, site.name, () => {
      next(keySerde.deserialize(keyBytes, context), write.value, timestamp, headers, sendsOld() ? write.old : null)
    })
  }
  return nowhere
}

function endOf(key: Buffer): number {
  const end = readSafeInt64(key, key.length - 2 * INT64_BYTES)
  if (end === undefined) throw new RangeError('a session ends beyond ±(2^53 - 1) ms')
  return end
}
