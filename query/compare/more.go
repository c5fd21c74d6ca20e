package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// processes replaces the runs of points by their samples, where each of these is a process: see judge.Processes.
func (m *comparing) processes(ctx context.Context, matched []*pairing, metric string) error {
	var sides [2][]*group
	for _, p := range matched {
		if p.whole() && judge.Processes(min(len(p.base.locations), len(p.head.locations)), p.confounded) &&
			p.base.metric.level == string(schema.LevelProcess) && p.head.metric.level == string(schema.LevelProcess) {
			sides[0], sides[1] = append(sides[0], p.base), append(sides[1], p.head)
		}
	}
	for i, s := range []*side{m.base, m.head} {
		if err := m.samplesOf(ctx, s, sides[i], metric); err != nil {
			return err
		}
	}
	return nil
}

// samplesOf makes each sample of groups a replicate.
func (m *comparing) samplesOf(ctx context.Context, s *side, groups []*group, metric string) error {
	if len(groups) == 0 {
		return nil
	}
	byKey := map[pointKey]*group{}
	var points []string
	for _, g := range groups {
		byKey[g.key()] = g
		points = append(points, g.pointID)
		g.note().oneBlock = len(g.locations)
		g.note().repeats, g.locations, g.inOrder = nil, nil, false
	}
	from, args, err := m.withSamples(s, metric)
	if err != nil {
		return err
	}
	args = append(args, points)
	text := fmt.Sprintf("SELECT point_id, "+knownMachine+", "+scan.SampleValues+" FROM %s AS s SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id) ORDER BY run_id",
		from, len(args))
	return m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		if g := byKey[pointKey{duck.Text(row[0]), duck.Text(row[1])}]; g != nil {
			g.addSamples(duck.List(row[2]))
		}
		return nil
	})
}

// withSamples is the SQL of the ok runs of a side, with the samples of a metric, the primary one where it is empty.
func (m *comparing) withSamples(s *side, metric string) (from string, args []any, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "point_id", "machine", "status", "warnings", "metric", "purpose"})
	if err != nil {
		return "", nil, err
	}
	args, of := slices.Clone(s.sel.Args), "r.metric"
	if metric != "" {
		args = append(args, metric)
		of = fmt.Sprintf("$%d::VARCHAR", len(args))
	}
	rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(scan.Measured+" AND status = 'ok'"))
	return "(SELECT r.run_id, r.point_id, r.machine, r.warnings, s.* EXCLUDE (run_id) FROM " + rows + " AS r JOIN " +
		s.sel.Src.Nested(schema.Samples, "") + " AS s ON s.run_id = r.run_id AND s.metric = " + of + ")", args, nil
}

// addSamples adds the samples of a run as replicates.
func (g *group) addSamples(values []any) {
	k, _ := schema.KindOfMetric(g.metric.name)
	for _, v := range values {
		location, ok := v.(float64)
		switch {
		case !ok || math.IsNaN(location) || math.IsInf(location, 0):
			g.note().useless++
			continue
		case k.Scale == schema.ScaleDifference:
		case location <= 0:
			g.note().nonPositive++
			continue
		default:
			location = math.Log(location)
		}
		g.locations = append(g.locations, location)
	}
}

