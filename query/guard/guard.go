// Package guard has a part of the program run in a process of its own, which cannot take the program or the machine
// down with it: it may use so much memory, it is ended soon after it was asked to stop, it ends with the process that
// started it, and if it crashes that is an error.
//
// The two speak through two pipes. On the first the parent sends the order, a line of JSON, and later a byte if the
// child is to stop; its end means that the parent is gone. On the second the child sends its answer, in JSON, when it is
// done: a child that ends without one has crashed.
package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// ErrMemory is that a child needed more memory than it may have.
var ErrMemory = errors.New("it needs more memory than its limit")

// Job is what a child does.
type Job struct {
	Argument any           // for the child, as JSON
	Stdout   io.Writer     // of the child
	Grace    time.Duration // how long the child may go on after it was asked to stop
	Memory   int64         // bytes of the machine's memory that the child may hold
	Scratch  string        // a directory that the child removes if the parent is gone
	Keep     *os.File      // a file that stays open as long as the child lives, which has it as KeptFile; may be nil
}

// order is what the parent sends first.
type order struct {
	Argument json.RawMessage
	Memory   int64
	Scratch  string
}

// KeptFile is the number that Job.Keep has in the child.
const KeptFile = 5

// The numbers of the two pipes in the child, and where role stands in its arguments.
const (
	ordersFile = 3
	answerFile = 4
	role       = "guarded-part"
)

// exitMemory is the exit code of a child that found itself to hold too much memory.
const exitMemory = 3

// Run has a child do a job, and reads its answer. When the context ends the child is asked to stop, and killed if it has
// not after the job's Grace; the error is the context's. Other errors are ErrMemory and *Crash.
func Run(ctx context.Context, job Job, answer any) error {
	argument, err := json.Marshal(job.Argument)
	if err != nil {
		return fmt.Errorf("starting a process for it: %w", err)
	}
	c, err := start(job)
	if err != nil {
		return fmt.Errorf("starting a process for it: %w", err)
	}
	defer c.close()
	line, err := json.Marshal(order{argument, job.Memory, job.Scratch})
	if err != nil {
		return fmt.Errorf("starting a process for it: %w", err)
	}
	go func() { _, _ = c.orders.Write(append(line, '\n')) }() // it fails if the child is gone, which c.watch tells too
	killed := c.watch(ctx, job)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case killed && len(c.answer) == 0:
		return ErrMemory
	case len(c.answer) == 0 && c.cmd.ProcessState.ExitCode() == exitMemory:
		return ErrMemory
	case len(c.answer) == 0:
		return crashOf(c.cmd.ProcessState, c.stderr.text)
	}
	if err := json.Unmarshal(c.answer, answer); err != nil {
		return fmt.Errorf("reading the answer of a process: %w", err)
	}
	return nil
}

// child is a process that was started.
type child struct {
	cmd    *exec.Cmd
	orders *os.File
	stderr head
	answer []byte        // complete once done is closed
	done   chan struct{} // closed when the child is gone
}

func start(job Job) (*child, error) {
	ordersRead, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ordersRead.Close()
	answers, answersWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	defer answersWrite.Close()
	path, err := selfPath()
	if err != nil {
		return nil, errors.Join(err, orders.Close(), answers.Close())
	}
	c := &child{orders: orders, done: make(chan struct{})}
	c.cmd = &exec.Cmd{
		Path: path, Args: []string{os.Args[0], role},
		Stdout: job.Stdout, Stderr: &c.stderr, ExtraFiles: []*os.File{ordersRead, answersWrite},
	}
	if job.Keep != nil {
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, job.Keep)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, orders.Close(), answers.Close())
	}
	go func() {
		defer close(c.done)
		c.answer, _ = io.ReadAll(answers) // it ends when the child does
		_ = answers.Close()
		_ = c.cmd.Wait() // how it ended is in c.cmd.ProcessState
	}()
	return c, nil
}

// watch waits for the end of the child, and brings it about where it must. It tells whether the child was killed for its
// memory.
func (c *child) watch(ctx context.Context, job Job) (killed bool) {
	stop := ctx.Done()
	var late <-chan time.Time
	next := time.NewTimer(shortest)
	defer next.Stop()
	pid := strconv.Itoa(c.cmd.Process.Pid)
	for {
		select {
		case <-c.done:
			return killed
		case <-stop:
			stop = nil
			_, _ = c.orders.Write([]byte{'.'}) // it fails if the child is gone
			late = time.After(job.Grace)
		case <-late:
			_ = c.cmd.Process.Kill()
		case <-next.C:
			left := job.Memory - resident(pid)
			if left < 0 {
				killed = true
				_ = c.cmd.Process.Kill()
			}
			next.Reset(pause(left))
		}
	}
}

// The memory of a child is looked at after as long as it takes to fill what is left of it, but not all the time.
const (
	shortest = time.Millisecond
	longest  = 50 * time.Millisecond
	fillRate = 16 << 30 // bytes a second
)

func pause(left int64) time.Duration {
	return min(max(time.Duration(float64(left)/fillRate*float64(time.Second)), shortest), longest)
}

// close ends the child if it has not ended.
func (c *child) close() {
	_ = c.cmd.Process.Kill() // it fails where the child is gone
	<-c.done
	_ = c.orders.Close()
}

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 16 << 10
	h.text = append(h.text, p[:min(len(p), most-len(h.text))]...)
	return len(p), nil
}

// Crash is how a child ended that gave no answer.
type Crash struct {
	Signal string // SIGSEGV and so on, where a signal ended it
	Says   string // the first line of its standard error, where no signal did
}

func (c *Crash) Error() string {
	switch {
	case c.Signal != "":
		return "it crashed (" + c.Signal + ")"
	case c.Says != "":
		return "it crashed (" + c.Says + ")"
	}
	return "it ended without an answer"
}

// signals are the names of those that end a process that is at fault, or that the system ends.
var signals = map[syscall.Signal]string{
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGILL: "SIGILL",
	syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGSYS: "SIGSYS",
}
