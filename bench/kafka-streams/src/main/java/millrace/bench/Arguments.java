package millrace.bench;

import java.util.HashMap;
import java.util.Map;

/** Arguments of the form name=value. */
final class Arguments {
    private final Map<String, String> values = new HashMap<>();

    Arguments(String[] words) {
        for (String word : words) {
            int equals = word.indexOf('=');
            values.put(word.substring(0, equals), word.substring(equals + 1));
        }
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) throw new IllegalArgumentException("missing argument " + name);
        return value;
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name));
    }
}
