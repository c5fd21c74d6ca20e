package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// GroupRequest selects the runs and the keys of groups.
type GroupRequest struct {
	Filter string    // in the filter language; empty matches every run
	Since  time.Time // only runs that started at or after this time; the zero time: no bound
	Until  time.Time // only runs that started before this time; the zero time: no bound
	By     []string  // keys as in a filter (columns, aliases, param.k, tag.k ...); empty: all runs are one group
	Best   bool      // show the best point of each group instead of all its points
	Metric string    // metric of the numbers, also of those in Filter; empty: the primary one of each run
	Sort   []string  // columns of the result, or keys; "-median" is descending; NULL last; empty: by the keys, of sessions the newest first
	Limit  int       // maximum number of groups; 0: no limit
}

// The reasons why a group has no numbers, or no best point.
const (
	ReasonNoValue     = "no_value"        // no ok run of purpose measure has a value
	ReasonMixed       = "mixed"           // runs differ in metric or unit
	ReasonUnchecked   = "unchecked"       // all points have results that are wrong or could not be checked
	ReasonRequests    = "failed_requests" // more requests failed than are allowed in all points whose results are right
	ReasonNoDirection = "no_direction"    // it is unknown whether lower or higher is better, or the runs contradict each other
)

// Groups groups the matching runs by equal values of keys. NULL is a value too. The numbers of the points are computed as in
// SessionPoints, from ok runs of purpose measure. A point that was measured on several machines or sides counts once for each, so that
// machines are never mixed.
//
// With Best, the best point of a group is the one with the best median, then with the better p99, then with the smaller point_id. Points
// with a result that is wrong or could not be checked, or in which more requests failed than are allowed, are not considered. Points of
// the side base are considered only if the group has no others: they are of the commit that head was compared with. Runs that bisect
// measured, perhaps at old commits, are left out of a group that has others with a value.
//
// The column of a key has the name of the column of runs, or the key as it was written. A parameter with the name of another column of
// the result is called param.k. Keys that cannot be grouped by, or that no run has, are an ErrInput.
func (db *DB) Groups(ctx context.Context, req GroupRequest) (Grouping, error) {
	g := grouper{req: req}
	var err error
	if g.keys, err = groupKeys(req.By); err != nil {
		return Grouping{}, err
	}
	if g.order, err = g.orderBy(); err != nil {
		return Grouping{}, err
	}
	since := time.Time{}
	if strings.TrimSpace(req.Filter) == "" {
		since = req.Since
	}
	err = db.stores.QueryScope(ctx, scan.Scope{Since: since}, func(r *scan.Reader) error { return g.group(ctx, r) })
	if err != nil {
		return Grouping{}, err
	}
	if g.found.Runs == 0 {
		err = db.noneWithin(ctx, ListRequest{Filter: g.req.Filter, Since: g.req.Since, Until: g.req.Until})
	}
	return g.found, err
}

// groupKey is a key by which runs are grouped.
type groupKey struct {
	name  string // name of its column in the result
	field filter.Field
}

// CheckKeys rejects keys by which runs cannot be grouped, with an ErrInput.
func CheckKeys(by []string) error {
	_, err := groupKeys(by)
	return err
}

// groupKeys resolves keys.
func groupKeys(by []string) ([]groupKey, error) {
	var keys []groupKey
	for _, key := range by {
		f := filter.FieldOf(key)
		switch k := f.Kind(); {
		case key == "" || key == filter.KeyBaseline || strings.HasPrefix(key, "-"):
			return nil, answer.InputError("by: %q is neither a column nor a parameter", answer.Brief(key))
		case k == schema.KindList:
			return nil, answer.InputError("by: %s is a list, and runs cannot be grouped by lists", f.Column.Name)
		case k == schema.KindMap:
			return nil, answer.InputError("by: %s is a map: name one of its entries, as in %s.name", f.Column.Name, filter.PrefixOf(f.Column.Name))
		case f.Measured():
			return nil, answer.InputError("by: %s is a measured value: want a key that runs share, such as backend", answer.Brief(key))
		}
		if slices.ContainsFunc(keys, func(other groupKey) bool { return other.field.Column == f.Column && other.field.Entry == f.Entry }) {
			return nil, answer.InputError("by: %s is given twice", answer.Brief(key))
		}
		keys = append(keys, groupKey{keyName(key, f), f})
	}
	return keys, nil
}

