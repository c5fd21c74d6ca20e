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

// A point is compared by ratio: on the logarithm of its values. It is compared by difference, on the values themselves,
//
//   - if its metric is one that may be 0 (schema.ScaleOf),
//   - if its threshold is an amount,
//   - and if a run of either side, or an earlier session that its sides are compared with, has a value that is not positive.
//
// The last rule looks at all values of a point together, whichever side they are of, so it prefers no verdict. Each point has a scale of
// its own: otherwise a single 0 would take the ratio, and the common change, from all points of the metric. Points of both scales are one
// family for the correction of p. Variances are moderated among the points of one scale (judge.Pair.Difference).

// byDifference reports whether the point is compared by difference.
func (p *pairing) byDifference() bool { return p.scale == schema.ScaleDifference }

// setScale sets the scale that the metric, the threshold and the runs of a point require. unread reports that the values of its runs
// have to be read, because some have no logarithm.
func (p *pairing) setScale() (unread bool) {
	p.scale = schema.ScaleOf(p.name)
	if p.byDifference() {
		return false
	}
	for _, g := range []*runGroup{p.base, p.head} {
		unread = unread || g != nil && g.NonPositive > 0
	}
	if !unread && p.thresholds.For(p.name).Absolute {
		p.useValues()
	}
	return unread
}

// useValues changes the scale of a point to difference. All its runs have logarithms, from which the values are computed.
func (p *pairing) useValues() {
	p.scale = schema.ScaleDifference
	if p.base != nil {
		p.base = p.base.values()
	}
	if p.head != nil {
		p.head = p.head.values()
	}
}

// useRead changes the scale of a point to difference, with the values that were read for its runs.
func (p *pairing) useRead(base, head *readRuns) {
	p.scale = schema.ScaleDifference
	if base != nil {
		p.base = base.locate(p.base, base.values)
	}
	if head != nil {
		p.head = head.locate(p.head, head.values)
	}
}

// readRuns are the ok runs of a group, read once more: their values and means in the unit of the metric, NaN for none.
type readRuns struct {
	values, means                      []float64
	started, sessions, blocks, repeats []any // columns
}

func (r *readRuns) add(value, mean float64, started, session, block, repeat any) {
	r.values, r.means = append(r.values, value), append(r.means, mean)
	r.started, r.sessions = append(r.started, started), append(r.sessions, session)
	r.blocks, r.repeats = append(r.blocks, block), append(r.repeats, repeat)
}

// locate returns a group with other locations of its runs.
func (r *readRuns) locate(g *runGroup, locations []float64) *runGroup {
	return g.relocated(locations, r.started, r.sessions, r.blocks, r.repeats)
}

// on converts numbers in the unit to the scale of the point.
func (p *pairing) on(numbers []float64) []float64 {
	numbers = slices.Clone(numbers)
	if !p.byDifference() {
		for i, v := range numbers {
			numbers[i] = math.Log(v)
		}
	}
	return numbers
}

// reread reads the ok runs of the needed points once more, and passes the runs of their base and head to use: nil for none.
func (m *comparison) reread(ctx context.Context, matched []*pairing, metric string, needed func(*pairing) bool, use func(p *pairing, base, head *readRuns)) error {
	var ids [2][]string
	var some []*pairing
	for _, p := range matched {
		if !needed(p) {
			continue
		}
		some = append(some, p)
		for i, g := range []*runGroup{p.base, p.head} {
			if g != nil {
				ids[i] = append(ids[i], g.PointID)
			}
		}
	}
	if len(some) == 0 {
		return nil
	}
	var found [2]map[pointKey]*readRuns
	for i, s := range []*selectedSide{m.base, m.head} {
		rows, args, err := s.rows(groupColumns{Metric: metric})
		if err != nil {
			return err
		}
		args = append(args, ids[i])
		text := fmt.Sprintf(scan.ValueSQL()+", mean, epoch_us(started_at), session_id, block_index, repeat_index FROM %s"+
			" WHERE status = 'ok' AND point_id IN (SELECT unnest($%d::VARCHAR[]))", rows, len(args))
		of := map[pointKey]*readRuns{}
		found[i] = of
		if err := s.eachPoint(ctx, text, args, func(key pointKey, row []driver.Value) {
			if of[key] == nil {
				of[key] = &readRuns{}
			}
			of[key].add(numberIn(row[0]), numberIn(row[1]), row[2], row[3], row[4], row[5])
		}); err != nil {
			return err
		}
	}
	for _, p := range some {
		var runs [2]*readRuns
		for i, g := range []*runGroup{p.base, p.head} {
			if g != nil {
				runs[i] = found[i][g.key()]
			}
		}
		use(p, runs[0], runs[1])
	}
	return nil
}

