package millrace.golden;

import static millrace.golden.Values.even;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.KeyValueMapper;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.ValueJoinerWithKey;

import java.time.Duration;

/** All joins. */
final class JoinCases {
    private static final ValueJoiner<String, String, String> PAIR = Values::pair;
    private static final ValueJoiner<String, String, String> PARITIES =
            (l, r) -> Values.parity(l) + Values.parity(r);

    private JoinCases() {}

    static void addTo(Topologies.Registry registry) {
        streamJoins(registry);
        streamTableJoins(registry);
        tableJoins(registry);
        foreignKeyJoins(registry);
        registry.add(
                "gtjoin-(inner|left)",
                (b, p, n) ->
                        global(
                                b,
                                p,
                                (k, v) ->
                                        v == null
                                                ? null
                                                : num(v) % 3 == 0 ? null : "g" + num(v) % 4,
                                (key, s, g) -> s + "/" + g));
        registry.add(
                "gtjoin-(inner|left)-bykey",
                (b, p, n) -> global(b, p, (k, v) -> k, (key, s, g) -> key + ":" + s + "/" + g));
    }

    private static void streamJoins(Topologies.Registry registry) {
        registry.add(
                "ssjoin-(inner|left|outer)-(\\d+-\\d+-g\\d+|throttled|throttled-wall0|longrun)",
                (b, p, n) ->
                        streams(
                                p,
                                b.stream("left"),
                                b.stream("right"),
                                PAIR,
                                StreamJoined.with(
                                        Serdes.String(), Serdes.String(), Serdes.String())));
        registry.add(
                "ssjoin-(inner|left|outer)-inmemory",
                (b, p, n) ->
                        streams(
                                p,
                                b.stream("left"),
                                b.stream("right"),
                                PAIR,
                                StreamJoined.<String, String, String>as("jj")
                                        .withName("jn")
                                        .withKeySerde(Serdes.String())
                                        .withValueSerde(Serdes.String())
                                        .withOtherValueSerde(Serdes.String())));
        registry.add(
                "ssjoin-self-inner(-optimized)?",
                (b, p, n) -> {
                    KStream<String, String> stream = StatelessCases.in(b);
                    stream.join(
                                    stream,
                                    PAIR,
                                    JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(50)))
                            .to("out");
                });
        registry.add(
                "ssjoin-(inner|left|outer)-rekeyed-headers",
                (b, p, n) -> {
                    KStream<String, String> left =
                            b.<String, String>stream("left").selectKey((k, v) -> "k" + num(v) % 2);
                    ValueJoinerWithKey<String, String, String, String> joiner =
                            (k, l, r) -> k + "=" + l + "/" + r;
                    KStream<String, String> right = b.stream("right");
                    StreamJoined<String, String, String> joined =
                            StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String());
                    (switch (p.text("kind")) {
                                case "inner" -> left.join(right, joiner, within(p), joined);
                                case "left" -> left.leftJoin(right, joiner, within(p), joined);
                                default -> left.outerJoin(right, joiner, within(p), joined);
                            })
                            .to("out");
                });
        registry.add(
                "misc-window-join-chain",
                (b, p, n) ->
                        b.<String, String>stream("a")
                                .join(
                                        b.<String, String>stream("b"),
                                        PAIR,
                                        JoinWindows.ofTimeDifferenceAndGrace(
                                                Duration.ofMillis(50), Duration.ofMillis(20)))
                                .groupByKey()
                                .windowedBy(
                                        TimeWindows.ofSizeAndGrace(
                                                Duration.ofMillis(100), Duration.ofMillis(50)))
                                .count(Materialized.as("w"))
                                .toStream()
                                .to("out", OutputSerdes.timeCounts(100)));
    }

    static JoinWindows within(CaseParams params) {
        return JoinWindows.ofTimeDifferenceAndGrace(params.ms("before"), params.ms("grace"))
                .before(params.ms("before"))
                .after(params.ms("after"));
    }

    private static void streams(
            CaseParams params,
            KStream<String, String> left,
            KStream<String, String> right,
            ValueJoiner<String, String, String> joiner,
            StreamJoined<String, String, String> joined) {
        (switch (params.text("kind")) {
                    case "inner" -> left.join(right, joiner, within(params), joined);
                    case "left" -> left.leftJoin(right, joiner, within(params), joined);
                    default -> left.outerJoin(right, joiner, within(params), joined);
                })
                .to("out");
    }

    private static void streamTableJoins(Topologies.Registry registry) {
        registry.add(
                "stjoin-(inner|left)",
                (b, p, n) -> {
                    KStream<String, String> stream = b.stream("s");
                    KTable<String, String> table = b.table("t");
                    (isLeft(p) ? stream.leftJoin(table, PAIR) : stream.join(table, PAIR)).to("out");
                });
        registry.add(
                "stjoin-(inner|left)-rekeyed",
                (b, p, n) -> {
                    KStream<String, String> stream =
                            b.<String, String>stream("s")
                                    .selectKey((k, v) -> v == null ? null : "k" + num(v) % 3);
                    KTable<String, String> table =
                            b.<String, String>table("t").mapValues(v -> v + "t");
                    ValueJoinerWithKey<String, String, String, String> joiner =
                            (k, s, t) -> k + ":" + s + "/" + t;
                    (isLeft(p) ? stream.leftJoin(table, joiner) : stream.join(table, joiner))
                            .to("out");
                });
        registry.add(
                "stjoin-(inner|left)-versioned",
                (b, p, n) -> {
                    KStream<String, String> stream = b.stream("s");
                    KTable<String, String> table = TableCases.versioned(b, "t", "vt", p);
                    (isLeft(p) ? stream.leftJoin(table, PAIR) : stream.join(table, PAIR)).to("out");
                });
        registry.add(
                "stjoin-(inner|left)-versioned-grace(-nullkey)?",
                (b, p, n) -> {
                    KStream<String, String> stream = b.stream("s");
                    KTable<String, String> table = TableCases.versioned(b, "t", "vt", p);
                    Joined<String, String, String> joined =
                            Joined.with(
                                    Serdes.String(),
                                    Serdes.String(),
                                    Serdes.String(),
                                    "jb",
                                    p.ms("grace"));
                    (isLeft(p)
                                    ? stream.leftJoin(table, PAIR, joined)
                                    : stream.join(table, PAIR, joined))
                            .to("out");
                });
    }

    private static boolean isLeft(CaseParams params) {
        return params.text("kind").equals("left");
    }

    private static void tableJoins(Topologies.Registry registry) {
        registry.add(
                "ttjoin-(inner|left|outer)",
                (b, p, n) -> joined(b, p, PAIR, null).toStream().to("out"));
        registry.add(
                "ttjoin-(inner|left|outer)-materialized",
                (b, p, n) -> joined(b, p, PAIR, "tt").toStream().to("out"));
        registry.add(
                "cached-table-table-join",
                (b, p, n) ->
                        b.<String, String>table("l")
                                .outerJoin(
                                        b.<String, String>table("r"), PAIR, Materialized.as("tt"))
                                .toStream()
                                .to("out"));
        registry.add(
                "ttjoin-(inner|left|outer)-groupBy",
                (b, p, n) ->
                        TableCases.aggregated(
                                        joined(b, p, PARITIES, null)
                                                .groupBy((k, v) -> KeyValue.pair(v, k)))
                                .toStream()
                                .to("out"));
        registry.add(
                "ttjoin-nested",
                (b, p, n) -> {
                    KTable<String, String> left = b.table("l");
                    KTable<String, String> right = b.table("r");
                    KTable<String, String> third = b.table("t");
                    left.outerJoin(right, PAIR).leftJoin(third, PAIR).toStream().to("out");
                });
        registry.add(
                "ttjoin-null-joiner",
                (b, p, n) ->
                        b.<String, String>table("l")
                                .join(
                                        b.<String, String>table("r"),
                                        (l, r) -> num(l) % 2 == 0 ? null : l + "/" + r,
                                        Materialized.as("tt"))
                                .toStream()
                                .to("out"));
        registry.add(
                "misc-table-sources-of-one-topic",
                (b, p, n) -> {
                    StatelessCases.in(b).to("out1");
                    KTable<String, String> table = b.table("in2");
                    table.join(table, PAIR).toStream().to("out2");
                });
    }

    private static KTable<String, String> joined(
            StreamsBuilder b,
            CaseParams params,
            ValueJoiner<String, String, String> joiner,
            String store) {
        KTable<String, String> left = b.table("l");
        KTable<String, String> right = b.table("r");
        return switch (params.text("kind")) {
            case "inner" ->
                    store == null
                            ? left.join(right, joiner)
                            : left.join(right, joiner, Materialized.as(store));
            case "left" ->
                    store == null
                            ? left.leftJoin(right, joiner)
                            : left.leftJoin(right, joiner, Materialized.as(store));
            default ->
                    store == null
                            ? left.outerJoin(right, joiner)
                            : left.outerJoin(right, joiner, Materialized.as(store));
        };
    }

    private static void foreignKeyJoins(Topologies.Registry registry) {
        registry.add(
                "fkjoin-(inner|left)",
                (b, p, n) -> {
                    KTable<String, String> left = b.table("l");
                    KTable<String, String> right = b.table("r");
                    (isLeft(p)
                                    ? left.leftJoin(right, Values::foreignKey, PAIR)
                                    : left.join(right, Values::foreignKey, PAIR))
                            .toStream()
                            .to("out");
                });
        registry.add(
                "fkjoin-(inner|left)-materialized",
                (b, p, n) -> {
                    KTable<String, String> left = b.table("l");
                    KTable<String, String> right = b.table("r");
                    (isLeft(p)
                                    ? left.leftJoin(
                                            right, Values::foreignKey, PAIR, Materialized.as("fj"))
                                    : left.join(
                                            right, Values::foreignKey, PAIR, Materialized.as("fj")))
                            .toStream()
                            .to("out");
                });
        registry.add(
                "fkjoin-(inner|left)-with-key",
                (b, p, n) -> {
                    KTable<String, String> left = b.table("l");
                    KTable<String, String> right = b.table("r");
                    (isLeft(p)
                                    ? left.leftJoin(right, JoinCases::keyOrForeignKey, PAIR)
                                    : left.join(right, JoinCases::keyOrForeignKey, PAIR))
                            .toStream()
                            .to("out");
                });
    }

    static String keyOrForeignKey(String key, String value) {
        return even(value) ? key : Values.foreignKey(value);
    }

    private static void global(
            StreamsBuilder b,
            CaseParams params,
            KeyValueMapper<String, String, String> selector,
            ValueJoinerWithKey<String, String, String, String> joiner) {
        KStream<String, String> stream = b.stream("s");
        GlobalKTable<String, String> table = b.globalTable("g", Materialized.as("gs"));
        (isLeft(params)
                        ? stream.leftJoin(table, selector, joiner)
                        : stream.join(table, selector, joiner))
                .to("out");
    }
}