// keyName returns the name of a key's column.
func keyName(key string, f filter.Field) string {
	switch {
	case f.Entry == "":
		return f.Column.Name
	case f.Bare && (slices.Contains(groupNumbers, key) || slices.Contains(bestNumbers, key)):
		return "param." + key
	}
	return key
}

// grouper finds the groups of a request.
type grouper struct {
	req   GroupRequest
	keys  []groupKey
	order string // terms of ORDER BY
	found Grouping
}

// group fills found.
func (g *grouper) group(ctx context.Context, r *scan.Reader) error {
	sel, err := r.Selected(ctx, scan.Question{Filter: g.req.Filter, Bounds: scan.NewPeriod(g.req.Since, g.req.Until), Sort: g.req.By, Metric: g.req.Metric})
	if err != nil {
		return err
	}
	g.found.Best = g.req.Best
	if err := g.points(ctx, r, sel); err != nil {
		return err
	}
	if err := g.leaveOutBisected(ctx, r); err != nil {
		return err
	}
	if err := g.identities(ctx, r, sel); err != nil {
		return err
	}
	if _, err := r.Conn.Exec(ctx, g.groupsSQL()); err != nil {
		return err
	}
	if err := g.totals(ctx, r, sel); err != nil {
		return err
	}
	if g.found.NotNumbers, err = r.CountNotNumbers(ctx, sel); err != nil {
		return err
	}
	same, err := r.Conn.Table(ctx, duck.Statement{SQL: sharedSQL()})
	if err != nil {
		return err
	}
	g.found.Same = sharedOf(same.Rows[0])
	return g.groups(ctx, r)
}

// groups reads the groups.
func (g *grouper) groups(ctx context.Context, r *scan.Reader) error {
	t, err := r.Conn.Table(ctx, duck.Statement{SQL: g.rowsSQL()})
	if err != nil {
		return err
	}
	for i, k := range g.keys {
		t.Columns[i].Name = k.name
	}
	t.SetUnits(nil)
	g.found.Keys, g.found.Groups = t.Columns[:len(g.keys)], make([]Group, len(t.Rows))
	for i, row := range t.Rows {
		g.found.Groups[i] = g.groupOf(row)
	}
	return g.nameRates(ctx, r)
}

// nameRates gives the rates of groups of one benchmark the unit of its imported files, where the files name what is counted.
func (g *grouper) nameRates(ctx context.Context, r *scan.Reader) error {
	rates, err := r.RateUnits(ctx, func(yield func(string) bool) {
		for i := range g.found.Groups {
			if !yield(g.found.Groups[i].Unit) {
				return
			}
		}
	})
	if err != nil || rates == nil {
		return err
	}
	key := slices.IndexFunc(g.keys, func(k groupKey) bool { return k.field.Entry == "" && k.field.Column.Name == "benchmark" })
	for i := range g.found.Groups {
		group, benchmark := &g.found.Groups[i], g.found.Same.Benchmark
		if key >= 0 {
			benchmark = duck.Text(group.Keys[key])
		} else if group.Best != nil {
			benchmark = group.Best.Benchmark
		}
		group.Unit = rates.Of(benchmark, group.Metric, group.Unit)
	}
	return nil
}

// runsSQL returns a subquery of the runs with their keys.
func (g *grouper) runsSQL(sel scan.Selection) (string, error) {
	columns, err := scan.RunColumns(slices.Concat([]string{"machine"}, scan.Processors, pointsColumns))
	if err != nil {
		return "", err
	}
	values := ", true AS every" // a constant key, in case there is no other
	if g.req.Best {
		values += ", coalesce(list_contains(warnings, '" + schema.WarnBisect + "'), false) AS bisected"
	}
	for i, k := range sel.Order {
		values += fmt.Sprintf(", %s AS %s", k.Value, member(i))
	}
	return "(SELECT *" + values + " FROM " + sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.Matches()) + ")", nil
}