// ticks reads the step of the clock of points of which runs say that it is coarse. Metrics that are no integers of a tick
// have none.
func (m *comparing) ticks(ctx context.Context, matched []*pairing, metric string) error {
	sides := [2]map[pointKey]*group{{}, {}}
	for _, p := range matched {
		for i, g := range []*group{p.base, p.head} {
			if p.whole() && slices.Contains(g.noted().warnings, stat.WarnQuantised) {
				sides[i][g.key()] = g
			}
		}
	}
	for i, s := range []*side{m.base, m.head} {
		if len(sides[i]) == 0 {
			continue
		}
		from, args, err := m.withSamples(s, metric)
		if err != nil {
			return err
		}
		text := "SELECT point_id, " + knownMachine + ", max(tick) FROM " + from + " WHERE list_contains(warnings, " + duck.Literal(stat.WarnQuantised) + ") GROUP BY ALL"
		err = m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
			if g := sides[i][pointKey{duck.Text(row[0]), duck.Text(row[1])}]; g != nil {
				g.note().tick, _ = row[2].(float64)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// histories finds the earlier sessions of the points whose sides are of different ones.
func (m *comparing) histories(ctx context.Context, matched []*pairing, metric string) error {
	if !slices.ContainsFunc(matched, func(p *pairing) bool { return p.confounded }) {
		return nil
	}
	known := len(m.base.Sessions)
	if m.Src.Counted > m.base.Runs+m.head.Runs { // there are others
		var err error
		if known, err = m.knownSessions(ctx); err != nil {
			return err
		}
	}
	if known < judge.LeastHistory {
		for _, p := range matched {
			p.known = unknown
		}
		return nil // it saves reading what would not be enough
	}
	keys := map[pointKey]bool{}
	for _, p := range matched {
		if p.confounded && p.apart != unknown {
			keys[p.base.key()], keys[p.head.key()] = true, true
		}
	}
	past, err := m.past(ctx, keys, metric)
	if err != nil {
		return err
	}
	for _, p := range matched {
		if p.confounded && p.apart != unknown {
			p.past = past[p.head.key()]
			p.history = p.apartEnough(p.past)
			if p.base.key() != p.head.key() {
				p.history = noisier(p.history, p.apartEnough(past[p.base.key()]))
			}
			p.known = len(p.history)
		}
	}
	return nil
}

// pastSession is an earlier session of a point: when it began, in Unix microseconds, and the median of its runs.
type pastSession struct {
	id       string
	began    int64
	location float64
}

// asFar is how far from one another earlier sessions have to be, beside the sides: no two are equally far apart.
const asFar = .75

// gap is how far from one another earlier sessions have to be, in microseconds.
func (p *pairing) gap() int64 { return int64(asFar * float64(p.apart)) }

// apartEnough are the locations of those sessions, the oldest first, that tell what the sides of the point differ by: each is
// about as far from the one before it as the sides are. Those of an afternoon say nothing of another day, and neighbours of
// those that wander nothing of a month.
func (p *pairing) apartEnough(all []pastSession) []float64 {
	gap := p.gap()
	var locations []float64
	var last int64
	for _, s := range all {
		if len(locations) == 0 || s.began-last >= gap {
			locations, last = append(locations, s.location), s.began
		}
	}
	return locations
}

// noisier is the history that says that sessions differ by more, of those that say anything.
func noisier(a, b []float64) []float64 {
	of, ok := stat.SessionNoise(a)
	if as, also := stat.SessionNoise(b); also && (!ok || as.SD > of.SD) {
		return b
	}
	return a
}

// knownSessions is how many earlier sessions there are on the machines of the head.
func (m *comparing) knownSessions(ctx context.Context) (int, error) {
	columns, err := scan.RunColumns([]string{"session_id", "machine", "started_at"})
	if err != nil {
		return 0, err
	}
	text := "SELECT count(DISTINCT session_id) FROM " + m.Src.Scan(columns, "list_contains($1::VARCHAR[], machine) AND epoch_us(started_at) < $2::BIGINT")
	row, err := m.Conn.One(ctx, duck.Statement{SQL: text, Args: []any{m.head.Machines, m.latest()}})
	if err != nil {
		return 0, err
	}
	return int(duck.Integer(row[0])), nil
}

// latest is when the later side began: what came after says nothing of what was known.
func (m *comparing) latest() int64 { return max(m.base.Since, m.head.Since) }

// past are the sessions of points, the oldest first: all that began before the later side did, but the head's own. Of a
// session with two sides the head counts, which is the code of its time.
func (m *comparing) past(ctx context.Context, keys map[pointKey]bool, metric string) (map[pointKey][]pastSession, error) {
	everything := &side{sel: scan.Selection{Src: m.Src}}
	rows, args, err := m.groupRows(everything, asked{metric: metric})
	if err != nil {
		return nil, err
	}
	args = append(args, m.head.Machines, m.latest(), m.head.Sessions)
	n := len(args)
	text := fmt.Sprintf(`SELECT point_id, `+knownMachine+` AS m, session_id, median(location), epoch_us(min(started_at))
FROM (SELECT *, %s AS location FROM %s
	WHERE coalesce(side, 'head') = 'head' AND status = 'ok' AND list_contains($%d::VARCHAR[], machine) AND epoch_us(started_at) < $%d::BIGINT)
ANTI JOIN (SELECT unnest($%d::VARCHAR[]) AS session_id) USING (session_id)
WHERE isfinite(location) GROUP BY point_id, m, session_id ORDER BY min(started_at)`, scan.LocationSQL(), rows, n-2, n-1, n)
	past := map[pointKey][]pastSession{}
	err = m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key := pointKey{duck.Text(row[0]), duck.Text(row[1])}
		if location, ok := row[3].(float64); ok && keys[key] {
			past[key] = append(past[key], pastSession{duck.Text(row[2]), duck.Integer(row[4]), location})
		}
		return nil
	})
	return past, err
}
