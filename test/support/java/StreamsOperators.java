import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Initializer;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Merger;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/**
 * A Kafka Streams application with every operator, whose twin in TypeScript is test/integration/jvm/operators-topology.ts: the
 * same steps in the same order, so that even numbered names are the same. Arguments: bootstrap servers, application id, prefix of
 * the inputs, state directory. Output topics are called `<application id>-<name>`. It says its states line by line, and ends with
 * its input.
 */
public final class StreamsOperators {
    private static final Serde<String> TEXT = Serdes.String();
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration HISTORY = Duration.ofSeconds(3);
    private static final Initializer<String> EMPTY = () -> "";
    private static final Merger<String, String> MERGE = (key, left, right) -> left + "|" + right;
    private static final ValueJoiner<String, String, String> PAIR = (left, right) -> left + "/" + right;

    private final StreamsBuilder builder = new StreamsBuilder();
    private final String id;
    private final String inputs;

    private StreamsOperators(String id, String inputs) {
        this.id = id;
        this.inputs = inputs;
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[1]);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments[3]);
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 50);
        // Every update is emitted, as ours are.
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        properties.put("auto.offset.reset", "earliest");
        properties.put("session.timeout.ms", 6000);
        // What was repartitioned is compared too.
        properties.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, 3_600_000);
        // Results that wait for the end of a window leave with the record that ends it, not up to a second later by the clock.
        properties.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
        properties.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);

        StreamsOperators operators = new StreamsOperators(arguments[1], arguments[2]);
        operators.aggregations();
        operators.pairs();
        operators.rekeyings();
        operators.foreignKeys();
        run(new KafkaStreams(operators.builder.build(), properties));
    }

    private static void run(KafkaStreams streams) throws Exception {
        streams.setStateListener((state, previous) -> {
            System.out.println("state " + state);
            System.out.flush();
        });
        streams.setUncaughtExceptionHandler(failure -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
            return null;
        });
        streams.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) continue;
        streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(Duration.ofSeconds(30)));
        System.exit(0);
    }

    /** Aggregations per key over three partitions, each of which is a sequence of its own. */
    private void aggregations() {
        KStream<String, String> events = read("events");
        KGroupedStream<String, String> grouped = events.groupByKey();
        write(grouped.reduce(StreamsOperators::plus, kept("reduced")), "reduce");
        write(grouped.aggregate(EMPTY, StreamsOperators::append, kept("aggregated")), "aggregate");
        writeCounts(grouped.count(), "count");
        writeCounts(events.groupBy((key, value) -> "g" + number(value) % 3, Grouped.with("halves", TEXT, TEXT))
            .count(Materialized.as("halves")), "rekeyed");

        TimeWindows tumbling = TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), GRACE);
        TimeWindows hopping = TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), GRACE).advanceBy(Duration.ofSeconds(4));
        SlidingWindows sliding = SlidingWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(5), GRACE);
        SessionWindows sessions = SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(3), GRACE);
        writeWindowed(grouped.windowedBy(tumbling).aggregate(EMPTY, StreamsOperators::append, keptWindows("tumbling")), 10,
            "tumbling");
        writeWindowed(grouped.windowedBy(hopping).reduce(StreamsOperators::plus, keptWindows("hopping")), 10, "hopping");
        writeWindowed(grouped.windowedBy(sliding).aggregate(EMPTY, StreamsOperators::append, keptWindows("sliding")), 5,
            "sliding");
        writeSessions(grouped.windowedBy(sessions).aggregate(EMPTY, StreamsOperators::append, MERGE, keptSessions("sessions")),
            "sessions");
        writeWindowed(grouped.windowedBy(tumbling).emitStrategy(EmitStrategy.onWindowClose())
            .aggregate(EMPTY, StreamsOperators::append, keptWindows("tumbling-final")), 10, "tumbling-final");
        writeWindowed(grouped.windowedBy(sliding).emitStrategy(EmitStrategy.onWindowClose())
            .reduce(StreamsOperators::plus, keptWindows("sliding-final")), 5, "sliding-final");
        writeSessions(grouped.windowedBy(sessions).emitStrategy(EmitStrategy.onWindowClose())
            .aggregate(EMPTY, StreamsOperators::append, MERGE, keptSessions("sessions-final")), "sessions-final");
        writeWindowed(grouped.windowedBy(tumbling)
            .aggregate(EMPTY, StreamsOperators::append, keptWindows("suppressed"))
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("until-close")), 10,
            "suppressed");
        versioned(events, grouped);
    }

    /** Stores with versions: what comes out of order changes what held then, and goes nowhere when it is too late for that. */
    private void versioned(KStream<String, String> events, KGroupedStream<String, String> grouped) {
        KTable<String, String> table = events.mapValues(StreamsOperators::orDeleted).toTable(versions("versioned-table"));
        write(table, "versioned-table");
        write(table.filter((key, value) -> number(value) % 4 != 0), "versioned-filter");
        KTable<String, String> aggregate = grouped.aggregate(EMPTY, StreamsOperators::append, versions("versioned-aggregated"));
        write(aggregate, "versioned-aggregate");
        write(grouped.reduce(StreamsOperators::plus, versions("versioned-reduced")), "versioned-reduce");
        writeCounts(grouped.count(Materialized.<String, Long>as(
            Stores.persistentVersionedKeyValueStore("versioned-counted", HISTORY)).withKeySerde(TEXT)), "versioned-count");
        write(table.outerJoin(aggregate, PAIR), "versioned-tables");
        write(events.filter((key, value) -> key != null).leftJoin(aggregate, PAIR), "versioned-stream");
    }

    /** Joins of records of one topic, each partition of which is a sequence of its own. */
    private void pairs() {
        KStream<String, String> all = read("pairs");
        KStream<String, String> left = all.filter((key, value) -> value != null && value.startsWith("L"));
        KStream<String, String> right = all.filter((key, value) -> value != null && value.startsWith("R"));
        JoinWindows within = JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(4), GRACE);
        write(left.join(right, PAIR, within, StreamJoined.with(TEXT, TEXT, TEXT).withName("si").withStoreName("si")),
            "stream-inner");
        write(left.leftJoin(right, PAIR, within, StreamJoined.with(TEXT, TEXT, TEXT).withName("sl").withStoreName("sl")),
            "stream-left");
        write(left.outerJoin(right, PAIR, within, StreamJoined.with(TEXT, TEXT, TEXT)), "stream-outer");

        KTable<String, String> leftTable = left.mapValues(StreamsOperators::orDeleted).toTable(kept("left"));
        KTable<String, String> rightTable = right.mapValues(StreamsOperators::orDeleted).toTable(kept("right"));
        write(left.join(rightTable, PAIR), "table-inner");
        write(left.leftJoin(rightTable, PAIR), "table-left");
        write(leftTable.join(rightTable, PAIR).toStream(), "tables-inner");
        write(leftTable.leftJoin(rightTable, PAIR, kept("tables-left")), "tables-left");
        write(leftTable.outerJoin(rightTable, PAIR, kept("tables-outer")), "tables-outer");
        write(left.leftJoin(builder.globalTable(inputs + "rates", Consumed.with(TEXT, TEXT), kept("rates")),
            (key, value) -> "r" + number(value) % 4, PAIR), "global");

        KTable<String, String> versions = builder.table(inputs + "versions", Consumed.with(TEXT, TEXT),
            Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("versions", Duration.ofSeconds(30))));
        write(left.filter((key, value) -> key != null).leftJoin(versions, PAIR, Joined.with(TEXT, TEXT, TEXT).withName("waiting")
            .withGracePeriod(Duration.ofSeconds(3))), "versioned");

        KGroupedStream<String, String> leftGroup = left.groupByKey();
        KGroupedStream<String, String> rightGroup = right.groupByKey();
        write(leftGroup.<String>cogroup((key, value, sum) -> sum + "A" + value)
            .cogroup(rightGroup, (key, value, sum) -> sum + "B" + value).aggregate(EMPTY, kept("cogrouped")), "cogroup");
        writeWindowed(leftGroup.<String>cogroup((key, value, sum) -> sum + "A" + value)
            .cogroup(rightGroup, (key, value, sum) -> sum + "B" + value)
            .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), GRACE)).aggregate(EMPTY, keptWindows("cogrouped-windows")),
            10, "cogroup-windows");
        write(leftTable.filter((key, value) -> number(value) % 5 != 0)
            .suppress(Suppressed.<String>untilTimeLimit(Duration.ofSeconds(5), Suppressed.BufferConfig.maxRecords(3))
                .withName("limited")), "limited");
    }

    /** What goes through repartition topics: one partition writes them, so that the order of everything is fixed. */
    private void rekeyings() {
        KStream<String, String> all = read("single");
        groupedTables(all.mapValues(StreamsOperators::orDeleted).toTable(kept("single")));
        rekeyed(all);
    }

    private void groupedTables(KTable<String, String> table) {
        var grouped = table.groupBy((key, value) -> KeyValue.pair("g" + number(value) % 3, key + value),
            Grouped.with("thirds", TEXT, TEXT));
        write(grouped.aggregate(EMPTY, (key, value, sum) -> tail(sum + "+" + value), (key, value, sum) -> tail(sum + "-" + value),
            kept("table-aggregated")), "table-aggregate");
        write(grouped.reduce((sum, value) -> tail(sum + "+" + value), (sum, value) -> tail(sum + "-" + value),
            kept("table-reduced")), "table-reduce");
        writeCounts(grouped.count(Materialized.as("table-counted")), "table-count");
        write(grouped.aggregate(EMPTY, (key, value, sum) -> tail(sum + "+" + value), (key, value, sum) -> tail(sum + "-" + value),
            versions("versioned-thirds")), "versioned-thirds");
    }

    private void rekeyed(KStream<String, String> all) {
        KStream<String, String> valued = all.filter((key, value) -> value != null);
        write(valued.selectKey((key, value) -> "s" + number(value) % 7)
            .repartition(Repartitioned.with(TEXT, TEXT).withName("wide").withNumberOfPartitions(3)), "repartitioned");
        writeWindowed(valued.map((key, value) -> KeyValue.pair("m" + number(value) % 2, value))
            .groupByKey(Grouped.with(TEXT, TEXT)).windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), GRACE))
            .aggregate(EMPTY, StreamsOperators::append,
                Materialized.<String, String, WindowStore<Bytes, byte[]>>with(TEXT, TEXT)), 10, "mapped");
    }

    /** Rows that are found by a key in the value of others; inputs are written step by step, so that the order is fixed. */
    private void foreignKeys() {
        KTable<String, String> orders = builder.table(inputs + "orders", Consumed.with(TEXT, TEXT), kept("orders"));
        KTable<String, String> customers = builder.table(inputs + "customers", Consumed.with(TEXT, TEXT), kept("customers"));
        write(orders.join(customers, StreamsOperators::customerOf, PAIR, kept("foreign")), "foreign-inner");
        write(orders.leftJoin(customers, StreamsOperators::customerOf, PAIR,
            Materialized.<String, String, KeyValueStore<Bytes, byte[]>>with(TEXT, TEXT)), "foreign-left");
    }

    private KStream<String, String> read(String topic) {
        return builder.stream(inputs + topic, Consumed.with(TEXT, TEXT));
    }

    private void write(KTable<String, String> table, String output) {
        write(table.toStream(), output);
    }

    private void write(KStream<String, String> stream, String output) {
        stream.to(id + "-" + output, Produced.with(TEXT, TEXT));
    }

    private void writeCounts(KTable<String, Long> table, String output) {
        table.toStream().to(id + "-" + output, Produced.with(TEXT, Serdes.Long()));
    }

    private void writeWindowed(KTable<Windowed<String>, String> table, int seconds, String output) {
        table.toStream().to(id + "-" + output,
            Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, seconds * 1000L), TEXT));
    }

    private void writeSessions(KTable<Windowed<String>, String> table, String output) {
        table.toStream().to(id + "-" + output, Produced.with(WindowedSerdes.sessionWindowedSerdeFrom(String.class), TEXT));
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> kept(String store) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(TEXT);
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> versions(String store) {
        return Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore(store, HISTORY))
            .withKeySerde(TEXT).withValueSerde(TEXT);
    }

    private static Materialized<String, String, WindowStore<Bytes, byte[]>> keptWindows(String store) {
        return Materialized.<String, String, WindowStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(TEXT);
    }

    private static Materialized<String, String, SessionStore<Bytes, byte[]>> keptSessions(String store) {
        return Materialized.<String, String, SessionStore<Bytes, byte[]>>as(store).withKeySerde(TEXT).withValueSerde(TEXT);
    }

    /** The number behind the first letter of a value; −1 for null and for deletions. */
    private static int number(String value) {
        return value == null || value.endsWith("DEL") ? -1 : Integer.parseInt(value.substring(1));
    }

    private static String append(String key, String value, String aggregate) {
        return orDeleted(value) == null ? null : tail(aggregate + value + ";");
    }

    private static String plus(String aggregate, String value) {
        return orDeleted(value) == null ? null : tail(aggregate + "+" + value);
    }

    private static String orDeleted(String value) {
        return value == null || value.endsWith("DEL") ? null : value;
    }

    private static String customerOf(String order) {
        String customer = order.split(":")[0];
        return customer.equals("none") ? null : customer;
    }

    /** Keeps what grows with every record short. */
    private static String tail(String text) {
        return text.length() > 40 ? text.substring(text.length() - 40) : text;
    }
}
