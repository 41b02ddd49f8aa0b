package oracle;

import static oracle.Dsl.keyValue;
import static oracle.Dsl.stream;
import static oracle.Dsl.timeWindows;
import static oracle.Dsl.windowStore;
import static oracle.Dsl.write;
import static oracle.Dsl.writeWindowed;
import static oracle.Words.number;
import static oracle.Words.show;

import java.util.Objects;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/** Processors inside the DSL: punctuation, changed timestamps, and what the stores answer. */
final class ProcessorApi {
    private ProcessorApi() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("papi_stream_punct", (b, p) -> withStore(b, texts(p, "kv-p"), () -> new Punctuators.Totals(p)));
        catalog.dsl("papi_wall_punct", (b, p) -> write(stream(b, "in").process(() -> new Punctuators.WallClock(p))));
        catalog.dsl("papi_two_puncts", (b, p) -> write(stream(b, "in").process(() -> new Punctuators.Several(p))));
        catalog.dsl("papi_retime_window", (b, p) -> writeWindowed(stream(b, "in")
            .process(() -> new Retime(p.millis("shift")))
            .groupByKey().windowedBy(timeWindows(p)).count(windowStore(p))));
        catalog.dsl("papi_repeat_window", (b, p) -> writeWindowed(stream(b, "in")
            .processValues(() -> new Repeat(p.millis("shift")))
            .groupByKey().windowedBy(timeWindows(p)).reduce(Words::append, windowStore(p))));
        catalog.dsl("process_values", (b, p) -> {
            b.addStateStore(texts(p, "kv-p"));
            write(stream(b, "in").processValues(OnlyChanges::new, "kv-p").groupByKey().count(keyValue("kv-agg")));
        });
        catalog.dsl("papi_kv_ops", (b, p) -> withStore(b, texts(p, "kv-p"), StoreCalls.OfKeys::new));
        catalog.dsl("papi_window_store", (b, p) -> withStore(b, windows(p), () -> new StoreCalls.OfWindows(p)));
        catalog.dsl("papi_session_store", (b, p) -> withStore(b, sessions(p), () -> new StoreCalls.OfSessions(p)));
        catalog.dsl("papi_versioned_store", (b, p) -> withStore(b, versions(p), () -> new StoreCalls.OfVersions(p)));
    }

    private static void withStore(
            StreamsBuilder b, StoreBuilder<?> store, ProcessorSupplier<String, String, String, String> processor) {
        b.addStateStore(store);
        write(stream(b, "in").process(processor, store.name()));
    }

    static StoreBuilder<KeyValueStore<String, String>> texts(Params p, String name) {
        return Stores.keyValueStoreBuilder(
            p.inMemory() ? Stores.inMemoryKeyValueStore(name) : Stores.persistentKeyValueStore(name),
            Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> windows(Params p) {
        boolean duplicates = p.flag("dups");
        return Stores.windowStoreBuilder(
            p.inMemory()
                ? Stores.inMemoryWindowStore("win-p", p.duration("retention"), p.duration("size"), duplicates)
                : Stores.persistentWindowStore("win-p", p.duration("retention"), p.duration("size"), duplicates),
            Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> sessions(Params p) {
        return Stores.sessionStoreBuilder(
            p.inMemory()
                ? Stores.inMemorySessionStore("ses-p", p.duration("retention"))
                : Stores.persistentSessionStore("ses-p", p.duration("retention")),
            Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> versions(Params p) {
        return Stores.versionedKeyValueStoreBuilder(
            Stores.persistentVersionedKeyValueStore("ver-p", p.duration("history")), Serdes.String(), Serdes.String());
    }

    /** Moves each record back by its value; odd ones also give a copy that lies ahead. */
    private static final class Retime extends ContextualProcessor<String, String, String, String> {
        private final long shift;

        Retime(long shift) {
            this.shift = shift;
        }

        @Override
        public void process(Record<String, String> record) {
            int value = number(record.value());
            context().forward(record.withTimestamp(Math.max(0, record.timestamp() - value)));
            if (value % 2 == 1) {
                context().forward(record.withValue("0").withTimestamp(record.timestamp() + shift));
            }
        }
    }

    /** Forwards each record now, later and now again: several updates of one store within one record. */
    private static final class Repeat extends ContextualFixedKeyProcessor<String, String, String> {
        private final long shift;

        Repeat(long shift) {
            this.shift = shift;
        }

        @Override
        public void process(FixedKeyRecord<String, String> record) {
            context().forward(record);
            context().forward(record.withTimestamp(record.timestamp() + shift));
            context().forward(record.withValue(show(record.value()) + "!"));
        }
    }

    /** Forwards a value only when it differs from the last one of its key. */
    private static final class OnlyChanges extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> record) {
            if (record.key() == null) {
                context().forward(record.withValue("nokey"));
                return;
            }
            KeyValueStore<String, String> last = context().getStateStore("kv-p");
            String before = last.get(record.key());
            last.put(record.key(), record.value());
            if (!Objects.equals(before, record.value())) {
                context().forward(record.withValue(show(before) + ">" + show(record.value())));
            }
        }
    }
}
