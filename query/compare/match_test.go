package compare_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestCompareMatches(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	add := func(level float64, edit func(*schema.Run)) {
		runs = append(runs, querytest.RunsOf(&n, 1, edit, wobble(level)...)...)
	}
	for i, batch := range []int64{1, 2} {
		for k, backend := range []string{"cpu", "torch", "triton"} {
			add(1000*(1+float64(k))*(1+float64(i)), querytest.Of(batch, func(r *schema.Run) { r.Backend = backend }))
		}
		// A parameter that only one side has, and a model that goes with it.
		add(900, querytest.Of(batch, func(r *schema.Run) { r.Backend, r.Model, r.Params = "cuda", "other", map[string]string{"tile": "4"} }))
	}
	add(700, querytest.Of(8, func(r *schema.Run) { r.Backend = "cpu" }))
	add(800, querytest.Of(1, func(r *schema.Run) { r.Backend, r.Env.Machine = "cpu", "lab4" }))
	db := querytest.SealedRuns(t, runs)
	for _, c := range []struct {
		base, head string
		want       []string // batch size, machine, verdict of each point
	}{
		{"backend=cpu machine=lab3", "backend=torch", []string{"1 lab3 regressed", "2 lab3 regressed", "8 lab3 missing"}},
		{"backend=torch", "backend=cpu machine=lab3", []string{"1 lab3 improved", "2 lab3 improved", "8 lab3 added"}},
		{"backend=cpu machine=lab3", "backend=cuda", []string{"1 lab3 improved", "2 lab3 improved", "8 lab3 missing"}},
		{"backend=cpu", "backend=torch", []string{"1 lab3 regressed", "2 lab3 regressed", "8 lab3 missing", "1 lab4 missing"}},
		{"backend=cpu machine=lab3 bs=1", "backend=cpu machine=lab4", []string{"1 lab4 estimate"}},
		{"backend=torch bs=1", "backend=torch bs=2", []string{"2 lab3 regressed"}},
	} {
		got := mustCompare(t, db, compare.Request{Base: c.base, Head: c.head})
		var lines []string
		for row := range got.Rows {
			lines = append(lines, fmt.Sprintf("%s %s %s", cellOf(got, row, "batch_size"), cellOf(got, row, "machine"), cellOf(got, row, "verdict")))
		}
		slices.Sort(lines)
		slices.Sort(c.want)
		valuetest.DeepEqual(t, lines, c.want, c.base, "against", c.head)
	}
	for _, c := range []struct{ base, head, says string }{
		{"backend=cpu bs=1", "backend=torch,triton bs=1", "backend is cpu on the base and torch, triton on the head"},
		{"backend=cpu", "backend=cpu", "runs match both"},
		{"backend=cpu", "bs=1", "runs match both"},
		{"backend=cpu", "run=" + runs[0].RunID, "compare: 1 run matches both"},
		{"", "bs=1", "runs match both"},
		{"backend=nonesuch", "bs=1", "backend=nonesuch matches no run (1 session in this store)"},
		{"bs=1", "session=last~7", "session=last~7 matches no run"},
		{"bs=1", "nonesuch=1", "no column or parameter is called \"nonesuch\""},
		{"bs=1 (", "bs=2", "bs=1 ("},
		{"baseline=nonesuch", "bs=2", `there is no baseline "nonesuch": neurolens bless makes one`},
	} {
		_, err := compare.Compare(context.Background(), db, compare.Request{Base: c.base, Head: c.head})
		querytest.WantInput(t, err, c.says)
	}
}