// identities makes the temporary table group_identities with the identity of each point. A point can be in many groups, so group_points
// has only its id. The keys are in the subquery because each argument of a statement has to be in its text; DuckDB leaves them out.
func (g *grouper) identities(ctx context.Context, r *scan.Reader, sel scan.Selection) error {
	runs, err := g.runsSQL(sel)
	if err != nil {
		return err
	}
	values := "point_id"
	for _, name := range IdentityColumns() {
		values += fmt.Sprintf(", any_value(%[1]s) AS %[1]s", duck.Identifier(name))
	}
	some := ""
	if g.found.Bisected > 0 {
		some = " HAVING point_id IN (SELECT point_id FROM group_points)"
	}
	_, err = r.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE group_identities AS SELECT "+values+" FROM "+runs+" GROUP BY point_id"+some, sel.Args...)
	return err
}

// points makes the temporary table group_points: the points of each group and machine.
func (g *grouper) points(ctx context.Context, r *scan.Reader, sel scan.Selection) error {
	runs, err := g.runsSQL(sel)
	if err != nil {
		return err
	}
	if g.req.Metric != "" {
		if err := r.CheckSamples(ctx); err != nil {
			return err
		}
		runs = g.ofMetric(sel, runs)
	}
	aggregates, varied := variedSQL()
	_, err = r.Conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE group_points AS SELECT "+g.keysSQL("")+
		", machine, point_id, side, runs, ok_runs, ended_ok, ended_otherwise, combined, "+strings.Join(varied, ", ")+", "+g.ofBest()+"metric, unit, better, median, spread, wrong_runs, comparable FROM "+
		scan.PointRows(runs, g.keysSQL("")+", machine, "+g.bisectedSQL(), endedCounts+combinedSQL+aggregates+g.uncheckedSQL()), sel.Args...)
	return err
}

// bisectedSQL returns the key that tells the runs that bisect measured from others, which only matters for a best point.
func (g *grouper) bisectedSQL() string {
	if !g.req.Best {
		return ""
	}
	return "bisected, "
}

// leaveOutBisected removes the runs that bisect measured from group_points, where a group has others with a value, and counts them.
func (g *grouper) leaveOutBisected(ctx context.Context, r *scan.Reader) error {
	if !g.req.Best {
		return nil
	}
	text := "DELETE FROM group_points AS b WHERE bisected AND EXISTS (SELECT 1 FROM group_points AS o WHERE NOT o.bisected AND o.valued_runs > 0 AND " +
		g.sameKeysSQL("o", "b") + ") RETURNING runs"
	return r.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) error {
		g.found.Bisected += int(duck.Integer(row[0]))
		return nil
	})
}

// endedCounts are aggregates of the runs of a point by status. Nearly all runs are ok, and a map for each point would take most of the
// time.
const endedCounts = `, count(CASE WHEN status = 'ok' THEN true END) AS ended_ok, histogram(CASE WHEN status <> 'ok' THEN status END) AS ended_otherwise`

// combinedSQL is the aggregate of whether the median of a point is over runs of several sessions.
const combinedSQL = `, min(CASE WHEN ok THEN session_id END) <> max(CASE WHEN ok THEN session_id END) AS combined`

// variedSQL returns, for each of scan.Processors, the aggregate of whether the ok runs of a point differ in it, and the name of its column.
func variedSQL() (aggregates string, names []string) {
	for _, name := range scan.Processors {
		aggregates += ", " + scan.VariedSQL(name) + " AS varied_" + name
		names = append(names, "varied_"+name)
	}
	return aggregates, names
}

// ofBest returns the columns of group_points that only a best point has.
func (g *grouper) ofBest() string {
	if !g.req.Best {
		return ""
	}
	return "samples_min, samples_max, p99, unchecked, failed_requests, valued_runs, " + g.bisectedSQL()
}