// numberIn returns a number of the driver; NaN for NULL.
func numberIn(v driver.Value) float64 {
	if number, ok := v.(float64); ok {
		return number
	}
	return math.NaN()
}

// scales sets the scale of each point. It reads the values of the points that have a value without a logarithm.
func (m *comparison) scales(ctx context.Context, matched []*pairing, metric string) error {
	return m.reread(ctx, matched, metric, (*pairing).setScale, (*pairing).useRead)
}

// located returns the locations of earlier sessions on the scale of the point.
func (p *pairing) located(all []earlierSession) []float64 {
	values := make([]float64, len(all))
	for i, s := range all {
		values[i] = s.Location
	}
	return p.on(values)
}

// A fast function is called many times per sample, a slow one once. If iterations are skewed, the median of single iterations and the
// median of means estimate different quantities, but the mean of a run estimates the same quantity on both sides. So the means of the
// runs are compared. A few iterations mostly miss a rare slow one, and many do not: without a change, the side of means looks slower too
// often. It looks faster no more often than it should (TestMeansBesideIterations). So there is a verdict only if the side of means is
// the faster one. That is the usual case, because the number of calls per sample grows with the speed.

// meansSide returns the side whose samples are means of iterations, if the other side's are single iterations and the metric is a time;
// else nil.
func (p *pairing) meansSide() *runGroup {
	if !p.hasBothSides() || p.kind().Unit != "ns" || p.base.Differing != "" || p.head.Differing != "" {
		return nil
	}
	switch [2]schema.Level{schema.Level(p.base.Metric.Level), schema.Level(p.head.Metric.Level)} {
	case [2]schema.Level{schema.LevelMean, schema.LevelIteration}:
		return p.base
	case [2]schema.Level{schema.LevelIteration, schema.LevelMean}:
		return p.head
	}
	return nil
}

// complete reports whether each run of a group has a mean, on the scale of its point.
func complete(means []float64, g *runGroup) bool {
	for _, location := range means {
		if math.IsNaN(location) || math.IsInf(location, 0) {
			return false
		}
	}
	return len(means) == len(g.Locations)
}

// useMeans compares the means of the runs if that can be judged; otherwise it leaves the point unchanged.
func (p *pairing) useMeans(base, head *readRuns) {
	of := p.meansSide()
	if of == nil || base == nil || head == nil {
		return
	}
	ofBase, ofHead := p.on(base.means), p.on(head.means)
	if !complete(ofBase, p.base) || !complete(ofHead, p.head) {
		return
	}
	shift := stat.Shift(ofBase, ofHead, judge.Confidence).Value
	if of == p.head {
		shift = -shift
	}
	if shift <= 0 { // the side of means is not faster
		return
	}
	p.base, p.head = base.locate(p.base, ofBase), head.locate(p.head, ofHead)
	p.base.Median, p.head.Median, p.means = nil, nil, true
}

// means reads the means of the runs of points that have means of iterations on one side and single ones on the other.
func (m *comparison) means(ctx context.Context, matched []*pairing, metric string) error {
	return m.reread(ctx, matched, metric, func(p *pairing) bool { return p.meansSide() != nil }, (*pairing).useMeans)
}

// processes replaces the runs of points by their samples if each sample is a process and judge.Processes allows it. Points without
// samples on a side, for example from a file of summaries, keep their runs.
func (m *comparison) processes(ctx context.Context, matched []*pairing, metric string) error {
	some := slices.DeleteFunc(slices.Clone(matched), func(p *pairing) bool {
		return !p.hasBothSides() || !judge.Processes(min(len(p.base.Locations), len(p.head.Locations)), p.confounded) ||
			p.base.Metric.Level != string(schema.LevelProcess) || p.head.Metric.Level != string(schema.LevelProcess)
	})
	return m.eachSamples(ctx, some, metric, func(p *pairing, base, head []any, positive bool) {
		if len(base) == 0 || len(head) == 0 {
			return
		}
		if !positive {
			p.scale = schema.ScaleDifference
		}
		p.base, p.head = p.base.ofSamples(base, p.scale), p.head.ofSamples(head, p.scale)
	})
}

