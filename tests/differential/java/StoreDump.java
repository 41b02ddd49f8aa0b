package oracle;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;

/** The final content of the stores whose name tells their kind, as text; a stored timestamp follows an @. */
final class StoreDump {
    private final ObjectNode result;
    private final Set<String> keys;

    StoreDump(ObjectNode result, Set<String> keys) {
        this.result = result;
        this.keys = keys;
    }

    void add(Map<String, StateStore> stores) {
        new TreeMap<>(stores).forEach((name, store) -> {
            if (name.matches("(kv|win|ses|ver)-.*") && !name.endsWith("-buffer")) {
                addStore(result.putObject(name), store);
            }
        });
    }

    @SuppressWarnings("unchecked")
    private void addStore(ObjectNode rows, StateStore store) {
        // order matters: a store may implement several of these interfaces
        if (store instanceof VersionedKeyValueStore) {
            versions(rows, (VersionedKeyValueStore<String, String>) store);
        } else if (store instanceof SessionStore) {
            SessionStore<String, Object> sessions = (SessionStore<String, Object>) store;
            keys.forEach(key -> windows(rows, sessions.fetch(key)));
        } else if (store instanceof WindowStore) {
            windows(rows, ((WindowStore<String, Object>) store).all());
        } else if (store instanceof KeyValueStore) {
            try (KeyValueIterator<String, Object> all = ((KeyValueStore<String, Object>) store).all()) {
                all.forEachRemaining(row -> rows.put(row.key, text(row.value)));
            }
        }
    }

    private void versions(ObjectNode rows, VersionedKeyValueStore<String, String> store) {
        for (String key : keys) {
            VersionedRecord<String> latest = store.get(key);
            if (latest != null) {
                rows.put(key, latest.value() + "@" + latest.timestamp());
            }
        }
    }

    /** Rows of one window that keep duplicates stand in one line. */
    private static void windows(ObjectNode rows, KeyValueIterator<Windowed<String>, Object> iterator) {
        try (iterator) {
            while (iterator.hasNext()) {
                KeyValue<Windowed<String>, Object> row = iterator.next();
                String key = Words.windowKey(row.key);
                String before = rows.has(key) ? rows.get(key).asText() + " " : "";
                rows.put(key, before + text(row.value));
            }
        }
    }

    private static String text(Object value) {
        return value instanceof ValueAndTimestamp<?> stamped
            ? stamped.value() + "@" + stamped.timestamp()
            : String.valueOf(value);
    }
}
