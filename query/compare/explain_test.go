package compare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// explainBlocks is how many runs a side has of each point.
const explainBlocks = 8

// explainLatencies is the head's latency relative to the base, by batch size.
type explainLatencies map[int64]float64

// explainedRuns returns the runs of a session with two sides. ratios say by how much the head of each point is slower; at batch
// size 2 its clock is 15 % lower, its runs warn, its setup takes twice as long, and of the operators MatMul grew.
func explainedRuns(ratios explainLatencies) []schema.Run {
	random := rand.New(rand.NewPCG(7, 7))
	var runs []schema.Run
	for block := range explainBlocks {
		for _, bs := range []int64{1, 2, 4} {
			for _, side := range []string{"base", "head"} {
				ratio := 1.0
				if side == "head" {
					ratio = ratios[bs]
				}
				runs = append(runs, explainedRun(len(runs), side, bs, func(r *schema.Run) {
					r.BlockIndex = new(int64(block))
					noise := func() float64 { return 1 + .002*random.NormFloat64() }
					slow := side == "head" && bs == 2
					latency, clock, cpu := 1e5*ratio*noise(), 1980*noise(), 5e6*noise()
					setup := int64(3e6 * noise())
					if slow {
						clock *= .85
						setup *= 2
						r.Warnings = []string{"throttled"}
					}
					r.Stages.Setup = new(setup)
					r.Metrics = []schema.Metric{
						querytest.MetricOf("latency", "ns", schema.BetterLower, latency), querytest.MetricOf("clock_sm", "MHz", schema.BetterHigher, clock),
						querytest.MetricOf("cpu_user", "ns", schema.BetterLower, cpu), querytest.MetricOf("temperature", "Cel", schema.BetterLower, 60),
					}
					r.Primary = "latency"
				}))
			}
		}
	}
	for i, ops := range [][]schema.Op{
		{opOf("MatMul_0", "MatMul", 700), opOf("Add_1", "Add", 200), opOf("Old_2", "Old", 100)},
		{opOf("MatMul_0", "MatMul", 900), opOf("Add_1", "Add", 201), opOf("New_2", "New", 50)},
	} {
		runs = append(runs, explainedRun(len(runs), []string{"base", "head"}[i], 2, func(r *schema.Run) {
			r.Purpose = schema.PurposeProfile
			r.Ops = ops
			for k := range r.Ops {
				r.Ops[k].Index = int64(k)
			}
			r.Metrics, r.Primary = []schema.Metric{querytest.MetricOf("latency", "ns", schema.BetterLower, 1)}, "latency"
		}))
	}
	return runs
}

func explainedRun(n int, side string, bs int64, edit func(*schema.Run)) schema.Run {
	return querytest.NewRun(n, 0, func(r *schema.Run) {
		r.Side, r.BatchSize, r.Params, r.Benchmark = side, new(bs), map[string]string{"dim": `a "b" c`}, "mat mul"
		r.Env.GitCommit = strings.Repeat("a", 40)
		r.Env.Facts = map[string]string{"governor": "performance", "timer.floor_ns": fmt.Sprint(n)}
		if side == "head" {
			r.Env.GitCommit, r.Env.Facts["governor"] = strings.Repeat("b", 40), "powersave"
			r.Applied = map[string]string{"threads": "2"}
		}
		edit(r)
	})
}

func opOf(name, kind string, took int64) schema.Op {
	return schema.Op{Name: name, Type: kind, DurationNS: new(took), Count: new(int64(1))}
}

func mustExplain(t *testing.T, db *query.DB, req compare.ExplainRequest) compare.Explanation {
	t.Helper()
	x := valuetest.Must(compare.Explain(context.Background(), db, req))
	return x
}

// explainFieldOf returns a value of a row.
func explainFieldOf(row compare.ExplainRow, name string) any {
	fields := compare.ExplainFields()
	return fields[slices.IndexFunc(fields, func(f answer.Field[compare.ExplainRow]) bool { return f.Name == name })].Of(&row)
}

// explained returns the verdict and the batch size of the point that is explained.
func explained(x compare.Explanation) string {
	if len(x.Comparison.Rows) == 0 {
		return "none"
	}
	row := x.Comparison.Rows[0]
	return fmt.Sprintf("%v %v", row.Verdict, *row.Identity.BatchSize)
}

