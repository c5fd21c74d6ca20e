package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRepeatsUntilPrecise: with rel_error a point that is not precise enough has more runs than repeats, up to
// max_repeats. One that never ran well has none.
func TestRepeatsUntilPrecise(t *testing.T) {
	s := parse(t, "benchmark: ['true', 'false']\ncommand: ['{benchmark}']\nwarmup: 0\nrepeats: 2\nrel_error: 0.0001%\nmax_repeats: 4\nbudget: 1ms\n")
	repeats := map[string][]int64{}
	result := valuetest.Must(Run(t.Context(), s, Options{Locks: t.TempDir()}, func(r schema.Run) error {
		repeats[r.Benchmark] = append(repeats[r.Benchmark], *r.RepeatIndex)
		return nil
	}))
	for benchmark, want := range map[string]int{"true": 4, "false": 2} {
		for i, repeat := range repeats[benchmark] {
			valuetest.DeepEqual(t, repeat, int64(i), "run", i, benchmark)
		}
		valuetest.DeepEqual(t, len(repeats[benchmark]), want, benchmark)
	}
	if result.Runs() != 6 || result.Left != 0 {
		t.Errorf("%+v", result)
	}
	if got := result.Precision; got == nil || got.Reached <= 1e-6 {
		t.Errorf("precision %+v", got)
	} else if got.Reached, got.Needed = 0, 0; *got != (Precision{Points: 1, Imprecise: 1, RelError: 1e-6, Repeats: 4}) {
		t.Errorf("precision %+v", got)
	}
}

// TestImprecise: 7 runs that agree are enough, on each side.
func TestImprecise(t *testing.T) {
	s := parse(t, "command: ['true']\nrepeats: 3\nrel_error: 1%\n")
	p := &s.Points[0]
	agree := []float64{9, 9.001, 9.002, 9, 9.001, 9.002, 9.001}
	differ := []float64{9, 9.1, 9.2, 9, 9.1, 9.2, 9.1}
	for name, c := range map[string]struct {
		base, head []float64
		want       bool
	}{
		"both agree":            {agree, agree, false},
		"base differs":          {differ, agree, true},
		"head differs":          {agree, differ, true},
		"six say nothing":       {agree, agree[:6], true},
		"one never ran well":    {agree, nil, false},
		"neither ever ran well": {nil, nil, false},
	} {
		x := &session{sweep: s, assembler: assembler{sides: make([]side, 2)}}
		x.agenda.locations = map[subject][]float64{{Point: p, Side: 0}: c.base, {Point: p, Side: 1}: c.head}
		valuetest.DeepEqual(t, x.imprecise(p), c.want, name)
	}
}

// TestPrecisionNeeds: the least precise side says how precise the points are, and the one that needs most runs how many they need. Nothing is
// needed of a point that is precise, and it is unknown what six runs of differing size need.
func TestPrecisionNeeds(t *testing.T) {
	s := parse(t, "command: ['true']\nrepeats: 3\nrel_error: 1%\n")
	p := &s.Points[0]
	agree := []float64{9, 9.001, 9.002, 9, 9.001, 9.002, 9.001}
	differ := []float64{9, 9.01, 9.02, 9, 9.01, 9.02, 9.01}
	wild := []float64{9, 19, 9, 19, 9, 19}
	for name, c := range map[string]struct {
		base, head []float64
		want       Precision
	}{
		"both agree":   {agree, agree, Precision{Points: 1, RelError: .01, Repeats: 7, Reached: valuetest.Must(relError(agree))}},
		"head differs": {agree, differ, Precision{Points: 1, Imprecise: 1, RelError: .01, Repeats: 7, Reached: valuetest.Must(relError(differ)), Needed: stat.RunsNeeded(differ, .01)}},
		"base is wild": {wild, differ, Precision{Points: 1, Imprecise: 1, RelError: .01, Repeats: 7, Reached: valuetest.Must(relError(wild))}},
	} {
		x := &session{sweep: s, assembler: assembler{sides: make([]side, 2)}}
		x.agenda.locations = map[subject][]float64{{Point: p, Side: 0}: c.base, {Point: p, Side: 1}: c.head}
		x.notePrecision(t.Context())
		valuetest.DeepEqual(t, *x.result.Precision, c.want, name)
	}
	if needed := stat.RunsNeeded(differ, .01); needed < 8 {
		t.Errorf("%d runs", needed)
	}
}

