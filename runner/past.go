package runner

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// rules decide when a run of an earlier session counts for a launch.
type rules struct {
	identity func(sweep.Launch) map[string]string // the values that must agree
	identify func(*schema.Run) map[string]string  // the same values of a run
	whole    bool                                 // a complete plan is not measured again
	points   string                               // see prepare.Targets
	rerun    Rerun
	anew     string            // why no earlier run counts; empty: some may count
	larger   bool              // launch points that were skipped because a smaller one ran out of memory
	absent   map[string]string // profilers that are not installed
}

// past is what a session can continue: an earlier session, and the sessions that it continued itself.
type past struct {
	rules
	session string                 // id of the newest one; empty: there is none
	index   map[slot][]*schema.Run // the newest first
	printed map[string]bool        // files into which the sessions printed, by printedName of the path in the repository
}

// findPast selects the session to continue from the runs of earlier sessions, newest first: the newest session with a run of one of the
// launches. A session with the same points is preferred to a newer one with other points, which was probably a variation. A session
// whose runs count is preferred to one whose runs only show the changes.
func findPast(done []schema.Run, launches []sweep.Launch, r rules) *past {
	best, highest := &past{rules: r}, useNone
	sessions, order := bySession(done)
	for _, id := range order {
		runs := chain(sessions, id)
		p := &past{rules: r, session: id, index: r.indexDone(runs), printed: printedBy(runs)}
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
		switch found := p.find(l); {
		case found.run == nil:
		case len(found.changes) == 0:
			return useCounts
		default:
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

// indexDone indexes runs by slot: those that ended by themselves, or were skipped for a reason that still holds. runs are newest first.
func (r rules) indexDone(runs []*schema.Run) map[slot][]*schema.Run {
	index := map[slot][]*schema.Run{}
	for _, run := range runs {
		tool := run.Env.Facts[schema.FactProfile]
		switch {
		case run.Status == schema.StatusCancelled, run.Status == schema.StatusLost, run.RepeatIndex == nil,
			run.ErrorKind == kindSuiteTimeout, run.ErrorKind == kindAfterOOM && r.larger,
			run.ErrorKind == kindNotInstalled && tool != "" && r.absent[tool] == "": // now it is installed
			continue
		}
		key := slot{run.PointID, *run.RepeatIndex, profileOf(run), run.ErrorKind == kindSkipIf}
		index[key] = append(index[key], run)
	}
	return index
}

// found is the run of an earlier session for a launch.
type found struct {
	run     *schema.Run // nil: there is none
	changes []Change    // because of which it does not count
	ignored string      // new files that differ and do not count, separated by commas
}

// find returns the newest run of an earlier session that counts for a launch, or else the newest one.
func (p *past) find(l sweep.Launch) found {
	var newest found
	for _, run := range p.index[slotOfLaunch(l)] {
		f := p.compare(run, l)
		if len(f.changes) == 0 {
			return f
		}
		if newest.run == nil {
			newest = f
		}
	}
	return newest
}

// counting returns the runs of earlier sessions that count for a launch.
func (p *past) counting(l sweep.Launch) (runs []*schema.Run) {
	for _, run := range p.index[slotOfLaunch(l)] {
		if len(p.compare(run, l).changes) == 0 {
			runs = append(runs, run)
		}
	}
	return runs
}

// compare compares a run with a launch.
func (p *past) compare(run *schema.Run, l sweep.Launch) found {
	changes, ignored := differences(p.identify(run), p.identity(l), files{printed: p.printed, searched: func() bool { return searches(l.Point) }})
	return found{run, changes, strings.Join(ignored, ", ")}
}

// searches reports whether the program of a point may find files that nothing names: a word of its command is a pattern, or a folder that
// may be in the working tree.
func searches(p *sweep.Point) bool {
	here, err := os.Getwd()
	if err != nil {
		return true
	}
	for _, text := range p.Command {
		if strings.Contains(text, "*") {
			return true
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n=;\"'()&|<>", r) }) {
			path := task.InDir(task.InDir(here, p.Dir), word)
			if info, err := os.Stat(path); err == nil && info.IsDir() && (!filepath.IsAbs(word) || worktree.Within(path, here) || worktree.Within(here, path)) {
				return true
			}
		}
	}
	return false
}

// seed returns the seed of the order of the sessions, or another one if they have none.
func (p *past) seed(otherwise uint64) uint64 {
	for _, runs := range p.index {
		if seed, err := strconv.ParseUint(runs[0].Env.Facts[factOrderSeed], 10, 64); err == nil {
			return seed
		}
	}
	return otherwise
}

// printedBy lists the files whose content does not matter to the sessions of runs, by printedName of the path in the repository. All runs of
// a session have the same.
func printedBy(runs []*schema.Run) map[string]bool {
	files, session := map[string]bool{}, ""
	for _, r := range runs {
		if r.SessionID == session {
			continue
		}
		session = r.SessionID
		for line := range strings.Lines(r.Env.Facts[prepare.FactTreeChanged]) {
			if file, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), worktree.Unimportant+" "); is {
				files[printedName(file)] = true
			}
		}
	}
	return files
}

