package millrace.golden;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.Topology;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/** Runs a case over its inputs and writes all that came out. */
final class Run {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final HexFormat HEX = HexFormat.of();
    private static final long SAFE = (1L << 53) - 1;

    private final GoldenCase golden;
    private final List<Event> events;
    private final boolean digests;
    private final ArrayNode outputs = JSON.arrayNode();
    private final ArrayNode notes = JSON.arrayNode();
    private final ArrayNode internal = JSON.arrayNode();
    private final ArrayNode changelogs = JSON.arrayNode();
    private final Set<String> changelogKeys = new HashSet<>();
    private int input;

    Run(GoldenCase golden, List<Event> events, boolean digests) {
        this.golden = golden;
        this.events = events;
        this.digests = digests;
    }

    ObjectNode result() throws IOException {
        ObjectNode file = JSON.objectNode();
        file.put("case", golden.name());
        file.put("seed", golden.seed());
        file.put("group", golden.name().split("-")[0]);
        file.set("params", Main.MAPPER.valueToTree(golden.params().values()));
        file.set("config", Main.MAPPER.valueToTree(golden.config()));
        file.put("initialWallClock", golden.initialWallClock());
        file.put(
                "commitMode",
                golden.commitsEveryRecord()
                        ? "after every processed record"
                        : "only at {event:commit}");
        file.set("serdes", Main.MAPPER.valueToTree(golden.serdes()));
        Topology topology =
                Topologies.build(
                        golden,
                        note ->
                                notes.add(
                                        JSON.objectNode()
                                                .put("note", note)
                                                .put("afterInput", input)));
        ArrayNode description = file.putArray("topology");
        for (String line : topology.describe().toString().stripTrailing().split("\n"))
            description.add(
                    line.stripTrailing()
                            .replaceFirst(
                                    "extractor class: [^)]*", "extractor class: <user code>"));
        ArrayNode inputs = file.putArray("inputs");
        events.forEach(event -> inputs.add(rendered(event)));
        Path state = Files.createTempDirectory("golden-");
        try {
            Properties properties = golden.properties();
            properties.put("state.dir", state.toString());
            run(topology, properties, file);
        } finally {
            try (var files = Files.walk(state)) {
                files.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            }
        }
        return file;
    }

    private void run(Topology topology, Properties properties, ObjectNode file) {
        ObjectNode stores = JSON.objectNode();
        Exception failure = null;
        Driver driver =
                new Driver(
                        topology,
                        properties,
                        golden.initialWallClock(),
                        golden.commitsEveryRecord(),
                        this::take);
        try {
            for (input = 0; input < events.size(); input++) {
                try {
                    step(driver, events.get(input));
                } catch (RuntimeException e) {
                    failure = e;
                    break;
                }
            }
            if (failure == null)
                StoreRendering.render(
                        driver.stores(),
                        events,
                        changelogKeys,
                        !golden.commitsEveryRecord(),
                        stores);
        } finally {
            try {
                driver.close();
            } catch (RuntimeException e) {
                if (failure == null) throw e;
            }
        }
        file.set("outputs", outputs);
        if (!notes.isEmpty()) file.set("sideEffects", notes);
        if (failure != null) {
            Throwable root = failure;
            while (root.getCause() != null) root = root.getCause();
            file.put("error", root.toString());
            file.put("errorAtInput", input);
        }
        file.set("stores", stores);
        file.set("internalTopics", internal);
        if (digests) file.set("changelogDigests", digested());
        else file.set("changelogs", changelogs);
    }

    private static void step(Driver driver, Event event) {
        switch (event.kind()) {
            case RECORD -> driver.pipe(event);
            case ADVANCE -> driver.advanceWallClock(event.time());
            case COMMIT -> driver.commit();
        }
    }

    private static ObjectNode rendered(Event event) {
        ObjectNode node = JSON.objectNode();
        switch (event.kind()) {
            case ADVANCE -> node.put("event", "advanceWallClock").put("ms", event.time());
            case COMMIT -> node.put("event", "commit");
            case RECORD -> {
                node.put("topic", event.topic())
                        .put("key", event.key())
                        .put("value", event.value())
                        .put("timestamp", event.time());
                if (!event.headers().isEmpty()) {
                    ArrayNode headers = node.putArray("headers");
                    for (String[] header : event.headers())
                        headers.addArray().add(header[0]).add(header[1]);
                }
            }
        }
        return node;
    }

