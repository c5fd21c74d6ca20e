import com.fasterxml.jackson.databind.ObjectMapper;
import io.trino.plugin.hive.HivePlugin;
import io.trino.spi.type.ArrayType;
import io.trino.spi.type.RowType;
import io.trino.spi.type.Type;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import io.trino.testing.TestingSession;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers questions in a server of Trino: standard input has {"catalog": {PROPERTY: VALUE}, "statements": [SQL], "questions": [SQL]}, standard
 * output the rows of each question, as JSON. The catalog is one of the Hive connector.
 */
class Trino {
    record Job(Map<String, String> catalog, List<String> statements, List<String> questions) {}

    public static void main(String[] args) {
        var out = System.out; // the server takes it for its log
        try {
            out.println(answers());
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0); // threads of the server outlive it
    }

    static String answers() throws Exception {
        var json = new ObjectMapper();
        var job = json.readValue(System.in, Job.class);
        var session = TestingSession.testSessionBuilder().setCatalog("hive").setSchema("bench").build();
        try (var trino = DistributedQueryRunner.builder(session).setNodeCount(1).build()) {
            trino.installPlugin(new HivePlugin());
            trino.createCatalog("hive", "hive", job.catalog());
            job.statements().forEach(trino::execute);
            var answers = new ArrayList<>();
            for (var question : job.questions()) {
                var result = trino.execute(question);
                var rows = new ArrayList<>();
                for (var row : result.getMaterializedRows()) {
                    rows.add(named(row, result.getColumnNames(), result.getTypes()));
                }
                answers.add(rows);
            }
            return json.writeValueAsString(answers);
        }
    }

    static Map<String, Object> named(MaterializedRow row, List<String> names, List<? extends Type> types) {
        var fields = new LinkedHashMap<String, Object>();
        for (int i = 0; i < names.size(); i++) {
            fields.put(names.get(i), plain(row.getField(i), types.get(i)));
        }
        return fields;
    }

    /** A value as `query --format jsonl` prints it. */
    static Object plain(Object value, Type type) {
        if (value instanceof ZonedDateTime time) {
            return time.toInstant().toString().replaceAll("\\.?0*Z$", "Z");
        }
        if (value instanceof List<?> list && type instanceof ArrayType array) {
            return list.stream().map(one -> plain(one, array.getElementType())).toList();
        }
        if (value instanceof MaterializedRow row && type instanceof RowType fields) {
            var names = fields.getFields().stream().map(field -> field.getName().orElseThrow()).toList();
            return named(row, names, fields.getTypeParameters());
        }
        return value;
    }
}
