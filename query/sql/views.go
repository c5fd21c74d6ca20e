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

// Views returns SQL for any DuckDB (shell, Python) that makes the views runs, samples, samples_long and ops of a store, and num(x), as
// Select has them. The views read the files that exist when the SQL is loaded; tags and removed runs are fixed when Views is called. The
// views are temporary and belong to one connection. Errors are those of query.Open.
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

// wholeEvents returns the events of a store, with all of their runs.
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

// oneLine returns a text for a comment.
func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

// globOf returns the SQL of the paths in the store that match a pattern.
func (w *viewWriter) globOf(pattern string) string {
	return "glob(" + duck.Literal(duck.AsPattern.Replace(strings.TrimSuffix(w.path, "/"))+"/"+pattern) + ")"
}

// files makes variables with the existing files, and a view over each list, which is empty if there are no files. Live files are listed
// first, because runs move from live to sealed files. A path that a pattern matched has to be escaped to be used as a pattern.
func (w *viewWriter) files() {
	w.list("live", "SELECT file FROM "+w.globOf("claims/*/*/*.parquet")+" UNION ALL SELECT file FROM "+w.globOf("live/*/*.parquet"))
	w.list("runs", "SELECT file FROM "+w.globOf("runs/*/*.parquet"))
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		// A file of samples or ops counts only if runs/ has a file with its name.
		w.list(t.Name, fmt.Sprintf("SELECT file FROM %s WHERE list_contains(getvariable('neurolens_runs'), replace(file, %s, %s))",
			w.globOf(schema.TableFolders[t]+"/*/*.parquet"), duck.Literal(w.path+"/"+schema.TableFolders[t]+"/"), duck.Literal(w.path+"/"+schema.RunsDir+"/")))
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

// Location returns the URL of a store's directory on this machine, for SparkViews and TrinoViews. Errors are those of Open.
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

// SparkViews returns SQL for Spark 4 that makes the temporary views runs, samples, samples_long and ops of a store, and num(x), with the
// meaning that they have in Select. The location is a result of Location, or an absolute path or URL under which Spark finds the store.
// The views show the files that exist when the text is loaded, also those of events, so removed runs and tags are fixed
// then, too. Every statement ends in a semicolon and a line break, and has no such pair before its end.
//
// Columns are found by their names, which never change, and not by field ids, which Spark ignores by default.
func SparkViews(location string) string {
	w := &sparkWriter{location: sparkPattern.Replace(strings.TrimSuffix(location, "/"))}
	w.line("-- Temporary views of a store for Spark SQL: runs, samples, samples_long, ops, and the function num(x).")
	w.line("-- They show the files, tags and removed runs that are there when this is loaded.")
	// Otherwise a view is a text, which Spark analyzes again for each view over it and in each question: a third of the time of loading.
	w.line("SET %s = true;", sparkPlans)
	w.files()
	w.annotations()
	w.live()
	w.sealed(schema.Samples)
	w.sealed(schema.Ops)
	w.views()
	w.line("RESET %s;", sparkPlans)
	return w.text.String()
}

// sparkPlans is the setting of a session under which a new view keeps its analyzed plan.
const sparkPlans = "spark.sql.legacy.storeAnalyzedPlanForView"

// sparkPattern escapes a path so that, as a pattern, it matches only itself: Hadoop escapes with a backslash.
var sparkPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, ",", `\,`)

// sparkLiteral returns the SQL of a text. Spark replaces ${...} even in literals.
func sparkLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "$", `\u0024`).Replace(text) + "'"
}

var sparkTypes = schema.SQLTypes{
	Text: "STRING", Integer: "BIGINT", Real: "DOUBLE", Boolean: "BOOLEAN", Time: "TIMESTAMP",
	List: "ARRAY<%s>", Map: "MAP<%s, %s>", Struct: "STRUCT<%s>", Field: "`%s`: %s",
}

// fieldsOf joins a text for each column with commas.
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

