package oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers;
import org.apache.kafka.streams.test.TestRecord;

/** One request, run through Kafka's own test driver. */
final class Run {
    private static final String APPLICATION = "app";

    private final JsonNode request;
    private final boolean headers;
    private final ObjectNode answer = new ObjectMapper().createObjectNode();
    private final ArrayNode outputs;
    private final Map<String, TestInputTopic<String, String>> topics = new HashMap<>();

    Run(JsonNode request) {
        this.request = request;
        headers = request.path("headers").asBoolean(false);
        answer.set("id", request.get("id"));
        answer.set("topology", request.get("topology"));
        outputs = answer.putArray("outputs");
        answer.putObject("stores");
        answer.put("dropped", 0);
        answer.putNull("error");
    }

    ObjectNode answer(Catalog catalog, Path stateDirectory) {
        try {
            boolean inMemory = request.path("store_type").asText().equals("memory");
            Properties config = config(inMemory, stateDirectory);
            Params params = new Params(request.path("params"), inMemory);
            Topology topology = catalog.make(request.path("topology").asText(), params, config);
            if (request.path("describe").asBoolean(false)) {
                answer.put("describe", topology.describe().toString());
            }
            try (TopologyTestDriver driver = new TopologyTestDriver(topology, config, Instant.EPOCH)) {
                drive(driver);
            }
        } catch (Exception failure) {
            answer.put("error", describe(failure));
        }
        return answer;
    }

    private Properties config(boolean inMemory, Path stateDirectory) {
        Properties config = new Properties();
        config.put("application.id", APPLICATION);
        config.put("bootstrap.servers", "none:1");
        config.put("state.dir", stateDirectory.toString());
        config.put("default.key.serde", Serdes.StringSerde.class.getName());
        config.put("default.value.serde", Serdes.StringSerde.class.getName());
        config.put("statestore.cache.max.bytes", request.path("caching").asBoolean(false) ? "10485760" : "0");
        if (inMemory) {
            config.put("dsl.store.suppliers.class", InMemoryDslStoreSuppliers.class.getName());
        }
        request.path("config").properties().forEach(entry -> config.put(entry.getKey(), entry.getValue().asText()));
        return config;
    }

    private void drive(TopologyTestDriver driver) {
        TreeSet<String> keys = new TreeSet<>();
        int step = 0;
        for (JsonNode input : request.path("inputs")) {
            try {
                feed(driver, input, step);
            } finally {
                collect(driver, step);
            }
            if (!input.get(1).isNull()) {
                keys.add(input.get(1).asText());
            }
            step++;
        }
        new StoreDump((ObjectNode) answer.get("stores"), keys).add(driver.getAllStateStores());
        answer.put("dropped", dropped(driver));
    }

    private void feed(TopologyTestDriver driver, JsonNode input, int step) {
        String topic = input.get(0).asText();
        long timestamp = input.get(3).asLong();
        if (topic.equals("@wall")) {
            driver.advanceWallClockTime(Duration.ofMillis(timestamp));
            return;
        }
        Headers sent = new RecordHeaders();
        if (headers) {
            sent.add("step", String.valueOf(step).getBytes(StandardCharsets.UTF_8));
        }
        topics.computeIfAbsent(topic, t -> driver.createInputTopic(t, new StringSerializer(), new StringSerializer()))
            .pipeInput(new TestRecord<>(text(input.get(1)), text(input.get(2)), sent, timestamp));
        if (request.hasNonNull("advance_wall_clock")) {
            driver.advanceWallClockTime(Duration.ofMillis(request.get("advance_wall_clock").asLong()));
        }
    }

    private void collect(TopologyTestDriver driver, int step) {
        for (String topic : new TreeSet<>(driver.producedTopicNames())) {
            if (topic.startsWith(APPLICATION + "-")) {
                continue;
            }
            for (TestRecord<String, String> record : driver
                    .createOutputTopic(topic, new StringDeserializer(), new StringDeserializer()).readRecordsToList()) {
                ArrayNode row = outputs.addArray();
                row.add(step).add(topic).add(record.key()).add(record.value()).add(record.timestamp());
                if (headers) {
                    row.add(text(record.headers()));
                }
            }
        }
    }

    private static long dropped(TopologyTestDriver driver) {
        return driver.metrics().entrySet().stream()
            .filter(metric -> metric.getKey().name().equals("dropped-records-total"))
            .mapToLong(metric -> ((Number) metric.getValue().metricValue()).longValue())
            .sum();
    }

    private static String text(JsonNode value) {
        return value.isNull() ? null : value.asText();
    }

    private static String text(Headers headers) {
        return StreamSupport.stream(headers.spliterator(), false)
            .map(header -> header.key() + "=" + new String(header.value(), StandardCharsets.UTF_8))
            .collect(Collectors.joining(","));
    }

    private static String describe(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root.getClass().getSimpleName() + ": " + root.getMessage();
    }
}
