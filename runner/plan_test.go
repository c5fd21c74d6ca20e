package runner

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// launchesOf returns two repeats of two points.
func launchesOf(t *testing.T) (*sweep.Sweep, []sweep.Launch) {
	t.Helper()
	s := valuetest.Must(sweep.Read("x.yaml", strings.NewReader("command: [echo, '{n}']\ngrid: {n: [1, 2]}\nrepeats: 2\n"), sweep.Overrides{}))
	return s, s.Launches(sweep.LaunchOptions{})
}

var here = map[string]string{"machine": "lab3", "git_commit": "abc"}

// doneRun returns a run that an earlier session has of a launch.
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

// reasons returns why launches run, in order; a launch that is done has none.
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

// planned returns the plan of launches, all of which have the identity of doneRun.
func planned(launches []sweep.Launch, done []schema.Run, r rules) Plan {
	r.identify = identityOf
	identity := identityOf(new(doneRun(launches[0], "", nil)))
	r.identity, r.points = func(sweep.Launch) map[string]string { return identity }, "these"
	past := findPast(done, launches, r)
	plan := past.plan(launches)
	plan.resume(past, len(launches))
	return plan
}

func TestPlan(t *testing.T) {
	_, launches := launchesOf(t)
	status := func(s schema.Status) func(*schema.Run) { return func(r *schema.Run) { r.Status = s } }
	skipped := func(kind string) func(*schema.Run) {
		return func(r *schema.Run) { r.Status, r.ErrorKind = schema.StatusSkipped, kind }
	}
	older := func(r *schema.Run) { r.Env.GitCommit = "old" }
	resumes := func(session string, edit func(*schema.Run)) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Resumes = session
			if edit != nil {
				edit(r)
			}
		}
	}
	all := func(edit func(*schema.Run)) []schema.Run {
		var runs []schema.Run
		for _, l := range launches {
			runs = append(runs, doneRun(l, "A", edit))
		}
		return runs
	}
	for name, c := range map[string]struct {
		done    []schema.Run
		rules   rules
		want    string
		resumes string
		changes string
	}{
		"nothing is there": {nil, rules{}, "not measured yet; not measured yet; not measured yet; not measured yet", "", "[]"},
		"what is there does not run again": {
			[]schema.Run{doneRun(launches[2], "A", nil)}, rules{}, "not measured yet; not measured yet; done; not measured yet", "A", "[]",
		},
		"a finished sweep runs again": {
			all(nil), rules{}, "complete: measured again; complete: measured again; complete: measured again; complete: measured again", "", "[]",
		},
		"a failure is a run": {
			[]schema.Run{doneRun(launches[0], "A", status(schema.StatusTimeout))},
			rules{},
			"done; not measured yet; not measured yet; not measured yet", "A", "[]",
		},
		"failures run again if asked": {
			[]schema.Run{doneRun(launches[0], "A", status(schema.StatusTimeout)), doneRun(launches[1], "A", nil)},
			rules{rerun: RerunFailed},
			"failed before; done; not measured yet; not measured yet", "A", "[]",
		},
		"of a finished sweep the failures alone run again": {
			append([]schema.Run{doneRun(launches[0], "B", resumes("A", status(schema.StatusCrashed)))}, all(nil)...),
			rules{rerun: RerunFailed},
			"failed before; done; done; done", "B", "[]",
		},
		"without failures nothing does": {all(nil), rules{rerun: RerunFailed}, "done; done; done; done", "A", "[]"},
		"what was cut short is not done": {
			[]schema.Run{
				doneRun(launches[0], "A", status(schema.StatusCancelled)), doneRun(launches[1], "A", status(schema.StatusLost)),
				doneRun(launches[2], "A", skipped(kindSuiteTimeout)), doneRun(launches[3], "A", nil),
			}, rules{}, "not measured yet; not measured yet; not measured yet; done", "A", "[]",
		},
		"what an out-of-memory skipped is done": {
			append([]schema.Run{doneRun(launches[1], "B", resumes("A", skipped(kindAfterOOM)))}, all(nil)[2:]...),
			rules{},
			"not measured yet; done; done; done", "B", "[]",
		},
		"and is not where it is to run": {
			append([]schema.Run{doneRun(launches[1], "B", resumes("A", skipped(kindAfterOOM)))}, all(nil)[2:]...),
			rules{larger: true},
			"not measured yet; not measured yet; done; done", "B", "[]",
		},
		"it runs again with what ran out of memory": {
			append([]schema.Run{doneRun(launches[1], "B", resumes("A", skipped(kindAfterOOM)))}, all(nil)[2:]...),
			rules{rerun: RerunFailed},
			"not measured yet; failed before; done; done", "B", "[]",
		},
		"other code is another run": {
			[]schema.Run{doneRun(launches[0], "A", older), doneRun(launches[1], "A", nil)},
			rules{},
			"changed: git_commit; done; not measured yet; not measured yet", "A", "[{git_commit old abc  1}]",
		},
		"a finished sweep of other code is no news": {
			all(older), rules{}, strings.TrimSuffix(strings.Repeat("changed: git_commit; ", 4), "; "), "", "[]",
		},
		"an unfinished one is": {
			all(older)[:3],
			rules{},
			"changed: git_commit; changed: git_commit; changed: git_commit; not measured yet", "", "[{git_commit old abc  3}]",
		},
		"an older run of a launch counts if it is of this code": {
			[]schema.Run{
				doneRun(launches[0], "B", resumes("A", older)), doneRun(launches[0], "A", nil), doneRun(launches[1], "A", nil),
			},
			rules{},
			"done; done; not measured yet; not measured yet", "B", "[]",
		},
		"a pass of a profiler is not the measurement": {
			[]schema.Run{doneRun(launches[0], "A", func(r *schema.Run) { r.Env.Facts[schema.FactProfile] = "ort" })},
			rules{},
			"not measured yet; not measured yet; not measured yet; not measured yet", "", "[]",
		},
	} {
		p := planned(launches, c.done, c.rules)
		valuetest.DeepEqual(t, reasons(p), c.want, name)
		if p.Resumes != c.resumes || fmt.Sprint(p.Changes) != c.changes {
			t.Errorf("%s: resumes %q, changes %v; want %q, %s", name, p.Resumes, p.Changes, c.resumes, c.changes)
		}
		valuetest.DeepEqual(t, p.Done, strings.Count(c.want, "done"), name, c.want)
	}
}

