package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.byLength;
import static oracle.Dsl.history;
import static oracle.Dsl.keyValue;
import static oracle.Dsl.plainTable;
import static oracle.Dsl.table;
import static oracle.Dsl.write;
import static oracle.Words.number;

import java.util.List;
import java.util.function.Function;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.ValueJoiner;

/** Joins of two tables, on the same key and on a foreign key. */
final class TableJoins {
    private static final ValueJoiner<String, String, String> PAIR = Words::pair;
    private static final Function<String, String> FOREIGN_KEY = TableJoins::foreignKey;

    private TableJoins() { }

    static void addTo(Catalog catalog) {
        for (String kind : List.of("inner", "left", "outer")) {
            addKind(catalog, kind);
        }
        addChains(catalog);
        for (boolean left : new boolean[] {false, true}) {
            addForeignKey(catalog, left);
        }
    }

    private static void addKind(Catalog catalog, String kind) {
        catalog.dsl("tt_" + kind, (b, p) -> write(join(kind, table(b, p, "left", "lv"), table(b, p, "right", "rv"))));
        catalog.dsl("tt_" + kind + "_filtered", (b, p) -> write(join(
            kind,
            table(b, p, "left", "lv").filter((k, v) -> number(v) % 3 != 0),
            table(b, p, "right", "rv").mapValues(v -> number(v) % 3 == 0 ? null : v + "!"))));
        catalog.dsl("tt_" + kind + "_group", (b, p) -> write(history(byLength(
            join(kind, table(b, p, "left", "lv"), table(b, p, "right", "rv"))))));
        catalog.dsl("tt_" + kind + "_store", (b, p) -> write(
            stored(kind, plainTable(b, "left"), plainTable(b, "right"))));
    }

    static KTable<String, String> join(String kind, KTable<String, String> left, KTable<String, String> right) {
        return switch (kind) {
            case "inner" -> left.join(right, PAIR);
            case "left" -> left.leftJoin(right, PAIR);
            default -> left.outerJoin(right, PAIR);
        };
    }

    private static KTable<String, String> stored(
            String kind, KTable<String, String> left, KTable<String, String> right) {
        return switch (kind) {
            case "inner" -> left.join(right, PAIR, keyValue("kv-j"));
            case "left" -> left.leftJoin(right, PAIR, keyValue("kv-j"));
            default -> left.outerJoin(right, PAIR, keyValue("kv-j"));
        };
    }

    private static void addChains(Catalog catalog) {
        catalog.dsl("tt_chain_same", (b, p) -> {
            KTable<String, String> right = plainTable(b, "right");
            write(join(p.text("k2"), join(p.text("k1"), plainTable(b, "left"), right), right));
        });
        catalog.dsl("tt_chain_third", (b, p) -> write(join(
            p.text("k2"), join(p.text("k1"), plainTable(b, "left"), plainTable(b, "right")), plainTable(b, "third"))));
        catalog.dsl("tt_of_counts", (b, p) -> write(join(
            p.text("k1"),
            byKey(b, "left").count(keyValue("kv-1")).mapValues(Words::show),
            byKey(b, "right").reduce(Words::append, keyValue("kv-2")))));
    }

    private static void addForeignKey(Catalog catalog, boolean left) {
        String kind = left ? "left" : "inner";
        catalog.dsl("fk_" + kind, (b, p) -> {
            KTable<String, String> one = table(b, p, "left", "lv");
            KTable<String, String> other = table(b, p, "right", "rv");
            write(left
                ? one.leftJoin(other, FOREIGN_KEY, PAIR, keyValue("kv-j"))
                : one.join(other, FOREIGN_KEY, PAIR, keyValue("kv-j")));
        });
        catalog.dsl("fk_" + kind + "_group", (b, p) -> {
            KTable<String, String> one = plainTable(b, "left");
            KTable<String, String> other = plainTable(b, "right");
            write(history(byLength(
                left ? one.leftJoin(other, FOREIGN_KEY, PAIR) : one.join(other, FOREIGN_KEY, PAIR))));
        });
    }

    /** What stands before the bar; the word null stands for no key. */
    static String foreignKey(String value) {
        String key = value.substring(0, value.indexOf('|'));
        return key.equals("null") ? null : key;
    }
}
