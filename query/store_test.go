package query_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	other := querytest.NewStore(t)
	valuetest.OK(t, os.WriteFile(other+"/neurolens.json", []byte(`{"format":7}`), 0o666))
	torn := querytest.NewStore(t)
	valuetest.OK(t, os.WriteFile(torn+"/neurolens.json", []byte(`{"for`), 0o666))
	for _, c := range []struct {
		dir  string
		want error
	}{
		{t.TempDir(), schema.ErrNoStore},
		{"/nowhere/at all", schema.ErrNoStore},
		{other, schema.ErrFormat},
		{torn, schema.ErrDamaged},
		{torn + "/neurolens.json", syscall.ENOTDIR},
		{"a\x00b", syscall.EINVAL},
	} {
		_, err := query.Open(ctx, []string{querytest.NewStore(t), c.dir}, query.Options{})
		if !errors.Is(err, c.want) || !errors.Is(err, query.ErrStore) || !strings.HasPrefix(err.Error(), "store "+strings.ReplaceAll(c.dir, "\x00", "�")+": ") {
			t.Errorf("%q: got %v, want %v", c.dir, err, c.want)
		}
	}
	_, err := query.Open(ctx, nil, query.Options{})
	querytest.WantInput(t, err, "no store")
	_, err = query.Open(ctx, []string{querytest.NewStore(t), ""}, query.Options{})
	querytest.WantInput(t, err, "the name of a store is empty")
}

// TestSeveralStores: two stores answer as one, and runs that both contain count once.
func TestSeveralStores(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(6)
	a, b := querytest.NewStore(t, runs[0], runs[2], runs[4], runs[5]), querytest.NewStore(t, runs[1], runs[2], runs[3])
	db := querytest.Open(t, a, b)
	ctx := context.Background()
	valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{}), []int{5, 4, 3, 2, 1, 0})
	valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: "repeat_index>=1 repeat_index<=3"}), []int{3, 2, 1})
	r := valuetest.Must(sql.Select(ctx, db, "SELECT count(*), (SELECT count(*) FROM samples) FROM runs"))
	valuetest.Equal(t, fmt.Sprint(r.Rows), "[[6 6]]", r.Rows)
	for i, run := range runs {
		valuetest.Equal(t, valuetest.Must(db.Show(ctx, run.RunID)).Run.RunID, run.RunID, "run", i, "is shown as")
	}
}

// TestOddPaths: special characters in a store's path have no meaning, even if they match another store beside it, and a
// symbolic link to a store is a store.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]string{
		"st*ore": "stXore", "st?ore": "stXore", "st[1]ore": "st1ore", "**": "x", "[!a]": "b", "a]b*": "a]bc", "a[0-9]*?{x}": "a1bc{x}", "st[*]ore": "st*ore",
		"it's": "its", "two words, ünï": "x", "~": "x", "status=error": "status=ok", "run_id=5": "run_id=6", `back\slash`: "back", "new\nline": "new",
	} {
		base := t.TempDir()
		dir, link := filepath.Join(base, name), filepath.Join(base, "link")
		store := querytest.NewStore(t, querytest.ManyRuns(3)...)
		valuetest.OK(t, errors.Join(os.CopyFS(filepath.Join(base, beside), os.DirFS(store)), os.Rename(store, dir), os.Symlink(dir, link)))
		for _, path := range []string{dir, link} {
			if path == link && name != "st*ore" && !querytest.Long() {
				continue
			}
			db := querytest.Open(t, path)
			ctx := context.Background()
			valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{}), []int{2, 1, 0}, path)
			valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: "bs>=2 status=ok"}), []int{2, 1}, path)
			r := valuetest.Must(sql.Select(ctx, db, "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM samples_long)"))
			valuetest.Equal(t, fmt.Sprint(r.Rows), "[[3 15]]", path, r.Rows)
			done, err := export.Write(ctx, db, export.Request{Dest: filepath.Join(t.TempDir(), name), Format: export.Parquet})
			if err != nil || len(done.Files) != 2 || done.Files[0].Rows != 3 || done.Files[1].Rows != 3 {
				t.Errorf("%s: %v, %v", path, done, err)
			}
		}
	}
}

// TestRefusedPath: a path that no pattern can express is refused at once.
func TestRefusedPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), `a\b*`)
	valuetest.OK(t, os.Rename(querytest.NewStore(t, querytest.ManyRuns(1)...), dir))
	_, err := query.Open(context.Background(), []string{dir}, query.Options{})
	if !errors.Is(err, query.ErrStore) || !strings.HasSuffix(err.Error(), "a path with both * and a backslash in it cannot be read") {
		t.Errorf("got %v", err)
	}
}

