package millrace.golden;

import static millrace.golden.StatelessCases.in;
import static millrace.golden.TableCases.table;
import static millrace.golden.WindowCases.appended;
import static millrace.golden.WindowCases.counts;
import static millrace.golden.WindowCases.texts;
import static millrace.golden.WindowCases.timeWindowed;

import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.Windowed;

/** Results that are held back. */
final class SuppressCases {
    private SuppressCases() {}

    static void addTo(Topologies.Registry registry) {
        registry.add(
                "suppress-tumbling-g\\d+",
                (b, p, n) ->
                        texts(
                                p,
                                appended(timeWindowed(b, p))
                                        .suppress(
                                                Suppressed.untilWindowCloses(
                                                                BufferConfig.unbounded())
                                                        .withName("sup"))));
        registry.add(
                "suppress-(hopping|sliding)",
                (b, p, n) ->
                        counts(
                                p,
                                timeWindowed(b, p)
                                        .count()
                                        .suppress(
                                                Suppressed.untilWindowCloses(
                                                        BufferConfig.unbounded()))));
        registry.add(
                "suppress-session",
                (b, p, n) ->
                        WindowCases.sessions(b, p)
                                .aggregate(
                                        () -> "",
                                        (k, v, a) -> Values.append(a, v),
                                        (k, x, y) -> Values.merge(x, y),
                                        Materialized.as("s"))
                                .suppress(
                                        Suppressed.untilWindowCloses(BufferConfig.unbounded())
                                                .withName("sup"))
                                .toStream()
                                .to("out", OutputSerdes.sessionTexts()));
        registry.add(
                "suppress-timelimit-table",
                (b, p, n) ->
                        table(b).suppress(
                                        Suppressed.<String>untilTimeLimit(
                                                        p.ms("limit"), BufferConfig.unbounded())
                                                .withName("sup"))
                                .toStream()
                                .to("out"));
        registry.add(
                "suppress-timelimit-zero",
                (b, p, n) ->
                        table(b).suppress(
                                        Suppressed.untilTimeLimit(
                                                p.ms("limit"), BufferConfig.unbounded()))
                                .toStream()
                                .to("out"));
        registry.add(
                "suppress-timelimit-table-groupBy",
                (b, p, n) ->
                        TableCases.aggregated(
                                        TableCases.thirds(
                                                table(b).suppress(
                                                                Suppressed.<String>untilTimeLimit(
                                                                                p.ms("limit"),
                                                                                BufferConfig
                                                                                        .unbounded())
                                                                        .withName("sup"))))
                                .toStream()
                                .to("out"));
        registry.add(
                "suppress-timelimit-maxrecords",
                (b, p, n) ->
                        in(b).groupByKey()
                                .count(Materialized.as("c"))
                                .suppress(
                                        Suppressed.<String>untilTimeLimit(
                                                        p.ms("limit"),
                                                        BufferConfig.maxRecords(
                                                                p.number("maxRecords")))
                                                .withName("sup"))
                                .toStream()
                                .to("out", OutputSerdes.counts()));
        registry.add(
                "suppress-timelimit-windowed",
                (b, p, n) ->
                        counts(
                                p,
                                timeWindowed(b, p)
                                        .count()
                                        .suppress(
                                                Suppressed.<Windowed<String>>untilTimeLimit(
                                                                p.ms("limit"),
                                                                BufferConfig.unbounded())
                                                        .withName("sup"))));
        registry.add(
                "suppress-shutdown-when-full",
                (b, p, n) ->
                        counts(
                                p,
                                timeWindowed(b, p)
                                        .count()
                                        .suppress(
                                                Suppressed.untilWindowCloses(
                                                                BufferConfig.maxRecords(
                                                                                p.number(
                                                                                        "maxRecords"))
                                                                        .shutDownWhenFull())
                                                        .withName("sup"))));
        registry.add(
                "cached-off-commit-suppress",
                (b, p, n) ->
                        counts(
                                WindowCases.FIXED_WINDOW,
                                timeWindowed(b, WindowCases.FIXED_WINDOW)
                                        .count(Materialized.as("w"))
                                        .suppress(
                                                Suppressed.untilWindowCloses(
                                                                BufferConfig.unbounded())
                                                        .withName("sup"))));
    }
}
