package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// launchesOf are two repeats of two points.
func launchesOf(t *testing.T) (*sweep.Sweep, []sweep.Launch) {
	t.Helper()
	s, err := sweep.Read("x.yaml", strings.NewReader("command: [echo, '{n}']\ngrid: {n: [1, 2]}\nrepeats: 2\n"), sweep.Overrides{})
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

// planned is the plan of launches, all of which have the identity of doneRun.
func planned(launches []sweep.Launch, done []schema.Run, r rules) Plan {
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
		"the newest run of a launch counts": {
			[]schema.Run{
				doneRun(launches[0], "B", resumes("A", older)), doneRun(launches[0], "A", nil), doneRun(launches[1], "A", nil),
			},
			rules{},
			"changed: git_commit; done; not measured yet; not measured yet", "B", "[{git_commit old abc  1}]",
		},
		"a pass of a profiler is not the measurement": {
			[]schema.Run{doneRun(launches[0], "A", func(r *schema.Run) { r.Env.Facts[factProfile] = "ort" })},
			rules{},
			"not measured yet; not measured yet; not measured yet; not measured yet", "", "[]",
		},
	} {
		p := planned(launches, c.done, c.rules)
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

func TestEstimate(t *testing.T) {
	_, launches := launchesOf(t)
	e := newEstimate(planned(launches, nil, rules{}))
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
	skipped := doneRun(launches[1], "A", func(r *schema.Run) {
		r.Status, r.ErrorKind, r.Stages = schema.StatusSkipped, kindAfterOOM, schema.Stages{}
	})
	for want, done := range map[time.Duration][]schema.Run{
		9 * time.Second: {doneRun(launches[0], "A", nil)},
		6 * time.Second: {doneRun(launches[0], "A", nil), skipped},
	} {
		if got := newEstimate(planned(launches, done, rules{})).remaining(); got != want {
			t.Errorf("%s left, want %s: launches of 3 s", got, want)
		}
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
		if got := plan.Launches[0].Reason; got != want {
			t.Errorf("%s: the reason is %q", want, got)
		}
	}
}

// TestSecretNames: variants and parameters that hold what looks like a secret are named without it.
func TestSecretNames(t *testing.T) {
	t.Setenv("SERVICE_PASSWORD", "correct-horse-battery")
	s := parse(t, "command: [sh, -c, 'true {api-key} {n} {text}']\ngrid: {api-key: [abcdefgh], n: [1, 2], text: ['a correct-horse-battery', b]}\nrepeats: 1\n")
	got := secretNames(s.Launches(sweep.LaunchOptions{}))
	if want := []string{"api-key=<hidden>", "text=a <hidden>"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