// uncheckedSQL returns the aggregates of whether the result of a run could not be checked, and whether requests failed, which only matter
// for a best point.
func (g *grouper) uncheckedSQL() string {
	if !g.req.Best {
		return ""
	}
	return ", coalesce(bool_or(list_contains(warnings, '" + schema.WarnUnchecked + "')), false) AS unchecked, bool_or(ok AND " + scan.FailedRequestsSQL + ") AS failed_requests"
}

// keysSQL returns the columns of the keys in a table; the prefix "p." selects the table p.
func (g *grouper) keysSQL(table string) string {
	columns := table + "every"
	for i := range g.keys {
		columns += ", " + table + member(i)
	}
	return columns
}

// sameKeysSQL returns the condition of a join of two tables by the keys. NULL is a value too.
func (g *grouper) sameKeysSQL(a, b string) string {
	condition := a + ".every = " + b + ".every"
	for i := range g.keys {
		condition += fmt.Sprintf(" AND %[1]s.%[3]s IS NOT DISTINCT FROM %[2]s.%[3]s", a, b, member(i))
	}
	return condition
}

// member returns the name of the column of a key.
func member(i int) string { return fmt.Sprintf("key_%d", i) }

// totals computes the totals over all groups, and rejects keys and metrics that no run has.
func (g *grouper) totals(ctx context.Context, r *scan.Reader, sel scan.Selection) error {
	counts := []string{
		"count(*)", "(SELECT count(*) FROM group_identities)", "coalesce(sum(runs), 0)::BIGINT", "coalesce(sum(ended_ok), 0)::BIGINT",
		"(SELECT count(*) FROM (SELECT 1 FROM group_points GROUP BY " + g.keysSQL("") + " HAVING count(DISTINCT side) > 1))",
		"(SELECT count(*) FROM group_points WHERE combined)",
	}
	_, varied := variedSQL()
	for _, name := range varied {
		counts = append(counts, "(SELECT coalesce(bool_or("+name+"), false) FROM group_points)")
	}
	for i := range g.keys {
		counts = append(counts, "count("+member(i)+")")
	}
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT " + strings.Join(counts, ", ") + " FROM groups"})
	if err != nil {
		return err
	}
	for i, n := range []*int{&g.found.Total, &g.found.Points, &g.found.Runs} {
		*n = int(duck.Integer(row[i]))
	}
	g.found.Statuses = statusesOf(int(duck.Integer(row[3])), nil)
	g.found.SidesTogether = duck.Integer(row[4]) > 0
	if duck.Integer(row[5]) > 0 {
		if g.found.Combined, err = r.CountSessions(ctx, sel); err != nil {
			return err
		}
	}
	for i, name := range scan.Processors {
		if row[6+i] == true {
			g.found.Varied = append(g.found.Varied, name)
		}
	}
	if err := g.checkKeys(ctx, r, row[6+len(varied):]); err != nil {
		return err
	}
	if g.found.Runs == 0 {
		sel.PossibleTypos = slices.DeleteFunc(sel.PossibleTypos, func(u filter.PossibleTypo) bool { return u.Word.Op == "" }) // keys are no words of the filter
		if err := r.ExplainEmpty(ctx, sel); err != nil {
			return err
		}
	}
	if g.req.Metric != "" {
		if err := g.checkMetric(ctx, r); err != nil {
			return err
		}
	}
	return r.Conn.Query(ctx, duck.Statement{SQL: "SELECT e.key, sum(e.value)::BIGINT FROM (" + otherwiseSQL("") + ") GROUP BY e.key"}, func(row []driver.Value) error {
		g.found.Statuses[duck.Text(row[0])] = int(duck.Integer(row[1]))
		return nil
	})
}

// checkKeys rejects parameters that no run has, because they are probably typos. values are, per key, the number of groups
// with a value.
func (g *grouper) checkKeys(ctx context.Context, r *scan.Reader, values []driver.Value) error {
	for i, k := range g.keys {
		if !k.field.Bare || duck.Integer(values[i]) != 0 || r.Src.Runs() == 0 {
			continue
		}
		names, err := r.Texts(ctx, "unnest(map_keys(params))", "params")
		if err != nil {
			return err
		}
		if !slices.Contains(names, k.field.Entry) {
			return answer.InputError("by: no column or parameter is called %q%s", answer.Brief(k.field.Entry), scan.SuggestKey(k.field.Entry, names))
		}
	}
	return nil
}

