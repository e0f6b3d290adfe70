import type { AnySerde, Bytes, Serde, SerdeType } from '../serdes/serde.ts'
import type { StoreSpec } from '../stores/store-spec.ts'
import type { KStream, KTable } from './dsl.ts'
import type { GlobalKTable } from './dsl-types.ts'
import type { Present, StreamSourceOptions, TableSourceOptions } from './options.ts'

/** Builds the graph; handed to the function given to `streams`. Kafka Streams: `StreamsBuilder`. */
export interface StreamsBuilder {
  /** Reads one or several topics as a stream; a side without serde stays nullable bytes. Kafka Streams: `stream(topics, Consumed)`. */
  stream<KS extends AnySerde = Serde<Bytes | null>, VS extends AnySerde = Serde<Bytes | null>>(
    topics: string | readonly [string, ...string[]],
    options?: StreamSourceOptions<KS, VS, SerdeType<KS>, SerdeType<VS>>,
  ): KStream<SerdeType<KS>, SerdeType<VS>>
  /** Reads a topic as a table. Kafka Streams: `table(topic, Consumed, Materialized)`. */
  table<K, V>(topic: string, options: TableSourceOptions<K, V>): KTable<Present<K>, Present<V>>
  /** Reads a topic as a table held in full by every instance. Kafka Streams: `globalTable(topic, Consumed, Materialized)`. */
  globalTable<K, V>(topic: string, options: TableSourceOptions<K, V>): GlobalKTable<Present<K>, Present<V>>
  /** Adds a store before a processor uses it; only needed to fix its place in the numbering. Kafka Streams: `addStateStore`. */
  addStateStore(store: StoreSpec<unknown>): void
}
