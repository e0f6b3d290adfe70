package millrace.golden;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The names of the cases and their parameters. */
final class Catalog {
    /** A name, and the parameters it goes with. */
    record Entry(String name, Map<String, Object> params) {}

    private static final String LISTED =
            """
stateless-filter {}
stateless-filterNot {}
stateless-map {}
stateless-mapValues {}
stateless-flatMap {}
stateless-flatMapValues {}
stateless-selectKey {}
stateless-split-default {}
stateless-split-nodefault-named {}
stateless-merge {}
stateless-peek-order {}
stateless-two-topics-dynamic-sink {}
stateless-timestamp-extractor {}
stateless-repartition {}
stateless-selectKey-repartition-count {}
agg-count-rocksDB {"store":"rocksDB"}
agg-count-in_memory {"store":"in_memory"}
agg-reduce {}
agg-aggregate {}
agg-aggregate-headers {}
agg-aggregate-headers-format {}
agg-groupBy-count {}
agg-groupBy-aggregate-sum {}
table-source-materialized {}
table-source-plain {}
table-source-optimized {}
table-filter {}
table-filter-materialized {}
table-filterNot-materialized {}
table-mapValues {}
table-mapValues-materialized {}
table-filter-mapValues-groupBy-count {}
table-groupBy-count {}
table-groupBy-aggregate {}
table-groupBy-aggregate-nullkey {}
table-groupBy-reduce {}
table-toTable {}
table-toTable-rekeyed {}
table-toStream-rekey {}
table-transformValues {}
window-tumbling-100-g0-count {"size":100,"advance":100,"grace":0,"emit":"onWindowUpdate"}
window-tumbling-100-g0-aggregate {"size":100,"advance":100,"grace":0,"emit":"onWindowUpdate"}
window-tumbling-100-g0-reduce-close {"size":100,"advance":100,"grace":0,"emit":"onWindowClose"}
window-tumbling-100-g50-count {"size":100,"advance":100,"grace":50,"emit":"onWindowUpdate"}
window-tumbling-100-g50-aggregate {"size":100,"advance":100,"grace":50,"emit":"onWindowUpdate"}
window-tumbling-100-g50-reduce-close {"size":100,"advance":100,"grace":50,"emit":"onWindowClose"}
window-hopping-100-30-g0-count {"size":100,"advance":30,"grace":0,"emit":"onWindowUpdate"}
window-hopping-100-30-g0-aggregate {"size":100,"advance":30,"grace":0,"emit":"onWindowUpdate"}
window-hopping-100-30-g0-reduce-close {"size":100,"advance":30,"grace":0,"emit":"onWindowClose"}
window-hopping-100-30-g40-count {"size":100,"advance":30,"grace":40,"emit":"onWindowUpdate"}
window-hopping-100-30-g40-aggregate {"size":100,"advance":30,"grace":40,"emit":"onWindowUpdate"}
window-hopping-100-30-g40-reduce-close {"size":100,"advance":30,"grace":40,"emit":"onWindowClose"}
window-hopping-60-25-g200-count {"size":60,"advance":25,"grace":200,"emit":"onWindowUpdate"}
window-hopping-60-25-g200-aggregate {"size":60,"advance":25,"grace":200,"emit":"onWindowUpdate"}
window-tumbling-100-g50-count-close-throttled {"size":100,"grace":50,"emit":"onWindowClose"}
window-hopping-100-30-g40-count-close {"size":100,"advance":30,"grace":40,"emit":"onWindowClose"}
window-tumbling-100-g50-inmemory {"size":100,"grace":50,"store":"inMemoryWindowStore(w, retention 150, size 100)"}
window-tumbling-100-g50-longrun {"size":100,"grace":50}
window-tumbling-100-g50-headers-format {"size":100,"grace":50}
window-unlimited {}
window-tumbling-groupBy-table {"size":100,"grace":50}
window-sliding-50-g0-count {"timeDifference":50,"grace":0,"emit":"onWindowUpdate"}
window-sliding-50-g0-aggregate {"timeDifference":50,"grace":0,"emit":"onWindowUpdate"}
window-sliding-50-g0-reduce-close {"timeDifference":50,"grace":0,"emit":"onWindowClose"}
window-sliding-50-g30-count {"timeDifference":50,"grace":30,"emit":"onWindowUpdate"}
window-sliding-50-g30-aggregate {"timeDifference":50,"grace":30,"emit":"onWindowUpdate"}
window-sliding-50-g30-reduce-close {"timeDifference":50,"grace":30,"emit":"onWindowClose"}
window-sliding-50-g100-count {"timeDifference":50,"grace":100,"emit":"onWindowUpdate"}
window-sliding-50-g100-aggregate {"timeDifference":50,"grace":100,"emit":"onWindowUpdate"}
window-sliding-50-g100-reduce-close {"timeDifference":50,"grace":100,"emit":"onWindowClose"}
window-sliding-10-g20-count {"timeDifference":10,"grace":20,"emit":"onWindowUpdate"}
session-gap30-g0-count {"gap":30,"grace":0,"emit":"onWindowUpdate"}
session-gap30-g0-aggregate {"gap":30,"grace":0,"emit":"onWindowUpdate"}
session-gap30-g0-reduce {"gap":30,"grace":0,"emit":"onWindowUpdate"}
session-gap30-g0-aggregate-close {"gap":30,"grace":0,"emit":"onWindowClose"}
session-gap30-g40-count {"gap":30,"grace":40,"emit":"onWindowUpdate"}
session-gap30-g40-aggregate {"gap":30,"grace":40,"emit":"onWindowUpdate"}
session-gap30-g40-reduce {"gap":30,"grace":40,"emit":"onWindowUpdate"}
session-gap30-g40-aggregate-close {"gap":30,"grace":40,"emit":"onWindowClose"}
session-gap50-g200-count {"gap":50,"grace":200,"emit":"onWindowUpdate"}
session-gap50-g200-aggregate {"gap":50,"grace":200,"emit":"onWindowUpdate"}
session-gap50-g200-reduce {"gap":50,"grace":200,"emit":"onWindowUpdate"}
session-gap50-g200-aggregate-close {"gap":50,"grace":200,"emit":"onWindowClose"}
session-gap30-g40-inmemory {"gap":30,"grace":40}
session-gap30-g40-headers-format {"gap":30,"grace":40}
suppress-tumbling-g0 {"size":100,"grace":0}
suppress-tumbling-g50 {"size":100,"grace":50}
suppress-hopping {"size":100,"advance":40,"grace":20}
suppress-sliding {"timeDifference":50,"grace":30}
suppress-session {"gap":30,"grace":40}
suppress-timelimit-table {"limit":50}
suppress-timelimit-table-groupBy {"limit":50}
suppress-timelimit-maxrecords {"limit":200,"maxRecords":3}
suppress-timelimit-zero {"limit":0}
suppress-timelimit-windowed {"size":100,"grace":50,"limit":60}
suppress-shutdown-when-full {"size":100,"grace":50,"maxRecords":4}
ssjoin-inner-50-50-g0 {"kind":"inner","before":50,"after":50,"grace":0}
ssjoin-inner-50-50-g30 {"kind":"inner","before":50,"after":50,"grace":30}
ssjoin-inner-20-60-g40 {"kind":"inner","before":20,"after":60,"grace":40}
ssjoin-left-50-50-g0 {"kind":"left","before":50,"after":50,"grace":0}
ssjoin-left-50-50-g30 {"kind":"left","before":50,"after":50,"grace":30}
ssjoin-left-20-60-g40 {"kind":"left","before":20,"after":60,"grace":40}
ssjoin-outer-50-50-g0 {"kind":"outer","before":50,"after":50,"grace":0}
ssjoin-outer-50-50-g30 {"kind":"outer","before":50,"after":50,"grace":30}
ssjoin-outer-20-60-g40 {"kind":"outer","before":20,"after":60,"grace":40}
ssjoin-left-throttled {"kind":"left","before":50,"after":50,"grace":30}
ssjoin-outer-throttled {"kind":"outer","before":50,"after":50,"grace":30}
ssjoin-left-throttled-wall0 {"kind":"left","before":50,"after":50,"grace":30}
ssjoin-outer-throttled-wall0 {"kind":"outer","before":50,"after":50,"grace":30}
ssjoin-inner-inmemory {"kind":"inner","before":50,"after":50,"grace":30}
ssjoin-outer-inmemory {"kind":"outer","before":50,"after":50,"grace":30}
ssjoin-self-inner {"kind":"inner self"}
ssjoin-self-inner-optimized {"kind":"inner self, optimized"}
ssjoin-outer-rekeyed-headers {"kind":"outer","before":50,"after":50,"grace":30}
ssjoin-outer-longrun {"kind":"outer","before":50,"after":50,"grace":30}
stjoin-inner {"kind":"inner"}
stjoin-inner-rekeyed {"kind":"inner"}
stjoin-inner-versioned-grace {"kind":"inner","historyRetention":200,"grace":50}
stjoin-inner-versioned {"kind":"inner","historyRetention":100}
stjoin-left {"kind":"left"}
stjoin-left-rekeyed {"kind":"left"}
stjoin-left-versioned-grace {"kind":"left","historyRetention":200,"grace":50}
stjoin-left-versioned-grace-nullkey {"kind":"left","historyRetention":200,"grace":50}
stjoin-left-versioned {"kind":"left","historyRetention":100}
ttjoin-inner {"kind":"inner","materialized":false}
ttjoin-inner-materialized {"kind":"inner","materialized":true}
ttjoin-inner-groupBy {"kind":"inner"}
ttjoin-left {"kind":"left","materialized":false}
ttjoin-left-materialized {"kind":"left","materialized":true}
ttjoin-left-groupBy {"kind":"left"}
ttjoin-outer {"kind":"outer","materialized":false}
ttjoin-outer-materialized {"kind":"outer","materialized":true}
ttjoin-outer-groupBy {"kind":"outer"}
ttjoin-nested {}
ttjoin-null-joiner {}
fkjoin-inner {"kind":"inner","materialized":false}
fkjoin-inner-materialized {"kind":"inner","materialized":true}
fkjoin-inner-with-key {"kind":"inner"}
fkjoin-left {"kind":"left","materialized":false}
fkjoin-left-materialized {"kind":"left","materialized":true}
fkjoin-left-with-key {"kind":"left"}
gtjoin-inner {"kind":"inner"}
gtjoin-inner-bykey {"kind":"inner"}
gtjoin-left {"kind":"left"}
gtjoin-left-bykey {"kind":"left"}
proc-dedup-kv {}
proc-dedup-window {}
proc-punctuate-stream-time {}
proc-punctuate-wall-clock {}
proc-forward-to-named-children {}
proc-timestamps-and-stream-time {}
proc-session-store {}
proc-window-store-duplicates {}
proc-kv-store-range {}
cogroup-plain {}
cogroup-tumbling {"size":100,"grace":50}
cogroup-sliding {"timeDifference":50,"grace":30}
cogroup-session {"gap":30,"grace":40}
cogroup-rekeyed {}
versioned-table {"historyRetention":100}
versioned-table-filter-groupBy {"historyRetention":100}
versioned-table-table-join {"historyRetention":100}
versioned-user-store {"historyRetention":100,"segmentInterval":50}
cached-aggregate {}
cached-tumbling-count {}
cached-session-aggregate {}
cached-table-groupBy {}
cached-table-table-join {}
cached-off-commit-suppress {}
misc-count-then-join {}
misc-word-count {}
misc-window-join-chain {}
misc-processing-exception-continue {}
misc-processing-exception-fail {}
misc-deserialization-exception-continue {}
misc-table-sources-of-one-topic {}
misc-negative-timestamps {}
misc-names {}
""";

