package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// shelf keeps the runs of sessions, as a store does.
type shelf struct {
	runs   []schema.Run // newest last
	events []Event      // of the last session
}

// bench returns a session that is interrupted after so many runs; 0: it is not. edit changes what it is asked.
func (k *shelf) bench(t *testing.T, s *sweep.Sweep, after int, edit func(*Options)) Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k.events = nil
	o := Options{
		Machine: "lab3", Version: "test", Locks: t.TempDir(), Observe: func(e Event) { k.events = append(k.events, e) },
		Done: func(string) ([]schema.Run, error) {
			newest := slices.Clone(k.runs)
			slices.Reverse(newest)
			return newest, nil
		},
	}
	if edit != nil {
		edit(&o)
	}
	kept := 0
	result := valuetest.Must(Run(ctx, s, o, func(r schema.Run) error {
		k.runs = append(k.runs, r)
		if kept++; kept == after {
			cancel()
		}
		return nil
	}))
	return result
}

// preciseSweep asks for a precision that no two processes reach.
const preciseSweep = `
command: [sh, -c, ': {n}']
grid: {n: [1, 2, 3]}
repeats: 2
rel_error: 0.0001%
max_repeats: 5
budget: 1ms
warmup: 0
`

// TestResumePrecision: a session that was interrupted among the repeats that precision takes goes on there, and in the
// end each launch was once. Then all are there, and the sweep begins anew.
func TestResumePrecision(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("left out: NEUROLENS_LONG is not set")
	}
	for _, after := range []int{4, 6, 7, 9, 11} {
		s, k := parse(t, preciseSweep), &shelf{}
		k.bench(t, s, after, nil)
		plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
		if plan.Resumes != k.runs[0].SessionID || plan.Done != after {
			t.Errorf("after %d runs: a dry run resumes %q, %d done", after, plan.Resumes, plan.Done)
		}
		result := k.bench(t, s, 0, nil)
		times := map[slot]int{}
		for _, r := range k.runs {
			times[slot{point: r.PointID, repeat: *r.RepeatIndex}]++
		}
		if len(times) != 15 || len(k.runs) != 15 || result.Plan.Resumes != k.runs[0].SessionID {
			t.Errorf("after %d runs: %d of 15 launches, %d runs, resumes %q", after, len(times), len(k.runs), result.Plan.Resumes)
		}
		if last := k.events[len(k.events)-1]; last.Index != 14 || last.Launches != 15 || result.Plan.Done != after {
			t.Errorf("after %d runs: the last is %d of %d, %d were done", after, last.Index+1, last.Launches, result.Plan.Done)
		}
		again := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
		if again.Resumes != "" || again.Done != 0 || len(again.Launches) != 6 || again.Launches[0].Reason != reasonComplete {
			t.Errorf("after the end: resumes %q, %d of %d done", again.Resumes, again.Done, len(again.Launches))
		}
	}
}

// TestResumeBeforePrecise: a session of which the runs agree goes on if there are too few of them to stop, as where an
// earlier rule stopped it. One with enough is done, and the sweep begins anew.
func TestResumeBeforePrecise(t *testing.T) {
	for _, c := range []struct {
		runs       int
		maxRepeats string
		want       string
	}{
		{9, "7", "21 in this session"},
		{21, "8", "6 anew"},
	} {
		s := parse(t, strings.Replace(preciseSweep, "max_repeats: 5", "max_repeats: "+c.maxRepeats, 1))
		k := &shelf{}
		k.bench(t, s, c.runs, nil)
		for i := range k.runs {
			r := &k.runs[i]
			r.Metric(r.Primary).Summary.LogMedian = new(float64)
		}
		plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
		got := fmt.Sprintf("%d anew", len(plan.Launches))
		if plan.Resumes == k.runs[0].SessionID {
			k.bench(t, s, 0, nil)
			got = fmt.Sprintf("%d in this session", len(k.runs))
		}
		valuetest.DeepEqual(t, got, c.want, "after", c.runs)
	}
}

// TestResumeFailuresOfRounds: a failure among the first repeats runs again, and the rounds that followed do not.
func TestResumeFailuresOfRounds(t *testing.T) {
	s, k := parse(t, preciseSweep), &shelf{}
	k.bench(t, s, 0, nil)
	k.runs[1].Status = schema.StatusCrashed
	before := k.runs[1]
	result := k.bench(t, s, 0, func(o *Options) { o.Rerun = RerunFailed })
	last := k.runs[len(k.runs)-1]
	if result.Runs() != 1 || last.PointID != before.PointID || *last.RepeatIndex != *before.RepeatIndex || result.Plan.Done != 14 {
		t.Errorf("%d runs, %d done", result.Runs(), result.Plan.Done)
	}
}