func TestEstimate(t *testing.T) {
	_, launches := launchesOf(t)
	e := newEstimate(planned(launches, nil, rules{}))
	valuetest.DeepEqual(t, e.remaining(), 0)
	step := func(i int, took, want time.Duration) {
		t.Helper()
		e.measure(subjectOf(launches[i]), took)
		e.done(subjectOf(launches[i]))
		valuetest.DeepEqual(t, e.remaining(), want, "after launch", i)
	}
	step(0, 2*time.Second, 6*time.Second)   // three more like it
	step(1, 10*time.Second, 12*time.Second) // one of 2 s, one of 10 s
	step(2, 4*time.Second, 10*time.Second)
	step(3, 2*time.Second, 0)
	e.add(subjectOf(launches[1]))
	valuetest.DeepEqual(t, e.remaining(), 6*time.Second, "another launch of the second point")
}

func TestEstimateFromEarlierSessions(t *testing.T) {
	_, launches := launchesOf(t)
	skipped := doneRun(launches[1], "A", func(r *schema.Run) {
		r.Status, r.ErrorKind, r.Stages = schema.StatusSkipped, kindAfterOOM, schema.Stages{}
	})
	for want, done := range map[time.Duration][]schema.Run{
		9 * time.Second: {doneRun(launches[0], "A", nil)},
		6 * time.Second: {doneRun(launches[0], "A", nil), skipped},
	} {
		valuetest.DeepEqual(t, newEstimate(planned(launches, done, rules{})).remaining(), want)
	}
}

// TestWhyAnew: where earlier runs do not count, the reason is what was asked for.
func TestWhyAnew(t *testing.T) {
	inRepository(t, map[string]string{"run.sh": "exit 0\n"})
	k, s := &shelf{}, parse(t, "command: [sh, run.sh]\nrepeats: 1\nwarmup: 0\niterations: 1\n")
	k.bench(t, s, 0, nil)
	for want, ask := range map[string]func(*Options){
		"--rerun all":                         func(o *Options) { o.Rerun = RerunAll },
		"--against starts from the beginning": func(o *Options) { o.Against = "HEAD" },
	} {
		plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true; ask(o) }).Plan
		valuetest.DeepEqual(t, plan.Launches[0].Reason, want)
	}
}

// TestSecretNames: variants and parameters that hold what looks like a secret are named without it.
func TestSecretNames(t *testing.T) {
	t.Setenv("SERVICE_PASSWORD", "correct-horse-battery")
	s := parse(t, "command: [sh, -c, 'true {api-key} {n} {text}']\ngrid: {api-key: [abcdefgh], n: [1, 2], text: ['a correct-horse-battery', b]}\nrepeats: 1\n")
	valuetest.DeepEqual(t, secretNames(s.Launches(sweep.LaunchOptions{})), []string{"api-key=<hidden>", "text=a <hidden>"})
}

