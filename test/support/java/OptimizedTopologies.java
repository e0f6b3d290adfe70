import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/** Prints, as JSON, how Kafka Streams describes topologies under each optimization. */
public final class OptimizedTopologies {
  private static final List<String> OPTIMIZATIONS =
      List.of("none", "all", "merge.repartition.topics", "reuse.ktable.source.topics", "single.store.self.join");

  private static final class Pass extends ContextualProcessor<String, String, String, String> {
    @Override
    public void process(Record<String, String> record) {
      context().forward(record);
    }
  }

  private static KStream<String, String> mapped(KStream<String, String> stream) {
    return stream.map((key, value) -> KeyValue.pair(value, key));
  }

  private static Map<String, Consumer<StreamsBuilder>> topologies() {
    final Map<String, Consumer<StreamsBuilder>> all = new LinkedHashMap<>();
    all.put("two-counts", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.groupByKey().count(Materialized.as("c1"));
      m.groupByKey().count(Materialized.as("c2"));
    });
    all.put("numbered-stores", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.groupByKey().count().toStream().to("out");
      m.groupByKey().reduce((l, r) -> r).toStream().to("out2");
    });
    all.put("one-count", b -> mapped(b.stream("a")).groupByKey().count(Materialized.as("c1")));
    all.put("filter-between", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.filter((k, v) -> true).groupByKey().count(Materialized.as("c1"));
      m.groupByKey().count(Materialized.as("c2"));
      m.to("out");
    });
    all.put("filter-shared", b -> {
      final KStream<String, String> f = mapped(b.stream("a")).filter((k, v) -> true);
      f.groupByKey().count(Materialized.as("c1"));
      f.groupByKey().count(Materialized.as("c2"));
    });
    all.put("values-between", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.mapValues(v -> v).groupByKey().count(Materialized.as("c1"));
      m.groupByKey().count(Materialized.as("c2"));
    });
    all.put("merge-of-rekeyed", b -> {
      final KStream<String, String> a = b.<String, String>stream("a").selectKey((k, v) -> v);
      final KStream<String, String> c = b.<String, String>stream("b").selectKey((k, v) -> v);
      final KStream<String, String> m = a.merge(c);
      m.groupByKey().count(Materialized.as("c1"));
      m.groupByKey().count(Materialized.as("c2"));
    });
    all.put("merge-one-side", b ->
        b.<String, String>stream("a").selectKey((k, v) -> v).merge(b.stream("b")).groupByKey().count(Materialized.as("c1")));
    all.put("join-and-count", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      final KStream<String, String> other = b.stream("b");
      m.join(other, (l, r) -> l + r, JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(100))).to("out");
      m.groupByKey().count(Materialized.as("c1"));
    });
    all.put("table-join-and-count", b -> {
      final KStream<String, String> m = b.<String, String>stream("a").selectKey((k, v) -> v);
      m.join(b.table("t", Materialized.as("ts")), (l, r) -> l + r).to("out");
      m.groupByKey().count(Materialized.as("c1"));
    });
    all.put("named-groups", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.groupByKey(Grouped.as("g")).count(Materialized.as("c1"));
      m.groupByKey(Grouped.as("h"))
          .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(100)))
          .count(Materialized.as("c2"));
    });
    all.put("self-join", b -> {
      final KStream<String, String> a = b.stream("a");
      a.join(a, (l, r) -> l + r, JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMillis(100))).to("out");
    });
    all.put("table-source", b ->
        b.<String, String>table("t", Materialized.as("ts")).toStream().selectKey((k, v) -> v).groupByKey()
            .count(Materialized.as("c1")));
    all.put("to-table", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.toTable(Materialized.as("ts"));
      m.groupByKey().count(Materialized.as("c1"));
    });
    all.put("explicit-repartition", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      m.repartition(Repartitioned.as("r")).groupByKey().count(Materialized.as("c1"));
      m.groupByKey().count(Materialized.as("c2"));
    });
    all.put("cogroup", b -> {
      final KStream<String, String> m = mapped(b.stream("a"));
      final KStream<String, String> n = mapped(b.stream("b"));
      m.groupByKey(Grouped.as("g1")).<String>cogroup((k, v, g) -> g + v).cogroup(n.groupByKey(Grouped.as("g2")), (k, v, g) -> g + v)
          .aggregate(() -> "", Materialized.as("cg"));
      m.groupByKey().count(Materialized.as("c1"));
    });
    all.put("process", b -> {
      final KStream<String, String> p = b.<String, String>stream("a").process(Pass::new);
      p.groupByKey().count(Materialized.as("c1"));
      p.groupByKey().count(Materialized.as("c2"));
    });
    all.put("chained", b -> {
      final KStream<String, Long> counts =
          mapped(b.stream("a")).groupByKey().count(Materialized.as("c1")).toStream().selectKey((k, v) -> k);
      counts.groupByKey(Grouped.with(Serdes.String(), Serdes.Long())).count(Materialized.as("c2"));
      counts.groupByKey(Grouped.with(Serdes.String(), Serdes.Long())).count(Materialized.as("c3"));
    });
    all.put("group-by", b -> {
      final KStream<String, String> a = b.stream("a");
      a.groupBy((k, v) -> v).count(Materialized.as("c1"));
      a.groupBy((k, v) -> v).count(Materialized.as("c2"));
    });
    all.put("peek-and-merge-below", b -> {
      final KStream<String, String> m = mapped(b.stream("a")).peek((k, v) -> {});
      m.groupByKey().count(Materialized.as("c1"));
      m.filter((k, v) -> true).merge(m.filterNot((k, v) -> true)).groupByKey().count(Materialized.as("c2"));
    });
    return all;
  }

  private static String described(Consumer<StreamsBuilder> topology, String optimization) {
    final Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
    properties.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, optimization);
    try {
      final StreamsBuilder builder = new StreamsBuilder();
      topology.accept(builder);
      return builder.build(properties).describe().toString();
    } catch (final RuntimeException refused) {
      return "refused: " + refused.getMessage();
    }
  }

  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }

  public static void main(String[] args) {
    final StringBuilder json = new StringBuilder("{\n");
    String between = "";
    for (final Map.Entry<String, Consumer<StreamsBuilder>> entry : topologies().entrySet()) {
      json.append(between).append("  ").append(quoted(entry.getKey())).append(": {\n");
      String inner = "";
      for (final String optimization : OPTIMIZATIONS) {
        json.append(inner).append("    ").append(quoted(optimization)).append(": ")
            .append(quoted(described(entry.getValue(), optimization)));
        inner = ",\n";
      }
      json.append("\n  }");
      between = ",\n";
    }
    System.out.println(json.append("\n}"));
  }
}
