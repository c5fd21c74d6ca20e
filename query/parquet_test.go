package query_test

import (
	"bytes"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema/valuetest"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestParquet reads every column of appended runs with another reader than TestDuckDB, and the types of the columns.
func TestParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, r := range appendVariety(t, dir) {
		content := valuetest.Must(os.ReadFile(filepath.Join(dir, pathOf(t, dir, r))))
		file := valuetest.Must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
		checkColumns(t, file)
		row := reflect.New(file.Schema().GoType())
		valuetest.OK(t, parquet.NewReader(file).Read(row.Interface()))
		want := liveRow(r)
		for i, c := range schema.LiveColumns() {
			sameValue(t, c, goValue(c, child(row.Elem(), c.Name)), want[i])
		}
	}
}

// checkColumns holds the columns of a file against the registry: order, names, field ids, repetition; and the path in
// each chunk, by which some readers find it.
func checkColumns(t *testing.T, file *parquet.File) {
	t.Helper()
	var want, got []string
	leaves := map[string]bool{}
	var walk func(prefix string, columns []*schema.Column, node parquet.Node)
	walk = func(prefix string, columns []*schema.Column, node parquet.Node) {
		fields := node.Fields()
		if len(fields) == 1 && (fields[0].Name() == "list" || fields[0].Name() == "key_value") {
			prefix, node = prefix+fields[0].Name()+".", fields[0]
		}
		for _, c := range columns {
			i := slices.IndexFunc(node.Fields(), func(f parquet.Field) bool { return f.Name() == c.Name })
			if i < 0 {
				continue
			}
			f := node.Fields()[i]
			want = append(want, fmt.Sprint(prefix, c.Name, c.ID, c.Required))
			if c.Children == nil {
				leaves[prefix+c.Name] = true
			}
			walk(prefix+c.Name+".", c.Children, f)
		}
		for _, f := range node.Fields() {
			if f.ID() == 0 {
				t.Errorf("%s%s has no field id", prefix, f.Name())
			}
		}
	}
	walk("", schema.LiveColumns(), file.Schema())

	var list func(prefix string, node parquet.Node)
	list = func(prefix string, node parquet.Node) {
		for _, f := range node.Fields() {
			if f.Name() != "list" && f.Name() != "key_value" {
				got = append(got, fmt.Sprint(prefix, f.Name(), f.ID(), f.Required()))
			}
			list(prefix+f.Name()+".", f)
		}
	}
	list("", file.Schema())
	valuetest.DeepEqual(t, got, want, "columns")
	for _, chunk := range file.Metadata().RowGroups[0].Columns {
		if path := strings.Join(chunk.MetaData.PathInSchema, "."); !leaves[path] {
			t.Errorf("a column chunk has the path %q", path)
		}
	}
}

// goValue takes a value out of the Go struct that parquet-go makes of a file's columns.
func goValue(c *schema.Column, v reflect.Value) any {
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil
	}
	switch c.Kind {
	case schema.KindString:
		return string(v.Bytes())
	case schema.KindTime:
		return time.UnixMicro(v.Int())
	case schema.KindList:
		list := []any{}
		for i := range child(v, "list").Len() {
			list = append(list, goValue(c.Children[0], child(child(v, "list").Index(i), "element")))
		}
		return list
	case schema.KindMap:
		entries := map[string]any{}
		for i := range child(v, "key_value").Len() {
			entry := child(v, "key_value").Index(i)
			entries[string(child(entry, "key").Bytes())] = goValue(c.Children[1], child(entry, "value"))
		}
		return entries
	case schema.KindStruct:
		fields := map[string]any{}
		for _, f := range c.Children {
			fields[f.Name] = goValue(f, child(v, f.Name))
		}
		return fields
	}
	return v.Interface()
}