// TestSuiteTimeoutOfRounds: once the suite's time is over, one run says so of each point, and no more rounds begin.
func TestSuiteTimeoutOfRounds(t *testing.T) {
	pool := valuetest.Must(task.New())
	defer pool.Close()
	start := time.Now()
	clock, skipped := start, 0
	text := strings.Replace(preciseSweep, "max_repeats: 5", "max_repeats: 200", 1)
	s := newSession(t.Context(), parse(t, text), Options{Observe: func(Event) {}}, func(r schema.Run) error {
		clock = clock.Add(30 * time.Minute) // 4 h are over in the third repeat
		if r.Status == schema.StatusSkipped {
			skipped++
		}
		return nil
	})
	s.launcher.pool, s.lanes = pool, []*lane{{watch: probe.Watch(s.assembler.env)}}
	s.limits.now = func() time.Time { return clock }
	defer s.lanes[0].watch.Close()
	valuetest.OK(t, s.run(t.Context()))
	if s.result.Statuses[schema.StatusOK] != 9 || skipped != 3 {
		t.Errorf("%v, want 9 ok and 3 skipped", s.result.Statuses)
	}
}

// TestResumeAfterOutOfMemory: what was skipped on its account is done, and does not keep the sweep from running again.
func TestResumeAfterOutOfMemory(t *testing.T) {
	s, k := parse(t, "command: [sh, -c, ': {batch_size}']\ngrid: {batch_size: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\n"), &shelf{}
	k.bench(t, s, 0, nil)
	k.runs[0].Status = schema.StatusOOM
	k.runs[1].Status, k.runs[1].ErrorKind = schema.StatusSkipped, kindAfterOOM
	if result := k.bench(t, s, 0, nil); result.Runs() != 2 || result.Plan.Resumes != "" {
		t.Errorf("%d runs, resumes %q", result.Runs(), result.Plan.Resumes)
	}
}

// inRepository is a working directory in which files are committed.
func inRepository(t *testing.T, files map[string]string) {
	t.Helper()
	valuetest.Program(t, "git")
	t.Chdir(t.TempDir())
	writeFiles(t, files)
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "x"},
	} {
		valuetest.Run(t, exec.Command("git", args...))
	}
}

func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		valuetest.OK(t, os.WriteFile(name, []byte(text), 0o755))
	}
}

// TestResumeAfterBuild: what a build leaves is no change of the code, whether git ignores it or not; what it makes
// otherwise than before is.
func TestResumeAfterBuild(t *testing.T) {
	const before = "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 2\nwarmup: 0\niterations: 1\nbuild: "
	for name, c := range map[string]struct{ build, change, want string }{
		"a file that git does not ignore": {"echo made > made.txt", "", "1 done, changed []"},
		"a file that it ignores":          {"echo made > made.o", "", "1 done, changed []"},
		"an incremental one":              {"test -e made.o || echo made > made.o", "", "1 done, changed []"},
		"one that only touches":           {"test -e made.o && touch made.o || echo $$ | tee made.o > other.o", "", "1 done, changed []"},
		"after a clean":                   {"test -e made.o || echo made > made.o", "rm made.o", "1 done, changed []"},
		"another content":                 {"cat source.o > made.o", "echo y > source.o", "0 done, changed [build.sha256]"},
		"each time another one":           {"date +%N > made.o", "", "0 done, changed [build.sha256]"},
	} {
		t.Run(name, func(t *testing.T) {
			inRepository(t, map[string]string{".gitignore": "*.o\n"})
			writeFiles(t, map[string]string{"source.o": "x\n"})
			s, k := parse(t, before+fmt.Sprintf("[[sh, -c, '%s']]\n", c.build)), &shelf{}
			k.bench(t, s, 1, nil)
			valuetest.Run(t, exec.Command("sh", "-c", c.change))
			plan := k.bench(t, s, 1, nil).Plan
			var changed []string
			for _, change := range plan.Changes {
				changed = append(changed, change.What)
			}
			valuetest.DeepEqual(t, fmt.Sprintf("%d done, changed %v", plan.Done, changed), c.want)
			if facts := k.runs[1].Env.Facts; facts[prepare.FactBuild] == "" || facts["git.tree"] == "" {
				t.Errorf("built %q of %q", facts[prepare.FactBuild], facts["git.tree"])
			}
		})
	}
}

