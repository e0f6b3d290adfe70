package millrace.golden;

import static millrace.golden.ExtraCases.add;
import static millrace.golden.TableCases.versioned;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.ValueTransformerWithKey;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

import java.time.Duration;
import java.util.List;

/** What stands behind tables that keep versions, and what makes such tables. */
final class VersionedTableCases {
    private static final ValueJoiner<String, String, String> PAIR = Values::pair;

    private VersionedTableCases() {}

    static void addTo(Topologies.Registry registry) {
        tables(registry);
        aggregations(registry);
    }

    private static void tables(Topologies.Registry registry) {
        add(
                registry,
                "versioned-filter",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .filter((k, v) -> num(v) % 3 != 0)
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-filter-materialized",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .filter((k, v) -> num(v) % 3 != 0, Materialized.as("f"))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-filterNot",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .filterNot((k, v) -> num(v) % 3 == 0)
                                .mapValues(v -> v + "m")
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-mapValues-materialized",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .mapValues(v -> v + "m", Materialized.as("m"))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-transformValues",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .transformValues(Marking::new, Materialized.as("tv"))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-mapValues-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(
                                        TableCases.thirds(
                                                versioned(b, "in", "vt", p)
                                                        .mapValues(
                                                                v -> num(v) % 5 == 0 ? null : v)))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-mapValues-materialized-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(
                                        TableCases.thirds(
                                                versioned(b, "in", "vt", p)
                                                        .mapValues(
                                                                v -> num(v) % 5 == 0 ? null : v,
                                                                Materialized.as("m"))))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-filter-materialized-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(
                                        TableCases.thirds(
                                                versioned(b, "in", "vt", p)
                                                        .filter(
                                                                (k, v) -> num(v) % 3 != 0,
                                                                Materialized.as("f"))))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-transformValues-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(
                                        TableCases.thirds(
                                                versioned(b, "in", "vt", p)
                                                        .transformValues(
                                                                Marking::new,
                                                                Materialized.as("tv"))))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-groupBy-reduce",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .groupBy((k, v) -> KeyValue.pair("g" + num(v) % 2, v))
                                .reduce(
                                        (x, y) -> x + "+" + y,
                                        (x, y) -> x + "-" + y,
                                        Materialized.as("gr"))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-groupBy-count",
                List.of("in"),
                (b, p, n) ->
                        versioned(b, "in", "vt", p)
                                .groupBy((k, v) -> KeyValue.pair("g" + num(v) % 2, v))
                                .count(Materialized.as("gc"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        add(
                registry,
                "versioned-suppress",
                List.of("in"),
                (b, p, n) -> suppressed(versioned(b, "in", "vt", p)));
        add(
                registry,
                "versioned-filter-suppress",
                List.of("in"),
                (b, p, n) -> suppressed(versioned(b, "in", "vt", p).filter((k, v) -> true)));
        add(
                registry,
                "versioned-mapValues-suppress",
                List.of("in"),
                (b, p, n) -> suppressed(versioned(b, "in", "vt", p).mapValues(v -> v)));
        add(
                registry,
                "versioned-filter-materialized-suppress",
                List.of("in"),
                (b, p, n) ->
                        suppressed(
                                versioned(b, "in", "vt", p)
                                        .filter((k, v) -> num(v) % 3 != 0, Materialized.as("f"))));
        add(
                registry,
                "versioned-groupBy-suppress",
                List.of("in"),
                (b, p, n) ->
                        suppressed(
                                TableCases.aggregated(
                                        TableCases.thirds(versioned(b, "in", "vt", p)))));
        add(
                registry,
                "versioned-join-suppress",
                List.of("l", "r"),
                (b, p, n) ->
                        suppressed(
                                versioned(b, "l", "vl", p)
                                        .join(
                                                versioned(b, "r", "vr", p),
                                                PAIR,
                                                Materialized.as("tt"))));
        add(
                registry,
                "versioned-toTable",
                List.of("in"),
                (b, p, n) -> toTable(b, p).toStream().to("out"));
        add(
                registry,
                "versioned-toTable-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(TableCases.thirds(toTable(b, p)))
                                .toStream()
                                .to("out"));
    }

    private static void aggregations(Topologies.Registry registry) {
        add(
                registry,
                "versioned-count",
                List.of("in"),
                (b, p, n) ->
                        StatelessCases.in(b)
                                .groupByKey()
                                .count(
                                        Materialized.<String, Long>as(
                                                Stores.persistentVersionedKeyValueStore(
                                                        "c", p.ms("historyRetention"))))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        add(
                registry,
                "versioned-reduce-groupBy",
                List.of("in"),
                (b, p, n) ->
                        TableCases.aggregated(
                                        StatelessCases.in(b)
                                                .groupByKey()
                                                .reduce(
                                                        (x, y) -> y.equals("DEL") ? null : y,
                                                        kept("red", p))
                                                .groupBy(
                                                        (k, v) ->
                                                                KeyValue.pair(
                                                                        "g" + num(v) % 3, k + v)))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-aggregate",
                List.of("in"),
                (b, p, n) ->
                        StatelessCases.in(b)
                                .groupByKey()
                                .aggregate(
                                        () -> "", (k, v, a) -> Values.append(a, v), kept("agg", p))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "versioned-cogroup",
                List.of("a", "b"),
                (b, p, n) ->
                        AggregateCases.cogrouped(b)
                                .aggregate(() -> "", kept("cg", p))
                                .toStream()
                                .to("out"));
        add(
                registry,
                "table-groupBy-versioned-aggregate",
                List.of("in"),
                (b, p, n) ->
                        TableCases.thirds(TableCases.table(b))
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> a + "+" + v,
                                        (k, v, a) -> a + "-" + v,
                                        kept("ga", p))
                                .toStream()
                                .to("out"));
    }

    private static KTable<String, String> toTable(StreamsBuilder b, CaseParams p) {
        return StatelessCases.in(b).toTable(kept("tt", p));
    }

    static Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept(
            String name, CaseParams p) {
        return Materialized.<String, String>as(
                        Stores.persistentVersionedKeyValueStore(name, p.ms("historyRetention")))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String());
    }

    private static void suppressed(KTable<String, String> table) {
        table.suppress(
                        Suppressed.<String>untilTimeLimit(
                                        Duration.ofMillis(40), BufferConfig.unbounded())
                                .withName("sup"))
                .toStream()
                .to("out");
    }

    private static final class Marking implements ValueTransformerWithKey<String, String, String> {
        @Override
        public void init(ProcessorContext context) {}

        @Override
        public String transform(String key, String value) {
            return value == null ? null : "m:" + (value.equals("DEL") ? "-1" : value);
        }

        @Override
        public void close() {}
    }
}
