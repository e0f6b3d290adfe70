package millrace.golden;

import static millrace.golden.StatelessCases.in;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;

/** Aggregations of streams without windows, and cogroup. */
final class AggregateCases {
    private AggregateCases() {}

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "agg-count-.*",
                (b, p, n) ->
                        in(b).groupByKey().count().toStream().to("out", OutputSerdes.counts()));
        registry.add(
                "agg-reduce",
                (b, p, n) ->
                        in(b).groupByKey()
                                .reduce(
                                        (a, v) -> v.equals("DEL") ? null : a + "+" + v,
                                        Materialized.as("red"))
                                .toStream()
                                .to("out"));
        registry.add(
                "(agg|cached)-aggregate(-headers|-headers-format)?",
                (b, p, n) ->
                        in(b).groupByKey()
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> Values.append(a, v),
                                        Materialized.as("agg"))
                                .toStream()
                                .to("out"));
        registry.add(
                "agg-groupBy-count",
                (b, p, n) ->
                        in(b).groupBy((k, v) -> v == null ? null : "g" + num(v) % 3)
                                .count()
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "agg-groupBy-aggregate-sum",
                (b, p, n) ->
                        in(b).groupBy((k, v) -> "g" + num(v) % 3)
                                .aggregate(
                                        () -> 0L,
                                        (k, v, sum) -> num(v) == -1 ? null : (Long) (sum + num(v)),
                                        Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as(
                                                        "sum")
                                                .withValueSerde(Serdes.Long()))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "cogroup-plain",
                (b, p, n) ->
                        cogrouped(b)
                                .aggregate(() -> "", Materialized.as("cg"))
                                .toStream()
                                .to("out"));
        registry.add(
                "cogroup-tumbling",
                (b, p, n) ->
                        cogrouped(b)
                                .windowedBy(WindowCases.timeWindows(p))
                                .aggregate(() -> "", Materialized.as("cg"))
                                .toStream()
                                .to("out", OutputSerdes.timeTexts(p.number("size"))));
        registry.add(
                "cogroup-sliding",
                (b, p, n) ->
                        cogrouped(b)
                                .windowedBy(WindowCases.slidingWindows(p))
                                .aggregate(() -> "", Materialized.as("cg"))
                                .toStream()
                                .to("out", OutputSerdes.timeTexts(p.number("timeDifference"))));
        registry.add(
                "cogroup-session",
                (b, p, n) ->
                        cogrouped(b)
                                .windowedBy(WindowCases.sessionWindows(p))
                                .aggregate(
                                        () -> "",
                                        (k, x, y) -> Values.merge(x, y),
                                        Materialized.as("cg"))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
        registry.add(
                "cogroup-rekeyed",
                (b, p, n) -> {
                    KGroupedStream<String, String> first = halves(b.stream("a"), "ga");
                    KGroupedStream<String, String> second = halves(b.stream("b"), "gb");
                    first.<String>cogroup((k, v, a) -> a + "A" + v)
                            .cogroup(second, (k, v, a) -> a + "B" + v)
                            .aggregate(() -> "", Materialized.as("cg"))
                            .toStream()
                            .to("out");
                });
    }

    static CogroupedKStream<String, String> cogrouped(StreamsBuilder builder) {
        KStream<String, String> first = builder.stream("a");
        KStream<String, String> second = builder.stream("b");
        return first.groupByKey()
                .<String>cogroup((k, v, a) -> a + "A" + v)
                .cogroup(second.groupByKey(), (k, v, a) -> a + "B" + v);
    }

    private static KGroupedStream<String, String> halves(
            KStream<String, String> stream, String name) {
        return stream.groupBy((k, v) -> "k" + num(v) % 2, Grouped.as(name));
    }
}