// TestResumeAfterBuildWithALog: the file that the output of bench goes to is made by no build.
func TestResumeAfterBuildWithALog(t *testing.T) {
	inRepository(t, map[string]string{".gitignore": "*.o\n"})
	log := valuetest.Must(os.Create("log.txt"))
	defer log.Close()
	stderr := os.Stderr
	os.Stderr = log
	defer func() { os.Stderr = stderr }()
	s, k := parse(t, "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\nbuild: [[sh, -c, 'echo a line >> log.txt; echo made > made.o']]\n"), &shelf{}
	k.bench(t, s, 1, nil)
	if plan := k.bench(t, s, 1, nil).Plan; plan.Done != 1 {
		t.Errorf("%d done, want 1; changes %v", plan.Done, plan.Changes)
	}
}

// TestResumeAfterBuildsThatChangedNothing: it is the newest session whose build they left as it was.
func TestResumeAfterBuildsThatChangedNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	s := parse(t, "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\nbuild: [[sh, -c, 'test -e a || echo a > a']]\n")
	k := &shelf{}
	k.bench(t, s, 1, nil)
	k.bench(t, s, 1, func(o *Options) { o.Rerun = RerunAll })
	if plan := k.bench(t, s, 0, nil).Plan; plan.Resumes != k.runs[1].SessionID || plan.Done != 1 {
		t.Errorf("resumes %q of %q, %d done, changes %v", plan.Resumes, k.runs[1].SessionID, plan.Done, plan.Changes)
	}
}

// TestResumeAfterAScriptChanged: any word of a command may be what is measured.
func TestResumeAfterAScriptChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, map[string]string{"b.sh": ": b"})
	s, k := parse(t, "command: [sh, b.sh, '{n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\n"), &shelf{}
	k.bench(t, s, 1, nil)
	if plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan; plan.Done != 1 {
		t.Errorf("%d done of the same script", plan.Done)
	}
	writeFiles(t, map[string]string{"b.sh": ": another"})
	plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
	if plan.Done != 0 || len(plan.Changes) != 1 || plan.Changes[0].What != prepare.FactCommandFile+"b.sh" {
		t.Errorf("%d done of another script, changes %v", plan.Done, plan.Changes)
	}
}

// TestResumeWithOutput: a word of a command may also be the file that it writes, which is no code: not before it is
// there, nor when an earlier session has left it.
func TestResumeWithOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, map[string]string{"b.sh": "date +%N > $1"})
	s, k := parse(t, "command: [sh, b.sh, out.txt, '{n}']\ngrid: {n: [1, 2, 3, 4]}\nrepeats: 1\nwarmup: 0\niterations: 2\n"), &shelf{}
	for done := range 4 {
		if plan := k.bench(t, s, 1, nil).Plan; plan.Done != done {
			t.Errorf("%d done, want %d; changes %v", plan.Done, done, plan.Changes)
		}
	}
	for _, run := range k.runs {
		if run.Env.Facts[prepare.FactCommandFile+"out.txt"] != "" || run.Env.Facts[prepare.FactCommandFile+"b.sh"] == "" || len(run.Warnings) > 0 && slices.Contains(run.Warnings, WarnFileChanged) {
			t.Errorf("facts %v, warnings %v", run.Env.Facts, run.Warnings)
		}
	}
}

// TestResumeNamesSettings: a setting that is not what it was is called by its name.
func TestResumeNamesSettings(t *testing.T) {
	k := &shelf{}
	const text = "command: ['true', '{n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\n"
	k.bench(t, parse(t, text+"iterations: 1\n"), 1, nil)
	plan := k.bench(t, parse(t, text+"iterations: 3\n"), 0, func(o *Options) { o.DryRun = true }).Plan
	valuetest.DeepEqual(t, plan.Changes, []Change{{What: "runner.iterations", From: "1", To: "3", Runs: 1}}, "changes")
}