func TestCompareMatrix(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for _, variant := range []string{"baseline", "fused", "tiled"} {
		for _, batch := range []int64{1, 2} {
			level := map[string]float64{"baseline": 1000, "fused": 500, "tiled": 1000}[variant] * float64(batch)
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch, func(r *schema.Run) { r.Variant = variant }), wobble(level)...)...)
		}
	}
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last", Axis: "variant", Reference: "baseline"})
	var lines []string
	for row := range got.Rows {
		lines = append(lines, cellOf(got, row, "variant")+" "+cellOf(got, row, "batch_size")+" "+cellOf(got, row, "verdict"))
	}
	slices.Sort(lines)
	valuetest.DeepEqual(t, lines, []string{"fused 1 improved", "fused 2 improved", "tiled 1 unchanged", "tiled 2 unchanged"})
}

// TestComparePlanned: a selection without two sides is compared with the baseline that its sweep names, as with Axis. If the sweeps name
// none, it is a guess, also of the amount of work, except for a gate; if they name several, the error names them.
func TestComparePlanned(t *testing.T) {
	t.Parallel()
	const reference = "./old in-{size} \"x\""
	n := 0
	measured := func(session int, baseline string) (runs []schema.Run) {
		for _, variant := range []string{reference, "new"} {
			level := map[string]float64{reference: 1000, "new": 500}[variant]
			runs = append(runs, querytest.RunsOf(&n, session, querytest.Of(1, func(r *schema.Run) {
				r.Variant, r.Env.Facts = variant, map[string]string{schema.FactBaseline: baseline}
			}), wobble(level)...)...)
		}
		return runs
	}
	one, other, none := measured(1, "variant="+reference), measured(2, "variant=new"), measured(3, "")
	work := slices.Concat(querytest.RunsOf(&n, 4, querytest.Of(1, func(*schema.Run) {}), wobble(1000)...), querytest.RunsOf(&n, 4, querytest.Of(2, func(*schema.Run) {}), wobble(2000)...))
	apart := slices.Concat(work, querytest.RunsOf(&n, 4, querytest.Of(0, func(r *schema.Run) { r.Benchmark, r.BatchSize = "sum", nil }), wobble(3000)...))
	db := querytest.SealedRuns(t, slices.Concat(one, other, none, apart))
	planned := mustCompare(t, db, compare.Request{Base: "session=" + querytest.SessionID(1)})
	asked := mustCompare(t, db, compare.Request{Base: "session=" + querytest.SessionID(1), Axis: "variant", Reference: filter.Quote(reference), Paired: true})
	valuetest.Equal(t, len(planned.Rows), 1)
	for _, column := range []string{"variant", "base", "head", "change", "low", "high", "verdict", "base_runs", "head_runs"} {
		valuetest.Equal(t, cellOf(planned, 0, column), cellOf(asked, 0, column), column)
	}
	valuetest.Equal(t, planned.Contrast, query.Contrast{Axis: "variant", Value: reference})
	valuetest.Equal(t, asked.Contrast, planned.Contrast)
	valuetest.Equal(t, cellOf(planned, 0, "verdict"), "improved")
	valuetest.Equal(t, len(asked.Guesses)+len(planned.Guesses), 0)
	guessed := mustCompare(t, db, compare.Request{Base: "session=" + querytest.SessionID(3)})
	valuetest.DeepEqual(t, guessed.Guesses, []query.Contrast{planned.Contrast})
	valuetest.Equal(t, guessed.Contrast, planned.Contrast)
	valuetest.Equal(t, cellOf(guessed, 0, "verdict"), "improved")
	amount := mustCompare(t, db, compare.Request{Base: "session=" + querytest.SessionID(4)})
	valuetest.Equal(t, amount.Contrast, query.Contrast{Axis: "batch_size", Value: "1", Work: true})
	valuetest.Equal(t, len(amount.Rows), 1) // sum is another benchmark, which does other work
	_, err := compare.Compare(t.Context(), db, compare.Request{Base: "session=" + querytest.SessionID(4), BaseFile: "old.txt"})
	querytest.WantInput(t, err, "old.txt has neither two sides nor a baseline: name a second file to compare it with")
	_, err = compare.Compare(t.Context(), db, compare.Request{Base: "session=" + querytest.SessionID(3), Rules: judge.Rules{Gate: true}})
	querytest.WantInput(t, err, "has neither two sides nor a baseline, and a gate does not guess one: neurolens compare --matrix 'variant=./old in-{size} \"x\"' session="+querytest.SessionID(3)+" compares the values of variant")
	for _, c := range []struct{ base, says string }{
		{"session=" + querytest.SessionID(3) + " variant=new", "has neither two sides nor a baseline: name BASE and HEAD, two filters"},
		{"variant=new,nonesuch session=" + querytest.SessionID(1) + "," + querytest.SessionID(2), "have different baselines (variant="},
		{"variant=nonesuch", "variant=nonesuch matches no run (4 sessions in this store)"},
	} {
		_, err := compare.Compare(t.Context(), db, compare.Request{Base: c.base})
		querytest.WantInput(t, err, c.says)
	}
}

