package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestQuantileGolden: values of NumPy's default method ("linear", Hyndman-Fan type 7) and of R's quantile(type = 7).
func TestQuantileGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sorted []float64
		p      float64
		want   float64
	}{
		{[]float64{1, 2, 3, 4}, .5, 2.5},
		{[]float64{1, 2, 3, 4}, .25, 1.75},
		{[]float64{1, 2, 3, 4}, .9, 3.7},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .99, 9.91},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .95, 9.55},
		{[]float64{15, 20, 35, 40, 50}, .4, 29},
		{[]float64{7}, .99, 7},
		{[]float64{1, 9}, 0, 1},
		{[]float64{1, 9}, 1, 9},
	} {
		valuetest.Near(t, Quantile(c.sorted, c.p), c.want, 1e-12, "quantile", c.p, c.sorted)
	}
	for _, p := range []float64{-.1, 1.1, math.NaN()} {
		if got := Quantile([]float64{1, 2}, p); !math.IsNaN(got) {
			t.Errorf("quantile %g is %g", p, got)
		}
	}
	if !math.IsNaN(Quantile(nil, .5)) {
		t.Error("no samples have a median")
	}
}

// TestSummaryGolden: numpy.mean, std(ddof=1), quantile and median(abs(x - median(x))) of the same ten numbers.
func TestSummaryGolden(t *testing.T) {
	t.Parallel()
	s := Summarize([]float64{2, 4, 4, 4, 5, 5, 7, 9, 100, 1})
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"first": {s.First, 2}, "min": {s.Min, 1}, "max": {s.Max, 100}, "mean": {s.Mean, 14.1}, "stddev": {s.StdDev, 30.267143902258105},
		"p25": {s.P25, 4}, "p50": {s.P50, 4.5}, "p75": {s.P75, 6.5}, "p90": {s.P90, 18.1}, "p95": {s.P95, 59.05}, "p99": {s.P99, 91.81},
		"mad": {s.MAD, 1.5}, "log_median": {s.LogMedian, (math.Log(4) + math.Log(5)) / 2},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-9 {
			t.Errorf("%s is %v, want %g", name, c.got, c.want)
		}
	}
	if *s.N != 10 || *s.Version != summaryVersion || s.SteadyIndex != nil {
		t.Errorf("n %d, version %d, steady %v", *s.N, *s.Version, s.SteadyIndex)
	}
}

func TestSummaryLeavesOutWhatSamplesCannotGive(t *testing.T) {
	t.Parallel()
	if s := Summarize([]float64{5}); s.StdDev != nil || *s.P99 != 5 || *s.MAD != 0 {
		t.Errorf("one sample: %+v", s)
	}
	if s := Summarize(nil); *s.N != 0 || s.Min != nil {
		t.Errorf("no samples: %+v", s)
	}
	if s := Summarize([]float64{0, 1}); s.LogMedian != nil || *s.Min != 0 {
		t.Errorf("a zero: %+v", s)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s := Summarize([]float64{1, bad}); *s.N != 2 || s.P50 != nil || s.Mean != nil {
			t.Errorf("%g among the samples: %+v", bad, s)
		}
	}
	s := Summarize([]float64{-1.7e308, 1.7e308, 1.7e308, -1.7e308})
	for name, v := range map[string]*float64{"stddev": s.StdDev, "p25": s.P25, "p50": s.P50, "mad": s.MAD, "max": s.Max} {
		if v != nil && notFinite(*v) {
			t.Errorf("%s of samples whose difference overflows is %v", name, *v)
		}
	}
}

// TestSummaryProperties: order matters for the first sample only; a shift moves what lies on the axis; a scale scales.
func TestSummaryProperties(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]float64, 1+random.IntN(300))
		for i := range values {
			values[i] = math.Exp(random.NormFloat64())
		}
		s := Summarize(values)
		ordered := []float64{*s.Min, *s.P25, *s.P50, *s.P75, *s.P90, *s.P95, *s.P99, *s.Max}
		if !slices.IsSorted(ordered) {
			t.Fatalf("quantiles are not in order: %v", ordered)
		}
		shuffled := slices.Clone(values)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := Summarize(shuffled); *again.Mean != *s.Mean || *again.P99 != *s.P99 || *again.MAD != *s.MAD {
			t.Fatal("the order of samples changed the summary")
		}
		deviations := slices.Clone(values)
		for i := range deviations {
			deviations[i] = math.Abs(values[i] - *s.P50)
		}
		slices.Sort(deviations)
		valuetest.Equal(t, *s.MAD, Quantile(deviations, .5), "the median absolute deviation")
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= 8
		}
		if twice := Summarize(scaled); *twice.P95 != 8**s.P95 || *twice.MAD != 8**s.MAD || *twice.Mean != 8**s.Mean {
			t.Fatal("a power of two does not scale the summary exactly")
		}
	}
}

func TestCompleteKeepsImportedAggregates(t *testing.T) {
	t.Parallel()
	r := schema.Run{Metrics: []schema.Metric{
		{Name: "latency", Tick: 2, Ticks: []int64{1, 2, 3}},
		{Name: "imported", Summary: schema.Summary{P50: new(7.0)}},
	}}
	Complete(&r)
	if *r.Metrics[0].Summary.P50 != 4 || *r.Metrics[1].Summary.P50 != 7 || r.Metrics[1].Summary.N != nil {
		t.Errorf("completed as %+v", r.Metrics)
	}
}

// TestCompleteOnce: what Complete made is not made again, unless it is of other rules or of another number of samples.
func TestCompleteOnce(t *testing.T) {
	t.Parallel()
	r := schema.Run{Metrics: []schema.Metric{{Name: "latency", Tick: 1, Ticks: []int64{1, 2, 3}}}}
	m := &r.Metrics[0]
	Complete(&r)
	first := m.Summary
	Complete(&r)
	valuetest.Equal(t, m.Summary, first, "a summary is computed again")
	m.Ticks = append(m.Ticks, 4)
	Complete(&r)
	if *m.Summary.N != 4 || *m.Summary.Max != 4 {
		t.Errorf("with a sample more: %+v", m.Summary)
	}
	m.Summary.Version, m.Summary.Max = new(int64(summaryVersion-1)), new(9.0)
	Complete(&r)
	if *m.Summary.Version != summaryVersion || *m.Summary.Max != 4 {
		t.Errorf("of other rules: %+v", m.Summary)
	}
}

// TestQuantileDigits: a quantile has no digits that its samples do not give it.
func TestQuantileDigits(t *testing.T) {
	t.Parallel()
	samples := make([]float64, 100)
	for i := range samples {
		samples[i] = 168_000_000 + float64(i)*15_485_863
	}
	for p, want := range map[float64]float64{.9: 1_547_790_393.3, .95: 1_624_445_415.15, .5: 934_550_218.5, 1: 1_701_100_437, 0: 168_000_000} {
		valuetest.Equal(t, Quantile(samples, p), want, "quantile", p)
	}
}