// relError returns stat.RunsRelError, or an error.
func relError(logs []float64) (float64, error) {
	v, ok := stat.RunsRelError(logs)
	if !ok {
		return 0, errors.New("unknown")
	}
	return v, nil
}

// TestImpreciseSaysWhy: a session whose points are still imprecise says after how many runs, and what stopped it.
func TestImpreciseSaysWhy(t *testing.T) {
	text := "command: ['true']\nwarmup: 0\nbudget: 1ms\nrepeats: 10\nrel_error: 0.0001%\n"
	for name, c := range map[string]struct {
		more string // of the sweep
		stop func(x *session, cancel func())
		want Precision
	}{
		"max_time":    {stop: func(x *session, _ func()) { x.limits.maxTime, x.limits.began = 1, x.limits.began.Add(-1e9) }, want: Precision{Stopped: StopMaxTime}},
		"timeout":     {stop: func(x *session, _ func()) { x.limits.timeout = -1 }, want: Precision{Stopped: StopTimeout}},
		"interrupted": {stop: func(_ *session, cancel func()) { cancel() }, want: Precision{Stopped: StopInterrupted}},
		"max_repeats": {more: "max_repeats: 10\n", stop: func(*session, func()) {}, want: Precision{Repeats: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, runs := parse(t, text+c.more), 0
			var x *session
			x = newSession(ctx, s, Options{Observe: func(Event) {}, Extract: extractHere}, func(schema.Run) error {
				if runs++; runs == 3 {
					c.stop(x, cancel)
				}
				return nil
			})
			pool := valuetest.Must(task.New())
			defer pool.Close()
			watch := probe.Watch(x.assembler.env)
			defer watch.Close()
			x.launcher.pool, x.lanes = pool, []*lane{{watch: watch}}
			valuetest.OK(t, x.run(ctx))
			want := c.want
			want.Points, want.Imprecise, want.RelError = 1, 1, 1e-6
			if want.Repeats == 0 {
				want.Repeats = 3
			}
			got := x.result.Precision
			if got != nil {
				got.Reached, got.Needed = 0, 0 // of runs that really ran
			}
			if got == nil || *got != want {
				t.Errorf("precision %+v, want %+v", got, want)
			}
		})
	}
}

// conclusiveAt runs a sweep of the points a, b and c, which are one block, until they are settled: after so many repeats.
func conclusiveAt(t *testing.T, limit int, blocks map[string]int) (Result, []schema.Run, []Event) {
	t.Helper()
	inRepository(t, map[string]string{"run.sh": "exit 0\n"})
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := "variant: [a, b, c]\ncommand: [sh, run.sh, '{variant}']\nwarmup: 0\niterations: 1\nthresholds: {latency: 3%}\nrepeats: 2\n"
	s := valuetest.Must(sweep.Read("sweep.yaml", strings.NewReader(src), sweep.Overrides{Given: map[string]string{"max_repeats": strconv.Itoa(limit)}, Against: true, UntilConclusive: true}))
	names := map[string]string{}
	for i := range s.Points {
		names[s.Points[i].PointID] = s.Points[i].Variant
	}
	var runs []schema.Run
	var events []Event
	o := Options{
		Locks: t.TempDir(), Against: "HEAD", Observe: func(e Event) { events = append(events, e) },
		FindInconclusive: func(seen []schema.Run) map[string]string {
			valuetest.DeepEqual(t, len(seen), len(runs))
			has, open := map[string]int{}, map[string]string{}
			for i := range seen {
				r := &seen[i]
				if m := r.Metric(r.Primary); m == nil || m.Ticks != nil || m.Summary.LogMedian == nil || r.Env.Facts["runner.threshold.latency"] != "3%" {
					t.Errorf("run %d: %+v", i, r)
				}
				if has[r.PointID]++; has[r.PointID] < 2*blocks[names[r.PointID]] {
					open[r.PointID] = "noise"
				} else {
					delete(open, r.PointID)
				}
			}
			return open
		},
	}
	result := valuetest.Must(Run(t.Context(), s, o, func(r schema.Run) error { runs = append(runs, r); return nil }))
	return result, runs, events
}

