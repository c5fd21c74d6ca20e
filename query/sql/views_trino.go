package sql

import (
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TrinoViews is SQL for the Hive connector of Trino that makes tables over the folders of a store, and over them the views
// runs, samples, samples_long and ops, as SQL has them here. The location is one of a Location, or a URL under which Trino
// finds the store. The views have sealed runs only: beside the live ones lie files that are no Parquet, and a table of Trino is
// a whole folder. They read events/ at each query. Every statement ends in a semicolon and a line break, and has no such pair
// before its end.
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

// trinoType is the type of a column in Trino. A time is one without a zone, as all of the Hive connector, in UTC.
func trinoType(c *schema.Column) string {
	switch c.Kind {
	case schema.KindInt:
		return "BIGINT"
	case schema.KindReal:
		return "DOUBLE"
	case schema.KindBool:
		return "BOOLEAN"
	case schema.KindTime:
		return "TIMESTAMP(6)"
	case schema.KindList:
		return "ARRAY(" + trinoType(c.Children[0]) + ")"
	case schema.KindMap:
		return "MAP(" + trinoType(c.Children[0]) + ", " + trinoType(c.Children[1]) + ")"
	case schema.KindStruct:
		return "ROW(" + fieldsOf(c.Children, func(f *schema.Column) string { return duck.Identifier(f.Name) + " " + trinoType(f) }) + ")"
	default:
		return "VARCHAR"
	}
}

// trinoWriter writes the text of TrinoViews.
type trinoWriter struct {
	location string
	viewText
}

// table makes a table over a folder of the store. Dropping one that was there removes no file.
func (w *trinoWriter) table(name, format, folder, columns string) {
	w.line("DROP TABLE IF EXISTS %s;", name)
	w.line("CREATE TABLE %s (%s) WITH (format = '%s', external_location = %s);", name, columns, format, duck.Literal(w.location+"/"+folder))
}

func (w *trinoWriter) tables() {
	for _, t := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
		w.table("neurolens_"+t.Name+"_files", "PARQUET", schema.TableZones[t], fieldsOf(t.Columns, func(c *schema.Column) string {
			return duck.Identifier(c.Name) + " " + trinoType(c)
		}))
	}
	w.table("neurolens_events", "JSON", schema.EventsDir, `event_id VARCHAR, kind VARCHAR, runs ARRAY(VARCHAR), "key" VARCHAR, "value" VARCHAR`)
}

// annotations makes views of the events that hold: the last one about each run, and about each tag or table of it.
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
	// A file of samples or ops counts only if there is one of its name in runs/.
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
	w.view("samples_long", `SELECT run_id, metric, unit, i - 1 AS i, "value" FROM samples CROSS JOIN UNNEST("values") WITH ORDINALITY AS u ("value", i)`)
	w.view("ops", "SELECT "+scan.ColumnNames(schema.Ops.Columns)+" FROM neurolens_ops_files AS f WHERE "+kept+whole)
}

func (w *trinoWriter) view(name, query string) {
	w.line("CREATE OR REPLACE VIEW %s AS %s;", name, query)
}
