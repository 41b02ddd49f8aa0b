package oracle;

import static oracle.Words.number;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/** Processors that act on time. */
final class Punctuators {
    private Punctuators() { }

    private static void say(ProcessorContext<String, String> context, String key, Object value, long now) {
        context.forward(new Record<>(key, value.toString(), now));
    }

    /** Sums by key, told at every punctuation of stream time. */
    static final class Totals extends ContextualProcessor<String, String, String, String> {
        private final Params p;
        private KeyValueStore<String, String> totals;

        Totals(Params p) {
            this.p = p;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            totals = context.getStateStore("kv-p");
            context.schedule(p.duration("interval"), PunctuationType.STREAM_TIME, this::tell);
        }

        private void tell(long now) {
            List<KeyValue<String, String>> rows = new ArrayList<>();
            try (KeyValueIterator<String, String> all = totals.all()) {
                all.forEachRemaining(rows::add);
            }
            for (KeyValue<String, String> row : rows) {
                say(context(), row.key, row.value + "@" + now, now);
                if (p.flag("clear")) {
                    totals.delete(row.key);
                }
            }
            say(context(), "tick", context().currentStreamTimeMs(), now);
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() != null) {
                totals.put(record.key(), Words.sum(totals.get(record.key()), record.value()));
            }
            if (number(record.value()) == 5) {
                context().forward(record.withValue("five"));
            }
        }
    }

    /** Counts records between two ticks of the wall clock. */
    static final class WallClock extends ContextualProcessor<String, String, String, String> {
        private final Params p;
        private int seen;

        WallClock(Params p) {
            this.p = p;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            context.schedule(p.duration("interval"), PunctuationType.WALL_CLOCK_TIME, now -> {
                say(context, "count", seen + "/" + context.currentSystemTimeMs(), now);
                seen = 0;
            });
        }

        @Override
        public void process(Record<String, String> record) {
            seen++;
        }
    }

    /** Two schedules on stream time, one of which cancels itself, and one on the wall clock. */
    static final class Several extends ContextualProcessor<String, String, String, String> {
        private final Params p;
        private Cancellable limited;
        private int left;

        Several(Params p) {
            this.p = p;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            super.init(context);
            left = p.number("cancel_after");
            context.schedule(p.duration("i1"), PunctuationType.STREAM_TIME, now -> say(context, "one", now, now));
            limited = context.schedule(p.duration("i2"), PunctuationType.STREAM_TIME, now -> {
                say(context, "two", now, now);
                left--;
                if (left == 0) {
                    limited.cancel();
                }
            });
            context.schedule(p.duration("i3"), PunctuationType.WALL_CLOCK_TIME, now -> say(context, "wall", now, now));
        }

        @Override
        public void process(Record<String, String> record) {
            context().forward(record);
        }
    }
}
