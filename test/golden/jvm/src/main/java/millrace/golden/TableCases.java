package millrace.golden;

import static millrace.golden.StatelessCases.in;
import static millrace.golden.Values.even;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.ValueTransformerWithKey;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.state.Stores;

/** Operators of tables, and tables that keep versions. */
final class TableCases {
    private TableCases() {}

    static KTable<String, String> table(StreamsBuilder builder) {
        return builder.table("in");
    }

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "table-source-(materialized|optimized)", (b, p, n) -> kept(b).toStream().to("out"));
        registry.add("table-source-plain", (b, p, n) -> table(b).toStream().to("out"));
        registry.add(
                "table-filter",
                (b, p, n) -> table(b).filter((k, v) -> even(v)).toStream().to("out"));
        registry.add(
                "table-filter-materialized",
                (b, p, n) ->
                        kept(b).filter((k, v) -> even(v), Materialized.as("f"))
                                .toStream()
                                .to("out"));
        registry.add(
                "table-filterNot-materialized",
                (b, p, n) ->
                        table(b).filterNot((k, v) -> even(v), Materialized.as("f"))
                                .toStream()
                                .to("out"));
        registry.add(
                "table-mapValues",
                (b, p, n) -> table(b).mapValues(TableCases::fromTwenty).toStream().to("out"));
        registry.add(
                "table-mapValues-materialized",
                (b, p, n) ->
                        table(b).mapValues(TableCases::fromTwenty, Materialized.as("m"))
                                .toStream()
                                .to("out"));
        registry.add(
                "table-filter-mapValues-groupBy-count",
                (b, p, n) ->
                        table(b).filter((k, v) -> num(v) % 4 != 0)
                                .mapValues(v -> "m" + num(v) % 3)
                                .groupBy((k, v) -> KeyValue.pair(v, v))
                                .count(Materialized.as("cnt"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "table-groupBy-count",
                (b, p, n) ->
                        table(b).groupBy((k, v) -> KeyValue.pair("g" + num(v) % 3, v))
                                .count()
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "(table-groupBy-aggregate|cached-table-groupBy)",
                (b, p, n) -> aggregated(thirds(table(b))).toStream().to("out"));
        registry.add(
                "table-groupBy-aggregate-nullkey",
                (b, p, n) ->
                        table(b).groupBy(
                                        (k, v) ->
                                                KeyValue.pair(
                                                        num(v) % 4 == 0 ? null : "g" + num(v) % 3,
                                                        k + v))
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> (a == null ? "" : a) + "+" + v,
                                        (k, v, a) ->
                                                a != null && a.length() > 30
                                                        ? null
                                                        : (a == null ? "" : a) + "-" + v,
                                        Materialized.as("ga"))
                                .toStream()
                                .to("out"));
        registry.add(
                "table-groupBy-reduce",
                (b, p, n) ->
                        table(b).groupBy((k, v) -> KeyValue.pair("g" + num(v) % 2, v))
                                .reduce(
                                        (a, v) -> a + "+" + v,
                                        (a, v) -> a + "-" + v,
                                        Materialized.as("gr"))
                                .toStream()
                                .to("out"));
        registry.add(
                "table-toTable",
                (b, p, n) -> in(b).toTable(Materialized.as("tt")).toStream().to("out"));
        registry.add(
                "table-toTable-rekeyed",
                (b, p, n) ->
                        in(b).selectKey((k, v) -> v == null ? "nv" : "k" + num(v) % 3)
                                .toTable()
                                .mapValues(v -> v + "t")
                                .toStream()
                                .to("out"));
        registry.add(
                "table-toStream-rekey",
                (b, p, n) -> table(b).toStream((k, v) -> k + "!").to("out"));
        registry.add(
                "table-transformValues",
                (b, p, n) ->
                        table(b).transformValues(Counting::new, Materialized.as("tv"))
                                .toStream()
                                .to("out"));
        registry.add(
                "versioned-table", (b, p, n) -> versioned(b, "in", "vt", p).toStream().to("out"));
        registry.add(
                "versioned-table-filter-groupBy",
                (b, p, n) ->
                        aggregated(
                                        thirds(
                                                versioned(b, "in", "vt", p)
                                                        .filter((k, v) -> num(v) % 4 != 0)))
                                .toStream()
                                .to("out"));
        registry.add(
                "versioned-table-table-join",
                (b, p, n) ->
                        versioned(b, "l", "vl", p)
                                .outerJoin(versioned(b, "r", "vr", p), Values::pair)
                                .toStream()
                                .to("out"));
    }

    private static KTable<String, String> kept(StreamsBuilder builder) {
        return builder.table("in", Materialized.as("t"));
    }

    static KTable<String, String> versioned(
            StreamsBuilder builder, String topic, String store, CaseParams params) {
        return builder.table(
                topic,
                Materialized.<String, String>as(
                                Stores.persistentVersionedKeyValueStore(
                                        store, params.ms("historyRetention")))
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.String()));
    }

    static KGroupedTable<String, String> thirds(KTable<String, String> table) {
        return table.groupBy((k, v) -> KeyValue.pair("g" + num(v) % 3, k + v));
    }

    static KTable<String, String> aggregated(KGroupedTable<String, String> grouped) {
        return grouped.aggregate(
                () -> "",
                (k, v, a) -> a + "+" + v,
                (k, v, a) -> a + "-" + v,
                Materialized.as("ga"));
    }

    private static String fromTwenty(String key, String value) {
        return num(value) < 20 ? null : key + value;
    }

    private static final class Counting implements ValueTransformerWithKey<String, String, String> {
        private int calls;

        @Override
        public void init(ProcessorContext context) {}

        @Override
        public String transform(String key, String value) {
            calls++;
            return value == null ? null : key + value + "#" + calls;
        }

        @Override
        public void close() {}
    }
}