// TestResumeLeavesNoBytecode: what Python compiles of a module that a benchmark imports is no change of the code.
func TestResumeLeavesNoBytecode(t *testing.T) {
	python := cmp.Or(os.Getenv("NEUROLENS_TEST_PYTHON"), "python3")
	_, err := exec.LookPath(python)
	valuetest.Have(t, "python", err)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "") // which is not to set it
	inRepository(t, map[string]string{"b.py": "import helper\ndef run_benchmark(n):\n    pass\n", "helper.py": "x = 1\n"})
	s, k := parse(t, "file: b.py\npython: "+python+"\ngrid: {n: [1, 2]}\nwarmup: 0\niterations: 1\n"), &shelf{}
	k.bench(t, s, 1, nil)
	plan := k.bench(t, s, 0, func(o *Options) { o.DryRun = true }).Plan
	if plan.Done != 1 || k.runs[0].Status != schema.StatusOK {
		t.Errorf("%s; %d done, changes %v", k.runs[0].Status, plan.Done, plan.Changes)
	}
}

// TestProgramOfAPath: what is hashed is the program that PATH of the point leads to.
func TestProgramOfAPath(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := t.TempDir()
	program := filepath.Join(dir, "true")
	writeFiles(t, map[string]string{program: "#!/bin/sh\n:\n"})
	k := &shelf{}
	k.bench(t, parse(t, "command: [\"true\"]\nenv: {PATH: "+dir+"}\nrepeats: 1\nwarmup: 0\niterations: 1\n"), 0, nil)
	text := valuetest.Must(os.ReadFile(program))
	want := fmt.Sprintf("%x", sha256.Sum256(text))
	if r := k.runs[0]; r.Env.Facts["command.sha256"] != want || r.Env.Facts["command.path"] != program || r.Status != schema.StatusOK {
		t.Errorf("%s: the hash is %s, of %s; want %s", r.Status, r.Env.Facts["command.sha256"], r.Env.Facts["command.path"], want)
	}
}

// TestEveryEventKnowsHowMany: also those before there is a plan.
func TestEveryEventKnowsHowMany(t *testing.T) {
	t.Chdir(t.TempDir())
	k := &shelf{}
	k.bench(t, parse(t, "command: [sh, -c, ': {n}']\ngrid: {n: [1, 2]}\nrepeats: 3\nwarmup: 0\niterations: 1\nbuild: [[sh, -c, ':']]\n"), 0, nil)
	if k.events[0].Build == nil {
		t.Errorf("the first event is %+v", k.events[0])
	}
	for i, e := range k.events {
		valuetest.DeepEqual(t, e.Launches, 6, "event", i)
	}
}

// TestResumeAfterAReferenceChanged: runs that were held against another reference do not count.
func TestResumeAfterAReferenceChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	s := parse(t, "command: [echo, '1']\noutput: {from: stdout, read: text}\nreference: {from: r.txt, read: text}\nrepeats: 3\niterations: 1\nwarmup: 0\n")
	for changed, want := range map[string]int{"1\n": 1, "1.0\n": 0} {
		k := &shelf{}
		writeFiles(t, map[string]string{"r.txt": "1\n"})
		k.bench(t, s, 1, nil)
		writeFiles(t, map[string]string{"r.txt": changed})
		if result := k.bench(t, s, 0, nil); result.Plan.Done != want || result.Runs() != 3-want {
			t.Errorf("after %q: %d runs are there and %d were added, want %d", changed, result.Plan.Done, result.Runs(), want)
		}
	}
}

// TestCountedIsStored: the runs of a session name all runs of earlier sessions that it counts, each once: those of the plan, and
// those of repeats that were decided later.
func TestCountedIsStored(t *testing.T) {
	for _, after := range []int{4, 7} { // among the planned repeats, and among further ones
		s, k := parse(t, preciseSweep), &shelf{}
		k.bench(t, s, after, nil)
		k.bench(t, s, 1, nil)
		result := k.bench(t, s, 0, nil)
		var named, counted []string
		for _, r := range k.runs {
			if r.SessionID == result.Session {
				named = append(named, strings.Fields(r.Env.Facts[schema.FactCounted])...)
			}
		}
		for _, l := range result.Plan.Launches {
			if l.Done != nil {
				counted = append(counted, l.Done.RunID)
			}
		}
		slices.Sort(named)
		slices.Sort(counted)
		if len(counted) != after+1 || !slices.Equal(named, counted) {
			t.Errorf("after %d runs: %q are named of %q", after, named, counted)
		}
	}
}