// printedName returns the name by which a file into which sessions print is recognised. All numbers in the name of a log stand for each
// other, because a launcher numbers the logs of its tasks, as in slurm-12_3.out.
func printedName(file string) string {
	if slices.Contains([]string{".out", ".err", ".log", ".txt"}, path.Ext(file)) {
		return path.Join(path.Dir(file), number.ReplaceAllString(path.Base(file), "0"))
	}
	return file
}

var number = lazyregexp.MustCompile(`[0-9]+`)

// identityOf lists the values in which two runs of one launch must agree, by the name under which a difference is reported:
// machine, driver, versions, code and configuration.
func identityOf(r *schema.Run) map[string]string {
	identity := map[string]string{
		"machine": r.Env.Machine, "driver_version": r.Env.DriverVersion, identityCommit: r.Env.GitCommit, "model_sha256": r.ModelSHA256,
		"python_version": r.Env.PythonVersion,
	}
	if r.Executor == schema.ExecutorBuiltin {
		identity["backend_version"] = r.BackendVersion
	}
	for _, fact := range append(append(prepare.CodeFacts(), schema.FactMeasuredDevice), treeDetails...) {
		identity[fact] = r.Env.Facts[fact]
	}
	for fact, value := range r.Env.Facts {
		if strings.HasPrefix(fact, prepare.FactInstalled) || strings.HasPrefix(fact, prepare.FactCommandFile) || prepare.IsModelFile(fact) || prepare.IsSetting(fact) {
			identity[fact] = value
		}
	}
	return identity
}

// treeDetails are facts about the files in which two working trees differ. They are no differences themselves.
var treeDetails = []string{prepare.FactTreeChanged, factDirty}

const (
	factDirty      = "git.dirty"
	identityCommit = "git_commit" // the column
)

// files says which files of a working tree a program may read.
type files struct {
	printed  map[string]bool // see past
	searched func() bool     // the program may find files that nothing names
}

// changed lists the files in which two working trees of one commit differ; known is false if that was not stored. Files whose content does
// not matter are left out: files of settings, and files into which a session printed (in printed, or marked). So is documentation, unless a
// build may use it. New files that no run can have read are in ignored: those that were not there before, or empty, unless a build or the
// program searches for files, and logs.
func (f files) changed(from, to map[string]string) (changed, ignored []string, known bool) {
	before, knownBefore := treeOf(from)
	after, knownAfter := treeOf(to)
	if !knownBefore || !knownAfter || from[identityCommit] != to[identityCommit] {
		return nil, nil, false
	}
	built, outputs := from[prepare.FactBuild]+to[prepare.FactBuild] != "", maps.Clone(f.printed)
	if outputs == nil {
		outputs = map[string]bool{}
	}
	for file, state := range after {
		if state == worktree.Unimportant {
			outputs[printedName(file)] = true
		}
	}
	paths := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(paths)
	for _, file := range slices.Compact(paths) {
		was, is := before[file], after[file]
		added := strings.HasPrefix(was+is, worktree.New)
		unread := was == "" || was == worktree.New
		switch {
		case was == is, was == worktree.Unimportant, outputs[printedName(file)], !built && worktree.IsDocumentation(file):
		case added && (unread && !built || worktree.IsLog(file)) && !f.searched():
			ignored = append(ignored, file)
		default:
			changed = append(changed, file)
		}
	}
	return changed, ignored, true
}

// treeOf returns the state of each file of a working tree that differs from its commit, by path; known is false if that was not stored.
func treeOf(identity map[string]string) (states map[string]string, known bool) {
	text := identity[prepare.FactTreeChanged]
	states = map[string]string{}
	for line := range strings.Lines(text) {
		state, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		states[path] = state
	}
	return states, text != "" || identity[factDirty] == "false"
}

// differences lists the entries in which two identities differ. A missing entry equals an empty one. A file of a command that only one
// of them has is an output: it did not exist yet, or is now recognised. If single settings differ, the hash of all settings is left out,
// because it adds no information. For the same reason the working tree is left out next to the commit, and if only files differ that no
// program uses: see files.changed, which also gives the ignored files.
func differences(from, to map[string]string, f files) (all []Change, ignored []string) {
	if maps.Equal(from, to) {
		return nil, nil
	}
	keys := slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to)))
	slices.Sort(keys)
	named := false
	for _, key := range slices.Compact(keys) {
		output := strings.HasPrefix(key, prepare.FactCommandFile) && (from[key] == "" || to[key] == "")
		if from[key] == to[key] || output || slices.Contains(treeDetails, key) {
			continue
		}
		change := Change{What: key, From: from[key], To: to[key]}
		if key == prepare.FactTree {
			var changed []string
			var known bool
			changed, ignored, known = f.changed(from, to)
			if known && len(changed) == 0 || from[identityCommit] != to[identityCommit] {
				continue
			}
			change.Files = strings.Join(changed, ", ")
		}
		all = append(all, change)
		named = named || prepare.IsSetting(key)
	}
	if named {
		all = slices.DeleteFunc(all, func(c Change) bool { return c.What == prepare.FactConfig })
	}
	return all, ignored
}
