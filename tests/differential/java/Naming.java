package oracle;

import static oracle.Dsl.keyValue;
import static oracle.Dsl.plainTable;
import static oracle.Dsl.stream;
import static oracle.Dsl.write;
import static oracle.Words.append;
import static oracle.Words.number;
import static oracle.Words.remove;
import static oracle.Words.show;
import static oracle.Words.sum;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Printed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;

/** Names, given and generated, of every kind of node, store and internal topic. */
final class Naming {
    private static final Duration TEN = Duration.ofMillis(10);
    private static final ValueJoiner<String, String, String> PAIR = Words::pair;
    private static final Function<String, String> FOREIGN_KEY = TableJoins::foreignKey;

    private Naming() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("names_stateless", Naming::stateless);
        catalog.dsl("named_stateless", Naming::namedStateless);
        catalog.dsl("names_sources", Naming::sources);
        catalog.dsl("names_pattern", (b, p) -> write(
            b.<String, String>stream(Pattern.compile("in.*")).mapValues(Words::show)));
        catalog.dsl("names_split", Naming::split);
        catalog.dsl("names_aggregates", Naming::aggregates);
        catalog.dsl("names_rekeyed_aggregates", Naming::rekeyedAggregates);
        catalog.dsl("named_aggregates", Naming::namedAggregates);
        catalog.dsl("names_windows", Naming::windows);
        catalog.dsl("names_unnamed_stores", Naming::unnamedStores);
        catalog.dsl("names_cogroup", (b, p) -> write(rekeyed(b, "left").<String>cogroup((k, v, a) -> append(a, v))
            .cogroup(stream(b, "right").groupByKey(), (k, v, a) -> append(a, v)).aggregate(() -> "")));
        catalog.dsl("named_cogroup", (b, p) -> write(
            stream(b, "left").groupBy((k, v) -> v, Grouped.as("one")).<String>cogroup((k, v, a) -> append(a, v))
                .cogroup(stream(b, "right").groupBy((k, v) -> v, Grouped.as("two")), (k, v, a) -> append(a, v))
                .aggregate(() -> "", Named.as("together"), keyValue("kv-agg"))));
        catalog.dsl("names_repartition", (b, p) -> write(
            stream(b, "in").repartition().mapValues(Words::show)));
        addTables(catalog);
        addJoins(catalog);
        addProcessors(catalog);
        addShared(catalog);
    }

    private static KGroupedStream<String, String> rekeyed(StreamsBuilder b, String topic) {
        return stream(b, topic).groupBy((k, v) -> v);
    }

    private static void stateless(StreamsBuilder b, Params p) {
        KStream<String, String> s = stream(b, "in")
            .filter((k, v) -> true).filterNot((k, v) -> false).map(KeyValue::pair).mapValues(v -> v)
            .flatMap((k, v) -> List.of(KeyValue.pair(k, v))).flatMapValues(v -> List.of(show(v)))
            .selectKey((k, v) -> k).peek((k, v) -> { }).processValues(Small.Same::new).process(Small.Pass::new);
        s.foreach((k, v) -> { });
        s.print(Printed.toFile("/dev/null"));
        s.merge(stream(b, "in2")).to("out");
    }

    private static void namedStateless(StreamsBuilder b, Params p) {
        KStream<String, String> s = b.<String, String>stream("in", Consumed.as("source"))
            .filter((k, v) -> true, Named.as("keep")).map(KeyValue::pair, Named.as("pairs"))
            .mapValues(v -> v, Named.as("values")).flatMapValues(v -> List.of(show(v)), Named.as("many"))
            .selectKey((k, v) -> k, Named.as("keys")).peek((k, v) -> { }, Named.as("look"))
            .processValues(Small.Same::new, Named.as("same")).process(Small.Pass::new, Named.as("pass"));
        s.foreach((k, v) -> { }, Named.as("each"));
        s.merge(b.stream("in2", Consumed.as("other")), Named.as("merged")).to("out", Produced.as("sink"));
    }

    private static void sources(StreamsBuilder b, Params p) {
        write(b.<String, String>stream(List.of("in", "in2")).mapValues(v -> v), "out-1");
        write(stream(b, "in3").merge(stream(b, "in3")), "out-2");
        write(b.<String, String>table("in4", Consumed.as("facts"), keyValue("kv-facts")), "out-3");
    }

    private static void split(StreamsBuilder b, Params p) {
        stream(b, "in").split()
            .branch((k, v) -> v == null, Branched.withConsumer(s -> write(s, "out-1")))
            .branch((k, v) -> k == null, Branched.withConsumer(s -> write(s, "out-2"), "nokey"))
            .defaultBranch(Branched.withConsumer(s -> write(s, "out-3")));
    }

    private static void aggregates(StreamsBuilder b, Params p) {
        KGroupedStream<String, String> g = stream(b, "in").groupByKey();
        write(g.count(), "out-1");
        write(g.reduce(Words::append), "out-2");
        write(g.aggregate(() -> "", (k, v, a) -> append(a, v)), "out-3");
    }

    private static void rekeyedAggregates(StreamsBuilder b, Params p) {
        write(rekeyed(b, "in").count(), "out-1");
        write(stream(b, "in").selectKey((k, v) -> v).mapValues(v -> v).groupByKey().reduce(Words::append), "out-2");
        write(stream(b, "in").groupBy((k, v) -> v, Grouped.as("groups"))
            .aggregate(() -> "", (k, v, a) -> append(a, v)), "out-3");
    }

    private static void namedAggregates(StreamsBuilder b, Params p) {
        KGroupedStream<String, String> g = stream(b, "in").groupBy((k, v) -> v, Grouped.as("groups"));
        write(g.count(Named.as("counting"), keyValue("kv-counts")), "out-1");
        write(stream(b, "in2").groupBy((k, v) -> v)
            .reduce(Words::append, Named.as("reducing"), keyValue("kv-reduced")), "out-2");
        write(stream(b, "in3").groupByKey()
            .aggregate(() -> "", (k, v, a) -> append(a, v), Named.as("folding"), keyValue("kv-folded")), "out-3");
    }

    private static void windows(StreamsBuilder b, Params p) {
        Grouped<String, String> texts = Grouped.with(Serdes.String(), Serdes.String());
        stream(b, "in").groupBy((k, v) -> v, texts).windowedBy(TimeWindows.ofSizeWithNoGrace(TEN)).count()
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))
            .toStream((k, v) -> Words.windowKey(k)).mapValues(Words::show).to("out-1");
        stream(b, "in2").groupByKey().windowedBy(SlidingWindows.ofTimeDifferenceWithNoGrace(TEN)).reduce(Words::append)
            .toStream((k, v) -> Words.windowKey(k)).to("out-2");
        stream(b, "in3").groupByKey(texts).windowedBy(SessionWindows.ofInactivityGapWithNoGrace(TEN))
            .aggregate(
                () -> "", (k, v, a) -> append(a, v), (k, x, y) -> append(x, y),
                Materialized.with(Serdes.String(), Serdes.String()))
            .suppress(Suppressed.untilWindowCloses(
                Suppressed.BufferConfig.unbounded()).withName("quiet"))
            .toStream((k, v) -> Words.windowKey(k)).to("out-3");
    }

    /** A Materialized without a name: count draws a number more than reduce and aggregate do. */
    private static void unnamedStores(StreamsBuilder b, Params p) {
        KGroupedStream<String, String> g = stream(b, "in").groupByKey();
        write(g.count(Materialized.with(Serdes.String(), Serdes.Long())), "out-1");
        write(g.reduce(Words::append, Materialized.with(Serdes.String(), Serdes.String())), "out-2");
        write(g.aggregate(
            () -> "", (k, v, a) -> append(a, v), Materialized.with(Serdes.String(), Serdes.String())), "out-3");
        write(plainTable(b, "in2").groupBy((k, v) -> KeyValue.pair(v, v))
            .count(Materialized.with(Serdes.String(), Serdes.Long())), "out-4");
    }

    private static void addTables(Catalog catalog) {
        catalog.dsl("names_tables", (b, p) -> {
            KTable<String, String> t = b.<String, String>table("in").filter((k, v) -> true).filterNot((k, v) -> false)
                .mapValues(v -> v).transformValues(Small.Echo::new);
            write(t.suppress(Suppressed.untilTimeLimit(TEN, Suppressed.BufferConfig.unbounded())), "out-1");
            write(t.groupBy((k, v) -> KeyValue.pair(v, v)).count(), "out-2");
            write(b.<String, String>table("in2").groupBy((k, v) -> KeyValue.pair(v, v))
                .reduce(Words::append, Words::remove), "out-3");
            write(stream(b, "in3").toTable(), "out-4");
        });
        catalog.dsl("named_tables", (b, p) -> {
            KTable<String, String> t = b.<String, String>table("in", Consumed.as("facts"))
                .filter((k, v) -> true, Named.as("keep")).mapValues(v -> v, Named.as("same"), keyValue("kv-same"));
            write(t.toStream(Named.as("changes")), "out-1");
            write(t.groupBy((k, v) -> KeyValue.pair(v, v), Grouped.as("groups")).aggregate(
                () -> "", (k, v, a) -> append(a, v), (k, v, a) -> remove(a, v),
                Named.as("folding"), keyValue("kv-agg")), "out-2");
            write(stream(b, "in2").selectKey((k, v) -> v).toTable(Named.as("latest"), keyValue("kv-latest")), "out-3");
        });
    }

    private static void addJoins(Catalog catalog) {
        JoinWindows near = JoinWindows.ofTimeDifferenceWithNoGrace(TEN);
        catalog.dsl("named_ss_join", (b, p) -> {
            StreamJoined<String, String, String> joined =
                StreamJoined.<String, String, String>as("pairs").withName("near");
            KStream<String, String> left = stream(b, "left").selectKey((k, v) -> k);
            KStream<String, String> right = stream(b, "right").selectKey((k, v) -> k);
            write(switch (p.text("kind")) {
                case "inner" -> left.join(right, PAIR, near, joined);
                case "left" -> left.leftJoin(right, PAIR, near, joined);
                default -> left.outerJoin(right, PAIR, near, joined);
            });
        });
        catalog.dsl("named_tt_join", (b, p) -> {
            KTable<String, String> left = b.table("left");
            KTable<String, String> right = b.table("right");
            write(left.join(right, PAIR, Named.as("both")).leftJoin(right, PAIR, Named.as("again"), keyValue("kv-j")));
        });
        catalog.dsl("named_fk_join", (b, p) -> write(b.<String, String>table("left").leftJoin(
            b.<String, String>table("right"), FOREIGN_KEY, PAIR, TableJoined.as("owner"), keyValue("kv-j"))));
        catalog.dsl("named_lookup", (b, p) -> write(stream(b, "left").selectKey((k, v) -> k)
            .join(b.<String, String>table("right"), PAIR, Joined.as("lookup"))
            .leftJoin(b.<String, String>globalTable("global"), (k, v) -> k, PAIR, Named.as("anywhere"))));
    }

    private static void addProcessors(Catalog catalog) {
        catalog.dsl("named_process", (b, p) -> {
            b.addStateStore(ProcessorApi.texts(p, "kv-p"));
            KStream<String, String> s = stream(b, "left").process(Small.Pass::new, Named.as("first"), "kv-p");
            write(s.groupByKey().count(Named.as("counting"), keyValue("kv-counts")), "out-1");
            write(stream(b, "right").processValues(Small.Same::new, Named.as("second"), "kv-p"), "out-2");
        });
        catalog.dsl("names_global_store", (b, p) -> {
            b.addGlobalStore(
                ProcessorApi.texts(p, "kv-global").withLoggingDisabled(), "global",
                Consumed.with(Serdes.String(), Serdes.String()), () -> new Small.Writer("kv-global"));
            write(stream(b, "in").processValues(() -> new Small.Reader("kv-global")));
        });
    }

    /** One key change read by several operators: the optimizer may share their repartition topic. */
    private static void addShared(Catalog catalog) {
        catalog.dsl("names_shared_key", (b, p) -> {
            KStream<String, String> s = stream(b, "in")
                .filter((k, v) -> v != null).selectKey((k, v) -> "k" + number(v) % 2);
            write(s.groupByKey().count(keyValue("kv-1")), "out-1");
            write(s.mapValues(v -> v).groupByKey().reduce((x, y) -> sum(x, y), Materialized.as("kv-2")), "out-2");
        });
        catalog.dsl("names_table_reuse", (b, p) -> {
            KTable<String, String> t = b.table("right", keyValue("kv-right"));
            write(Lookups.join(true, stream(b, "left"), t));
        });
    }
}