// TestResumeInARepository: a file that a program can use makes a session new, and is named. Settings are compared one by one, files
// into which a session prints and scripts that bench printed are no code, and documentation is none of a program that is not built. New files
// that no run has read do not count, unless the program searches for files. They are named too.
func TestResumeInARepository(t *testing.T) {
	const usual, keys = "command: [sh, run.sh, '{n}']", "\nrepeats: 1\nwarmup: 0\niterations: 1\n"
	const build = "build: [[sh, -c, 'echo made > made.o']]\n"
	for name, c := range map[string]struct {
		more   string // of the sweep
		before string // what is done before the first session, and between the two
		change string
		want   string // the files that changed; empty: the session continues

		command string // in place of the usual one
		ignored string // new files that do not count
	}{
		"nothing":                   {},
		"the sweep file":            {change: "echo '# more' >> s.yaml"},
		"another sweep of the call": {change: "echo '# more' >> other.yaml"},
		"the sweep file of a build": {more: build, change: "echo '# more' >> s.yaml"},
		"a changed one again":       {before: "echo '# more' >> s.yaml", change: "echo '# and more' >> s.yaml"},
		"documentation":             {change: "echo x >> README.md; mkdir -p data; echo x > data/LICENSE"},
		"documentation in a build":  {more: build, change: "echo x >> README.md", want: "README.md"},
		"a program by such a name":  {before: "echo y > README.sh", change: "echo x > README.sh", want: "README.sh"},
		"a file of the command":     {change: "echo ': x' >> run.sh", want: "run.sh"},
		"a file that is sourced":    {change: "echo ': x' >> lib.sh; echo x >> README.md", want: "lib.sh"},
		"new files":                 {change: "mkdir -p 'a b'; echo x > 'a b/new.py'; echo x > z", ignored: "a b/new.py, z"},
		"a new file of a build":     {more: build, change: "echo x > z", want: "z"},
		"a new file of a folder":    {command: "command: [ls, data, '{n}']\nignore_exit: true", before: "mkdir data", change: "echo x > data/z", want: "data/z"},
		"a new file of a shell":     {command: "command: 'ls ../*/data {n}'\nshell: true\nignore_exit: true", change: "echo x > z", want: "z"},
		"a new file of an option":   {command: "command: [sh, run.sh, --in=./data, '{n}']", before: "mkdir data", change: "echo x > data/z", want: "data/z"},
		"a new file is removed":     {before: "echo x > z", change: "rm z", want: "z"},
		"an empty file is filled":   {before: ": > z", change: "echo x > z", ignored: "z"},
		"an empty file is removed":  {before: ": > z", change: "rm z", ignored: "z"},
		"a log grows":               {before: "echo x > z.log", change: "echo x >> z.log", ignored: "z.log"},
		"a log of a build grows":    {more: build, before: "echo x > z.log", change: "echo x >> z.log", ignored: "z.log"},
		"a known log changes":       {change: "echo x >> known.log", want: "known.log"},
		"a printed script":          {before: "echo '# " + worktree.LauncherMark + "' > z", change: "echo x >> z"},
		"a new printed script":      {change: "echo '# " + worktree.LauncherMark + "' > z"},
		"a new file that changes":   {before: "echo x > new", change: "echo y > new", want: "new"},
		"a new file that stays":     {before: "echo x > new", change: "echo x > README"},
		"a removed file":            {change: "rm lib.sh", want: "lib.sh"},
		"a mode":                    {before: "chmod 644 lib.sh", change: "chmod 755 lib.sh", want: "lib.sh"},
		"a change that is undone":   {before: "echo ': x' >> lib.sh", change: "git checkout -q lib.sh", want: "lib.sh"},
		"a name with a line feed":   {change: "echo x > 'a\nb'", ignored: `"a\nb"`},
		"a file that git ignores":   {change: "echo x > x.o"},
		"a staged change":           {change: "echo x >> README.md; git add README.md"},
	} {
		t.Run(name, func(t *testing.T) {
			inRepository(t, map[string]string{
				".gitignore": "*.o\n", "run.sh": ". ./lib.sh\n", "lib.sh": ":\n", "README.md": "x\n", "s.yaml": "x\n", "other.yaml": "x\n", "known.log": "x\n",
			})
			do := func(command string) {
				valuetest.Run(t, exec.Command("sh", "-c", command))
			}
			asked := func(o *Options) { o.Sweep, o.Settings = "s.yaml", []string{"other.yaml"} }
			k, command := &shelf{}, cmp.Or(c.command, usual)+keys
			do(c.before)
			k.bench(t, parse(t, command+c.more+"grid: {n: [1, 2]}\n"), 1, asked)
			do(c.change)
			plan := k.bench(t, parse(t, command+c.more+"grid: {n: [1, 2, 3]}\n"), 1, asked).Plan
			var files []string
			for _, change := range plan.Changes {
				if change.What == prepare.FactTree {
					files = append(files, change.Files)
				}
			}
			if got := strings.Join(files, "; "); got != c.want || (plan.Done == 1) != (c.want == "") {
				t.Errorf("%d done, %q changed, want %q: %v", plan.Done, got, c.want, plan.Changes)
			}
			var ignored []Change
			if c.ignored != "" {
				ignored = []Change{{What: prepare.FactTree, Files: c.ignored, Runs: 1}}
			}
			valuetest.DeepEqual(t, plan.Ignored, ignored, "ignored")
		})
	}
}

