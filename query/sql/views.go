package sql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Views is SQL for any DuckDB (shell, Python) that makes the views runs, samples, samples_long and ops of a store, and num(x), as Select has
// them. The views read the files that exist when the SQL is loaded; tags and removed runs are as they were when it was made. The views are
// temporary and belong to one connection. Errors are those of query.Open.
func Views(dir string) (string, error) {
	path, err := scan.RealPath(dir)
	if err == nil && strings.Contains(path, `\`) {
		err = errors.New("DuckDB's glob finds nothing in a path with a backslash")
	}
	if err == nil {
		err = duck.CheckPath(path)
	}
	if err != nil {
		return "", answer.StoreError(dir, err)
	}
	listing, err := schema.List(schema.Dir(path), schema.Scope{Newest: 1})
	if err != nil {
		return "", answer.StoreError(dir, err)
	}
	events, err := wholeEvents(path, listing)
	if err != nil {
		return "", answer.StoreError(dir, err)
	}
	w := viewWriter{path: path, said: schema.Annotate(events)}
	w.line("-- The store %s for DuckDB: runs, samples, samples_long, ops, num(x).", oneLine(path))
	w.line("-- It reads the files that exist when this is loaded; tags and removed runs are as they were when it was printed.")
	w.files()
	w.annotations()
	w.views()
	return w.text.String(), nil
}

// wholeEvents are the events of a store, with all of their runs.
func wholeEvents(path string, listing *schema.Listing) ([]schema.Event, error) {
	events, err := scan.ReadEvents(schema.Dir(path), listing.Events)
	if err != nil {
		return nil, err
	}
	return scan.WholeEvents(events)
}

// viewWriter writes the text of Views.
type viewWriter struct {
	path string
	said schema.Annotations
	viewText
}

// viewText collects lines.
type viewText struct{ text strings.Builder }

func (w *viewText) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// oneLine is a text for a comment.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

// globOf is the SQL of the paths in the store that match a pattern.
func (w *viewWriter) globOf(pattern string) string {
	return "glob(" + duck.Literal(duck.AsPattern.Replace(strings.TrimSuffix(w.path, "/"))+"/"+pattern) + ")"
}

// files makes variables with the existing files, and a view over each list, which is empty if there are no files. Live files are listed
// first, because runs move from live to sealed files. A path that a pattern matched has to be escaped to be used as a pattern.
func (w *viewWriter) files() {
	w.list("live", "SELECT file FROM "+w.globOf("claims/*/*/*.parquet")+" UNION ALL SELECT file FROM "+w.globOf("live/*/*.parquet"))
	w.list("runs", "SELECT file FROM "+w.globOf("runs/*/*.parquet"))
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		// A file of samples or ops counts only if there is one of its name in runs/.
		w.list(t.Name, fmt.Sprintf("SELECT file FROM %s WHERE list_contains(getvariable('neurolens_runs'), replace(file, %s, %s))",
			w.globOf(schema.TableZones[t]+"/*/*.parquet"), duck.Literal(w.path+"/"+schema.TableZones[t]+"/"), duck.Literal(w.path+"/"+schema.RunsDir+"/")))
	}
	w.source("live", schema.LiveColumns(), "DISTINCT ON (run_id) ")
	for _, t := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		w.source(t.Name, t.Columns, "")
	}
}

func (w *viewWriter) list(name, files string) {
	// A path may contain wildcards.
	w.line("SET VARIABLE neurolens_%s = (SELECT coalesce(list(file ORDER BY file), []) FROM (%s));", name, files)
}

// source makes the view neurolens_NAME over the files of the variable of that name.
func (w *viewWriter) source(name string, columns []*schema.Column, distinct string) {
	files := "list_transform(getvariable('neurolens_" + name + "'), lambda f: regexp_replace(f, '[*?\\[]', '[\\0]', 'g'))"
	read := "SELECT " + distinct + scan.ColumnNames(columns) + " FROM read_parquet(" + files + ", schema = " + scan.ParquetSchema(columns) + ")"
	w.line("SET VARIABLE neurolens_%s_sql = CASE WHEN len(getvariable('neurolens_%s')) = 0 THEN %s ELSE %s END;",
		name, name, duck.Literal("FROM "+scan.EmptyRows(columns)), duck.Literal(read))
	w.line("CREATE OR REPLACE TEMP VIEW neurolens_%s AS FROM query(getvariable('neurolens_%s_sql'));", name, name)
}

// annotations makes tables of the events.
func (w *viewWriter) annotations() {
	removed := slices.Sorted(maps.Keys(w.said.Removed))
	w.line("CREATE OR REPLACE TEMP VIEW neurolens_removed AS SELECT unnest(%s::VARCHAR[]) AS run_id;", duck.TextList(removed))
	tagged := map[string]bool{}
	for run := range w.said.Tags {
		tagged[run] = true
	}
	for run := range w.said.Untagged {
		tagged[run] = true
	}
	var rows []string
	for _, run := range slices.Sorted(maps.Keys(tagged)) {
		set := w.said.Tags[run]
		keys := slices.Sorted(maps.Keys(set))
		values := make([]string, len(keys))
		for i, key := range keys {
			values[i] = set[key]
		}
		rows = append(rows, fmt.Sprintf("(%s, map(%s::VARCHAR[], %s::VARCHAR[]), %s::VARCHAR[])",
			duck.Literal(run), duck.TextList(keys), duck.TextList(values), duck.TextList(w.said.Untagged[run])))
	}
	if len(rows) == 0 {
		rows = []string{"(NULL::VARCHAR, NULL::MAP(VARCHAR, VARCHAR), NULL::VARCHAR[])"}
	}
	w.lost()
	w.line("CREATE OR REPLACE TEMP VIEW neurolens_tags AS FROM (VALUES %s) t(run_id, tags_set, tags_gone) WHERE run_id IS NOT NULL;", strings.Join(rows, ",\n  "))
}

// lost makes a table of the runs that have lost samples or ops.
func (w *viewWriter) lost() {
	rows := []string{"(NULL::VARCHAR, NULL::MAP(VARCHAR, VARCHAR))"}
	for _, run := range slices.Sorted(maps.Keys(w.said.Lost)) {
		var tables, reasons []string
		for _, table := range slices.Sorted(maps.Keys(w.said.Lost[run])) {
			tables, reasons = append(tables, table), append(reasons, w.said.Lost[run][table])
		}
		rows = append(rows, fmt.Sprintf("(%s, map(%s::VARCHAR[], %s::VARCHAR[]))", duck.Literal(run), duck.TextList(tables), duck.TextList(reasons)))
	}
	w.line("CREATE OR REPLACE TEMP VIEW neurolens_lost AS FROM (VALUES %s) t(run_id, lost) WHERE run_id IS NOT NULL;", strings.Join(rows, ",\n  "))
}

// views makes the views for users. A run that is both live and sealed, as while it is being sealed, counts once.
func (w *viewWriter) views() {
	const removed = " ANTI JOIN neurolens_removed USING (run_id)"
	const unsealed = "neurolens_live ANTI JOIN neurolens_runs USING (run_id)"
	runs := scan.ColumnNames(schema.Runs.Columns)
	w.line("CREATE OR REPLACE TEMP VIEW runs AS SELECT %s FROM (SELECT * REPLACE (%s AS tags, %s AS env_missing) FROM (", runs, scan.TagsSQL, scan.EnvMissingSQL)
	w.line("  SELECT %s FROM neurolens_runs UNION ALL SELECT %s FROM %s)%s LEFT JOIN neurolens_tags USING (run_id) LEFT JOIN neurolens_lost USING (run_id));", runs, runs, unsealed, removed)
	nested := func(t *schema.Table) string {
		return fmt.Sprintf("(SELECT %s FROM neurolens_%s UNION ALL SELECT %s FROM (SELECT run_id, unnest(%s, max_depth := 2) FROM %s))%s",
			scan.ColumnNames(t.Columns), t.Name, scan.ColumnNames(t.Columns), duck.Identifier(t.Name), unsealed, removed)
	}
	w.line(`CREATE OR REPLACE TEMP VIEW samples AS SELECT *, %s AS "values" FROM %s;`, scan.SampleValues, nested(schema.Samples))
	w.line("CREATE OR REPLACE TEMP VIEW samples_long AS %s;", scan.SamplesLongSQL("samples"))
	w.line("CREATE OR REPLACE TEMP VIEW ops AS FROM %s;", nested(schema.Ops))
	w.line("CREATE OR REPLACE TEMP MACRO num(x) AS %s;", duck.Number("x"))
}

// Location is the URL of a store's directory on this machine, for SparkViews and TrinoViews. Errors are those of Open.
func Location(dir string) (string, error) {
	path, err := scan.RealPath(dir)
	if err == nil && (!utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl)) {
		err = errors.New("its path has characters that SQL cannot name")
	}
	if err == nil {
		_, err = schema.ReadHeader(schema.Dir(path))
	}
	if err != nil {
		return "", answer.StoreError(dir, err)
	}
	return "file://" + path, nil
}
