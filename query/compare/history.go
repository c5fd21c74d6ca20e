package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/stat"
)

// histories finds the earlier sessions of the points whose sides are from different sessions.
func (m *comparison) histories(ctx context.Context, matched []*pairing, metric string) error {
	if !slices.ContainsFunc(matched, func(p *pairing) bool { return p.confounded }) {
		return nil
	}
	earlier := newHistoryQuery(m.head.Reader, m.purpose())
	earlier.machines, earlier.before, earlier.without = m.head.Machines, max(m.base.Since, m.head.Since), m.head.Sessions
	if !m.few() { // it takes long to read the sessions of points only to say how many there are
		known, err := earlier.countSessions(ctx, judge.MinHistory)
		if err != nil {
			return err
		}
		if known < judge.MinHistory { // too few for any point
			for _, p := range matched {
				p.knownHistory = -1
			}
			return nil
		}
	}
	gaps := map[pointKey]int64{}
	for _, p := range matched {
		if p.confounded && p.distance != unknown {
			for _, key := range []pointKey{p.base.key(), p.head.key()} {
				gaps[key] = max(gaps[key], p.gap())
			}
		}
	}
	sessions, err := earlier.sessions(ctx, metric, gaps)
	if err != nil {
		return err
	}
	for _, p := range matched {
		if p.confounded && p.distance != unknown {
			p.earlier = m.notBetween(sessions[p.head.key()])
			p.useHistory(p.earlier, m.notBetween(sessions[p.base.key()]))
			p.knownHistory = len(p.history)
		}
	}
	return nil
}

// notBetween leaves out the sessions that began after the older side ended. Some of them have the change that is looked for, which would look
// like noise. They are few, because earlier sessions are about as far apart as the sides. Of a baseline file only starts are known, so the
// sessions of the base stay.
func (m *comparison) notBetween(all []earlierSession) []earlierSession {
	return slices.DeleteFunc(slices.Clone(all), func(s earlierSession) bool {
		return s.Began > min(m.base.Until, m.head.Until) && !slices.Contains(m.base.Sessions, s.ID)
	})
}

// spacingShare is the minimum distance of earlier sessions from each other, as a share of the distance of the two sides. It is below 1
// because sessions are never equally spaced.
const spacingShare = .75

// gap returns the distance that earlier sessions must have from each other, in microseconds.
func (p *pairing) gap() int64 { return gapOf(p.distance) }

// gapOf returns the distance that earlier sessions must have from each other if the two sides have this one.
func gapOf(apart int64) int64 { return int64(spacingShare * float64(apart)) }

// EnoughHistory reports whether enough earlier sessions of a point show how much two of its sessions differ, which a verdict on these needs.
// earlier are the starts of its sessions up to the base, oldest first, and head is the start of the head, all in Unix microseconds.
func EnoughHistory(earlier []int64, head int64) bool {
	if len(earlier) == 0 {
		return false
	}
	sessions := make([]earlierSession, len(earlier))
	for i, began := range earlier {
		sessions[i].Began = began
	}
	return len(spaced(sessions, gapOf(head-earlier[len(earlier)-1]))) >= judge.MinHistory
}

// useHistory uses the earlier sessions of the head and of the base, which may be the same, that show how much the two sides would differ
// without a change. If one of them has a value without a logarithm, the point is compared by difference.
func (p *pairing) useHistory(ofHead, ofBase []earlierSession) {
	ofHead, ofBase = p.spaced(ofHead), p.spaced(ofBase)
	without := func(s earlierSession) bool { return s.Location <= 0 }
	if !p.byDifference() && (slices.ContainsFunc(ofHead, without) || slices.ContainsFunc(ofBase, without)) {
		p.useValues()
	}
	p.history = p.located(ofHead)
	if p.base.key() != p.head.key() {
		p.history = moreVariable(p.history, p.located(ofBase))
	}
}

// spaced returns sessions, oldest first, such that each is about as far from the next as the sides are from each other. Sessions of one
// afternoon do not show how days differ, and consecutive sessions of a drifting machine do not show how months differ.
func (p *pairing) spaced(all []earlierSession) []earlierSession {
	return spaced(all, p.gap())
}

