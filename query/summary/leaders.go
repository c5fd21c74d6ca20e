package summary

import (
	"cmp"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// Leaderboard has the best points of one machine in one metric. Values of different machines are never ranked together.
type Leaderboard struct {
	Machine  Text     `json:"machine" doc:"machine; null if unknown"`
	Side     Text     `json:"side" doc:"base or head, in a session of bench --against"`
	Metric   string   `json:"metric" doc:"primary metric of the points"`
	Unit     Text     `json:"unit" doc:"unit of the metric"`
	Better   string   `json:"better" doc:"lower or higher"`
	Ranked   int      `json:"ranked" doc:"number of points that can be ranked"`
	Best     []Leader `json:"best" doc:"best points, at most 10"`
	Wrong    int      `json:"wrong_results" doc:"number of points left out because the result of a run is wrong or could not be checked"`
	Requests int      `json:"failed_requests" doc:"number of points left out because more requests failed in a run than are allowed"`
	NoValue  int      `json:"no_value" doc:"number of points left out because no ok run has a value"`
}

// Leader is a ranked point.
type Leader struct {
	Rank int `json:"rank" doc:"rank; equal values share a rank"`
	Subject
	Median *float64 `json:"median" doc:"value of the point, in unit"`
	Runs   int      `json:"runs" doc:"number of ok runs with a value"`
}

// maxLeaders is the number of points in a leaderboard.
const maxLeaders = 10

// board has the properties that points of one leaderboard share.
type board struct {
	machine, side, unit Text
	metric, better      string
}

// leadersOf ranks the points of each machine by their primary metric.
func leadersOf(points []Point) []Leaderboard {
	boards := map[board]*Leaderboard{}
	for i := range points {
		p := &points[i]
		v := p.primary()
		if v == nil || v.Better != Text(schema.BetterLower) && v.Better != Text(schema.BetterHigher) {
			continue
		}
		key := board{p.Machine, p.Side, v.Unit, v.Metric, string(v.Better)}
		b := boards[key]
		if b == nil {
			b = &Leaderboard{Machine: p.Machine, Side: p.Side, Metric: v.Metric, Unit: v.Unit, Better: string(v.Better)}
			boards[key] = b
		}
		switch {
		case p.Wrong > 0 || p.Warnings[schema.WarnUnchecked] > 0:
			b.Wrong++
		case p.FailedRequests():
			b.Requests++
		case v.Median == nil:
			b.NoValue++
		default:
			b.Best = append(b.Best, Leader{Subject: p.Subject, Median: v.Median, Runs: v.Runs})
		}
	}
	var all []Leaderboard
	for _, b := range boards {
		b.rank()
		all = append(all, *b)
	}
	slices.SortFunc(all, func(a, b Leaderboard) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Side, b.Side), byMetric(a.Metric, b.Metric), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Better, b.Better))
	})
	return all
}

// rank sorts the points and keeps the best.
func (b *Leaderboard) rank() {
	slices.SortStableFunc(b.Best, func(x, y Leader) int {
		if b.Better == string(schema.BetterHigher) {
			x, y = y, x
		}
		return cmp.Compare(*x.Median, *y.Median)
	})
	for i := range b.Best {
		if b.Best[i].Rank = i + 1; i > 0 && *b.Best[i].Median == *b.Best[i-1].Median {
			b.Best[i].Rank = b.Best[i-1].Rank
		}
	}
	b.Ranked = len(b.Best)
	b.Best = b.Best[:min(len(b.Best), maxLeaders)]
}
