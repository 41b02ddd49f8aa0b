package oracle;

import static oracle.Words.number;

import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;

/** Topologies put together from sources, processors and sinks. */
final class Assemblies {
    private Assemblies() { }

    static void addTo(Catalog catalog) {
        catalog.assembled("assembled_chain", p -> new Topology()
            .addSource("numbers", "in")
            .addProcessor("even", () -> new Chooser(0, "big"), "numbers")
            .addProcessor("big", () -> new Chooser(1, null), "even")
            .addSink("all", "out-all", "even")
            .addSink("rest", (k, v, context) -> "out-" + number((String) v) % 2, "big"));
        catalog.assembled("assembled_store", p -> new Topology()
            .addSource("lefts", new StringDeserializer(), new StringDeserializer(), "left")
            .addSource("rights", "right")
            .addProcessor("keep", keeper("kv-p"), "lefts", "rights")
            .addProcessor("ask", keeper("kv-p"), "rights")
            .addStateStore(ProcessorApi.texts(p, "kv-p"), "keep", "ask")
            .addSink("kept", "out", new StringSerializer(), new StringSerializer(), "keep", "ask"));
        catalog.assembled("assembled_separate", p -> new Topology()
            .addSource("lefts", "left").addSink("lefts-out", "out-left", "lefts")
            .addSource("rights", "right").addSink("rights-out", "out-right", "rights"));
        catalog.assembled("assembled_read_only", p -> new Topology()
            .addReadOnlyStateStore(
                ProcessorApi.texts(p, "kv-ro"), "facts", new StringDeserializer(), new StringDeserializer(), "right",
                "facts-writer", () -> new Small.Writer("kv-ro"))
            .addSource("lefts", "left")
            .addProcessor("ask", () -> new Small.Lookup("kv-ro"), "lefts")
            .connectProcessorAndStateStores("ask", "kv-ro")
            .addSink("found", "out", "ask"));
    }

    private static ProcessorSupplier<String, String, String, String> keeper(String store) {
        return () -> new Keeper(store);
    }

    /** Even numbers go on; numbers above five go to the named child only. */
    private static final class Chooser extends ContextualProcessor<String, String, String, String> {
        private final int rest;
        private final String child;

        Chooser(int rest, String child) {
            this.rest = rest;
            this.child = child;
        }

        @Override
        public void process(Record<String, String> record) {
            int value = number(record.value());
            if (child != null && value > 5) {
                context().forward(record, child);
            } else if (value % 2 == rest || child == null) {
                context().forward(record);
            }
        }
    }

    /** Forwards the value the store held before. */
    private static final class Keeper extends ContextualProcessor<String, String, String, String> {
        private final String store;

        Keeper(String store) {
            this.store = store;
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() == null) {
                return;
            }
            KeyValueStore<String, String> rows = context().getStateStore(store);
            String before = rows.get(record.key());
            rows.put(record.key(), record.value());
            context().forward(record.withValue(Words.pair(before, record.value())));
        }
    }
}
