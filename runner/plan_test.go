package runner

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// launchesOf are two repeats of two points.
func launchesOf(t *testing.T) (*sweep.Sweep, []sweep.Launch) {
	t.Helper()
	s, err := sweep.Parse("x.yaml", []byte("command: [echo, '{n}']\ngrid: {n: [1, 2]}\nrepeats: 2\n"), sweep.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Launches(sweep.LaunchOptions{})
}

var here = map[string]string{"machine": "lab3", "git_commit": "abc"}

// doneRun is a run that an earlier session has of a launch.
func doneRun(l sweep.Launch, session string, edit func(*schema.Run)) schema.Run {
	r := schema.Run{
		SessionID: session, PointID: l.Point.PointID, RepeatIndex: new(int64(l.Repeat)), Status: schema.StatusOK,
		Stages: schema.Stages{Setup: new(int64(1e9)), Measure: new(int64(2e9))},
		Env:    schema.Env{Machine: here["machine"], GitCommit: here["git_commit"], Facts: map[string]string{}},
	}
	if edit != nil {
		edit(&r)
	}
	return r
}

// reasons are why launches run, in order; a launch that is done has none.
func reasons(p Plan) string {
	var all []string
	for _, l := range p.Launches {
		if l.Done != nil {
			all = append(all, "done")
		} else {
			all = append(all, l.Reason)
		}
	}
	return strings.Join(all, "; ")
}

func TestPlan(t *testing.T) {
	_, launches := launchesOf(t)
	status := func(s schema.Status) func(*schema.Run) { return func(r *schema.Run) { r.Status = s } }
	older := func(r *schema.Run) { r.Env.GitCommit = "old" }
	all := func(edit func(*schema.Run)) []schema.Run {
		var runs []schema.Run
		for _, l := range launches {
			runs = append(runs, doneRun(l, "A", edit))
		}
		return runs
	}
	for name, c := range map[string]struct {
		done    []schema.Run
		rerun   Rerun
		want    string
		resumes string
		changes string
	}{
		"nothing is there": {nil, "", "missing; missing; missing; missing", "", "[]"},
		"what is there does not run again": {
			[]schema.Run{doneRun(launches[2], "A", nil)}, "", "missing; missing; done; missing", "A", "[]",
		},
		"a finished sweep runs again": {
			all(nil), "", "all are there; all are there; all are there; all are there", "", "[]",
		},
		"a failure is a run": {
			[]schema.Run{doneRun(launches[0], "A", status(schema.StatusTimeout))}, "", "done; missing; missing; missing", "A", "[]",
		},
		"failures run again if asked": {
			[]schema.Run{doneRun(launches[0], "A", status(schema.StatusTimeout)), doneRun(launches[1], "A", nil)},
			RerunFailed,
			"failed; done; missing; missing", "A", "[]",
		},
		"of a finished sweep the failures alone run again": {
			append([]schema.Run{doneRun(launches[0], "B", status(schema.StatusCrashed))}, all(nil)...), RerunFailed,
			"failed; done; done; done", "B", "[]",
		},
		"what was cut short is not done": {
			[]schema.Run{
				doneRun(launches[0], "A", status(schema.StatusCancelled)), doneRun(launches[1], "A", status(schema.StatusLost)),
				doneRun(launches[2], "A", status(schema.StatusSkipped)), doneRun(launches[3], "A", nil),
			}, "", "missing; missing; missing; done", "A", "[]",
		},
		"other code is another run": {
			[]schema.Run{doneRun(launches[0], "A", older), doneRun(launches[1], "A", nil)},
			"",
			"changed: git_commit; done; missing; missing", "A", "[{git_commit old abc 1}]",
		},
		"a finished sweep of other code is no news": {
			all(older), "", strings.TrimSuffix(strings.Repeat("changed: git_commit; ", 4), "; "), "", "[]",
		},
		"an unfinished one is": {
			all(older)[:3], "", "changed: git_commit; changed: git_commit; changed: git_commit; missing", "", "[{git_commit old abc 3}]",
		},
		"the newest run of a launch counts": {
			[]schema.Run{doneRun(launches[0], "B", older), doneRun(launches[0], "A", nil)},
			"",
			"changed: git_commit; missing; missing; missing", "", "[{git_commit old abc 1}]",
		},
		"all": {all(nil)[:3], RerunAll, "missing; missing; missing; missing", "", "[]"},
		"a pass of a profiler is not the measurement": {
			[]schema.Run{doneRun(launches[0], "A", func(r *schema.Run) { r.Env.Facts[factProfile] = "ort" })},
			"",
			"missing; missing; missing; missing", "", "[]",
		},
	} {
		identity := func(sweep.Launch) map[string]string {
			return identityOf(new(doneRun(launches[0], "", nil)))
		}
		p := makePlan(launches, identity, c.done, c.rerun)
		if got := reasons(p); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if p.Resumes != c.resumes || fmt.Sprint(p.Changes) != c.changes {
			t.Errorf("%s: resumes %q, changes %v; want %q, %s", name, p.Resumes, p.Changes, c.resumes, c.changes)
		}
		if p.Done != strings.Count(c.want, "done") {
			t.Errorf("%s: %d done of %s", name, p.Done, c.want)
		}
	}
}

// TestIdentity: each of these keeps a run from counting, and says its name.
func TestIdentity(t *testing.T) {
	_, launches := launchesOf(t)
	before := doneRun(launches[0], "A", nil)
	for what, edit := range map[string]func(*schema.Run){
		"machine":                func(r *schema.Run) { r.Env.Machine = "lab4" },
		"driver_version":         func(r *schema.Run) { r.Env.DriverVersion = "575" },
		"git_commit":             func(r *schema.Run) { r.Env.GitCommit = "def" },
		"git.tree":               func(r *schema.Run) { r.Env.Facts["git.tree"] = "1" },
		"model_sha256":           func(r *schema.Run) { r.ModelSHA256 = "2" },
		"benchmark.sha256":       func(r *schema.Run) { r.Env.Facts["benchmark.sha256"] = "3" },
		"command.sha256":         func(r *schema.Run) { r.Env.Facts["command.sha256"] = "4" },
		"python_version":         func(r *schema.Run) { r.Env.PythonVersion = "3.12" },
		"python.installed.torch": func(r *schema.Run) { r.Env.Facts["python.installed.torch"] = "2.16" },
		"runner.config_sha256":   func(r *schema.Run) { r.Env.Facts["runner.config_sha256"] = "5" },
		"backend_version":        func(r *schema.Run) { r.Executor, r.BackendVersion = schema.ExecutorBuiltin, "2" },
	} {
		after := before
		after.Env.Facts = maps.Clone(before.Env.Facts)
		edit(&after)
		if got := differences(identityOf(&before), identityOf(&after)); len(got) != 1 || got[0].What != what {
			t.Errorf("after a change of %s: %v", what, got)
		}
	}
}

func TestEstimate(t *testing.T) {
	_, launches := launchesOf(t)
	plan := makePlan(launches, func(sweep.Launch) map[string]string { return nil }, nil, "")
	e := newEstimate(plan)
	if e.remaining() != 0 {
		t.Errorf("%s before anything was measured", e.remaining())
	}
	step := func(i int, took, want time.Duration) {
		t.Helper()
		e.measure(subjectOf(launches[i]), took)
		e.done(subjectOf(launches[i]))
		if got := e.remaining(); got != want {
			t.Errorf("after launch %d: %s left, want %s", i, got, want)
		}
	}
	step(0, 2*time.Second, 6*time.Second)   // three more like it
	step(1, 10*time.Second, 12*time.Second) // one of 2 s, one of 10 s
	step(2, 4*time.Second, 10*time.Second)
	step(3, 2*time.Second, 0)
	e.add(subjectOf(launches[1]))
	if got := e.remaining(); got != 6*time.Second {
		t.Errorf("another launch of the second point: %s left, want 6s", got)
	}
}

func TestEstimateFromEarlierSessions(t *testing.T) {
	_, launches := launchesOf(t)
	done := doneRun(launches[0], "A", nil)
	identity := identityOf(&done)
	plan := makePlan(launches, func(sweep.Launch) map[string]string { return identity }, []schema.Run{done}, "")
	if got := newEstimate(plan).remaining(); got != 9*time.Second {
		t.Errorf("%s left, want three launches of 3 s", got)
	}
}

func TestLarger(t *testing.T) {
	parse := func(src string) *sweep.Point {
		s, err := sweep.Parse("x.yaml", []byte("command: [echo, '{bs}', '{a}']\n"+src), sweep.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return &s.Points[0]
	}
	failed := parse("grid: {bs: 8, a: 64}")
	for src, want := range map[string]bool{
		"grid: {bs: 16, a: 64}":                   true,
		"grid: {bs: 16, a: 128}":                  true,
		"grid: {bs: 8, a: 64}":                    false, // it has its own launches
		"grid: {bs: 16, a: 32}":                   false,
		"grid: {bs: 4, a: 64}":                    false,
		"grid: {bs: 16, a: x}":                    false,
		"grid: {bs: 16, a: 64}\nbenchmark: other": false,
	} {
		if got := larger(parse(src), failed); got != want {
			t.Errorf("%s larger than bs=8 a=64: %v", src, got)
		}
	}
}
