package millrace.bench;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/** A Kafka Streams application that runs one workload until it is told to end. */
public final class StreamsContender {
    private StreamsContender() {}

    public static void main(String[] words) throws InterruptedException {
        Arguments arguments = new Arguments(words);
        Properties properties = settings(arguments);
        StreamsBuilder builder = new StreamsBuilder(new org.apache.kafka.streams.TopologyConfig(new StreamsConfig(properties)));
        Topologies.build(builder, arguments);
        KafkaStreams streams = new KafkaStreams(builder.build(properties), properties);
        streams.setUncaughtExceptionHandler(failure -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(10))));
        streams.start();
        Thread.currentThread().join();
    }

    private static Properties settings(Arguments arguments) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.text("bootstrap"));
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments.text("application"));
        properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments.text("state"));
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, arguments.text("guarantee"));
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, arguments.number("commit"));
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, arguments.number("threads"));
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put("auto.offset.reset", "earliest");
        // Every update is emitted, as millrace does it, unless a cache is part of the tuning.
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        if (!arguments.flag("rocksdb")) {
            properties.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
                "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
        }
        if (arguments.flag("tuned")) tune(properties);
        return properties;
    }

    /** What one sets for throughput on such a machine; the number of threads is the scenario's. */
    private static void tune(Properties properties) {
        properties.put("compression.type", "lz4");
        properties.put("batch.size", 262_144);
        properties.put("buffer.memory", 67_108_864);
        properties.put("max.poll.records", 10_000);
        properties.put("max.partition.fetch.bytes", 4_194_304);
        properties.put("fetch.max.bytes", 52_428_800);
        properties.put("receive.buffer.bytes", 1_048_576);
        properties.put("send.buffer.bytes", 1_048_576);
        properties.put(StreamsConfig.BUFFERED_RECORDS_PER_PARTITION_CONFIG, 10_000);
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 67_108_864);
        properties.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
    }
}
