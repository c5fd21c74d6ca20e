package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// processes replaces the runs of points by their samples if each sample is a process and judge.Processes allows it. Points without
// samples on a side, for example from a file of summaries, keep their runs.
func (m *comparing) processes(ctx context.Context, matched []*pairing, metric string) error {
	var some []*pairing
	var keys [2][]string
	for _, p := range matched {
		if p.whole() && judge.Processes(min(len(p.base.Locations), len(p.head.Locations)), p.confounded) &&
			p.base.Metric.Level == string(schema.LevelProcess) && p.head.Metric.Level == string(schema.LevelProcess) {
			some = append(some, p)
			keys[0], keys[1] = append(keys[0], p.base.PointID), append(keys[1], p.head.PointID)
		}
	}
	var of [2]map[pointKey][]any
	for i, s := range []*selectedSide{m.base, m.head} {
		var err error
		if of[i], err = m.samplesOf(ctx, s, keys[i], metric); err != nil {
			return err
		}
	}
	for _, p := range some {
		base, head := of[0][p.base.Key()], of[1][p.head.Key()]
		if len(base) == 0 || len(head) == 0 {
			continue
		}
		if slices.ContainsFunc(slices.Concat(base, head), func(v any) bool { number, ok := v.(float64); return ok && number <= 0 }) {
			p.scale = schema.ScaleDifference
		}
		p.base, p.head = p.base.OfSamples(base, p.scale), p.head.OfSamples(head, p.scale)
	}
	return nil
}

// samplesOf reads the samples of points of a side.
func (m *comparing) samplesOf(ctx context.Context, s *selectedSide, points []string, metric string) (map[pointKey][]any, error) {
	found := map[pointKey][]any{}
	if len(points) == 0 {
		return found, nil
	}
	from, args, err := m.withSamples(s, metric)
	if err != nil {
		return nil, err
	}
	args = append(args, points)
	text := fmt.Sprintf("SELECT point_id, "+machineSQL+", "+scan.SampleValues+" FROM %s AS s SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id) ORDER BY run_id",
		from, len(args))
	return found, m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key := pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}
		found[key] = append(found[key], duck.List(row[2])...)
		return nil
	})
}

// withSamples is the SQL of the ok runs of a side with the samples of a metric; "" is the primary one.
func (m *comparing) withSamples(s *selectedSide, metric string) (from string, args []any, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "point_id", "machine", "status", "warnings", "metric", "purpose"})
	if err != nil {
		return "", nil, err
	}
	args, of := slices.Clone(s.Sel.Args), "r.metric"
	if metric != "" {
		args = append(args, metric)
		of = fmt.Sprintf("$%d::VARCHAR", len(args))
	}
	rows := s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.IsMeasurement+" AND status = 'ok'"))
	return "(SELECT r.run_id, r.point_id, r.machine, r.warnings, s.* EXCLUDE (run_id) FROM " + rows + " AS r JOIN " +
		s.Sel.Src.Nested(schema.Samples, "") + " AS s ON s.run_id = r.run_id AND s.metric = " + of + ")", args, nil
}

// ticks reads the step of the clock for points with the warning of a coarse clock. Metrics that are not multiples of a tick have
// none.
func (m *comparing) ticks(ctx context.Context, matched []*pairing, metric string) error {
	of := [2]map[pointKey][]*sideGroup{{}, {}}
	for _, p := range matched {
		for i, g := range []*sideGroup{p.base, p.head} {
			if p.whole() && slices.Contains(g.Noted().Warnings, stat.WarnQuantised) {
				of[i][g.Key()] = append(of[i][g.Key()], g)
			}
		}
	}
	for i, s := range []*selectedSide{m.base, m.head} {
		if len(of[i]) == 0 {
			continue
		}
		from, args, err := m.withSamples(s, metric)
		if err != nil {
			return err
		}
		text := "SELECT point_id, " + machineSQL + ", max(tick) FROM " + from + " WHERE list_contains(warnings, " + duck.Literal(stat.WarnQuantised) + ") GROUP BY ALL"
		err = m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
			for _, g := range of[i][pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}] {
				g.Note().Tick, _ = row[2].(float64)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// histories finds the earlier sessions of the points whose sides are from different sessions.
func (m *comparing) histories(ctx context.Context, matched []*pairing, metric string) error {
	if !slices.ContainsFunc(matched, func(p *pairing) bool { return p.confounded }) {
		return nil
	}
	earlier := newHistoryQuery(m.Reader)
	earlier.Machines, earlier.Before, earlier.Without = m.head.Machines, max(m.base.Since, m.head.Since), m.head.Sessions
	known := len(m.base.Sessions)
	if m.isBeside() || m.Src.Counted > m.base.Runs+m.head.Runs { // there are others
		var err error
		if known, err = earlier.Known(ctx, judge.MinHistory); err != nil {
			return err
		}
	}
	if known < judge.MinHistory {
		for _, p := range matched {
			p.known = unknown
		}
		return nil // too few sessions for any point: nothing more has to be read
	}
	gaps := map[pointKey]int64{}
	for _, p := range matched {
		if p.confounded && p.apart != unknown {
			for _, key := range []pointKey{p.base.Key(), p.head.Key()} {
				gaps[key] = max(gaps[key], p.gap())
			}
		}
	}
	sessions, err := earlier.Sessions(ctx, metric, gaps)
	if err != nil {
		return err
	}
	for _, p := range matched {
		if p.confounded && p.apart != unknown {
			p.past = sessions[p.head.Key()]
			p.useHistory(p.past, sessions[p.base.Key()])
			p.known = len(p.history)
		}
	}
	return nil
}

// MaxHistory is the number of earlier sessions of a point that count at most: the newest.
const MaxHistory = maxHistory

// asFar is the distance that earlier sessions must have from each other, as a share of the distance of the two sides. It is below 1
// because sessions are never equally spaced.
const asFar = .75

// gap is the distance that earlier sessions must have from each other, in microseconds.
func (p *pairing) gap() int64 { return int64(asFar * float64(p.apart)) }

// useHistory uses the earlier sessions of the head and of the base, which may be the same, that show how much the two sides would differ
// without a change. If one of them has a value without a logarithm, the point is compared by difference.
func (p *pairing) useHistory(ofHead, ofBase []historySession) {
	ofHead, ofBase = p.apartEnough(ofHead), p.apartEnough(ofBase)
	without := func(s historySession) bool { return s.Location <= 0 }
	if !p.byDifference() && (slices.ContainsFunc(ofHead, without) || slices.ContainsFunc(ofBase, without)) {
		p.useValues()
	}
	p.history = p.located(ofHead)
	if p.base.Key() != p.head.Key() {
		p.history = noisier(p.history, p.located(ofBase))
	}
}

// apartEnough are the sessions, oldest first, of which each is about as far from the next as the sides are. Sessions of one afternoon
// do not show how days differ, and consecutive sessions of a drifting machine do not show how months differ.
func (p *pairing) apartEnough(all []historySession) []historySession {
	return spacedSessions(all, p.gap())
}

// noisier is the history with the larger differences between sessions.
func noisier(a, b []float64) []float64 {
	of, ok := stat.SessionNoise(a)
	if as, also := stat.SessionNoise(b); also && (!ok || as.SD > of.SD) {
		return b
	}
	return a
}