// TestReadOnly asks every question of a store without write permission, from a directory and with a home without it
// too, and finds all three unchanged.
func TestReadOnly(t *testing.T) {
	store := querytest.NewStore(t, querytest.ManyRuns(5)...)
	here, home, dest := t.TempDir(), t.TempDir(), t.TempDir()
	t.Chdir(here)
	t.Setenv("HOME", home)
	for _, dir := range []string{here, home} {
		querytest.Protect(t, dir)
	}
	querytest.Protect(t, store)
	before := querytest.Snapshot(t, store) + querytest.Snapshot(t, here) + querytest.Snapshot(t, home)
	db := querytest.Open(t, store)
	ask(t, db, dest)
	if after := querytest.Snapshot(t, store) + querytest.Snapshot(t, here) + querytest.Snapshot(t, home); after != before {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// ask asks every kind of question.
func ask(t *testing.T, db *query.DB, dest string) {
	t.Helper()
	ctx := context.Background()
	l := valuetest.Must(db.List(ctx, query.ListRequest{Filter: "bs>=2 session=last", Sort: []string{"-p99"}}))
	valuetest.Equal(t, l.Total, 4, "List")
	valuetest.Must(db.Show(ctx, l.Runs[0].RunID))
	valuetest.Must(db.SessionPoints(ctx, querytest.SessionID(1), nil))
	valuetest.Must(sql.Select(ctx, db, "SELECT * FROM runs JOIN samples_long USING (run_id) ORDER BY ALL"))
	valuetest.Must(export.Write(ctx, db, export.Request{Dest: dest, Format: export.Parquet}))
	valuetest.Must(export.Write(ctx, db, export.Request{Dest: "-", Format: export.CSV, Stdout: new(bytes.Buffer)}))
}

// TestDamaged: every question names a file that is truncated, foreign, changed, or not the run of its name.
func TestDamaged(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir() + "/other.parquet"
	valuetest.Must(export.Write(context.Background(), querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(1)...)), export.Request{Dest: filepath.Dir(foreign), Format: export.Parquet}))
	valuetest.OK(t, os.Rename(filepath.Dir(foreign)+"/samples.parquet", foreign))
	damages := map[string]func(path string) error{
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"torn":    func(path string) error { return os.Truncate(path, 2000) },
		"text":    func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("PAR1"), 100), 0o666) },
		"foreign": func(path string) error { return copyFile(foreign, path) },
		"twice":   func(path string) error { return writeTwice(t, path) },
		"other run": func(path string) error {
			files, err := filepath.Glob(filepath.Dir(path) + "/*.parquet")
			if err != nil {
				return err
			}
			return copyFile(files[0], path)
		},
	}
	for name, damage := range damages {
		store := querytest.NewStore(t, querytest.ManyRuns(3)...)
		files := querytest.LiveFiles(t, store)
		bad := files[len(files)-1]
		valuetest.OK(t, damage(bad))
		db := querytest.Open(t, store)
		ctx := context.Background()
		_, list := db.List(ctx, query.ListRequest{Limit: 1})
		_, filter := db.List(ctx, query.ListRequest{Filter: "status=ok"})
		_, points := db.SessionPoints(ctx, querytest.SessionID(1), nil)
		_, selected := sql.Select(ctx, db, "SELECT count(*) FROM runs")
		_, samples := sql.Select(ctx, db, "SELECT count(*) FROM samples_long")
		for question, err := range map[string]error{"list": list, "filter": filter, "points": points, "sql": selected, "samples": samples} {
			if !errors.Is(err, schema.ErrDamaged) || !errors.Is(err, query.ErrStore) || !strings.Contains(err.Error(), filepath.Base(bad)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: got %v", name, question, err)
			}
		}
	}
}

// writeTwice puts the id of the run in a file there a second time.
func writeTwice(t *testing.T, path string) error {
	twice := path + ".twice"
	querytest.DuckDB(t, "COPY (SELECT run_id FROM '"+path+"', range(2)) TO '"+twice+"' (FORMAT parquet, FIELD_IDS {run_id: 1})")
	return os.Rename(twice, path)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o666)
}

// TestVanished: a run that disappears between the listing and the reading is no error.
func TestVanished(t *testing.T) {
	t.Parallel()
	store := querytest.LiveStore(t, querytest.ManyRuns(40)...)
	db := querytest.Open(t, store)
	files := querytest.LiveFiles(t, store)
	done := make(chan error)
	go func() {
		for _, f := range files[:30] {
			if err := os.Remove(f); err != nil {
				done <- err
				return
			}
		}
		close(done)
	}()
	for range 12 {
		l, err := db.List(context.Background(), query.ListRequest{Filter: "status=ok"})
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && l.Total < 10 {
			t.Fatalf("%d runs, %v", l.Total, err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	valuetest.Equal(t, valuetest.Must(db.List(context.Background(), query.ListRequest{Filter: "status=ok"})).Total, 10)
}

// TestEveryColumn: each column is returned by the views under its unquoted name, for a run that has them all.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	run := querytest.Everything()
	db := querytest.Open(t, querytest.NewStore(t, run))
	ctx := context.Background()
	for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		var columns, counts []string
		for _, c := range table.Columns {
			if c.Name != "steady_index" { // not computed yet, so not written
				columns, counts = append(columns, c.Name), append(counts, "count("+c.Name+")")
			}
		}
		r, err := sql.Select(ctx, db, "SELECT "+strings.Join(counts, ", ")+" FROM "+table.Name)
		valuetest.OK(t, err, table.Name)
		for i, n := range r.Rows[0] {
			if n == int64(0) {
				t.Errorf("%s.%s has no value", table.Name, columns[i])
			}
		}
	}
	// As one, against what was written.
	l := querytest.Pages(t, db, query.ListRequest{})
	for i, want := range schema.RunRow(&run, schema.DigestOf(&run)) {
		if got := l.Rows[0][i]; plainText(got) != plainText(want) {
			t.Errorf("%s: got %v, want %v", l.Columns[i].Name, got, want)
		}
	}
}

// plainText prints values of the registry and of a Table alike.
func plainText(v any) string {
	switch v := v.(type) {
	case [][]any: // structs: values in the order of the fields
		var all []string
		for _, fields := range v {
			all = append(all, fmt.Sprint(map[string]any{"kind": fields[0], "path": fields[1], "sha256": fields[2], "bytes": fields[3]}))
		}
		return fmt.Sprint(all)
	default:
		return fmt.Sprint(v)
	}
}
