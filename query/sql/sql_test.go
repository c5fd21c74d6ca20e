package sql_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestSQL(t *testing.T) {
	t.Parallel()
	runs := append(querytest.ManyRuns(5), querytest.Everything())
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for _, c := range []struct{ text, want string }{
		{"SELECT batch_size, count(*) AS n, median(p50) FROM runs WHERE suite = 'quick start' GROUP BY ALL ORDER BY ALL", "[[1 1 100010] [2 1 100020] [4 1 100030] [8 1 100040] [16 1 100050]]"},
		{"SELECT i, value FROM samples_long WHERE run_id = '" + runs[0].RunID + "' ORDER BY i", "[[0 100000] [1 100010] [2 100020] [3 101000] [4 100005]]"},
		{"SELECT count(*), count(at_ns) FROM samples_long WHERE run_id = '" + runs[0].RunID + "'", "[[5 0]]"},
		{`SELECT metric, "values" FROM samples WHERE metric = 'loss'`, "[[loss [0.5 -1]]]"},
		{`SELECT tick, ticks, values FROM samples WHERE metric = 'peak_memory'`, "[[1 [52428800] [5.24288e+07]]]"},
		{"SELECT name, counters, kernels FROM ops", "[[MatMul map[dram:1.5] [k1]]]"},
		{"SELECT num('1e3'), num(' 7'), num('1_000'), num('nan'), num('1e400'), num('x'), num(2.5), num(NULL)", "[[1000 <nil> <nil> <nil> <nil> <nil> 2.5 <nil>]]"},
		{"SELECT params['dim'] FROM runs WHERE num(params['dim']) > 200", "[[256]]"},
		{"SELECT date_trunc('day', min(started_at)) FROM runs", "[[2026-11-21 00:00:00 +0000 UTC]]"},
		{"SELECT current_setting('TimeZone')", "[[UTC]]"},
		{"WITH x AS (SELECT 1 AS a) FROM x", "[[1]]"},
		{"VALUES (1, 'a'), (2, NULL)", "[[1 a] [2 <nil>]]"},
		{"SELECT count(*) > 50 FROM duckdb_settings()", "[[true]]"},
		{"/* a */ SELECT 1 -- b\n;", "[[1]]"},
		{"DESCRIBE SELECT run_id FROM runs", "[[run_id VARCHAR YES <nil> <nil> <nil>]]"},
	} {
		r, err := sql.Select(context.Background(), db, c.text)
		if err != nil || fmt.Sprint(r.Rows) != c.want {
			t.Errorf("%s\n got %v, %v\nwant %s", c.text, r.Rows, err, c.want)
		}
	}
}

// TestSQLEntries: a parameter or a tag is no column, and the error says how to write it.
func TestSQLEntries(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	for text, want := range map[string]string{
		"SELECT run_id FROM runs WHERE dim = 64":        `query: no column is called "dim"; dim is a parameter: params['dim']`,
		"SELECT r.run_id FROM runs r WHERE who = 'me'":  `query: no column is called "who"; who is a tag: tags['who']`,
		`SELECT run_id FROM runs WHERE suite = "quick"`: `write text in single quotes`,
	} {
		_, err := sql.Select(context.Background(), db, text)
		querytest.WantInput(t, err, want)
	}
}

