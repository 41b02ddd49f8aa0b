package oracle;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Reads one JSON request a line, writes one JSON answer a line; --list prints the names of the topologies. */
public final class Oracle {
    private Oracle() { }

    public static void main(String[] arguments) throws IOException {
        Catalog catalog = Catalog.complete();
        if (arguments.length > 0 && arguments[0].equals("--list")) {
            catalog.names().forEach(System.out::println);
            return;
        }
        Path stateDirectory = Files.createTempDirectory("penstock-oracle");
        try {
            serve(catalog, stateDirectory);
        } finally {
            delete(stateDirectory);
        }
        System.exit(0); // the driver leaves metric threads behind
    }

    private static void serve(Catalog catalog, Path stateDirectory) throws IOException {
        ObjectMapper json = new ObjectMapper();
        // what user code prints must not mix with the answers
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.isBlank()) {
                answers.println(json.writeValueAsString(new Run(json.readTree(line)).answer(catalog, stateDirectory)));
                answers.flush();
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            paths.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
        }
    }
}
