import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.FileReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The workloads with Kafka Streams.
 *
 * <p>Arguments: workload, input topic, output topic, file with Kafka Streams' settings, and two numbers of updates of the
 * table: after so many the warm-up is over, and after so many the application closes (0: it runs on). Closing makes
 * everything in the cache visible, which at least once would else wait up to 30 s for the next commit.
 */
public final class StreamsProgram {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final LongAdder UPDATES = new LongAdder();

    @JsonIgnoreProperties(ignoreUnknown = true)
    public static final class Trade {
        public String ticker;
        public double price;
        public long size;
    }

    public static final class Total {
        public long count;
        public double sum;
    }

    public static final class Stats {
        public double min = Double.MAX_VALUE;
        public long count;
        public double sum;
    }

    public static final class WindowStats {
        public long start;
        public double min;
        public long count;
        public double avg;
    }

    private static <T> Serde<T> json(final Class<T> type) {
        final ObjectReader reader = MAPPER.readerFor(type);
        final ObjectWriter writer = MAPPER.writerFor(type);
        return Serdes.serdeFrom(
            (topic, value) -> {
                try {
                    return value == null ? null : writer.writeValueAsBytes(value);
                } catch (final IOException error) {
                    throw new UncheckedIOException(error);
                }
            },
            (topic, bytes) -> {
                try {
                    return bytes == null ? null : reader.readValue(bytes);
                } catch (final IOException error) {
                    throw new UncheckedIOException(error);
                }
            });
    }

    private static void countByKey(final StreamsBuilder builder, final String input, final String output) {
        final Serde<Total> totals = json(Total.class);
        builder.stream(input, Consumed.with(Serdes.String(), json(Trade.class)))
            .groupByKey()
            .aggregate(
                Total::new,
                (ticker, trade, total) -> {
                    total.count++;
                    total.sum += trade.price;
                    UPDATES.increment();
                    return total;
                },
                Materialized.<String, Total, KeyValueStore<Bytes, byte[]>>as("totals")
                    .withKeySerde(Serdes.String()).withValueSerde(totals))
            .toStream()
            .to(output, Produced.with(Serdes.String(), totals));
    }

    private static void stockStatistics(final StreamsBuilder builder, final String input, final String output) {
        builder.stream(input, Consumed.with(Serdes.String(), json(Trade.class)))
            .groupByKey()
            .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofSeconds(5)).advanceBy(Duration.ofSeconds(1)))
            .aggregate(
                Stats::new,
                (ticker, trade, stats) -> {
                    stats.min = Math.min(stats.min, trade.price);
                    stats.count++;
                    stats.sum += trade.price;
                    UPDATES.increment();
                    return stats;
                },
                Materialized.<String, Stats, WindowStore<Bytes, byte[]>>as("stats")
                    .withKeySerde(Serdes.String()).withValueSerde(json(Stats.class)))
            .toStream()
            .map((windowed, stats) -> {
                final WindowStats row = new WindowStats();
                row.start = windowed.window().start();
                row.min = stats.min;
                row.count = stats.count;
                row.avg = stats.sum / stats.count;
                return KeyValue.pair(windowed.key(), row);
            })
            .to(output, Produced.with(Serdes.String(), json(WindowStats.class)));
    }

    private static void wordCount(final StreamsBuilder builder, final String input, final String output) {
        builder.stream(input, Consumed.with(Serdes.String(), Serdes.String()))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .aggregate(
                () -> 0L,
                (word, same, count) -> {
                    UPDATES.increment();
                    return count + 1;
                },
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                    .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
            .toStream()
            .to(output, Produced.with(Serdes.String(), Serdes.Long()));
    }

    private static synchronized void mark(final String name) {
        System.out.println("{\"mark\":\"" + name + "\",\"at\":" + System.currentTimeMillis() / 1000.0 + "}");
    }

    private static void waitFor(final long updates, final String name) throws InterruptedException {
        while (UPDATES.sum() < updates) {
            Thread.sleep(5);
        }
        mark(name);
    }

    public static void main(final String[] arguments) throws IOException, InterruptedException {
        final String input = arguments[1];
        final String output = arguments[2];
        final Properties settings = new Properties();
        try (FileReader file = new FileReader(arguments[3])) {
            settings.load(file);
        }
        final long warm = Long.parseLong(arguments[4]);
        final long all = Long.parseLong(arguments[5]);
        final StreamsBuilder builder = new StreamsBuilder();
        switch (arguments[0]) {
            case "w1" -> countByKey(builder, input, output);
            case "w2" -> stockStatistics(builder, input, output);
            case "w3" -> wordCount(builder, input, output);
            default -> throw new IllegalArgumentException("unknown workload " + arguments[0]);
        }
        final KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener((now, before) -> mark(now.name()));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            // Leaving the group, else the next start waits 45 s for the members that are gone.
            streams.close(
                CloseOptions.groupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP)
                    .withTimeout(Duration.ofSeconds(60)));
            mark("closed");
        }));
        streams.start();
        waitFor(warm, "warm");
        if (all == 0) {
            Thread.currentThread().join();
        }
        waitFor(all, "processed");
        System.exit(0);
    }
}
