package millrace.golden;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** Runs the inputs of given files again: proof that the topologies here are those of the files. */
final class Replay {
    private static final List<String> COMPARED =
            List.of(
                    "params",
                    "config",
                    "serdes",
                    "topology",
                    "inputs",
                    "outputs",
                    "sideEffects",
                    "errorAtInput",
                    "stores",
                    "internalTopics",
                    "changelogs",
                    "changelogDigests");

    private Replay() {}

    /** Compares every file of a folder whose case has a name of the pattern; ends the process with 1 when one differs. */
    static void folder(Path folder, String pattern) throws IOException {
        List<Path> files;
        try (var all = Files.list(folder)) {
            files =
                    all.filter(path -> path.toString().matches(".*\\.json(\\.gz)?"))
                            .sorted()
                            .toList();
        }
        int same = 0;
        int count = 0;
        for (Path path : files) {
            JsonNode given = read(path);
            if (!given.path("case").asText().matches(pattern)) continue;
            count++;
            List<String> differences = differences(given);
            if (differences.isEmpty()) same++;
            else System.out.println(path.getFileName() + ": " + String.join("\n    ", differences));
        }
        System.out.println(same + " of " + count + " given files are the same");
        if (same < count) System.exit(1);
    }

    private static JsonNode read(Path path) throws IOException {
        try (InputStream file = Files.newInputStream(path)) {
            return Main.MAPPER.readTree(
                    path.toString().endsWith(".gz") ? new GZIPInputStream(file) : file);
        }
    }

    private static List<String> differences(JsonNode given) throws IOException {
        GoldenCase golden = caseOf(given);
        ObjectNode made = new Run(golden, eventsOf(given), given.has("changelogDigests")).result();
        List<String> differences = new ArrayList<>();
        for (String field : COMPARED) {
            // Written and read again, so that numbers are of one kind.
            JsonNode want = Main.MAPPER.readTree(String.valueOf(given.path(field)));
            JsonNode got = Main.MAPPER.readTree(String.valueOf(made.path(field)));
            if (!want.equals(got)) differences.add(field + first(want, got));
        }
        GoldenCase named = GoldenCase.named(golden.name(), golden.seed(), golden.params().values());
        if (!named.config().equals(golden.config()))
            differences.add("its name means the configuration " + named.config());
        if (!named.serdes().equals(golden.serdes()))
            differences.add("its name means the serdes " + named.serdes());
        if (named.initialWallClock() != golden.initialWallClock())
            differences.add("its name means another wall clock");
        if (named.commitsEveryRecord() != golden.commitsEveryRecord())
            differences.add("its name means other commits");
        return differences;
    }

    private static String first(JsonNode want, JsonNode got) {
        if (want.isArray() && got.isArray()) {
            for (int i = 0; i < Math.max(want.size(), got.size()); i++) {
                if (!want.path(i).equals(got.path(i)))
                    return "[" + i + "]: " + want.path(i) + " but " + got.path(i);
            }
        }
        return ": " + cut(want) + " but " + cut(got);
    }

    private static String cut(JsonNode node) {
        String text = String.valueOf(node);
        return text.length() > 400 ? text.substring(0, 400) + "…" : text;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> paramsOf(JsonNode given) {
        return Main.MAPPER.convertValue(given.get("params"), Map.class);
    }

    @SuppressWarnings("unchecked")
    private static GoldenCase caseOf(JsonNode given) {
        Map<String, Object> config =
                new HashMap<>(Main.MAPPER.convertValue(given.get("config"), Map.class));
        return new GoldenCase(
                given.get("case").asText(),
                given.get("seed").asInt(),
                new CaseParams(paramsOf(given)),
                config,
                Main.MAPPER.convertValue(given.get("serdes"), Map.class),
                given.get("initialWallClock").asLong(),
                given.get("commitMode").asText().startsWith("after"));
    }

    private static List<Event> eventsOf(JsonNode given) throws IOException {
        List<Event> events = new ArrayList<>();
        for (JsonNode input : given.get("inputs")) {
            switch (input.path("event").asText("")) {
                case "advanceWallClock" -> events.add(Event.advance(input.get("ms").asLong()));
                case "commit" -> events.add(Event.commit());
                default -> {
                    List<String[]> headers = new ArrayList<>();
                    for (JsonNode header : input.path("headers"))
                        headers.add(
                                new String[] {
                                    header.get(0).asText(),
                                    header.get(1).isNull() ? null : header.get(1).asText()
                                });
                    events.add(
                            Event.record(
                                    input.get("topic").asText(),
                                    input.get("key").textValue(),
                                    input.get("value").textValue(),
                                    input.get("timestamp").asLong(),
                                    headers));
                }
            }
        }
        return events;
    }
}
