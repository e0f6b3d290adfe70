package millrace.golden;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.errors.LogAndContinueExceptionHandler;
import org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler;
import org.apache.kafka.streams.processor.LogAndSkipOnInvalidTimestamp;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What one run is made of, apart from its inputs. */
record GoldenCase(
        String name,
        int seed,
        CaseParams params,
        Map<String, Object> config,
        Map<String, List<String>> serdes,
        long initialWallClock,
        boolean commitsEveryRecord) {
    private static final Map<String, Class<?>> CLASSES =
            Map.of(
                    "LogAndContinueExceptionHandler", LogAndContinueExceptionHandler.class,
                    "LogAndContinueProcessingExceptionHandler",
                            LogAndContinueProcessingExceptionHandler.class,
                    "LogAndSkipOnInvalidTimestamp", LogAndSkipOnInvalidTimestamp.class);
    private static final String EMIT_JOIN =
            "__emit.interval.ms.kstreams.outer.join.spurious.results.fix__";
    private static final String EMIT_WINDOW = "__emit.interval.ms.kstreams.windowed.aggregation__";

    /** Runs a listed case with another configuration. */
    private static final Pattern VARIANT =
            Pattern.compile("extra-(cached|optimized|headers|cachedheaders)-of-(.*)");

    /** The name of the topology: the case's, without what says how it is run. */
    String base() {
        return baseOf(name);
    }

    static String baseOf(String name) {
        Matcher match = VARIANT.matcher(name);
        return match.matches() ? match.group(2) : name;
    }

    private static String variantOf(String name) {
        Matcher match = VARIANT.matcher(name);
        return match.matches() ? match.group(1) : "";
    }

    /** A case with the configuration and serdes that belong to its name. */
    static GoldenCase named(String name, int seed, Map<String, Object> params) {
        CaseParams values = new CaseParams(params);
        String base = baseOf(name);
        String variant = variantOf(name);
        boolean cached = base.startsWith("cached-") || variant.startsWith("cached");
        Map<String, Object> config = configOf(base);
        if (variant.startsWith("cached")) config.put("statestore.cache.max.bytes", 10_485_760);
        if (variant.endsWith("headers")) config.put("dsl.store.format", "headers");
        if (variant.equals("optimized")) config.put("topology.optimization", "all");
        return new GoldenCase(
                name,
                seed,
                values,
                config,
                serdesOf(base, values),
                base.endsWith("-wall0") ? 0 : 1_000_000,
                !cached);
    }

    private static Map<String, Object> configOf(String name) {
        Map<String, Object> config = new HashMap<>();
        config.put("application.id", "app");
        config.put(
                "statestore.cache.max.bytes",
                name.startsWith("cached-") && !name.contains("-off-") ? 10_485_760 : 0);
        if (name.contains("-close") && !name.contains("throttled")) config.put(EMIT_WINDOW, 0);
        if (name.startsWith("ssjoin-") && !name.contains("throttled") && !name.contains("-self-"))
            config.put(EMIT_JOIN, 0);
        if (name.endsWith("-headers-format")) config.put("dsl.store.format", "headers");
        if (name.endsWith("-optimized")) config.put("topology.optimization", "all");
        if (name.matches("agg-count-(rocksDB|in_memory)"))
            config.put("default.dsl.store", name.substring("agg-count-".length()));
        if (name.matches("(session|ssjoin)-.*-inmemory"))
            config.put("default.dsl.store", "in_memory");
        if (name.equals("stateless-timestamp-extractor"))
            config.put("default.timestamp.extractor", "LogAndSkipOnInvalidTimestamp");
        if (name.matches("misc-.*-exception-continue")) {
            boolean processing = name.contains("processing");
            config.put(
                    processing
                            ? "processing.exception.handler"
                            : "deserialization.exception.handler",
                    processing
                            ? "LogAndContinueProcessingExceptionHandler"
                            : "LogAndContinueExceptionHandler");
            config.put("errors.dead.letter.queue.topic.name", "dlq");
        }
        return config;
    }

    private static Map<String, List<String>> serdesOf(String name, CaseParams params) {
        boolean counts =
                name.matches(
                                "(?!extra-count-then).*count.*|.*-longrun|window-unlimited|suppress-(hopping|sliding|timelimit-maxrecords|timelimit-windowed|shutdown.*)"
                                    + "|cached-off-.*|misc-(word-count|names|window-join-chain)|agg-groupBy-aggregate-sum|extra-rekeyed-twice")
                        && !name.startsWith("ssjoin")
                        && !name.startsWith("misc-count");
        String key =
                name.matches("window-tumbling-groupBy-table")
                        ? "string"
                        : name.equals("window-unlimited")
                                ? "timeWindowed:0"
                                : name.matches(
                                                "(cached-(tumbling-count|off-.*)|misc-window-join-chain)")
                                        ? "timeWindowed:100"
                                        : name.matches("cached-session.*") || params.has("gap")
                                                ? "sessionWindowed"
                                                : name.startsWith("ssjoin")
                                                        ? "string"
                                                        : name.equals(
                                                                        "extra-sliding-suppress-session")
                                                                ? "timeWindowed:20"
                                                                : params.has("timeDifference")
                                                                        ? "timeWindowed:"
                                                                                + params.number(
                                                                                        "timeDifference")
                                                                        : params.has("size")
                                                                                ? "timeWindowed:"
                                                                                        + params
                                                                                                .number(
                                                                                                        "size")
                                                                                : "string";
        String value = counts ? "long" : "string";
        return key.equals("string") && value.equals("string")
                ? Map.of()
                : Map.of("out", List.of(key, value));
    }

    Properties properties() {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", "localhost:1");
        properties.put("default.key.serde", Serdes.StringSerde.class);
        properties.put("default.value.serde", Serdes.StringSerde.class);
        config.forEach(
                (key, value) ->
                        properties.put(
                                key,
                                CLASSES.getOrDefault(value, null) == null
                                        ? asProperty(value)
                                        : CLASSES.get(value)));
        return properties;
    }

    private static Object asProperty(Object value) {
        return value instanceof Number ? String.valueOf(value) : value;
    }
}
