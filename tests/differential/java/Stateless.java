package oracle;

import static oracle.Dsl.keyValue;
import static oracle.Dsl.stream;
import static oracle.Dsl.write;
import static oracle.Words.bucket;
import static oracle.Words.number;
import static oracle.Words.show;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Repartitioned;

/** Operators without state, and the steps between them: branches, repartition, topic choice. */
final class Stateless {
    private Stateless() { }

    static void addTo(Catalog catalog) {
        catalog.dsl("stateless_chain", Stateless::chain);
        catalog.dsl("flat_map_chain", Stateless::flatMaps);
        catalog.dsl("merge", (b, p) -> write(
            stream(b, "left").mapValues(v -> "L" + v).merge(stream(b, "right").mapValues(v -> "R" + v))));
        catalog.dsl("split_default", Stateless::splitWithDefault);
        catalog.dsl("split_no_default", Stateless::splitWithoutDefault);
        catalog.dsl("repartition", (b, p) -> write(
            stream(b, "in").repartition(Repartitioned.as("rp")).mapValues((k, v) -> show(k) + "=" + show(v))));
        catalog.dsl("topic_extractor", (b, p) -> stream(b, "in").to(
            (k, v, context) -> bucket("out-", v, p) + (context.timestamp() % 2 == 0 ? "e" : "o")));
        catalog.dsl("select_key_to_table", Stateless::rekeyedTable);
    }

    private static void chain(StreamsBuilder b, Params p) {
        write(stream(b, "in")
            .filter((k, v) -> v == null || number(v) % p.number("mod") != 0)
            .mapValues((k, v) -> show(k) + ":" + show(v))
            .filterNot((k, v) -> v.endsWith(":7"))
            .map((k, v) -> KeyValue.pair(v.length() % 2 == 0 ? k : null, v)));
    }

    private static void flatMaps(StreamsBuilder b, Params p) {
        write(stream(b, "in")
            .flatMap((k, v) -> IntStream.range(0, number(v) % 3).mapToObj(i -> KeyValue.pair(show(k) + i, v)).toList())
            .flatMapValues(v -> numbered(v, number(v) % p.number("mod"))));
    }

    private static List<String> numbered(String value, int copies) {
        return IntStream.range(0, copies).mapToObj(i -> value + "." + i).toList();
    }

    private static void splitWithDefault(StreamsBuilder b, Params p) {
        writeBranches(stream(b, "in").split(Named.as("s-"))
            .branch((k, v) -> v == null, Branched.as("null"))
            .branch((k, v) -> number(v) % p.number("mod") == 0, Branched.as("mod"))
            .branch((k, v) -> k == null)
            .defaultBranch(Branched.as("rest")));
    }

    private static void splitWithoutDefault(StreamsBuilder b, Params p) {
        writeBranches(stream(b, "in").split(Named.as("s-"))
            .branch((k, v) -> number(v) % p.number("mod") == 0)
            .branch((k, v) -> number(v) > 5, Branched.withFunction(s -> s.mapValues(v -> v + "!"), "big"))
            .noDefaultBranch());
    }

    /** In the order of their names: the result map has none of its own, and node numbers depend on it. */
    private static void writeBranches(Map<String, KStream<String, String>> branches) {
        branches.entrySet().stream().sorted(Map.Entry.comparingByKey())
            .forEach(branch -> write(branch.getValue(), "out-" + branch.getKey()));
    }

    private static void rekeyedTable(StreamsBuilder b, Params p) {
        write(stream(b, "in").selectKey((k, v) -> {
            if (v == null) {
                return k;
            }
            return number(v) % p.number("mod") == 0 ? null : bucket("x", v, p);
        }).toTable(keyValue("kv-t")));
    }
}
