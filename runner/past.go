package runner

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// rules decide when a run of an earlier session counts for a launch.
type rules struct {
	identity func(sweep.Launch) map[string]string // the values that must agree
	points   string                               // see prepare.Targets
	rerun    Rerun
	anew     string // why no earlier run counts; empty: some may count
	larger   bool   // launch points that were skipped because a smaller one ran out of memory
}

// past is what a session can continue: an earlier session, and the sessions that it continued itself.
type past struct {
	rules
	session string // the newest of them; empty: there is none
	index   map[slot]*schema.Run
}

// findPast selects the session to continue from the runs of earlier sessions, newest first: the newest session with a run of one
// of the launches. A session with the same points is preferred to a newer one with other points, which was probably a variation.
// A session whose runs count is preferred to one whose runs only show what changed.
func findPast(done []schema.Run, launches []sweep.Launch, r rules) *past {
	best, highest := &past{rules: r}, useNone
	sessions, order := bySession(done)
	for _, id := range order {
		p := &past{rules: r, session: id, index: r.indexDone(chain(sessions, id))}
		use := p.use(launches)
		if use != useNone && sessions[id][0].Env.Facts[prepare.FactPoints] == r.points {
			use++
		}
		if use > highest {
			best, highest = p, use
		}
		if highest == useMax {
			break
		}
	}
	return best
}

// How useful a session is, in steps of two: one more if its points are the same.
const (
	useNone    = 0
	useDiffers = 2 * iota
	useCounts
	useMax = useCounts + 1
)

// use rates how useful a session is.
func (p *past) use(launches []sweep.Launch) int {
	use := useNone
	for _, l := range launches {
		run, changed := p.find(l)
		if run != nil && len(changed) == 0 {
			return useCounts
		}
		if run != nil {
			use = useDiffers
		}
	}
	return use
}

// bySession groups runs by session. order lists the sessions in order of appearance.
func bySession(done []schema.Run) (sessions map[string][]*schema.Run, order []string) {
	sessions = map[string][]*schema.Run{}
	for i := range done {
		id := done[i].SessionID
		if sessions[id] == nil {
			order = append(order, id)
		}
		sessions[id] = append(sessions[id], &done[i])
	}
	return sessions, order
}

// chain lists the runs of a session and of the sessions that it continued, newest first.
func chain(sessions map[string][]*schema.Run, id string) []*schema.Run {
	var runs []*schema.Run
	for seen := map[string]bool{}; sessions[id] != nil && !seen[id]; id = sessions[id][0].Resumes {
		seen[id] = true
		runs = append(runs, sessions[id]...)
	}
	return runs
}

// indexDone indexes runs by slot: the newest run of each that ended by itself, or was skipped for a reason that still holds. runs
// are newest first.
func (r rules) indexDone(runs []*schema.Run) map[slot]*schema.Run {
	index := map[slot]*schema.Run{}
	for _, run := range runs {
		switch {
		case run.Status == schema.StatusCancelled, run.Status == schema.StatusLost, run.RepeatIndex == nil,
			run.ErrorKind == kindSuiteTimeout, run.ErrorKind == kindAfterOOM && r.larger:
			continue
		}
		key := slot{run.PointID, *run.RepeatIndex, run.Env.Facts[factProfile], run.ErrorKind == kindSkipIf}
		if _, newer := index[key]; !newer {
			index[key] = run
		}
	}
	return index
}

// find returns the run of an earlier session for a launch, or nil, and the changes because of which it does not count.
func (p *past) find(l sweep.Launch) (*schema.Run, []Change) {
	run := p.index[slotOfLaunch(l)]
	if run == nil {
		return nil, nil
	}
	return run, differences(identityOf(run), p.identity(l))
}

// identityOf lists the values in which two runs of one launch must agree, by the name under which a difference is reported:
// machine, driver, versions, code and configuration.
func identityOf(r *schema.Run) map[string]string {
	identity := map[string]string{
		"machine": r.Env.Machine, "driver_version": r.Env.DriverVersion, "git_commit": r.Env.GitCommit, "model_sha256": r.ModelSHA256,
		"python_version": r.Env.PythonVersion,
	}
	if r.Executor == schema.ExecutorBuiltin {
		identity["backend_version"] = r.BackendVersion
	}
	for _, fact := range prepare.CodeFacts() {
		identity[fact] = r.Env.Facts[fact]
	}
	for fact, value := range r.Env.Facts {
		if strings.HasPrefix(fact, prepare.FactInstalled) || strings.HasPrefix(fact, prepare.FactCommandFile) || prepare.IsModelFile(fact) || prepare.IsSetting(fact) {
			identity[fact] = value
		}
	}
	return identity
}

// differences lists the entries in which two identities differ. A missing entry equals an empty one. A file of a command that
// only one of them has is an output: it did not exist yet, or is now recognised. If single settings differ, the hash of all
// settings is left out, because it adds no information.
func differences(from, to map[string]string) []Change {
	if maps.Equal(from, to) {
		return nil
	}
	keys := slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to)))
	slices.Sort(keys)
	var all []Change
	named := false
	for _, key := range slices.Compact(keys) {
		output := strings.HasPrefix(key, prepare.FactCommandFile) && (from[key] == "" || to[key] == "")
		if from[key] != to[key] && !output {
			all = append(all, Change{What: key, From: from[key], To: to[key]})
			named = named || prepare.IsSetting(key)
		}
	}
	if named {
		all = slices.DeleteFunc(all, func(c Change) bool { return c.What == prepare.FactConfig })
	}
	return all
}
