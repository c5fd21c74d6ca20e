package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// rowsOf returns the rows of a run in the tables.
func rowsOf(r schema.Run) map[*schema.Table][][]any {
	stat.Complete(&r)
	r.StartedAt = r.StartedAt.Truncate(time.Microsecond) // what a file keeps of it
	rows := map[*schema.Table][][]any{schema.Runs: {schema.RunRow(&r, schema.DigestOf(&r))}}
	for i := range r.Metrics {
		rows[schema.Samples] = append(rows[schema.Samples], append([]any{r.RunID}, schema.MetricRow(&r.Metrics[i])...))
	}
	slices.SortFunc(rows[schema.Samples], func(a, b []any) int { return strings.Compare(a[1].(string), b[1].(string)) })
	for i := range r.Ops {
		rows[schema.Ops] = append(rows[schema.Ops], append([]any{r.RunID}, schema.OpRow(&r.Ops[i])...))
	}
	return rows
}

// bareRun returns a run that ended before anything was measured.
func bareRun() schema.Run {
	r := runtest.Small()
	r.Primary, r.Metrics, r.Status = "", nil, schema.StatusLost
	return r
}

// variety returns runs with everything, with little, and with no samples, by id.
func variety(n int) []schema.Run {
	var runs []schema.Run
	for range n {
		runs = append(runs, runtest.Full(), runtest.Small(), bareRun(), runtest.Realistic())
	}
	slices.SortFunc(runs, func(a, b schema.Run) int { return strings.Compare(a.RunID, b.RunID) })
	return runs
}

// same compares rows, NaN with NaN and the sign of zero included.
func same(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if a == nil || b == nil || x.Type() != y.Type() {
		return a == nil && b == nil
	}
	switch a := a.(type) {
	case float64:
		return math.Float64bits(a) == math.Float64bits(b.(float64))
	case [][]any, []any, []float64:
		return x.Len() == y.Len() && x.IsNil() == y.IsNil() &&
			!slices.ContainsFunc(slices.Collect(seq(x.Len())), func(i int) bool { return !same(x.Index(i).Interface(), y.Index(i).Interface()) })
	case map[string]float64:
		b := b.(map[string]float64)
		for k, v := range a {
			if other, ok := b[k]; !ok || !same(v, other) {
				return false
			}
		}
		return len(a) == len(b)
	}
	return reflect.DeepEqual(a, b)
}

func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func mustBeSame(t *testing.T, table *schema.Table, got, want []any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", table.Name, len(got), len(want))
	}
	for i, c := range table.Columns {
		if !same(got[i], want[i]) {
			t.Errorf("%s.%s is %#v, want %#v", table.Name, c.Name, got[i], want[i])
		}
	}
}

func TestReadLive(t *testing.T) {
	e := testEncoder()
	for _, r := range variety(2) {
		stat.Complete(&r)
		content := valuetest.Must(e.Encode(&r, schema.DigestOf(&r)))
		live := valuetest.Must(ReadLive(content))
		remembered := LiveOf(&r, schema.DigestOf(&r))
		mustBeSame(t, schema.Runs, remembered.Run, live.Run)
		if !same(remembered.Samples, live.Samples) || !same(remembered.Ops, live.Ops) {
			t.Errorf("run %s: other samples or ops than in its file", r.RunID)
		}
		want := rowsOf(r)
		if live.RunID != r.RunID || live.Digest != schema.DigestOf(&r) || len(live.Samples) != len(r.Metrics) || len(live.Ops) != len(r.Ops) {
			t.Fatalf("%s %s: %d samples, %d ops", live.RunID, live.Digest, len(live.Samples), len(live.Ops))
		}
		mustBeSame(t, schema.Runs, live.Run, want[schema.Runs][0])
		for i, row := range live.Samples {
			mustBeSame(t, schema.Samples, row, want[schema.Samples][i])
		}
		for i, row := range live.Ops {
			mustBeSame(t, schema.Ops, row, want[schema.Ops][i])
		}
	}
}

// TestLiveOfIsCopy: a run that changes later does not change what was made of it.
func TestLiveOfIsCopy(t *testing.T) {
	r := runtest.Full()
	digest := schema.DigestOf(&r)
	live := LiveOf(&r, digest)
	for i := range r.Metrics {
		m := &r.Metrics[i]
		for _, list := range [][]int64{m.Ticks, m.WarmupTicks, m.AtNS, m.IterationsPerSample} {
			for k := range list {
				list[k]++
			}
		}
		for _, list := range [][]float64{m.Reals, m.WarmupReals} {
			for k := range list {
				list[k]++
			}
		}
	}
	for i := range r.Ops {
		for name := range r.Ops[i].Counters {
			r.Ops[i].Counters[name]++
		}
		for k := range r.Ops[i].Kernels {
			r.Ops[i].Kernels[k] = "other"
		}
	}
	for _, texts := range []map[string]string{r.Env.Facts, r.Env.Missing, r.Params, r.Tags, r.Applied} {
		for name := range texts {
			texts[name] = "other"
		}
	}
	if got := schema.DigestOfRows(live.Run, live.Samples, live.Ops); got != digest {
		t.Errorf("digest %s, want %s", got, digest)
	}
}

