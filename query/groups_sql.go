package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// groupNumbers and bestNumbers are the columns of Groups that are neither keys nor columns of runs.
var (
	groupNumbers = []string{"points", "runs", "ok_runs", "failed_runs", "wrong_runs", "statuses", "reason", "median", "lowest", "highest", "spread"}
	bestNumbers  = []string{"best_runs", "samples_min", "samples_max", "p99"}
)

// sharedSQL is the SQL of one row with the values that all points share. A parameter is included if all rows have it with the same
// value. The metric is that of all rows that have one; it is NULL if a row has runs with different metrics.
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

// otherwiseSQL has a row for each row of group_points and status other than ok of its runs: columns, and the entry e of the status and its number.
func otherwiseSQL(columns string) string {
	return "SELECT " + columns + "unnest(map_entries(ended_otherwise)) AS e FROM group_points WHERE ended_otherwise IS NOT NULL"
}

// rowsSQL are the rows of Groups, over groups and group_points.
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
		CASE groups.better WHEN 'lower' THEN p.median ELSE -p.median END, CASE groups.better WHEN 'lower' THEN p.p99 ELSE -p.p99 END NULLS LAST,
		p.point_id, p.side NULLS FIRST, p.machine NULLS FIRST) = 1)`
		from += " LEFT JOIN best ON " + g.sameKeysSQL("groups", "best")
	}
	text += "\nSELECT " + strings.Join(g.columnsSQL(), ", ") + from + " ORDER BY " + g.order
	if g.req.Limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", g.req.Limit)
	}
	return text
}

// directionSQL is the branch of a CASE for metrics without a better direction.
func (g *grouper) directionSQL() string {
	if !g.req.Best {
		return ""
	}
	return ` WHEN NOT one_direction OR better IS NULL OR better NOT IN ('lower', 'higher') THEN '` + ReasonNoDirection + "'"
}

// reasonSQL is why there are no numbers. With Best, points with results that are wrong or could not be checked are not considered.
func (g *grouper) reasonSQL() string {
	if !g.req.Best {
		return "reason"
	}
	return "CASE WHEN reason IS NOT NULL OR best.point_id IS NOT NULL THEN reason WHEN groups.failed_requests THEN '" + ReasonRequests + "' ELSE '" + ReasonUnchecked + "' END AS reason"
}

// requestsSQL is the column of whether more requests failed than are allowed in a point whose results are right.
func (g *grouper) requestsSQL() string {
	if !g.req.Best {
		return ""
	}
	return "bool_or(failed_requests AND wrong_runs = 0 AND NOT unchecked) AS failed_requests, "
}

// columnsSQL are the columns of the result, in the order in which groupOf reads them. Their names are for g.order.
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

// orderBy is the order of the groups: as requested, then by the keys.
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
	for i := range g.keys {
		order = append(order, g.keyOrder(i, " ASC NULLS LAST")...)
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

// sortable are the columns of the result that can be sorted by.
func (g *grouper) sortable() []string {
	columns := []string{"points", "runs", "ok_runs", "failed_runs", "wrong_runs", "metric", "unit", "median"}
	if g.req.Best {
		return append(columns, "p99", "spread", "best_runs")
	}
	return append(columns, "lowest", "highest", "spread")
}
