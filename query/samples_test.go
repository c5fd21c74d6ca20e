package query_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// with makes a run of some samples.
func with(n int, metric, unit string, values ...float64) schema.Run {
	return querytest.NewRun(n, 1000, func(r *schema.Run) {
		r.Purpose = schema.PurposeMeasure
		r.Primary, r.Metrics = metric, []schema.Metric{querytest.RealMetric(metric, unit, values...)}
	})
}

func TestFind(t *testing.T) {
	failed, profiled := with(3, "latency", "ns", 1), with(4, "latency", "ns", 1)
	failed.Status, failed.Stage = schema.StatusTimeout, schema.StageMeasure
	profiled.Purpose = schema.PurposeProfile
	warned := with(2, "latency", "ns", 1, 2, 3)
	warned.Warnings = []string{"drift"}
	dir := querytest.NewStore(t, with(1, "latency", "ns", 1, 2), warned, failed, profiled, with(5, "accuracy", "ratio", .5))
	db := querytest.Open(t, dir)
	f, err := query.FindSamples(context.Background(), db, query.SamplesRequest{})
	valuetest.OK(t, err)
	if f.Metric != "latency" || f.Unit != "ns" || len(f.Runs) != 2 || f.Failed != 2 || f.Other != 1 || f.Matching != 5 || f.Looked != 5 {
		t.Errorf("found %s in %s, %d runs, %d failed, %d others, %d of %d", f.Metric, f.Unit, len(f.Runs), f.Failed, f.Other, f.Looked, f.Matching)
	}
	if *f.Runs[0].Samples != 2 || !slices.Equal(f.Runs[1].Warnings, []string{"drift"}) {
		t.Errorf("runs are %+v", f.Runs)
	}
	if f, err = query.FindSamples(context.Background(), db, query.SamplesRequest{Metric: "accuracy", MaxRuns: 2}); err != nil || len(f.Runs) != 1 || f.Looked != 2 || f.Matching != 5 {
		t.Errorf("of accuracy %+v, %v", f, err)
	}
	_, err = query.FindSamples(context.Background(), db, query.SamplesRequest{Filter: "batch_size=77"})
	querytest.WantInput(t, err, "no run matches batch_size=77")
}

// values returns samples that repeat and do not ascend.
func values(n, step int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(100 + (i*step)%n/2)
	}
	return all
}

// upTo returns the empirical distribution, counted one by one.
func upTo(all []float64, value float64) (n int) {
	for _, v := range all {
		if v <= value {
			n++
		}
	}
	return n
}

func TestShares(t *testing.T) {
	a, b, c := values(40, 7), values(301, 11), []float64{5, math.NaN(), 4, math.Inf(1)}
	dir := querytest.NewStore(t, with(1, "latency", "ns", a...), with(2, "latency", "ns", b...), with(3, "latency", "ns", c...))
	db := querytest.Open(t, dir)
	f := valuetest.Must(query.FindSamples(context.Background(), db, query.SamplesRequest{}))
	of := [][]float64{slices.Concat(a, b), c}
	for _, most := range []int{2, 3, 10, 1000} {
		curves, notFinite, err := query.SampleShares(context.Background(), db, &f, []int{0, 0, 1}, most)
		valuetest.DeepEqual(t, []any{err, len(curves), notFinite}, []any{nil, 2, 2}, most)
		for i, curve := range curves {
			if len(curve.Steps) > most || len(curve.Steps) < min(most, curve.Different) {
				t.Errorf("%d: curve %d has %d steps of %d", most, i, len(curve.Steps), curve.Different)
			}
			for _, s := range curve.Steps {
				valuetest.Equal(t, s.UpTo, upTo(of[i], s.Value), most, "up to", s.Value)
			}
			valuetest.Equal(t, curve.Steps[len(curve.Steps)-1].UpTo, curve.Samples, most, "curve", i, "ends at")
		}
		valuetest.Equal(t, curves[0].Steps[0].Value, 100, most, "begins at")
	}
}

