package sql

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// SparkViews is SQL for Spark 4 that makes the temporary views runs, samples, samples_long and ops of a store, and num(x),
// as SQL has them here. The location is one of a Location, or an absolute path or URL under which Spark finds the store. The
// views show the files that are there when the text is loaded. They read events/, so removed runs and tags are those of
// that moment, too. Every statement ends in a semicolon and a line break, and has no such pair before its end.
//
// Columns are found by their names, which never change, and not by field ids, which Spark ignores by default.
func SparkViews(location string) string {
	w := &sparkWriter{location: sparkPattern.Replace(strings.TrimSuffix(location, "/"))}
	w.line("-- Temporary views of a store for Spark SQL: runs, samples, samples_long, ops, and the function num(x).")
	w.line("-- They show the files, tags and removed runs that are there when this is loaded.")
	w.files()
	w.annotations()
	w.live()
	w.sealed(schema.Samples)
	w.sealed(schema.Ops)
	w.views()
	return w.text.String()
}

// sparkPattern makes of a path the pattern that it alone matches: Hadoop escapes with a backslash.
var sparkPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`)

// sparkLiteral is the SQL of a text. Spark replaces ${...} even in literals.
func sparkLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "$", `\u0024`).Replace(text) + "'"
}

// sparkType is the type of a column in Spark.
func sparkType(c *schema.Column) string {
	switch c.Kind {
	case schema.KindInt:
		return "BIGINT"
	case schema.KindReal:
		return "DOUBLE"
	case schema.KindBool:
		return "BOOLEAN"
	case schema.KindTime:
		return "TIMESTAMP"
	case schema.KindList:
		return "ARRAY<" + sparkType(c.Children[0]) + ">"
	case schema.KindMap:
		return "MAP<" + sparkType(c.Children[0]) + ", " + sparkType(c.Children[1]) + ">"
	case schema.KindStruct:
		return "STRUCT<" + fieldsOf(c.Children, func(f *schema.Column) string { return "`" + f.Name + "`: " + sparkType(f) }) + ">"
	default:
		return "STRING"
	}
}

// fieldsOf lists a text for each column, with commas between them.
func fieldsOf(columns []*schema.Column, each func(*schema.Column) string) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = each(c)
	}
	return strings.Join(all, ", ")
}

// sparkColumns lists the names of columns, after a prefix, with another expression for some.
func sparkColumns(columns []*schema.Column, prefix string, but map[string]string) string {
	return fieldsOf(columns, func(c *schema.Column) string {
		if expression, ok := but[c.Name]; ok {
			return expression + " AS `" + c.Name + "`"
		}
		return prefix + "`" + c.Name + "`"
	})
}

// sparkWriter writes the text of SparkViews.
type sparkWriter struct {
	location string // as a pattern
	viewText
}

// source makes a view over files of the store. Spark refuses a pattern that matches nothing, and neurolens.json is always there;
// the filter leaves it out again.
func (w *sparkWriter) source(name, format, pattern string, columns []*schema.Column) {
	list := ""
	if len(columns) > 0 {
		list = " (" + fieldsOf(columns, func(c *schema.Column) string { return "`" + c.Name + "` " + sparkType(c) }) + ")"
	}
	w.line("CREATE OR REPLACE TEMPORARY VIEW neurolens_%s%s USING %s OPTIONS (path %s, pathGlobFilter '*.parquet', `parquet.page.verify-checksum.enabled` 'true');",
		name, list, format, sparkLiteral(w.location+"/{"+pattern+","+schema.HeaderFile+"}"))
}

// files makes views over the files. Runs go from live files to sealed ones, so the live files are listed first. The names of the
// sealed files are listed before samples and ops: a file that is named has its samples and ops then.
func (w *sparkWriter) files() {
	w.source("live_files", "parquet", "live/*/*.parquet,claims/*/*/*.parquet", schema.LiveColumns())
	w.source("runs_files", "parquet", "runs/*/*.parquet", schema.Runs.Columns)
	w.source("runs_names", "binaryFile", "runs/*/*.parquet", nil)
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		pattern := schema.TableZones[t] + "/*/*.parquet"
		w.source(t.Name+"_files", "parquet", pattern, t.Columns)
		w.source(t.Name+"_names", "binaryFile", pattern, nil)
	}
	w.line("CREATE OR REPLACE TEMPORARY VIEW neurolens_events (event_id STRING, kind STRING, runs ARRAY<STRING>, key STRING, value STRING) USING json OPTIONS (path %s, mode 'FAILFAST');",
		sparkLiteral(w.location+"/{events/*.json,"+schema.HeaderFile+"}"))
}

// annotations makes views of the events that hold: the last one about each run, and about each tag or table of it.
func (w *sparkWriter) annotations() {
	w.view("neurolens_annotations", "SELECT event_id, kind, key, coalesce(value, '') AS value, explode(runs) AS run_id FROM neurolens_events WHERE event_id IS NOT NULL")
	w.view("neurolens_removed", "SELECT run_id FROM neurolens_annotations WHERE kind IN ('remove', 'restore') GROUP BY run_id HAVING max_by(kind, event_id) = 'remove'")
	last := func(kinds string) string {
		return "(SELECT run_id, key, max_by(kind, event_id) AS kind, max_by(value, event_id) AS value FROM neurolens_annotations WHERE kind IN (" + kinds + ") GROUP BY run_id, key)"
	}
	const entries = "map_from_entries(array_sort(collect_list(struct(key, value)) FILTER (WHERE kind = '%s')))"
	w.view("neurolens_tags", "SELECT run_id, "+strings.Replace(entries, "%s", "tag", 1)+" AS tags_set, collect_list(key) AS tags_changed FROM "+last("'tag', 'untag'")+" GROUP BY run_id")
	w.view("neurolens_lost", "SELECT run_id, "+strings.Replace(entries, "%s", "lost", 1)+" AS lost FROM "+last("'lost', 'found'")+" GROUP BY run_id HAVING count_if(kind = 'lost') > 0")
}

// live makes a view of the live runs: each counts once, also where it is in live/ and in a claim.
func (w *sparkWriter) live() {
	columns := sparkColumns(schema.LiveColumns(), "", nil)
	w.view("neurolens_live", "SELECT "+columns+" FROM (SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY started_at) AS copy FROM neurolens_live_files) WHERE copy = 1")
}

// sealed makes a view of the rows of samples or ops that count: those of a file of which a file of runs/ has the name. Spark
// knows the file of a row only where no condition reaches the file; so that is asked of the runs in other files alone, which are
// few or none.
func (w *sparkWriter) sealed(t *schema.Table) {
	const lastOf = "element_at(split(%s, '/'), -1)"
	orphans, found := "neurolens_"+t.Name+"_orphan_files", "neurolens_"+t.Name+"_orphans"
	name := strings.Replace(lastOf, "%s", "path", 1)
	w.view(orphans, "SELECT "+name+" AS file FROM neurolens_"+t.Name+"_names EXCEPT SELECT "+name+" FROM neurolens_runs_names")
	named := "(SELECT *, " + strings.Replace(lastOf, "%s", "input_file_name()", 1) + " AS file FROM neurolens_" + t.Name + "_files)"
	w.view(found, "SELECT DISTINCT run_id FROM "+named+" LEFT SEMI JOIN "+orphans+" USING (file)")
	columns := sparkColumns(t.Columns, "", nil)
	w.view("neurolens_"+t.Name, "SELECT "+columns+" FROM neurolens_"+t.Name+"_files LEFT ANTI JOIN "+found+" USING (run_id) UNION ALL SELECT "+columns+
		" FROM "+named+" LEFT SEMI JOIN "+found+" USING (run_id) LEFT ANTI JOIN "+orphans+" USING (file)")
}

// views makes the views that users see. A run that is live and sealed counts once.
func (w *sparkWriter) views() {
	const removed = " LEFT ANTI JOIN neurolens_removed USING (run_id)"
	const none = "CAST(map() AS MAP<STRING, STRING>)"
	unsealed := func(of string) string {
		return "neurolens_live LEFT ANTI JOIN (SELECT run_id FROM neurolens_" + of + " LEFT SEMI JOIN neurolens_live USING (run_id)) USING (run_id)"
	}
	runs := sparkColumns(schema.Runs.Columns, "", nil)
	w.view("runs", "SELECT "+sparkColumns(schema.Runs.Columns, "", map[string]string{
		"tags":        "CASE WHEN tags_set IS NULL OR tags IS NULL AND cardinality(tags_set) = 0 THEN tags ELSE map_concat(map_filter(coalesce(tags, " + none + "), (k, v) -> NOT array_contains(tags_changed, k)), tags_set) END",
		"env_missing": "CASE WHEN lost IS NULL THEN env_missing ELSE map_concat(map_filter(coalesce(env_missing, " + none + "), (k, v) -> NOT map_contains_key(lost, k)), lost) END",
	})+" FROM (SELECT "+runs+" FROM neurolens_runs_files UNION ALL SELECT "+runs+" FROM "+unsealed("runs_files")+")"+removed+
		" LEFT JOIN neurolens_tags USING (run_id) LEFT JOIN neurolens_lost USING (run_id)")
	nested := func(t *schema.Table) string {
		key := ""
		for _, c := range t.Columns[1:] {
			if c.Required {
				key = c.Name
			}
		}
		// A condition on a field that every element has makes Spark read it: of others a live file may have none.
		return "(SELECT " + sparkColumns(t.Columns, "", nil) + " FROM neurolens_" + t.Name + " UNION ALL SELECT " + sparkColumns(t.Columns, "part.", map[string]string{"run_id": "run_id"}) +
			" FROM (SELECT run_id, explode(`" + t.Name + "`) AS part FROM " + unsealed(t.Name) + ") WHERE part.`" + key + "` IS NOT NULL)" + removed
	}
	w.view("samples", "SELECT "+sparkColumns(schema.Samples.Columns, "", nil)+", CASE WHEN ticks IS NOT NULL THEN transform(ticks, t -> t * tick) ELSE reals END AS `values` FROM "+nested(schema.Samples))
	w.view("samples_long", "SELECT run_id, metric, unit, CAST(i AS BIGINT) AS i, value FROM samples LATERAL VIEW posexplode(`values`) AS i, value")
	w.view("ops", "SELECT "+sparkColumns(schema.Ops.Columns, "", nil)+" FROM "+nested(schema.Ops))
	w.line(`CREATE OR REPLACE TEMPORARY FUNCTION num(x STRING) RETURNS DOUBLE RETURN CASE WHEN x RLIKE %s AND abs(try_cast(x AS DOUBLE)) < double('Infinity') THEN try_cast(x AS DOUBLE) END;`,
		sparkLiteral(`\A`+duck.NumberPattern+`\z`))
}

func (w *sparkWriter) view(name, query string) {
	w.line("CREATE OR REPLACE TEMPORARY VIEW %s AS %s;", name, query)
}
