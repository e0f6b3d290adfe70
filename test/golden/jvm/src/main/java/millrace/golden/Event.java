package millrace.golden;

import java.util.List;

/** One event of a run: a record, a step of the wall clock or a commit. */
record Event(Kind kind, String topic, String key, String value, long time, List<String[]> headers) {
    /** What happens. */
    enum Kind {
        RECORD,
        ADVANCE,
        COMMIT
    }

    static Event record(
            String topic, String key, String value, long timestamp, List<String[]> headers) {
        return new Event(Kind.RECORD, topic, key, value, timestamp, headers);
    }

    static Event advance(long ms) {
        return new Event(Kind.ADVANCE, null, null, null, ms, List.of());
    }

    static Event commit() {
        return new Event(Kind.COMMIT, null, null, null, 0, List.of());
    }
}
