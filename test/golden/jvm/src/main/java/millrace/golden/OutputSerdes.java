package millrace.golden;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** Serdes of outputs. */
final class OutputSerdes {
    private OutputSerdes() {}

    static Produced<String, Long> counts() {
        return Produced.with(Serdes.String(), Serdes.Long());
    }

    static Produced<Windowed<String>, Long> timeCounts(long size) {
        return Produced.with(
                WindowedSerdes.timeWindowedSerdeFrom(String.class, size), Serdes.Long());
    }

    static Produced<Windowed<String>, String> timeTexts(long size) {
        return Produced.with(
                WindowedSerdes.timeWindowedSerdeFrom(String.class, size), Serdes.String());
    }

    static Produced<Windowed<String>, Long> sessionCounts() {
        return Produced.with(WindowedSerdes.sessionWindowedSerdeFrom(String.class), Serdes.Long());
    }

    static Produced<Windowed<String>, String> sessionTexts() {
        return Produced.with(
                WindowedSerdes.sessionWindowedSerdeFrom(String.class), Serdes.String());
    }
}