// metricOfRuns are the columns of runs that pointsSQL reads and that describe the primary metric.
var metricOfRuns = []string{"metric", "unit", "better", "n_samples", "p50", "p99", "mean", "mad"}

// ofMetric returns a subquery of runs in which the metric columns hold the requested metric; NULL for runs without it.
func (g *grouper) ofMetric(sel scan.Selection, runs string) string {
	replaced := make([]string, len(metricOfRuns))
	for i, name := range metricOfRuns {
		replaced[i] = "s." + name + " AS " + name
	}
	return "(SELECT r.* REPLACE (" + strings.Join(replaced, ", ") + ") FROM " + runs + " AS r LEFT JOIN (SELECT run_id, " + strings.Join(metricOfRuns, ", ") +
		" FROM " + sel.Src.Nested(schema.Samples, "") + " WHERE metric = " + duck.Literal(g.req.Metric) + ") AS s ON s.run_id = r.run_id)"
}

// checkMetric rejects a metric that none of the ok runs has.
func (g *grouper) checkMetric(ctx context.Context, r *scan.Reader) error {
	row, err := r.Conn.One(ctx, duck.Statement{SQL: "SELECT coalesce(sum(ok_runs), 0)::BIGINT, count(metric), count(*) FILTER (NOT comparable) FROM group_points"})
	if err != nil {
		return err
	}
	if duck.Integer(row[0]) > 0 && duck.Integer(row[1])+duck.Integer(row[2]) == 0 {
		return r.NoMetric(ctx, "ls", g.req.Metric)
	}
	return nil
}

// groupNumbers and bestNumbers are the columns of Groups that are neither keys nor columns of runs.
var (
	groupNumbers = []string{"points", "runs", "ok_runs", "failed_runs", "wrong_runs", "statuses", "reason", "median", "lowest", "highest", "spread"}
	bestNumbers  = []string{"best_runs", "samples_min", "samples_max", "p99"}
)

// sharedSQL returns the SQL of one row with the values that all points share. A parameter is included if all rows have it with the same
// value. The metric is included if all rows that have one agree; it is NULL if a row has runs with different metrics.
func sharedSQL() string {
	const sameMetric = "bool_and(comparable) AND min(metric) = max(metric)"
	columns := []string{
		"CASE WHEN " + sameMetric + " THEN min(metric) END AS metric",
		"CASE WHEN " + sameMetric + " AND count(better) = count(metric) AND min(better) = max(better) THEN min(better) END AS better",
	}
	for _, name := range append([]string{"side"}, Identity...) {
		same := fmt.Sprintf("CASE WHEN count(%[1]s) = count(*) AND min(%[1]s) = max(%[1]s) THEN min(%[1]s) END", duck.Identifier(name))
		if slices.Contains(IdentityColumns(), name) {
			same = "(SELECT " + same + " FROM group_identities)"
		}
		columns = append(columns, same+" AS "+duck.Identifier(name))
	}
	return "SELECT " + strings.Join(columns, ", ") + `, (SELECT map_from_entries(list({'key': name, 'value': value} ORDER BY name)) FROM
	(SELECT e.key AS name, min(e.value) AS value FROM (SELECT unnest(map_entries(params)) AS e FROM group_identities)
		GROUP BY e.key HAVING count(e.value) = (SELECT count(*) FROM group_identities) AND min(e.value) = max(e.value))) AS params FROM group_points`
}

