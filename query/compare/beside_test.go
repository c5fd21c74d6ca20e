package compare_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBesideLatency: other contents of runs (telemetry, derived or extracted metrics, successful checks, files) change
// no number of latency in any answer.
func TestBesideLatency(t *testing.T) {
	t.Parallel()
	seeds := uint64(1)
	if querytest.Long() {
		seeds = 8
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		var plain []schema.Run
		n := 0
		for session := range 3 {
			for batch := range int64(4) {
				level := 1000 * (1 + random.Float64())
				for _, side := range []string{"base", "head"} {
					plain = append(plain, querytest.RunsOf(&n, session, querytest.On(side, 1+batch), wobble(level*(1+.05*random.NormFloat64()))...)...)
				}
			}
		}
		beside := make([]schema.Run, len(plain))
		for i, run := range plain {
			beside[i] = withMore(run, random)
		}
		want, got := latencies(t, plain), latencies(t, beside)
		for name, answer := range want {
			valuetest.DeepEqual(t, got[name], answer, "seed", seed, name)
		}
	}
}

// withMore returns a run with more than its latency.
func withMore(run schema.Run, random *rand.Rand) schema.Run {
	run.Metrics = append([]schema.Metric(nil), run.Metrics...)
	for k, unit := range []string{"mW", "mJ", "Cel", "ratio", "ns", "1/s"} {
		if random.IntN(2) == 0 {
			continue
		}
		values := make([]float64, 1+random.IntN(20))
		for i := range values {
			values[i] = 1e6 * random.Float64()
		}
		m := querytest.RealMetric([]string{"power", "energy", "temperature", "accuracy", "training_time", "my_rate"}[k], unit, values...)
		m.Summary = stat.Summarize(values)
		run.Metrics = append(run.Metrics, m)
	}
	random.Shuffle(len(run.Metrics), func(i, j int) { run.Metrics[i], run.Metrics[j] = run.Metrics[j], run.Metrics[i] })
	facts := map[string]string{"runner.check": `["accuracy >= 0"]`, "runner.derived": `{"training_time":"cpu_user"}`, "runner.metrics": `{"accuracy":{}}`}
	for key, value := range run.Env.Facts {
		facts[key] = value
	}
	run.Env.Facts = facts
	run.Artifacts = []schema.Artifact{{Kind: schema.ArtifactFile, Path: fmt.Sprint(random.IntN(9)), Bytes: new(random.Int64N(1 << 30))}}
	return run
}

// latencies returns all numbers of answers that are latencies.
func latencies(t *testing.T, runs []schema.Run) map[string]any {
	t.Helper()
	db := querytest.SealedRuns(t, runs)
	ctx := context.Background()
	answers := map[string]any{}
	for name, req := range map[string]compare.Request{
		"two sides": {Base: "session=last"}, "sessions": {Base: "session=last~1 side=head", Head: "session=last side=head"},
		"an axis": {Base: "session=last side=head", Axis: "batch_size", Reference: "1"}, "named": {Base: "session=last", Metrics: []string{"latency"}},
	} {
		c := mustCompare(t, db, req)
		table := answer.TableOf(compare.Fields(true), c.Rows)
		answers["compare "+name] = table.Rows
	}
	h := valuetest.Must(history.Read(ctx, db, history.Request{Filter: "side=head"}))
	answers["history"] = answer.TableOf(history.Fields(), h.Rows).Rows
	grouping := valuetest.Must(db.Groups(ctx, query.GroupRequest{By: []string{"batch_size"}, Best: true}))
	answers["groups"] = answer.TableOf(grouping.Fields(), grouping.Groups).Rows
	valuetest.OK(t, db.Pages(ctx, query.ListRequest{Since: time.Time{}}, []string{"run_id", "metric", "p50", "p99", "mean", "mad", "stddev", "n_samples", "log_median"}, func(p query.Page) error {
		answers["ls"] = p.Table.Rows
		return nil
	}))
	return answers
}

// TestShownIsPlainMedian: where some runs are left out, a side is shown as the median of the others, not of their logarithms.
func TestShownIsPlainMedian(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for session, sides := range map[int][]string{1: {"base", "head"}, 2: {"head"}} {
		for _, side := range sides {
			runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) { r.Side = side }, 100, 100, 100, 400, 400, 400)...)
		}
	}
	c := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "side=base", Head: "side=head"})
	only(t, c)
	r := c.Rows[0]
	if !slices.Contains(r.Flags, compare.FlagLeftOut) {
		t.Errorf("flags %v", r.Flags)
	}
	valuetest.Equal(t, fmt.Sprintf("%.6g %.6g", *r.Base.Value, *r.Head.Value), "250 250")
}

// TestBesideMedians: a change that the medians of the sides contradict says how it was computed, so that nobody who divides the
// two medians is surprised.
func TestBesideMedians(t *testing.T) {
	t.Parallel()
	base := []float64{100, 200, 101, 201, 102, 150, 202, 203}
	slower := func(by float64) []float64 {
		head := slices.Clone(base)
		for i := range head {
			head[i] += by
		}
		return head
	}
	swapped := slices.Clone(base) // each run takes 1 more, but two swap places across the middle
	for i := range swapped {
		swapped[i] = base[i] - 1
	}
	swapped[5] = 104              // of 150
	against := slices.Clone(base) // each run takes 1 less, but the medians rise by less than the threshold
	for i := range against {
		against[i] = base[i] - .2
	}
	against[5] = 152.5
	far := slices.Clone(base) // 3 times as slow within blocks, and 3.1 times by the medians
	for i := range far {
		far[i] = 3 * base[i]
	}
	far[5] = 480
	for _, c := range []struct {
		name   string
		blocks bool
		head   []float64
		want   []string
	}{
		{"blocks that agree", true, slower(1), nil},
		{"blocks", true, swapped, []string{compare.FlagPaired}},
		{"another direction", true, against, []string{compare.FlagPaired}},
		{"a large change", true, far, []string{compare.FlagPaired}},
		{"runs that agree", false, slower(1), nil},
		{"runs", false, []float64{100, 100, 100, 100, 199, 199, 199, 199, 199}, []string{compare.FlagPairwise}},
	} {
		n := 0
		side := func(name string) func(*schema.Run) {
			block := int64(0)
			return querytest.Of(1, func(r *schema.Run) {
				r.Side = name
				if c.blocks {
					r.BlockIndex = new(block)
					block++
				}
			})
		}
		var runs []schema.Run
		base, head := querytest.RunsOf(&n, 1, side("base"), base...), querytest.RunsOf(&n, 1, side("head"), c.head...)
		for i := range max(len(base), len(head)) {
			if i < len(base) {
				runs = append(runs, base[i])
			}
			if i < len(head) {
				runs = append(runs, head[i])
			}
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		only(t, got)
		flags := slices.DeleteFunc(slices.Clone(got.Rows[0].Flags), func(word string) bool { return word != compare.FlagPaired && word != compare.FlagPairwise })
		if !slices.Equal(flags, c.want) {
			t.Errorf("%s: %v, want %v: %+v", c.name, flags, c.want, *got.Rows[0].Estimates)
		}
	}
}