// TestSQLTypes: every type of DuckDB has a corresponding type.
func TestSQLTypes(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t))
	for _, c := range []struct {
		expression string
		kind       answer.Type
		want       any
	}{
		{"NULL", answer.TypeInteger, nil},
		{"true", answer.TypeBoolean, true},
		{"1::TINYINT", answer.TypeInteger, int64(1)},
		{"255::UTINYINT", answer.TypeInteger, int64(255)},
		{"sum(9::BIGINT)", answer.TypeInteger, int64(9)},
		{"170141183460469231731687303715884105727::HUGEINT", answer.TypeText, "170141183460469231731687303715884105727"},
		{"18446744073709551615::UBIGINT", answer.TypeText, "18446744073709551615"},
		{"18446744073709551615::UBIGINT % 10", answer.TypeInteger, int64(5)},
		{"0.10", answer.TypeReal, 0.1},
		{"-12345678901234567890.5::DECIMAL(30,1)", answer.TypeText, "-12345678901234567890.5"},
		{"123456789012345678901234567890.12::DECIMAL(38,2)", answer.TypeText, "123456789012345678901234567890.12"},
		{"1234567890123.25::DECIMAL(38,2)", answer.TypeReal, 1234567890123.25},
		{"'infinity'::TIMESTAMPTZ", answer.TypeText, "infinity"},
		{"'-infinity'::TIMESTAMP", answer.TypeText, "-infinity"},
		{"'infinity'::TIMESTAMP_S", answer.TypeText, "infinity"},
		{"'-infinity'::TIMESTAMP_MS", answer.TypeText, "-infinity"},
		{"'-infinity'::TIMESTAMP_NS", answer.TypeText, "-infinity"},
		{"'-infinity'::DATE", answer.TypeText, "-infinity"},
		{"'infinity'::DATE", answer.TypeText, "infinity"},
		{"'99999-01-01'::DATE", answer.TypeText, "99999-01-01"},
		{"['infinity'::DATE, '12345-01-01'::DATE]", answer.TypeList, []any{"infinity", "12345-01-01T00:00:00Z"}},
		{"{'a': 123456789012345678901234567890.12::DECIMAL(38,2)}", answer.TypeMap, map[string]any{"a": "123456789012345678901234567890.12"}},
		{"1.5::FLOAT", answer.TypeReal, 1.5},
		{"'-inf'::DOUBLE", answer.TypeReal, math.Inf(-1)},
		{"'ü'", answer.TypeText, "ü"},
		{"'ab\\xFF'::BLOB", answer.TypeText, "6162ff"},
		{"'101'::BIT", answer.TypeText, "101"},
		{"'b'::ENUM('a', 'b')", answer.TypeText, "b"},
		{"'6f1c5a44-0000-4000-8000-000000000001'::UUID", answer.TypeText, "6f1c5a44-0000-4000-8000-000000000001"},
		{"DATE '2026-11-21'", answer.TypeText, "2026-11-21"},
		{"TIME '06:45:12.5'", answer.TypeText, "06:45:12.5"},
		{"TIMETZ '06:45:12+02'", answer.TypeText, "06:45:12+02:00"},
		{"TIMESTAMP '2026-11-21 06:45:12.345678'", answer.TypeTime, querytest.Start},
		{"TIMESTAMPTZ '2026-11-21 08:45:12.345678+02'", answer.TypeTime, querytest.Start},
		{"TIMESTAMP_MS '2026-11-21 06:45:12'", answer.TypeTime, querytest.Start.Truncate(time.Second)},
		{"INTERVAL '14 months 3 days 1.5 seconds'", answer.TypeText, "14 months 3 days 1.5s"},
		{"INTERVAL 0 SECOND", answer.TypeText, "0s"},
		{"[1, NULL, 3]", answer.TypeList, []any{int64(1), nil, int64(3)}},
		{"array_value(1.5::DOUBLE, 2)", answer.TypeList, []any{1.5, 2.0}},
		{"[18446744073709551615::UBIGINT]", answer.TypeList, []any{"18446744073709551615"}},
		{"{'a': [1], 'b': NULL}", answer.TypeMap, map[string]any{"a": []any{int64(1)}, "b": nil}},
		{"MAP {1: 'x'}", answer.TypeMap, map[string]any{"1": "x"}},
		{"[{'a': DATE '2026-11-21'}]::STRUCT(a DATE)[]", answer.TypeList, nil},
		{`'{"a": [1, null]}'::JSON`, answer.TypeText, `{"a":[1,null]}`},
		{"union_value(n := 5)", answer.TypeText, "5"},
	} {
		r, err := sql.Select(context.Background(), db, "SELECT "+c.expression)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		if c.expression == "[{'a': DATE '2026-11-21'}]::STRUCT(a DATE)[]" {
			c.want = []any{map[string]any{"a": time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}}
		}
		if r.Columns[0].Type != c.kind || !reflect.DeepEqual(r.Rows[0][0], c.want) {
			t.Errorf("%s: got %s %#v, want %s %#v", c.expression, r.Columns[0].Type, r.Rows[0][0], c.kind, c.want)
		}
	}
}

