package millrace.bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** What the JSON workload reads, and what it makes of it. */
@JsonIgnoreProperties(ignoreUnknown = true)
public final class Order {
    public String id;
    public String customer;
    public String status;
    public long cents;
    public long fee;

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ObjectReader ORDERS = MAPPER.readerFor(Order.class);
    private static final ObjectWriter PAYMENTS = MAPPER.writerFor(Payment.class);

    /** What is written for a paid order. */
    public record Payment(String id, String customer, long net) {}

    boolean paid() {
        return "paid".equals(status);
    }

    Payment payment() {
        return new Payment(id, customer, cents - fee);
    }

    static Order read(byte[] bytes) {
        try {
            return ORDERS.readValue(bytes);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static byte[] write(Payment payment) {
        try {
            return PAYMENTS.writeValueAsBytes(payment);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static Serde<Order> serde() {
        return Serdes.serdeFrom((topic, order) -> {
            throw new UnsupportedOperationException("orders are only read");
        }, (topic, bytes) -> read(bytes));
    }

    static Serde<Payment> paymentSerde() {
        return Serdes.serdeFrom((topic, payment) -> write(payment), (topic, bytes) -> {
            throw new UnsupportedOperationException("payments are only written");
        });
    }
}
