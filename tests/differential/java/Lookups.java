package oracle;

import static oracle.Dsl.keyValue;
import static oracle.Dsl.stream;
import static oracle.Dsl.table;
import static oracle.Dsl.versionedTable;
import static oracle.Dsl.write;
import static oracle.Words.number;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.ValueJoiner;

/** Streams that look up a table or a global table. */
final class Lookups {
    private static final ValueJoiner<String, String, String> PAIR = Words::pair;

    private Lookups() { }

    static void addTo(Catalog catalog) {
        for (boolean left : new boolean[] {false, true}) {
            String kind = left ? "left" : "inner";
            catalog.dsl("st_" + kind, (b, p) -> write(join(left, stream(b, "left"), table(b, p, "right", "rv"))));
            catalog.dsl("st_" + kind + "_filtered", (b, p) -> write(join(
                left,
                stream(b, "left"),
                table(b, p, "right", "rv").filter((k, v) -> number(v) % 3 != 0).mapValues(v -> v + "!"))));
            catalog.dsl("st_" + kind + "_rekeyed", (b, p) -> write(join(
                left,
                stream(b, "left").selectKey((k, v) -> number(v) == 0 ? null : k),
                table(b, p, "right", "rv"))));
            catalog.dsl("st_" + kind + "_grace", (b, p) -> withGrace(left, b, p));
            catalog.dsl("sg_" + kind, (b, p) -> global(left, b));
        }
    }

    static KStream<String, String> join(boolean left, KStream<String, String> stream, KTable<String, String> table) {
        return left ? stream.leftJoin(table, PAIR) : stream.join(table, PAIR);
    }

    private static void withGrace(boolean left, StreamsBuilder b, Params p) {
        KStream<String, String> stream = stream(b, "left");
        KTable<String, String> table = versionedTable(b, p, "right");
        Joined<String, String, String> joined =
            Joined.<String, String, String>as("j").withGracePeriod(p.duration("grace"));
        write(left ? stream.leftJoin(table, PAIR, joined) : stream.join(table, PAIR, joined));
    }

    private static void global(boolean left, StreamsBuilder b) {
        KStream<String, String> stream = stream(b, "left");
        GlobalKTable<String, String> table = b.globalTable("global", keyValue("kv-global"));
        write(left ? stream.leftJoin(table, Lookups::lookupKey, PAIR) : stream.join(table, Lookups::lookupKey, PAIR));
    }

    /** Null for 0, the record's own key for even values, one of three keys for odd ones. */
    static String lookupKey(String key, String value) {
        int number = number(value);
        if (number == 0) {
            return null;
        }
        return number % 2 == 0 ? key : "k" + number % 3;
    }
}
