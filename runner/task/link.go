package task

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// link is the runner's side of a supervisor: its life line, and what it says. It serves one run after the other.
type link struct {
	cmd      *exec.Cmd
	orders   *os.File                // the life line
	streams  [streams]*os.File       // events
	messages chan message            // of both streams
	exited   chan syscall.WaitStatus // of the supervisor
	quit     chan struct{}           // nobody listens any more

	inherited inheritance // by the supervisor
	served    bool        // a run
	ready     *event      // that it can serve another one, or cannot
	ahead     *folder     // of the next run
	made      chan error  // whether that is there
	shared    *shared     // files of its runs; nil: each run has its own
}

// The streams of events.
const (
	fromSupervisor = iota
	fromWorker
	streams
)

// message is what a stream brought: an event, or its end with the reason if it was not the proper one.
type message struct {
	from  int
	event event
	end   bool
	err   error
}

// inheritance is what a supervisor gets from the runner, for comparisons.
type inheritance struct {
	environ []string
	dir     string
	rest    inherited
}

// inheritanceNow is what a supervisor that started now would get.
func inheritanceNow() (i inheritance) {
	i.environ = os.Environ()
	i.dir, _ = os.Getwd()
	i.rest, _ = readInherited(os.Getpid()) // which of the threads starts it is not known
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
		l.hangUp()
		return nil, err
	}
	for i := range l.streams {
		read, write, err := os.Pipe()
		if err != nil {
			l.hangUp()
			return nil, err
		}
		l.streams[i], passed = read, append(passed, write)
	}
	l.cmd = &exec.Cmd{
		Path: p.self, Args: []string{os.Args[0], roleSupervise, dir}, ExtraFiles: passed,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := p.start(l.cmd); err != nil {
		l.hangUp()
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

// order tells the supervisor something. It fails if the supervisor is gone, which exited tells too.
func (l *link) order(word string) { _, _ = l.orders.WriteString(word + "\n") }

// readyWait is how long a supervisor may take to say whether it can serve another run. It is a matter of microseconds, and of more
// where other work has the processors.
const readyWait = 10 * time.Second

// errSpent is that a supervisor serves no other run.
var errSpent = errors.New("the supervisor serves no other run")

// goAhead has the supervisor take another run and makes its directory, while the runner is busy with what the last one has left.
func (l *link) goAhead() {
	l.ahead, l.made = newFolder(), make(chan error, 1)
	l.shared.lend(l.ahead)
	go func() {
		err := l.next(l.ahead.dir)
		if err == nil && l.shared != nil {
			err = l.shared.renew()
		}
		if err == nil {
			err = l.ahead.make(true)
		}
		l.made <- err
	}()
}

// next tells the supervisor of another run directory, which is made after that, so that it is removed in any case.
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

// goesOn waits for the directory and reports whether the supervisor can serve the next run in it. It cannot if it would not pass on to its
// processes what a new one does, or if it is gone.
func (l *link) goesOn() bool {
	if err := <-l.made; err != nil || !l.inherited.equal(inheritanceNow()) {
		return false
	}
	select {
	case <-l.messages: // the end of them, as it has nothing to say
		return false
	case status := <-l.exited:
		l.exited <- status
		return false
	default:
		return true
	}
}

// note takes in that the supervisor is ready.
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
	l.hangUp()
	l.shared.close()
}

// hangUp closes the runner's ends of the pipes.
func (l *link) hangUp() {
	_ = l.orders.Close()
	for _, f := range l.streams {
		_ = f.Close()
	}
}