// TestUntilConclusive: points that are settled at a look have no more runs, also where others of their block have; nothing has
// more than it may; and how often there was to be a look is known of every run.
func TestUntilConclusive(t *testing.T) {
	result, runs, events := conclusiveAt(t, 14, map[string]int{"a": 6, "b": 7, "c": 99})
	got := map[string]int{}
	repeats := map[string]bool{}
	for _, r := range runs {
		got[r.Variant]++
		valuetest.DeepEqual(t, r.Env.Facts["runner.looks"], "6,9,14", "looks")
		key := fmt.Sprint(r.PointID, r.Side, *r.RepeatIndex)
		if repeats[key] || int(*r.RepeatIndex) >= got[r.Variant] {
			t.Errorf("repeat %s", key)
		}
		repeats[key] = true
	}
	valuetest.DeepEqual(t, got, map[string]int{"a": 12, "b": 18, "c": 28}, "runs")
	if l := result.Look; l == nil || l.Number != 3 || l.Planned != 3 || l.Blocks != 14 || l.Points != 3 || l.Conclusive() != 2 || len(l.Inconclusive) != 1 {
		t.Errorf("%+v", l)
	}
	var looks []string
	launches, last := 0, Event{}
	for _, e := range events {
		switch {
		case e.Look != nil:
			looks = append(looks, fmt.Sprintf("%d after %d: %d of %d", e.Look.Number, e.Look.Blocks, e.Look.Conclusive(), e.Look.Points))
			launches = e.Index
		case e.Run != nil:
			last = e
			valuetest.DeepEqual(t, e.Launches, map[int]int{0: 36, 36: 48, 48: 58}[launches], "launch", e.Index)
		}
	}
	valuetest.DeepEqual(t, looks, []string{"1 after 6: 1 of 3", "2 after 9: 2 of 3", "3 after 14: 2 of 3"}, "looks")
	if last.Index != last.Launches-1 || last.Remaining < 0 || last.Remaining > time.Hour {
		t.Errorf("the last run is %d of %d, and %s are left", last.Index, last.Launches, last.Remaining)
	}
}

// TestConclusiveAtOnce: nothing runs after the first look where all is settled.
func TestConclusiveAtOnce(t *testing.T) {
	if result, runs, _ := conclusiveAt(t, 30, map[string]int{"a": 6, "b": 6, "c": 6}); len(runs) != 36 || len(result.Look.Inconclusive) != 0 || result.Look.Number != 1 || result.Look.Planned != 5 {
		t.Errorf("%d runs, %+v", len(runs), result.Look)
	}
}

// TestConclusiveIncomplete: a session that ends before its first look says of nothing that it is settled which was not run.
func TestConclusiveIncomplete(t *testing.T) {
	s := parse(t, "benchmark: [a, b]\ncommand: ['true', '{benchmark}']\n")
	s.Looks = []int{6, 9}
	x := &session{sweep: s, progress: progress{observe: func(Event) {}, estimate: &estimate{}}}
	x.assembler.sides = []side{{Side: prepare.Side{Name: "base"}}, {Side: prepare.Side{Name: "head"}}}
	x.options = Options{FindInconclusive: func([]schema.Run) map[string]string { return map[string]string{} }}
	for _, side := range []string{"base", "head"} {
		x.agenda.compared = append(x.agenda.compared, schema.Run{PointID: s.Points[0].PointID, Side: side, RepeatIndex: new(int64(0))})
	}
	x.agenda.compared = append(x.agenda.compared, schema.Run{PointID: s.Points[1].PointID, Side: "base", RepeatIndex: new(int64(0))})
	if open := x.findInconclusive(0); len(open) != 1 || open[s.Points[1].PointID] != "not run" || x.result.Look.Conclusive() != 1 {
		t.Errorf("open %v", open)
	}
	// Nobody waits for a control, which has more runs while others are waited for.
	s.Points[1].Control = true
	if open := x.findInconclusive(0); len(open) != 1 || x.result.Look.Points != 1 || len(x.result.Look.Inconclusive) != 0 {
		t.Errorf("open %v, %+v", open, x.result.Look)
	}
	s.Points[0].Control = true
	if x.findInconclusive(0); x.result.Look.Points != 2 || len(x.result.Look.Inconclusive) != 1 {
		t.Errorf("%+v", x.result.Look)
	}
}

// TestConclusiveNeedsSides: what cannot be settled is refused.
func TestConclusiveNeedsSides(t *testing.T) {
	s := parse(t, "command: ['true']\n")
	s.Looks = []int{6}
	_, err := Run(t.Context(), s, Options{Locks: t.TempDir()}, func(schema.Run) error { t.Error("it ran"); return nil })
	if want := "repeats until the comparison is conclusive: want a commit to compare with, and a function that finds open points"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
