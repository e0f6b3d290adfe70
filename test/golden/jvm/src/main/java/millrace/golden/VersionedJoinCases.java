package millrace.golden;

import static millrace.golden.ExtraCases.add;
import static millrace.golden.TableCases.versioned;
import static millrace.golden.Values.num;
import static millrace.golden.VersionedTableCases.kept;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.ValueJoiner;

import java.time.Duration;
import java.util.List;

/** Joins with tables that keep versions on one side or both. */
final class VersionedJoinCases {
    private static final ValueJoiner<String, String, String> PAIR = Values::pair;

    private VersionedJoinCases() {}

    static void addTo(Topologies.Registry registry) {
        for (String kind : List.of("inner", "left", "outer")) {
            add(
                    registry,
                    "versioned-" + kind + "-join",
                    List.of("l", "r"),
                    (b, p, n) ->
                            joined(kind, versioned(b, "l", "vl", p), versioned(b, "r", "vr", p))
                                    .toStream()
                                    .to("out"));
            add(
                    registry,
                    "versioned-" + kind + "-join-plain",
                    List.of("l", "r"),
                    (b, p, n) ->
                            joined(kind, versioned(b, "l", "vl", p), b.table("r"))
                                    .toStream()
                                    .to("out"));
            add(
                    registry,
                    "plain-" + kind + "-join-versioned",
                    List.of("l", "r"),
                    (b, p, n) ->
                            joined(
                                            kind,
                                            b.table("l"),
                                            versioned(b, "r", "vr", p)
                                                    .filter((k, v) -> num(v) % 4 != 0))
                                    .toStream()
                                    .to("out"));
            add(
                    registry,
                    "versioned-" + kind + "-join-groupBy",
                    List.of("l", "r"),
                    (b, p, n) ->
                            TableCases.aggregated(
                                            joined(
                                                            kind,
                                                            versioned(b, "l", "vl", p),
                                                            versioned(b, "r", "vr", p))
                                                    .mapValues(v -> v.length() + ":" + v.length())
                                                    .groupBy(
                                                            (k, v) ->
                                                                    KeyValue.pair(
                                                                            "g" + num(v) % 2,
                                                                            k + v)))
                                    .toStream()
                                    .to("out"));
        }
        for (String kind : List.of("inner", "left")) {
            add(
                    registry,
                    "versioned-fk-" + kind,
                    List.of("l", "r"),
                    (b, p, n) ->
                            byForeignKey(
                                    kind, versioned(b, "l", "vl", p), versioned(b, "r", "vr", p)));
            add(
                    registry,
                    "versioned-fk-" + kind + "-left-only",
                    List.of("l", "r"),
                    (b, p, n) -> byForeignKey(kind, versioned(b, "l", "vl", p), b.table("r")));
            add(
                    registry,
                    "versioned-fk-" + kind + "-right-only",
                    List.of("l", "r"),
                    (b, p, n) ->
                            byForeignKey(
                                    kind,
                                    b.table("l"),
                                    versioned(b, "r", "vr", p).mapValues(v -> v + "m")));
            add(
                    registry,
                    "versioned-st-" + kind + "-mapValues",
                    List.of("s", "t"),
                    (b, p, n) ->
                            withTable(
                                    kind,
                                    b,
                                    versioned(b, "t", "vt", p)
                                            .mapValues(v -> num(v) % 4 == 0 ? null : v + "m"),
                                    null));
            add(
                    registry,
                    "versioned-st-" + kind + "-filter",
                    List.of("s", "t"),
                    (b, p, n) ->
                            withTable(
                                    kind,
                                    b,
                                    versioned(b, "t", "vt", p).filter((k, v) -> num(v) % 4 != 0),
                                    null));
            add(
                    registry,
                    "versioned-st-" + kind + "-filter-materialized",
                    List.of("s", "t"),
                    (b, p, n) ->
                            withTable(
                                    kind,
                                    b,
                                    versioned(b, "t", "vt", p)
                                            .filter(
                                                    (k, v) -> num(v) % 4 != 0,
                                                    Materialized.as("f")),
                                    null));
            add(
                    registry,
                    "versioned-st-" + kind + "-toTable-grace",
                    List.of("s", "t"),
                    (b, p, n) ->
                            withTable(
                                    kind,
                                    b,
                                    b.<String, String>stream("t").toTable(kept("tt", p)),
                                    p.ms("grace")));
            add(
                    registry,
                    "versioned-st-" + kind + "-reduce-grace",
                    List.of("s", "t"),
                    (b, p, n) ->
                            withTable(
                                    kind,
                                    b,
                                    b.<String, String>stream("t")
                                            .groupByKey()
                                            .reduce((x, y) -> x + "+" + y, kept("tr", p)),
                                    p.ms("grace")));
        }
    }

    private static KTable<String, String> joined(
            String kind, KTable<String, String> left, KTable<String, String> right) {
        return switch (kind) {
            case "inner" -> left.join(right, PAIR);
            case "left" -> left.leftJoin(right, PAIR);
            default -> left.outerJoin(right, PAIR);
        };
    }

    private static void byForeignKey(
            String kind, KTable<String, String> left, KTable<String, String> right) {
        (kind.equals("left")
                        ? left.leftJoin(right, Values::foreignKey, PAIR)
                        : left.join(right, Values::foreignKey, PAIR))
                .toStream()
                .to("out");
    }

    private static void withTable(
            String kind, StreamsBuilder b, KTable<String, String> table, Duration grace) {
        KStream<String, String> stream = b.stream("s");
        Joined<String, String, String> joined =
                grace == null
                        ? Joined.with(Serdes.String(), Serdes.String(), Serdes.String())
                        : Joined.with(
                                Serdes.String(), Serdes.String(), Serdes.String(), "jb", grace);
        (kind.equals("left")
                        ? stream.leftJoin(table, PAIR, joined)
                        : stream.join(table, PAIR, joined))
                .to("out");
    }
}