func TestCompareMetrics(t *testing.T) {
	t.Parallel()
	n := 0
	with := func(side string, rmse, memory float64) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Side = side
			r.Metrics = append(r.Metrics, querytest.RealMetric("rmse", "", rmse, rmse, rmse), querytest.RealMetric("peak_memory", "B", memory))
		})
	}
	runs := slices.Concat(querytest.RunsOf(&n, 1, with("base", 0, 4096), wobble(1000)...), querytest.RunsOf(&n, 1, with("head", .002, 8192), wobble(1000)...))
	// A run without the metric is no value of it.
	runs = append(runs, querytest.RunsOf(&n, 1, querytest.On("head", 1), 1001)...)
	db := querytest.SealedRuns(t, runs)
	for _, c := range []struct {
		thresholds        judge.Thresholds
		metric            string
		verdict           judge.Verdict
		change            float64
		equivalenceMargin float64
	}{
		{nil, "rmse", judge.Regressed, .002, 0},
		{judge.Thresholds{"rmse": {Value: .01, Absolute: true}}, "rmse", judge.Unchanged, .002, .01},
		{judge.Thresholds{"": {Value: .5}}, "rmse", judge.Regressed, .002, 0},
		{nil, "peak_memory", judge.Regressed, 1, .02},
		{judge.Thresholds{"peak_memory": {Value: 1 << 20, Absolute: true}}, "peak_memory", judge.Unchanged, 4096, 1 << 20},
		{judge.Thresholds{"": {Value: 2}}, "peak_memory", judge.Unchanged, 1, 2},
		{judge.Thresholds{"latency": {Value: 2}}, "peak_memory", judge.Regressed, 1, .02},
	} {
		got := mustCompare(t, db, compare.Request{Base: "session=last", Metrics: []string{"latency", c.metric}, Thresholds: c.thresholds})
		row := slices.IndexFunc(got.Rows, func(r compare.Row) bool { return r.Metric == c.metric })
		if row < 0 || len(got.Rows) != 2 {
			t.Fatalf("%s: rows %v", c.metric, got.Rows)
		}
		valuetest.Equal(t, cellOf(got, row, "verdict"), string(c.verdict), c.metric, c.thresholds, c.verdict)
		valuetest.Near(t, realOf(t, got, row, "change"), c.change, 1e-9, c.metric, "change")
		valuetest.Near(t, realOf(t, got, row, "threshold"), c.equivalenceMargin, 1e-9, c.metric, c.thresholds, "equivalence margin")
		counts := c.equivalenceMargin
		if given, ok := c.thresholds[c.metric]; ok {
			counts = given.Value
		}
		if got.Thresholds[c.metric].Value != counts {
			t.Errorf("%s with %v: the threshold that counts is %v, want %g", c.metric, c.thresholds, got.Thresholds[c.metric], counts)
		}
		valuetest.Equal(t, cellOf(got, row, "head_runs"), "7", c.metric)
	}
}

