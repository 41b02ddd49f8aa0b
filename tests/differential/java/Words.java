package oracle;

import org.apache.kafka.streams.kstream.Windowed;

/** The functions users would write: text in, text out. functions.py holds the same ones. */
final class Words {
    private Words() { }

    static int number(String text) {
        return text == null ? 0 : Integer.parseInt(text);
    }

    static String show(Object value) {
        return String.valueOf(value);
    }

    static String pair(String left, String right) {
        return "(" + left + "," + right + ")";
    }

    static String append(String aggregate, String value) {
        return aggregate + "+" + value;
    }

    static String remove(String aggregate, String value) {
        return aggregate + "-" + value;
    }

    static String sum(String left, String right) {
        return String.valueOf(number(left) + number(right));
    }

    static String difference(String left, String right) {
        return String.valueOf(number(left) - number(right));
    }

    /** The sum, or null when it is a multiple of {@code mod}. */
    static String sumOrNull(String left, String right, int mod) {
        int sum = number(left) + number(right);
        return sum % mod == 0 ? null : String.valueOf(sum);
    }

    static String bucket(String prefix, String value, Params p) {
        return prefix + number(value) % p.number("mod");
    }

    static String windowKey(Windowed<String> windowed) {
        return windowed.key() + "@" + windowed.window().start() + "/" + windowed.window().end();
    }
}
