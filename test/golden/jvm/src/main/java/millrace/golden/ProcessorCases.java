package millrace.golden;

import static millrace.golden.StatelessCases.in;
import static millrace.golden.Values.num;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorSupplier;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Processors with stores, metadata and punctuation. */
final class ProcessorCases {
    /** A processor's work on one record. */
    private interface Work
            extends BiConsumer<Record<String, String>, ProcessorContext<String, String>> {}

    /** A processor's work on one record whose key stays. */
    private interface FixedWork
            extends BiConsumer<
                    FixedKeyRecord<String, String>, FixedKeyProcessorContext<String, String>> {}

    private ProcessorCases() {}

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "proc-dedup-kv",
                (b, p, n) ->
                        in(b).mapValues(v -> v == null ? null : String.valueOf(num(v) % 3))
                                .processValues(
                                        fixed(plain("seen", false), ProcessorCases::dropRepeated))
                                .to("out"));
        registry.add(
                "proc-dedup-window",
                (b, p, n) ->
                        in(b).processValues(
                                        fixed(
                                                Stores.windowStoreBuilder(
                                                        Stores.persistentWindowStore(
                                                                "w",
                                                                Duration.ofMillis(300),
                                                                Duration.ofMillis(100),
                                                                false),
                                                        Serdes.String(),
                                                        Serdes.String()),
                                                ProcessorCases::dropSeen))
                                .to("out"));
        registry.add(
                "proc-punctuate-stream-time",
                (b, p, n) -> in(b).process(punctuated(PunctuationType.STREAM_TIME)).to("out"));
        registry.add(
                "proc-punctuate-wall-clock",
                (b, p, n) -> in(b).process(punctuated(PunctuationType.WALL_CLOCK_TIME)).to("out"));
        registry.add(
                "proc-timestamps-and-stream-time",
                (b, p, n) -> {
                    KStream<String, String> first =
                            in(b).process(
                                            plain(
                                                    (record, context) ->
                                                            context.forward(
                                                                    record.withValue(
                                                                            "ts="
                                                                                    + record
                                                                                            .timestamp()
                                                                                    + ",stream="
                                                                                    + context
                                                                                            .currentStreamTimeMs()
                                                                                    + ",off="
                                                                                    + context.recordMetadata()
                                                                                            .get()
                                                                                            .offset()))));
                    first.to("out");
                    first.process(
                                    plain(
                                            (record, context) ->
                                                    context.forward(
                                                            record.withTimestamp(
                                                                    context
                                                                            .currentStreamTimeMs()))))
                            .to("out2");
                });
        registry.add(
                "proc-session-store",
                (b, p, n) ->
                        in(b).process(
                                        stored(
                                                Stores.sessionStoreBuilder(
                                                        Stores.persistentSessionStore(
                                                                "ss", Duration.ofMillis(200)),
                                                        Serdes.String(),
                                                        Serdes.Long()),
                                                ProcessorCases::countSessions))
                                .to("out"));
        registry.add(
                "proc-window-store-duplicates",
                (b, p, n) ->
                        in(b).process(
                                        stored(
                                                Stores.windowStoreBuilder(
                                                        Stores.persistentWindowStore(
                                                                "wd",
                                                                Duration.ofMillis(300),
                                                                Duration.ofMillis(100),
                                                                true),
                                                        Serdes.String(),
                                                        Serdes.String()),
                                                ProcessorCases::listDuplicates))
                                .to("out"));
        registry.add(
                "proc-kv-store-range",
                (b, p, n) ->
                        in(b).process(stored(plain("kv", true), ProcessorCases::listRange))
                                .to("out"));
        registry.add(
                "versioned-user-store",
                (b, p, n) ->
                        in(b).process(
                                        stored(
                                                Stores.versionedKeyValueStoreBuilder(
                                                        Stores.persistentVersionedKeyValueStore(
                                                                "v",
                                                                p.ms("historyRetention"),
                                                                p.ms("segmentInterval")),
                                                        Serdes.String(),
                                                        Serdes.String()),
                                                ProcessorCases::putVersion))
                                .to("out"));
    }

    static Topology namedChildren() {
        Topology topology = new Topology();
        topology.addSource("src", "in");
        topology.<String, String, String, String>addProcessor(
                "P",
                plain(
                        (record, context) -> {
                            if (record.value() == null) {
                                context.forward(record.withKey("all"));
                            } else if (num(record.value()) % 2 == 0) {
                                context.forward(record.withTimestamp(record.timestamp() + 7), "S1");
                            } else {
                                record.headers().add("odd", "1".getBytes());
                                context.forward(record, "S2");
                            }
                        }),
                "src");
        topology.addSink("S1", "out1", "P");
        topology.addSink("S2", "out2", "P");
        return topology;
    }

    private static StoreBuilder<KeyValueStore<String, String>> plain(
            String name, boolean inMemory) {
        return Stores.keyValueStoreBuilder(
                inMemory
                        ? Stores.inMemoryKeyValueStore(name)
                        : Stores.persistentKeyValueStore(name),
                Serdes.String(),
                Serdes.String());
    }

    private static ProcessorSupplier<String, String, String, String> plain(Work work) {
        return () ->
                new Processor<>() {
                    private ProcessorContext<String, String> context;

                    @Override
                    public void init(ProcessorContext<String, String> context) {
                        this.context = context;
                    }

                    @Override
                    public void process(Record<String, String> record) {
                        work.accept(record, context);
                    }
                };
    }

    private static ProcessorSupplier<String, String, String, String> stored(
            StoreBuilder<?> store, Work work) {
        ProcessorSupplier<String, String, String, String> inner = plain(work);
        return new ProcessorSupplier<>() {
            @Override
            public Processor<String, String, String, String> get() {
                return inner.get();
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(store);
            }
        };
    }

    private static FixedKeyProcessorSupplier<String, String, String> fixed(
            StoreBuilder<?> store, FixedWork work) {
        return new FixedKeyProcessorSupplier<>() {
            @Override
            public FixedKeyProcessor<String, String, String> get() {
                return new FixedKeyProcessor<>() {
                    private FixedKeyProcessorContext<String, String> context;

                    @Override
                    public void init(FixedKeyProcessorContext<String, String> context) {
                        this.context = context;
                    }

                    @Override
                    public void process(FixedKeyRecord<String, String> record) {
                        work.accept(record, context);
                    }
                };
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(store);
            }
        };
    }

    private static void dropRepeated(
            FixedKeyRecord<String, String> record,
            FixedKeyProcessorContext<String, String> context) {
        if (record.key() == null) {
            context.forward(record);
            return;
        }
        KeyValueStore<String, String> seen = context.getStateStore("seen");
        if (record.value() == null || record.value().equals(seen.get(record.key()))) return;
        seen.put(record.key(), record.value());
        context.forward(record);
    }

    private static void dropSeen(
            FixedKeyRecord<String, String> record,
            FixedKeyProcessorContext<String, String> context) {
        if (record.key() == null || record.value() == null) return;
        WindowStore<String, String> seen = context.getStateStore("w");
        String id = String.valueOf(num(record.value()) % 5);
        long ts = record.timestamp();
        try (WindowStoreIterator<String> found = seen.fetch(id, ts - 100, ts + 100)) {
            if (found.hasNext()) return;
        }
        seen.put(id, record.key(), ts);
        context.forward(record.withValue(record.value() + "@" + id));
    }

    private static void countSessions(
            Record<String, String> record, ProcessorContext<String, String> context) {
        if (record.key() == null) return;
        SessionStore<String, Long> store = context.getStateStore("ss");
        long start = record.timestamp();
        long end = record.timestamp();
        long count = 1;
        List<Windowed<String>> merged = new ArrayList<>();
        try (KeyValueIterator<Windowed<String>, Long> found =
                store.findSessions(record.key(), start - 30, end + 30)) {
            while (found.hasNext()) {
                KeyValue<Windowed<String>, Long> session = found.next();
                start = Math.min(start, session.key.window().start());
                end = Math.max(end, session.key.window().end());
                count += session.value;
                merged.add(session.key);
            }
        }
        merged.forEach(store::remove);
        store.put(new Windowed<>(record.key(), new SessionWindow(start, end)), count);
        context.forward(record.withValue(start + "-" + end + "=" + count));
    }

    private static void listDuplicates(
            Record<String, String> record, ProcessorContext<String, String> context) {
        if (record.key() == null) return;
        WindowStore<String, String> store = context.getStateStore("wd");
        store.put(record.key(), record.value(), record.timestamp());
        List<String> values = new ArrayList<>();
        try (WindowStoreIterator<String> found =
                store.fetch(record.key(), record.timestamp() - 50, record.timestamp() + 50)) {
            found.forEachRemaining(entry -> values.add(entry.value));
        }
        context.forward(record.withValue(String.join(",", values)));
    }

    private static void listRange(
            Record<String, String> record, ProcessorContext<String, String> context) {
        if (record.key() == null) return;
        KeyValueStore<String, String> store = context.getStateStore("kv");
        store.put(record.key(), record.value());
        List<String> entries = new ArrayList<>();
        try (KeyValueIterator<String, String> found = store.range("b", "d")) {
            found.forEachRemaining(entry -> entries.add(entry.key + "=" + entry.value));
        }
        context.forward(
                record.withValue(
                        String.join(",", entries) + " n=" + store.approximateNumEntries()));
    }

    private static void putVersion(
            Record<String, String> record, ProcessorContext<String, String> context) {
        if (record.key() == null) return;
        VersionedKeyValueStore<String, String> store = context.getStateStore("v");
        Function<VersionedRecord<String>, String> shown =
                version -> version == null ? "null" : version.value() + "@" + version.timestamp();
        long validTo = store.put(record.key(), record.value(), record.timestamp());
        context.forward(
                record.withValue(
                        "put="
                                + validTo
                                + " get="
                                + shown.apply(store.get(record.key()))
                                + " asof="
                                + shown.apply(store.get(record.key(), record.timestamp() - 30))));
    }

    private static ProcessorSupplier<String, String, String, String> punctuated(
            PunctuationType type) {
        StoreBuilder<?> store =
                Stores.timestampedKeyValueStoreBuilder(
                        Stores.persistentTimestampedKeyValueStore("st"),
                        Serdes.String(),
                        Serdes.Long());
        return new ProcessorSupplier<>() {
            @Override
            public Processor<String, String, String, String> get() {
                return new CountingPunctuator(type);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(store);
            }
        };
    }

    private static final class CountingPunctuator
            implements Processor<String, String, String, String> {
        private final PunctuationType type;
        private TimestampedKeyValueStore<String, Long> store;

        CountingPunctuator(PunctuationType type) {
            this.type = type;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            store = context.getStateStore("st");
            context.schedule(
                    Duration.ofMillis(100),
                    type,
                    now -> {
                        List<KeyValue<String, ValueAndTimestamp<Long>>> entries = new ArrayList<>();
                        try (KeyValueIterator<String, ValueAndTimestamp<Long>> all = store.all()) {
                            all.forEachRemaining(entries::add);
                        }
                        if (entries.isEmpty())
                            context.forward(new Record<>("tick", "@" + now, now));
                        for (KeyValue<String, ValueAndTimestamp<Long>> entry : entries) {
                            context.forward(
                                    new Record<>(entry.key, entry.value.value() + "@" + now, now));
                            store.delete(entry.key);
                        }
                    });
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() == null) return;
            ValueAndTimestamp<Long> held = store.get(record.key());
            store.put(
                    record.key(),
                    ValueAndTimestamp.make(
                            (held == null ? 0 : held.value()) + 1, record.timestamp()));
        }
    }
}
