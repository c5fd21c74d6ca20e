package compare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCompareMeans: where a function became so fast, or so slow, that its samples are means on one side only, the means of the runs
// are compared, and the flag run_means says so. If the side of means is slower, or a run has no mean, there is no verdict.
func TestCompareMeans(t *testing.T) {
	t.Parallel()
	slow, fast := []float64{100_000, 100_400, 99_700, 100_200, 99_500, 100_100}, []float64{1000, 1004, 997, 1002, 995, 1001}
	skewed := func(m *schema.Metric) { m.Reals = []float64{m.Reals[0], m.Reals[0], 4 * m.Reals[0]} } // whose mean is twice its median
	of := func(level schema.Level, more func(*schema.Metric)) func(*schema.Metric) {
		return func(m *schema.Metric) {
			if m.Level = level; more != nil {
				more(m)
			}
		}
	}
	single, means := of(schema.LevelIteration, nil), of(schema.LevelMean, nil)
	bytes := func(level schema.Level) func(*schema.Metric) {
		return of(level, func(m *schema.Metric) { m.Unit = "B" })
	}
	mixed := func(m *schema.Metric) {
		m.Level = []schema.Level{schema.LevelMean, schema.LevelIteration}[int(m.Reals[0])%2]
	}
	for name, c := range map[string]struct {
		base, head         []float64
		editBase, editHead func(*schema.Metric)
		apart              bool // the runs are in no blocks
		verdict            judge.Verdict
		reason             judge.Reason
		change             float64
	}{
		"faster":              {base: slow, head: fast, editBase: single, editHead: means, verdict: judge.Improved, change: -.99},
		"faster, no blocks":   {base: slow, head: fast, editBase: single, editHead: means, apart: true, verdict: judge.Improved, change: -.99},
		"slower":              {base: fast, head: slow, editBase: means, editHead: single, verdict: judge.Regressed, change: 99},
		"the means count":     {base: slow, head: slow, editBase: of(schema.LevelIteration, skewed), editHead: means, verdict: judge.Improved, change: -.5},
		"means are slower":    {base: fast, head: slow, editBase: single, editHead: means, verdict: judge.Estimate, reason: judge.Levels, change: 99},
		"the same":            {base: slow, head: slow, editBase: means, editHead: single, verdict: judge.Estimate, reason: judge.Levels},
		"processes":           {base: slow, head: fast, editBase: of(schema.LevelProcess, nil), editHead: means, verdict: judge.Estimate, reason: judge.Levels, change: -.99},
		"requests":            {base: slow, head: fast, editBase: of(schema.LevelRequest, nil), editHead: means, verdict: judge.Estimate, reason: judge.Levels, change: -.99},
		"no times":            {base: slow, head: fast, editBase: bytes(schema.LevelIteration), editHead: bytes(schema.LevelMean), verdict: judge.Estimate, reason: judge.Levels, change: -.99},
		"some runs are means": {base: slow, head: fast, editBase: single, editHead: mixed, verdict: judge.Estimate, reason: judge.Levels, change: -.99},
	} {
		n := 0
		edit := func(side string, edit func(*schema.Metric)) func(*schema.Run) {
			return func(r *schema.Run) {
				r.Side = side
				if c.apart {
					r.BlockIndex = nil
				}
				m := &r.Metrics[0]
				edit(m)
				m.Summary = stat.Summarize(m.Reals)
			}
		}
		runs := slices.Concat(querytest.RunsOf(&n, 1, edit("base", c.editBase), c.base...), querytest.RunsOf(&n, 1, edit("head", c.editHead), c.head...))
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		valuetest.Equal(t, len(got.Rows), 1, name)
		row := &got.Rows[0]
		if row.Verdict != c.verdict || row.Reason != c.reason || math.Abs(row.Estimates.Change-c.change) > .01*max(1, c.change) {
			t.Errorf("%s: %s %s %g, want %s %s %g", name, row.Verdict, row.Reason, row.Estimates.Change, c.verdict, c.reason, c.change)
		}
		valuetest.Equal(t, slices.Contains(row.Flags, compare.FlagRunMeans), (c.reason != judge.Levels), name, "flags", row.Flags)
		decided := compare.JudgeSession(runs)[runs[0].PointID]
		valuetest.Equal(t, decided.Verdict, c.verdict, name, "while the session runs it")
	}
}

