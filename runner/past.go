package runner

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// rules say when a run of an earlier session counts as a launch.
type rules struct {
	identity func(sweep.Launch) map[string]string // what has to agree
	points   string                               // see prepare.Targets
	rerun    Rerun
	anew     string // why no earlier run counts; empty: some may
	larger   bool   // points skipped after an out-of-memory are to be launched after all
}

// past is what a session can go on from: an earlier one, with those that it went on from itself.
type past struct {
	rules
	session string // the newest of them; empty: there is none
	index   map[slot]*schema.Run
}

// findPast chooses what to go on from among the runs of earlier sessions, newest first: the newest session that has a
// run of one of the launches. One of the same points comes before a newer one of others, which was a variation for
// once, and one whose runs count before one whose runs do not and only say what changed.
func findPast(done []schema.Run, launches []sweep.Launch, r rules) *past {
	best, most := &past{rules: r}, useNone
	sessions, order := bySession(done)
	for _, id := range order {
		p := &past{rules: r, session: id, index: r.indexDone(chain(sessions, id))}
		use := p.use(launches)
		if use != useNone && sessions[id][0].Env.Facts[prepare.FactPoints] == r.points {
			use++
		}
		if use > most {
			best, most = p, use
		}
		if most == useMost {
			break
		}
	}
	return best
}

// Of what use a session is, in steps of two: one more where its points are the same.
const (
	useNone    = 0
	useDiffers = 2 * iota
	useCounts
	useMost = useCounts + 1
)

// use tells of what use a session is.
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

// bySession groups runs. order is that in which the sessions come.
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

// chain gives the runs of a session and of those that it went on from, newest first.
func chain(sessions map[string][]*schema.Run, id string) []*schema.Run {
	var runs []*schema.Run
	for seen := map[string]bool{}; sessions[id] != nil && !seen[id]; id = sessions[id][0].Resumes {
		seen[id] = true
		runs = append(runs, sessions[id]...)
	}
	return runs
}

// indexDone finds runs by slot: the newest of each that came to an end by itself, or is skipped for a reason that holds
// again. runs are newest first.
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

// find gives the run that an earlier session has of a launch, or nil, and what keeps it from counting.
func (p *past) find(l sweep.Launch) (*schema.Run, []Change) {
	run := p.index[slotOfLaunch(l)]
	if run == nil {
		return nil, nil
	}
	return run, differences(identityOf(run), p.identity(l))
}

// identityOf is what two runs of one launch have to agree in, by the name that a difference is reported under:
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
		if strings.HasPrefix(fact, prepare.FactInstalled) || strings.HasPrefix(fact, prepare.FactCommandFile) || prepare.IsSetting(fact) {
			identity[fact] = value
		}
	}
	return identity
}

// differences are the entries in which two identities do not agree; a missing entry is an empty one. A file of a command
// that only one of them has is an output: it was not there yet, or is known for what it is. Where settings differ, the
// hash of all of them says nothing more.
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
