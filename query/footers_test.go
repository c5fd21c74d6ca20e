package query_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// questions returns questions of all kinds about the runs of a store.
func questions(t *testing.T, dir string) map[string]error {
	t.Helper()
	db := querytest.Open(t, dir)
	ctx := context.Background()
	_, list := db.List(ctx, query.ListRequest{})
	_, newest := db.List(ctx, query.ListRequest{Limit: 2})
	_, filtered := db.List(ctx, query.ListRequest{Filter: "status=ok"})
	_, selected := sql.Select(ctx, db, "SELECT count(*) FROM runs")
	_, census := db.Census(ctx)
	return map[string]error{"list": list, "newest": newest, "filter": filtered, "sql": selected, "census": census}
}

// checkRefused fails where a question is answered, or its error does not name the file, or is of another kind.
func checkRefused(t *testing.T, dir, file string, want error) {
	t.Helper()
	for question, err := range questions(t, dir) {
		if !errors.Is(err, query.ErrStore) || !errors.Is(err, want) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %v of %s", question, err, want, file)
		}
	}
}

// TestFooters has files that the engine reads without an error although their contents do not match their names: every
// question is refused, and each error names the file.
func TestFooters(t *testing.T) {
	t.Parallel()
	change := func(t *testing.T, path string, do func(content []byte) []byte) {
		t.Helper()
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, do(content), 0o666)
		}
		valuetest.OK(t, err)
	}
	for _, rows := range []int{3, 5} {
		t.Run(fmt.Sprintf("a sealed file of 4 runs is named after %d", rows), func(t *testing.T) {
			t.Parallel()
			dir := querytest.NewStore(t)
			f := querytest.Seal(t, dir, querytest.ManyRuns(4)...)
			other := f
			other.Rows = rows
			for _, zone := range []string{schema.RunsDir, schema.SamplesDir} {
				valuetest.OK(t, os.Rename(filepath.Join(dir, f.Path(zone)), filepath.Join(dir, other.Path(zone))))
			}
			checkRefused(t, dir, other.Path(schema.RunsDir), schema.ErrDamaged)
		})
	}
	t.Run("a sealed file of a later format", func(t *testing.T) {
		t.Parallel()
		dir := querytest.NewStore(t)
		f := querytest.Seal(t, dir, querytest.ManyRuns(4)...)
		change(t, filepath.Join(dir, f.Path(schema.RunsDir)), laterFormat)
		checkRefused(t, dir, f.Path(schema.RunsDir), schema.ErrFormat)
	})
	t.Run("a live file of a later format", func(t *testing.T) {
		t.Parallel()
		dir := querytest.LiveStore(t, querytest.ManyRuns(2)...)
		path := querytest.LiveFiles(t, dir)[0]
		change(t, path, laterFormat)
		checkRefused(t, dir, filepath.Base(path), schema.ErrFormat)
	})
	t.Run("a live file of a later format that says much behind it", func(t *testing.T) {
		t.Parallel()
		dir := querytest.LiveStore(t, querytest.ManyRuns(2)...)
		path := querytest.LiveFiles(t, dir)[0]
		querytest.DuckDB(t, "COPY (FROM '"+path+"') TO '"+path+".new' (FORMAT parquet, KV_METADATA {'neurolens.format': '2', 'more': '"+strings.Repeat("x", 1<<11)+"'})")
		valuetest.OK(t, os.Rename(path+".new", path))
		checkRefused(t, dir, filepath.Base(path), schema.ErrFormat)
	})
	t.Run("a live file without a row", func(t *testing.T) {
		t.Parallel()
		dir := querytest.LiveStore(t, querytest.ManyRuns(2)...)
		path := querytest.LiveFiles(t, dir)[0]
		querytest.DuckDB(t, "COPY (SELECT ''::VARCHAR AS run_id WHERE false) TO '"+path+"' (FORMAT parquet, FIELD_IDS {run_id: 1}, KV_METADATA {'neurolens.format': '1'})")
		checkRefused(t, dir, filepath.Base(path), schema.ErrDamaged)
	})
	t.Run("a live file is that of another run", func(t *testing.T) {
		t.Parallel()
		dir := querytest.LiveStore(t, querytest.ManyRuns(2)...)
		files := querytest.LiveFiles(t, dir)
		change(t, files[0], func([]byte) []byte {
			content := valuetest.Must(os.ReadFile(files[1]))
			return content
		})
		checkRefused(t, dir, filepath.Base(files[0]), schema.ErrDamaged)
	})
	t.Run("a directory in the place of a live file", func(t *testing.T) {
		t.Parallel()
		dir := querytest.LiveStore(t, querytest.ManyRuns(2)...)
		path := querytest.LiveFiles(t, dir)[0]
		valuetest.OK(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o777)))
		checkRefused(t, dir, filepath.Base(path), schema.ErrDamaged)
	})
	t.Run("columns without field ids", func(t *testing.T) {
		t.Parallel()
		dir := querytest.NewStore(t)
		f := querytest.Seal(t, dir, querytest.ManyRuns(4)...)
		path := filepath.Join(dir, f.Path(schema.RunsDir))
		querytest.DuckDB(t, "COPY (FROM '"+path+"') TO '"+path+".new' (FORMAT parquet, KV_METADATA {'neurolens.format': '1'})")
		valuetest.OK(t, os.Rename(path+".new", path))
		checkRefused(t, dir, f.Path(schema.RunsDir), schema.ErrDamaged)
	})
	t.Run("a column of another type", func(t *testing.T) {
		t.Parallel()
		dir := querytest.NewStore(t)
		f := querytest.Seal(t, dir, querytest.ManyRuns(4)...)
		path := filepath.Join(dir, f.Path(schema.RunsDir))
		querytest.DuckDB(t, "COPY (SELECT 'x' AS run_id, 'high' AS p50 FROM range(4)) TO '"+path+
			"' (FORMAT parquet, FIELD_IDS {run_id: 1, p50: 75}, KV_METADATA {'neurolens.format': '1'})")
		checkRefused(t, dir, f.Path(schema.RunsDir), schema.ErrDamaged)
	})
}

// laterFormat returns a file that says that it is of another format.
func laterFormat(content []byte) []byte {
	content = bytes.Clone(content)
	key := []byte("neurolens.format\x18\x01")
	content[bytes.LastIndex(content, key)+len(key)] = '2'
	return content
}
