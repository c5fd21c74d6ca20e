package scan

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// damageMark begins the message of the error that a scan raises for a file that does not match its name.
const damageMark = "not the run of its name: "

// Scan returns the SQL of a subquery over the runs of the sources, with the given columns, where a condition on these columns holds (empty:
// all). Columns are read by field id, so a column that a file lacks is NULL.
func (s *Sources) Scan(columns []*schema.Column, where string) string {
	read, early := WithRunID(columns), where
	replaced, joined := s.changes(read)
	if replaced != "" {
		early = ""
	}
	var parts []string
	if len(s.Live) > 0 {
		parts = append(parts, s.scanLive(read, early))
	}
	parts = append(parts, s.scanSealed(read, s.Read, early)...)
	if len(parts) == 0 {
		return "(FROM " + EmptyRows(columns) + whereText(where) + ")"
	}
	from := "(FROM (" + strings.Join(parts, " UNION ALL ") + ")" + s.removed + ")"
	if replaced != "" {
		from = "(SELECT * REPLACE (" + replaced + ") FROM " + from + joined + ")" + whereText(where)
	}
	return "(SELECT " + ColumnNames(columns) + " FROM " + from + ")"
}

func whereText(where string) string {
	if where == "" {
		return ""
	}
	return " WHERE " + where
}

// scanLive returns the SQL over live files. It raises an error for a row that is not the only one of its file, is not the run of the file's
// name, or is from a file outside of the stores. The check and the condition are one expression: DuckDB evaluates the parts of an AND in
// any order, and would skip files whose statistics do not match.
func (s *Sources) scanLive(columns []*schema.Column, where string) string {
	nested := slices.ContainsFunc(columns, func(c *schema.Column) bool { return !slices.Contains(schema.Runs.Columns, c) })
	if s.loaded && !nested {
		return "SELECT " + ColumnNames(columns) + " FROM " + s.Tables + loadedLive + whereText(where)
	}
	if where == "" {
		where = "true"
	}
	s.footers.begin(s, s.Live)
	return "SELECT " + ColumnNames(columns) + " FROM " + readParquet(s.Paths(s.Live), WithRunID(columns)) +
		" WHERE CASE WHEN file_row_number = 0 AND ends_with(filename, '/' || run_id || '.parquet') AND " + s.ofStores() +
		" THEN " + where + " ELSE error('" + damageMark + "' || filename) END"
}

// scanSealed returns the SQL texts over sealed files of a table. They are simple, so that DuckDB can apply a condition to the statistics of
// the files. A path that is not a regular file raises an error.
func (s *Sources) scanSealed(columns []*schema.Column, files []file, where string) []string {
	s.footers.begin(s, files)
	groups := map[int][]file{}
	for _, f := range files {
		if f.broken {
			// The table has one row, because DuckDB evaluates no condition for a table without rows.
			return []string{"FROM " + NullRow(columns, "") + " WHERE CASE WHEN true THEN error(" + duck.Literal(damageMark+s.path(&f)) + ") ELSE true END"}
		}
		group := -1
		if s.duplicates[f.store] {
			group = f.store
		}
		groups[group] = append(groups[group], f)
	}
	var texts []string
	for _, store := range slices.Sorted(maps.Keys(groups)) {
		text := "SELECT " + ColumnNames(columns) + " FROM " + readParquet(s.Paths(groups[store]), columns)
		texts = append(texts, text+s.withoutDuplicates(store)+whereText(where))
	}
	return texts
}

// readParquet returns the SQL of a table function over files, by their paths.
func readParquet(paths []string, columns []*schema.Column) string {
	return "read_parquet(" + duck.TextList(duck.Patterns(paths)) + ", schema = " + ParquetSchema(columns) + ")"
}

// Paths returns the absolute paths of files.
func (s *Sources) Paths(files []file) []string {
	all := make([]string, len(files))
	for i := range files {
		all[i] = s.path(&files[i])
	}
	return all
}

// ofStores returns the SQL condition that a file is in one of the stores.
func (s *Sources) ofStores() string {
	conditions := make([]string, len(s.Stores))
	for i, st := range s.Stores {
		conditions[i] = "starts_with(filename, " + duck.Literal(strings.TrimSuffix(st.path, "/")+"/") + ")"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// liveColumn returns a nested column of a live file: samples or ops.
func liveColumn(name string) *schema.Column {
	columns := schema.LiveColumns()
	return columns[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == name })]
}

// RunsSQL returns a SELECT with one row per run.
func (s *Sources) RunsSQL() string {
	return "SELECT * FROM " + s.Scan(schema.Runs.Columns, "")
}

// SampleValues is the SQL of the list of samples in a row of samples, in its unit.
const SampleValues = "CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END"

// SamplesSQL returns a SELECT with one row per run and metric, with the samples in `values`.
func (s *Sources) SamplesSQL(where string) string {
	return "SELECT *, " + SampleValues + ` AS "values" FROM ` +
		s.Nested(schema.Samples, where)
}

// SamplesLongSQL returns a SELECT with one row per sample; i counts from 0 in the order in which they were taken. at_ns is NULL where a
// metric has no times.
func SamplesLongSQL(samples string) string {
	return `SELECT run_id, metric, unit, unnest(range(len("values"))) AS i, unnest("values") AS "value", unnest(at_ns) AS at_ns FROM ` + samples
}

