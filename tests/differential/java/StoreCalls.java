package oracle;

import static oracle.Words.number;
import static oracle.Words.show;
import static oracle.Words.windowKey;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** Processors that write to a store and forward what it then answers. */
final class StoreCalls {
    private StoreCalls() { }

    private abstract static class Caller extends ContextualProcessor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {
            if (record.key() != null) {
                context().forward(record.withValue(call(record.key(), record.value(), record.timestamp())));
            }
        }

        abstract String call(String key, String value, long timestamp);
    }

    static final class OfKeys extends Caller {
        @Override
        String call(String key, String value, long timestamp) {
            KeyValueStore<String, String> store = context().getStateStore("kv-p");
            return switch (number(value) % 6) {
                case 0 -> "del " + show(store.delete(key));
                case 1 -> "pia " + show(store.putIfAbsent(key, value));
                case 2 -> "rng " + rows(store.range(key, null));
                case 3 -> "rev " + rows(store.reverseAll());
                case 4 -> "rrg " + rows(store.reverseRange(null, key));
                default -> {
                    store.put(key, value);
                    yield "put " + store.get(key);
                }
            };
        }

        private static String rows(KeyValueIterator<String, String> iterator) {
            List<String> rows = new ArrayList<>();
            try (iterator) {
                iterator.forEachRemaining(row -> rows.add(row.key + "=" + row.value));
            }
            return String.join(" ", rows);
        }
    }

    static final class OfWindows extends Caller {
        private final Params p;

        OfWindows(Params p) {
            this.p = p;
        }

        @Override
        String call(String key, String value, long timestamp) {
            WindowStore<String, String> store = context().getStateStore("win-p");
            store.put(key, value, timestamp);
            long from = Math.max(0, timestamp - p.millis("look"));
            StringBuilder answer = new StringBuilder();
            try (WindowStoreIterator<String> rows = store.fetch(key, from, timestamp + p.millis("look"))) {
                rows.forEachRemaining(row -> answer.append(row.key).append('=').append(row.value).append(' '));
            }
            answer.append("| ");
            TreeSet<String> all = new TreeSet<>(); // the order between keys is the store's own affair
            try (KeyValueIterator<Windowed<String>, String> rows = store.fetchAll(from, timestamp)) {
                rows.forEachRemaining(row -> all.add(windowKey(row.key) + "=" + row.value + " "));
            }
            all.forEach(answer::append);
            if (!p.flag("dups")) {
                answer.append("| ").append(show(store.fetch(key, timestamp)));
            }
            return answer.toString().trim();
        }
    }

    static final class OfSessions extends Caller {
        private final Params p;

        OfSessions(Params p) {
            this.p = p;
        }

        @Override
        String call(String key, String value, long end) {
            SessionStore<String, String> store = context().getStateStore("ses-p");
            long start = Math.max(0, end - number(value) * p.millis("unit"));
            store.put(new Windowed<>(key, new SessionWindow(start, end)), value);
            StringBuilder answer = new StringBuilder();
            long look = p.millis("look");
            try (KeyValueIterator<Windowed<String>, String> rows =
                     store.findSessions(key, Math.max(0, end - look), end + look)) {
                rows.forEachRemaining(row -> answer.append(windowKey(row.key) + "=" + row.value + " "));
            }
            return answer + "| " + show(store.fetchSession(key, start, end));
        }
    }

    static final class OfVersions extends Caller {
        private final Params p;

        OfVersions(Params p) {
            this.p = p;
        }

        @Override
        String call(String key, String value, long timestamp) {
            VersionedKeyValueStore<String, String> store = context().getStateStore("ver-p");
            StringBuilder answer = new StringBuilder();
            if (number(value) == 9) {
                answer.append("del ").append(version(store.delete(key, timestamp)));
            } else {
                long validTo = store.put(key, value, timestamp);
                answer.append("put ").append(validTo == Long.MIN_VALUE ? "MIN" : String.valueOf(validTo));
            }
            long look = p.millis("look");
            for (long distance : new long[] {0, -1, 1, look, -look}) {
                answer.append(' ').append(version(store.get(key, Math.max(0, timestamp + distance))));
            }
            return answer + " latest " + version(store.get(key));
        }

        private static String version(VersionedRecord<String> found) {
            if (found == null) {
                return "none";
            }
            String until = found.validTo().map(end -> "-" + end).orElse("");
            return found.value() + "@" + found.timestamp() + until;
        }
    }
}
