package scan_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// directStore returns a store with live and sealed runs, some with every column, and events of all kinds.
func directStore(t *testing.T) string {
	runs := append(querytest.VariousRuns(), querytest.Everything())
	runs[1].Tags, runs[2].Tags = nil, map[string]string{"kept": "no", "who": "me"}
	runs[45].Metrics[0].Unit = "B"
	for i := range runs {
		runs[i].PointID = schema.PointID(&runs[i])
	}
	dir := querytest.LiveStore(t, runs[40:]...)
	querytest.Seal(t, dir, runs[:20]...)
	querytest.Seal(t, dir, runs[20:40]...)
	querytest.SayMuch(t, dir, runs)
	e := schema.Event{Kind: schema.EventLost, At: querytest.Start, Key: schema.Samples.Name, Value: "a bad page", Runs: []string{runs[5].RunID, runs[60].RunID}}
	querytest.WriteEvent(t, dir, schema.ULIDFrom(e.At, [10]byte{1}), e)
	return dir
}

// TestDirect: rows that are read without DuckDB are those of DuckDB, in every column.
func TestDirect(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{"events": directStore(t), "every value": querytest.MixedStore(t)}
	for name, dir := range dirs {
		for _, stores := range []*scan.Stores{querytest.Open(t, dir).Stores(), querytest.Open(t, dir).Stores().WithRemoved()} {
			err := stores.Query(t.Context(), func(r *scan.Reader) error {
				got, ok, _ := scan.Direct(r.Src, nil, schema.Runs.Columns)
				if !ok {
					t.Errorf("%s: not read", name)
					return nil
				}
				if err := r.ApplyEvents(t.Context()); err != nil {
					return err
				}
				want, err := r.Conn.Table(t.Context(), duck.Statement{SQL: r.Src.RunsSQL()})
				if err != nil {
					return err
				}
				checkSameRows(t, name, got, want)
				checkSome(t, r, want)
				return nil
			})
			if err != nil {
				t.Error(name, err)
			}
		}
	}
}

// checkSome reads a third of the runs, also of each part of the sources alone.
func checkSome(t *testing.T, r *scan.Reader, all answer.Table) {
	t.Helper()
	var ids []schema.ULID
	want := answer.Table{Columns: all.Columns}
	for i := 0; i < len(all.Rows); i += 3 {
		var err error
		if ids, err = scan.AppendID(ids, all.Rows[i][0]); err != nil {
			t.Fatal(err)
		}
		want.Rows = append(want.Rows, all.Rows[i])
	}
	got, ok, _ := scan.Direct(r.Src, ids, schema.Runs.Columns)
	if !ok {
		t.Error("some runs are not read")
	}
	checkSameRows(t, "some", got, want)
	got.Rows = nil
	for _, part := range r.Src.Parts() {
		rows, ok, _ := scan.Direct(part, ids, schema.Runs.Columns)
		if !ok {
			t.Error("a part is not read")
		}
		got.Rows = append(got.Rows, rows.Rows...)
	}
	checkSameRows(t, "in parts", got, want)
}

// checkSameRows compares tables of runs, in whatever order their rows are.
func checkSameRows(t *testing.T, name string, got, want answer.Table) {
	t.Helper()
	if len(got.Rows) != len(want.Rows) || len(want.Rows) == 0 {
		t.Fatalf("%s: %d rows, want %d", name, len(got.Rows), len(want.Rows))
	}
	for _, rows := range [][][]any{got.Rows, want.Rows} {
		slices.SortFunc(rows, func(a, b []any) int { return slices.Compare([]byte(a[0].(string)), []byte(b[0].(string))) })
	}
	for k, c := range want.Columns {
		if got.Columns[k].Name != c.Name || got.Columns[k].Type != c.Type {
			t.Errorf("%s: column %v, want %v", name, got.Columns[k], c)
		}
		for i := range want.Rows {
			if value, right := got.Rows[i][k], want.Rows[i][k]; !reflect.DeepEqual(value, right) {
				t.Errorf("%s: run %v: %s is %#v, want %#v", name, want.Rows[i][0], c.Name, value, right)
			}
		}
	}
}

