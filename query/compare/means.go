package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// A fast function is called many times per sample, a slow one once. The median of single iterations and the median of means are
// different things if iterations are skewed, but the mean of a run estimates the same on both sides. So the means of the runs are compared.
// A few iterations mostly miss a rare slow one, and many do not: without a change, the side of means looks slower too often. It looks
// faster no more often than it should (TestMeansBesideIterations). So there is a verdict only if the side of means is the faster one. That is the usual case,
// because the number of calls per sample grows with the speed.

// meansSide is the side whose samples are means of iterations, if the other side's are single iterations and the metric is a time; else nil.
func (p *pairing) meansSide() *sides.Group {
	if !p.whole() || p.byDifference() || p.kind().Unit != "ns" || p.base.Noted().Differing != "" || p.head.Noted().Differing != "" {
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

// meanRuns are the runs of a group with the logarithms of their means.
type meanRuns struct {
	unread
	locations []float64
}

func (r *meanRuns) add(location float64, started, session, block, repeat any) {
	r.locations = append(r.locations, location)
	r.started, r.sessions = append(r.started, started), append(r.sessions, session)
	r.blocks, r.repeats = append(r.blocks, block), append(r.repeats, repeat)
}

// complete reports whether each run of a group has a mean.
func (r *meanRuns) complete(g *sides.Group) bool {
	for _, location := range r.locations {
		if math.IsNaN(location) || math.IsInf(location, 0) {
			return false
		}
	}
	return len(r.locations) == len(g.Locations)
}

// apply makes the means the locations of a group.
func (r *meanRuns) apply(g *sides.Group) {
	g.Locations, g.Sessions = r.locations, nil
	repeats := r.repeats
	if g.Noted().Repeats == nil {
		repeats = nil
	}
	g.Order(r.started, r.sessions, r.blocks, repeats)
}

// useMeans compares the means of the runs if that can be judged, and leaves the point as it is otherwise.
func (p *pairing) useMeans(base, head *meanRuns) {
	of := p.meansSide()
	if of == nil || base == nil || head == nil || !base.complete(p.base) || !head.complete(p.head) {
		return
	}
	shift := stat.Shift(base.locations, head.locations, judge.Confidence).Value
	if of == p.head {
		shift = -shift
	}
	if shift <= 0 { // the side of means is not faster
		return
	}
	base.apply(p.base)
	head.apply(p.head)
	p.means = true
}

// means reads the means of the runs of points that have means of iterations on one side and single ones on the other.
func (m *comparing) means(ctx context.Context, matched []*pairing, metric string) error {
	var some []*pairing
	var keys [2][]string
	for _, p := range matched {
		if p.meansSide() != nil {
			some = append(some, p)
			keys[0], keys[1] = append(keys[0], p.base.PointID), append(keys[1], p.head.PointID)
		}
	}
	if len(some) == 0 {
		return nil
	}
	var of [2]map[sides.PointKey]*meanRuns
	for i, s := range []*sides.Selected{m.base, m.head} {
		var err error
		if of[i], err = m.meansOf(ctx, s, keys[i], metric); err != nil {
			return err
		}
	}
	for _, p := range some {
		p.useMeans(of[0][p.base.Key()], of[1][p.head.Key()])
	}
	return nil
}

// meansOf reads the ok runs of points of a side.
func (m *comparing) meansOf(ctx context.Context, s *sides.Selected, points []string, metric string) (map[sides.PointKey]*meanRuns, error) {
	rows, args, err := s.Rows(sides.Asked{Metric: metric})
	if err != nil {
		return nil, err
	}
	args = append(args, points)
	text := fmt.Sprintf("SELECT point_id, "+sides.MachineSQL+", CASE WHEN mean > 0 THEN ln(mean) END, epoch_us(started_at), session_id, block_index, repeat_index FROM %s"+
		" WHERE status = 'ok' AND point_id IN (SELECT unnest($%d::VARCHAR[]))", rows, len(args))
	found := map[sides.PointKey]*meanRuns{}
	return found, m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
		key := sides.PointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}
		if found[key] == nil {
			found[key] = &meanRuns{}
		}
		location, ok := row[2].(float64)
		if !ok {
			location = math.NaN()
		}
		found[key].add(location, row[3], row[4], row[5], row[6])
		return nil
	})
}
