package samples

import (
	"context"
	"database/sql/driver"
	"math"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// Part sums up consecutive samples, of one run or, if there are very many runs, of several.
type Part struct {
	First, Last      int // indexes of the first and the last run in Found.Runs
	At               int // index of its first sample among all, from 0
	Samples          int
	Min, Median, Max float64 // NaN: no finite sample
	NotFinite        int     // number of samples that are not finite
	AtOfRun          int     // index of its first sample within its run
}

// Order has the samples of all runs, one run after another.
type Order struct {
	Parts   []Part
	Starts  []int // index of the first sample of each run
	Samples int
	Each    int // number of samples per part; the last part of a run may have fewer
}

// InOrder returns the samples of each Found in the order in which they were taken, run after run. If there are at most maxSamples, each
// sample is a part of its own; otherwise there are at most about maxParts parts.
func InOrder(ctx context.Context, db *query.DB, of []*Found, maxSamples, maxParts int) (all []Order, err error) {
	err = ask(ctx, db, func(r *scan.Reader) error {
		all = make([]Order, len(of))
		for i, f := range of {
			if err := f.inOrder(ctx, r, &all[i], maxSamples, maxParts); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// inOrder reads an order.
func (f *Found) inOrder(ctx context.Context, r *scan.Reader, o *Order, maxSamples, maxParts int) error {
	s, err := f.source(ctx, r, make([]int64, len(f.Runs)))
	if err != nil {
		return err
	}
	lengths := make([]int, len(f.Runs))
	err = s.each(ctx, `SELECT place, len("values") FROM `, "", func(row []driver.Value) { lengths[duck.Integer(row[0])] = int(duck.Integer(row[1])) })
	if err != nil {
		return err
	}
	o.Starts = make([]int, len(f.Runs))
	starts := make([]int64, len(f.Runs))
	for i, n := range lengths {
		o.Starts[i], starts[i] = o.Samples, int64(o.Samples)
		o.Samples += n
	}
	run, at := "place", "i - more"
	switch o.Each = 1; {
	case o.Samples <= maxSamples:
	case len(f.Runs) > maxParts/2: // a part may span several runs
		run, at = "0", "i"
		o.Each = (o.Samples + maxParts - 1) / maxParts
	default:
		left := maxParts - len(f.Runs)
		o.Each = (o.Samples + left - 1) / left
	}
	if s, err = f.source(ctx, r, starts); err != nil {
		return err
	}
	before := `SELECT min(place), max(place), min(i), count(*), min(value) FILTER (isfinite(value)), median(value) FILTER (isfinite(value)), max(value) FILTER (isfinite(value)),
	count(*) FILTER (NOT isfinite(value)), min(i - more) FROM (SELECT place, more, more + unnest(range(len("values"))) AS i, unnest("values") AS value FROM `
	after := ") GROUP BY " + run + " + 0, (" + at + ") // " + number(o.Each) + " ORDER BY 3"
	return s.each(ctx, before, after, func(row []driver.Value) {
		o.Parts = append(o.Parts, Part{
			First: int(duck.Integer(row[0])), Last: int(duck.Integer(row[1])), At: int(duck.Integer(row[2])), Samples: int(duck.Integer(row[3])),
			Min: finite(row[4]), Median: finite(row[5]), Max: finite(row[6]), NotFinite: int(duck.Integer(row[7])), AtOfRun: int(duck.Integer(row[8])),
		})
	})
}

// finite is a number, or NaN for NULL.
func finite(v driver.Value) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}