// TestDirectRefuses: a file that is not what its name says is left to DuckDB, whose answer is an error.
func TestDirectRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, dir string){
		"another live run": func(t *testing.T, dir string) {
			files := querytest.LiveFiles(t, dir)
			copyFile(t, files[0], files[1])
		},
		"a live run as sealed": func(t *testing.T, dir string) {
			copyFile(t, querytest.LiveFiles(t, dir)[0], sealedFile(t, dir, 0))
		},
		"another number of rows": func(t *testing.T, dir string) {
			runs := querytest.VariousRuns()
			querytest.WriteTable(t, sealedFile(t, dir, 0), schema.Runs, nil, func(r *schema.Run) [][]any {
				return [][]any{schema.RunRow(r, schema.DigestOf(r))}
			}, runs[:19])
		},
		"half a file": func(t *testing.T, dir string) {
			if err := os.Truncate(sealedFile(t, dir, 0), 2000); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range tests {
		dir := directStore(t)
		damage(t, dir)
		err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
			if _, ok, _ := scan.Direct(r.Src, nil, schema.Runs.Columns); ok {
				t.Errorf("%s: read", name)
			}
			_, _, err := r.NewestRows(t.Context(), 60, schema.Runs.Columns)
			return err
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func sealedFile(t *testing.T, dir string, n int) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, schema.RunsDir, "*", "*.parquet"))
	if err != nil || len(files) <= n {
		t.Fatal(files, err)
	}
	return files[n]
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.Remove(to), os.WriteFile(to, content, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDirectDamaged: a file with a changed byte is not read, and mostly an error that names it. The Parquet library would take all memory for
// some of them. Changes of the format, or of where the hash is, are left to DuckDB.
func TestDirectDamaged(t *testing.T) {
	t.Parallel()
	dir := querytest.LiveStore(t, querytest.FullRun(1))
	querytest.Seal(t, dir, querytest.FullRun(2), querytest.FullRun(3))
	for _, path := range []string{querytest.LiveFiles(t, dir)[0], sealedFile(t, dir, 0)} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		left := 0 // to DuckDB
		for at := 0; at < len(content); at += 1 + len(content)/200 {
			content[at] ^= 2
			err := os.WriteFile(path, content, 0o600)
			content[at] ^= 2
			if err != nil {
				t.Fatal(err)
			}
			err = querytest.Open(t, dir).Stores().WithSources(t.Context(), func(src *scan.Sources) error {
				_, ok, err := scan.Direct(src, nil, schema.Runs.Columns)
				if ok {
					t.Errorf("%s is read although byte %d is changed", path, at)
				}
				return err
			})
			if err == nil {
				left++
			} else if !errors.Is(err, query.ErrStore) || !errors.Is(err, schema.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("byte %d of %s is changed: error %v", at, path, err)
			}
		}
		if left > 10 {
			t.Errorf("%d changes of %s are left to DuckDB", left, path)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNewestStartsNoDuckDB: the newest runs are listed without DuckDB, whatever events say about them, and also while live runs are sealed.
func TestNewestStartsNoDuckDB(t *testing.T) {
	t.Parallel()
	dir := directStore(t)
	querytest.Seal(t, dir, querytest.VariousRuns()[40:50]...) // they are live too
	db := querytest.Open(t, dir)
	db.Stores().StartBy(func() (*duck.Engine, error) { return nil, errors.New("DuckDB is started") })
	err := db.Stores().QueryScope(t.Context(), scan.Scope{Newest: 20, Count: true}, func(r *scan.Reader) error {
		found, rows, err := r.NewestRows(t.Context(), 20, schema.Runs.Columns)
		if err == nil && (len(found.IDs) != 20 || len(rows.Rows) != 20) {
			t.Errorf("%d runs, %d rows", len(found.IDs), len(rows.Rows))
		}
		if err == nil {
			_, err = r.Rows(t.Context(), found.IDs[:3], []*schema.Column{schema.RunColumn("env")})
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDirectBytes: of files with many samples, only a few are read whole.
func TestDirectBytes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var runs []schema.Run
	for i := range 12 {
		runs = append(runs, querytest.NewRun(i, 1000, func(r *schema.Run) {
			m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelIteration, Reals: make([]float64, 400_000)}
			for k := range m.Reals {
				m.Reals[k] = random.Float64()
			}
			r.Metrics, r.Primary = []schema.Metric{m}, m.Name
		}))
	}
	for n, read := range map[int]bool{3: true, 12: false} {
		dir := querytest.LiveStore(t, runs[:n]...)
		err := querytest.Open(t, dir).Stores().WithSources(t.Context(), func(src *scan.Sources) error {
			_, ok, err := scan.Direct(src, nil, []*schema.Column{schema.RunColumn("run_id")})
			if ok != read {
				t.Errorf("%d runs of 3 MB are read: %t", n, ok)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
