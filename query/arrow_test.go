package query_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
)

// arrowTable is a stream that was read to its end.
type arrowTable struct {
	schema *arrow.Schema
	rows   [][]any // as Type of a Table says
	most   int     // rows of the longest batch
}

func readArrow(t testing.TB, r io.Reader) (arrowTable, error) {
	t.Helper()
	reader, err := ipc.NewReader(r)
	if err != nil {
		return arrowTable{}, err
	}
	defer reader.Release()
	all := arrowTable{schema: reader.Schema()}
	for reader.Next() {
		all.add(t, reader.RecordBatch())
	}
	return all, reader.Err()
}

func (a *arrowTable) add(t testing.TB, batch arrow.RecordBatch) {
	t.Helper()
	a.most = max(a.most, int(batch.NumRows()))
	for i := range int(batch.NumRows()) {
		row := make([]any, batch.NumCols())
		for j := range row {
			row[j] = arrowValue(t, batch.Column(j), i)
		}
		a.rows = append(a.rows, row)
	}
}

// arrowValue is a value of an array, of the Go type that answer.Type names; text for a date.
func arrowValue(t testing.TB, values arrow.Array, i int) any {
	t.Helper()
	if values.IsNull(i) {
		return nil
	}
	switch values := values.(type) {
	case *array.Int64:
		return values.Value(i)
	case *array.Float64:
		return values.Value(i)
	case *array.Boolean:
		return values.Value(i)
	case *array.String:
		return strings.Clone(values.Value(i))
	case *array.Binary:
		return strings.ToLower(string(values.Value(i)))
	case *array.Date32:
		return values.Value(i).ToTime().Format(time.DateOnly)
	case *array.Timestamp:
		return values.Value(i).ToTime(arrow.Microsecond).UTC()
	case *array.Map:
		m := map[string]any{}
		first, last := values.ValueOffsets(i)
		for k := first; k < last; k++ {
			m[arrowValue(t, values.Keys(), int(k)).(string)] = arrowValue(t, values.Items(), int(k))
		}
		return m
	case *array.List:
		list := []any{}
		first, last := values.ValueOffsets(i)
		for k := first; k < last; k++ {
			list = append(list, arrowValue(t, values.ListValues(), int(k)))
		}
		return list
	case *array.Struct:
		m := map[string]any{}
		for k, f := range values.DataType().(*arrow.StructType).Fields() {
			m[f.Name] = arrowValue(t, values.Field(k), i)
		}
		return m
	}
	t.Fatalf("an array of %T", values)
	return nil
}

// mixedStore is a store of runs with every value, some of them sealed.
func mixedStore(t testing.TB) string {
	t.Helper()
	sweep := runtest.NewSweep(1, 20)
	store := querytest.NewStore(t, runtest.Full(), runtest.Small())
	s, err := ingest.Open(store, "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := s.Append(sweep.Next()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	querytest.Append(t, store, runtest.Full())
	return store
}

// TestSQLArrow: a stream has the values that SQL gives, of the types of the columns.
func TestSQLArrow(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, mixedStore(t))
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
		got, err := readArrow(t, &stream)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if len(got.rows) != len(want.Rows) {
			t.Errorf("%s: %d rows, want %d", text, len(got.rows), len(want.Rows))
			continue
		}
		for i, row := range want.Rows {
			for j, v := range row {
				if name := want.Columns[j].Name; !equalValues(got.rows[i][j], v) {
					t.Errorf("%s: row %d, %s: got %#v, want %#v", text, i, name, got.rows[i][j], v)
				}
			}
		}
	}
}

// equalValues compares values to the bit.
func equalValues(a, b any) bool {
	x, isReal := a.(float64)
	y, both := b.(float64)
	if isReal && both {
		return x == y || x != x && y != y
	}
	if list, ok := a.([]any); ok {
		other, ok := b.([]any)
		if !ok || len(list) != len(other) {
			return false
		}
		for i := range list {
			if !equalValues(list[i], other[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// TestSQLArrowSchema: names are unique, and the stored unit of a column is with it.
func TestSQLArrowSchema(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	var stream bytes.Buffer
	if err := sql.SelectArrow(context.Background(), db, "SELECT measure_ns, p50 AS measure, p50 AS setup_ns, started_at, run_id AS a, 2 AS a, uuid() AS u, INTERVAL 1 DAY AS v, 'x'::BLOB AS b FROM runs", &stream); err != nil {
		t.Fatal(err)
	}
	got, err := readArrow(t, &stream)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range got.schema.Fields() {
		unit, _ := f.Metadata.GetValue("unit")
		fields = append(fields, strings.TrimSpace(f.Name+" "+f.Type.String()+" "+unit))
	}
	want := "measure_ns int64 ns, measure float64, setup_ns float64, started_at timestamp[us, tz=UTC], a utf8, a_1 int64, u utf8, v utf8, b binary"
	if all := strings.Join(fields, ", "); all != want {
		t.Errorf("fields are\n%s, want\n%s", all, want)
	}
}

// TestSQLArrowRefusals: what is refused is one line and writes nothing.
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

// TestSQLArrowStopped: a stream that ends too early is not taken for a whole one, and batches are small whatever the
// result.
func TestSQLArrowStopped(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	const text = "SELECT i, repeat('x', 1000) AS text, [i] AS list FROM range(30_000) t(i)"
	var whole bytes.Buffer
	if err := sql.SelectArrow(context.Background(), db, text, &whole); err != nil {
		t.Fatal(err)
	}
	length := whole.Len()
	got, err := readArrow(t, &whole)
	if err != nil || len(got.rows) != 30_000 || got.most > 10_000 {
		t.Fatalf("%d rows, %d in a batch: %v", len(got.rows), got.most, err)
	}
	for i, row := range got.rows {
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
	if got, err := readArrow(t, &w.Buffer); err == nil || len(got.rows) == 0 {
		t.Errorf("half a stream of %d rows is read without an error", len(got.rows))
	}
	failed := errors.New("no more")
	if err := sql.SelectArrow(context.Background(), db, text, failingWriter{failed}); !errors.Is(err, failed) || errors.Is(err, query.ErrInput) {
		t.Errorf("got error %v, want the one of the writer", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
