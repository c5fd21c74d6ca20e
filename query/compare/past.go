package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// maxHistory is the number of sessions of a point that count at most. From more of them verdicts gain next to nothing: see "many nights" in
// VALIDATION.md of package judge.
const maxHistory = 100

// historySession is an earlier session of a point.
type historySession struct {
	ID       string
	Began    int64   // the start of its first run of the point, in Unix microseconds
	Location float64 // the median of its runs in the unit of the metric; if all are positive, the power of e of the median of their logarithms
}

// spacedSessions are the newest of a point's sessions that are at least gap microseconds apart from the next, at most Limit. Both are oldest first.
func spacedSessions(all []historySession, gap int64) []historySession {
	var chosen []historySession
	for _, s := range slices.Backward(all) {
		if len(chosen) == maxHistory {
			break
		}
		if len(chosen) == 0 || chosen[len(chosen)-1].Began-s.Began >= gap {
			chosen = append(chosen, s)
		}
	}
	slices.Reverse(chosen)
	return chosen
}

// newHistoryQuery asks a reader.
func newHistoryQuery(r *scan.Reader) *historyQuery {
	return &historyQuery{Conn: r.Conn, Src: r.Src, step: scan.FirstStep}
}

// historyQuery asks for the sessions of points that began before a time.
type historyQuery struct {
	Conn     *duck.Conn
	Src      *scan.Sources
	Machines []string
	Before   int64    // in Unix microseconds
	Without  []string // sessions that do not count

	step int // about how many runs are read first
}

// bounds are those of the runs that may count: a run starts at the time of its id.
func (q *historyQuery) bounds() scan.Period { return scan.Period{Until: max(q.Before/1000+1, 1)} }

// within are the runs of the question within bounds.
func (q *historyQuery) within(b scan.Period) scan.Selection {
	sel := scan.Selection{Src: q.Src.Within(b)}
	sel.Restrict(b)
	return sel
}

// Known counts the sessions on the machines, until there are enough. Those of Without count too.
func (q *historyQuery) Known(ctx context.Context, enough int) (known int, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "session_id", "machine", "started_at"})
	if err != nil {
		return 0, err
	}
	err = q.Src.FromNewest(q.bounds(), q.step, func(b scan.Period) (bool, error) {
		sel := q.within(b)
		args := append(sel.Args, q.Machines, q.Before)
		n := len(args)
		where := sel.RestrictedTo(fmt.Sprintf("list_contains($%d::VARCHAR[], machine) AND epoch_us(started_at) < $%d::BIGINT", n-1, n))
		row, err := q.Conn.One(ctx, duck.Statement{SQL: "SELECT count(DISTINCT session_id) FROM " + sel.Src.Scan(columns, where), Args: args})
		if err != nil {
			return false, err
		}
		known = int(duck.Integer(row[0]))
		return known >= enough, nil
	})
	return known, err
}

// Sessions reads the sessions of points, oldest first. gaps are the points, and by how many microseconds the sessions of each have to be
// apart. Of a point that has more than Limit sessions which are Apart, those before them are left out. In a session with two sides the head
// counts, because it is the code of that time. Runs in which more requests failed than are allowed do not count.
func (q *historyQuery) Sessions(ctx context.Context, metric string, gaps map[pointKey]int64) (map[pointKey][]historySession, error) {
	r := reading{historyQuery: q, metric: metric, gaps: gaps}
	for key := range gaps {
		r.points = append(r.points, key.Point)
	}
	slices.Sort(r.points)
	r.points = slices.Compact(r.points)
	err := q.Src.FromNewest(q.bounds(), q.step, func(b scan.Period) (bool, error) {
		if err := r.read(ctx, b); err != nil {
			return false, err
		}
		return r.enough(), nil
	})
	if err != nil {
		return nil, err
	}
	for key, all := range r.found {
		if chosen := spacedSessions(all, gaps[key]); len(chosen) == maxHistory {
			r.found[key] = slices.DeleteFunc(all, func(s historySession) bool { return s.Began < chosen[0].Began })
		}
	}
	return r.found, nil
}

// reading is what Sessions has read so far.
type reading struct {
	*historyQuery
	metric string
	gaps   map[pointKey]int64
	points []string // their ids
	found  map[pointKey][]historySession
	cut    int64 // the start of the last session that may have runs before the bounds; 0: none
}

// read reads the runs within bounds.
func (r *reading) read(ctx context.Context, b scan.Period) error {
	side := &selectedSide{Sel: r.within(b)}
	rows, args, err := side.Rows(sideColumns{Metric: r.metric})
	if err != nil {
		return err
	}
	args = append(args, r.Machines, r.Before, r.Without, r.points)
	n := len(args)
	text := fmt.Sprintf(`SELECT point_id, `+machineSQL+` AS m, session_id, CASE WHEN min(value) > 0 THEN exp(median(ln(CASE WHEN value > 0 THEN value END))) ELSE median(value) END,
	epoch_us(min(started_at))
FROM (SELECT *, %s AS value FROM %s
	WHERE coalesce(side, 'head') = 'head' AND status = 'ok' AND list_contains($%d::VARCHAR[], machine) AND epoch_us(started_at) < $%d::BIGINT AND NOT %s)
ANTI JOIN (SELECT unnest($%d::VARCHAR[]) AS session_id) USING (session_id)
SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id)
WHERE isfinite(value) GROUP BY point_id, m, session_id ORDER BY min(started_at), session_id`, scan.ValueSQL(), rows, n-3, n-2, scan.FailedRequestsSQL, n-1, n)
	r.found, r.cut = map[pointKey][]historySession{}, 0
	ids := map[string]int64{} // the last start in each session
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key, s := pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}, historySession{ID: duck.Text(row[2]), Began: duck.Integer(row[4])}
		var ok bool
		if s.Location, ok = row[3].(float64); !ok {
			return nil
		}
		if _, wanted := r.gaps[key]; wanted {
			r.found[key], ids[s.ID] = append(r.found[key], s), s.Began
		}
		return nil
	})
	if err != nil || b.Since == 0 {
		return err
	}
	return r.findCut(ctx, b.Since, ids)
}

// findCut finds the sessions of which only the runs since a time in Unix milliseconds were read. began are the sessions, each with its last
// start of a point. One whose id is of an earlier time may have earlier runs; of the others, few have.
func (r *reading) findCut(ctx context.Context, since int64, began map[string]int64) error {
	first := scan.FirstID(since).String()
	for id, start := range began {
		if id < first {
			r.cut = max(r.cut, start)
		}
	}
	columns, err := scan.RunColumns([]string{"run_id", "session_id"})
	if err != nil {
		return err
	}
	sel := r.within(scan.Period{Until: since})
	text := "SELECT DISTINCT session_id FROM " + sel.Src.Scan(columns, sel.RestrictedTo("session_id >= '"+first+"'")) // skips most row groups by their statistics
	return r.Conn.Query(ctx, duck.Statement{SQL: text, Args: sel.Args}, func(row []driver.Value) error {
		r.cut = max(r.cut, began[duck.Text(row[0])])
		return nil
	})
}

// enough reports whether there are enough sessions of each point that were read whole.
func (r *reading) enough() bool {
	for key, gap := range r.gaps {
		if !slices.Contains(r.Machines, key.Machine) {
			continue // none of it is read
		}
		whole := slices.DeleteFunc(slices.Clone(r.found[key]), func(s historySession) bool { return s.Began <= r.cut })
		if len(spacedSessions(whole, gap)) < maxHistory {
			return false
		}
	}
	return true
}
