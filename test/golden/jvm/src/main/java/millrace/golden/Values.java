package millrace.golden;

/** The functions the cases are described by. */
final class Values {
    private Values() {}

    /** The number in a value; -1 for null and {@code DEL}. */
    static int num(String value) {
        return value == null || value.equals("DEL")
                ? -1
                : Integer.parseInt(value.substring(value.lastIndexOf(':') + 1));
    }

    static boolean even(String value) {
        return value != null && num(value) % 2 == 0;
    }

    static String pair(String left, String right) {
        return left + "/" + right;
    }

    /** Text is appended, {@code DEL} deletes. */
    static String append(String aggregate, String value) {
        return "DEL".equals(value) ? null : (aggregate == null ? "" : aggregate) + value + ";";
    }

    static String merge(String left, String right) {
        return left + "|" + right;
    }

    static String parity(String value) {
        return value == null ? "-" : String.valueOf(num(value) % 2);
    }

    /** The part before the colon; {@code none} is no key. */
    static String foreignKey(String value) {
        if (value == null) return null;
        String key = value.split(":", -1)[0];
        return key.equals("none") ? null : key;
    }
}
