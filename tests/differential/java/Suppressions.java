package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.groups;
import static oracle.Dsl.history;
import static oracle.Dsl.keyValue;
import static oracle.Dsl.sessionStore;
import static oracle.Dsl.sessionWindows;
import static oracle.Dsl.slidingWindows;
import static oracle.Dsl.storedTable;
import static oracle.Dsl.timeWindows;
import static oracle.Dsl.windowStore;
import static oracle.Dsl.write;
import static oracle.Dsl.writeWindowed;

import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.Windowed;

/** suppress until a window closes, until a time limit, and with bounded buffers. */
final class Suppressions {
    private Suppressions() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("suppress_tumbling", (b, p) -> writeWindowed(untilClosed(
            byKey(b, "in").windowedBy(timeWindows(p)).count(windowStore(p)))));
        catalog.dsl("suppress_hopping", (b, p) -> writeWindowed(untilClosed(
            byKey(b, "in").windowedBy(timeWindows(p)).reduce(Words::append, windowStore(p)))));
        catalog.dsl("suppress_sliding", (b, p) -> writeWindowed(untilClosed(
            byKey(b, "in").windowedBy(slidingWindows(p)).count(windowStore(p)))));
        catalog.dsl("suppress_session", (b, p) -> writeWindowed(untilClosed(
            byKey(b, "in").windowedBy(sessionWindows(p)).count(sessionStore(p)))));
        catalog.dsl("suppress_strict_full", (b, p) -> writeWindowed(byKey(b, "in")
            .windowedBy(timeWindows(p)).count(windowStore(p))
            .suppress(Suppressed.untilWindowCloses(BufferConfig.maxRecords(p.millis("max")).shutDownWhenFull()))));
        catalog.dsl("suppress_limit", (b, p) -> write(waiting(byKey(b, "in").count(keyValue("kv-agg")), p)));
        catalog.dsl("suppress_limit_table", (b, p) -> write(waiting(storedTable(b, "in"), p)));
        catalog.dsl("suppress_max_records", (b, p) -> write(bounded(storedTable(b, "in"), p)));
        catalog.dsl("suppress_windowed_limit", (b, p) -> writeWindowed(bounded(
            byKey(b, "in").windowedBy(timeWindows(p)).reduce(Words::append, windowStore(p)), p)));
        catalog.dsl("suppress_then_group", (b, p) -> write(history(groups(waiting(storedTable(b, "in"), p), p))));
        catalog.dsl("suppress_then_join", (b, p) -> write(
            waiting(storedTable(b, "left"), p).outerJoin(storedTable(b, "right"), Words::pair)));
    }

    private static <V> KTable<Windowed<String>, V> untilClosed(KTable<Windowed<String>, V> table) {
        return table.suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()));
    }

    private static <V> KTable<String, V> waiting(KTable<String, V> table, Params p) {
        return table.suppress(Suppressed.untilTimeLimit(p.duration("wait"), BufferConfig.unbounded()));
    }

    private static <K, V> KTable<K, V> bounded(KTable<K, V> table, Params p) {
        return table.suppress(Suppressed.untilTimeLimit(
            p.duration("wait"), BufferConfig.maxRecords(p.millis("max")).emitEarlyWhenFull()));
    }
}