// TestSQLMisfits: a column with a value that does not fit its type becomes text as a whole.
func TestSQLMisfits(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t))
	r, err := sql.Select(t.Context(), db, `SELECT * FROM (VALUES (TIMESTAMP '2026-11-21 06:45:12', 0.5::DECIMAL(38,2), 1::HUGEINT), (NULL, NULL, NULL),
		('infinity', 123456789012345678901234567890.12, 170141183460469231731687303715884105727)) t(a, b, c)`)
	want := "[[2026-11-21T06:45:12Z 0.5 1] [<nil> <nil> <nil>] [infinity 123456789012345678901234567890.12 170141183460469231731687303715884105727]]"
	if err != nil || fmt.Sprint(r.Rows) != want {
		t.Errorf("got %v, %v\nwant %s", r.Rows, err, want)
	}
}

// TestSQLUnits: a column of the views has its unit as long as it is selected unchanged.
func TestSQLUnits(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(1)...))
	for _, c := range []struct{ text, want string }{
		{"SELECT p50, unit, measure_ns FROM runs", "of the row||ns"},
		{"SELECT r.p50, unit, memory_bytes FROM runs r", "of the row||B"},
		{"SELECT p50, measure_ns FROM runs", "|ns"},
		{"SELECT p50 AS p50, unit FROM runs", "of the row|"},
		{"SELECT measure_ns AS p50, unit FROM runs", "|"},
		{"SELECT p50, 'ns' AS unit FROM runs", "|"},
		{"SELECT count(*) AS measure_ns FROM runs", ""},
		{"SELECT measure_ns FROM (SELECT 1 AS measure_ns)", ""},
		{"WITH x(measure_ns) AS (SELECT 1) SELECT measure_ns FROM x", ""},
		{"SELECT measure_ns FROM (VALUES (1)) AS x(measure_ns)", ""},
		{"SELECT measure_ns FROM runs UNION ALL SELECT 1", ""},
		{"SELECT * EXCLUDE (run_id, metric) FROM samples_long", "||of the row|ns"},
		{"SELECT start_ns, duration_ns FROM ops", "ns|ns"},
		{"SELECT r.unit, r.p50 FROM runs r JOIN samples s USING (run_id)", "|of the row"},
		{"SELECT s.unit, r.p50, s.p99, r.measure_ns FROM runs r JOIN samples s USING (run_id)", "||of the row|ns"},
		{"SELECT R.unit, S.P50 FROM runs r, samples s WHERE r.run_id = s.run_id", "|"},
		{"SELECT r.unit, s.p50, s.unit FROM runs r JOIN samples s USING (run_id)", "||"},
		{"SELECT p50, unit, i FROM runs JOIN (SELECT run_id, i FROM samples_long) USING (run_id)", "||"},
		{"SELECT p50, unit FROM (SELECT run_id, p50 FROM runs) JOIN (SELECT run_id, unit FROM samples) USING (run_id)", "|"},
		{"SELECT a.p50, a.unit FROM runs a POSITIONAL JOIN (SELECT 1 AS x)", "of the row|"},
		{"SELECT columns('^(unit|p50)$') FROM (SELECT run_id, p50 FROM runs) JOIN (SELECT run_id, unit FROM samples) USING (run_id)", "|"},
		{"SELECT x.unit, p50 FROM samples_long x JOIN runs USING (run_id)", "|"},
		{"SELECT * FROM (SELECT s.unit, r.p50 FROM runs r JOIN samples s USING (run_id))", "|"},
		{"WITH x AS (SELECT r.unit, s.p50 FROM runs r JOIN samples s USING (run_id)) SELECT p50, unit FROM x", "|"},
		{"SELECT unit, p50 FROM runs SEMI JOIN samples USING (run_id)", "|of the row"},
		{"SELECT unit, p50 FROM runs WHERE run_id IN (SELECT run_id FROM samples)", "|of the row"},
		{"SELECT unit, p50, v FROM samples, unnest(\"values\") AS x(v)", "|of the row|"},
	} {
		r, err := sql.Select(context.Background(), db, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var units []string
		for _, column := range r.Columns {
			units = append(units, column.Unit)
		}
		if got := strings.Join(units, "|"); got != c.want {
			t.Errorf("%s: got units %q, want %q", c.text, got, c.want)
		}
	}
}