// child returns the field with that name in a file; the zero Value where there is none.
func child(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("parquet") == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// emptyStore makes a store and opens it for writing.
func emptyStore(t *testing.T, dir string) *ingest.Store {
	t.Helper()
	valuetest.OK(t, ingest.Init(dir))
	store := valuetest.Must(ingest.Open(dir, "test"))
	t.Cleanup(func() { store.Close() })
	return store
}

// appendVariety stores runs with everything, with little, and with no samples; each shape twice, for the second file of
// a shape is made by a writer that was used before.
func appendVariety(t *testing.T, dir string) []schema.Run {
	t.Helper()
	store := emptyStore(t, dir)
	var runs []schema.Run
	for range 2 {
		bare := runtest.Small()
		bare.Primary, bare.Metrics, bare.Status = "", nil, schema.StatusLost
		runs = append(runs, runtest.Full(), runtest.Small(), bare)
	}
	for _, r := range runs {
		valuetest.OK(t, store.Append(r))
	}
	return runs
}

// pathOf finds the file of a run in the store.
func pathOf(t *testing.T, dir string, r schema.Run) string {
	t.Helper()
	files := valuetest.Must(schema.List(os.DirFS(dir), schema.Scope{}))
	for _, f := range files.Live {
		if f.Run.String() == r.RunID {
			return filepath.FromSlash(f.Path())
		}
	}
	t.Fatalf("run %s is not listed", r.RunID)
	return ""
}

func sameValue(t *testing.T, c *schema.Column, got, want any) {
	t.Helper()
	valuetest.Equal(t, plain(got), plain(named(c, want)), "column", c.Name)
}

// liveRow returns the values that a live file of the run holds.
func liveRow(r schema.Run) []any {
	stat.Complete(&r)
	row := schema.RunRow(&r, schema.DigestOf(&r))
	var samples, ops any
	if r.Metrics != nil {
		var rows [][]any
		for i := range r.Metrics {
			rows = append(rows, schema.MetricRow(&r.Metrics[i]))
		}
		samples = rows
	}
	if r.Ops != nil {
		var rows [][]any
		for i := range r.Ops {
			rows = append(rows, schema.OpRow(&r.Ops[i]))
		}
		ops = rows
	}
	return append(row, samples, ops)
}

// named turns rows of structs into maps by the names of their fields, which is how DuckDB's driver gives them.
func named(c *schema.Column, value any) any {
	rows, ok := value.([][]any)
	if !ok {
		return value
	}
	var list []any
	for _, row := range rows {
		fields := map[string]any{}
		for i, field := range c.Children[0].Children {
			fields[field.Name] = row[i]
		}
		list = append(list, fields)
	}
	return list
}

// plain prints a value without the types that differ between the driver and a row.
func plain(value any) string {
	switch value := value.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return value.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	case duckdb.OrderedMap:
		entries := map[string]any{}
		for i, key := range value.Keys() {
			entries[key.(string)] = value.Values()[i]
		}
		return plain(entries)
	}
	v := reflect.ValueOf(value)
	var parts []string
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, plain(v.Index(i).Interface()))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			parts = append(parts, fmt.Sprintf("%q: %s", key, plain(v.MapIndex(key).Interface())))
		}
		slices.Sort(parts)
	default:
		return fmt.Sprintf("%#v", value)
	}
	return v.Kind().String() + "[" + strings.Join(parts, ", ") + "]"
}

// TestDuckDB reads every column of appended runs the way the query layer does, by field id with an explicit schema,
// and finds what was put in: zero is not NULL, empty is not NULL, NULL is NULL.
func TestDuckDB(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := appendVariety(t, dir)
	db := valuetest.Must(stdsql.Open("duckdb", ""))
	defer db.Close()

	for _, r := range runs {
		got := readRow(t, db, filepath.Join(dir, pathOf(t, dir, r)))
		want := liveRow(r)
		for i, c := range schema.LiveColumns() {
			sameValue(t, c, got[i], want[i])
		}
	}
}

func readRow(t *testing.T, db *stdsql.DB, file string) []any {
	t.Helper()
	var columns []string
	for _, c := range schema.LiveColumns() {
		columns = append(columns, fmt.Sprintf("%d: {name: '%s', type: '%s', default_value: NULL}", c.ID, c.Name, c.SQLType()))
	}
	query := fmt.Sprintf("FROM read_parquet('%s', schema=MAP {%s})", file, strings.Join(columns, ", "))
	row := make([]any, len(columns))
	pointers := make([]any, len(columns))
	for i := range row {
		pointers[i] = &row[i]
	}
	valuetest.OK(t, db.QueryRow(query).Scan(pointers...))
	return row
}

// TestDuckDBSealed reads every column of sealed files with DuckDB and nothing but their names.
func TestDuckDBSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := emptyStore(t, dir)
	runs := []schema.Run{runtest.Full(), runtest.Small(), runtest.Full()}
	done := valuetest.Must(store.AppendAll(runtest.Each(runs...)))
	valuetest.Equal(t, done.Added, len(runs), done)
	db := valuetest.Must(stdsql.Open("duckdb", ""))
	defer db.Close()
	for _, r := range runs {
		want := liveRow(r)
		for _, rows := range []struct {
			table *schema.Table
			want  [][]any
		}{
			{schema.Runs, [][]any{want[:len(schema.Runs.Columns)]}},
			{schema.Samples, keyed(r.RunID, want[len(want)-2])},
			{schema.Ops, keyed(r.RunID, want[len(want)-1])},
		} {
			got := sealedRows(t, db, dir, rows.table, r.RunID)
			valuetest.Equal(t, len(got), len(rows.want), r.RunID, rows.table.Name)
			slices.SortFunc(rows.want, func(a, b []any) int { return strings.Compare(fmt.Sprint(a[1]), fmt.Sprint(b[1])) })
			for i := range got {
				for j, c := range rows.table.Columns {
					sameValue(t, c, got[i][j], rows.want[i][j])
				}
			}
		}
	}
}

// keyed puts the id of the run before each of the nested rows.
func keyed(run string, nested any) [][]any {
	rows, _ := nested.([][]any)
	var all [][]any
	for _, row := range rows {
		all = append(all, append([]any{run}, row...))
	}
	return all
}

// sealedRows reads the rows of a run in the order of the file.
func sealedRows(t *testing.T, db *stdsql.DB, dir string, of *schema.Table, run string) [][]any {
	t.Helper()
	rows := valuetest.Must(db.Query(fmt.Sprintf("FROM read_parquet('%s/%s/**/*.parquet') WHERE run_id = '%s'", dir, schema.TableFolders[of], run)))
	defer rows.Close()
	var all [][]any
	for rows.Next() {
		row := make([]any, len(of.Columns))
		pointers := make([]any, len(row))
		for i := range row {
			pointers[i] = &row[i]
		}
		valuetest.OK(t, rows.Scan(pointers...))
		all = append(all, row)
	}
	valuetest.OK(t, rows.Err())
	return all
}
