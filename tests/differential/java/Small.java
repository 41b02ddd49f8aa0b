package oracle;

import org.apache.kafka.streams.kstream.ValueTransformerWithKey;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** The processors of topologies that are about the graph around them. */
final class Small {
    private Small() { }

    static final class Pass extends ContextualProcessor<String, String, String, String> {
        @Override
        public void process(Record<String, String> record) {
            context().forward(record);
        }
    }

    static final class Same extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> record) {
            context().forward(record);
        }
    }

    static final class Echo implements ValueTransformerWithKey<String, String, String> {
        @Override
        public void init(ProcessorContext context) { }

        @Override
        public String transform(String key, String value) {
            return value;
        }

        @Override
        public void close() { }
    }

    /** Keeps the last value of each key, as a table would. */
    static final class Writer extends ContextualProcessor<String, String, Void, Void> {
        private final String store;

        Writer(String store) {
            this.store = store;
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() != null) {
                KeyValueStore<String, String> rows = context().getStateStore(store);
                rows.put(record.key(), record.value());
            }
        }
    }

    /** Joins with the row of a store that another processor writes. */
    static final class Lookup extends ContextualProcessor<String, String, String, String> {
        private final String store;

        Lookup(String store) {
            this.store = store;
        }

        @Override
        public void process(Record<String, String> record) {
            ReadOnlyKeyValueStore<String, String> rows = context().getStateStore(store);
            context().forward(record.withValue(Words.pair(record.value(), found(rows, record.key()))));
        }
    }

    /** The same as Lookup, where the key cannot change. */
    static final class Reader extends ContextualFixedKeyProcessor<String, String, String> {
        private final String store;

        Reader(String store) {
            this.store = store;
        }

        @Override
        public void process(FixedKeyRecord<String, String> record) {
            ReadOnlyKeyValueStore<String, String> rows = context().getStateStore(store);
            context().forward(record.withValue(Words.pair(record.value(), found(rows, record.key()))));
        }
    }

    private static String found(ReadOnlyKeyValueStore<String, String> rows, String key) {
        return key == null ? null : rows.get(key);
    }
}
