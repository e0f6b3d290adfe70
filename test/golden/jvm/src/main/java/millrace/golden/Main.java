package millrace.golden;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.streams.errors.TopologyException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** Replays golden files, or makes new ones. */
public final class Main {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private Main() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "generate" -> generate(Options.of(args));
            case "replay" -> Replay.folder(Path.of(args[1]), args[2]);
            default -> throw new IllegalArgumentException("no command " + args[0]);
        }
    }

    /** What is to be made. */
    private record Options(
            Path folder, String cases, int firstSeed, int lastSeed, int length, boolean varied) {
        /** {@code generate <folder> <pattern of names> <first seed> <last seed> <events> [vary]}. */
        static Options of(String[] args) {
            boolean varied = args.length > 6 && args[6].equals("vary");
            return new Options(
                    Path.of(args[1]),
                    args[2],
                    Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]),
                    Integer.parseInt(args[5]),
                    varied);
        }
    }

    /** Writes a file for each case and seed; with {@code vary} for other parameters than the listed ones. */
    private static void generate(Options options) throws IOException {
        Files.createDirectories(options.folder);
        int count = 0;
        for (Catalog.Entry listed : Catalog.all()) {
            if (!listed.name().matches(options.cases)) continue;
            for (int seed = options.firstSeed; seed <= options.lastSeed; seed++) {
                Random random = new Random(listed.name().hashCode() * 17L + seed);
                Catalog.Entry entry = options.varied ? Catalog.varied(listed, random) : listed;
                if (options.varied && entry.params().equals(listed.params())) continue;
                if (generated(options, entry, seed)) count++;
            }
        }
        System.out.println(count + " files");
    }

    /** Whether Kafka Streams takes the topology; a few it refuses. */
    private static boolean generated(Options options, Catalog.Entry entry, int seed)
            throws IOException {
        GoldenCase golden = GoldenCase.named(entry.name(), seed, entry.params());
        List<Event> events = new Inputs(golden, options.length, seed > 3).events();
        String variant =
                options.varied ? "-v" + Integer.toHexString(entry.params().hashCode()) : "";
        Path file = options.folder.resolve(entry.name() + variant + "-s" + seed + ".json");
        try {
            MAPPER.writeValue(file.toFile(), new Run(golden, events, false).result());
            return true;
        } catch (TopologyException refused) {
            System.out.println(entry.name() + ": " + refused.getMessage());
            return false;
        }
    }
}
