package compare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// contrastBlocks is how many runs a side has of the point.
const contrastBlocks = 14

// contrastedRuns returns the runs of a session of two sides. Half of the head's have another kernel and huge pages, and take
// 1.2 times as long; every third of both sides is on another core, and takes 1.1 times as long if cores differ.
func contrastedRuns(cores bool) []schema.Run {
	random := rand.New(rand.NewPCG(9, 9))
	var runs []schema.Run
	for block := range contrastBlocks {
		for _, side := range []string{"base", "head"} {
			runs = append(runs, querytest.NewRun(len(runs), 0, func(r *schema.Run) {
				r.Side, r.BatchSize, r.Params, r.BlockIndex = side, new(int64(1)), nil, new(int64(block))
				took := 1e5 * math.Exp(.01*random.NormFloat64())
				r.Env.OSKernel = "6.8"
				r.Env.Facts = map[string]string{
					"thp": "never", "core": "0", "load.1m": fmt.Sprint(random.Float64()), "same": "x", "a commit": side, "runner.own": fmt.Sprint(took),
				}
				r.Tags = map[string]string{"lane": "slow one"}
				if side == "head" && block%2 == 0 {
					r.Env.OSKernel, r.Env.Facts["thp"] = "6.9", "always"
					took *= 1.2
				}
				if block%3 == 0 {
					r.Env.Facts["core"] = "1"
					r.Tags["lane"] = "a lane"
					if cores {
						took *= 1.1
					}
				}
				r.Metrics, r.Primary = []schema.Metric{querytest.MetricOf("latency", "ns", schema.BetterLower, took), querytest.MetricOf("accuracy", "ratio", schema.BetterHigher, took/1e6)}, "latency"
			}))
		}
	}
	return runs
}

func explainContrasts(t *testing.T, req compare.ExplainRequest, stores ...string) compare.Explanation {
	t.Helper()
	req.Base, req.Head = "side=base", "side=head"
	x := valuetest.Must(compare.Explain(context.Background(), querytest.Open(t, stores...), req))
	return x
}

// TestExplainContrast: what makes half of the head's runs slow comes first, with the numbers; facts that split the runs in the same
// way share its row, facts that are equally frequent on both sides are not ranked, and all examined facts have a row.
func TestExplainContrast(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t, contrastedRuns(false)...)
	x := explainContrasts(t, compare.ExplainRequest{}, dir)
	first := x.Rows[1]
	at := func(name string) any { return explainFieldOf(first, name) }
	want := "1 contrast os_kernel=6.9 0 of 14 7 of 14 ns ratio explains 4 head 7 7 <nil> <nil> [env.thp=always]"
	got := fmt.Sprintln(at("rank"), at("kind"), at("name"), at("base"), at("head"), at("unit"), at("scale"), at("verdict"), at("tested"),
		at("within"), at("runs"), at("others"), at("sessions"), at("other_sessions"), at("confounded_with"))
	valuetest.Equal(t, strings.TrimSpace(got), want, got)
	number := func(name string) float64 { v, _ := at(name).(float64); return v }
	if number("low") < .17 || number("change") < .18 || number("change") > .22 || number("high") > .23 {
		t.Errorf("the effect is %v (%v %v)", at("change"), at("low"), at("high"))
	}
	if number("p") <= 0 || number("p") > .002 || number("p_adjusted") < number("p") || number("p_adjusted") > .02 || math.Abs(number("share")-1) > .15 {
		t.Errorf("p %v, adjusted %v, share %v", at("p"), at("p_adjusted"), at("share"))
	}
	if x.Facts != 4 { // kernel, core, load, block
		t.Errorf("%d facts were looked at", x.Facts)
	}
	names := map[string]any{}
	for _, row := range x.Rows {
		if explainFieldOf(row, "kind") == "contrast" {
			names[row.Name] = explainFieldOf(row, "confounded_with")
		}
	}
	if len(names) != 4 || fmt.Sprint(names["env.core=0"], names["env.core=1"]) != `<nil> [tag.lane="a lane"]` && fmt.Sprint(names["env.core=0"], names["env.core=1"]) != `[tag.lane="slow one"] <nil>` {
		t.Errorf("got %v", names)
	}
	// The name is a filter of these runs.
	listed, err := querytest.Open(t, dir).List(context.Background(), query.ListRequest{Filter: at("name").(string)})
	if err != nil || len(listed.Runs) != 7 {
		t.Errorf("%d runs match %v, %v", len(listed.Runs), at("name"), err)
	}
}

// TestExplainContrastThreshold: a fact that explains a part of a difference far below the threshold explains nothing.
func TestExplainContrastThreshold(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t, contrastedRuns(false)...)
	for share, want := range map[float64]any{.02: "explains", 20: "noise"} {
		x := explainContrasts(t, compare.ExplainRequest{Request: compare.Request{Thresholds: judge.Thresholds{"": {Value: share}}}}, dir)
		at := slices.IndexFunc(x.Rows, func(row compare.ExplainRow) bool { return explainFieldOf(row, "name") == "os_kernel=6.9" })
		if at < 0 || explainFieldOf(x.Rows[at], "verdict") != want {
			t.Errorf("threshold %g: row %d of %v, want %s", share, at, x.Rows, want)
		}
	}
}

// TestExplainContrastNoise: a fact that slows down runs of both sides alike is reported as noise, without a rank.
func TestExplainContrastNoise(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for _, r := range contrastedRuns(true) {
		if r.Env.OSKernel == "6.8" {
			runs = append(runs, r)
		}
		if r.Env.OSKernel == "6.9" { // no cause
			for k := range r.Metrics[0].Reals {
				r.Metrics[0].Reals[k] /= 1.2
			}
			r.Env.OSKernel, r.Env.Facts["thp"] = "6.8", "never"
			r.Metrics[0] = querytest.MetricOf("latency", "ns", schema.BetterLower, r.Metrics[0].Reals[0])
			runs = append(runs, r)
		}
	}
	x := explainContrasts(t, compare.ExplainRequest{}, querytest.NewStore(t, runs...))
	for _, row := range x.Rows {
		if explainFieldOf(row, "kind") != "contrast" || !strings.HasPrefix(row.Name, "env.core") {
			continue
		}
		if row.Rank != nil || explainFieldOf(row, "verdict") != "noise" || explainFieldOf(row, "within") != "both" || explainFieldOf(row, "name") != "env.core=1" {
			t.Errorf("got %v", row)
		}
		return
	}
	t.Error("no contrast of cores")
}

// TestExplainContrastMetric: another metric than the primary one uses its own locations, and if higher is better
// the lower ones are the slow ones.
func TestExplainContrastMetric(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	querytest.Seal(t, dir, contrastedRuns(false)...)
	x := explainContrasts(t, compare.ExplainRequest{Request: compare.Request{Metrics: []string{"accuracy"}}}, dir)
	first := x.Rows[1]
	if explainFieldOf(first, "name") != "os_kernel=6.8" || explainFieldOf(first, "scale") != "difference" || explainFieldOf(first, "unit") != "ratio" {
		t.Errorf("got %v", first)
	}
	if change, _ := explainFieldOf(first, "change").(float64); math.Abs(change+.02) > .003 {
		t.Errorf("the effect is %v", change)
	}
}
