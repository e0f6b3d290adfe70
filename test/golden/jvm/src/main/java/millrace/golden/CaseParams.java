package millrace.golden;

import java.time.Duration;
import java.util.Map;

/** The parameters of a case. */
record CaseParams(Map<String, Object> values) {
    boolean has(String name) {
        return values.containsKey(name);
    }

    long number(String name) {
        if (values.get(name) instanceof Number number) return number.longValue();
        throw new IllegalArgumentException("the case has no number " + name);
    }

    Duration ms(String name) {
        return Duration.ofMillis(number(name));
    }

    String text(String name) {
        return String.valueOf(values.get(name));
    }

    boolean emitsOnClose() {
        return "onWindowClose".equals(values.get("emit"));
    }
}
