package millrace.golden;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** Every case by the pattern of its name; numbers in names are parameters. */
final class Topologies {
    /** Adds a case to a builder. */
    interface Build {
        void accept(StreamsBuilder builder, CaseParams params, Consumer<String> note);
    }

    private static final Map<Pattern, Build> BUILDS = new HashMap<>();

    static {
        StatelessCases.addTo(Topologies::add);
        AggregateCases.addTo(Topologies::add);
        TableCases.addTo(Topologies::add);
        WindowCases.addTo(Topologies::add);
        SuppressCases.addTo(Topologies::add);
        JoinCases.addTo(Topologies::add);
        ProcessorCases.addTo(Topologies::add);
        MiscCases.addTo(Topologies::add);
        ExtraCases.addTo(Topologies::add);
    }

    private Topologies() {}

    /** Takes a pattern of whole names. */
    interface Registry {
        void add(String pattern, Build build);
    }

    private static void add(String pattern, Build build) {
        BUILDS.put(Pattern.compile(pattern), build);
    }

    static Topology build(GoldenCase golden, Consumer<String> note) {
        if (golden.base().equals("proc-forward-to-named-children"))
            return ProcessorCases.namedChildren();
        Build[] found =
                BUILDS.entrySet().stream()
                        .filter(entry -> entry.getKey().matcher(golden.base()).matches())
                        .map(Map.Entry::getValue)
                        .toArray(Build[]::new);
        if (found.length != 1)
            throw new IllegalArgumentException(found.length + " topologies for " + golden.name());
        StreamsBuilder builder = new StreamsBuilder();
        found[0].accept(builder, golden.params(), note);
        return builder.build(golden.properties());
    }
}
