import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The real Java client, for tests: what it reads is what users see, whatever our own code believes.
 * One process serves many commands on many clusters: a line with tab-separated words comes in, the first of them the
 * properties of the cluster's clients (key=value, separated by the character 31), the second the command. Lines go out,
 * ended by "." alone or by "! " and a reason. Run by: java -cp LIBS KafkaTool.java
 */
public final class KafkaTool {
    private static final HexFormat HEX = HexFormat.of();
    private static final Duration POLL = Duration.ofMillis(200);
    /** Between two looks at a transaction. */
    private static final Duration LOOK = Duration.ofMillis(10);
    private static final Duration MARKED = Duration.ofSeconds(60);
    private static final String TRANSACTIONAL_ID = "transactional.id=";

    private final BufferedReader in;
    private final PrintStream out;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();
    /** Of producers that have ended a transaction. */
    private final Map<String, Admin> admins = new HashMap<>();
    /** Properties of the clients of the current command. */
    private String cluster = "";

    private KafkaTool(BufferedReader in, PrintStream out) {
        this.in = in;
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var bytes = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8);
        KafkaTool tool = new KafkaTool(in, out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                tool.run(line.split("\t", -1));
                out.println(".");
            } catch (Exception failure) {
                out.println("! " + failure.toString().replace('\n', ' '));
            }
            out.flush();
        }
        for (KafkaProducer<byte[], byte[]> producer : tool.producers.values()) producer.close(Duration.ZERO);
        System.exit(0);
    }

    private void run(String[] line) throws Exception {
        cluster = line[0];
        String[] words = Arrays.copyOfRange(line, 1, line.length);
        switch (words[0]) {
            case "read" -> read(words[1], words[2], Long.parseLong(words[3]));
            case "offsets" -> offsets(words[1]);
            case "allow" -> allow(words[1], words[2], words[3], words[4], Arrays.copyOfRange(words, 5, words.length));
            case "disallow" -> disallow(words[1], words[2], words[3], words[4]);
            case "quota" -> quota(words[1], words[2], words[3]);
            case "feature" -> feature(words[1], Short.parseShort(words[2]));
            case "begin" -> producer(words[1]).beginTransaction();
            case "write" -> write(words[1], words[2], Integer.parseInt(words[3]));
            case "commit" -> end(words[1], true);
            case "abort" -> end(words[1], false);
            case "close" -> close(words[1]);
            default -> throw new IllegalArgumentException("no such command: " + words[0]);
        }
    }

    /** Ends a transaction and waits for its markers: a coordinator answers before it writes them. */
    private void end(String name, boolean commits) throws Exception {
        if (commits) producer(name).commitTransaction();
        else producer(name).abortTransaction();
        String id = Arrays.stream(name.split(";"))
            .filter(setting -> setting.startsWith(TRANSACTIONAL_ID))
            .map(setting -> setting.substring(TRANSACTIONAL_ID.length()))
            .findFirst().orElseThrow();
        Admin admin = admins.computeIfAbsent(cluster + name, key -> Admin.create(copy()));
        long deadline = System.nanoTime() + MARKED.toNanos();
        for (TransactionState state = null; state == null || isBeingMarked(state); ) {
            if (System.nanoTime() > deadline) throw new IllegalStateException("not marked in time: " + id + " is " + state);
            if (state != null) Thread.sleep(LOOK.toMillis());
            state = admin.describeTransactions(List.of(id)).description(id).get().state();
        }
    }

    private static boolean isBeingMarked(TransactionState state) {
        return state == TransactionState.PREPARE_COMMIT || state == TransactionState.PREPARE_ABORT;
    }

    private void close(String name) {
        producers.remove(cluster + name).close(Duration.ofSeconds(10));
        Admin admin = admins.remove(cluster + name);
        if (admin != null) admin.close();
    }

    /** All partitions from their beginnings to the ends that stand when it starts: last stable offset or high watermark. */
    private void read(String topic, String isolation, long timeoutMs) {
        Properties properties = copy();
        properties.put("isolation.level", isolation);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "none");
        properties.put("max.poll.records", "10000");
        long deadline = System.nanoTime() + timeoutMs * 1_000_000;
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (PartitionInfo info : consumer.partitionsFor(topic)) {
                partitions.add(new TopicPartition(topic, info.partition()));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions));
            ends.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
            while (!ends.isEmpty()) {
                if (System.nanoTime() > deadline) throw new IllegalStateException("not read to the end in time: " + ends);
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) print(record);
                ends.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
            }
        }
    }

    private void print(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder line = new StringBuilder(128);
        line.append("{\"partition\":").append(record.partition());
        line.append(",\"offset\":").append(record.offset());
        line.append(",\"timestamp\":").append(record.timestamp());
        line.append(",\"key\":").append(hex(record.key()));
        line.append(",\"value\":").append(hex(record.value()));
        line.append(",\"headers\":[");
        String separator = "";
        for (Header header : record.headers()) {
            line.append(separator).append('[').append(text(header.key())).append(',').append(hex(header.value())).append(']');
            separator = ",";
        }
        out.println(line.append("]}"));
    }

    /** Every committed offset of a group, with its metadata. */
    private void offsets(String group) throws Exception {
        try (Admin admin = Admin.create(copy())) {
            Map<TopicPartition, OffsetAndMetadata> committed =
                admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            Map<String, String> lines = new TreeMap<>();
            committed.forEach((partition, offset) -> {
                if (offset == null) return;
                lines.put(partition.toString(), "{\"topic\":" + text(partition.topic())
                    + ",\"partition\":" + partition.partition()
                    + ",\"offset\":" + offset.offset()
                    + ",\"leaderEpoch\":" + offset.leaderEpoch().map(String::valueOf).orElse("-1")
                    + ",\"metadata\":" + text(offset.metadata()) + "}");
            });
            lines.values().forEach(out::println);
        }
    }

    /** Lets a principal do some operations on a resource from every host. */
    private void allow(String principal, String type, String name, String pattern, String[] operations) throws Exception {
        ResourcePattern resource =
            new ResourcePattern(ResourceType.valueOf(type), name, PatternType.valueOf(pattern));
        List<AclBinding> bindings = new ArrayList<>();
        for (String operation : operations) {
            AclOperation allowed = AclOperation.valueOf(operation);
            bindings.add(new AclBinding(
                resource, new AccessControlEntry(principal, "*", allowed, AclPermissionType.ALLOW)));
        }
        try (Admin admin = Admin.create(copy())) {
            admin.createAcls(bindings).all().get();
        }
    }

    /** Sets a quota of a client id, or removes it where the value is "none". */
    private void quota(String clientId, String key, String value) throws Exception {
        ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, clientId));
        Double limit = value.equals("none") ? null : Double.valueOf(value);
        ClientQuotaAlteration.Op op = new ClientQuotaAlteration.Op(key, limit);
        try (Admin admin = Admin.create(copy())) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(op)))).all().get();
        }
    }

    /** Finalizes a feature of the cluster at a level, up or down. */
    private void feature(String name, short level) throws Exception {
        try (Admin admin = Admin.create(copy())) {
            Map<String, FinalizedVersionRange> finalized =
                admin.describeFeatures().featureMetadata().get().finalizedFeatures();
            FinalizedVersionRange now = finalized.get(name);
            FeatureUpdate.UpgradeType type = now != null && now.maxVersionLevel() > level
                ? FeatureUpdate.UpgradeType.SAFE_DOWNGRADE
                : FeatureUpdate.UpgradeType.UPGRADE;
            admin.updateFeatures(Map.of(name, new FeatureUpdate(level, type)), new UpdateFeaturesOptions()).all().get();
        }
    }

    /** Takes one allowed operation on a resource back. */
    private void disallow(String principal, String type, String name, String operation) throws Exception {
        ResourcePatternFilter resource =
            new ResourcePatternFilter(ResourceType.valueOf(type), name, PatternType.ANY);
        AccessControlEntryFilter entry = new AccessControlEntryFilter(
            principal, "*", AclOperation.valueOf(operation), AclPermissionType.ALLOW);
        try (Admin admin = Admin.create(copy())) {
            int deleted = admin.deleteAcls(List.of(new AclBindingFilter(resource, entry))).all().get().size();
            if (deleted != 1) throw new IllegalStateException(deleted + " rights taken back");
        }
    }

    /** Reads so many lines of tab-separated fields: partition or -1, timestamp or -1, key, value, headers. */
    private void write(String name, String topic, int count) throws Exception {
        List<String> lines = new ArrayList<>(count);
        for (int i = 0; i < count; i++) lines.add(in.readLine());
        KafkaProducer<byte[], byte[]> producer = producer(name);
        List<Future<RecordMetadata>> sent = new ArrayList<>(count);
        for (String line : lines) {
            String[] fields = line.split("\t", -1);
            int partition = Integer.parseInt(fields[0]);
            long timestamp = Long.parseLong(fields[1]);
            List<Header> headers = new ArrayList<>();
            for (int i = 4; i + 1 < fields.length; i += 2) {
                String key = new String(HEX.parseHex(fields[i]), StandardCharsets.UTF_8);
                headers.add(new RecordHeader(key, bytes(fields[i + 1])));
            }
            sent.add(producer.send(new ProducerRecord<>(
                topic, partition < 0 ? null : partition, timestamp < 0 ? null : timestamp,
                bytes(fields[2]), bytes(fields[3]), headers)));
        }
        producer.flush();
        for (Future<RecordMetadata> one : sent) {
            RecordMetadata metadata = one.get();
            out.println("{\"partition\":" + metadata.partition() + ",\"offset\":" + metadata.offset() + "}");
        }
    }

    /** A name is the producer's properties: key=value;key=value. With a transactional id it fences the one before it. */
    private KafkaProducer<byte[], byte[]> producer(String name) {
        KafkaProducer<byte[], byte[]> known = producers.get(cluster + name);
        if (known != null) return known;
        Properties properties = copy();
        boolean transactional = false;
        for (String setting : name.split(";")) {
            int equals = setting.indexOf('=');
            if (equals < 0) continue;
            properties.put(setting.substring(0, equals), setting.substring(equals + 1));
            transactional |= setting.startsWith(TRANSACTIONAL_ID);
        }
        KafkaProducer<byte[], byte[]> made =
            new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        if (transactional) made.initTransactions();
        producers.put(cluster + name, made);
        return made;
    }

    private Properties copy() {
        Properties properties = new Properties();
        for (String setting : cluster.split("\u001f")) {
            int equals = setting.indexOf('=');
            properties.put(setting.substring(0, equals), setting.substring(equals + 1));
        }
        return properties;
    }

    private static byte[] bytes(String field) {
        return field.equals("null") ? null : HEX.parseHex(field);
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "null" : '"' + HEX.formatHex(bytes) + '"';
    }

    private static String text(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char one : value.toCharArray()) {
            if (one == '"' || one == '\\') quoted.append('\\').append(one);
            else if (one < ' ') quoted.append(String.format("\\u%04x", (int) one));
            else quoted.append(one);
        }
        return quoted.append('"').toString();
    }
}
