package runner

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Rerun says which launches run although an earlier session has a run of them.
type Rerun string

// What is run again.
const (
	RerunNothing Rerun = ""       // what is missing runs; all of it, where nothing is
	RerunFailed  Rerun = "failed" // and what a user has to look at
	RerunAll     Rerun = "all"
)

// Plan is what a session does: every launch of its sweep, and which of them earlier sessions have done.
type Plan struct {
	Launches []Planned
	Resumes  string   // the session that this one goes on from; empty: it begins anew
	Done     int      // launches that are not run again
	Changes  []Change // why runs of an unfinished session do not count
}

// Planned is a launch and, where it is not run again, the run that an earlier session has of it.
type Planned struct {
	Launch sweep.Launch
	Done   *schema.Run
	Reason string // why it is run: missing, failed, or what changed
}

// Change is a difference that keeps runs from counting.
type Change struct {
	What     string // column or fact
	From, To string
	Runs     int
}

// slot is what one launch of a sweep is known by in another session.
type slot struct {
	point   string
	repeat  int64
	profile string
}

func slotOfLaunch(l sweep.Launch) slot {
	return slot{l.Point.PointID, int64(l.Repeat), l.Profile}
}

// factProfile is the fact with the profiler of a pass.
const factProfile = "runner.profile"

// indexDone finds runs by slot: the newest of each that came to an end by itself. runs are newest first.
func indexDone(runs []schema.Run) map[slot]*schema.Run {
	index := map[slot]*schema.Run{}
	for i := range runs {
		r := &runs[i]
		switch r.Status {
		case schema.StatusCancelled, schema.StatusLost, schema.StatusSkipped:
			continue
		}
		if r.RepeatIndex == nil {
			continue
		}
		key := slot{r.PointID, *r.RepeatIndex, r.Env.Facts[factProfile]}
		if _, newer := index[key]; !newer {
			index[key] = r
		}
	}
	return index
}

// makePlan decides what is run. identity gives what has to agree with a run for it to count as the launch. done are the
// runs of earlier sessions, newest first. A sweep that has been run to its end is run again, as a session of its own.
func makePlan(launches []sweep.Launch, identity func(sweep.Launch) map[string]string, done []schema.Run, rerun Rerun) Plan {
	index := indexDone(done)
	if rerun == RerunAll {
		index = nil
	}
	plan := Plan{Launches: make([]Planned, len(launches))}
	unfinished := false
	changes := map[Change]int{}
	for i, l := range launches {
		p := &plan.Launches[i]
		p.Launch = l
		run := index[slotOfLaunch(l)]
		if run == nil {
			p.Reason, unfinished = "missing", true
			continue
		}
		if differs := differences(identityOf(run), identity(l)); len(differs) > 0 {
			p.Reason = describeChanges(differs)
			for _, c := range differs {
				changes[c]++
			}
			continue
		}
		if rerun == RerunFailed && run.Status.Failed() {
			p.Reason = "failed"
			continue
		}
		p.Done = run
		plan.Done++
	}
	if plan.Done == len(launches) || plan.Done == 0 {
		plan.startAnew()
	} else {
		plan.Resumes = done[0].SessionID
	}
	if unfinished || plan.Resumes != "" {
		plan.Changes = sortedChanges(changes)
	}
	return plan
}

// startAnew makes the plan one of a session that goes on from none.
func (p *Plan) startAnew() {
	p.Done = 0
	for i := range p.Launches {
		if p.Launches[i].Done != nil {
			p.Launches[i].Done, p.Launches[i].Reason = nil, "all are there"
		}
	}
}

// identityPrefix begins the facts of versions that are installed for an interpreter.
const identityPrefix = "python.installed."

// identityFacts are the facts that have to agree.
var identityFacts = []string{"git.tree", "benchmark.sha256", "command.sha256", "runner.config_sha256"}

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
	for _, fact := range identityFacts {
		identity[fact] = r.Env.Facts[fact]
	}
	for fact, value := range r.Env.Facts {
		if strings.HasPrefix(fact, identityPrefix) {
			identity[fact] = value
		}
	}
	return identity
}

// differences are the entries in which two identities do not agree; a missing entry is an empty one.
func differences(from, to map[string]string) []Change {
	keys := slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to)))
	slices.Sort(keys)
	var all []Change
	for _, key := range slices.Compact(keys) {
		if from[key] != to[key] {
			all = append(all, Change{What: key, From: from[key], To: to[key]})
		}
	}
	return all
}

func describeChanges(changes []Change) string {
	var names []string
	for _, c := range changes {
		names = append(names, c.What)
	}
	return "changed: " + strings.Join(names, ", ")
}

// sortedChanges are the changes with their counts, the most frequent first.
func sortedChanges(counts map[Change]int) []Change {
	var all []Change
	for c, n := range counts {
		c.Runs = n
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int {
		if a.Runs != b.Runs {
			return b.Runs - a.Runs
		}
		return strings.Compare(a.What+a.From+a.To, b.What+b.From+b.To)
	})
	return all
}