    private Catalog() {}

    static List<Entry> listed() {
        List<Entry> entries = new ArrayList<>();
        for (String line : LISTED.strip().split("\n")) {
            int space = line.indexOf(' ');
            entries.add(new Entry(line.substring(0, space), parsed(line.substring(space + 1))));
        }
        return entries;
    }

    /** The listed cases, those outside the list, and all of them run with another configuration. */
    static List<Entry> all() {
        List<Entry> entries = listed();
        entries.addAll(ExtraCases.listed());
        List<Entry> variants = new ArrayList<>();
        for (String variant : List.of("cached", "optimized", "headers", "cachedheaders")) {
            for (Entry entry : entries)
                variants.add(new Entry("extra-" + variant + "-of-" + entry.name(), entry.params()));
        }
        entries.addAll(variants);
        return entries;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> parsed(String json) {
        try {
            return Main.MAPPER.readValue(json, LinkedHashMap.class);
        } catch (IOException e) {
            throw new IllegalArgumentException(json, e);
        }
    }

    /** The case with other numbers, in its parameters and in its name. */
    static Entry varied(Entry entry, Random random) {
        Map<String, Object> params = new LinkedHashMap<>(entry.params());
        String name = entry.name();
        if (params.containsKey("size"))
            params.put("size", pick(random, 1, 7, 10, 33, 60, 100, 250));
        int size = number(params, "size");
        if (params.containsKey("advance")) {
            boolean tumbling = entry.name().contains("tumbling");
            params.put(
                    "advance",
                    tumbling
                            ? size
                            : Math.max(
                                    1,
                                    pick(random, 1, size / 7, size / 3, size / 2, size - 1, size)));
            if (!tumbling && size / number(params, "advance") > 25)
                params.put("advance", Math.max(1, size / 20));
        }
        if (params.containsKey("timeDifference"))
            params.put("timeDifference", pick(random, 1, 2, 5, 20, 50, 120));
        if (params.containsKey("gap")) params.put("gap", pick(random, 1, 5, 20, 30, 75));
        if (params.containsKey("before")) params.put("before", pick(random, 0, 1, 10, 20, 50, 100));
        if (params.containsKey("after"))
            params.put(
                    "after",
                    pick(random, number(params, "before") == 0 ? 1 : 0, 1, 10, 20, 50, 100));
        if (params.containsKey("grace")) params.put("grace", pick(random, 0, 1, 10, 40, 100, 300));
        if (params.containsKey("limit") && !name.endsWith("-zero"))
            params.put("limit", pick(random, 1, 5, 30, 50, 150, 400));
        if (params.containsKey("maxRecords"))
            params.put("maxRecords", pick(random, 1, 2, 3, 5, 12));
        if (params.containsKey("historyRetention"))
            params.put("historyRetention", pick(random, 0, 1, 40, 100, 250, 1000));
        if (params.containsKey("segmentInterval"))
            params.put("segmentInterval", pick(random, 1, 10, 50, 400));
        if (name.contains("-grace") && number(params, "grace") > number(params, "historyRetention"))
            params.put("grace", number(params, "historyRetention"));
        if (params.containsKey("store")
                && params.get("store").toString().startsWith("inMemoryWindow")) {
            params.put(
                    "store",
                    "inMemoryWindowStore(w, retention "
                            + (size + number(params, "grace"))
                            + ", size "
                            + size
                            + ")");
        }
        return new Entry(renamed(name, params), params);
    }

    private static String renamed(String name, Map<String, Object> params) {
        String renamed =
                name.replaceFirst(
                                "-tumbling-\\d+-g\\d+",
                                "-tumbling-" + params.get("size") + "-g" + params.get("grace"))
                        .replaceFirst(
                                "-hopping-\\d+-\\d+-g\\d+",
                                "-hopping-"
                                        + params.get("size")
                                        + "-"
                                        + params.get("advance")
                                        + "-g"
                                        + params.get("grace"))
                        .replaceFirst(
                                "-sliding-\\d+-g\\d+",
                                "-sliding-"
                                        + params.get("timeDifference")
                                        + "-g"
                                        + params.get("grace"))
                        .replaceFirst(
                                "-gap\\d+-g\\d+",
                                "-gap" + params.get("gap") + "-g" + params.get("grace"))
                        .replaceFirst(
                                "suppress-tumbling-g\\d+",
                                "suppress-tumbling-g" + params.get("grace"));
        return name.startsWith("ssjoin-")
                ? renamed.replaceFirst(
                        "-\\d+-\\d+-g\\d+",
                        "-"
                                + params.get("before")
                                + "-"
                                + params.get("after")
                                + "-g"
                                + params.get("grace"))
                : renamed;
    }

    private static int number(Map<String, Object> params, String name) {
        return params.get(name) instanceof Number number ? number.intValue() : 0;
    }

    private static int pick(Random random, int... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
