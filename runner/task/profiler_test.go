package task

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Profilers as shell scripts, with the folder as their first argument and the program behind it. The first one leaves an agent, which ends
// with no signal but SIGKILL, and a file in its temporary folder.
const (
	profiles = daemon + `
folder=$1; shift
"$@"
touch "$TMPDIR/lock"
echo "$TMPDIR" >"$folder/report"
exit 7`
	profilesUntilInterrupted = daemon + `
folder=$1; shift
trap 'kill -9 $child; echo half >"$folder/report"; exit 0' INT
"$@" &
child=$!
wait $child`
	ignoresInterrupt = `trap '' INT; shift; "$@"; exec sleep 600`
)

// profiled returns a specification whose program is started by a script, and a function that returns the report, without the path of the
// folder.
func profiled(t *testing.T, spec Spec, script string) (Spec, func() string) {
	report := ""
	spec.Profile, spec.Deadlines.Profile = true, time.Minute
	spec.Profiler = &Profiler{
		Args:  func(folder string) []string { return []string{"/bin/sh", "-c", script, "profiler", folder} },
		Env:   []string{"PROFILED=yes"},
		Grace: 10 * time.Second,
	}
	spec.Leave = func(left Left) {
		text, err := os.ReadFile(filepath.Join(left.Profiler, "report"))
		if err != nil {
			report = ""
			return
		}
		report = string(text)
		if rest, err := filepath.Rel(left.Profiler, report); err == nil {
			report = rest
		}
	}
	return spec, func() string { return report }
}

// TestProfiler: a profiler starts what is measured, has a temporary folder of its own, and its exit status and the processes that it leaves
// say nothing about the run.
func TestProfiler(t *testing.T) {
	for name, spec := range map[string]Spec{
		"worker": program(t, "profile"), "builtin": builtin("ok"), "command": commandSpec("sh", "-c", `[ "$PROFILED" = yes ]`),
	} {
		spec, report := profiled(t, spec, profiles)
		o := runOK(t, spec)
		valuetest.DeepEqual(t, report(), "tmp\n", name)
		if slices.Contains(o.Warnings, WarnLeftRunning) || o.Facts["runner.left_running"] != "" {
			t.Errorf("%s: warnings %v, facts %v", name, o.Warnings, o.Facts)
		}
		if o.Stages.Profile == nil || o.Stages.Measure != nil || o.ExitCode != nil {
			t.Errorf("%s: stages %+v, exit code %v", name, o.Stages, o.ExitCode)
		}
		if name == "command" && o.Facts[FactProfiled] != "1" {
			t.Errorf("facts %v", o.Facts)
		}
	}
}

// TestProfilerWarmUp: the warm-up of a command runs without its profiler.
func TestProfilerWarmUp(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	spec := commandSpec("sh", "-c", `echo "${1}" >>`+count, "x", "plain")
	spec.Warmup, spec.Iterations = 2, 1
	spec, _ = profiled(t, spec, `echo profiler >>`+count+`; `+profiles)
	runOK(t, spec)
	valuetest.DeepEqual(t, string(valuetest.Must(os.ReadFile(count))), "plain\nplain\nprofiler\nplain\n")
}

// TestProfilerDeadline: a profiler that a deadline interrupts may write its report, and is killed if it takes too long. Neither it nor its
// program, nor a file of them, is left.
func TestProfilerDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		spec         Spec
		script, want string
	}{
		"worker":      {program(t, "hang in profile"), profilesUntilInterrupted, "half\n"},
		"builtin":     {builtin("hang"), profilesUntilInterrupted, "half\n"},
		"command":     {shell("sleep 600"), profilesUntilInterrupted, "half\n"},
		"it lingers":  {shell("sleep 600"), ignoresInterrupt, ""},
		"after a run": {program(t, "profile"), ignoresInterrupt, ""},
	} {
		spec, report := profiled(t, c.spec, c.script)
		spec.Deadlines.Profile = 300 * time.Millisecond
		if c.want == "" {
			spec.Profiler.Grace = 100 * time.Millisecond
		}
		o := untilItHangs(&spec.Deadlines.Profile, func() (Outcome, bool) {
			return runSpec(t, t.Context(), spec, nil), report() == c.want
		})
		check(t, o, schema.StatusTimeout, schema.StageProfile, "timeout")
		valuetest.DeepEqual(t, report(), c.want, name)
	}
}

// TestProfilerCancelled: a user who cancels a run does not wait for the report of its profiler.
func TestProfilerCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	spec, _ := profiled(t, shell("sleep 600"), ignoresInterrupt)
	spec.Deadlines.Profile, spec.Profiler.Grace = 100*time.Millisecond, time.Hour
	time.AfterFunc(time.Second, cancel) // while the profiler writes its report, or else before
	o := runSpec(t, ctx, spec, nil)
	if o.Status != schema.StatusTimeout && o.Status != schema.StatusCancelled {
		t.Errorf("%s: %s", o.Status, o.Error)
	}
}