// TestReadLiveDigest: a file that matches its hash and not its digest is damaged.
func TestReadLiveDigest(t *testing.T) {
	r := runtest.Full()
	for _, digest := range []string{"", schema.DigestOf(new(runtest.Full()))} {
		content := valuetest.Must(testEncoder().Encode(&r, digest))
		if _, err := ReadLive(content); !errors.Is(err, schema.ErrDamaged) || !strings.Contains(err.Error(), r.RunID) {
			t.Errorf("digest %q: %v", digest, err)
		}
	}
}

// write makes a file of rows.
func write(t testing.TB, table *schema.Table, rows [][]any) *memory {
	t.Helper()
	out := &memory{}
	w := NewWriter(out, table, "test", nil)
	for _, row := range rows {
		valuetest.OK(t, w.Write(row))
	}
	valuetest.OK(t, w.Close())
	valuetest.OK(t, schema.CheckFileHash(out.content))
	return out
}

// readAll reads all rows of a file.
func readAll(t testing.TB, table *schema.Table, content []byte, columns ...string) [][]any {
	t.Helper()
	f := valuetest.Must(Open(bytes.NewReader(content), int64(len(content)), table))
	r, again := f.Reader(columns...), f.Reader(columns...)
	var rows [][]any
	into := make([]any, f.Columns())
	for {
		row, err := r.Read()
		if intoErr := again.ReadInto(into); intoErr != err || err == nil && !slices.EqualFunc(into, row, same) {
			t.Errorf("row %d: read into a row: %v, %v; otherwise: %v, %v", len(rows), into, intoErr, row, err)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		valuetest.OK(t, err)
		rows = append(rows, row)
	}
	if f.Rows() != int64(len(rows)) {
		t.Errorf("%d rows, and the file says %d", len(rows), f.Rows())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return rows
}

// TestSealed writes and reads what is in many live files: the same values, and of each run the same digest.
func TestSealed(t *testing.T) {
	want := map[*schema.Table][][]any{}
	for _, r := range variety(100) {
		for table, rows := range rowsOf(r) {
			want[table] = append(want[table], rows...)
		}
	}
	for table, rows := range want {
		got := readAll(t, table, write(t, table, rows).content)
		if len(got) != len(rows) {
			t.Fatalf("%s: %d rows, want %d", table.Name, len(got), len(rows))
		}
		for i := range got {
			mustBeSame(t, table, got[i], rows[i])
		}
	}
}

// TestColumns reads some of the columns.
func TestColumns(t *testing.T) {
	runs := variety(3)
	var rows [][]any
	for _, r := range runs {
		rows = append(rows, rowsOf(r)[schema.Runs]...)
	}
	for i, row := range readAll(t, schema.Runs, write(t, schema.Runs, rows).content, "run_id", "env") {
		for j, c := range schema.Runs.Columns {
			if asked := c.Name == "run_id" || c.Name == "env"; asked && !same(row[j], rows[i][j]) || !asked && row[j] != nil {
				t.Errorf("row %d: %s is %v", i, c.Name, row[j])
			}
		}
	}
}

// TestRowGroups: large files are read in order through all row groups, and no group is larger than the format allows.
func TestRowGroups(t *testing.T) {
	ticks := make([]int64, 300_000)
	var samples, ops [][]any
	id := runtest.Small().RunID
	for i := range 9 {
		ticks[0] = int64(i)
		row := make([]any, len(schema.Samples.Columns))
		row[0], row[1], row[7] = id, fmt.Sprint("m", i), slices.Clone(ticks)
		samples = append(samples, row)
	}
	for i := range 2*groupRows + 1 {
		row := make([]any, len(schema.Ops.Columns))
		row[0], row[1] = id, int64(i)
		ops = append(ops, row)
	}
	for table, rows := range map[*schema.Table][][]any{schema.Samples: samples, schema.Ops: ops} {
		out := write(t, table, rows)
		f := valuetest.Must(Open(bytes.NewReader(out.content), int64(len(out.content)), table))
		if n := len(f.file.RowGroups()); n != 3 {
			t.Errorf("%s: %d row groups, want 3", table.Name, n)
		}
		for i, row := range readAll(t, table, out.content) {
			if !same(row, rows[i]) {
				t.Fatalf("%s: row %d differs", table.Name, i)
			}
		}
	}
}
