package millrace.bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Consume, transform, produce in transactions, by the plain Java clients and with their defaults. */
public final class LoopContender {
    private static final Duration POLL = Duration.ofMillis(100);

    private LoopContender() {}

    public static void main(String[] words) {
        Arguments arguments = new Arguments(words);
        String output = arguments.text("output");
        boolean json = arguments.text("workload").equals("json");
        long commitNanos = arguments.number("commit") * 1_000_000L;
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(arguments);
             KafkaProducer<byte[], byte[]> producer = producer(arguments)) {
            producer.initTransactions();
            consumer.subscribe(List.of(arguments.text("input")));
            long openedAt = 0;
            while (true) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                if (!records.isEmpty() && offsets.isEmpty()) {
                    producer.beginTransaction();
                    openedAt = System.nanoTime();
                }
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (json) transform(producer, output, record);
                    else producer.send(new ProducerRecord<>(output, null, record.timestamp(), record.key(), record.value()));
                }
                records.nextOffsets().forEach(offsets::put);
                if (offsets.isEmpty() || System.nanoTime() - openedAt < commitNanos) continue;
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                producer.commitTransaction();
                offsets.clear();
            }
        }
    }

    private static void transform(KafkaProducer<byte[], byte[]> producer, String output, ConsumerRecord<byte[], byte[]> record) {
        Order order = Order.read(record.value());
        if (!order.paid()) return;
        producer.send(new ProducerRecord<>(output, null, record.timestamp(), record.key(), Order.write(order.payment())));
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Arguments arguments) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", arguments.text("bootstrap"));
        properties.put("group.id", arguments.text("application"));
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", false);
        properties.put("auto.offset.reset", "earliest");
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static KafkaProducer<byte[], byte[]> producer(Arguments arguments) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", arguments.text("bootstrap"));
        properties.put("transactional.id", arguments.text("application"));
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
