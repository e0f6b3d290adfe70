package millrace.bench;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** The workloads as a user of Kafka Streams writes them. */
final class Topologies {
    private static final Serde<String> STRING = Serdes.String();
    private static final Serde<byte[]> BYTES = Serdes.ByteArray();
    private static final Serde<Long> LONG = Serdes.Long();
    private static final Duration WINDOW = Duration.ofSeconds(10);

    private Topologies() {}

    static void build(StreamsBuilder builder, Arguments arguments) {
        String input = arguments.text("input");
        String output = arguments.text("output");
        switch (arguments.text("workload")) {
            case "copy" -> copy(builder, input, output, arguments.number("operators"));
            case "json" -> builder.stream(input, Consumed.with(BYTES, Order.serde()))
                .filter((key, order) -> order.paid())
                .mapValues(Order::payment)
                .to(output, Produced.with(BYTES, Order.paymentSerde()));
            case "count" -> builder.stream(input, Consumed.with(STRING, BYTES))
                .groupByKey()
                .count(Materialized.as("counts"))
                .toStream()
                .to(output, Produced.with(STRING, LONG));
            case "windowed" -> builder.stream(input, Consumed.with(STRING, BYTES))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW))
                .count(Materialized.as("counts"))
                .toStream()
                .to(output, Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, WINDOW.toMillis()), LONG));
            case "join" -> builder.stream(input, Consumed.with(STRING, STRING))
                .join(
                    builder.table(arguments.text("table"), Consumed.with(STRING, STRING), Materialized.as("names")),
                    (value, name) -> value + name,
                    Joined.with(STRING, STRING, STRING))
                .to(output, Produced.with(STRING, STRING));
            default -> throw new IllegalArgumentException("no workload " + arguments.text("workload"));
        }
    }

    private static void copy(StreamsBuilder builder, String input, String output, int operators) {
        KStream<byte[], byte[]> stream = builder.stream(input, Consumed.with(BYTES, BYTES));
        for (int i = 0; i < operators; i++) stream = stream.filter((key, value) -> value.length >= 0);
        stream.to(output, Produced.with(BYTES, BYTES));
    }
}