// TestMeansBesideIterations: how often a point without a change gets a verdict if the samples of its head are means of several iterations
// and those of its base single iterations, by the distribution of an iteration. It is the table of VALIDATION.md.
func TestMeansBesideIterations(t *testing.T) {
	t.Parallel()
	querytest.NeedsLong(t)
	text := valuetest.Must(os.ReadFile("../judge/VALIDATION.md"))
	rare := func(share, factor float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			x := math.Exp(.03 * r.NormFloat64())
			if r.Float64() < share {
				x *= factor
			}
			return x
		}
	}
	lognormal := func(sd float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return math.Exp(sd * r.NormFloat64()) }
	}
	pareto := func(shape float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -1/shape) }
	}
	for i, c := range []struct {
		name string
		draw func(*rand.Rand) float64
	}{
		{"log-normal, sd 0.1", lognormal(.1)},
		{"log-normal, sd 0.5", lognormal(.5)},
		{"log-normal, sd 1", lognormal(1)},
		{"1 and an exponential of mean 0.3", func(r *rand.Rand) float64 { return 1 + .3*r.ExpFloat64() }},
		{"1 % 20 times slower", rare(.01, 20)},
		{"10 % 20 times faster", rare(.1, .05)},
		{"45 % 20 times faster", rare(.45, .05)},
		{"Pareto, shape 2.5", pareto(2.5)},
		{"Pareto, shape 1.5", pareto(1.5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random, s := rand.New(rand.NewPCG(43, uint64(i))), meansBeside{draw: c.draw}
			for _, s.iterations = range []int{10, 30, 100} {
				for _, s.batch = range []int{2, 20} {
					for _, s.repeats = range []int{6, 10, 30} {
						s.cell(random)
					}
				}
			}
			share := func(n int) float64 { return 100 * float64(n) / float64(s.all) }
			row := fmt.Sprintf("| %s | %.1f | %.1f | %.1f | %.1f |", c.name, share(s.medians), share(s.means), share(s.compared), 100*s.worst)
			t.Log(row)
			valuetest.Contains(t, string(text), row, "VALIDATION.md does not have")
			if share(s.compared) > 5 {
				t.Errorf("%.1f %% have a verdict", share(s.compared))
			}
		})
	}
}

// meansBeside counts the verdicts on points without a change.
type meansBeside struct {
	draw                       func(*rand.Rand) float64
	iterations, batch, repeats int // samples of a run, iterations of a mean, runs of a side

	all, medians, means, compared int
	worst                         float64 // the largest share of verdicts in a cell
}

// cell judges points with one number of iterations and runs: as they are, and as if their medians or their means were compared.
func (s *meansBeside) cell(random *rand.Rand) {
	const points = 300
	before := s.compared
	for range points {
		var runs []schema.Run
		for repeat := range s.repeats {
			for _, side := range []string{"base", "head"} {
				run := settlingRun(len(runs), 0, repeat, side, 1, nil)
				batch, m := 1, &run.Metrics[0]
				if m.Level = schema.LevelIteration; side == "head" {
					batch, m.Level = s.batch, schema.LevelMean
				}
				values := make([]float64, s.iterations)
				launch := math.Exp(.02 * random.NormFloat64()) // as a launch differs from the next
				for i := range values {
					for range batch {
						values[i] += launch * s.draw(random) / float64(batch)
					}
				}
				m.Summary = stat.Summarize(values)
				runs = append(runs, run)
			}
		}
		count := func(n *int) {
			switch compare.JudgeSession(runs)[runs[0].PointID].Verdict {
			case judge.Improved, judge.Regressed:
				*n++
			}
		}
		s.all++
		count(&s.compared)
		for i := range runs {
			runs[i].Metrics[0].Level = schema.LevelIteration
		}
		count(&s.medians)
		for i := range runs {
			m := &runs[i].Metrics[0]
			m.Summary.LogMedian = new(math.Log(*m.Summary.Mean))
		}
		count(&s.means)
	}
	s.worst = max(s.worst, float64(s.compared-before)/points)
}

// TestMeansAlone: a metric for which another tool's file has a mean but no median is listed, grouped and compared by the mean.
func TestMeansAlone(t *testing.T) {
	t.Parallel()
	n := 0
	mean := func(variant string, ns float64) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Variant, r.Warnings = variant, []string{"mean"}
			r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Summary: schema.Summary{Mean: &ns}}}
		})
	}
	runs := append(querytest.RunsOf(&n, 1, mean("a", 1000), 1), querytest.RunsOf(&n, 1, mean("b", 1500), 1)...)
	db := querytest.SealedRuns(t, runs)
	got := mustCompare(t, db, compare.Request{Base: "variant=a", Head: "variant=b"})
	valuetest.Near(t, realOf(t, got, 0, "change"), .5, 1e-9, "change")
	valuetest.Equal(t, cellOf(got, 0, "flags"), "[few_runs order mean]", "flags")
	groups := valuetest.Must(db.Groups(context.Background(), query.GroupRequest{By: []string{"variant"}}))
	if all := groups.Groups; *all[0].Median != 1000 || *all[1].Median != 1500 {
		t.Errorf("groups %v", all)
	}
}