// moreVariable returns the history with the larger differences between sessions.
func moreVariable(a, b []float64) []float64 {
	of, ok := stat.SessionNoise(a)
	if as, also := stat.SessionNoise(b); also && (!ok || as.SD > of.SD) {
		return b
	}
	return a
}

// MaxHistory is the maximum number of earlier sessions of a point that count: the newest. More of them hardly improve verdicts: see
// "many nights" in VALIDATION.md of package judge.
const MaxHistory = 100

// earlierSession is an earlier session of a point.
type earlierSession struct {
	ID       string
	Began    int64   // the start of its first run of the point, in Unix microseconds
	Location float64 // median of its runs in the unit of the metric; if all are positive, exp of the median of their logarithms
}

// spaced returns the newest of a point's sessions that are at least gap microseconds apart from the next, at most MaxHistory. Both are
// oldest first.
func spaced(all []earlierSession, gap int64) []earlierSession {
	var chosen []earlierSession
	for _, s := range slices.Backward(all) {
		if len(chosen) == MaxHistory {
			break
		}
		if len(chosen) == 0 || chosen[len(chosen)-1].Began-s.Began >= gap {
			chosen = append(chosen, s)
		}
	}
	slices.Reverse(chosen)
	return chosen
}

// newHistoryQuery asks a reader about runs that meet an SQL condition on their purpose.
func newHistoryQuery(r *scan.Reader, purpose string) *historyQuery {
	return &historyQuery{conn: r.Conn, src: r.Src, purpose: purpose, step: scan.FirstStep}
}

// historyQuery asks for the sessions of points that began before a time.
type historyQuery struct {
	conn     *duck.Conn
	src      *scan.Sources
	purpose  string // the SQL condition of the runs that count
	machines []string
	before   int64    // in Unix microseconds
	without  []string // sessions that do not count

	step int // about how many runs are read first
}

// bounds returns the bounds of the runs that may count: the time in the id of a run is its start.
func (q *historyQuery) bounds() scan.Period { return scan.Period{Until: max(q.before/1000+1, 1)} }

// within returns the runs of the question within bounds.
func (q *historyQuery) within(b scan.Period) scan.Selection {
	sel := scan.Selection{Src: q.src.Within(b)}
	sel.Restrict(b)
	return sel
}

// countSessions counts the sessions on the machines, until there are enough. It includes the sessions of Without.
func (q *historyQuery) countSessions(ctx context.Context, enough int) (known int, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "session_id", "machine", "started_at"})
	if err != nil {
		return 0, err
	}
	err = q.src.FromNewest(q.bounds(), q.step, func(b scan.Period) (bool, error) {
		sel := q.within(b)
		args := append(sel.Args, q.machines, q.before)
		n := len(args)
		where := sel.RestrictedTo(fmt.Sprintf("list_contains($%d::VARCHAR[], machine) AND epoch_us(started_at) < $%d::BIGINT", n-1, n))
		row, err := q.conn.One(ctx, duck.Statement{SQL: "SELECT count(DISTINCT session_id) FROM " + sel.Src.Scan(columns, where), Args: args})
		if err != nil {
			return false, err
		}
		known = int(duck.Integer(row[0]))
		return known >= enough, nil
	})
	return known, err
}

// sessions reads the sessions of points, oldest first. gaps are the points, and the minimum distance between the sessions of each in
// microseconds. If a point has more than MaxHistory such sessions, the oldest are left out. In a session with two sides the head counts,
// because it is the code of that time. Runs in which more requests failed than are allowed do not count, and neither do those that bisect measured.
func (q *historyQuery) sessions(ctx context.Context, metric string, gaps map[pointKey]int64) (map[pointKey][]earlierSession, error) {
	r := historyReading{historyQuery: q, metric: metric, gaps: gaps}
	for key := range gaps {
		r.points = append(r.points, key.Point)
	}
	slices.Sort(r.points)
	r.points = slices.Compact(r.points)
	err := q.src.FromNewest(q.bounds(), q.step, func(b scan.Period) (bool, error) {
		if err := r.read(ctx, b); err != nil {
			return false, err
		}
		return r.enough(), nil
	})
	if err != nil {
		return nil, err
	}
	for key, all := range r.found {
		if chosen := spaced(all, gaps[key]); len(chosen) == MaxHistory {
			r.found[key] = slices.DeleteFunc(all, func(s earlierSession) bool { return s.Began < chosen[0].Began })
		}
	}
	return r.found, nil
}