// source makes a view over the files below folders of the store, separated by commas. Spark refuses a pattern that matches nothing, so the
// pattern includes neurolens.json, which always exists; a filter leaves it out again. The pattern does not name the files: Spark would
// look at each of them as it does at a folder, with a task of its own, which took 95 s for 809 files.
func (w *sparkWriter) source(name, format, folders string, columns []*schema.Column) {
	list := ""
	if len(columns) > 0 {
		list = " (" + fieldsOf(columns, func(c *schema.Column) string { return "`" + c.Name + "` " + sparkTypes.Of(c) }) + ")"
	}
	w.line("CREATE OR REPLACE TEMPORARY VIEW neurolens_%s%s USING %s OPTIONS (path %s, recursiveFileLookup 'true', pathGlobFilter '*.parquet', `parquet.page.verify-checksum.enabled` 'true');",
		name, list, format, sparkLiteral(w.location+"/{"+folders+","+schema.HeaderFile+"}"))
}

// files makes views over the files. Runs go from live files to sealed ones, so the live files are listed first. The names of the
// sealed files are listed before samples and ops: a file that is named has its samples and ops then.
func (w *sparkWriter) files() {
	w.source("live_files", "parquet", "live,claims", schema.LiveColumns())
	w.source("runs_files", "parquet", schema.TableFolders[schema.Runs], schema.Runs.Columns)
	w.source("runs_names", "binaryFile", schema.TableFolders[schema.Runs], nil)
	for _, t := range []*schema.Table{schema.Samples, schema.Ops} {
		w.source(t.Name+"_files", "parquet", schema.TableFolders[t], t.Columns)
		w.source(t.Name+"_names", "binaryFile", schema.TableFolders[t], nil)
	}
	w.events()
}

// sparkEventColumns are the members of an event that the views need.
const sparkEventColumns = "event_id STRING, kind STRING, runs ARRAY<STRING>, key STRING, value STRING"

// events makes a view of the events: of packs, and of files for those events that no pack has. Opening a file for each event costs more than
// everything else in a compacted store. The pattern of those files is made when the text is loaded. If they are very many, as without packs,
// the view reads all files; an event that is in a pack, too, has the same effect twice.
func (w *sparkWriter) events() {
	const most = 1000 // names in a pattern
	const view = "CREATE OR REPLACE TEMPORARY VIEW %s USING %s OPTIONS (path %s, recursiveFileLookup 'true', pathGlobFilter %s"
	const files, names = "neurolens_event_files (" + sparkEventColumns + ")", "neurolens_event_names"
	folder := func(name string) string {
		return sparkLiteral(w.location + "/{" + name + "," + schema.HeaderFile + "}")
	}
	w.line(view+", mode 'FAILFAST');", "neurolens_event_packs ("+sparkEventColumns+")", "json", folder(schema.PacksDir), sparkLiteral(schema.AnyPackedEvents))
	w.line(view+");", names, "binaryFile", folder(schema.EventsDir), "'*.json'")
	w.line("DECLARE OR REPLACE VARIABLE neurolens_statement STRING;")
	begin := sparkLiteral(fmt.Sprintf(view, files, "json", folder(schema.EventsDir), "'"))
	// Each side becomes one row, so that nothing is sorted out over the 200 partitions of a join.
	const unpacked = "SELECT array_except(collect_list(name), (SELECT collect_list(concat(event_id, '.json')) FROM neurolens_event_packs)) AS unpacked FROM " +
		"(SELECT element_at(split(path, '/'), -1) AS name FROM " + names + ") WHERE name RLIKE '^[0-9A-Z]{26}[.]json$'"
	w.line("SET VARIABLE neurolens_statement = (SELECT concat(%s, CASE WHEN cardinality(unpacked) > %d THEN '*.json' ELSE concat('{%s,', array_join(unpacked, ','), '}') END, %s) FROM (%s));",
		begin, most, schema.HeaderFile, sparkLiteral("', mode 'FAILFAST')"), unpacked)
	w.line("EXECUTE IMMEDIATE neurolens_statement;")
	w.view("neurolens_events", "SELECT * FROM neurolens_event_packs UNION ALL SELECT * FROM neurolens_event_files WHERE event_id IS NOT NULL")
}

