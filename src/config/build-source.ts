import type { Expression } from '../expressions/expression.ts'
import { RECORD_VARIABLES } from '../expressions/scope.ts'
import { serdeNamed } from '../serdes/names.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import { windowedFormOf } from '../serdes/windowed.ts'
import type { BuilderHandle, ErasedSourceOptions } from '../topology/builder-handle.ts'
import type { StreamHandle } from '../topology/handles.ts'
import type { SerdePair } from '../topology/parts.ts'
import type { SinkConfig, SourceConfig } from './application-config.ts'
import { hasUnreadableSerde, serdeOf, storeOptions, type BuildContext } from './build-context.ts'
import type { Flow } from './flow.ts'
import { mapper, partitioner, PARTITION_VARIABLES, timestampExtractor, withWindow } from './step-functions.ts'

/** Adds a source. */
export function buildSource(builder: BuilderHandle, source: SourceConfig, context: BuildContext): Flow {
  const handled = source.onInvalidTimestamp === 'skip' || source.onInvalidTimestamp === 'partitionTime'
  const options: ErasedSourceOptions = {
    name: source.name,
    key: serdeOf(source.key, context),
    value: serdeOf(source.value, context),
    timestamp: context.compiler.functionOf(source.timestamp, RECORD_VARIABLES, expression => {
      if (source.timestamp !== undefined) {
        const what = 'a timestamp is a number of ms'
        context.compiler.expectType(expression, source.timestamp, what, 'number', 'timestamp')
      }
      return timestampExtractor(expression, handled)
    }),
    onInvalidTimestamp: source.onInvalidTimestamp,
    offsetReset: source.offsetReset,
    onOutOfRange: source.onOutOfRange,
    errors: source.errors,
  }
  if (source.as === 'stream') return { kind: 'stream', handle: builder.stream(source.topics, options) }
  // A table without serdes has been noted as a mistake; bytes let the rest of it be checked.
  const { key = bytes, value = bytes } = options
  const store = storeOptions(source.name, source.store)
  const table = { ...store, ...options, key, value }
  if (source.as === 'globalTable') return { kind: 'globalTable', handle: builder.globalTable(source.topics[0], table) }
  const { versionedMs } = source
  const versioned = versionedMs === undefined ? undefined : { historyRetention: versionedMs }
  return { kind: 'table', handle: builder.table(source.topics[0], { ...table, versioned }) }
}

/** Adds a sink; gives the serdes it writes with. */
export function buildSink(stream: StreamHandle, sink: SinkConfig, context: BuildContext): SerdePair {
  const { compiler } = context
  const topic =
    typeof sink.topic === 'string'
      ? sink.topic
      : compiler.functionOf(sink.topic, withWindow(RECORD_VARIABLES, stream.parts.key), expression =>
          topicChooser(expression, sink, context),
        )
  const chosen = compiler.functionOf(sink.partition, PARTITION_VARIABLES, partitioner)
  const key = sinkKey(stream, sink, context)
  const value = serdeOf(sink.value, context) ?? stream.parts.value
  stream.to(topic ?? sink.name, { name: sink.name, key, value, partitioner: chosen })
  return { key, value }
}

/** The serde of a sink's keys: the one written, else the stream's. Keys of windows are written with their window. */
function sinkKey(stream: StreamHandle, { name, key }: SinkConfig, context: BuildContext): AnySerde | undefined {
  const known = stream.parts.key
  const form = known === undefined ? undefined : windowedFormOf(known)
  if (key === undefined) return known
  if (key.kind === 'windowed' && form !== undefined) return form.withInner(serdeNamed(key.name) ?? form.inner)
  const serde = serdeOf(key, context)
  if (form === undefined || key.kind === 'windowed' || key.kind === 'unreadable') return serde
  if (hasUnreadableSerde({ key, value: undefined }, context)) return serde
  context.problems.add(
    key.place,
    `sink "${name}" writes keys of windows with a serde of plain keys`,
    'leave key out, write { windowed: <serde> }, or drop the window before: map: { key: key }',
    'SERDE_MISMATCH',
  )
  return known
}

function topicChooser(expression: Expression, sink: SinkConfig, { compiler }: BuildContext): ReturnType<typeof mapper> {
  if (typeof sink.topic !== 'string') {
    compiler.expectType(expression, sink.topic, 'a topic is a text', 'string')
  }
  return mapper(expression)
}