// historyReading has the sessions that were read so far.
type historyReading struct {
	*historyQuery
	metric          string
	gaps            map[pointKey]int64
	points          []string // their ids
	found           map[pointKey][]earlierSession
	incompleteUntil int64 // the start of the last session that may have runs before the bounds; 0: none
}

// read reads the runs within bounds.
func (r *historyReading) read(ctx context.Context, b scan.Period) error {
	side := &selectedSide{sel: r.within(b), purpose: r.purpose}
	rows, args, err := side.rows(groupColumns{Metric: r.metric})
	if err != nil {
		return err
	}
	args = append(args, r.machines, r.before, r.without, r.points)
	n := len(args)
	text := fmt.Sprintf(`SELECT point_id, `+machineSQL+` AS m, session_id, CASE WHEN min(value) > 0 THEN exp(median(ln(CASE WHEN value > 0 THEN value END))) ELSE median(value) END,
	epoch_us(min(started_at))
FROM (SELECT *, %s AS value FROM %s
	WHERE coalesce(side, 'head') = 'head' AND status = 'ok' AND list_contains($%d::VARCHAR[], machine) AND epoch_us(started_at) < $%d::BIGINT AND NOT %s AND NOT %s)
ANTI JOIN (SELECT unnest($%d::VARCHAR[]) AS session_id) USING (session_id)
SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id)
WHERE isfinite(value) GROUP BY point_id, m, session_id ORDER BY min(started_at), session_id`, scan.ValueSQL(), rows, n-3, n-2, scan.FailedRequestsSQL, scan.BisectSQL, n-1, n)
	r.found, r.incompleteUntil = map[pointKey][]earlierSession{}, 0
	ids := map[string]int64{} // the last start in each session
	err = r.conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key, s := pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}, earlierSession{ID: duck.Text(row[2]), Began: duck.Integer(row[4])}
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
	return r.findIncomplete(ctx, b.Since, ids)
}

// findIncomplete finds the sessions whose runs were only read since a time in Unix milliseconds. began are the sessions, each with its
// last start of a point. A session whose id has an earlier time may have earlier runs; few of the others do.
func (r *historyReading) findIncomplete(ctx context.Context, since int64, began map[string]int64) error {
	first := scan.FirstID(since).String()
	for id, start := range began {
		if id < first {
			r.incompleteUntil = max(r.incompleteUntil, start)
		}
	}
	columns, err := scan.RunColumns([]string{"run_id", "session_id"})
	if err != nil {
		return err
	}
	sel := r.within(scan.Period{Until: since})
	text := "SELECT DISTINCT session_id FROM " + sel.Src.Scan(columns, sel.RestrictedTo("session_id >= '"+first+"'")) // skips most row groups by their statistics
	return r.conn.Query(ctx, duck.Statement{SQL: text, Args: sel.Args}, func(row []driver.Value) error {
		r.incompleteUntil = max(r.incompleteUntil, began[duck.Text(row[0])])
		return nil
	})
}

// enough reports whether there are enough sessions of each point that were read whole.
func (r *historyReading) enough() bool {
	for key, gap := range r.gaps {
		if !slices.Contains(r.machines, key.Machine) {
			continue // not read at all
		}
		whole := slices.DeleteFunc(slices.Clone(r.found[key]), func(s earlierSession) bool { return s.Began <= r.incompleteUntil })
		if len(spaced(whole, gap)) < MaxHistory {
			return false
		}
	}
	return true
}
