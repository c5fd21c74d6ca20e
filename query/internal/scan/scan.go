package scan

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// damageMark begins the message of the error that a scan raises for a file that does not match its name.
const damageMark = "not the run of its name: "

// Scan is the SQL of a subquery over the runs of the sources, with the given columns, where a condition on these columns holds (empty:
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

// scanLive is the SQL over live files. It raises an error for a row that is not the only one of its file, is not the run of the file's
// name, or is from a file outside of the stores. The check and the condition are one expression: DuckDB evaluates the parts of an AND in
// any order, and would skip files whose statistics do not match.
func (s *Sources) scanLive(columns []*schema.Column, where string) string {
	if s.loaded {
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

// scanSealed are the SQL texts over sealed files of a table. They are simple, so that DuckDB can apply a condition to the statistics of
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

// readParquet is the SQL of a table function over files, by their paths.
func readParquet(paths []string, columns []*schema.Column) string {
	return "read_parquet(" + duck.TextList(duck.Patterns(paths)) + ", schema = " + ParquetSchema(columns) + ")"
}

// Paths are the absolute paths of files.
func (s *Sources) Paths(files []file) []string {
	all := make([]string, len(files))
	for i := range files {
		all[i] = s.path(&files[i])
	}
	return all
}

// ofStores is the SQL condition that a file is in one of the stores.
func (s *Sources) ofStores() string {
	conditions := make([]string, len(s.Stores))
	for i, st := range s.Stores {
		conditions[i] = "starts_with(filename, " + duck.Literal(strings.TrimSuffix(st.path, "/")+"/") + ")"
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// liveColumn is a nested column of a live file: samples or ops.
func liveColumn(name string) *schema.Column {
	columns := schema.LiveColumns()
	return columns[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == name })]
}