// TestCompareSweepThresholds: the threshold of the head's sweep applies unless another is given.
func TestCompareSweepThresholds(t *testing.T) {
	t.Parallel()
	n := 0
	with := func(side, threshold string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Side, r.Env.Facts = side, map[string]string{"runner.threshold." + "latency": threshold}
		})
	}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, with("base", "1%"), wobble(1000)...), querytest.RunsOf(&n, 1, with("head", "30%"), wobble(1100)...)))
	valuetest.Equal(t, cellOf(mustCompare(t, db, compare.Request{Base: "session=last"}), 0, "verdict"), "unchanged")
	for _, metric := range []string{"latency", ""} {
		given := judge.Thresholds{metric: {Value: .05}}
		if got := mustCompare(t, db, compare.Request{Base: "session=last", Thresholds: given}); cellOf(got, 0, "verdict") != "regressed" {
			t.Errorf("with a threshold of %q: %s, equivalence margin %s", metric, cellOf(got, 0, "verdict"), cellOf(got, 0, "threshold"))
		}
	}
}

func TestCompareDiffers(t *testing.T) {
	t.Parallel()
	n := 0
	commit := func(side, commit, numpy string) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
			r.Side, r.Env.GitCommit = side, commit
			r.Env.Facts = map[string]string{"python.numpy": numpy, "same": "x"}
			r.Applied = map[string]string{"threads": numpy}
		})
	}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, commit("base", "ab", "2.4.5"), wobble(1000)...), querytest.RunsOf(&n, 1, commit("head", "b", "2.4.6"), wobble(1000)...)))
	got := mustCompare(t, db, compare.Request{Base: "session=last"})
	want := []query.FactDifference{
		{Kind: query.CodeFact, Name: "git_commit", Base: []string{"ab"}, Head: []string{"b"}},
		{Kind: query.ConfigurationFact, Name: "applied.threads", Base: []string{"2.4.5"}, Head: []string{"2.4.6"}},
		{Kind: query.EnvironmentFact, Name: "env.python.numpy", Base: []string{"2.4.5"}, Head: []string{"2.4.6"}},
	}
	valuetest.Equal(t, fmt.Sprint(got.Differs), fmt.Sprint(want), got.Differs, want)
	for _, c := range []struct{ filter, says string }{{"commit=a", ""}, {"commit=A", ""}, {"commit=x", "matches no run"}, {"commit~a", "git_commit takes a regular expression"}} {
		_, err := compare.Compare(context.Background(), db, compare.Request{Base: c.filter, Head: "commit=b"})
		if c.says != "" {
			querytest.WantInput(t, err, c.says)
		} else if err != nil {
			t.Errorf("%s: %v", c.filter, err)
		}
	}
	valuetest.DeepEqual(t, got.Base.Commits, []string{"ab"}, "base", got.Base, "head", got.Head)
	valuetest.Equal(t, got.Head.Runs, 7, "base", got.Base, "head", got.Head)
}

// Facts are those of all runs, not of the first one of a session, whose point another session may run later.
func TestCompareDiffersInAnyRun(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for session, order := range [][]int64{{1, 2, 3}, {2, 1, 3}} {
		for _, size := range order {
			runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) {
				r.BatchSize, r.Applied = new(size), map[string]string{"batch_size": fmt.Sprint(size)}
				if session == 1 && size == 3 && *r.RepeatIndex == 4 {
					r.Env.DriverVersion, r.Env.Machine = "575", ""
				}
			}, wobble(1000)...)...)
		}
	}
	c := mustCompare(t, querytest.Open(t, querytest.NewStore(t, runs...)), compare.Request{Base: "session=last~1", Head: "session=last"})
	c.Differs = slices.DeleteFunc(c.Differs, func(d query.FactDifference) bool { return d.Name == "machine" })
	if len(c.Differs) != 1 || c.Differs[0].Name != "driver_version" || !slices.Contains(c.Differs[0].Head, "575") {
		t.Errorf("what differs: %+v", c.Differs)
	}
	valuetest.DeepEqual(t, []any{c.Head.NoMachine, c.Base.NoMachine, c.Head.FactRuns}, []any{1, 0, c.Head.Runs}, "head", c.Head)
}

