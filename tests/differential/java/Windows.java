package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.history;
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
import static oracle.Words.sum;
import static oracle.Words.sumOrNull;

import java.time.Instant;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.SessionWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.UnlimitedWindows;
import org.apache.kafka.streams.kstream.Windowed;

/** Windowed aggregations, each kind of window with each aggregation and both emit strategies. */
final class Windows {
    private Windows() { }

    static void addTo(Catalog catalog) {
        for (String what : List.of("count", "reduce", "aggregate")) {
            addStrategy(catalog, what, "", EmitStrategy.onWindowUpdate());
            addStrategy(catalog, what, "_close", EmitStrategy.onWindowClose());
        }
        catalog.dsl("unlimited_count", (b, p) -> writeWindowed(byKey(b, "in")
            .windowedBy(UnlimitedWindows.of().startOn(Instant.ofEpochMilli(p.millis("start"))))
            .count(windowStore(p))));
        catalog.dsl("tumbling_to_null", (b, p) -> writeWindowed(byKey(b, "in").windowedBy(timeWindows(p))
            .aggregate(() -> "10", (k, v, a) -> sumOrNull(a, v, p.number("mod")), windowStore(p))));
        catalog.dsl("session_to_null", (b, p) -> writeWindowed(byKey(b, "in").windowedBy(sessionWindows(p))
            .aggregate(
                () -> "1", (k, v, a) -> sumOrNull(a, v, p.number("mod")), (k, x, y) -> sum(x, y), sessionStore(p))));
        catalog.dsl("rekeyed_tumbling_count", (b, p) -> writeWindowed(stream(b, "in")
            .groupBy((k, v) -> v == null ? k : bucket("g", v, p)).windowedBy(timeWindows(p)).count(windowStore(p))));
        addDownstream(catalog);
    }

    private static void addStrategy(Catalog catalog, String what, String suffix, EmitStrategy emit) {
        for (String shape : List.of("tumbling", "hopping")) {
            catalog.dsl(shape + "_" + what + suffix, (b, p) -> writeWindowed(
                ofTime(byKey(b, "in").windowedBy(timeWindows(p)).emitStrategy(emit), what, p)));
        }
        catalog.dsl("sliding_" + what + suffix, (b, p) -> writeWindowed(
            ofTime(byKey(b, "in").windowedBy(slidingWindows(p)).emitStrategy(emit), what, p)));
        catalog.dsl("session_" + what + suffix, (b, p) -> writeWindowed(
            ofSessions(byKey(b, "in").windowedBy(sessionWindows(p)).emitStrategy(emit), what, p)));
    }

    private static KTable<Windowed<String>, ?> ofTime(
            TimeWindowedKStream<String, String> windowed, String what, Params p) {
        return switch (what) {
            case "count" -> windowed.count(windowStore(p));
            case "reduce" -> windowed.reduce(Words::append, windowStore(p));
            default -> windowed.aggregate(() -> "0", (k, v, a) -> append(a, v), Dsl.<String>windowStore(p));
        };
    }

    private static KTable<Windowed<String>, ?> ofSessions(
            SessionWindowedKStream<String, String> windowed, String what, Params p) {
        return switch (what) {
            case "count" -> windowed.count(sessionStore(p));
            case "reduce" -> windowed.reduce(Words::append, sessionStore(p));
            default -> windowed.aggregate(
                () -> "0", (k, v, a) -> append(a, v), (k, x, y) -> append(x, y), Dsl.<String>sessionStore(p));
        };
    }

    /** Windowed tables read by something else. */
    private static void addDownstream(Catalog catalog) {
        catalog.dsl("window_then_total", (b, p) -> write(windowedSums(byKey(b, "in"), p)
            .toStream((windowed, v) -> windowed.key()).groupByKey().reduce(Words::append, keyValue("kv-agg"))));
        catalog.dsl("window_group_table", (b, p) -> write(history(windowedSums(byKey(b, "in"), p)
            .groupBy((windowed, v) -> KeyValue.pair("w" + windowed.window().start(), v)))));
        catalog.dsl("session_group_table", Windows::regroupedSessions);
    }

    private static KTable<Windowed<String>, String> windowedSums(KGroupedStream<String, String> grouped, Params p) {
        return grouped.windowedBy(timeWindows(p)).reduce(Words::sum, windowStore(p));
    }

    private static void regroupedSessions(StreamsBuilder b, Params p) {
        write(history(byKey(b, "in").windowedBy(sessionWindows(p)).reduce(Words::sum, sessionStore(p))
            .groupBy((windowed, v) -> KeyValue.pair("k" + windowed.key(), v))));
    }
}
