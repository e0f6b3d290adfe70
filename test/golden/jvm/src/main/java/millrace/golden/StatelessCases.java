package millrace.golden;

import static millrace.golden.Values.even;
import static millrace.golden.Values.num;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Repartitioned;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Operators without state. */
final class StatelessCases {
    private StatelessCases() {}

    static KStream<String, String> in(StreamsBuilder builder) {
        return builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()));
    }

    static void addTo(Topologies.Registry registry) {
        registry.add("stateless-filter", (b, p, n) -> in(b).filter((k, v) -> even(v)).to("out"));
        registry.add(
                "stateless-filterNot", (b, p, n) -> in(b).filterNot((k, v) -> even(v)).to("out"));
        registry.add("stateless-map", (b, p, n) -> in(b).map(StatelessCases::mapped).to("out"));
        registry.add(
                "stateless-mapValues",
                (b, p, n) -> {
                    KStream<String, String> in = in(b);
                    in.mapValues((k, v) -> v == null ? null : k + ":" + v).to("out");
                    in.mapValues(v -> v == null ? "was-null" : num(v) < 20 ? null : v + "?")
                            .to("out2");
                });
        registry.add(
                "stateless-flatMap", (b, p, n) -> in(b).flatMap(StatelessCases::flat).to("out"));
        registry.add(
                "stateless-flatMapValues",
                (b, p, n) -> in(b).flatMapValues(StatelessCases::characters).to("out"));
        registry.add("stateless-selectKey", (b, p, n) -> quarters(in(b)).to("out"));
        registry.add(
                "stateless-split-default",
                (b, p, n) ->
                        in(b).split()
                                .branch(
                                        (k, v) -> even(v),
                                        Branched.withConsumer(even -> even.to("even")))
                                .branch(
                                        (k, v) -> v != null && num(v) < 30,
                                        Branched.withConsumer(small -> small.to("small")))
                                .defaultBranch(Branched.withConsumer(rest -> rest.to("rest"))));
        registry.add(
                "stateless-split-nodefault-named",
                (b, p, n) -> {
                    Map<String, KStream<String, String>> branches =
                            in(b).split(Named.as("br-"))
                                    .branch((k, v) -> even(v), Branched.as("A"))
                                    .branch((k, v) -> "a".equals(k))
                                    .noDefaultBranch();
                    for (String name : List.of("br-A", "br-2"))
                        branches.get(name).mapValues(v -> v + "@" + name).to("out");
                });
        registry.add(
                "stateless-merge",
                (b, p, n) ->
                        b.<String, String>stream("in1")
                                .merge(b.stream("in2"))
                                .mapValues(v -> v + "m")
                                .to("out"));
        registry.add("stateless-peek-order", StatelessCases::peeks);
        registry.add(
                "stateless-two-topics-dynamic-sink",
                (b, p, n) ->
                        b.<String, String>stream(List.of("in1", "in2"))
                                .to((k, v, context) -> "dyn-" + (k == null ? "none" : k)));
        registry.add(
                "stateless-timestamp-extractor",
                (b, p, n) ->
                        b.<String, String>stream(
                                        "in",
                                        Consumed.<String, String>as(null)
                                                .withTimestampExtractor(StatelessCases::extract))
                                .to("out"));
        registry.add(
                "stateless-repartition",
                (b, p, n) ->
                        in(b).repartition(Repartitioned.as("rp"))
                                .mapValues(v -> v + "r")
                                .to("out"));
        registry.add(
                "stateless-selectKey-repartition-count",
                (b, p, n) ->
                        quarters(in(b))
                                .groupByKey()
                                .count(Materialized.as("cnt"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
    }

    private static KStream<String, String> quarters(KStream<String, String> in) {
        return in.selectKey((k, v) -> v == null ? null : "k" + num(v) % 4);
    }

    private static KeyValue<String, String> mapped(String key, String value) {
        if (key == null) return KeyValue.pair("nokey", value);
        return KeyValue.pair(
                key + "-" + (value == null ? "n" : num(value) % 3),
                value == null ? null : value + "!");
    }

    private static List<KeyValue<String, String>> flat(String key, String value) {
        List<KeyValue<String, String>> all = new ArrayList<>();
        if (value == null) return all;
        for (int i = 0; i < num(value) % 4; i++) all.add(KeyValue.pair(key + i, value + "/" + i));
        return all;
    }

    private static List<String> characters(String value) {
        return value == null ? Arrays.asList(null, "n") : Arrays.asList(value.split(""));
    }

    private static void peeks(StreamsBuilder builder, CaseParams params, Consumer<String> note) {
        KStream<String, String> seen = in(builder).peek((k, v) -> note.accept("p1 " + k + "=" + v));
        seen.filter((k, v) -> even(v))
                .peek((k, v) -> note.accept("even"))
                .flatMapValues(v -> List.of(v + "x", v + "y"))
                .peek((k, v) -> note.accept("fm " + v))
                .to("out1");
        seen.mapValues(v -> v + "z").peek((k, v) -> note.accept("z")).to("out2");
        seen.foreach((k, v) -> note.accept("end"));
    }

    private static long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
        String value = (String) record.value();
        if (value == null) return partitionTime;
        return num(value) % 10 == 0 ? -1 : Long.parseLong(value.split(":")[0]) + 1000;
    }
}