// groupsSQL makes the temporary table groups, with one row for each group of group_points.
func (g *grouper) groupsSQL() string {
	return `CREATE OR REPLACE TEMP TABLE groups AS
SELECT *, CASE WHEN valued = 0 THEN '` + ReasonNoValue + `' WHEN NOT comparable THEN '` + ReasonMixed + `'` + g.directionSQL() + ` END AS reason
FROM (SELECT ` + g.keysSQL("") + `, count(DISTINCT point_id) AS points, sum(runs)::BIGINT AS runs, sum(ok_runs)::BIGINT AS ok_runs,
	sum(wrong_runs)::BIGINT AS wrong_runs, ` + g.requestsSQL() + `sum(ended_ok)::BIGINT AS ended_ok,
	count(*) FILTER (isfinite(median) OR NOT comparable) AS valued,
	bool_and(comparable) AND ` + scan.SameSQL("metric", "metric") + " AND " + scan.SameSQL("metric_unit", "metric") + ` AS comparable,
	coalesce(min(direction) = max(direction), false) AS one_direction,
	min(metric) AS metric, min(unit) AS unit, min(better) AS better,
	median(median) AS median, min(median) AS lowest, max(median) AS highest, median(spread) AS spread
	FROM (SELECT *, CASE WHEN metric IS NOT NULL THEN unit END AS metric_unit, CASE WHEN metric IS NOT NULL THEN coalesce(better, '') END AS direction
		FROM group_points) GROUP BY ` + g.keysSQL("") + ")"
}

// otherwiseSQL returns a query with a row for each row of group_points and status other than ok of its runs: columns, and the entry e of
// the status and its number.
func otherwiseSQL(columns string) string {
	return "SELECT " + columns + "unnest(map_entries(ended_otherwise)) AS e FROM group_points WHERE ended_otherwise IS NOT NULL"
}

// rowsSQL returns the rows of Groups, over groups and group_points.
func (g *grouper) rowsSQL() string {
	var notFailed []string
	for _, s := range schema.Statuses {
		if !s.Failed() {
			notFailed = append(notFailed, duck.Literal(string(s)))
		}
	}
	text := `WITH ended AS (SELECT ` + g.keysSQL("") + `, map_from_entries(list({'key': status, 'value': n})) AS statuses,
	sum(n) FILTER (status NOT IN (` + strings.Join(notFailed, ", ") + `))::BIGINT AS failed_runs
	FROM (SELECT ` + g.keysSQL("") + ", e.key AS status, sum(e.value)::BIGINT AS n FROM (" + otherwiseSQL(g.keysSQL("")+", ") + ") GROUP BY " + g.keysSQL("") + ", status) GROUP BY " + g.keysSQL("") + ")"
	from := " FROM groups LEFT JOIN ended ON " + g.sameKeysSQL("groups", "ended")
	if g.req.Best {
		text += `,
best AS (SELECT p.*, i.* EXCLUDE (point_id) FROM group_points p JOIN groups ON ` + g.sameKeysSQL("groups", "p") + ` JOIN group_identities i USING (point_id)
	WHERE groups.reason IS NULL AND isfinite(p.median) AND p.wrong_runs = 0 AND NOT p.unchecked AND NOT p.failed_requests
	QUALIFY row_number() OVER (PARTITION BY ` + g.keysSQL("p.") + ` ORDER BY
		p.side IS NOT DISTINCT FROM 'base', CASE groups.better WHEN 'lower' THEN p.median ELSE -p.median END, CASE groups.better WHEN 'lower' THEN p.p99 ELSE -p.p99 END NULLS LAST,
		p.point_id, p.side NULLS FIRST, p.machine NULLS FIRST) = 1)`
		from += " LEFT JOIN best ON " + g.sameKeysSQL("groups", "best")
	}
	text += "\nSELECT " + strings.Join(g.columnsSQL(), ", ") + from + " ORDER BY " + g.order
	if g.req.Limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", g.req.Limit)
	}
	return text
}

// directionSQL returns the branch of a CASE for metrics without a better direction.
func (g *grouper) directionSQL() string {
	if !g.req.Best {
		return ""
	}
	return ` WHEN NOT one_direction OR better IS NULL OR better NOT IN ('lower', 'higher') THEN '` + ReasonNoDirection + "'"
}

// reasonSQL returns the column with the reason why there are no numbers. With Best, points with results that are wrong or could not be
// checked are not considered.
func (g *grouper) reasonSQL() string {
	if !g.req.Best {
		return "reason"
	}
	return "CASE WHEN reason IS NOT NULL OR best.point_id IS NOT NULL THEN reason WHEN groups.failed_requests THEN '" + ReasonRequests + "' ELSE '" + ReasonUnchecked + "' END AS reason"
}