// lines returns the rows of an explanation, in short, but those of contrasts that are not ranked.
func lines(x compare.Explanation) string {
	var all strings.Builder
	for _, row := range x.Rows {
		at := func(name string) any { return explainFieldOf(row, name) }
		if at("kind") == "contrast" && at("rank") == nil {
			continue
		}
		fmt.Fprintf(&all, "%v %v %v", at("rank"), at("kind"), at("name"))
		if v, ok := at("share").(float64); ok {
			fmt.Fprintf(&all, " %+.0f ns, share %.2f", at("change"), v)
		} else if v, ok := at("change").(float64); ok {
			fmt.Fprintf(&all, " %+.2f %v", v, at("verdict"))
		} else {
			fmt.Fprintf(&all, " %v -> %v", at("base"), at("head"))
		}
		all.WriteByte('\n')
	}
	return all.String()
}

func TestExplain(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, explainedRuns(explainLatencies{1: 1, 2: 1.2, 4: 1.05})...))
	x := mustExplain(t, db, compare.ExplainRequest{Request: compare.Request{Base: "session=" + querytest.SessionID(1)}})
	valuetest.DeepEqual(t, []any{len(x.Comparison.Rows), len(x.Comparison.Points), x.BaseProfiles, x.HeadProfiles}, []any{1, 3, 1, 1})
	if got := explained(x); got != "regressed 2" || x.Facts != 2 || x.FewRuns != 0 { // the clock and the block
		t.Errorf("%s is explained, of %d facts and %d of few runs", got, x.Facts, x.FewRuns)
	}
	want := `0 point POINT +0.20 regressed
1 metric clock_sm -0.15 regressed
2 op MatMul_0 (MatMul) +200 ns, share 1.32
3 op New_2 (New) +50 ns, share 0.33
4 code git_commit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -> bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
5 configuration applied.threads <nil> -> 2
6 environment env.governor performance -> powersave
7 warning throttled 0 of 8 -> 8 of 8
8 stage setup +1.00 regressed
9 op Old_2 (Old) -100 ns, share -0.66
<nil> op Add_1 (Add) +1 ns, share 0.01
<nil> metric cpu_user -0.00 unchanged
<nil> metric temperature +0.00 unchanged
`
	want = strings.Replace(want, "POINT", x.Comparison.Rows[0].BaseID, 1)
	valuetest.Equal(t, lines(x), want)
}

// TestExplainChoice: which point is explained by default, and which if it has to be a regression.
func TestExplainChoice(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	lost := func(edit func(r *schema.Run)) func(r *schema.Run) bool {
		return func(r *schema.Run) bool {
			if r.Side == "head" && *r.BatchSize == 4 {
				if edit == nil {
					return false
				}
				edit(r)
			}
			return true
		}
	}
	timeout := lost(func(r *schema.Run) {
		r.Status, r.Stage, r.ErrorKind, r.Error, r.Metrics, r.Primary = schema.StatusTimeout, schema.StageMeasure, "timeout", "too long", nil, ""
	})
	unsupported := lost(func(r *schema.Run) {
		r.Status, r.Metrics, r.Primary = schema.StatusUnsupported, nil, ""
	})
	for name, c := range map[string]struct {
		ratios      explainLatencies
		keep        func(r *schema.Run) bool
		want, worse string
		line        string
	}{
		"nothing changed":            {explainLatencies{1: 1.0001, 2: 1, 4: 1.01}, nil, "unchanged 4", "none", "environment env.governor"},
		"an improvement":             {explainLatencies{1: 1, 2: 1, 4: .9}, nil, "improved 4", "none", ""},
		"worse before better":        {explainLatencies{1: 1.04, 2: 1.05, 4: .5}, nil, "regressed 2", "regressed 2", ""},
		"a point that is missing":    {explainLatencies{1: 1, 2: 1, 4: 1}, lost(nil), "missing 4", "none", "code git_commit"},
		"missing, and a regression":  {explainLatencies{1: 1.2, 2: 1.1, 4: 1}, lost(nil), "regressed 1", "regressed 1", ""},
		"missing, and another order": {explainLatencies{1: 1.1, 2: 1.2, 4: 1}, lost(nil), "regressed 2", "regressed 2", ""},
		"failed":                     {explainLatencies{1: 1, 2: .8, 4: 1}, timeout, "failed 4", "failed 4", "1 status timeout in measure 0 of 8 -> 8 of 8"},
		"unsupported":                {explainLatencies{1: 1, 2: 1, 4: 1}, unsupported, "unsupported 4", "none", "1 status unsupported 0 of 8 -> 8 of 8"},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []schema.Run
			for _, r := range explainedRuns(c.ratios) {
				if c.keep == nil || c.keep(&r) {
					runs = append(runs, r)
				}
			}
			db := querytest.Open(t, querytest.NewStore(t, runs...))
			req := compare.ExplainRequest{Request: compare.Request{Base: "side=base", Head: "side=head"}}
			x := mustExplain(t, db, req)
			valuetest.Equal(t, explained(x), c.want)
			valuetest.Contains(t, lines(x), c.line)
			req.Regressed = true
			valuetest.Equal(t, explained(mustExplain(t, db, req)), c.worse, "of those that got worse")
		})
	}
}

