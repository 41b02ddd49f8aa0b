package oracle;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Pieces many topologies share: sources, stores, windows and outputs.
 * The name of a store starts with its kind: kv-, win-, ses- or ver-.
 */
final class Dsl {
    private Dsl() { }

    // ---- sources
    static KStream<String, String> stream(StreamsBuilder builder, String topic) {
        return builder.stream(topic);
    }

    static KGroupedStream<String, String> byKey(StreamsBuilder builder, String topic) {
        return stream(builder, topic).groupByKey();
    }

    static KTable<String, String> plainTable(StreamsBuilder builder, String topic) {
        return builder.table(topic);
    }

    static KTable<String, String> storedTable(StreamsBuilder builder, String topic) {
        return builder.table(topic, keyValue("kv-" + topic));
    }

    static KTable<String, String> versionedTable(StreamsBuilder builder, Params p, String topic) {
        return builder.table(
            topic, Materialized.as(Stores.persistentVersionedKeyValueStore("ver-" + topic, p.duration("history"))));
    }

    /** A stored table, versioned when the request sets the flag. */
    static KTable<String, String> table(StreamsBuilder builder, Params p, String topic, String versionedFlag) {
        return p.flag(versionedFlag) ? versionedTable(builder, p, topic) : storedTable(builder, topic);
    }

    // ---- stores
    static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> keyValue(String store) {
        return Materialized.<String, V, KeyValueStore<Bytes, byte[]>>as(store).withKeySerde(Serdes.String());
    }

    static <V> Materialized<String, V, WindowStore<Bytes, byte[]>> windowStore(Params p) {
        return retained(Materialized.<String, V, WindowStore<Bytes, byte[]>>as("win-agg"), p);
    }

    static <V> Materialized<String, V, SessionStore<Bytes, byte[]>> sessionStore(Params p) {
        return retained(Materialized.<String, V, SessionStore<Bytes, byte[]>>as("ses-agg"), p);
    }

    private static <V, S extends StateStore> Materialized<String, V, S> retained(
            Materialized<String, V, S> m, Params p) {
        Materialized<String, V, S> keyed = m.withKeySerde(Serdes.String());
        return p.has("retain") ? keyed.withRetention(p.duration("retain")) : keyed;
    }

    // ---- windows
    static TimeWindows timeWindows(Params p) {
        TimeWindows windows = TimeWindows.ofSizeAndGrace(p.duration("size"), p.duration("grace"));
        return p.has("advance") ? windows.advanceBy(p.duration("advance")) : windows;
    }

    static SlidingWindows slidingWindows(Params p) {
        return SlidingWindows.ofTimeDifferenceAndGrace(p.duration("diff"), p.duration("grace"));
    }

    static SessionWindows sessionWindows(Params p) {
        return SessionWindows.ofInactivityGapAndGrace(p.duration("gap"), p.duration("grace"));
    }

    static JoinWindows joinWindows(Params p) {
        // before() and after() accept a negative span only after a start that is not negative
        long widest = Math.max(0, Math.max(p.millis("before"), p.millis("after")));
        return JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(widest), p.duration("grace"))
            .before(p.duration("before"))
            .after(p.duration("after"));
    }

    // ---- table aggregations
    /** Value 0 maps to nothing, value 9 to a null key, the others to one of a few groups. */
    static KGroupedTable<String, String> holedGroups(KTable<String, String> table, Params p) {
        return table.groupBy((key, value) -> switch (Words.number(value)) {
            case 0 -> null;
            case 9 -> KeyValue.pair(null, value);
            default -> KeyValue.pair(Words.bucket("g", value, p), value);
        });
    }

    static KGroupedTable<String, String> groups(KTable<String, String> table, Params p) {
        return table.groupBy((key, value) -> KeyValue.pair(Words.bucket("g", value, p), value));
    }

    static KGroupedTable<String, String> byLength(KTable<String, String> table) {
        return table.groupBy((key, value) -> KeyValue.pair("n" + value.length() % 2, value));
    }

    /** Adder and subtractor that write their history, so that every wrong old value shows. */
    static KTable<String, String> history(KGroupedTable<String, String> groups) {
        return groups.aggregate(
            () -> "0",
            (key, value, aggregate) -> Words.append(aggregate, value),
            (key, value, aggregate) -> Words.remove(aggregate, value),
            keyValue("kv-agg"));
    }

    // ---- outputs
    static <V> void write(KStream<String, V> stream, String topic) {
        stream.mapValues(value -> value == null ? null : value.toString()).to(topic);
    }

    static <V> void write(KStream<String, V> stream) {
        write(stream, "out");
    }

    static <V> void write(KTable<String, V> table) {
        write(table.toStream());
    }

    static <V> void write(KTable<String, V> table, String topic) {
        write(table.toStream(), topic);
    }

    static <V> void writeWindowed(KTable<Windowed<String>, V> table) {
        write(table.toStream((windowed, value) -> Words.windowKey(windowed)));
    }
}
