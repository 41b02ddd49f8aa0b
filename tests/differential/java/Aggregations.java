package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.keyValue;
import static oracle.Dsl.sessionStore;
import static oracle.Dsl.sessionWindows;
import static oracle.Dsl.slidingWindows;
import static oracle.Dsl.stream;
import static oracle.Dsl.timeWindows;
import static oracle.Dsl.windowStore;
import static oracle.Dsl.write;
import static oracle.Dsl.writeWindowed;
import static oracle.Words.append;
import static oracle.Words.bucket;
import static oracle.Words.number;
import static oracle.Words.sumOrNull;

import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.KGroupedStream;

/** count, reduce, aggregate and cogroup of streams; cogroup also with windows. */
final class Aggregations {
    private Aggregations() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("count_by_key", (b, p) -> write(byKey(b, "in").count(keyValue("kv-agg"))));
        catalog.dsl("reduce_by_key", (b, p) -> write(byKey(b, "in").reduce(Words::append, keyValue("kv-agg"))));
        catalog.dsl("reduce_to_null", (b, p) -> write(
            byKey(b, "in").reduce((a, v) -> sumOrNull(a, v, p.number("mod")), keyValue("kv-agg"))));
        catalog.dsl("aggregate_by_key", (b, p) -> write(
            byKey(b, "in").aggregate(() -> "0", (k, v, a) -> append(a, v), keyValue("kv-agg"))));
        catalog.dsl("aggregate_to_null", (b, p) -> write(
            byKey(b, "in").aggregate(() -> "10", (k, v, a) -> sumOrNull(a, v, p.number("mod")), keyValue("kv-agg"))));
        catalog.dsl("count_group_by", Aggregations::countGroups);
        catalog.dsl("select_key_reduce", (b, p) -> write(stream(b, "in")
            .filter((k, v) -> k != null)
            .selectKey((k, v) -> bucket("z", v, p))
            .groupByKey()
            .reduce(Words::append, keyValue("kv-agg"))));
        addCogroups(catalog);
    }

    private static void countGroups(StreamsBuilder b, Params p) {
        write(stream(b, "in").groupBy((k, v) -> {
            if (v == null) {
                return k;
            }
            return number(v) == 0 ? null : bucket("g", v, p);
        }).count(keyValue("kv-agg")));
    }

    private static void addCogroups(Catalog catalog) {
        catalog.dsl("cogroup", (b, p) -> write(byKey(b, "left")
            .<String>cogroup((k, v, a) -> a + "-" + v)
            .cogroup(byKey(b, "right"), (k, v, a) -> number(v) == 0 ? null : a + "+" + v)
            .aggregate(() -> "", keyValue("kv-agg"))));
        catalog.dsl("cogroup_rekeyed", (b, p) -> write(
            both(stream(b, "left").groupBy((k, v) -> v == null ? null : bucket("g", v, p)), byKey(b, "right"))
                .aggregate(() -> "", keyValue("kv-agg"))));
        catalog.dsl("cogroup_tumbling", (b, p) -> writeWindowed(
            both(byKey(b, "left"), byKey(b, "right")).windowedBy(timeWindows(p)).aggregate(() -> "", windowStore(p))));
        catalog.dsl("cogroup_sliding", (b, p) -> writeWindowed(
            both(byKey(b, "left"), byKey(b, "right")).windowedBy(slidingWindows(p))
                .aggregate(() -> "", windowStore(p))));
        catalog.dsl("cogroup_session", (b, p) -> writeWindowed(
            both(byKey(b, "left"), byKey(b, "right")).windowedBy(sessionWindows(p))
                .aggregate(() -> "", (k, one, two) -> "[" + one + "|" + two + "]", sessionStore(p))));
    }

    private static CogroupedKStream<String, String> both(
            KGroupedStream<String, String> left, KGroupedStream<String, String> right) {
        return left.<String>cogroup((k, v, a) -> a + "-" + v).cogroup(right, (k, v, a) -> a + "+" + v);
    }
}
