package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// HistoryMethod is a way to find change points.
type HistoryMethod string

// The methods: that of stat.ChangePoints, and that of Apache Otava with its defaults.
const (
	HistorySBS   HistoryMethod = "sbs"
	HistoryOtava HistoryMethod = "otava"
)

// HistoryRequest asks how a metric went over sessions.
type HistoryRequest struct {
	Filter string // in the filter language; empty matches every run
	Metric string // empty: the primary metric of each run
	// Since leaves out of the answer the sessions that started before it. They count for the change points all the same: a
	// level is told by what was before.
	Since  time.Time
	Method HistoryMethod // empty: HistorySBS
	// Regressions leaves all out but the sessions with which a series got worse.
	Regressions bool
}

// History is what there is over time: a row for each session of a series, the series one after another, in each the
// oldest session first. A series is a point on a machine as to a metric in a unit.
//
// Columns: the identity of the point; machine; metric, unit, better; scale; session_id, started_at; runs, of which the
// location in the unit is the median; git_commit; change_point, whether the level is another from here on; shift,
// shift_low, shift_high, from the level before to that after, with an interval of 95 %: of the ratio less 1 or, where the
// scale is difference, in the unit; p and p_adjusted of the change point; verdict: regressed, improved, or changed where
// it is not known which is better.
type History struct {
	Table
	Series     []Series       // those with rows, in the order of the table
	Known      int            // series that there are, with rows or without
	Sessions   int            // different ones in the table
	Useless    int            // ok runs that match but have no value of the metric
	NotNumbers map[string]int // by key of the filter: values that an ordering could not use, being no numbers
}

// Series is a point on a machine as to a metric.
type Series struct {
	First, End int      // its rows in the table
	Sessions   int      // all of them, also those before HistoryRequest.Since
	Changes    []Change // in the table, ascending
}

// Change is a change point of a series.
type Change struct {
	Row        int    // in the table: the first session of the new level
	Base, Head string // commits of the session before and of this one; empty where not known
	// BaseSession is the session before: what changed came after it.
	BaseSession string
	// Differs are the facts, but the commit, of which the first runs of the two sessions have different values.
	Differs []Difference

	baseRun, headRun string // these runs
}

// History gives a metric over sessions and where its level changed.
//
// The value of a session is the median over its ok runs of purpose measure of the location of a run: of Summary.LogMedian,
// of p50 where the metric is compared by its difference. Sessions without such a run are missing, not filled in. Of a
// session with two sides the head counts: it is the code of its day, while the base is older code that was run again, and
// would put an old commit to a new date. Runs of a session that differ in their commit are values of their own.
//
// Of the change points of all series those count that Benjamini and Hochberg's rule finds at 5 %, by the least p of each
// series: among many series, those with a false change point are 5 % of those with one, not 5 % of all. Otava knows no
// such thing.
func (db *DB) History(ctx context.Context, req HistoryRequest) (History, error) {
	if req.Method == "" {
		req.Method = HistorySBS
	}
	if req.Method != HistorySBS && req.Method != HistoryOtava {
		return History{}, input("history: there is no method %q: want %s or %s", brief(string(req.Method)), HistorySBS, HistoryOtava)
	}
	var h History
	err := db.ask(ctx, db.listAll, func(r *reader) error {
		sel, err := r.selected(ctx, question{filter: req.Filter})
		if err != nil {
			return err
		}
		t, err := r.locations(ctx, sel, req.Metric)
		if err != nil {
			return err
		}
		if len(t.Rows) == 0 {
			if err := r.check(ctx, sel.unsure); err != nil {
				return err
			}
		}
		h = newHistory(t, req)
		if h.NotNumbers, err = r.countNotNumbers(ctx, sel); err != nil {
			return err
		}
		return r.explainChanges(ctx, &h)
	})
	if err != nil {
		return History{}, err
	}
	return h, nil
}

// historyIdentity are the columns of a point in a history, its machine aside.
var historyIdentity = []string{"benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params"}

// historyRuns and historySummary are the columns of runs that locations reads; of a metric that is not the primary one
// the second part is that of samples.
var (
	historyRuns    = slices.Concat([]string{"run_id", "session_id", "point_id", "side", "purpose", "machine", "status", "started_at", "git_commit"}, historyIdentity)
	historySummary = []string{"metric", "unit", "better", "p50", "log_median"}
)

// locations reads the location of each session of each series, in the order of time.
func (r *reader) locations(ctx context.Context, sel selection, metric string) (Table, error) {
	const chosen = measured + " AND status = 'ok' AND coalesce(side, 'head') = 'head'"
	columns, err := runColumns(slices.Concat(historyRuns, historySummary))
	if err != nil {
		return Table{}, err
	}
	rows, args := sel.src.scan(withColumns(columns, sel.columns), sel.restrictedTo(chosen)), sel.args
	if metric != "" {
		args = append(slices.Clone(args), metric)
		rows, err = r.withMetric(ctx, sel, statement{rows, args})
		if err != nil {
			return Table{}, err
		}
	}
	identity := ""
	for _, name := range historyIdentity {
		identity += fmt.Sprintf(", any_value(%[1]s) AS %[1]s", identifier(name))
	}
	t, err := r.conn.table(ctx, statement{`SELECT point_id` + identity + `, machine, metric, unit, min(better) AS better, session_id,
	min(started_at) AS started_at, count(location) AS runs, median(location) AS location, git_commit, min(run_id) AS first_run, count(*) AS ok_runs
FROM (SELECT *, nullif(` + locationSQL() + `, '-Infinity'::DOUBLE) AS location FROM ` + rows + `) GROUP BY point_id, machine, metric, unit, session_id, git_commit`, args})
	if err != nil {
		return Table{}, err
	}
	session, started, first := t.Index("session_id"), t.Index("started_at"), t.Index("first_run")
	slices.SortFunc(t.Rows, func(a, b []any) int {
		return cmp.Or(startOf(a[started], a[session]).Compare(startOf(b[started], b[session])), cmp.Compare(textOf(a[first]), textOf(b[first])))
	})
	return t, nil
}

// startOf is when a session started: what is told of its runs, else when it was made.
func startOf(started, session any) time.Time {
	if at, ok := started.(time.Time); ok {
		return at
	}
	id, err := schema.ParseULID(textOf(session))
	if err != nil {
		return time.Time{}
	}
	return id.Time()
}

// withMetric is the SQL of runs with the summary of a metric, the last argument, in place of that of their primary one.
// Samples are opened only if it is another one of some run.
func (r *reader) withMetric(ctx context.Context, sel selection, runs statement) (string, error) {
	place := "$" + strconv.Itoa(len(runs.args)) + "::VARCHAR"
	row, err := r.conn.one(ctx, statement{"SELECT count(*) FROM " + runs.text + " WHERE metric IS DISTINCT FROM " + place, runs.args})
	if err != nil || integerOf(row[0]) == 0 {
		return runs.text, err
	}
	return "(SELECT " + namesOf("r", historyRuns) + ", " + namesOf("s", historySummary) + " FROM " + runs.text + " AS r LEFT JOIN " +
		sel.src.nested(schema.Samples, "") + " AS s ON s.run_id = r.run_id AND s.metric = " + place + ")", nil
}

// scaleOf is how locations of a metric are compared.
func scaleOf(metric string) schema.Scale {
	if k, ok := schema.KindOfMetric(metric); ok {
		return k.Scale
	}
	return schema.ScaleRatio
}

// inUnit is a location in the unit.
func inUnit(location float64, scale schema.Scale) float64 {
	if scale == schema.ScaleRatio {
		return math.Exp(location)
	}
	return location
}