// TestResumeWithALogOfItsOwn: files into which a session or an earlier one prints are no code, whether git knows them or not.
func TestResumeWithALogOfItsOwn(t *testing.T) {
	inRepository(t, map[string]string{"run.sh": ":\n", "known.log": ""})
	s, k := parse(t, "command: [sh, run.sh, '{n}']\ngrid: {n: [1, 2, 3, 4, 5]}\nrepeats: 1\nwarmup: 0\niterations: 1\n"), &shelf{}
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	for done, name := range []string{"a.log", "b.log", "known.log", "", "a.log"} {
		os.Stderr = stderr
		if name != "" {
			log := valuetest.Must(os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666))
			defer log.Close()
			os.Stderr = log
			fmt.Fprintf(log, "session %d\n", done)
		}
		if plan := k.bench(t, s, 1, nil).Plan; plan.Done != done {
			t.Errorf("%d done, want %d; changes %v", plan.Done, done, plan.Changes)
		}
	}
}

// TestResumeOrder: a session that continues another one continues its order, so that each block of both is whole; one that begins anew draws
// another order.
func TestResumeOrder(t *testing.T) {
	const text = "command: [sh, -c, ': {variant}{n}']\nvariant: [a, b]\ngrid: {n: [1, 2, 3]}\nrepeats: 4\niterations: 1\nwarmup: 0\n"
	s, k := parse(t, text), &shelf{}
	for _, after := range []int{5, 6, 0} {
		k.bench(t, s, after, nil)
	}
	seed := k.runs[0].Env.Facts[factOrderSeed]
	places := map[[2]int64]bool{}
	for _, r := range k.runs {
		valuetest.DeepEqual(t, r.Env.Facts[factOrderSeed], seed, "the seed")
		places[[2]int64{*r.BlockIndex, *r.PositionIndex}] = true
	}
	if len(k.runs) != 24 || len(places) != 24 {
		t.Errorf("%d runs in %d places, want 24", len(k.runs), len(places))
	}
	k.bench(t, s, 0, nil)
	if again := k.runs[24].Env.Facts[factOrderSeed]; again == seed || again == "" {
		t.Errorf("a new session has the seed %s", again)
	}
}

// TestResumePassWithASecret: a pass whose arguments have a secret, which is not stored, is done when it ran, and other arguments are another
// pass.
func TestResumePassWithASecret(t *testing.T) {
	t.Setenv("PATH", valuetest.Must(filepath.Abs("testdata/profilers"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	k := &shelf{}
	const text = "command: [\"true\", \"{n}\"]\ngrid: {n: [1, 2]}\nwarmup: 0\niterations: 1\nrepeats: 1\nenv: {SERVICE_TOKEN: 4f9a77c1b2}\n" +
		"profile: [{tool: cachegrind, args: [--password=hunter2x, --at=4f9a77c1b2%s]}]\n"
	s := parse(t, fmt.Sprintf(text, ""))
	k.bench(t, s, 3, nil) // the second pass is missing
	stored := k.runs[2].Env.Facts["profile.args"]
	if stored == "" || strings.Contains(stored, "hunter2x") || strings.Contains(stored, "4f9a77c1b2") {
		t.Errorf("stored %q", stored)
	}
	dry := func(o *Options) { o.DryRun = true }
	valuetest.DeepEqual(t, k.bench(t, s, 0, dry).Plan.Done, 3)
	valuetest.DeepEqual(t, k.bench(t, parse(t, fmt.Sprintf(text, "9")), 0, dry).Plan.Done, 2)
}
