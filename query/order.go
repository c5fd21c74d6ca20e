package query

import (
	"context"
	"database/sql/driver"
	"maps"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// SamplePart aggregates consecutive samples, of one run or, if there are very many runs, of several.
type SamplePart struct {
	First, Last      int // indexes of the first and the last run in Found.Runs
	At               int // index of its first sample among all, from 0
	Samples          int
	Min, Median, Max float64 // NaN: no finite sample
	NotFinite        int     // number of samples that are not finite
	AtOfRun          int     // index of its first sample within its run
}

// SampleOrder has the samples of all runs, one run after another.
type SampleOrder struct {
	Parts   []SamplePart
	Starts  []int // index of the first sample of each run
	Samples int
	Each    int // number of samples per part; the last part of a run may have fewer
}

// SamplesInOrder returns the samples of each Found in the order in which they were taken, run after run. If there are at most maxSamples,
// each sample is a part of its own; otherwise there are at most about maxParts parts.
func SamplesInOrder(ctx context.Context, db *DB, of []*SampledRuns, maxSamples, maxParts int) (all []SampleOrder, err error) {
	err = ask(ctx, db, func(r *scan.Reader) error {
		all = make([]SampleOrder, len(of))
		byMetric := map[string]*joined{}
		for i, f := range of {
			if len(f.Runs) == 0 {
				continue
			}
			if byMetric[f.Metric] == nil {
				byMetric[f.Metric] = &joined{}
			}
			byMetric[f.Metric].add(f, &all[i])
		}
		for _, metric := range slices.Sorted(maps.Keys(byMetric)) {
			j := byMetric[metric]
			if err := j.measure(ctx, r); err != nil {
				return err
			}
			for _, some := range j.divided(maxSamples, maxParts) {
				if err := some.read(ctx, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return all, err
}

// joined are orders of one metric that are read by the same statement, because a statement takes longer than the samples of some runs.
type joined struct {
	of     []*SampledRuns
	orders []*SampleOrder
	first  []int       // the index of the first run of each among the runs of all
	all    SampledRuns // their runs, one Found after another

	spans bool // a part may have samples of several runs; see divided
}

// add adds an order to be read.
func (j *joined) add(f *SampledRuns, o *SampleOrder) {
	j.of, j.orders, j.first = append(j.of, f), append(j.orders, o), append(j.first, len(j.all.Runs))
	j.all.Metric, j.all.Runs = f.Metric, append(j.all.Runs, f.Runs...)
}

// place returns the order that contains a run of all, and the index of the first run of that order.
func (j *joined) place(run int) (o *SampleOrder, first int) {
	at, is := slices.BinarySearch(j.first, run)
	if !is {
		at--
	}
	return j.orders[at], j.first[at]
}

// measure sets the starts and the numbers of samples of the orders.
func (j *joined) measure(ctx context.Context, r *scan.Reader) error {
	s, err := j.all.source(ctx, r, make([]int64, len(j.all.Runs)))
	if err != nil {
		return err
	}
	lengths := make([]int, len(j.all.Runs))
	err = s.each(ctx, `SELECT place, len("values") FROM `, "", func(row []driver.Value) { lengths[duck.Integer(row[0])] = int(duck.Integer(row[1])) })
	for i, o := range j.orders {
		for run := range j.of[i].Runs {
			o.Starts = append(o.Starts, o.Samples)
			o.Samples += lengths[j.first[i]+run]
		}
	}
	return err
}

// maxJoined is the number of samples up to which orders are read together.
const maxJoined = 100_000

// divided decides how many samples are in a part of each order, and which orders are read together: orders with equally many. An order
// whose parts span runs is read alone.
func (j *joined) divided(maxSamples, maxParts int) []*joined {
	var all []*joined
	held := map[int]*joined{} // by samples per part
	samples := map[*joined]int{}
	for i, f := range j.of {
		o, runs := j.orders[i], len(f.Runs)
		spans := o.Samples > maxSamples && runs > maxParts/2
		switch o.Each = 1; {
		case o.Samples <= maxSamples:
		case spans:
			o.Each = (o.Samples + maxParts - 1) / maxParts
		default:
			left := maxParts - runs
			o.Each = (o.Samples + left - 1) / left
		}
		to := held[o.Each]
		if spans || to == nil || samples[to]+o.Samples > maxJoined {
			to = &joined{spans: spans}
			all = append(all, to)
		}
		to.add(f, o)
		samples[to] += o.Samples
		if !spans {
			held[o.Each] = to
		}
	}
	return all
}

// read reads the parts of the orders.
func (j *joined) read(ctx context.Context, r *scan.Reader) error {
	var starts []int64
	for _, o := range j.orders {
		for _, start := range o.Starts {
			starts = append(starts, int64(start))
		}
	}
	s, err := j.all.source(ctx, r, starts)
	if err != nil {
		return err
	}
	run, at := "place", "i - more"
	if j.spans {
		run, at = "0", "i"
	}
	before := `SELECT min(place), max(place), min(i), count(*), min(value) FILTER (isfinite(value)), median(value) FILTER (isfinite(value)), max(value) FILTER (isfinite(value)),
	count(*) FILTER (NOT isfinite(value)), min(i - more) FROM (SELECT place, more, more + unnest(range(len("values"))) AS i, unnest("values") AS value FROM `
	after := ") GROUP BY " + run + " + 0, (" + at + ") // " + number(j.orders[0].Each) + " ORDER BY 1, 3"
	return s.each(ctx, before, after, func(row []driver.Value) {
		o, first := j.place(int(duck.Integer(row[0])))
		o.Parts = append(o.Parts, SamplePart{
			First: int(duck.Integer(row[0])) - first, Last: int(duck.Integer(row[1])) - first, At: int(duck.Integer(row[2])), Samples: int(duck.Integer(row[3])),
			Min: finite(row[4]), Median: finite(row[5]), Max: finite(row[6]), NotFinite: int(duck.Integer(row[7])), AtOfRun: int(duck.Integer(row[8])),
		})
	})
}

// finite returns a number, or NaN for NULL.
func finite(v driver.Value) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}