// TestExplainSidesOfSessions: of sessions with two sides the head is explained, without the runs of the base.
func TestExplainSidesOfSessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for session := range 2 {
		for range 6 {
			for _, side := range []string{"base", "head"} {
				runs = append(runs, querytest.NewRun(len(runs), 1000, func(r *schema.Run) {
					r.SessionID, r.Side, r.BatchSize, r.Params = querytest.SessionID(session+1), side, new(int64(1)), nil
					r.Stages.Setup = new(int64(2e6))
					if side == "base" {
						r.Stages.Setup = new(int64(1e6))
						r.Env.Facts = map[string]string{"governor": fmt.Sprint(session)}
						if session == 1 {
							r.Warnings = []string{"drift"}
						}
					}
				}))
			}
		}
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	last, before := "session="+querytest.SessionID(2), "session="+querytest.SessionID(1)
	x := mustExplain(t, db, compare.ExplainRequest{Request: compare.Request{Base: before, Head: last}})
	want := "0 point POINT +0.00 inconclusive\n<nil> stage setup +0.00 inconclusive\n"
	valuetest.Equal(t, strings.ReplaceAll(lines(x), x.Rows[0].Name, "POINT"), want)
	if c := x.Comparison; c.Base.Filter != before || c.Head.Filter != last || c.Head.Runs != 6 {
		t.Errorf("%q with %q of %d runs", c.Base.Filter, c.Head.Filter, c.Head.Runs)
	}
}

// TestExplainNothing: if nothing else differs, nothing is ranked, whatever the metric.
func TestExplainNothing(t *testing.T) {
	t.Parallel()
	runs := explainedRuns(explainLatencies{1: 1.2, 2: 1, 4: 1})
	for i := range runs {
		runs[i].Env.GitCommit, runs[i].Env.Facts["governor"], runs[i].Applied = "", "performance", nil
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for metric, want := range map[string]string{"": "latency", "clock_sm": "clock_sm"} {
		req := compare.ExplainRequest{Request: compare.Request{Base: "bs=1"}}
		if metric != "" {
			req.Metrics = []string{metric}
		}
		x := mustExplain(t, db, req)
		if got := x.Comparison.Rows[0].Metric; got != want || strings.Count(lines(x), "\n") != 5 {
			t.Errorf("%v is explained by\n%s", got, lines(x))
		}
		for _, row := range x.Rows[1:] {
			if metric == "" && row.Rank != nil {
				t.Errorf("ranked: %v", row)
			}
		}
	}
}

func TestExplainErrors(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, explainedRuns(explainLatencies{1: 1, 2: 1, 4: 1})...))
	for says, req := range map[string]compare.Request{
		"want one metric and no axis":  {Base: "bs=1", Metrics: []string{"latency", "cpu_user"}},
		"explain: want one metric":     {Base: "bs=1", Axis: "variant", Reference: "a"},
		"explain: bs=3 matches no run": {Base: "bs=3"},
	} {
		_, err := compare.Explain(context.Background(), db, compare.ExplainRequest{Request: req})
		querytest.WantInput(t, err, says)
	}
}

