package millrace.golden;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random but reproducible inputs of a case: ties, late records, jumps in time, missing keys and values, headers. */
final class Inputs {
    private static final String[] FOREIGN_KEYS = {"w", "x", "y", "z", "none"};
    private static final long[] WALL_STEPS = {10, 50, 99, 100, 350, 400, 1000, 1001};

    private final String name;
    private final boolean cached;
    private final Random random;
    private final int length;
    private final List<String> topics;
    private final long base;

    /** What counts as near in the case's own times, in ms. */
    private final long scale;

    private final boolean wild;
    private final double headers;
    private final double nullValues;
    private final double deletions;

    Inputs(GoldenCase golden, int length, boolean wild) {
        this.name = golden.base();
        this.cached = !golden.commitsEveryRecord();
        this.random =
                new Random(
                        golden.name().hashCode() * 31L
                                + golden.seed() * 7919L
                                + golden.params().values().hashCode());
        this.length = length;
        this.topics = topicsOf(name);
        this.base =
                golden.seed() == 1
                        ? 0
                        : golden.seed() == 2 || cached || name.equals("misc-negative-timestamps")
                                ? 10_000
                                : 1_700_000_000_000L;
        this.scale = scaleOf(golden.params());
        this.wild = wild;
        this.headers =
                name.contains("headers")
                        ? 0.45
                        : name.matches(
                                                "stateless-.*|stjoin-(inner|left)|proc-(dedup-kv|forward.*)|misc-.*continue")
                                        || golden.seed() % 3 == 0
                                        || golden.name().matches("extra-.*headers-of-.*")
                                ? 0.2
                                : 0;
        this.nullValues =
                name.matches(
                                "(table|ttjoin|fkjoin|gtjoin|stjoin|versioned|extra-.*versioned|suppress-timelimit-(table|zero)|cached-table|misc-deser).*")
                        ? 0.18
                        : 0.06;
        this.deletions = name.matches("stateless-timestamp.*") ? 0 : 0.04;
    }

    private static List<String> topicsOf(String name) {
        if (name.matches("ssjoin-self.*")) return List.of("in");
        if (name.startsWith("ssjoin")) return List.of("left", "right");
        if (name.startsWith("stjoin")) return List.of("s", "t");
        if (name.startsWith("gtjoin")) return List.of("s", "g");
        if (name.equals("ttjoin-nested")) return List.of("l", "r", "t");
        if (name.matches("(ttjoin|fkjoin).*|cached-table-table-join|versioned-table-table-join"))
            return List.of("l", "r");
        if (name.matches("cogroup.*|misc-window-join-chain")) return List.of("a", "b");
        if (name.equals("misc-count-then-join")) return List.of("in", "q");
        if (name.equals("misc-table-sources-of-one-topic")) return List.of("in", "in2");
        if (name.matches("stateless-(merge|two-topics.*)")) return List.of("in1", "in2");
        return ExtraCases.topics(name);
    }

    private static long scaleOf(CaseParams params) {
        long most = 0;
        for (String each :
                List.of(
                        "size",
                        "gap",
                        "timeDifference",
                        "before",
                        "after",
                        "limit",
                        "historyRetention")) {
            if (params.has(each)) most = Math.max(most, params.number(each));
        }
        return most == 0 ? 80 : Math.max(most, 10);
    }

    List<Event> events() {
        List<Event> events = new ArrayList<>();
        long now = base;
        long step = Math.max(2, scale / 5);
        while (events.size() < length) {
            if (cached && random.nextInt(8) == 0) events.add(Event.commit());
            if (name.matches(".*throttled.*|proc-punctuate-wall.*") && random.nextInt(4) == 0)
                events.add(Event.advance(WALL_STEPS[random.nextInt(WALL_STEPS.length)]));
            long time = now;
            int kind = random.nextInt(20);
            if (kind < 6) time = Math.max(base, now - late());
            else if (kind == 6) time = Math.max(base, edge(now));
            else if (kind == 7) time = now;
            else if (kind == 8) time = now = now + jump();
            else time = now = now + random.nextLong(step);
            now = Math.max(now, time);
            events.add(record(topics.get(random.nextInt(topics.size())), time));
        }
        if (name.matches(
                ".*(window|session|sliding|join|cogroup|versioned|suppress|dedup|proc|cached).*")) {
            for (int i = 0; i < 2 * topics.size(); i++) {
                now += 7 * scale + random.nextLong(3 * scale);
                events.add(
                        Event.record(
                                topics.get(i % topics.size()),
                                "zz",
                                topics.contains("l")
                                                && name.matches("fkjoin.*|extra-versioned-fk.*")
                                        ? "x:7"
                                        : "7",
                                now,
                                List.of()));
            }
        }
        // What a commit sends to a repartition topic is in the cache behind it until the next.
        if (cached) for (int i = 0; i < 3; i++) events.add(Event.commit());
        return events;
    }

