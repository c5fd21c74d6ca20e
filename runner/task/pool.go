package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// killWait is how long a killed tree may take to be gone.
const killWait = 10 * time.Second

// Pool runs tasks, also several at once. A process has one Pool. It is a subreaper: a child from another session that is not one of its
// supervisors is the orphan of a supervisor that died.
type Pool struct {
	self     string // this program, to be started again
	killWait time.Duration
	root     fs.FS // where the cgroup is looked up
	share    func() *shared

	// mu is held to start a supervisor and to sweep, so that a sweep knows every supervisor.
	mu    sync.Mutex
	known map[int]bool // supervisors that are not reaped
	spare *link        // a supervisor whose run has ended, for the next command; or nil
}

// New makes this process a subreaper and returns its Pool. The main function of the program must call Main.
func New() (*Pool, error) {
	self, err := selfPath()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	return &Pool{self: self, killWait: killWait, root: os.DirFS("/"), share: newShared, known: map[int]bool{}}, nil
}

// Run runs a point once and returns when no process of it is left. progress, if not nil, is called from this goroutine when a stage begins
// and a few times per second. If ctx ends, the process tree is killed and the Outcome is cancelled, with the samples taken so far. An error
// is a problem of the runner itself, such as no room for the run directory or an invalid Spec. Whatever happens to the benchmark is an
// Outcome.
func (p *Pool) Run(ctx context.Context, spec Spec, progress func(Progress)) (Outcome, error) {
	spec, err := spec.filled()
	if err != nil {
		return Outcome{}, err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	if ctx.Err() != nil {
		return Outcome{
			Status: schema.StatusCancelled, Stage: schema.StageSetup, StartedAt: stamp(time.Now()),
			ErrorKind: string(schema.StatusCancelled), Error: cancelledText,
		}, nil
	}
	l, f, err := p.supervisor(spec)
	if err != nil {
		return Outcome{}, fmt.Errorf("starting a supervisor: %w", err)
	}
	dir := f.dir
	r := &run{pool: p, spec: spec, job: spec.job(p.killWait).in(dir, spec.RunDir), report: progress, folder: f, link: l}
	defer r.remove()
	if err := r.prepare(); err != nil {
		r.release(false, p.killWait)
		return Outcome{}, fmt.Errorf("preparing a run: %w", err)
	}
	r.begin()
	r.follow(ctx)
	o := r.outcome()
	if spec.Leave != nil {
		spec.Leave(Left{
			Outcome: &o, Dir: filepath.Join(dir, ownDir), Profile: filepath.Join(dir, profileFile), Stdout: r.stdout, Stderr: r.stderr,
		})
	}
	r.removeDir() // before the supervisor may go, so that at every moment somebody is there to do it
	p.part(r)
	return o, nil
}

// supervisor is the supervisor for a run, and its folder: that of an earlier one, or a new one. It never leaves an idle one beside a run.
func (p *Pool) supervisor(spec Spec) (*link, *folder, error) {
	if l := p.takeSpare(); l != nil {
		if l.goesOn() && spec.perProcess() {
			return l, l.ahead, nil
		}
		p.dismiss(l)
	}
	f := newFolder()
	var files *shared
	if spec.perProcess() {
		files = p.share()
	}
	l, err := p.newLink(f.dir, files)
	if err != nil {
		files.close()
		return nil, nil, err
	}
	files.lend(f)
	return l, f, nil
}

// takeSpare is the supervisor that waits for another run; nil: there is none.
func (p *Pool) takeSpare() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.spare
	p.spare = nil
	return l
}

// dismiss lets a supervisor go that has made another folder.
func (p *Pool) dismiss(l *link) {
	l.release(false, p.killWait)
	l.ahead.remove()
}

// part keeps the supervisor of a run for the next one, or lets it go. Only a command that ended by itself, with nothing left, was a run after
// which there may be another one.
func (p *Pool) part(r *run) {
	if r.spec.perProcess() && r.cause == nil && !r.dead && r.done != nil && r.left == 0 {
		r.served = true
		p.mu.Lock()
		kept := p.spare == nil
		if kept {
			r.goAhead()
			p.spare = r.link
		}
		p.mu.Unlock()
		if kept {
			return
		}
	}
	r.release(r.dead || r.phase == phaseTakeover, p.killWait)
}

// Close ends the supervisor that waits for another run, and kills and reaps the processes of supervisors that died. No Run may be in
// progress.
func (p *Pool) Close() error {
	if l := p.takeSpare(); l != nil {
		<-l.made
		p.dismiss(l)
	}
	if left := p.sweep(); left > 0 {
		return fmt.Errorf("sweeping orphans: %d processes survived SIGKILL", left)
	}
	return nil
}

// start starts a supervisor.
func (p *Pool) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	p.known[cmd.Process.Pid] = true
	return nil
}

// wait reaps a supervisor and gives how it ended.
func (p *Pool) wait(cmd *exec.Cmd) syscall.WaitStatus {
	err := cmd.Wait()
	p.mu.Lock()
	delete(p.known, cmd.Process.Pid) // only now may its number be that of an orphan
	p.mu.Unlock()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.Sys().(syscall.WaitStatus)
	}
	return 0
}

// sweep kills and reaps orphans and gives how many survive that.
func (p *Pool) sweep() (left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sweepOrphans(p.known, p.killWait/2)
}