// TestExplainThrottle: why clocks were lowered is evidence only if no run of the other side has the same reasons.
func TestExplainThrottle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, head func(run int) string
		want       bool
	}{
		"apart":       {func(int) string { return "none" }, func(run int) string { return []string{"power_cap", "thermal"}[run%2] }, true},
		"overlapping": {func(int) string { return "none" }, func(run int) string { return []string{"power_cap", "none"}[run/2%2] }, false},
		"unknown":     {func(int) string { return "" }, func(int) string { return "power_cap" }, false},
	} {
		runs := explainedRuns(explainLatencies{1: 1, 2: 1.2, 4: 1})
		for i := range runs {
			reasons := c.base(i)
			if runs[i].Side == "head" {
				reasons = c.head(i)
			}
			if runs[i].Env.Facts["gpu.0.clock_sm"] = fmt.Sprint(1000 + i); reasons != "" {
				runs[i].Env.Facts["gpu.0.throttle"] = reasons
			}
		}
		req := compare.ExplainRequest{
			Request: compare.Request{Base: "side=base bs=2", Head: "side=head bs=2"},
			Facts:   query.FactWriter{Volatile: func(fact string) bool { return strings.HasPrefix(fact, "gpu.0.") }},
		}
		got := lines(mustExplain(t, querytest.Open(t, querytest.NewStore(t, runs...)), req))
		if strings.Contains(got, "hardware env.gpu.0.throttle ") != c.want || strings.Contains(got, "hardware env.gpu.0.clock_sm") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

// TestExplainUnbounded: a stage or a metric with few runs has no interval, instead of one from -100 %.
func TestExplainUnbounded(t *testing.T) {
	t.Parallel()
	runs := slices.DeleteFunc(explainedRuns(explainLatencies{1: 1, 2: 1.2, 4: 1}), func(r schema.Run) bool { return r.BlockIndex != nil && *r.BlockIndex > 0 })
	x := mustExplain(t, querytest.Open(t, querytest.NewStore(t, runs...)), compare.ExplainRequest{Request: compare.Request{Base: "side=base bs=2", Head: "side=head bs=2"}})
	seen := map[any]bool{}
	for _, row := range x.Rows {
		kind, low, high := explainFieldOf(row, "kind"), explainFieldOf(row, "low"), explainFieldOf(row, "high")
		seen[kind] = true
		if (kind == "stage" || kind == "metric" || kind == "point") && (low != nil || high != nil || explainFieldOf(row, "change") == nil) {
			t.Errorf("%v %v: from %v to %v", kind, explainFieldOf(row, "name"), low, high)
		}
	}
	if !seen["stage"] || !seen["metric"] {
		t.Errorf("got\n%s", lines(x))
	}
}

// TestExplainRemoved: removed runs do not affect an explanation, although the store has
// their files, a second store has them too, and tags were changed.
func TestExplainRemoved(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	runs := explainedRuns(explainLatencies{1: 1, 2: 1.2, 4: 1.05})
	gone := func(r *schema.Run) bool {
		return *r.BatchSize == 2 && (r.Purpose == schema.PurposeProfile || *r.BlockIndex == 7) || *r.BatchSize == 4
	}
	kept := slices.DeleteFunc(slices.Clone(runs), func(r schema.Run) bool { return gone(&r) })
	want := mustExplain(t, querytest.Open(t, querytest.NewStore(t, kept...)), compare.ExplainRequest{Request: compare.Request{Base: "side=base", Head: "side=head"}})
	if len(want.Comparison.Points) != 2 || want.HeadProfiles != 0 || !strings.Contains(lines(want), "throttled 0 of 7 -> 7 of 7") {
		t.Fatalf("%d points, %d profiled runs\n%s", len(want.Comparison.Points), want.HeadProfiles, lines(want))
	}
	said := []ingest.Annotation{{Kind: schema.EventRemove, Runs: querytest.IDsWhere(runs, gone)}}
	for _, side := range []string{"base", "head"} {
		said = append(said, ingest.Annotation{Kind: schema.EventTag, Key: "lane", Value: side, Runs: querytest.IDsWhere(kept, func(r *schema.Run) bool { return r.Side == side })})
	}
	live, sealed := querytest.NewStore(t, runs...), querytest.NewStore(t)
	querytest.Seal(t, sealed, runs...)
	for name, stores := range map[string][]string{"live": {live}, "two stores": {live, sealed}} {
		querytest.Annotate(t, stores[len(stores)-1], said...)
		for _, key := range []string{"side", "tag.lane"} {
			x := mustExplain(t, querytest.Open(t, stores...), compare.ExplainRequest{Request: compare.Request{Base: key + "=base", Head: key + "=head"}})
			if got, want := lines(x), lines(want); got != want || len(x.Comparison.Points) != 2 || x.HeadProfiles != 0 {
				t.Errorf("%s, by %s: got\n%s\nwant\n%s", name, key, got, want)
			}
		}
	}
}

// TestValues: values of a fact, a number and a count of runs are texts of one column; what is not known is NULL.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value compare.EvidenceValue
		want  any
	}{
		{compare.EvidenceValue{}, nil},
		{compare.EvidenceValue{Texts: []string{"a", "b"}}, "a, b"},
		{compare.EvidenceValue{Number: new(168686609.55999994)}, "168686609.56"},
		{compare.EvidenceValue{Number: new(0.)}, "0"},
		{compare.EvidenceValue{Number: new(math.NaN())}, nil},
		{compare.EvidenceValue{Runs: &compare.RunCount{Runs: 0, Of: 7}}, "0 of 7"},
	} {
		for _, f := range compare.ExplainFields() {
			row := compare.ExplainRow{Base: c.value}
			if f.Name == "head" {
				row = compare.ExplainRow{Head: c.value}
			}
			if got := f.Of(&row); (f.Name == "base" || f.Name == "head") && got != c.want {
				t.Errorf("%s of %+v: %v, want %v", f.Name, c.value, got, c.want)
			}
		}
	}
}

