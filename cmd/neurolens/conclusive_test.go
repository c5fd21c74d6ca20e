//go:build linux

package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestConclusiveSession: a session of real processes whose measurements are given: clear changes and
// clearly unchanged points have a verdict at the first look, noisy points never.
func TestConclusiveSession(t *testing.T) {
	programtest.NeedsLong(t)
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "run.sh", "exit 0\n")
	programtest.Repository(t, dir)
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := "benchmark: [slower, same, noisy]\ncommand: [sh, run.sh, '{benchmark}']\nwarmup: 0\niterations: 1\n"
	s := valuetest.Must(sweep.Read("sweep.yaml", strings.NewReader(src), sweep.Overrides{Given: map[string]string{"max_repeats": "9"}, Against: true, UntilConclusive: true}))
	names := map[string]string{}
	for i := range s.Points {
		names[s.Points[i].PointID] = s.Points[i].Benchmark
	}
	measured := func(r *schema.Run) float64 {
		wobble := []float64{0, .004, -.003, .002, -.005, .003, .001, -.002, .005}[*r.RepeatIndex]
		switch head := r.Side == "head"; {
		case names[r.PointID] == "noisy" && head:
			return 1 + 40*wobble
		case names[r.PointID] == "slower" && head:
			return 1.2 - wobble
		}
		return 1 + wobble/2
	}
	got := map[string]int{}
	options := runner.Options{
		Locks: t.TempDir(), Against: "HEAD",
		FindInconclusive: func(runs []schema.Run) map[string]string {
			for i := range runs {
				r := &runs[i]
				value := 1e6 * measured(r)
				r.Metrics[0].Summary.P50, r.Metrics[0].Summary.LogMedian = &value, new(math.Log(value))
				r.Warnings = nil
			}
			return views.InconclusivePoints(runs)
		},
	}
	result := valuetest.Must(runner.Run(t.Context(), s, options, func(r schema.Run) error {
		if got[r.Benchmark]++; r.Status != schema.StatusOK {
			return fmt.Errorf("a run of %s is %s in %s: %s", r.Benchmark, r.Status, r.Stage, r.Error)
		}
		return nil
	}))
	if got["slower"] != 12 || got["same"] != 12 || got["noisy"] != 18 {
		t.Errorf("runs %v", got)
	}
	if l := result.Look; l.Points != 3 || l.Blocks != 9 || !slices.Equal(slices.Collect(maps.Values(l.Inconclusive)), []string{"noise"}) {
		t.Errorf("the last look is %+v", l)
	}
}

// TestUntilConclusive: a point that stays inconclusive, because its head hardly ever runs, gets as many runs as allowed; one
// with a huge threshold gets the fewest. Every statement about the session accounts for its looks.
func TestUntilConclusive(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir, cache := t.TempDir(), t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", fmt.Sprintf(`suite: until
benchmark: [steady, rare]
command: [sh, run.sh, '{benchmark}']
env: {COUNT: %q}
warmup: 0
iterations: 1
thresholds: {latency: {abs: 1000 s}}
`, filepath.Join(cache, "count")))
	programtest.WriteFile(t, dir, "run.sh", "exit 0\n")
	programtest.WriteFile(t, dir, ".gitignore", "runs_store/\n")
	programtest.Repository(t, dir)
	programtest.WriteFile(t, dir, "run.sh", "[ $1 = steady ] && exit 0\necho >>$COUNT\n[ $(wc -l <$COUNT) -le 3 ]\n") // two runs, and the process that shows which files it reads
	bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "main", "--until-conclusive", "--max-repeats", "9", "--format", "table")
	bench.Env = append(bench.Env, "XDG_CACHE_HOME="+cache)
	if err := bench.Run(); err == nil || bench.ProcessState.ExitCode() != 4 {
		t.Fatalf("%v\n%s%s", err, bench.Printed.String(), bench.Messages.String())
	}
	for _, want := range []string{
		"2 points × 6 to 9 repeats × 2 sides, 24 runs", "look 1 of 2 after 6 blocks: 1 of 2 points has a verdict\n", "\n30/30 ",
		"look 2 of 2 after 9 blocks: 1 of 2 points has a verdict\n1 of 2 points is still inconclusive after 9 blocks: few_runs\n",
	} {
		valuetest.Contains(t, bench.Messages.String(), want, "no")
	}
	valuetest.Contains(t, bench.Printed.String(), "\nsteady: head is as good as base: ", "no")
	if want := "\n2 points, 30 runs\n1 of 2 points is still inconclusive after 9 blocks: few_runs\n"; !strings.Contains(bench.Printed.String(), want) {
		t.Errorf("no %q in\n%s", want, bench.Printed.String())
	}
	got := rows(t, dir, "SELECT benchmark, side, count(*), count(*) FILTER (status = 'ok'), any_value(env['runner.looks']) FROM runs GROUP BY ALL ORDER BY ALL")
	valuetest.Equal(t, got, "[rare base 9 9 6,9] [rare head 9 2 6,9] [steady base 6 6 6,9] [steady head 6 6 6,9]")
	compare := programtest.Program(t, dir, "compare", "session=last", "--all", "--gate", "--format", "table")
	_ = compare.Run()
	for _, want := range []string{
		"looked at up to 2 times during measurement: intervals have, and a change needs, a confidence of 97.5 % instead of 95 %", " 97.5 % ", "steady .* unchanged", `gate: .*\(exit 1, looked at up to 2 times, corrected\)`,
	} {
		if !regexp.MustCompile(want).MatchString(strings.Join(strings.Fields(compare.Printed.String()), " ")) {
			t.Errorf("no %q in\n%s%s", want, compare.Printed.String(), compare.Messages.String())
		}
	}
	plan := programtest.Program(t, dir, "bench", "sweep.yaml", "--against", "main", "--until-conclusive", "--dry-run", "--format", "table")
	plan.Env = append(plan.Env, "XDG_CACHE_HOME="+cache)
	if plan.MustRun(t); !strings.Contains(plan.Printed.String(), "24 runs (6 repeats each), 24 to run") || !strings.Contains(plan.Printed.String(), "at most 120 runs, if no point gets a verdict earlier") {
		t.Error(plan.Printed.String())
	}
}
