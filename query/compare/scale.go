package compare

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// A point is compared by ratio: on the logarithm of its values. It is compared by difference, on the values themselves,
//
//   - if its metric is one that may be 0 (schema.ScaleOf),
//   - if its threshold is an amount,
//   - and if a run of either side, or an earlier session that its sides are compared with, has a value that is not positive.
//
// The last rule looks at all values of a point together, whichever side they are of, so it prefers no verdict. Each point has a scale of its
// own: otherwise a single 0 would take the ratio, and the common change, from all points of the metric. Points of both scales are one family
// for the correction of p. Variances are moderated among the points of one scale (judge.Pair.Difference).

// byDifference reports whether the point is compared by difference.
func (p *pairing) byDifference() bool { return p.scale == schema.ScaleDifference }

// setScale sets the scale that the metric, the threshold and the runs of a point ask for. unread reports that the values of its runs have to
// be read, because some have no logarithm.
func (p *pairing) setScale() (unread bool) {
	p.scale = schema.ScaleOf(p.name)
	if p.byDifference() {
		return false
	}
	for _, g := range []*sideGroup{p.base, p.head} {
		unread = unread || g != nil && g.Noted().NonPositive > 0
	}
	if !unread && p.thresholds.For(p.name).Absolute {
		p.useValues()
	}
	return unread
}

// useValues makes the scale of a point difference. All its runs have logarithms, from which the values are computed.
func (p *pairing) useValues() {
	p.scale = schema.ScaleDifference
	if p.base != nil {
		p.base = p.base.Values()
	}
	if p.head != nil {
		p.head = p.head.Values()
	}
}

// useRead makes the scale of a point difference, with the values of its runs as they were read.
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
func (r *readRuns) locate(g *sideGroup, locations []float64) *sideGroup {
	return g.Located(locations, r.started, r.sessions, r.blocks, r.repeats)
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

// readAgain reads the ok runs of the points that need it once more, and gives use the runs of their base and head: nil for none.
func (m *comparing) readAgain(ctx context.Context, matched []*pairing, metric string, needed func(*pairing) bool, use func(p *pairing, base, head *readRuns)) error {
	var ids [2][]string
	var some []*pairing
	for _, p := range matched {
		if !needed(p) {
			continue
		}
		some = append(some, p)
		for i, g := range []*sideGroup{p.base, p.head} {
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
		rows, args, err := s.Rows(sideColumns{Metric: metric})
		if err != nil {
			return err
		}
		args = append(args, ids[i])
		text := fmt.Sprintf("SELECT point_id, "+machineSQL+", "+scan.ValueSQL()+", mean, epoch_us(started_at), session_id, block_index, repeat_index FROM %s"+
			" WHERE status = 'ok' AND point_id IN (SELECT unnest($%d::VARCHAR[]))", rows, len(args))
		of := map[pointKey]*readRuns{}
		found[i] = of
		err = m.Conn.Query(ctx, duck.Statement{SQL: text, Args: args}, func(row []driver.Value) error {
			key := pointKey{Point: duck.Text(row[0]), Machine: duck.Text(row[1])}
			if of[key] == nil {
				of[key] = &readRuns{}
			}
			of[key].add(numberIn(row[2]), numberIn(row[3]), row[4], row[5], row[6], row[7])
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, p := range some {
		var runs [2]*readRuns
		for i, g := range []*sideGroup{p.base, p.head} {
			if g != nil {
				runs[i] = found[i][g.Key()]
			}
		}
		use(p, runs[0], runs[1])
	}
	return nil
}

// numberIn is a number of the driver; NaN for NULL.
func numberIn(v driver.Value) float64 {
	if number, ok := v.(float64); ok {
		return number
	}
	return math.NaN()
}

// scales sets the scale of each point. It reads the values of the points that have a value without a logarithm.
func (m *comparing) scales(ctx context.Context, matched []*pairing, metric string) error {
	return m.readAgain(ctx, matched, metric, (*pairing).setScale, (*pairing).useRead)
}

// located returns the locations of earlier sessions on the scale of the point.
func (p *pairing) located(all []historySession) []float64 {
	values := make([]float64, len(all))
	for i, s := range all {
		values[i] = s.Location
	}
	return p.on(values)
}
