package samples

import (
	"context"
	"database/sql/driver"
	"math"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// Part are samples that were taken one after another, of one run or, where there are very many runs, of several.
type Part struct {
	First, Last        int // places of the runs in Found.Runs
	At                 int // place of its first sample among all, from 0
	Samples            int
	Min, Median, Max   float64
	NotFinite, AtOfRun int // values that are no finite numbers, and the place of the first sample in its run
}

// Order are the samples of all runs one after another.
type Order struct {
	Parts   []Part
	Starts  []int // place of the first sample of each run
	Samples int
	Each    int // samples in a part, but for the last one of a run
}

// InOrder gives the samples of each of some in the order in which they were taken, run after run. Where there are at most so many, each is a
// part; else there are few parts at most. A part without a finite number has NaN, and is there.
func InOrder(ctx context.Context, db *query.DB, of []*Found, most, few int) (all []Order, err error) {
	err = ask(ctx, db, func(r *scan.Reader) error {
		all = make([]Order, len(of))
		for i, f := range of {
			if err := f.inOrder(ctx, r, &all[i], most, few); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// inOrder reads an order.
func (f *Found) inOrder(ctx context.Context, r *scan.Reader, o *Order, most, few int) error {
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
	case o.Samples <= most:
	case len(f.Runs) > few/2: // runs are put together too
		run, at = "0", "i"
		o.Each = (o.Samples + few - 1) / few
	default:
		left := few - len(f.Runs)
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

// finite is a number, or NaN where there is none.
func finite(v driver.Value) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}
