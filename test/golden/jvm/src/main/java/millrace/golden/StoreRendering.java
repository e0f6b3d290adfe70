package millrace.golden;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.AggregationWithHeaders;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.ValueTimestampHeaders;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Contents of stores at the end of a run, sorted by key, then start, end. */
final class StoreRendering {
    private record Entry(String key, Long start, Long end, Object value, Long timestamp) {}

    /** Windows begin before the first record, by less than this. */
    private static final long BEFORE_MS = 100_000;

    private StoreRendering() {}

    static void render(
            Map<String, StateStore> stores,
            List<Event> events,
            Set<String> changelogKeys,
            boolean cached,
            ObjectNode target) {
        // Some stores cannot list their keys.
        TreeSet<String> keys = new TreeSet<>(changelogKeys);
        events.stream().map(Event::key).filter(Objects::nonNull).forEach(keys::add);
        // A cached store walks through every segment between the bounds, so they have to be near.
        LongSummaryStatistics times =
                events.stream()
                        .filter(event -> event.topic() != null)
                        .mapToLong(Event::time)
                        .summaryStatistics();
        long from = cached ? Math.max(0, times.getMin() - BEFORE_MS) : 0;
        for (var store : new TreeMap<>(stores).entrySet()) {
            List<Entry> entries = contents(store.getValue(), keys, from, times.getMax());
            if (entries == null) continue;
            entries.sort(
                    Comparator.comparing(Entry::key, StoreRendering::byBytes)
                            .thenComparing(entry -> entry.start == null ? 0L : entry.start)
                            .thenComparing(entry -> entry.end == null ? 0L : entry.end));
            ArrayNode nodes = target.putArray(store.getKey());
            for (Entry entry : entries) {
                ObjectNode node = nodes.addObject().put("key", entry.key);
                if (entry.start != null) Run.number(node, "start", entry.start);
                if (entry.end != null) Run.number(node, "end", entry.end);
                if (entry.value instanceof Long number) Run.number(node, "value", number);
                else node.put("value", entry.value == null ? null : String.valueOf(entry.value));
                if (entry.timestamp != null) node.put("timestamp", entry.timestamp);
            }
        }
    }

    private static int byBytes(String left, String right) {
        return Arrays.compareUnsigned(
                left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
    }

    @SuppressWarnings("unchecked")
    private static List<Entry> contents(StateStore store, Set<String> keys, long from, long to) {
        List<Entry> entries = new ArrayList<>();
        if (store instanceof VersionedKeyValueStore<?, ?> versions) {
            for (String key : keys) {
                VersionedRecord<?> latest = ((VersionedKeyValueStore<String, ?>) versions).get(key);
                if (latest != null)
                    entries.add(new Entry(key, null, null, latest.value(), latest.timestamp()));
            }
        } else if (store instanceof SessionStore<?, ?> sessions) {
            for (String key : keys) {
                try (var all =
                        ((SessionStore<String, Object>) sessions).findSessions(key, from, to)) {
                    all.forEachRemaining(
                            each -> entries.add(windowed(each.key, each.value, false)));
                }
            }
        } else if (store instanceof WindowStore<?, ?> windows) {
            try (var all = ((WindowStore<String, Object>) windows).fetchAll(from, to)) {
                all.forEachRemaining(
                        each ->
                                entries.add(
                                        windowed(
                                                each.key,
                                                each.value,
                                                store.name().matches(".*(JOIN|OUTER|join).*"))));
            }
        } else if (store instanceof KeyValueStore<?, ?> pairs) {
            try (var all = ((KeyValueStore<Object, Object>) pairs).all()) {
                all.forEachRemaining(
                        each -> entries.add(entry(text(each.key), null, null, each.value)));
            }
        } else {
            return null;
        }
        return entries;
    }

    private static String text(Object key) {
        return key instanceof Bytes bytes ? Run.hex(bytes.get()) : String.valueOf(key);
    }

    private static Entry windowed(Windowed<String> key, Object value, boolean isJoin) {
        Entry entry = entry(key.key(), key.window().start(), key.window().end(), value);
        return isJoin ? new Entry(entry.key, entry.start, entry.end, entry.value, -1L) : entry;
    }

    private static Entry entry(String key, Long start, Long end, Object value) {
        if (value instanceof ValueAndTimestamp<?> timed)
            return new Entry(key, start, end, timed.value(), timed.timestamp());
        if (value instanceof ValueTimestampHeaders<?> timed)
            return new Entry(key, start, end, timed.value(), timed.timestamp());
        if (value instanceof AggregationWithHeaders<?> held)
            return new Entry(key, start, end, held.aggregation(), null);
        return new Entry(key, start, end, value, null);
    }
}
