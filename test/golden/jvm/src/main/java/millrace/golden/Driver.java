package millrace.golden;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.StreamTask;

import java.io.Closeable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;

/**
 * TopologyTestDriver, step by step: it shows every record in the order of the producer's sends over all topics, and can
 * leave the commits to its caller. The steps are those of the driver's own private methods.
 */
final class Driver implements Closeable {
    private final TopologyTestDriver driver;
    private final MockProducer<byte[], byte[]> producer;
    private final StreamTask task;
    private final Time clock;
    private final boolean commitsEveryRecord;
    private final Consumer<ProducerRecord<byte[], byte[]>> sent;

    Driver(
            Topology topology,
            Properties properties,
            long wallClock,
            boolean commitsEveryRecord,
            Consumer<ProducerRecord<byte[], byte[]>> sent) {
        this.driver = new TopologyTestDriver(topology, properties, Instant.ofEpochMilli(wallClock));
        this.producer = field("producer");
        this.task = field("task");
        this.clock = field("mockWallClockTime");
        this.commitsEveryRecord = commitsEveryRecord;
        this.sent = sent;
    }

    void pipe(Event event) {
        byte[] key = bytes(event.key());
        byte[] value = bytes(event.value());
        Headers headers = new RecordHeaders();
        for (String[] header : event.headers()) headers.add(header[0], bytes(header[1]));
        Object input =
                call(
                        "getInputTopicOrPatternPartition",
                        new Class<?>[] {String.class},
                        event.topic());
        if (input != null) {
            call(
                    "enqueueTaskRecord",
                    new Class<?>[] {
                        String.class,
                        TopicPartition.class,
                        long.class,
                        byte[].class,
                        byte[].class,
                        Headers.class
                    },
                    event.topic(),
                    input,
                    event.time(),
                    key,
                    value,
                    headers);
            drain();
        }
        Map<String, TopicPartition> globals = field("globalPartitionsByInputTopic");
        TopicPartition global = globals.get(event.topic());
        if (global != null) {
            call(
                    "processGlobalRecord",
                    new Class<?>[] {
                        TopicPartition.class, long.class, byte[].class, byte[].class, Headers.class
                    },
                    global,
                    event.time(),
                    key,
                    value,
                    headers);
        }
        if (input == null && global == null)
            throw new IllegalArgumentException("no source reads " + event.topic());
    }

    void advanceWallClock(long ms) {
        clock.sleep(ms);
        task.maybePunctuateSystemTime();
        if (commitsEveryRecord) commitTask();
        drain();
    }

    void commit() {
        commitTask();
        drain();
    }

    Map<String, StateStore> stores() {
        return driver.getAllStateStores();
    }

    private void drain() {
        capture();
        if (task == null) return;
        // Without these a task of several partitions would wait for the empty ones.
        task.resumePollingForPartitionsWithAvailableSpace();
        task.updateLags();
        while (task.hasRecordsQueued() && task.isProcessable(clock.milliseconds())) {
            task.process(clock.milliseconds());
            task.maybePunctuateStreamTime();
            if (commitsEveryRecord) commitTask();
            capture();
        }
    }

    private void commitTask() {
        Map<TopicPartition, OffsetAndMetadata> offsets = task.prepareCommit(true);
        call("commit", new Class<?>[] {Map.class}, offsets);
        task.postCommit(true);
    }

    private void capture() {
        List<ProducerRecord<byte[], byte[]>> history = producer.history();
        history.forEach(sent);
        call("captureOutputsAndReEnqueueInternalResults", new Class<?>[] {});
    }

    @Override
    public void close() {
        driver.close();
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    private <T> T field(String name) {
        try {
            Field field = TopologyTestDriver.class.getDeclaredField(name);
            field.setAccessible(true);
            return (T) field.get(driver);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object call(String name, Class<?>[] types, Object... args) {
        try {
            Method method = TopologyTestDriver.class.getDeclaredMethod(name, types);
            method.setAccessible(true);
            return method.invoke(driver, args);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) throw cause;
            if (e.getCause() instanceof Error cause) throw cause;
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
