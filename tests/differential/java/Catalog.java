package oracle;

import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;

/** Every topology by name; topologies/ on the Python side has one of the same name for each. */
final class Catalog {
    /** A topology written with the DSL. */
    interface Recipe {
        void add(StreamsBuilder builder, Params params);
    }

    /** A topology written with sources, processors and sinks. */
    interface Assembly {
        Topology assemble(Params params);
    }

    private interface Maker {
        Topology make(Params params, Properties config);
    }

    private final Map<String, Maker> makers = new TreeMap<>();

    static Catalog complete() {
        Catalog catalog = new Catalog();
        Stateless.addTo(catalog);
        Aggregations.addTo(catalog);
        Tables.addTo(catalog);
        Windows.addTo(catalog);
        Suppressions.addTo(catalog);
        StreamJoins.addTo(catalog);
        TableJoins.addTo(catalog);
        Lookups.addTo(catalog);
        ProcessorApi.addTo(catalog);
        Examples.addTo(catalog);
        Naming.addTo(catalog);
        Assemblies.addTo(catalog);
        return catalog;
    }

    void dsl(String name, Recipe recipe) {
        put(name, (params, config) -> {
            StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(config)));
            recipe.add(builder, params);
            return builder.build(config);
        });
    }

    void assembled(String name, Assembly assembly) {
        put(name, (params, config) -> assembly.assemble(params));
    }

    Topology make(String name, Params params, Properties config) {
        Maker maker = makers.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("no topology is called " + name);
        }
        return maker.make(params, config);
    }

    Set<String> names() {
        return makers.keySet();
    }

    private void put(String name, Maker maker) {
        if (makers.put(name, maker) != null) {
            throw new IllegalStateException("two topologies are called " + name);
        }
    }
}