// annotations makes views of the effective events: the last one about each run, and about each tag or table of it.
func (w *sparkWriter) annotations() {
	w.view("neurolens_annotations", "SELECT event_id, kind, key, coalesce(value, '') AS value, explode(runs) AS run_id FROM neurolens_events")
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

// sealed makes a view of the valid rows of samples or ops: rows of a file whose name a file of runs/ has, too. Spark knows the file of a
// row only if no condition is pushed down to the file, so this is only checked for runs in other files, which are few or none.
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
		// A condition on a field that every element has makes Spark read it. A live file may lack the other fields.
		return "(SELECT " + sparkColumns(t.Columns, "", nil) + " FROM neurolens_" + t.Name + " UNION ALL SELECT " + sparkColumns(t.Columns, "part.", map[string]string{"run_id": "run_id"}) +
			" FROM (SELECT run_id, explode(`" + t.Name + "`) AS part FROM " + unsealed(t.Name) + ") WHERE part.`" + key + "` IS NOT NULL)" + removed
	}
	w.view("samples", "SELECT "+sparkColumns(schema.Samples.Columns, "", nil)+", CASE WHEN ticks IS NOT NULL THEN transform(ticks, t -> t * tick) ELSE reals END AS `values` FROM "+nested(schema.Samples))
	w.view("samples_long", "SELECT run_id, metric, unit, CAST(i AS BIGINT) AS i, value, get(at_ns, i) AS at_ns FROM samples LATERAL VIEW posexplode(`values`) AS i, value")
	w.view("ops", "SELECT "+sparkColumns(schema.Ops.Columns, "", nil)+" FROM "+nested(schema.Ops))
	w.line(`CREATE OR REPLACE TEMPORARY FUNCTION num(x STRING) RETURNS DOUBLE RETURN CASE WHEN x RLIKE %s AND abs(try_cast(x AS DOUBLE)) < double('Infinity') THEN try_cast(x AS DOUBLE) END;`,
		sparkLiteral(`\A`+duck.NumberPattern+`\z`))
}

func (w *sparkWriter) view(name, query string) {
	w.line("CREATE OR REPLACE TEMPORARY VIEW %s AS %s;", name, query)
}

// TrinoViews returns SQL for the Hive connector of Trino that makes tables over the folders of a store, and over them the views runs,
// samples, samples_long and ops, with the meaning that they have in Select. The location is a result of Location, or a URL under which
// Trino finds the store. The views have only sealed runs: a table of Trino is a whole folder, and the folder of live files also has
// files that are not Parquet. They read events/ at each query. Every statement ends in a semicolon and a line break, and has no such
// pair before its end.
func TrinoViews(location string) string {
	w := &trinoWriter{location: strings.TrimSuffix(location, "/")}
	w.line("-- Tables and views of the sealed runs of a store for Trino: runs, samples, samples_long, ops. Choose a catalog of the")
	w.line("-- Hive connector and a schema before: USE hive.bench. Its properties: hive.recursive-directories=true,")
	w.line("-- hive.timestamp-precision=MICROSECONDS, hive.parquet.time-zone=UTC.")
	w.tables()
	w.annotations()
	w.views()
	return w.text.String()
}

// trinoTypes are the types of columns in Trino. A time is one without a zone, as all of the Hive connector, in UTC.
var trinoTypes = schema.SQLTypes{
	Text: "VARCHAR", Integer: "BIGINT", Real: "DOUBLE", Boolean: "BOOLEAN", Time: "TIMESTAMP(6)",
	List: "ARRAY(%s)", Map: "MAP(%s, %s)", Struct: "ROW(%s)", Field: `"%s" %s`,
}

// trinoWriter writes the text of TrinoViews.
type trinoWriter struct {
	location string
	viewText
}

// table makes a table over a folder of the store. Dropping an existing one removes no file.
func (w *trinoWriter) table(name, format, folder, columns string) {
	w.line("DROP TABLE IF EXISTS %s;", name)
	w.line("CREATE TABLE %s (%s) WITH (format = '%s', external_location = %s);", name, columns, format, duck.Literal(w.location+"/"+folder))
}

