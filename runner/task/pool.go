package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	idle  *link        // a supervisor whose run has ended, for the next command; or nil
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
			Outcome: &o, Dir: filepath.Join(dir, ownDir), Profile: filepath.Join(dir, profileFile), Profiler: filepath.Join(dir, profilerDir),
			Stdout: r.stdout, Stderr: r.stderr,
		})
	}
	r.removeDir() // before the supervisor may exit, so that at every moment a process is responsible for removing it
	p.recycle(r)
	return o, nil
}

// supervisor returns a supervisor for a run, with its folder. It reuses the idle one if it can, and otherwise ends it and starts a new one.
func (p *Pool) supervisor(spec Spec) (*link, *folder, error) {
	if l := p.takeIdle(); l != nil {
		if l.canContinue() && spec.perProcess() {
			return l, l.nextFolder, nil
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
	files.assign(f)
	return l, f, nil
}

// takeIdle removes the supervisor that waits for another run from the pool and returns it, or nil.
func (p *Pool) takeIdle() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.idle
	p.idle = nil
	return l
}

// dismiss ends an idle supervisor and removes the folder that was made for its next run.
func (p *Pool) dismiss(l *link) {
	l.release(false, p.killWait)
	l.nextFolder.remove()
}

// recycle keeps the supervisor of a run for the next one, or ends it. It keeps it only after a command that ended by itself and left
// nothing behind.
func (p *Pool) recycle(r *run) {
	if r.spec.perProcess() && r.cause == nil && !r.dead && r.done != nil && r.left == 0 {
		r.served = true
		p.mu.Lock()
		kept := p.idle == nil
		if kept {
			r.prepareNext()
			p.idle = r.link
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
	if l := p.takeIdle(); l != nil {
		<-l.nextReady
		p.dismiss(l)
	}
	if left := p.sweep(); left > 0 {
		return fmt.Errorf("sweeping orphans: %d processes survived SIGKILL", left)
	}
	return nil
}

// start starts the process of a supervisor.
func (p *Pool) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	p.known[cmd.Process.Pid] = true
	return nil
}

// wait reaps a supervisor and returns how it ended.
func (p *Pool) wait(cmd *exec.Cmd) syscall.WaitStatus {
	err := cmd.Wait()
	p.mu.Lock()
	delete(p.known, cmd.Process.Pid) // only now may its pid be reused by an orphan
	p.mu.Unlock()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.Sys().(syscall.WaitStatus)
	}
	return 0
}

// sweep kills and reaps orphans, and returns how many survive.
func (p *Pool) sweep() (left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sweepOrphans(p.known, p.killWait/2)
}

// link is the connection of the runner to a supervisor: orders in one direction, events in the other. It serves one run after the other.
type link struct {
	cmd      *exec.Cmd
	orders   *os.File                // the life line
	streams  [streams]*os.File       // events
	messages chan message            // of both streams
	exited   chan syscall.WaitStatus // of the supervisor
	quit     chan struct{}           // closed when the receiver is gone

	inherited  inheritance // by the supervisor
	served     bool        // a run
	ready      *event      // that it can serve another one, or cannot
	nextFolder *folder     // of the next run
	nextReady  chan error  // result of making nextFolder
	shared     *shared     // files of its runs; nil: each run has its own
}

// The streams of events.
const (
	fromSupervisor = iota
	fromWorker
	streams
)

// message is an event of a stream, or its end, with the error that ended it.
type message struct {
	from  int
	event event
	end   bool
	err   error
}

// inheritance is the state that a supervisor inherits from the runner, for comparisons.
type inheritance struct {
	environ []string
	dir     string
	rest    inherited
}

// inheritanceNow returns the state that a supervisor would inherit if it were started now.
func inheritanceNow() (i inheritance) {
	i.environ = os.Environ()
	i.dir, _ = os.Getwd()
	i.rest, _ = readInherited(os.Getpid()) // it is not known which thread starts it
	return i
}

func (i inheritance) equal(other inheritance) bool {
	return i.dir == other.dir && i.rest == other.rest && slices.Equal(i.environ, other.environ)
}

// newLink starts a supervisor, which waits for the order to start, and the goroutines that listen to it.
func (p *Pool) newLink(dir string, files *shared) (*link, error) {
	ordersRead, orders, err := newOrders()
	if err != nil {
		return nil, err
	}
	passed := []*os.File{ordersRead}
	defer func() {
		for _, f := range passed {
			_ = f.Close()
		}
	}()
	l := &link{orders: orders, inherited: inheritanceNow(), shared: files}
	if err := files.send(orders); err != nil {
		l.closePipes()
		return nil, err
	}
	for i := range l.streams {
		read, write, err := os.Pipe()
		if err != nil {
			l.closePipes()
			return nil, err
		}
		l.streams[i], passed = read, append(passed, write)
	}
	l.cmd = &exec.Cmd{
		Path: p.self, Args: []string{os.Args[0], roleSupervise, dir}, ExtraFiles: passed,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := p.start(l.cmd); err != nil {
		l.closePipes()
		return nil, fmt.Errorf("%s: %w", p.self, err)
	}
	l.listen(p)
	return l, nil
}

// listen starts the goroutines that feed messages; they end when quit is closed and the pipes are.
func (l *link) listen(p *Pool) {
	l.messages = make(chan message)
	l.exited = make(chan syscall.WaitStatus, 1)
	l.quit = make(chan struct{})
	send := func(m message) {
		select {
		case l.messages <- m:
		case <-l.quit:
		}
	}
	for i, f := range l.streams {
		go func() {
			err := readEvents(f, func(e event) { send(message{from: i, event: e}) })
			send(message{from: i, end: true, err: err})
		}()
	}
	go func() { l.exited <- p.wait(l.cmd) }()
}

// order sends an order. It fails silently if the supervisor is gone, which exited reports.
func (l *link) order(word string) { _, _ = l.orders.WriteString(word + "\n") }

// readyWait is the time limit for the answer of a supervisor whether it can serve another run. The answer takes microseconds, or longer
// if other work uses the processors.
const readyWait = 10 * time.Second

// errSpent: the supervisor cannot serve another run.
var errSpent = errors.New("the supervisor serves no other run")

// prepareNext requests another run from the supervisor and makes its directory, while the runner processes the results of the last one.
func (l *link) prepareNext() {
	l.nextFolder, l.nextReady = newFolder(), make(chan error, 1)
	l.shared.assign(l.nextFolder)
	go func() {
		err := l.next(l.nextFolder.dir)
		if err == nil && l.shared != nil {
			err = l.shared.renew()
		}
		if err == nil {
			err = l.nextFolder.make(true)
		}
		l.nextReady <- err
	}()
}

// next sends the path of another run directory to the supervisor. The directory is made after that, so that it is removed in any case.
func (l *link) next(dir string) error {
	timeout := time.After(readyWait)
	for l.ready == nil {
		select {
		case m := <-l.messages:
			if m.end {
				return errSpent
			}
			l.note(m.event)
		case <-timeout:
			return errSpent
		}
	}
	if l.ready.Spent {
		return errSpent
	}
	l.ready = nil
	_, err := l.orders.WriteString(orderNext + " " + strconv.Quote(dir) + "\n")
	return err
}

// canContinue waits for the directory and reports whether the supervisor can serve the next run in it. It cannot if its processes would
// inherit other state than from a new supervisor, or if it is gone.
func (l *link) canContinue() bool {
	if err := <-l.nextReady; err != nil || !l.inherited.equal(inheritanceNow()) {
		return false
	}
	select {
	case <-l.messages: // the stream ended: the supervisor has no answer
		return false
	case status := <-l.exited:
		l.exited <- status
		return false
	default:
		return true
	}
}

// note records that the supervisor is ready.
func (l *link) note(e event) {
	if e.Event == eventReady {
		l.ready = &e
	}
}

// release lets the supervisor go, waits for its end unless that is known, and stops listening.
func (l *link) release(gone bool, wait time.Duration) {
	_ = l.orders.Close()
	if !gone {
		select {
		case <-l.exited:
		case <-time.After(wait):
			_ = l.cmd.Process.Kill()
		}
	}
	close(l.quit)
	l.closePipes()
	l.shared.close()
}

// closePipes closes the runner's ends of the pipes.
func (l *link) closePipes() {
	_ = l.orders.Close()
	for _, f := range l.streams {
		_ = f.Close()
	}
}