// TestSQLUnitsOfAll: of all columns of a join, none has the unit of the row, for it is not known of which table that is; of those of one
// table each has.
func TestSQLUnitsOfAll(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(1)...))
	for text, some := range map[string]bool{
		"SELECT * FROM runs r JOIN samples s USING (run_id)": false, "SELECT s.*, r.unit FROM runs r JOIN samples s USING (run_id)": false,
		"SELECT s.* FROM runs r JOIN samples s USING (run_id)": true, "SELECT * FROM samples": true, "FROM samples SEMI JOIN runs USING (run_id)": true,
	} {
		r, err := sql.Select(context.Background(), db, text)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, c := range r.Columns {
			if has := c.Unit == schema.UnitOfRow; has != (some && answer.Units[c.Name] == schema.UnitOfRow) {
				t.Errorf("%s: %s has the unit of the row: %t", text, c.Name, has)
			}
		}
	}
}

// TestSandbox: everything except a single SELECT over the views is refused in one line, with nothing read, made or changed.
func TestSandbox(t *testing.T) {
	store := querytest.NewStore(t, querytest.ManyRuns(3)...)
	live := querytest.LiveFiles(t, store)[0]
	here := t.TempDir()
	t.Chdir(here)
	outside := t.TempDir() + "/secret.csv"
	valuetest.OK(t, os.WriteFile(outside, []byte("a,b\n1,2\n"), 0o666))
	parquet := t.TempDir()
	db := querytest.Open(t, store)
	valuetest.Must(export.Write(context.Background(), db, export.Request{Dest: parquet, Format: export.Parquet}))
	before := querytest.Snapshot(t, store) + querytest.Snapshot(t, here)
	const one = "query: only one SELECT is allowed here, "
	for _, c := range []struct{ text, want string }{
		{"COPY runs TO 'x.csv'", one + "this is COPY"},
		{"COPY runs TO '" + live + "'", one + "this is COPY"},
		{"-- SELECT\n/* x */ COPY (SELECT 1) TO 'x.csv'", one + "this is COPY"},
		{"ATTACH 'x.db'", one + "this is ATTACH"},
		{"ATTACH ':memory:' AS x", one + "this is ATTACH"},
		{"set enable_external_access = true", one + "this is SET"},
		{"PRAGMA enable_profiling", one + "this is PRAGMA"},
		{"CREATE TABLE x AS SELECT 1", one + "this is CREATE"},
		{"INSERT INTO runs VALUES (1)", one + "this is INSERT"},
		{"EXPLAIN SELECT 1", one + "this is EXPLAIN"},
		{"EXPORT DATABASE 'x'", one + "this is EXPORT"},
		{"INSTALL httpfs", one + "this is INSTALL"},
		{"LOAD httpfs", one + "this is LOAD"},
		{"DROP VIEW runs", one + "this is DROP"},
		{"CALL pragma_version()", one + "this is CALL"},
		{"BEGIN", one + "this is BEGIN"},
		{"SELECT 1; SELECT 2", one + "these are 2"},
		{"SELECT 1; COPY runs TO 'x.csv'", one + "this is more than that"},
		{"", "query: a SELECT is missing"},
		{" ; ", "query: a SELECT is missing"},
		{"-- nothing", "query: a SELECT is missing"},
		{"SELEC 1", `query: syntax error at or near "SELEC" (offset 0)`},
		{"SELECT 1\x00", "query: a NUL byte (offset 8)"},
		{"SELECT '\xff'", "query: not UTF-8 (offset 8)"},
		{strings.Repeat("garbage ", 1<<17), "query: longer than 262144 bytes"},
		{strings.Repeat("(", 100_000), "query: "},
		{"SELECT * FROM read_text('" + outside + "')", "can be read here"},
		{"SELECT * FROM read_text('" + store + "/neurolens.json')", "can be read here"},
		{"SELECT * FROM read_blob('/etc/passwd')", "can be read here"},
		{"SELECT * FROM read_csv('" + outside + "')", "can be read here"},
		{"SELECT * FROM read_json('" + outside + "')", "can be read here"},
		{"SELECT * FROM sniff_csv('" + outside + "')", "can be read here"},
		{"SELECT * FROM read_parquet('" + parquet + "/runs.parquet')", "can be read here"},
		{"SELECT * FROM read_parquet('" + store + "/live/*/*.parquet')", "can be read here"},
		{"SELECT * FROM parquet_metadata('" + parquet + "/runs.parquet')", "can be read here"},
		{"SELECT * FROM glob('" + store + "/*')", "can be read here"},
		{"SELECT * FROM '" + outside + "'", "query: "},
		{"SELECT * FROM '" + parquet + "/runs.parquet'", "query: "},
		{"SELECT * FROM query('COPY runs TO ''x.csv''')", "query: "},
		{"SELECT * FROM query('SELECT 1')", "query() is not allowed here: it changes the engine or runs another query"},
		{"SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", "json_execute_serialized_sql() is not allowed here: it changes the engine"},
		{"SELECT * FROM enable_logging(storage = 'file', storage_path = '" + here + "/log')", "enable_logging() is not allowed here: it changes the engine"},
		{"WITH a AS (SELECT 1, (SELECT count(*) FROM Enable_Profiling(save_location = '" + here + "/p.txt'))) FROM a", "enable_profiling() is not allowed here: it changes the engine"},
		{"SELECT * FROM force_checkpoint()", "force_checkpoint() is not allowed here: it changes the engine"},
		{"SELECT getenv('HOME')", "query: "},
		{"SELECT * FROM nope", `query: table with name nope does not exist`},
		{"SELECT nope FROM runs", `query: referenced column "nope" not found`},
		{"SELECT 'a'::INTEGER", "query: could not convert string 'a' to INT32"},
		{"SELECT error('boom')", "query: boom"},
		{"SELECT * FROM range(1) WHERE nope(1)", "query: "},
	} {
		_, err := sql.Select(context.Background(), db, c.text)
		if err == nil || len(err.Error()) > 600 {
			t.Errorf("%.80q: got %.700v", c.text, err)
			continue
		}
		querytest.WantInput(t, err, c.want)
	}
	if after := querytest.Snapshot(t, store) + querytest.Snapshot(t, here); after != before {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
}

func TestMemoryLimit(t *testing.T) {
	store := querytest.NewStore(t)
	spill := t.TempDir()
	t.Setenv("TMPDIR", spill)
	db := valuetest.Must(query.Open(context.Background(), []string{store}, query.Options{MemoryLimit: 30 << 20}))
	// A sort that does not fit in memory spills outside the store, and leaves nothing.
	r, err := sql.Select(context.Background(), db, "SELECT max(x) FROM (SELECT x, row_number() OVER (ORDER BY hash(x)) AS n FROM range(3000000) t(x))")
	if err != nil || fmt.Sprint(r.Rows) != "[[2999999]]" {
		t.Errorf("got %v, %v", r.Rows, err)
	}
	// What cannot be spilled ends with one line.
	_, err = sql.Select(context.Background(), db, "SELECT max(len(l)) FROM (SELECT list(x) AS l FROM range(20000000) t(x))")
	if !errors.Is(err, sql.ErrMemory) || !errors.Is(err, query.ErrInput) {
		t.Errorf("got %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(spill); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestSQLTooLarge: a result that is too large is refused in one line, before it fills the memory.
func TestSQLTooLarge(t *testing.T) {
	if !querytest.Long() {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t))
	for _, text := range []string{
		"SELECT * FROM range(10000001)",
		"SELECT range, range FROM range(5000001)",
	} {
		_, err := sql.Select(t.Context(), db, text)
		if !errors.Is(err, query.ErrInput) || !strings.Contains(err.Error(), "more than 10000000 values") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSQLThreads: a window over all rows without an order is computed by one thread, because DuckDB makes errors with more;
// other queries use all threads.
func TestSQLThreads(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	all := int64(runtime.GOMAXPROCS(0))
	for text, want := range map[string]int64{
		"count(*) OVER () FROM runs":                                       1,
		"run_id FROM runs WINDOW w AS () QUALIFY count(*) OVER w > 0":      1,
		"n FROM (SELECT sum(p50) FILTER (p50 > 0) OVER () AS n FROM runs)": 1,
		"row_number() OVER (ORDER BY run_id) FROM runs":                    all,
		"count(*) OVER (PARTITION BY git_commit) FROM runs":                all,
		"count(*), 'OVER ()' FROM runs":                                    all,
	} {
		got := valuetest.Must(sql.Select(t.Context(), db, "SELECT current_setting('threads'), "+text))
		if len(got.Rows) == 0 || got.Rows[0][0] != want {
			t.Errorf("%s: %v, want %d threads", text, got.Rows, want)
		}
	}
}
