import type { Expression } from '../expressions/expression.ts'
import { RECORD_VARIABLES } from '../expressions/scope.ts'
import { bytes } from '../serdes/text.ts'
import type { BuilderHandle, ErasedSourceOptions } from '../topology/builder-handle.ts'
import type { StreamHandle } from '../topology/handles.ts'
import type { SerdePair } from '../topology/parts.ts'
import type { SinkConfig, SourceConfig } from './application-config.ts'
import { serdeOf, storeOptions, type BuildContext } from './build-context.ts'
import type { Flow } from './flow.ts'
import { mapper, partitioner, PARTITION_VARIABLES, timestampExtractor } from './step-functions.ts'

/** Adds a source. */
export function buildSource(builder: BuilderHandle, source: SourceConfig, context: BuildContext): Flow {
  const handled = source.onInvalidTimestamp === 'skip' || source.onInvalidTimestamp === 'partitionTime'
  const options: ErasedSourceOptions = {
    name: source.name,
    key: serdeOf(source.key, context),
    value: serdeOf(source.value, context),
    timestamp: context.compiler.functionOf(source.timestamp, RECORD_VARIABLES, expression => {
      if (source.timestamp?.kind === 'expression') {
        context.compiler.expectType(
          expression,
          source.timestamp.node.place,
          'a timestamp is a number of ms',
          'number',
          'timestamp',
        )
      }
      return timestampExtractor(expression, handled)
    }),
    onInvalidTimestamp: source.onInvalidTimestamp,
    offsetReset: source.offsetReset,
    onOutOfRange: source.onOutOfRange,
    errors: source.errors,
  }
  if (source.as === 'stream') return { kind: 'stream', handle: builder.stream(source.topics, options) }
  // A table without serdes has been noted as a mistake; bytes let the rest be checked.
  const { key = bytes, value = bytes } = options
  const store = storeOptions(source.name, source.store)
  return { kind: 'table', handle: builder.table(source.topics[0], { ...store, ...options, key, value }) }
}

/** Adds a sink; gives the serdes it writes with. */
export function buildSink(stream: StreamHandle, sink: SinkConfig, context: BuildContext): SerdePair {
  const { compiler } = context
  const topic =
    typeof sink.topic === 'string'
      ? sink.topic
      : compiler.functionOf(sink.topic, RECORD_VARIABLES, expression => topicChooser(expression, sink, context))
  const chosen = compiler.functionOf(sink.partition, PARTITION_VARIABLES, partitioner)
  const key = serdeOf(sink.key, context) ?? stream.parts.key
  const value = serdeOf(sink.value, context) ?? stream.parts.value
  stream.to(topic ?? sink.name, { name: sink.name, key, value, partitioner: chosen })
  return { key, value }
}

function topicChooser(expression: Expression, sink: SinkConfig, { compiler }: BuildContext): ReturnType<typeof mapper> {
  if (typeof sink.topic !== 'string' && sink.topic.kind === 'expression') {
    compiler.expectType(expression, sink.topic.node.place, 'a topic is a text', 'string')
  }
  return mapper(expression)
}