// OpsSQL returns a SELECT with one row per operator of a profiled run, where a condition on run_id holds.
func (s *Sources) OpsSQL(where string) string {
	return "SELECT * FROM " + s.Nested(schema.Ops, where)
}

// Nested returns a subquery over the rows of the table samples or ops, where a condition on run_id holds. Live files have these rows nested
// in the row of their run; sealed runs have them in a file of the same name.
func (s *Sources) Nested(t *schema.Table, where string) string {
	var parts []string
	if len(s.Live) > 0 {
		parts = append(parts, "SELECT "+ColumnNames(t.Columns)+" FROM (SELECT run_id, unnest("+duck.Identifier(t.Name)+", max_depth := 2) FROM ("+
			s.scanLive([]*schema.Column{schema.RunColumn("run_id"), liveColumn(t.Name)}, where)+"))")
	}
	parts = append(parts, s.scanSealed(t.Columns, s.Beside(t), where)...)
	if len(parts) == 0 {
		return "(FROM " + EmptyRows(t.Columns) + whereText(where) + ")" // where has the parameters of the statement
	}
	return "(SELECT * FROM (" + strings.Join(parts, " UNION ALL ") + ")" + s.removed + ")"
}

// Beside returns the files of a table that belong to the sealed files of runs. A missing file has no rows.
func (s *Sources) Beside(t *schema.Table) []file {
	files, _ := s.besideOrNot(t)
	return files
}

// besideOrNot also returns the sealed files without such a file.
func (s *Sources) besideOrNot(t *schema.Table) (files, without []file) {
	folders := map[string]bool{} // by folder: whether it is a directory that is not reached through a link
	for _, f := range s.sealed {
		beside := f
		beside.folder = schema.TableFolders[t]
		info, err := os.Lstat(s.path(&beside))
		if errors.Is(err, fs.ErrNotExist) {
			without = append(without, f)
			continue
		}
		folder := path.Dir(s.path(&beside))
		plain, known := folders[folder]
		if !known {
			_, err := schema.Dir(s.Stores[f.store].path).DirPath(path.Dir(s.name(&beside)))
			plain = !errors.Is(err, schema.ErrDamaged)
			folders[folder] = plain
		}
		beside.broken = !plain || err == nil && !info.Mode().IsRegular()
		files = append(files, beside)
	}
	return files, without
}

// CheckSamples fails if the samples of sealed runs are missing although the runs have a metric.
func (r *Reader) CheckSamples(ctx context.Context) error {
	_, without := r.Src.besideOrNot(schema.Samples)
	if len(without) == 0 {
		return nil
	}
	for _, f := range without {
		one := &Sources{Stores: r.Src.Stores, Read: []file{f}}
		expected := 0 // runs that have a metric, and whose samples are not recorded as lost
		text := "SELECT run_id FROM " + one.Scan([]*schema.Column{schema.RunColumn("run_id"), schema.RunColumn("metric")}, "metric IS NOT NULL")
		err := r.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
			id, _ := row[0].(string)
			if _, lost := r.Src.Events.Lost[id][schema.Samples.Name]; !lost {
				expected++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if expected > 0 {
			st := r.Src.Stores[f.store]
			return answer.StoreError(st.dir, fmt.Errorf("%w: %s is missing, but the file of its runs exists", schema.ErrDamaged, f.sealed.Path(schema.SamplesDir)))
		}
	}
	return nil
}

// WithRunID adds run_id in front of columns, unless they have it.
func WithRunID(columns []*schema.Column) []*schema.Column {
	if slices.ContainsFunc(columns, func(c *schema.Column) bool { return c.Name == "run_id" }) {
		return columns
	}
	return append([]*schema.Column{schema.RunColumn("run_id")}, columns...)
}

// EmptyRows returns a subquery with these columns and no rows.
func EmptyRows(columns []*schema.Column) string { return NullRow(columns, " WHERE false") }

// NullRow returns a subquery with one row of NULLs, if a condition holds.
func NullRow(columns []*schema.Column, where string) string {
	nulls := make([]string, len(columns))
	for i, c := range columns {
		nulls[i] = "NULL::" + c.SQLType() + " AS " + duck.Identifier(c.Name)
	}
	return "(SELECT " + strings.Join(nulls, ", ") + where + ")"
}

// ColumnNames returns the SQL list of the names of columns.
func ColumnNames(columns []*schema.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = duck.Identifier(c.Name)
	}
	return strings.Join(names, ", ")
}

// ParquetSchema returns the schema for read_parquet: columns by field id, NULL if a file lacks one.
func ParquetSchema(columns []*schema.Column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = fmt.Sprintf("%d: {name: %s, type: %s, default_value: NULL}", c.ID, duck.Literal(c.Name), duck.Literal(c.SQLType()))
	}
	return "MAP {" + strings.Join(fields, ", ") + "}"
}

// ColumnNamesOf lists columns of a table.
func ColumnNamesOf(table string, names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = table + "." + duck.Identifier(name)
	}
	return strings.Join(all, ", ")
}

// WithColumns appends the columns of more that are not in columns.
func WithColumns(columns, more []*schema.Column) []*schema.Column {
	all := slices.Clone(columns)
	for _, c := range more {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}