func (w *trinoWriter) tables() {
	for _, t := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		w.table("neurolens_"+t.Name+"_files", "PARQUET", schema.TableFolders[t], fieldsOf(t.Columns, func(c *schema.Column) string {
			return duck.Identifier(c.Name) + " " + trinoTypes.Of(c)
		}))
	}
	w.table("neurolens_events", "JSON", schema.EventsDir, `event_id VARCHAR, kind VARCHAR, runs ARRAY(VARCHAR), "key" VARCHAR, "value" VARCHAR`)
}

// annotations makes views of the effective events: the last one about each run, and about each tag or table of it.
func (w *trinoWriter) annotations() {
	w.view("neurolens_annotations", `SELECT event_id, kind, "key", coalesce("value", '') AS "value", run_id FROM neurolens_events CROSS JOIN UNNEST(runs) AS u (run_id)`)
	w.view("neurolens_removed", "SELECT run_id FROM neurolens_annotations WHERE kind IN ('remove', 'restore') GROUP BY run_id HAVING max_by(kind, event_id) = 'remove'")
	last := func(kinds string) string {
		return `(SELECT run_id, "key", max_by(kind, event_id) AS kind, max_by("value", event_id) AS "value" FROM neurolens_annotations WHERE kind IN (` + kinds + `) GROUP BY run_id, "key") AS t`
	}
	const entries = `coalesce(map_agg("key", "value") FILTER (WHERE kind = 'tag'), ` + trinoEmptyMap + `)`
	w.view("neurolens_tags", "SELECT run_id, "+entries+` AS tags_set, array_agg("key") AS tags_changed FROM `+last("'tag', 'untag'")+" GROUP BY run_id")
	w.view("neurolens_lost", `SELECT run_id, map_agg("key", "value") AS lost FROM `+last("'lost', 'found'")+" WHERE kind = 'lost' GROUP BY run_id")
}

const trinoEmptyMap = "CAST(MAP() AS MAP(VARCHAR, VARCHAR))"

// views makes the views that users see.
func (w *trinoWriter) views() {
	const file = `regexp_extract("$path", '[^/]+$')`
	const kept = "NOT EXISTS (SELECT 1 FROM neurolens_removed AS d WHERE d.run_id = f.run_id)"
	// A file of samples or ops counts only if runs/ has a file with its name.
	const whole = " AND " + file + " IN (SELECT " + file + " FROM neurolens_runs_files)"
	changed := map[string]string{
		"started_at":  "with_timezone(f.started_at, 'UTC')",
		"tags":        "CASE WHEN g.tags_set IS NULL OR f.tags IS NULL AND cardinality(g.tags_set) = 0 THEN f.tags ELSE map_concat(map_filter(coalesce(f.tags, " + trinoEmptyMap + "), (k, v) -> NOT contains(g.tags_changed, k)), g.tags_set) END",
		"env_missing": "CASE WHEN l.lost IS NULL THEN f.env_missing ELSE map_concat(coalesce(f.env_missing, " + trinoEmptyMap + "), l.lost) END",
	}
	w.view("runs", "SELECT "+fieldsOf(schema.Runs.Columns, func(c *schema.Column) string {
		if expression, ok := changed[c.Name]; ok {
			return expression + " AS " + duck.Identifier(c.Name)
		}
		return "f." + duck.Identifier(c.Name)
	})+" FROM neurolens_runs_files AS f LEFT JOIN neurolens_tags AS g ON g.run_id = f.run_id LEFT JOIN neurolens_lost AS l ON l.run_id = f.run_id WHERE "+kept)
	w.view("samples", "SELECT "+scan.ColumnNames(schema.Samples.Columns)+`, CASE WHEN ticks IS NOT NULL THEN transform(ticks, t -> t * tick) ELSE reals END AS "values" FROM neurolens_samples_files AS f WHERE `+kept+whole)
	w.view("samples_long", `SELECT run_id, metric, unit, i - 1 AS i, "value", at_ns[i] AS at_ns FROM samples CROSS JOIN UNNEST("values") WITH ORDINALITY AS u ("value", i)`)
	w.view("ops", "SELECT "+scan.ColumnNames(schema.Ops.Columns)+" FROM neurolens_ops_files AS f WHERE "+kept+whole)
}

func (w *trinoWriter) view(name, query string) {
	w.line("CREATE OR REPLACE VIEW %s AS %s;", name, query)
}
