package query

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// damageMark opens the message of the error that a scan raises on a file which is not what its name says.
const damageMark = "not the run of its name: "

// scan is the SQL text of a subquery over live files: the named columns of their rows, by field id, so that a column
// that a file lacks is NULL, where a condition over them holds (empty: all). A row that is not the only one of its file,
// the run of the file's name, or not of a file of the stores raises an error. The check and the condition are one
// expression, as DuckDB would try the parts of an AND in the order that it likes, and pass over a file that it can tell
// not to match.
func scan(files []file, columns []*schema.Column, where string) string {
	if where == "" {
		where = "true"
	}
	if len(files) == 0 {
		return "(FROM " + emptyTable(columns) + " WHERE " + where + ")"
	}
	read := withRunID(columns)
	return "(SELECT " + columnNames(columns) + " FROM read_parquet(" + textList(patterns(files)) + ", schema = " + schemaMap(read) + ")" +
		" WHERE CASE WHEN file_row_number = 0 AND ends_with(filename, '/' || run_id || '.parquet') AND " + ofStores(files) +
		" THEN " + where + " ELSE error('" + damageMark + "' || filename) END)"
}

// ofStores is the SQL condition that a file is one of the stores that the files are of.
func ofStores(files []file) string {
	var conditions []string
	seen := map[int]bool{}
	for _, f := range files {
		if !seen[f.store] {
			seen[f.store] = true
			live := filepath.Dir(filepath.Dir(f.path)) + "/"
			conditions = append(conditions, "starts_with(filename, "+literal(live)+")")
		}
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// withRunID are columns with run_id before them, unless it is among them.
func withRunID(columns []*schema.Column) []*schema.Column {
	if slices.ContainsFunc(columns, func(c *schema.Column) bool { return c.Name == "run_id" }) {
		return columns
	}
	return append([]*schema.Column{runColumn("run_id")}, columns...)
}

func emptyTable(columns []*schema.Column) string {
	nulls := make([]string, len(columns))
	for i, c := range columns {
		nulls[i] = "NULL::" + c.SQLType() + " AS " + identifier(c.Name)
	}
	return "(SELECT " + strings.Join(nulls, ", ") + " WHERE false)"
}

// columnNames lists names of the registry, or of this package.
func columnNames(columns []*schema.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = identifier(c.Name)
	}
	return strings.Join(names, ", ")
}

// wild are the characters that read_parquet takes for more than themselves: it is given patterns, not paths.
const wild = "*?["

// asPattern makes of a path the pattern that it alone matches.
var asPattern = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// checkPath refuses the paths that no pattern stands for: in a pattern DuckDB takes a backslash for the end of a directory.
func checkPath(path string) error {
	if at := strings.IndexAny(path, wild); at >= 0 && strings.Contains(path, `\`) {
		return fmt.Errorf("a path with both %c and a backslash in it cannot be read", path[at])
	}
	return nil
}

// patterns are what read_parquet is given for files.
func patterns(files []file) []string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = asPattern.Replace(f.path)
	}
	return all
}

// allowed are the paths that have to be allowed for files to be read: DuckDB asks for the pattern and for the file.
func allowed(files []file) []string {
	all := patterns(files)
	for i, f := range files {
		if all[i] != f.path {
			all = append(all, f.path)
		}
	}
	return all
}

// textList is an SQL list of texts of this package or paths.
func textList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = literal(text)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func schemaMap(columns []*schema.Column) string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		fields[i] = fmt.Sprintf("%d: {name: %s, type: %s, default_value: NULL}", c.ID, literal(c.Name), literal(c.SQLType()))
	}
	return "MAP {" + strings.Join(fields, ", ") + "}"
}

// literal quotes a text of this package or a path. Texts of users are parameters.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// runColumn is a column of runs that this package names itself.
func runColumn(name string) *schema.Column {
	c, ok := schema.Runs.Column(name)
	if !ok {
		panic("runs has no column " + name) // a mistake in this package, found by any test
	}
	return c
}

// liveColumn is a column of a live file: samples and ops, nested.
func liveColumn(name string) *schema.Column {
	columns := schema.LiveColumns()
	return columns[slices.IndexFunc(columns, func(c *schema.Column) bool { return c.Name == name })]
}

// num is the SQL of the number that a value is written as, in decimal digits with an optional exponent: NULL for all
// other texts and for what is not finite.
func num(x string) string {
	return "CASE WHEN regexp_full_match(CAST(" + x + ` AS VARCHAR), '[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?')` +
		" AND isfinite(TRY_CAST(" + x + " AS DOUBLE)) THEN TRY_CAST(" + x + " AS DOUBLE) END"
}

// The views' texts, over scans of live files.

func runsSQL(files []file) string {
	return "SELECT * FROM " + scan(files, schema.Runs.Columns, "")
}

// samplesSQL has one row a metric, and its samples in the unit as `values`.
func samplesSQL(files []file) string {
	return `SELECT *, CASE WHEN ticks IS NOT NULL THEN list_transform(ticks, lambda t: t * tick) ELSE reals END AS "values" FROM ` +
		unnested(files, schema.Samples)
}

// samplesLongSQL has one row a sample of samples; i counts from 0 in the order they were taken.
func samplesLongSQL(samples string) string {
	return `SELECT run_id, metric, unit, unnest(range(len("values"))) AS i, unnest("values") AS "value" FROM ` + samples
}

func opsSQL(files []file) string {
	return "SELECT * FROM " + unnested(files, schema.Ops)
}

// unnested are the rows of a table that live files nest in the row of their run.
func unnested(files []file, t *schema.Table) string {
	if len(files) == 0 {
		return emptyTable(t.Columns)
	}
	return "(SELECT run_id, unnest(" + identifier(t.Name) + ", max_depth := 2) FROM " +
		scan(files, []*schema.Column{runColumn("run_id"), liveColumn(t.Name)}, "") + ")"
}
