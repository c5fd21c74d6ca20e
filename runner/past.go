package runner

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
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
	session string // id of the newest one; empty: there is none
	index   map[slot]*schema.Run
	printed map[string]bool // files into which the sessions printed, by printedName of the path in the repository
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
		tool := run.Env.Facts[schema.FactProfile]
		switch {
		case run.Status == schema.StatusCancelled, run.Status == schema.StatusLost, run.RepeatIndex == nil,
			run.ErrorKind == kindSuiteTimeout, run.ErrorKind == kindAfterOOM && r.larger,
			run.ErrorKind == kindNotInstalled && tool != "" && r.absent[tool] == "": // now it is installed
			continue
		}
		key := slot{run.PointID, *run.RepeatIndex, profileOf(run), run.ErrorKind == kindSkipIf}
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
	return run, differences(p.identify(run), p.identity(l), p.printed)
}

// seed returns the seed of the order of the sessions, or another one if they have none.
func (p *past) seed(otherwise uint64) uint64 {
	for _, run := range p.index {
		if seed, err := strconv.ParseUint(run.Env.Facts[factOrderSeed], 10, 64); err == nil {
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

// changedFiles lists the files in which two working trees of one commit differ; known is false if that was not stored. Files whose
// content does not matter are left out: files of settings, and files into which a session printed (in printed, or marked). So is
// documentation, unless a build may use it.
func changedFiles(from, to map[string]string, printed map[string]bool) (files []string, known bool) {
	before, knownBefore := treeOf(from)
	after, knownAfter := treeOf(to)
	if !knownBefore || !knownAfter || from[identityCommit] != to[identityCommit] {
		return nil, false
	}
	built, outputs := from[prepare.FactBuild]+to[prepare.FactBuild] != "", maps.Clone(printed)
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
		unimportant := outputs[printedName(file)] || was == worktree.Unimportant || !built && isDocumentation(file)
		if was != is && !unimportant {
			files = append(files, file)
		}
	}
	return files, true
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

// documents are the names of files that describe a repository.
var documents = []string{"README", "CHANGELOG", "CHANGES", "HISTORY", "NEWS", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "CONTRIBUTING"}

// isDocumentation reports whether a file only describes its repository, by its name.
func isDocumentation(file string) bool {
	name := path.Base(file)
	extension := path.Ext(name)
	return slices.Contains([]string{"", ".md", ".rst", ".txt", ".adoc"}, extension) && slices.Contains(documents, strings.ToUpper(strings.TrimSuffix(name, extension)))
}

// differences lists the entries in which two identities differ. A missing entry equals an empty one. A file of a command that only one
// of them has is an output: it did not exist yet, or is now recognised. If single settings differ, the hash of all settings is left out,
// because it adds no information. For the same reason the working tree is left out next to the commit, and if only files differ that no
// program uses: see changedFiles.
func differences(from, to map[string]string, printed map[string]bool) []Change {
	if maps.Equal(from, to) {
		return nil
	}
	keys := slices.Concat(slices.Collect(maps.Keys(from)), slices.Collect(maps.Keys(to)))
	slices.Sort(keys)
	var all []Change
	named := false
	for _, key := range slices.Compact(keys) {
		output := strings.HasPrefix(key, prepare.FactCommandFile) && (from[key] == "" || to[key] == "")
		if from[key] == to[key] || output || slices.Contains(treeDetails, key) {
			continue
		}
		change := Change{What: key, From: from[key], To: to[key]}
		if key == prepare.FactTree {
			files, known := changedFiles(from, to, printed)
			if known && len(files) == 0 || from[identityCommit] != to[identityCommit] {
				continue
			}
			change.Files = strings.Join(files, ", ")
		}
		all = append(all, change)
		named = named || prepare.IsSetting(key)
	}
	if named {
		all = slices.DeleteFunc(all, func(c Change) bool { return c.What == prepare.FactConfig })
	}
	return all
}