    private void take(ProducerRecord<byte[], byte[]> record) {
        if (record.topic().startsWith("app-")) {
            (record.topic().endsWith("-changelog") ? changelogs : internal).add(bytes(record));
            if (record.topic().endsWith("-changelog"))
                changelogKeys.add(new String(record.key(), StandardCharsets.UTF_8));
            return;
        }
        List<String> forms =
                golden.serdes().getOrDefault(record.topic(), List.of("string", "string"));
        ObjectNode node = JSON.objectNode().put("topic", record.topic());
        key(node, record.key(), forms.get(0));
        if (record.value() == null) node.putNull("value");
        else if (forms.get(1).equals("long"))
            number(node, "value", ByteBuffer.wrap(record.value()).getLong());
        else node.put("value", new String(record.value(), StandardCharsets.UTF_8));
        node.put("timestamp", record.timestamp());
        if (record.headers().toArray().length > 0) {
            ArrayNode headers = node.putArray("headers");
            for (Header header : record.headers()) {
                String text =
                        header.value() == null
                                ? null
                                : new String(header.value(), StandardCharsets.UTF_8);
                headers.addArray()
                        .add(header.key())
                        .add(
                                header.key().equals("__streams.errors.stacktrace")
                                        ? "<stacktrace>"
                                        : text);
            }
        }
        if (golden.seed() == 1 && !forms.get(0).equals("string"))
            node.put("keyHex", hex(record.key()));
        outputs.add(node.put("afterInput", input));
    }

    private static void key(ObjectNode node, byte[] key, String form) {
        if (key == null) {
            node.putNull("key");
        } else if (form.equals("string")) {
            node.put("key", new String(key, StandardCharsets.UTF_8));
        } else {
            boolean session = form.equals("sessionWindowed");
            ByteBuffer buffer = ByteBuffer.wrap(key);
            String inner =
                    new String(key, 0, key.length - (session ? 16 : 8), StandardCharsets.UTF_8);
            long start = buffer.getLong(key.length - 8);
            long end =
                    session
                            ? buffer.getLong(key.length - 16)
                            : start + Long.parseLong(form.split(":")[1]);
            ObjectNode windowed = node.putObject("key").put("key", inner);
            number(windowed, "start", start);
            number(windowed, "end", end);
        }
    }

    static void number(ObjectNode node, String name, long value) {
        if (Math.abs(value) <= SAFE) node.put(name, value);
        else node.put(name, String.valueOf(value));
    }

    static String hex(byte[] bytes) {
        return bytes == null ? null : HEX.formatHex(bytes);
    }

    private ObjectNode bytes(ProducerRecord<byte[], byte[]> record) {
        ObjectNode node =
                JSON.objectNode()
                        .put("topic", record.topic())
                        .put("keyHex", hex(record.key()))
                        .put("valueHex", hex(record.value()))
                        .put("timestamp", record.timestamp());
        if (record.headers().toArray().length > 0) {
            ArrayNode headers = node.putArray("headersHex");
            for (Header header : record.headers())
                headers.addArray().add(header.key()).add(hex(header.value()));
        }
        return node.put("afterInput", input);
    }

    private ObjectNode digested() {
        Map<String, StringBuilder> lines = new TreeMap<>();
        Map<String, Integer> counts = new TreeMap<>();
        for (var record : changelogs) {
            String topic = record.get("topic").asText();
            lines.computeIfAbsent(topic, any -> new StringBuilder())
                    .append(record.get("keyHex").asText("-"))
                    .append('|')
                    .append(record.get("valueHex").isNull() ? "-" : record.get("valueHex").asText())
                    .append('|')
                    .append(
                            record.get("timestamp").isNull()
                                    ? "-"
                                    : record.get("timestamp").asText())
                    .append('\n');
            counts.merge(topic, 1, Integer::sum);
        }
        ObjectNode node = JSON.objectNode();
        for (String topic : lines.keySet()) {
            byte[] sum =
                    sha256().digest(lines.get(topic).toString().getBytes(StandardCharsets.UTF_8));
            node.putObject(topic).put("count", counts.get(topic)).put("sha256", hex(sum));
        }
        return node;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