func TestInOrder(t *testing.T) {
	a, b := values(10, 3), values(25, 7)
	b[3] = math.NaN()
	dir := querytest.NewStore(t, with(1, "latency", "ns", a...), with(2, "latency", "ns", b...))
	db := querytest.Open(t, dir)
	f := valuetest.Must(query.FindSamples(context.Background(), db, query.SamplesRequest{}))
	for _, c := range []struct {
		most, each int
		text       string
	}{
		{100, 1, "10 of run 0, 25 of run 1"},
		{10, 5, "2 of run 0, 5 of run 1"},
		{3, 12, "3 of both"},
	} {
		orders := valuetest.Must(query.SamplesInOrder(context.Background(), db, []*query.SampledRuns{&f}, c.most, c.most))
		valuetest.Equal(t, len(orders), 1, orders)
		o := orders[0]
		if o.Samples != 35 || o.Each != c.each || !slices.Equal(o.Starts, []int{0, 10}) || len(o.Parts) > c.most {
			t.Errorf("%d: %d samples, %d each, starts %v, %d parts", c.most, o.Samples, o.Each, o.Starts, len(o.Parts))
		}
		all, counted, at := slices.Concat(a, b), map[string]int{}, 0
		for _, p := range o.Parts {
			var own []float64
			for _, v := range all[at : at+p.Samples] {
				if !math.IsNaN(v) {
					own = append(own, v)
				}
			}
			if p.At != at || len(own) > 0 && (p.Min != slices.Min(own) || p.Max != slices.Max(own)) || p.NotFinite != p.Samples-len(own) || math.IsNaN(p.Median) != (len(own) == 0) {
				t.Errorf("%d: %+v is not of %v", c.most, p, own)
			}
			if slices.Sort(own); len(own) > 0 && math.Abs(p.Median-(own[(len(own)-1)/2]+own[len(own)/2])/2) > 1e-9 {
				t.Errorf("%d: the median of %v is %v", c.most, own, p.Median)
			}
			at += p.Samples
			counted[fmt.Sprint(p.First, p.Last)]++
		}
		text := fmt.Sprintf("%d of run 0, %d of run 1", counted["0 0"], counted["1 1"])
		if c.most == 3 {
			text = fmt.Sprintf("%d of both", len(o.Parts))
		}
		if at != 35 || text != c.text {
			t.Errorf("%d: %d samples in %s, want %s", c.most, at, text, strings.TrimSpace(c.text))
		}
	}
}

// TestInOrderOfMany: orders that are read together are those of each alone, also of two metrics, of few and of many samples, and without runs.
func TestInOrderOfMany(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n := range 14 {
		runs = append(runs, with(n+1, []string{"latency", "power"}[n%2], []string{"ns", "W"}[n%2], values(5+7*n, n+1)...))
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	var found []*query.SampledRuns
	for _, ids := range [][]int{{0}, {1}, {2, 4, 6}, {8}, {3, 5, 7, 9, 11, 13}, {10, 12}, {0}} {
		var texts []string
		for _, n := range ids {
			texts = append(texts, runs[n].RunID)
		}
		f := valuetest.Must(query.FindSamples(t.Context(), db, query.SamplesRequest{Filter: "run_id=" + strings.Join(texts, ",")}))
		found = append(found, &f)
	}
	found = append(found, &query.SampledRuns{Metric: "latency"})
	for _, most := range []int{1000, 60, 20, 5} {
		together := valuetest.Must(query.SamplesInOrder(t.Context(), db, found, most, most))
		for i, f := range found {
			alone := valuetest.Must(query.SamplesInOrder(t.Context(), db, []*query.SampledRuns{f}, most, most))
			valuetest.Equal(t, fmt.Sprintf("%+v", together[i]), fmt.Sprintf("%+v", alone[0]), "at most", most, "order", i)
		}
	}
}