// TestPast: which of the earlier sessions is gone on from. Each is written as its name, the session that it resumes, the
// launches that it has, and whether its points are others and its code is older.
func TestPast(t *testing.T) {
	_, launches := launchesOf(t)
	type session struct {
		name, resumes string
		launches      []int
		others, older bool
	}
	elsewhere := launches[0]
	elsewhere.Repeat = 7
	for name, c := range map[string]struct {
		sessions []session
		want     string
		done     string
	}{
		"a variation of other points": {
			[]session{{"C", "", []int{-1}, true, false}, {"A", "", []int{0, 1}, false, false}}, "A", "done; done; not measured yet; not measured yet",
		},
		"a variation that has a point in common": {
			[]session{{"C", "", []int{0}, true, false}, {"A", "", []int{0, 1}, false, false}}, "A", "done; done; not measured yet; not measured yet",
		},
		"the newest of the same points": {
			[]session{{"B", "", []int{3}, false, false}, {"A", "", []int{0, 1}, false, false}}, "B", "not measured yet; not measured yet; not measured yet; done",
		},
		"some of the points, where there is no better": {
			[]session{{"C", "", []int{0}, true, false}}, "C", "done; not measured yet; not measured yet; not measured yet",
		},
		"an older one whose runs count": {
			[]session{{"B", "", []int{3}, false, true}, {"A", "", []int{0}, false, false}}, "A", "done; not measured yet; not measured yet; not measured yet",
		},
		"some of the points of this code before all of other code": {
			[]session{{"B", "", []int{3}, false, true}, {"A", "", []int{0}, true, false}}, "A", "done; not measured yet; not measured yet; not measured yet",
		},
		"with those that it went on from": {
			[]session{{"B", "A", []int{3}, false, false}, {"A", "", []int{0}, false, false}}, "B", "done; not measured yet; not measured yet; done",
		},
		"that two went on from": {
			[]session{{"C", "A", []int{2}, false, false}, {"B", "A", []int{3}, false, false}, {"A", "", []int{0}, false, false}},
			"C", "done; not measured yet; done; not measured yet",
		},
		"one that a variation went on from": {
			[]session{{"C", "B", []int{2}, true, false}, {"B", "", []int{0}, false, false}, {"A", "", []int{0, 1, 2, 3}, false, false}},
			"B", "done; not measured yet; not measured yet; not measured yet",
		},
		"in a circle": {
			[]session{{"B", "A", []int{3}, false, false}, {"A", "B", []int{0}, false, false}}, "B", "done; not measured yet; not measured yet; done",
		},
	} {
		var done []schema.Run
		for _, s := range c.sessions {
			for _, i := range s.launches {
				l := elsewhere
				if i >= 0 {
					l = launches[i]
				}
				done = append(done, doneRun(l, s.name, func(r *schema.Run) {
					r.Resumes, r.Env.Facts[prepare.FactPoints] = s.resumes, "these"
					if s.others {
						r.Env.Facts[prepare.FactPoints] = "others"
					}
					if s.older {
						r.Env.GitCommit = "old"
					}
				}))
			}
		}
		if p := planned(launches, done, rules{}); p.Resumes != c.want || reasons(p) != c.done {
			t.Errorf("%s: goes on from %q: %s; want %q: %s", name, p.Resumes, reasons(p), c.want, c.done)
		}
	}
}

// TestIdentity: each of these keeps a run from counting, and says its name.
func TestIdentity(t *testing.T) {
	_, launches := launchesOf(t)
	before := doneRun(launches[0], "A", func(r *schema.Run) { r.Env.Facts["command.sha256.b.sh"] = "5" })
	for what, edit := range map[string]func(*schema.Run){
		"machine":                func(r *schema.Run) { r.Env.Machine = "lab4" },
		"driver_version":         func(r *schema.Run) { r.Env.DriverVersion = "575" },
		"git_commit":             func(r *schema.Run) { r.Env.GitCommit = "def" },
		"git.tree":               func(r *schema.Run) { r.Env.Facts["git.tree"] = "1" },
		"model_sha256":           func(r *schema.Run) { r.ModelSHA256 = "2" },
		"benchmark.sha256":       func(r *schema.Run) { r.Env.Facts["benchmark.sha256"] = "3" },
		"command.sha256":         func(r *schema.Run) { r.Env.Facts["command.sha256"] = "4" },
		"command.sha256.b.sh":    func(r *schema.Run) { r.Env.Facts["command.sha256.b.sh"] = "6" },
		"build.sha256":           func(r *schema.Run) { r.Env.Facts["build.sha256"] = "7" },
		"python_version":         func(r *schema.Run) { r.Env.PythonVersion = "3.12" },
		"python.installed.torch": func(r *schema.Run) { r.Env.Facts["python.installed.torch"] = "2.16" },
		"runner.config_sha256":   func(r *schema.Run) { r.Env.Facts["runner.config_sha256"] = "5" },
		"backend_version":        func(r *schema.Run) { r.Executor, r.BackendVersion = schema.ExecutorBuiltin, "2" },
	} {
		after := before
		after.Env.Facts = maps.Clone(before.Env.Facts)
		edit(&after)
		if got, _ := differences(identityOf(&before), identityOf(&after), files{}); len(got) != 1 || got[0].What != what {
			t.Errorf("after a change of %s: %v", what, got)
		}
	}
}

