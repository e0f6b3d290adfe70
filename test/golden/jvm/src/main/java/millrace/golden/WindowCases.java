package millrace.golden;

import static millrace.golden.StatelessCases.in;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindowedKStream;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.UnlimitedWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** Aggregations in windows of time and in sessions. */
final class WindowCases {
    private static final String TIMES = "window-(tumbling|hopping|sliding)-[-\\d]+g\\d+-";

    /** Of the cases that have no parameters. */
    static final CaseParams FIXED_WINDOW = new CaseParams(Map.of("size", 100, "grace", 50));

    private static final CaseParams FIXED_SESSION = new CaseParams(Map.of("gap", 30, "grace", 40));

    private WindowCases() {}

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "(" + TIMES + "count(-close)?(-throttled)?)",
                (b, p, n) -> counts(p, timeWindowed(b, p).count()));
        registry.add(
                "window-tumbling-[-\\d]+g\\d+-longrun",
                (b, p, n) -> counts(p, timeWindowed(b, p).count(Materialized.as("w"))));
        registry.add(
                "cached-tumbling-count",
                (b, p, n) ->
                        counts(
                                FIXED_WINDOW,
                                timeWindowed(b, FIXED_WINDOW).count(Materialized.as("w"))));
        registry.add(
                TIMES + "(aggregate|headers-format)",
                (b, p, n) -> texts(p, appended(timeWindowed(b, p))));
        registry.add(
                TIMES + "inmemory",
                (b, p, n) ->
                        texts(
                                p,
                                timeWindowed(b, p)
                                        .aggregate(
                                                () -> "",
                                                (k, v, a) -> Values.append(a, v),
                                                Materialized.<String, String>as(
                                                                Stores.inMemoryWindowStore(
                                                                        "w",
                                                                        Duration.ofMillis(
                                                                                p.number("size")
                                                                                        + p.number(
                                                                                                "grace")),
                                                                        p.ms("size"),
                                                                        false))
                                                        .withKeySerde(Serdes.String())
                                                        .withValueSerde(Serdes.String()))));
        registry.add(
                TIMES + "reduce-close",
                (b, p, n) ->
                        texts(
                                p,
                                timeWindowed(b, p)
                                        .reduce((a, v) -> a + "+" + v, Materialized.as("w"))));
        registry.add(
                "window-unlimited",
                (b, p, n) ->
                        in(b).groupByKey()
                                .windowedBy(UnlimitedWindows.of().startOn(Instant.EPOCH))
                                .count()
                                .toStream()
                                .to("out", OutputSerdes.timeCounts(0)));
        registry.add(
                "window-tumbling-groupBy-table",
                (b, p, n) ->
                        timeWindowed(b, p)
                                .count()
                                .groupBy(
                                        (w, count) -> KeyValue.pair("w" + count % 2, w.key()),
                                        Grouped.with(Serdes.String(), Serdes.String()))
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> a + "+" + v,
                                        (k, v, a) -> a + "-" + v)
                                .toStream()
                                .to("out"));
        registry.add(
                "session-gap\\d+-g\\d+-count(-close)?",
                (b, p, n) ->
                        sessions(b, p).count().toStream().to("out", OutputSerdes.sessionCounts()));
        registry.add(
                "session-gap\\d+-g\\d+-aggregate(-close)?",
                (b, p, n) ->
                        sessions(b, p)
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> Values.append(a, v),
                                        (k, x, y) -> Values.merge(x, y),
                                        Materialized.as("s"))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
        registry.add(
                "cached-session-aggregate",
                (b, p, n) ->
                        sessions(b, FIXED_SESSION)
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> Values.append(a, v),
                                        (k, x, y) -> Values.merge(x, y),
                                        Materialized.as("s"))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
        registry.add(
                "session-gap\\d+-g\\d+-(inmemory|headers-format)",
                (b, p, n) ->
                        sessions(b, p)
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> Values.append(a, v),
                                        (k, x, y) -> Values.merge(x, y),
                                        Materialized.with(Serdes.String(), Serdes.String()))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
        registry.add(
                "session-gap\\d+-g\\d+-reduce(-close)?",
                (b, p, n) ->
                        sessions(b, p)
                                .reduce((a, v) -> a + "+" + v, Materialized.as("s"))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
    }

    static TimeWindows timeWindows(CaseParams params) {
        TimeWindows windows = TimeWindows.ofSizeAndGrace(params.ms("size"), params.ms("grace"));
        return params.has("advance") ? windows.advanceBy(params.ms("advance")) : windows;
    }

    static SlidingWindows slidingWindows(CaseParams params) {
        return SlidingWindows.ofTimeDifferenceAndGrace(
                params.ms("timeDifference"), params.ms("grace"));
    }

    static SessionWindows sessionWindows(CaseParams params) {
        return SessionWindows.ofInactivityGapAndGrace(params.ms("gap"), params.ms("grace"));
    }

    static TimeWindowedKStream<String, String> timeWindowed(
            StreamsBuilder builder, CaseParams params) {
        TimeWindowedKStream<String, String> windowed =
                params.has("timeDifference")
                        ? in(builder).groupByKey().windowedBy(slidingWindows(params))
                        : in(builder).groupByKey().windowedBy(timeWindows(params));
        return params.emitsOnClose()
                ? windowed.emitStrategy(EmitStrategy.onWindowClose())
                : windowed;
    }

    static SessionWindowedKStream<String, String> sessions(
            StreamsBuilder builder, CaseParams params) {
        SessionWindowedKStream<String, String> windowed =
                in(builder).groupByKey().windowedBy(sessionWindows(params));
        return params.emitsOnClose()
                ? windowed.emitStrategy(EmitStrategy.onWindowClose())
                : windowed;
    }

    static KTable<Windowed<String>, String> appended(TimeWindowedKStream<String, String> windowed) {
        return windowed.aggregate(
                () -> "",
                (k, v, a) -> Values.append(a, v),
                Materialized.<String, String, WindowStore<Bytes, byte[]>>as("w"));
    }

    /** What a windowed key on the wire is read with. */
    static long size(CaseParams params) {
        return params.number(params.has("timeDifference") ? "timeDifference" : "size");
    }

    static void counts(CaseParams params, KTable<Windowed<String>, Long> table) {
        table.toStream().to("out", OutputSerdes.timeCounts(size(params)));
    }

    static void texts(CaseParams params, KTable<Windowed<String>, String> table) {
        table.toStream().to("out", OutputSerdes.timeTexts(size(params)));
    }
}
