package oracle;

import static oracle.Dsl.byKey;
import static oracle.Dsl.storedTable;
import static oracle.Dsl.stream;
import static oracle.Dsl.windowStore;
import static oracle.Dsl.write;
import static oracle.Words.number;

import java.time.Duration;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.TimeWindows;

/** Two applications as users write them: statistics of trades, and page views joined with profiles and searches. */
final class Examples {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private Examples() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("stock_stats", Examples::stockStats);
        catalog.dsl("clickstream", (b, p) -> {
            KStream<String, String> known = Lookups.join(true, stream(b, "views"), storedTable(b, "profiles"));
            JoinWindows later = JoinWindows.ofTimeDifferenceAndGrace(SECOND, p.duration("grace")).before(Duration.ZERO);
            write(StreamJoins.join("left", known, stream(b, "searches"), later));
        });
        catalog.dsl("clickstream_inner", (b, p) -> {
            JoinWindows near = JoinWindows.ofTimeDifferenceAndGrace(SECOND, p.duration("grace"));
            KStream<String, String> pairs = StreamJoins.join("inner", stream(b, "views"), stream(b, "searches"), near);
            write(Lookups.join(true, pairs, storedTable(b, "profiles")));
        });
    }

    private static void stockStats(StreamsBuilder b, Params p) {
        TimeWindows windows = TimeWindows.ofSizeAndGrace(SECOND.multipliedBy(5), p.duration("grace")).advanceBy(SECOND);
        write(byKey(b, "trades").windowedBy(windows)
            .aggregate(() -> "", (k, v, a) -> withTrade(a, v), Dsl.<String>windowStore(p))
            .toStream((windowed, v) -> Words.windowKey(windowed))
            .mapValues(Examples::stats));
    }

    /** The aggregate reads lowest|count|sum. */
    private static String withTrade(String aggregate, String price) {
        if (price == null) {
            return aggregate;
        }
        if (aggregate.isEmpty()) {
            return price + "|1|" + price;
        }
        String[] parts = aggregate.split("\\|");
        int lowest = Math.min(number(price), number(parts[0]));
        return lowest + "|" + (number(parts[1]) + 1) + "|" + (number(parts[2]) + number(price));
    }

    private static String stats(String aggregate) {
        if (aggregate == null || aggregate.isEmpty()) {
            return aggregate;
        }
        String[] parts = aggregate.split("\\|");
        return parts[0] + "," + parts[1] + "," + 100 * number(parts[2]) / number(parts[1]);
    }
}