// TestAfterOutOfMemory: what is skipped once batch_size 8 with n 64 ran out of memory. More of a parameter is larger
// only where less of it ran.
func TestAfterOutOfMemory(t *testing.T) {
	parse := func(src string) *sweep.Point {
		s := valuetest.Must(sweep.Read("x.yaml", strings.NewReader("command: [echo, '{bs}', '{n}']\n"+src), sweep.Overrides{}))
		return &s.Points[0]
	}
	const base, head = 0, 1
	failed := parse("grid: {bs: 8, n: 64}")
	for src, want := range map[string]struct{ alone, lessRan bool }{
		"grid: {bs: 16, n: 64}":                   {true, true},
		"grid: {bs: 16, n: 128}":                  {false, true},
		"grid: {bs: 8, n: 128}":                   {false, true},
		"grid: {bs: 8, n: 64}":                    {false, false}, // it has its own launches
		"grid: {bs: 16, n: 32}":                   {false, false},
		"grid: {bs: 4, n: 64}":                    {false, false},
		"grid: {bs: 16, n: x}":                    {false, false},
		"grid: {bs: 16, n: 64}\nbenchmark: other": {false, false},
	} {
		var o outOfMemory
		larger := parse(src)
		o.note(subject{Point: failed, Side: base}, schema.StatusOOM)
		o.note(subject{Point: failed, Side: base}, schema.StatusOOM) // its second repeat
		o.note(subject{Point: parse("grid: {bs: 4, n: 32}"), Side: base}, schema.StatusOK)
		o.note(subject{Point: parse("grid: {bs: 8, n: 32}"), Side: head}, schema.StatusOK)
		o.note(subject{Point: parse("grid: {bs: 8, n: 16}"), Side: base}, schema.StatusTimeout)
		valuetest.DeepEqual(t, o.smaller(subject{Point: larger, Side: base}) == failed, want.alone, src)
		o.note(subject{Point: parse("grid: {bs: 8, n: 32}"), Side: base}, schema.StatusOK)
		valuetest.DeepEqual(t, o.smaller(subject{Point: larger, Side: base}) == failed, want.lessRan, src)
		if o.smaller(subject{Point: larger, Side: head}) != nil {
			t.Errorf("%s is skipped on the other side", src)
		}
	}
	valuetest.DeepEqual(t, describeSizes(failed), "echo batch_size=8 n=64", "described as")
}

// TestPointThresholds: each run has the thresholds of its own benchmark; points of calibrate have those of all.
func TestPointThresholds(t *testing.T) {
	k := &shelf{}
	k.bench(t, parse(t, `
command: [sh, -c, ':']
repeats: 1
warmup: 0
iterations: 1
calibrate: true
thresholds: {latency: 5%, cpu_user: 7%}
benchmarks:
  plain:
  loose: {thresholds: {latency: 30%, peak_memory: {abs: 64 KiB}}}
`), 5, nil)
	for _, r := range k.runs {
		want := map[string]string{"latency": "5%", "cpu_user": "7%", "peak_memory": ""}
		switch r.Benchmark {
		case "loose":
			want = map[string]string{"latency": "30%", "cpu_user": "7%", "peak_memory": "65536 B"}
		case "calibration":
			want["latency"] = ""
		}
		for metric, text := range want {
			valuetest.DeepEqual(t, r.Env.Facts["runner.threshold."+metric], text, r.Benchmark, metric)
		}
	}
}

// TestThresholds: what a sweep calls no difference is a fact of each run, and no setting: a session goes on from one that
// had other thresholds.
func TestThresholds(t *testing.T) {
	const text = "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\n"
	k := &shelf{}
	k.bench(t, parse(t, text+"thresholds: {latency: 5%}\n"), 1, nil)
	result := k.bench(t, parse(t, text+"thresholds: {latency: 10%, peak_memory: {abs: 64 KiB}}\n"), 0, nil)
	if result.Plan.Resumes != k.runs[0].SessionID || result.Plan.Done != 1 || len(k.runs) != 2 {
		t.Fatalf("resumes %q, %d done, %d runs", result.Plan.Resumes, result.Plan.Done, len(k.runs))
	}
	for i, want := range []map[string]string{
		{"runner.threshold.latency": "5%", "runner.threshold.peak_memory": ""},
		{"runner.threshold.latency": "10%", "runner.threshold.peak_memory": "65536 B"},
	} {
		for fact, text := range want {
			valuetest.DeepEqual(t, k.runs[i].Env.Facts[fact], text, "run", i, fact)
		}
	}
}
