package compare

import (
	"context"
	"math"

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
func (p *pairing) meansSide() *sideGroup {
	if !p.whole() || p.kind().Unit != "ns" || p.base.Noted().Differing != "" || p.head.Noted().Differing != "" {
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
func complete(means []float64, g *sideGroup) bool {
	for _, location := range means {
		if math.IsNaN(location) || math.IsInf(location, 0) {
			return false
		}
	}
	return len(means) == len(g.Locations)
}

// useMeans compares the means of the runs if that can be judged, and leaves the point as it is otherwise.
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
	p.means = true
}

// means reads the means of the runs of points that have means of iterations on one side and single ones on the other.
func (m *comparing) means(ctx context.Context, matched []*pairing, metric string) error {
	return m.readAgain(ctx, matched, metric, func(p *pairing) bool { return p.meansSide() != nil }, (*pairing).useMeans)
}
