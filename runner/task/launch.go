package task

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/schema"
)

// run is the state of one run in the runner process.
type run struct {
	pool   *Pool
	spec   Spec
	job    job
	report func(Progress)

	*folder
	*link           // the supervisor
	starting string // the order to start
	samples  *sampleReader
	stack    *os.File    // where a worker that is another program writes its stack; or nil
	keeper   *keeper     // of a worker's; or nil
	timer    *time.Timer // of the phase
	due      time.Time   // when the timer fires
	phase    phase
	over     bool
	handled  int // messages, and one more, so that caughtUp is less at first
	caughtUp int // number of them when the timer was last late

	launched time.Time
	epoch    [streams]time.Time // when a sender's clock was 0; zero until it said hello
	stage    schema.Stage
	began    moment // of the stage
	since    moment // start of the stage or, within it, of the running process, from which the deadline counts
	stages   schema.Stages
	reported int

	// The end, as far as it is known.
	cause       *cause // why the runner ended the run
	warmup      int    // samples
	measured    int
	protocolErr error  // error about a line that is not an event
	keepErr     error  // error of keeping the outputs of a worker
	failed      *event // unsupported or error
	result      *event
	exit        *event // of the worker
	done        *event
	death       syscall.WaitStatus // of the supervisor
	dead        bool
	left        int // processes that survive SIGKILL
	ended       [streams]bool
	facts       map[string]string
	missing     map[string]string
	files       []File // see Spec.Watch
	reports     reports
	enough      int   // number of samples when Enough was last called
	dumped      int64 // last seen size of the stack dump
	dumpBy      time.Time
	oomKills    int64 // of the cgroup, before the start
}

// cause is why the runner ended a run.
type cause struct {
	status     schema.Status
	kind, text string
	stage      schema.Stage
	at         time.Time // the deadline, where it was one
}

