package task

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// run is the runner's side of one run.
type run struct {
	pool   *Pool
	spec   Spec
	job    job
	report func(Progress)

	dir            string
	samples        *sampleReader
	stdout, stderr *os.File
	stack          *os.File    // where a worker that is another program writes its stack; or nil
	events         *os.File    // where the processes of a command write events; or nil
	kept           *os.File    // what is kept of outputs
	keeper         *keeper     // of a worker's; or nil
	*link                      // the supervisor
	timer          *time.Timer // of the phase
	phase          phase
	over           bool
	handled        int // messages, and one more, so that caughtUp is less at first
	caughtUp       int // how many of them there were when the runner was last behind

	launched time.Time
	epoch    [streams]time.Time // when a sender's clock was 0; zero until it said hello
	stage    schema.Stage
	began    moment // of the stage
	since    moment // of the stage, or of the process in it that runs now: what the deadline counts from
	stages   schema.Stages
	reported int

	// What is known of the end.
	cause    *cause // why the runner ended the run
	warmup   int    // samples
	measured int
	garbage  error  // what was no event
	unkept   error  // what kept outputs of a worker from being kept
	failed   *event // unsupported or error
	result   *event
	exit     *event // of the worker
	done     *event
	death    syscall.WaitStatus // of the supervisor
	dead     bool
	left     int // processes that survive SIGKILL
	ended    [streams]bool
	facts    map[string]string
	missing  map[string]string
	reports  reports
	enough   int   // samples at which Enough was asked last
	dumped   int64 // size of the stack when it was looked at last
	dumpBy   time.Time
	oomKills int64 // of the cgroup, before the start
}

// cause is why the runner ended a run.
type cause struct {
	status     schema.Status
	kind, text string
	stage      schema.Stage
	at         time.Time // the deadline, where it was one
}

// prepare makes the run directory. The supervisor, which is there already, removes it if this process ends now.
func (r *run) prepare() error {
	for _, dir := range []string{r.dir, filepath.Join(r.dir, ownDir)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	text, err := json.Marshal(r.job)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, jobFile), text, 0o600); err != nil {
		return err
	}
	if r.samples, err = createSamples(filepath.Join(r.dir, samplesFile), r.job.shape()); err != nil {
		return err
	}
	files := []runFile{{&r.stdout, stdoutFile}, {&r.stderr, stderrFile}, {&r.kept, keptFile}}
	if r.spec.perProcess() {
		files = append(files, runFile{&r.events, eventsFile})
	}
	if r.spec.Program != nil {
		files = append(files, runFile{&r.stack, stackFile})
		for name, text := range r.spec.Program.Files {
			if err := os.WriteFile(filepath.Join(r.dir, name), text, 0o600); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		*f.file, err = os.OpenFile(filepath.Join(r.dir, f.name), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
	}
	if !r.spec.perProcess() && len(r.spec.Keep) > 0 {
		r.keeper, err = newKeeper(r.dir, &r.job)
	}
	return err
}

// runFile is a file of the run directory that the runner reads in the end.
type runFile struct {
	file **os.File
	name string
}

// remove closes and removes what prepare made.
func (r *run) remove() {
	if r.samples != nil {
		_ = r.samples.close()
	}
	if r.keeper != nil {
		r.keeper.close()
	}
	for _, f := range []*os.File{r.stdout, r.stderr, r.stack, r.events, r.kept} {
		_ = f.Close() // of nil too
	}
	_ = os.RemoveAll(r.dir)
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
	r.order(orderStart)
}
