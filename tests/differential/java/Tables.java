package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.groups;
import static oracle.Dsl.history;
import static oracle.Dsl.holedGroups;
import static oracle.Dsl.keyValue;
import static oracle.Dsl.plainTable;
import static oracle.Dsl.stream;
import static oracle.Dsl.table;
import static oracle.Dsl.write;
import static oracle.Words.difference;
import static oracle.Words.number;
import static oracle.Words.sum;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.ValueTransformerWithKey;
import org.apache.kafka.streams.processor.ProcessorContext;

/** Tables, their stateless operators and their aggregations. */
final class Tables {
    private Tables() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("table_source", (b, p) -> write(table(b, p, "in", "v")));
        catalog.dsl("to_table", (b, p) -> write(stream(b, "in").toTable(keyValue("kv-t"))));
        catalog.dsl("table_filter", (b, p) -> write(
            plainTable(b, "in").filter((k, v) -> number(v) % p.number("mod") == 0)));
        catalog.dsl("table_filter_store", (b, p) -> write(
            plainTable(b, "in").filter((k, v) -> number(v) % p.number("mod") == 0, keyValue("kv-f"))));
        catalog.dsl("table_filter_map", (b, p) -> write(
            table(b, p, "in", "v").filterNot((k, v) -> number(v) % p.number("mod") == 0).mapValues(v -> v + "!")));
        catalog.dsl("table_map_store", (b, p) -> write(plainTable(b, "in")
            .mapValues((k, v) -> number(v) % p.number("mod") == 0 ? null : k + v, keyValue("kv-m"))
            .filter((k, v) -> !v.isEmpty())));
        catalog.dsl("table_transform_values", (b, p) -> write(
            plainTable(b, "in").transformValues(() -> new CallCounter(p.number("mod")), keyValue("kv-tv"))));
        addAggregations(catalog);
    }

    private static void addAggregations(Catalog catalog) {
        catalog.dsl("table_group_agg", (b, p) -> write(history(holedGroups(table(b, p, "in", "v"), p))));
        catalog.dsl("table_group_agg_null", Tables::aggregateToNull);
        catalog.dsl("table_group_count", (b, p) -> write(
            holedGroups(table(b, p, "in", "v"), p).count(keyValue("kv-agg"))));
        catalog.dsl("table_group_reduce", (b, p) -> write(
            holedGroups(table(b, p, "in", "v"), p).reduce(Words::sum, Words::difference, keyValue("kv-agg"))));
        catalog.dsl("table_filter_group_agg", (b, p) -> write(history(holedGroups(
            table(b, p, "in", "v").filter((k, v) -> number(v) > 2).mapValues(v -> sum(v, "1")), p))));
        catalog.dsl("reduce_then_group", (b, p) -> write(history(groups(
            byKey(b, "in").reduce(Words::sum, keyValue("kv-1")), p))));
        catalog.dsl("count_then_group", (b, p) -> write(history(groups(
            byKey(b, "in").count(keyValue("kv-1")).mapValues(Words::show), p))));
    }

    private static void aggregateToNull(StreamsBuilder b, Params p) {
        write(holedGroups(table(b, p, "in", "v"), p).aggregate(
            () -> "0",
            (k, v, a) -> sum(a, v),
            (k, v, a) -> number(a) == number(v) ? null : difference(a, v),
            keyValue("kv-agg")));
    }

    /** Shows how often it was called, tombstones included. */
    private static final class CallCounter implements ValueTransformerWithKey<String, String, String> {
        private final int mod;
        private int calls;

        CallCounter(int mod) {
            this.mod = mod;
        }

        @Override
        public void init(ProcessorContext context) { }

        @Override
        public String transform(String key, String value) {
            calls++;
            boolean dropped = value != null && number(value) % mod == 0;
            return dropped ? null : value + "#" + calls;
        }

        @Override
        public void close() { }
    }
}
