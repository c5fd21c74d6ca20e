package samples

import (
	"context"
	"database/sql/driver"
	"math"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
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

// InOrder gives the samples of the runs in the order in which they were taken. Where there are at most so many, each is a part; else there
// are few parts at most. A part without a finite number has NaN, and is there.
func InOrder(ctx context.Context, db *query.DB, of *Found, most, few int) (Order, error) {
	o := Order{Starts: make([]int, len(of.Runs))}
	none := make([]int64, len(of.Runs))
	err := of.ask(ctx, db, none, func(s source) error {
		lengths := make([]int, len(of.Runs))
		err := s.each(ctx, `SELECT place, len("values") FROM `, "", func(row []driver.Value) { lengths[duck.Integer(row[0])] = int(duck.Integer(row[1])) })
		o.Samples = 0
		for i, n := range lengths {
			o.Starts[i] = o.Samples
			o.Samples += n
		}
		return err
	})
	if err != nil {
		return Order{}, err
	}
	starts := make([]int64, len(o.Starts))
	for i, at := range o.Starts {
		starts[i] = int64(at)
	}
	run, at := "place", "i - more"
	switch o.Each = 1; {
	case o.Samples <= most:
	case len(of.Runs) > few/2: // runs are put together too
		run, at = "0", "i"
		o.Each = (o.Samples + few - 1) / few
	default:
		left := few - len(of.Runs)
		o.Each = (o.Samples + left - 1) / left
	}
	err = of.ask(ctx, db, starts, func(s source) error {
		o.Parts = nil
		before := `SELECT min(place), max(place), min(i), count(*), min(value) FILTER (isfinite(value)), median(value) FILTER (isfinite(value)), max(value) FILTER (isfinite(value)),
	count(*) FILTER (NOT isfinite(value)), min(i - more) FROM (SELECT place, more, more + unnest(range(len("values"))) AS i, unnest("values") AS value FROM `
		after := ") GROUP BY " + run + " + 0, (" + at + ") // " + number(o.Each) + " ORDER BY 3"
		return s.each(ctx, before, after, func(row []driver.Value) {
			o.Parts = append(o.Parts, Part{
				First: int(duck.Integer(row[0])), Last: int(duck.Integer(row[1])), At: int(duck.Integer(row[2])), Samples: int(duck.Integer(row[3])),
				Min: finite(row[4]), Median: finite(row[5]), Max: finite(row[6]), NotFinite: int(duck.Integer(row[7])), AtOfRun: int(duck.Integer(row[8])),
			})
		})
	})
	return o, err
}

// finite is a number, or NaN where there is none.
func finite(v driver.Value) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}
