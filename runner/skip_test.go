package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// skipSweep has a point that runs, and two that run where there is a GPU; their program is nowhere.
func skipSweep(t *testing.T, gpus string) *sweep.Sweep {
	t.Helper()
	m := valuetest.Must(expression.NewMachine(map[string]string{"gpu.count": gpus}, expression.FactSources{}))
	tool := map[string]string{"0": "nonexistent-program", "1": "echo"}[gpus]
	s := valuetest.Must(sweep.Read("skip.yaml", strings.NewReader(`
command: ["{tool}", "{n}"]
grid: {tool: "true", n: 1}
include: [{tool: `+tool+`, n: [2, 3]}]
iterations: 1
repeats: 2
skip_if: {when: n > 1 and gpu.count == 0, reason: no GPU}
`), sweep.Overrides{Facts: m}))
	return s
}

// TestSkipIf: points that are skipped are runs with the reason, once a session, whose programs need not be there; they are no
// failures, and another session with other facts runs them.
func TestSkipIf(t *testing.T) {
	k := &shelf{}
	result := k.bench(t, skipSweep(t, "0"), 0, nil)
	if result.Failed() != 0 || result.Statuses[schema.StatusSkipped] != 2 || result.Statuses[schema.StatusOK] != 2 {
		t.Fatalf("%v", result.Statuses)
	}
	for _, r := range k.runs[:2] {
		if r.Status != schema.StatusSkipped || r.ErrorKind != kindSkipIf || r.Error != "no GPU" || *r.RepeatIndex != 0 ||
			r.Params["n"] == "1" || r.Stage != "" || r.Metrics != nil || r.Env.Facts["runner.fact.gpu.count"] != "0" {
			t.Errorf("a skip is %s %s %q of %v, stage %q, facts %v", r.Status, r.ErrorKind, r.Error, r.Params, r.Stage, r.Env.Facts)
		}
	}
	for _, e := range k.events {
		if e.Run != nil && e.Launches != 4 {
			t.Errorf("%d launches, want 4", e.Launches)
		}
	}
}

// TestSkipResume: a session goes on from the skips of an earlier one, and a point that was skipped and now runs is missing.
func TestSkipResume(t *testing.T) {
	k := &shelf{}
	k.bench(t, skipSweep(t, "0"), 3, nil) // two skips and one run
	result := k.bench(t, skipSweep(t, "0"), 0, nil)
	if result.Plan.Done != 3 || result.Runs() != 1 || len(k.runs) != 4 {
		t.Errorf("done %d, then %d runs, %d in all", result.Plan.Done, result.Runs(), len(k.runs))
	}
	plan := k.bench(t, skipSweep(t, "1"), 0, func(o *Options) { o.DryRun = true }).Plan
	for _, p := range plan.Launches {
		if p.Done != nil && p.Done.Status == schema.StatusSkipped || p.Launch.Point.Skip != nil {
			t.Errorf("where there is a GPU, %v is skipped", p.Launch.Point.Params)
		}
	}
	all := k.bench(t, skipSweep(t, "0"), 0, nil) // all is done: it begins anew
	if all.Runs() != 4 || all.Statuses[schema.StatusSkipped] != 2 {
		t.Errorf("again: %v", all.Statuses)
	}
}

// TestSkipLooksForNothing: of a point that is skipped no interpreter is asked, no file is read and nothing is built.
func TestSkipLooksForNothing(t *testing.T) {
	dir := t.TempDir()
	marker, python := filepath.Join(dir, "marker"), filepath.Join(dir, "python")
	valuetest.OK(t, os.WriteFile(python, []byte("#!/bin/sh\ntouch "+marker+"\nexit 1\n"), 0o700))
	k := &shelf{}
	s := parse(t, "file: nowhere.py\npython: "+python+"\nbuild: [touch, "+marker+"]\nskip_if: {when: true, reason: none}\n")
	if result := k.bench(t, s, 0, nil); result.Statuses[schema.StatusSkipped] != 1 {
		t.Errorf("%+v", result.Statuses)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("something of a point that is skipped was run")
	}
}

// TestSkipAll: where every point is skipped, nothing is launched and nothing has failed.
func TestSkipAll(t *testing.T) {
	k := &shelf{}
	s := parse(t, "command: [nonexistent-program, '{n}']\ngrid: {n: [1, 2]}\nskip_if: {when: true, reason: none}\n")
	result := k.bench(t, s, 0, nil)
	if result.Runs() != 2 || result.Failed() != 0 || result.Measured() != 0 || result.Plan.Expected != 0 {
		t.Errorf("%+v", result)
	}
}

// TestUnsupportedByText: a point whose function does not take its axis is a run with that reason, and nothing is launched. A session that
// continues has it already.
func TestUnsupportedByText(t *testing.T) {
	path := valuetest.Python(t, "os", "os")
	text := "benchmarks: {a: {file: a.py}, b: {file: b.py}}\npython: " + path + "\ngrid: {n: [1, 2]}\nwarmup: 0\niterations: 1\nrepeats: 2\nprofile: torch\n"
	t.Chdir(t.TempDir())
	writeFiles(t, map[string]string{
		"a.py": "def run_benchmark(n): open('calls.txt', 'a').write('a')\n", "b.py": "def run_benchmark(): open('calls.txt', 'a').write('b')\n",
	})
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(text), sweep.Overrides{Files: os.DirFS(".")}))
	k := &shelf{}
	result := k.bench(t, s, 5, nil)
	for _, r := range k.runs {
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
		if unsupported := r.Benchmark == "b" && r.Params["n"] != ""; unsupported != (r.Status == schema.StatusUnsupported) || unsupported &&
			(r.ErrorKind != kindNotApplied || r.Stage != schema.StageSetup || r.Error != "run_benchmark takes no parameter n: it takes none" || r.Params["n"] != "2") {
			t.Errorf("%s n=%s: %s %s in %q: %s", r.Benchmark, r.Params["n"], r.Status, r.ErrorKind, r.Stage, r.Error)
		}
	}
	if result.Failed() != 0 || result.Statuses[schema.StatusUnsupported] != 1 {
		t.Errorf("%v", result.Statuses)
	}
	plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
	if plan.Done != 5 || len(plan.Launches) != 10 { // one that is unsupported, six measured, three passes
		t.Errorf("%d of %d done", plan.Done, len(plan.Launches))
	}
	valuetest.DeepEqual(t, strings.Trim(string(valuetest.Must(os.ReadFile("calls.txt"))), "ab"), "", "calls")
}
