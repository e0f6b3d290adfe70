package millrace.golden;

import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Cases outside the list: re-keyed streams that are joined and merged, and tables that keep versions. */
final class ExtraCases {
    private static final ValueJoiner<String, String, String> PAIR = Values::pair;
    private static final Map<String, List<String>> TOPICS = new LinkedHashMap<>();

    private ExtraCases() {}

    static void addTo(Topologies.Registry registry) {
        VersionedTableCases.addTo(registry);
        VersionedJoinCases.addTo(registry);
        add(
                registry,
                "merge-rekeyed-count",
                List.of("in1", "in2"),
                (b, p, n) ->
                        thirds(b.stream("in1"))
                                .merge(thirds(b.stream("in2")))
                                .groupByKey()
                                .count(Materialized.as("cnt"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        for (String kind : List.of("left", "outer")) {
            add(
                    registry,
                    kind + "-self-join",
                    List.of("in"),
                    (b, p, n) -> {
                        KStream<String, String> stream = StatelessCases.in(b);
                        JoinWindows within =
                                JoinWindows.ofTimeDifferenceAndGrace(
                                        Duration.ofMillis(30), Duration.ofMillis(10));
                        (kind.equals("left")
                                        ? stream.leftJoin(stream, PAIR, within)
                                        : stream.outerJoin(stream, PAIR, within))
                                .to("out");
                    });
        }
        add(
                registry,
                "rekeyed-self-join",
                List.of("in"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(StatelessCases.in(b));
                    stream.join(
                                    stream,
                                    PAIR,
                                    JoinWindows.ofTimeDifferenceAndGrace(
                                            Duration.ofMillis(30), Duration.ofMillis(10)))
                            .to("out");
                });
        add(
                registry,
                "rekeyed-self-join-named",
                List.of("in"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(StatelessCases.in(b));
                    stream.outerJoin(
                                    stream,
                                    PAIR,
                                    JoinWindows.ofTimeDifferenceAndGrace(
                                            Duration.ofMillis(30), Duration.ofMillis(10)),
                                    StreamJoined.<String, String, String>as("ss").withName("named"))
                            .to("out");
                });
        add(
                registry,
                "rekeyed-two-table-joins",
                List.of("s", "t", "u"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(b.stream("s"));
                    stream.join(b.<String, String>table("t"), PAIR).to("out");
                    stream.join(b.<String, String>table("u"), PAIR).to("out2");
                });
        add(
                registry,
                "rekeyed-inner-and-left",
                List.of("s", "t", "u"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(b.stream("s"));
                    stream.join(b.<String, String>table("t"), PAIR).to("out");
                    stream.leftJoin(b.<String, String>table("u"), PAIR).to("out2");
                });
        add(
                registry,
                "count-then-left-join",
                List.of("s", "u"),
                (b, p, n) ->
                        thirds(b.stream("s"))
                                .groupByKey()
                                .count(Materialized.as("c"))
                                .toStream()
                                .mapValues(count -> "n:" + count)
                                .leftJoin(
                                        b.<String, String>table("u"),
                                        PAIR,
                                        Joined.with(
                                                Serdes.String(), Serdes.String(), Serdes.String()))
                                .to("out"));
        add(
                registry,
                "repartition-left-join",
                List.of("s", "u"),
                (b, p, n) ->
                        b.<String, String>stream("s")
                                .repartition(Repartitioned.as("rp"))
                                .leftJoin(b.<String, String>table("u"), PAIR)
                                .to("out"));
        add(
                registry,
                "rekeyed-global-left-join",
                List.of("s", "g"),
                (b, p, n) ->
                        thirds(b.stream("s"))
                                .leftJoin(
                                        b.<String, String>globalTable("g", Materialized.as("gs")),
                                        (k, v) -> v,
                                        Values::pair)
                                .to("out"));
        add(
                registry,
                "rekeyed-join-and-self-join",
                List.of("s", "t"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(b.stream("s"));
                    stream.leftJoin(b.<String, String>table("t"), PAIR).to("out");
                    stream.leftJoin(
                                    stream.mapValues(v -> v + "m"),
                                    PAIR,
                                    JoinWindows.ofTimeDifferenceAndGrace(
                                            Duration.ofMillis(30), Duration.ofMillis(10)))
                            .to("out2");
                });
        add(
                registry,
                "rekeyed-twice",
                List.of("in"),
                (b, p, n) -> {
                    KStream<String, String> stream = thirds(StatelessCases.in(b));
                    stream.groupByKey()
                            .count(Materialized.as("c1"))
                            .toStream()
                            .to("out", OutputSerdes.counts());
                    stream.filter((k, v) -> num(v) % 2 == 0)
                            .groupByKey()
                            .reduce((x, y) -> x + "+" + y, Materialized.as("c2"))
                            .toStream()
                            .to("out2");
                });
        add(
                registry,
                "table-joined-with-itself",
                List.of("in"),
                (b, p, n) -> {
                    KTable<String, String> table = TableCases.table(b);
                    table.mapValues(v -> v + "m")
                            .leftJoin(table.filter((k, v) -> num(v) % 2 == 0), PAIR)
                            .toStream()
                            .to("out");
                });
        add(
                registry,
                "sliding-suppress-session",
                List.of("in"),
                (b, p, n) ->
                        StatelessCases.in(b)
                                .groupByKey()
                                .windowedBy(
                                        SlidingWindows.ofTimeDifferenceAndGrace(
                                                Duration.ofMillis(20), Duration.ofMillis(10)))
                                .reduce((x, y) -> x + "+" + y, Materialized.as("w"))
                                .suppress(
                                        Suppressed.<Windowed<String>>untilTimeLimit(
                                                        Duration.ofMillis(30),
                                                        BufferConfig.maxRecords(4))
                                                .withName("sup"))
                                .toStream()
                                .to("out", OutputSerdes.timeTexts(20)));
    }

    static void add(
            Topologies.Registry registry,
            String name,
            List<String> topics,
            Topologies.Build build) {
        TOPICS.put("extra-" + name, topics);
        registry.add("extra-" + name, build);
    }

    private static KStream<String, String> thirds(KStream<String, String> stream) {
        return stream.selectKey((k, v) -> v == null ? null : "k" + num(v) % 3);
    }

    static List<Catalog.Entry> listed() {
        if (TOPICS.isEmpty()) addTo((pattern, build) -> {});
        List<Catalog.Entry> entries = new ArrayList<>();
        for (String name : TOPICS.keySet()) {
            Map<String, Object> params = new LinkedHashMap<>();
            if (name.contains("versioned")) params.put("historyRetention", 100);
            if (name.endsWith("-grace")) params.put("grace", 50);
            entries.add(new Catalog.Entry(name, params));
        }
        return entries;
    }

    static List<String> topics(String name) {
        return TOPICS.getOrDefault(name, List.of("in"));
    }
}
