package oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;

/** The parameters of one request, with the error naming the one that is missing. */
record Params(JsonNode values, boolean inMemory) {
    boolean has(String name) {
        return values.has(name);
    }

    boolean flag(String name) {
        return values.path(name).asBoolean(false);
    }

    long millis(String name) {
        return required(name).asLong();
    }

    int number(String name) {
        return required(name).asInt();
    }

    String text(String name) {
        return required(name).asText();
    }

    Duration duration(String name) {
        return Duration.ofMillis(millis(name));
    }

    private JsonNode required(String name) {
        JsonNode value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the request lacks the parameter " + name);
        }
        return value;
    }
}
