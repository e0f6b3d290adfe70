package millrace.golden;

import static millrace.golden.StatelessCases.in;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;

import java.util.Arrays;

/** Combinations, failures and names. */
final class MiscCases {
    private MiscCases() {}

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "misc-count-then-join",
                (b, p, n) -> {
                    KTable<String, Long> counts = in(b).groupByKey().count(Materialized.as("c"));
                    b.<String, String>stream("q")
                            .join(counts, (q, count) -> q + "=" + count)
                            .to("out");
                    counts.filter((k, count) -> count > 3)
                            .toStream()
                            .mapValues(count -> count == null ? null : String.valueOf(count))
                            .to("out2", Produced.with(Serdes.String(), Serdes.String()));
                });
        registry.add(
                "misc-word-count",
                (b, p, n) ->
                        in(b).filter((k, v) -> v != null)
                                .mapValues(v -> "w" + num(v) % 5 + " w" + num(v) % 3)
                                .flatMapValues(v -> Arrays.asList(v.split(" ")))
                                .groupBy((k, word) -> word)
                                .count(Materialized.as("counts"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "misc-processing-exception-(continue|fail)",
                (b, p, n) -> in(b).mapValues(MiscCases::okOrFailure).to("out"));
        registry.add(
                "misc-deserialization-exception-continue",
                (b, p, n) ->
                        b.stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
                                .mapValues(v -> v == null ? "was-null" : String.valueOf(v))
                                .to("out", Produced.with(Serdes.String(), Serdes.String())));
        registry.add(
                "misc-negative-timestamps",
                (b, p, n) ->
                        b.<String, String>stream(
                                        "in",
                                        Consumed.<String, String>as(null)
                                                .withTimestampExtractor(
                                                        (record, time) ->
                                                                record.timestamp() - 10_020))
                                .to("out"));
        registry.add(
                "misc-names",
                (b, p, n) ->
                        b.<String, String>stream("in", Consumed.as("my-source"))
                                .filter((k, v) -> v != null, Named.as("my-filter"))
                                .groupBy((k, v) -> "g" + num(v) % 2, Grouped.as("my-group"))
                                .count(Named.as("my-count"), Materialized.as("my-store"))
                                .toStream(Named.as("my-tostream"))
                                .to("out", OutputSerdes.counts().withName("my-sink")));
    }

    private static String okOrFailure(String value) {
        if (num(value) % 5 == 0) throw new IllegalStateException("boom " + num(value));
        return value + "ok";
    }
}
