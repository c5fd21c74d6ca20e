package report

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// oddName is a name that would break a table, mention somebody and make an element.
const oddName = "a|b\nc <img> @me *x* `y`"

// subject names a point of the sample.
func subject(benchmark, variant, machine string) summary.Subject {
	return summary.Subject{
		PointID: summary.Text("id of " + benchmark + " " + variant), Benchmark: summary.Text(benchmark), Variant: summary.Text(variant), Backend: "torch",
		BatchSize: new(int64(8)), Params: map[string]string{"dim": "64"}, Machine: summary.Text(machine),
	}
}

// latency returns a value of the primary metric.
func latency(median float64, runs int) summary.Value {
	return summary.Value{Metric: "latency", Unit: "ns", Better: "lower", Runs: runs, Median: &median, P99: new(median * 1.25), Spread: new(.015), RunsSpread: new(.125)}
}

// sample returns a report in which every part has something to say.
func sample() *summary.Report {
	memory := summary.Value{Metric: "peak_memory", Unit: "B", Better: "lower", Runs: 5, Median: new(float64(64 << 20))}
	cpu := summary.Value{Metric: "cpu_user", Unit: "ns", Better: "lower", Runs: 5, Median: new(2.5e6)}
	base, fast, slow, broken := subject(oddName, "baseline", "lab3"), subject(oddName, "fast", "lab3"), subject(oddName, "slow", "lab4"), subject("gemm", "broken", "lab3")
	points := []summary.Point{
		{
			Group: "suite|one", Subject: base, Runs: 5, OKRuns: 5, ByStatus: map[string]int{"ok": 5}, SamplesMin: new(int64(100)), SamplesMax: new(int64(100)),
			Metric: "latency", Metrics: []summary.Value{latency(1_000_000, 5), memory, cpu}, Warnings: map[string]int{"drift": 2},
		},
		{
			Group: "suite|one", Subject: fast, Runs: 6, OKRuns: 5, Profiled: 1, ByStatus: map[string]int{"ok": 6}, SamplesMin: new(int64(41)), SamplesMax: new(int64(100)),
			Metric: "latency", Metrics: []summary.Value{latency(400_000, 5), cpu}, Warnings: map[string]int{},
		},
		{
			Group: "suite|one", Subject: slow, Runs: 5, OKRuns: 5, ByStatus: map[string]int{"ok": 5}, Metric: "latency",
			Metrics: []summary.Value{{Metric: "latency", Unit: "ns", Better: "lower", Runs: 5, Median: new(150_000_000.0)}}, Warnings: map[string]int{"mean": 5},
			Imported: 5, MeanOnly: 5,
		},
		{
			Subject: broken, Runs: 4, ByStatus: map[string]int{"timeout": 1, "error": 2, "skipped": 1}, Wrong: 1, Warnings: map[string]int{},
			Ended: []summary.Reason{{Status: "timeout", Stage: "measure", Error: "measure took more than 15s", Runs: 1}},
		},
	}
	pairs := []summary.Pair{
		{Group: "suite|one", Subject: fast, BaseID: base.PointID, Metric: "latency", Unit: "ns", Better: "lower", Base: new(1e6), Value: new(4e5), BaseRuns: 5, Runs: 5, Speedup: new(2.5), Low: new(2.4), High: new(2.6), Verdict: "improved"},
		{Group: "suite|one", Subject: slow, BaseID: base.PointID, Metric: "latency", Unit: "ns", Better: "lower", Base: new(1e6), Value: new(1.5e8), BaseRuns: 5, Runs: 5, Speedup: new(.00666666666667), Verdict: "estimate", Reason: "machines"},
		{Subject: broken, BaseID: base.PointID, Metric: "latency", Unit: "ns", BaseRuns: 5, Verdict: "failed"},
	}
	all := summary.Ratios{
		Pairs: 3, Compared: 2, Slower: 1, Faster: 1, GeometricMean: new(.129099444874), Median: new(.129099444874),
		FastestPair: new(0), SlowestPair: new(1),
	}
	fastest := summary.Ratios{Pairs: 1, Compared: 1, Faster: 1, GeometricMean: new(2.5), Median: new(2.5), FastestPair: new(0), SlowestPair: new(0)}
	worst := summary.Ratios{Pairs: 1, Compared: 1, Slower: 1, GeometricMean: new(.00666666666667), Median: new(.00666666666667), FastestPair: new(1), SlowestPair: new(1)}
	since := summary.Time{Time: time.Date(2026, 11, 21, 6, 45, 12, 0, time.UTC)}
	return &summary.Report{
		Selection: summary.Selection{
			Filter: "suite=one or suite=two", By: []string{"suite"}, Known: []string{"latency", "cpu_user", "peak_memory"}, Sessions: 2, History: 2, HistoryFilter: "suite=one or suite=two",
			Sweeps: []string{"my sweep.yaml"}, Since: &since, Until: &since,
		},
		Counts: summary.Counts{
			Runs: 20, ByStatus: map[string]int{"ok": 16, "error": 2, "timeout": 1, "skipped": 1}, Measured: 19, Profiled: 1, Wrong: 1, Imported: 5, MeanOnly: 5,
			Points: 4, Rows: 4, OKPoints: 3, BadPoints: 1,
		},
		Environment: []summary.Fact{
			{Name: "machine", Values: []summary.FactValue{{Value: "lab3", Runs: 15}, {Value: "lab4", Runs: 5}}},
			{Name: "memory_bytes", Values: []summary.FactValue{{Value: "17179869184", Runs: 20}}},
			{Name: "git_commit", Values: []summary.FactValue{{Value: "9f3c1d2e4b5a69788796a5b4c3d2e1f001234567", Runs: 15}}, Unknown: 5},
			{Name: "git_dirty", Values: []summary.FactValue{{Value: "true", Runs: 15}}, Unknown: 5},
			{Name: "gpu_name", Unknown: 20},
		},
		Groups: []summary.Group{
			{Name: "suite|one", Rows: 3, Runs: 16, ByStatus: map[string]int{"ok": 16}, Metrics: []string{"latency", "cpu_user", "peak_memory"}},
			{Rows: 1, Runs: 4, ByStatus: map[string]int{"error": 2, "timeout": 1, "skipped": 1}},
		},
		Trends: []summary.Trend{
			{
				Subject: base, Metric: "latency", Unit: "ns", Better: "lower", Sessions: 40, Verdict: "regressed", Level: new(1e6), OldLevel: new(9e5), Scale: "ratio",
				Shift: new(.11), Low: new(.1), High: new(.12), PAdjusted: new(1e-6), Since: &since, After: &since, By: &since, Places: 1, Base: "9f3c1d2e4b5a", Head: "aaaaaaaaaaaa",
				Session: "01KBJ0Q6M80000000000000000", Differs: []summary.Difference{{Kind: "environment", Name: "driver_version", Base: []string{"570"}, Head: []string{"575"}}},
			},
			{Subject: slow, Metric: "latency", Unit: "ns", Better: "lower", Sessions: 40, Verdict: "unchanged", Level: new(1.5e8)},
		},
		Comparisons: []summary.Comparison{{
			Axis: "variant", Baseline: "baseline", From: summary.FromVariant, Metrics: []string{"latency"}, All: all,
			Groups:     []summary.NamedRatios{{Name: "suite|one", Ratios: all}},
			Benchmarks: []summary.NamedRatios{{Name: summary.Text(oddName), Ratios: all}, {Name: "gemm", Ratios: summary.Ratios{Pairs: 1}}},
			Values:     []summary.NamedRatios{{Name: "fast", Ratios: fastest}, {Name: "slow", Ratios: worst}},
			Sets:       2, Wins: map[string]int{"baseline": 1, "fast": 1},
			Best: []summary.BestValue{{Value: "fast", Points: 1, Most: new(0), Least: new(0)}}, Undecided: 1,
			Verdicts: map[string]int{"improved": 1, "estimate": 1, "failed": 1}, Reasons: map[string]int{"machines": 1}, Thresholds: map[string]float64{"latency": .02},
		}},
		Leaders: []summary.Leaderboard{
			{Machine: "lab3", Metric: "latency", Unit: "ns", Better: "lower", Ranked: 2, Wrong: 1, NoValue: 1, Best: []summary.Leader{
				{Rank: 1, Subject: fast, Median: new(4e5), Runs: 5}, {Rank: 2, Subject: base, Median: new(1e6), Runs: 5},
			}},
			{Machine: "lab4", Metric: "latency", Unit: "ns", Better: "lower", Ranked: 1, Best: []summary.Leader{{Rank: 1, Subject: slow, Median: new(1.5e8), Runs: 5}}},
		},
		Resources: []summary.Resource{{Metric: "peak_memory", Unit: "B", Points: 1, Lowest: memory.Median, Median: memory.Median, Highest: memory.Median, At: base}},
		Failures: []summary.Failure{
			{Status: "error", Runs: 1, Points: 1, Causes: []summary.Cause{{ErrorKind: "exit", Runs: 1, Points: 1, Example: broken}}},
			{Status: "error", Wrong: true, Runs: 1, Points: 1, Stages: []summary.Text{"validate"}, Causes: []summary.Cause{{Stage: "validate", ErrorKind: "output", Error: "max error 3 | 2\nof all", Runs: 1, Points: 1, Example: broken}}},
			{Status: "timeout", Runs: 1, Points: 1, Stages: []summary.Text{"measure"}, Causes: []summary.Cause{{Stage: "measure", Error: "measure took more than 15s", Runs: 1, Points: 1, Example: broken}}, Others: 7},
			{Status: "skipped", Runs: 1, Points: 1, Causes: []summary.Cause{{Error: "no GPU", Runs: 1, Points: 1, Example: broken}}},
		},
		Findings: []summary.Finding{
			{Rule: summary.RuleWrongResult, Points: 1, Runs: 1, Examples: []summary.Subject{broken}},
			{Rule: summary.RuleSlower, Points: 1, Runs: 5, Values: []string{"variant=baseline"}, Examples: []summary.Subject{slow}, Numbers: []summary.Number{
				{Name: "compared", Value: new(2.0)},
				{Name: "regressed", Value: new(0.0)},
				{Name: "geometric_mean", Value: all.GeometricMean, Unit: "ratio"},
				{Name: "median", Value: all.Median, Unit: "ratio"},
			}},
			{Rule: summary.RuleFewRuns, Points: 2, Runs: 3, Numbers: []summary.Number{{Name: "least", Value: new(3.0)}}},
			{Rule: summary.RuleMachines, Points: 4, Runs: 20, Values: []string{"lab3", "lab4"}, Numbers: []summary.Number{{Name: "values", Value: new(2.0)}}},
			{Rule: "drift", Points: 1, Runs: 2, Examples: []summary.Subject{base}},
			{Rule: "of_tomorrow", Points: 1, Runs: 2},
		},
		Pairs: pairs, Points: points,
	}
}

// maker is who makes the sample.
func maker() Maker {
	return Maker{Reader: views.Display{Now: time.Date(2026, 11, 24, 2, 36, 11, 5, time.UTC), Stores: []string{"my store"}}, By: "neurolens 0.1.0"}
}

// document returns the sample with its words.
func document() *Document { return maker().Document(sample()) }

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