// prepare makes the rest of the run directory, and all of it if nothing is there.
func (r *run) prepare() error {
	if !r.there {
		if err := r.make(r.spec.perProcess()); err != nil {
			return err
		}
	}
	if err := r.prepareSamples(); err != nil {
		return err
	}
	var err error
	if r.job, err = r.job.withProfiler(r.spec.Profiler, r.dir); err != nil {
		return err
	}
	if err := r.prepareJob(); err != nil {
		return err
	}
	if r.spec.Program != nil {
		if err := r.create(runFile{&r.stack, stackFile}); err != nil {
			return err
		}
		for name, text := range r.spec.Program.Files {
			if err := os.WriteFile(filepath.Join(r.dir, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	if !r.spec.perProcess() && len(r.spec.Keep) > 0 {
		if r.keeper, err = newKeeper(r.dir, &r.job); err != nil {
			return err
		}
	}
	return nil
}

// prepareSamples allocates the samples: in the memory that the supervisor shares, if that is large enough.
func (r *run) prepareSamples() (err error) {
	shape := r.job.shape()
	if r.reused != nil {
		r.job.Shared = sharedNames[1:]
	}
	if r.inMemory() {
		r.job.Shared = sharedNames[:]
		r.samples, err = renewSamples(r.reused.samples, shape)
		return err
	}
	r.samples, err = createSamples(filepath.Join(r.dir, samplesFile), shape)
	return err
}

// inMemory reports whether the samples are in the memory that the supervisor shares.
func (r *run) inMemory() bool { return r.reused != nil && r.job.shape().size() <= maxSharedSamples }

// maxOrder is the length, in B, up to which a job is a part of the order to start. It fits into the buffer of a pipe, so writing never
// blocks.
const maxOrder = 16 << 10

// prepareJob writes the job to a file, unless it is short and only the supervisor needs it.
func (r *run) prepareJob() error {
	text, err := json.Marshal(r.job.mapped(shellwords.ToUTF8))
	if err != nil {
		return err
	}
	if r.spec.perProcess() && len(text) <= maxOrder {
		r.starting = orderStart + " " + string(text)
		return nil
	}
	r.starting = orderStart
	return os.WriteFile(filepath.Join(r.dir, jobFile), text, 0o600)
}

// remove closes and removes what prepare made.
func (r *run) remove() {
	if r.samples != nil && !r.inMemory() {
		_ = r.samples.close()
	}
	if r.keeper != nil {
		r.keeper.close()
	}
	_ = r.stack.Close() // of nil too
	r.folder.remove()
}

// begin orders the supervisor to start.
func (r *run) begin() {
	r.oomKills, _ = oomKills(r.pool.root)
	r.facts, r.missing = map[string]string{}, map[string]string{}
	if r.keeper != nil {
		r.keeper.mark()
	}
	r.launched, r.handled = time.Now(), 1
	r.ended[fromWorker] = r.served // no later run has a worker
	r.stage, r.began, r.since = schema.StageSetup, moment{r.launched, unset}, moment{r.launched, unset}
	r.order(r.starting)
}

// folder has the parts of a run directory that every run has: the directories, and the files that the processes write.
type folder struct {
	dir            string
	there          bool    // make was called
	reused         *shared // owner of the files; nil: they are in the directory
	stdout, stderr *os.File
	kept           *os.File // the kept outputs
	events         *os.File // where the processes of a command write events; or nil
}

// newFolder returns a folder that is not made yet.
func newFolder() *folder {
	return &folder{dir: filepath.Join(os.TempDir(), "neurolens-run-"+rand.Text())}
}

// make makes the directories and the files, of a command or of a worker. A supervisor that has been given the existing directory removes
// it if this process ends now.
func (f *folder) make(command bool) error {
	f.there = true
	for _, dir := range []string{f.dir, filepath.Join(f.dir, ownDir)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if f.reused != nil {
		return nil
	}
	files := []runFile{{&f.stdout, stdoutFile}, {&f.stderr, stderrFile}, {&f.kept, keptFile}}
	if command {
		files = append(files, runFile{&f.events, eventsFile})
	}
	for _, file := range files {
		if err := f.create(file); err != nil {
			return err
		}
	}
	return nil
}

// runFile is a file of the run directory that the runner reads at the end.
type runFile struct {
	file **os.File
	name string
}

// create creates a file of the run directory.
func (f *folder) create(file runFile) (err error) {
	*file.file, err = os.OpenFile(filepath.Join(f.dir, file.name), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return err
}

// remove closes the files, if they are its own, and removes the directory, if it exists.
func (f *folder) remove() {
	if f.reused == nil {
		for _, file := range []*os.File{f.stdout, f.stderr, f.kept, f.events} {
			_ = file.Close() // of nil too
		}
	}
	f.removeDir()
}

// removeDir removes the directory with its contents. Mostly it is empty.
func (f *folder) removeDir() {
	_ = syscall.Rmdir(filepath.Join(f.dir, ownDir))
	if err := syscall.Rmdir(f.dir); err != nil && err != syscall.ENOENT {
		_ = os.RemoveAll(f.dir)
	}
}

// Left are the files and outputs that a run has left.
type Left struct {
	Outcome        *Outcome
	Dir            string   // replaces Spec.RunDir
	Profile        string   // the file of a worker that profiles itself; it need not exist
	Profiler       string   // the folder of Spec.Profiler
	Stdout, Stderr *os.File // standard output and error, from the first byte on; for a command, of its last process
}

// runDirVariable is the environment variable with the directory of the run.
const runDirVariable = "NEUROLENS_RUN_DIR"

// profileFile is the file in the directory of the run to which a worker writes the recording of a profiler.
const profileFile = "profile.json"

// The directories in the directory of the run for the benchmark, and for the program that profiles it.
const (
	ownDir      = "own"
	profilerDir = "profiler"
)

// withProfiler returns the job with the program that profiles it, whose folder is made.
func (j job) withProfiler(p *Profiler, dir string) (job, error) {
	if p == nil {
		return j, nil
	}
	folder := filepath.Join(dir, profilerDir)
	temporary := filepath.Join(folder, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return j, err
	}
	j.Profiler = p.Args(folder)
	j.Env = append(append(j.Env[:len(j.Env):len(j.Env)], p.Env...), "TMPDIR="+temporary)
	return j, nil
}

// in returns the job with the private directory of the run inserted for a word in its texts.
func (j job) in(dir, word string) job {
	own := filepath.Join(dir, ownDir)
	if word != "" {
		j = j.mapped(func(text string) string { return strings.ReplaceAll(text, word, own) })
	}
	j.Env = append(j.Env[:len(j.Env):len(j.Env)], runDirVariable+"="+own)
	return j
}

// mapped returns the job with its texts that programs or the system get changed.
func (j job) mapped(change func(string) string) job {
	for _, text := range []*string{&j.Stdin, &j.Stdout, &j.Dir} {
		*text = change(*text)
	}
	for _, texts := range []*[]string{&j.Command, &j.Program, &j.Profiler, &j.Env, &j.Keep, &j.Start, &j.Hooks.Setup, &j.Hooks.Prepare, &j.Hooks.Cleanup} {
		changed := make([]string, len(*texts))
		for i, text := range *texts {
			changed[i] = change(text)
		}
		*texts = changed
	}
	return j
}
