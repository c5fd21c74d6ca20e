package runner

import (
	"context"
	"testing"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// TestRepeatsUntilPrecise: with rel_error a point that is not precise enough has more runs than repeats, up to
// max_repeats. One that never ran well has none.
func TestRepeatsUntilPrecise(t *testing.T) {
	s := parse(t, "benchmark: ['true', 'false']\ncommand: ['{benchmark}']\nwarmup: 0\nrepeats: 2\nrel_error: 0.0001%\nmax_repeats: 4\nbudget: 1ms\n")
	repeats := map[string][]int64{}
	result, err := Run(t.Context(), s, Options{Locks: t.TempDir()}, func(r schema.Run) error {
		repeats[r.Benchmark] = append(repeats[r.Benchmark], *r.RepeatIndex)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for benchmark, want := range map[string]int{"true": 4, "false": 2} {
		for i, repeat := range repeats[benchmark] {
			if repeat != int64(i) {
				t.Errorf("run %d of %s is repeat %d", i, benchmark, repeat)
			}
		}
		if len(repeats[benchmark]) != want {
			t.Errorf("%s: %d runs, want %d", benchmark, len(repeats[benchmark]), want)
		}
	}
	if result.Runs() != 6 || result.Left != 0 {
		t.Errorf("%+v", result)
	}
	if got := result.Precision; got == nil || *got != (Precision{Points: 1, Imprecise: 1, RelError: 1e-6, Repeats: 4}) {
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
		if got := x.imprecise(p); got != c.want {
			t.Errorf("%s: imprecise %v", name, got)
		}
	}
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
			pool, err := task.New()
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			watch := probe.Watch(x.assembler.env)
			defer watch.Close()
			x.launcher.pool, x.launcher.watch = pool, watch
			if err := x.run(ctx); err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.Points, want.Imprecise, want.RelError = 1, 1, 1e-6
			if want.Repeats == 0 {
				want.Repeats = 3
			}
			if got := x.result.Precision; got == nil || *got != want {
				t.Errorf("precision %+v, want %+v", got, want)
			}
		})
	}
}