// Values that are not numbers are counted once, even if either side could have had their runs.
func TestCompareNotNumbers(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for _, dim := range []string{"1", "4", "x"} {
		runs = append(runs, querytest.RunsOf(&n, 1, func(r *schema.Run) { r.Params = map[string]string{"dim": dim} }, wobble(1000)...)...)
	}
	c := mustCompare(t, querytest.Open(t, querytest.NewStore(t, runs...)), compare.Request{Base: "dim<2", Head: "dim>=2"})
	valuetest.DeepEqual(t, c.NotNumbers, map[string]int{"dim": len(wobble(1000))}, "not numbers")
}

// TestCompareMatrixInStep: if each variant has its own backend, the points of a matrix still match; if a
// variant has two, they do not.
func TestCompareMatrixInStep(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	variants := []struct{ variant, backend string }{{"PyTorch", "torch"}, {"Fused", "cuda"}, {"Tile", "triton"}}
	for i, v := range variants {
		for _, batch := range []int64{1, 2} {
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch, func(r *schema.Run) { r.Variant, r.Backend = v.variant, v.backend }),
				wobble(1000*float64(i+1)*float64(batch))...)...)
		}
	}
	request := compare.Request{Base: "session=last", Axis: "variant", Reference: "PyTorch"}
	got := mustCompare(t, querytest.SealedRuns(t, runs), request)
	var lines []string
	for row := range got.Rows {
		lines = append(lines, fmt.Sprintf("%s %s %s", cellOf(got, row, "variant"), cellOf(got, row, "batch_size"), cellOf(got, row, "verdict")))
	}
	slices.Sort(lines)
	valuetest.DeepEqual(t, lines, []string{"Fused 1 regressed", "Fused 2 regressed", "Tile 1 regressed", "Tile 2 regressed"})
	runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(1, func(r *schema.Run) { r.Variant, r.Backend = "Tile", "cuda" }), wobble(900)...)...)
	if _, err := compare.Compare(context.Background(), querytest.SealedRuns(t, runs), request); err == nil {
		t.Error("a variant with two backends matches")
	}
}

// TestCompareStandsIn: if some points lack the parameter by which sides are compared, they are compared as the side without a
// value, which is NULL and not empty.
func TestCompareStandsIn(t *testing.T) {
	t.Parallel()
	var n int
	made := func(benchmark, variant, code string) []schema.Run {
		return querytest.RunsOf(&n, 1, func(r *schema.Run) {
			if r.Benchmark, r.Variant = benchmark, variant; code != "" {
				r.Params = map[string]string{"code": code}
			}
		}, wobble(1000)...)
	}
	db := querytest.Open(t, querytest.NewStore(t, slices.Concat(
		made("a", "x", "0"), made("a", "x", "1"), made("a", "y", "0"), made("a", "y", "1"), made("a", "y", ""),
		made("c", "x", "0"), made("c", "x", "1"), made("b", "x", ""),
	)...))
	c := mustCompare(t, db, compare.Request{Axis: "code", Reference: "0"})
	stands := []string{}
	for i := range c.Rows {
		params, _ := fieldOf(c, i, "params").(map[string]any)
		value, known := params["code"]
		if known && value == nil {
			stands = append(stands, cellOf(c, i, "benchmark")+" "+cellOf(c, i, "variant")+" "+cellOf(c, i, "verdict"))
		}
		if value == "" || c.Rows[i].Identity.Parameter("code") != value {
			t.Errorf("params %v", params)
		}
	}
	// The benchmark c has no points without a value, so none is missing. It may take the parameter, and b not.
	valuetest.DeepEqual(t, stands, []string{"a x missing"}, "points that stand for one without a value")
}