    private long late() {
        long far =
                wild
                        ? switch (random.nextInt(4)) {
                            case 0 -> scale / 4 + 1;
                            case 1 -> scale + 1;
                            case 2 -> 3 * scale;
                            default -> 8 * scale;
                        }
                        : random.nextInt(8) == 0 ? 3 * scale : scale;
        return random.nextLong(Math.max(1, far));
    }

    private long jump() {
        if (name.endsWith("-longrun"))
            return random.nextInt(3) == 0 ? 60_000 : random.nextLong(4 * scale);
        return random.nextLong(wild ? random.nextInt(3) == 0 ? 12 * scale : 3 * scale : 2 * scale)
                + 1;
    }

    /** A time at the edge of a window, or one beside it. */
    private long edge(long now) {
        return now / scale * scale - scale * random.nextInt(3) + random.nextInt(3) - 1;
    }

    private Event record(String topic, long time) {
        return Event.record(topic, key(topic), value(topic, time), time, headers());
    }

    private String key(String topic) {
        double nulls =
                name.matches("((st|ss)join|extra-versioned-st)-.*-grace") && topic.equals("s")
                        ? 0
                        : 0.05;
        if (name.endsWith("-grace") && topic.equals("s")) nulls = 0;
        if (random.nextDouble() < nulls) return null;
        return one(keys(topic));
    }

    private String[] keys(String topic) {
        if (name.startsWith("stateless-") && topic.equals("in"))
            return new String[] {"a", "b", "c", "dd", "é"};
        if (name.equals("proc-kv-store-range"))
            return new String[] {"a", "b", "bb", "c", "d", "e", "é", "Z"};
        if (name.matches("fkjoin.*|extra-versioned-fk.*") && topic.equals("r")) {
            return name.endsWith("with-key")
                    ? new String[] {"x", "y", "a", "b"}
                    : new String[] {"x", "y", "z"};
        }
        if (name.matches("(stjoin-.*-rekeyed|extra-(rekeyed|count-then|repartition).*)")
                && topic.matches("[tu]")) return new String[] {"k0", "k1", "k2"};
        if (name.matches("ssjoin-.*rekeyed.*") && topic.equals("right"))
            return new String[] {"k0", "k1"};
        if (name.matches("gtjoin-(inner|left)") && topic.equals("g"))
            return new String[] {"g0", "g1", "g2", "g3"};
        if (name.matches(".*longrun|suppress-(shutdown|.*maxrecords).*"))
            return new String[] {"a", "b", "c", "d", "e", "f"};
        if (name.startsWith("table")) return new String[] {"a", "b", "c", "d"};
        if (name.matches("(session|window-sliding|ssjoin|suppress-s[le]).*"))
            return new String[] {"a", "b"};
        // Keys of which one begins another: their order in a store with times is that of bytes.
        if (wild) return new String[] {"a", "b", "c", "ab", ""};
        return new String[] {"a", "b", "c"};
    }

    private String value(String topic, long time) {
        if (random.nextDouble() < nullValues) return null;
        if (random.nextDouble() < deletions) return "DEL";
        String number = String.valueOf(random.nextInt(100));
        if (name.equals("stateless-timestamp-extractor")) return time + ":" + number;
        if (name.matches("fkjoin.*|extra-versioned-fk.*") && topic.equals("l"))
            return one(FOREIGN_KEYS) + ":" + number;
        return number;
    }

    private List<String[]> headers() {
        if (random.nextDouble() >= headers) return List.of();
        List<String[]> all = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            all.add(
                    new String[] {
                        "h" + random.nextInt(2),
                        random.nextInt(8) == 0 ? null : "x" + random.nextInt(10)
                    });
        }
        return all;
    }

    private String one(String[] choices) {
        return choices[random.nextInt(choices.length)];
    }
}