// noisyRuns returns runs of one point on two sides that differ only in latency: 20 other metrics and all stages
// are noise of 10 %, and each run has some value of 8 facts.
func noisyRuns(seed uint64) []schema.Run {
	random := rand.New(rand.NewPCG(3, seed))
	noise := func() float64 { return math.Exp(.1 * random.NormFloat64()) }
	var runs []schema.Run
	for block := range explainBlocks {
		for i, side := range []string{"base", "head"} {
			runs = append(runs, querytest.NewRun(len(runs), 0, func(r *schema.Run) {
				r.Side, r.BatchSize, r.Params, r.BlockIndex = side, new(int64(1)), nil, new(int64(block))
				took := func() *int64 { return new(int64(1e7 * noise())) }
				r.Stages = schema.Stages{Setup: took(), Warmup: took(), Validate: took(), Teardown: took()}
				r.Metrics = []schema.Metric{querytest.MetricOf("latency", "ns", schema.BetterLower, 1e5*float64(1+i)*(1+.01*noise()))}
				for k := range 20 {
					r.Metrics = append(r.Metrics, querytest.MetricOf(fmt.Sprintf("other_%d", k), "B", schema.BetterLower, 1e6*noise()))
				}
				r.Primary = "latency"
				for k := range 4 {
					r.Env.Facts[fmt.Sprint("word.", k)] = []string{"never", "always"}[random.IntN(2)]
					r.Env.Facts[fmt.Sprint("number.", k)] = fmt.Sprint(random.NormFloat64())
				}
			}))
		}
	}
	return runs
}

// TestExplainNoise: of many metrics and stages that are pure noise, hardly ever one is called changed, in any comparison,
// and facts that make no run slow are hardly ever named as a cause.
func TestExplainNoise(t *testing.T) {
	t.Parallel()
	seeds, most := 2, 1
	if querytest.Long() {
		seeds, most = 40, 6 // 2 of them by chance
	}
	with, contrasts := 0, 0
	for seed := range seeds {
		dir := querytest.NewStore(t)
		querytest.Seal(t, dir, noisyRuns(uint64(seed))...)
		x := mustExplain(t, querytest.Open(t, dir), compare.ExplainRequest{Request: compare.Request{Base: "side=base", Head: "side=head"}})
		if explained(x) != "regressed 1" || x.Tested != 24 || x.Facts+x.FewRuns != 9 { // the block is one
			t.Fatalf("%s is explained, by %d metrics and stages and %d facts", explained(x), x.Tested, x.Facts)
		}
		if slices.ContainsFunc(x.Rows, func(row compare.ExplainRow) bool {
			return explainFieldOf(row, "kind") == "contrast" && explainFieldOf(row, "verdict") != "inconclusive"
		}) {
			contrasts++
		}
		for _, row := range x.Rows[1:] {
			if kind := explainFieldOf(row, "kind"); explainFieldOf(row, "rank") != nil && (kind == "metric" || kind == "stage") {
				t.Logf("seed %d: %v", seed, row)
				with++
				break
			}
		}
	}
	t.Logf("of %d comparisons, %d have a metric or a stage that changed, %d a contrast", seeds, with, contrasts)
	if contrasts > most {
		t.Errorf("in %d of %d comparisons there is a contrast, want at most %d", contrasts, seeds, most)
	}
	if with > most {
		t.Errorf("in %d of %d comparisons noise is called a change, want at most %d", with, seeds, most)
	}
}