// TestCompareOtherValues: two selections that have different values of an axis have no point in common, unless both name it, or are files. The
// error has the conditions that do. A benchmark is no value of a parameter that it lacks, or that has other values there.
func TestCompareOtherValues(t *testing.T) {
	t.Parallel()
	n := 0
	of := func(session int, machine, benchmark string, params map[string]string) []schema.Run {
		return querytest.RunsOf(&n, session, func(r *schema.Run) { r.Env.Machine, r.Benchmark, r.Params = machine, benchmark, params }, wobble(1000)...)
	}
	base, head := of(1, "a", "zip", map[string]string{"lvl": "9", "if": "x y"}), of(2, "b", "zip", map[string]string{"lvl": "1", "if": "x y"})
	db := querytest.SealedRuns(t, slices.Concat(base, head, of(3, "a", "join", map[string]string{"n": "10"}), of(3, "a", "join", map[string]string{"n": "1000"}), of(3, "a", "sum", nil)))
	first, second := "session="+querytest.SessionID(1), "session="+querytest.SessionID(2)
	for _, sides := range [][2]string{{first, second}, {first, second + " lvl=1"}, {first + " machine=a", second + " machine=b"}} {
		_, err := compare.Compare(t.Context(), db, compare.Request{Base: sides[0], Head: sides[1]})
		querytest.WantInput(t, err, "no point of the base has a counterpart on the head: param.lvl is 9 on the base and 1 on the head; lvl=9 in BASE and lvl=1 in HEAD compares them")
	}
	for _, req := range []compare.Request{
		{Base: first + " lvl=9", Head: second + " param.lvl=1"},
		{Base: "run=" + base[0].RunID, Head: "run=" + head[0].RunID},
		{BaseDB: querytest.SealedRuns(t, base), BaseFile: "a", Head: second, HeadFile: "b"},
	} {
		c := mustCompare(t, db, req)
		valuetest.Equal(t, len(c.Rows), 1, req.Base)
		valuetest.Contains(t, fmt.Sprint(c.Differs), "{configuration param.lvl [9] [1]}", req.Base)
	}
	c := mustCompare(t, db, compare.Request{Base: "session=" + querytest.SessionID(3), Axis: "n", Reference: "10"})
	var lines []string
	for i := range c.Rows {
		lines = append(lines, cellOf(c, i, "benchmark")+" "+cellOf(c, i, "verdict"))
	}
	slices.Sort(lines)
	valuetest.DeepEqual(t, lines, []string{"join unchanged", "sum added"})
}

// TestComparePaired: points of only one side are left out, also if an axis has many values; the others are unchanged.
func TestComparePaired(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for batch, variants := range map[int64][]string{1: {"baseline", "a"}, 2: {"baseline", "b"}, 4: {"baseline"}, 8: {"c"}} {
		for _, variant := range variants {
			runs = append(runs, querytest.RunsOf(&n, 1, querytest.Of(batch, func(r *schema.Run) { r.Variant = variant }), wobble(1000)...)...)
		}
	}
	db := querytest.SealedRuns(t, runs)
	for pairs, req := range map[int]compare.Request{
		2: {Base: "session=last", Axis: "variant", Reference: "baseline"},
		1: {Base: "variant=baseline", Head: "variant=a"},
	} {
		all := valuetest.Must(compare.Compare(context.Background(), db, req))
		req.Paired = true
		paired := valuetest.Must(compare.Compare(context.Background(), db, req))
		want := slices.DeleteFunc(all.Rows, func(r compare.Row) bool { return r.BaseID == "" || r.HeadID == "" })
		if len(want) != pairs || len(paired.Rows) != pairs || len(paired.Points) != pairs || len(all.Rows) == pairs {
			t.Fatalf("%d pairs among %d rows, %d are paired", len(want), len(all.Rows), len(paired.Rows))
		}
		for i, row := range paired.Rows {
			if w := want[i]; row.HeadID != w.HeadID || row.BaseID != w.BaseID || row.Verdict != w.Verdict || *row.Estimates != *w.Estimates {
				t.Errorf("row %d is %+v, want %+v", i, row, w)
			}
		}
	}
}
