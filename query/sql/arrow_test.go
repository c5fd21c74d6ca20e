package sql_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSQLArrow: a stream has the values that SQL gives, of the types of the columns.
func TestSQLArrow(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.MixedStore(t))
	for _, text := range []string{
		"FROM runs ORDER BY run_id DESC; -- all", "FROM samples ORDER BY ALL", "FROM samples_long ORDER BY ALL", "FROM ops ORDER BY ALL",
		"SELECT run_id, p50 FROM runs WHERE false",
		`SELECT sum(repeat_index) AS "sum", 1.5 AS "decimal", 200::UTINYINT AS "small", NULL AS "null", true AS "bool", DATE '2026-11-21' AS "date",
			TIMESTAMP '2026-11-21 01:02:03.456789' AS "ts", [1::HUGEINT, NULL] AS "list", {'a': 1::TINYINT, 'b': [1.5::FLOAT]} AS "struct",
			MAP {'k': [1, 2]} AS "map", [1, 2]::INTEGER[2] AS "array", 'x'::ENUM ('x', 'y') AS "enum" FROM runs`,
		"SELECT 1 AS a, 2 AS a",
	} {
		want, err := sql.Select(context.Background(), db, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var stream bytes.Buffer
		if err := sql.SelectArrow(context.Background(), db, text, &stream); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := querytest.ReadArrow(t, &stream)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if len(got.Rows) != len(want.Rows) {
			t.Errorf("%s: %d rows, want %d", text, len(got.Rows), len(want.Rows))
			continue
		}
		for i, row := range want.Rows {
			for j, v := range row {
				if name := want.Columns[j].Name; !querytest.EqualValues(got.Rows[i][j], v) {
					t.Errorf("%s: row %d, %s: got %#v, want %#v", text, i, name, got.Rows[i][j], v)
				}
			}
		}
	}
}

// TestSQLArrowSchema: names are unique, and the stored unit of a column is with it.
func TestSQLArrowSchema(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	var stream bytes.Buffer
	if err := sql.SelectArrow(context.Background(), db, "SELECT measure_ns, p50 AS measure, p50 AS setup_ns, started_at, run_id AS a, 2 AS a, uuid() AS u, INTERVAL 1 DAY AS v, 'x'::BLOB AS b FROM runs", &stream); err != nil {
		t.Fatal(err)
	}
	got := valuetest.Must(querytest.ReadArrow(t, &stream))
	var fields []string
	for _, f := range got.Schema.Fields() {
		unit, _ := f.Metadata.GetValue("unit")
		fields = append(fields, strings.TrimSpace(f.Name+" "+f.Type.String()+" "+unit))
	}
	want := "measure_ns int64 ns, measure float64, setup_ns float64, started_at timestamp[us, tz=UTC], a utf8, a_1 int64, u utf8, v utf8, b binary"
	if all := strings.Join(fields, ", "); all != want {
		t.Errorf("fields are\n%s, want\n%s", all, want)
	}
}

// TestSQLArrowRefusals: a refusal is one line and writes nothing.
func TestSQLArrowRefusals(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	for text, says := range map[string]string{
		"SELECT 18446744073709551615::UBIGINT AS wide": "out of range",
		"SELECT row(1, 2) AS pair":                     "column pair",
		"DESCRIBE runs":                                "FROM (DESCRIBE ...)",
		"DROP VIEW runs":                               "only one SELECT",
		"SELECT nothing FROM runs":                     "nothing",
		"SELECT * FROM read_text('/etc/passwd')":       "only runs",
		"COPY runs TO '/tmp/x'":                        "only one SELECT",
		"FROM annotations.answer":                      "answer",
	} {
		var stream bytes.Buffer
		querytest.WantInput(t, sql.SelectArrow(context.Background(), db, text, &stream), says)
		if stream.Len() > 0 {
			t.Errorf("%s: %d bytes were written", text, stream.Len())
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "neurolens-query-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// stoppingWriter calls stop once some bytes were written.
type stoppingWriter struct {
	bytes.Buffer
	after int
	stop  func()
}

func (w *stoppingWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > w.after {
		w.stop()
	}
	return w.Buffer.Write(p)
}

// TestSQLArrowStopped: a truncated stream is not mistaken for a complete one, and batches are small whatever the
// result.
func TestSQLArrowStopped(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	const text = "SELECT i, repeat('x', 1000) AS text, [i] AS list FROM range(30_000) t(i)"
	var whole bytes.Buffer
	valuetest.OK(t, sql.SelectArrow(context.Background(), db, text, &whole))
	length := whole.Len()
	got, err := querytest.ReadArrow(t, &whole)
	if err != nil || len(got.Rows) != 30_000 || got.Most > 10_000 {
		t.Fatalf("%d rows, %d in a batch: %v", len(got.Rows), got.Most, err)
	}
	for i, row := range got.Rows {
		if row[0] != int64(i) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := &stoppingWriter{after: length / 2, stop: cancel}
	if err := sql.SelectArrow(ctx, db, text, w); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that it is cancelled", err)
	}
	if got, err := querytest.ReadArrow(t, &w.Buffer); err == nil || len(got.Rows) == 0 {
		t.Errorf("half a stream of %d rows is read without an error", len(got.Rows))
	}
	failed := errors.New("no more")
	if err := sql.SelectArrow(context.Background(), db, text, failingWriter{failed}); !errors.Is(err, failed) || errors.Is(err, query.ErrInput) {
		t.Errorf("got error %v, want the one of the writer", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
