package runner

import (
	"maps"
	"testing"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/schema"
)

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
		if got := differences(identityOf(&before), identityOf(&after), nil); len(got) != 1 || got[0].What != what {
			t.Errorf("after a change of %s: %v", what, got)
		}
	}
}