// eachSamples calls each with the samples of the runs of pairs with two sides. positive reports whether none is zero or below.
func (m *comparison) eachSamples(ctx context.Context, pairs []*pairing, metric string, each func(p *pairing, base, head []any, positive bool)) error {
	points := func(of func(p *pairing) *runGroup) (ids []string) {
		for _, p := range pairs {
			ids = append(ids, of(p).PointID)
		}
		return ids
	}
	ofBase, err := m.base.samplesOf(ctx, points(func(p *pairing) *runGroup { return p.base }), metric)
	if err != nil {
		return err
	}
	ofHead, err := m.head.samplesOf(ctx, points(func(p *pairing) *runGroup { return p.head }), metric)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		base, head := ofBase[p.base.key()], ofHead[p.head.key()]
		each(p, base, head, !slices.ContainsFunc(slices.Concat(base, head), func(v any) bool { number, ok := v.(float64); return ok && number <= 0 }))
	}
	return nil
}

// eachPoint calls each for the rows of a query of the side. text is the SQL after the columns that identify the point of a row.
func (s *selectedSide) eachPoint(ctx context.Context, text string, args []any, each func(key pointKey, row []driver.Value)) error {
	return s.Conn.Query(ctx, duck.Statement{SQL: "SELECT point_id, " + machineSQL + " AS m, " + text, Args: args}, func(row []driver.Value) error {
		each(pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}, row[2:])
		return nil
	})
}

// samplesOf reads the samples of points of a side.
func (s *selectedSide) samplesOf(ctx context.Context, points []string, metric string) (map[pointKey][]any, error) {
	found := map[pointKey][]any{}
	if len(points) == 0 {
		return found, nil
	}
	from, args, err := s.withSamples(metric)
	if err != nil {
		return nil, err
	}
	args = append(args, points)
	text := fmt.Sprintf(scan.SampleValues+" FROM %s AS s SEMI JOIN (SELECT unnest($%d::VARCHAR[]) AS point_id) USING (point_id) ORDER BY run_id", from, len(args))
	return found, s.eachPoint(ctx, text, args, func(key pointKey, row []driver.Value) { found[key] = append(found[key], duck.List(row[0])...) })
}

// withSamples returns the SQL of the ok runs of a side with the samples of a metric; "" is the primary one.
func (s *selectedSide) withSamples(metric string) (from string, args []any, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "point_id", "machine", "status", "warnings", "metric", "purpose"})
	if err != nil {
		return "", nil, err
	}
	args, of := slices.Clone(s.sel.Args), "r.metric"
	if metric != "" {
		args = append(args, metric)
		of = fmt.Sprintf("$%d::VARCHAR", len(args))
	}
	rows := s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose+" AND status = 'ok'"))
	return "(SELECT r.run_id, r.point_id, r.machine, r.warnings, s.* EXCLUDE (run_id) FROM " + rows + " AS r JOIN " +
		s.sel.Src.Nested(schema.Samples, "") + " AS s ON s.run_id = r.run_id AND s.metric = " + of + ")", args, nil
}

// ticks reads the step of the clock for points with the warning of a coarse clock. Metrics that are not multiples of a tick have none.
func (m *comparison) ticks(ctx context.Context, matched []*pairing, metric string) error {
	of := [2]map[pointKey][]*runGroup{{}, {}}
	for _, p := range matched {
		for i, g := range []*runGroup{p.base, p.head} {
			if p.hasBothSides() && slices.Contains(g.Warnings, stat.WarnQuantised) {
				of[i][g.key()] = append(of[i][g.key()], g)
			}
		}
	}
	for i, s := range []*selectedSide{m.base, m.head} {
		if len(of[i]) == 0 {
			continue
		}
		from, args, err := s.withSamples(metric)
		if err != nil {
			return err
		}
		text := "max(tick) FROM " + from + " WHERE list_contains(warnings, " + duck.Literal(stat.WarnQuantised) + ") GROUP BY ALL"
		if err := s.eachPoint(ctx, text, args, func(key pointKey, row []driver.Value) {
			for _, g := range of[i][key] {
				g.Tick, _ = row[0].(float64)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}
