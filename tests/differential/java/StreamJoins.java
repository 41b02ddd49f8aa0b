package oracle;

import static oracle.Dsl.joinWindows;
import static oracle.Dsl.stream;
import static oracle.Dsl.timeWindows;
import static oracle.Dsl.windowStore;
import static oracle.Dsl.write;
import static oracle.Dsl.writeWindowed;
import static oracle.Words.number;

import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;

/** Windowed joins of two streams. */
final class StreamJoins {
    private StreamJoins() { }

    static void addTo(Catalog catalog) {
        for (String kind : List.of("inner", "left", "outer")) {
            catalog.dsl("ss_" + kind, (b, p) -> write(
                join(kind, stream(b, "left"), stream(b, "right"), joinWindows(p))));
            catalog.dsl("ss_" + kind + "_rekeyed", (b, p) -> write(join(
                kind,
                stream(b, "left").selectKey((k, v) -> v != null && number(v) == 0 ? null : k),
                stream(b, "right").map(KeyValue::pair),
                joinWindows(p))));
        }
        catalog.dsl("ss_self", StreamJoins::withItself);
        catalog.dsl("ss_chain", StreamJoins::twice);
        catalog.dsl("ss_join_window_count", (b, p) -> writeWindowed(
            join("inner", stream(b, "left"), stream(b, "right"), joinWindows(p))
                .groupByKey().windowedBy(timeWindows(p)).count(windowStore(p))));
    }

    static KStream<String, String> join(
            String kind, KStream<String, String> left, KStream<String, String> right, JoinWindows windows) {
        return switch (kind) {
            case "inner" -> left.join(right, Words::pair, windows);
            case "left" -> left.leftJoin(right, Words::pair, windows);
            default -> left.outerJoin(right, Words::pair, windows);
        };
    }

    private static void withItself(StreamsBuilder b, Params p) {
        KStream<String, String> one = stream(b, "in");
        write(join("inner", one, one, joinWindows(p)));
    }

    private static void twice(StreamsBuilder b, Params p) {
        KStream<String, String> right = stream(b, "right");
        KStream<String, String> first = join(p.text("k1"), stream(b, "left"), right, joinWindows(p));
        write(join(p.text("k2"), first, right, joinWindows(p)));
    }
}