// requestsSQL returns the column of whether more requests failed than are allowed in a point whose results are right.
func (g *grouper) requestsSQL() string {
	if !g.req.Best {
		return ""
	}
	return "bool_or(failed_requests AND wrong_runs = 0 AND NOT unchecked) AS failed_requests, "
}

// columnsSQL returns the columns of the result, in the order in which groupOf reads them. g.order uses their names.
func (g *grouper) columnsSQL() []string {
	var columns []string
	for i := range g.keys {
		columns = append(columns, "groups."+member(i)+" AS "+member(i))
	}
	columns = append(columns, "groups.points AS points", "groups.runs AS runs", "groups.ok_runs AS ok_runs", "coalesce(ended.failed_runs, 0) AS failed_runs",
		"groups.wrong_runs AS wrong_runs", "groups.ended_ok", "ended.statuses",
		"CASE WHEN groups.comparable THEN groups.metric END AS metric", "CASE WHEN groups.comparable THEN groups.unit END AS unit",
		"CASE WHEN groups.comparable AND one_direction THEN groups.better END AS better", g.reasonSQL())
	if !g.req.Best {
		for _, name := range []string{"median", "spread", "lowest", "highest"} {
			columns = append(columns, "CASE WHEN reason IS NULL THEN groups."+name+" END AS "+name)
		}
		return columns
	}
	columns = append(columns, "best.median AS median", "best.spread AS spread", "best.point_id", "best.side")
	for _, name := range append(slices.Clone(Identity), "params") {
		columns = append(columns, "best."+duck.Identifier(name))
	}
	return append(columns, "best.valued_runs AS best_runs", "best.samples_min", "best.samples_max", "best.p99 AS p99")
}

// orderBy returns the order of the groups: as requested, then by the keys.
func (g *grouper) orderBy() (string, error) {
	var order []string
	for _, want := range g.req.Sort {
		name, descending := strings.CutPrefix(want, "-")
		direction := " ASC NULLS LAST"
		if descending {
			direction = " DESC NULLS LAST"
		}
		columns := g.sortable()
		if i := slices.IndexFunc(g.keys, func(k groupKey) bool { return k.name == keyName(name, filter.FieldOf(name)) }); i >= 0 {
			order = append(order, g.keyOrder(i, direction)...)
		} else if slices.Contains(columns, name) {
			order = append(order, duck.Identifier(name)+direction)
		} else {
			for _, k := range slices.Backward(g.keys) {
				columns = slices.Insert(columns, 0, k.name)
			}
			return "", answer.InputError("sort: %q is not a column of the groups: want one of %s", answer.Brief(want), strings.Join(columns, " "))
		}
	}
	for i, k := range g.keys {
		direction := " ASC NULLS LAST"
		if k.name == sessionColumn { // newest first
			direction = " DESC NULLS LAST"
		}
		order = append(order, g.keyOrder(i, direction)...)
	}
	return strings.Join(append(order, "1"), ", "), nil
}

// sessionColumn is the column by which runs are grouped by session.
const sessionColumn = "session_id"

// keyOrder sorts by a key: entries of maps as numbers, then as text.
func (g *grouper) keyOrder(i int, direction string) []string {
	key := "groups." + member(i)
	switch field := g.keys[i].field; {
	case field.Entry != "":
		return []string{duck.Number(key) + direction, key + direction}
	case field.Column.Name == sessionColumn: // sessions without a start are in no order, so they come last
		return []string{key + " < " + duck.Literal(scan.FirstID(schema.FirstDated).String()) + " ASC NULLS LAST", key + direction}
	}
	return []string{key + direction}
}

// sortable returns the columns of the result that can be sorted by.
func (g *grouper) sortable() []string {
	columns := []string{"points", "runs", "ok_runs", "failed_runs", "wrong_runs", "metric", "unit", "median"}
	if g.req.Best {
		return append(columns, "p99", "spread", "best_runs")
	}
	return append(columns, "lowest", "highest", "spread")
}
