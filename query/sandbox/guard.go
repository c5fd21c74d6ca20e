// Package sandbox runs a part of the program in a child process, so that it cannot take down the program or the machine. The memory of the
// child is limited, it is killed if it does not stop when asked, it ends when its parent ends, and a crash becomes an error.
//
// Parent and child communicate through two pipes. On the first, the parent sends the job as a line of JSON, and later a byte to ask the
// child to stop; if the pipe is closed, the parent is gone. On the second, the child sends its answer as JSON when it is done. A child that
// ends without an answer has crashed.
package sandbox

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

// ErrMemory means that a child needed more memory than its limit.
var ErrMemory = errors.New("it needs more memory than its limit")

// Job describes the work of a child.
type Job struct {
	Argument any           // for the child, as JSON
	Stdout   io.Writer     // of the child
	Grace    time.Duration // time to stop after the child was asked to, before it is killed
	Memory   int64         // memory limit in bytes (resident memory)
	Scratch  string        // directory that the child removes if the parent is gone
	Keep     *os.File      // file that the child keeps open as KeptFile; may be nil
}

// request is the first message of the parent.
type request struct {
	Argument json.RawMessage
	Memory   int64
	Scratch  string
}

// KeptFile is the file descriptor of Job.Keep in the child.
const KeptFile = 5

// The file descriptors of the two pipes in the child, and the argument that makes a process a child.
const (
	ordersFile = 3
	answerFile = 4
	role       = "guarded-part"
)

// exitMemory is the exit code of a child that used too much memory.
const exitMemory = 3

// Run runs a job in a child and reads its answer. When the context ends, the child is asked to stop, and killed after Job.Grace; the error
// is that of the context. Other errors are ErrMemory and *Crash.
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
	line, err := json.Marshal(request{argument, job.Memory, job.Scratch})
	if err != nil {
		return fmt.Errorf("starting a process for it: %w", err)
	}
	go func() { _, _ = c.orders.Write(append(line, '\n')) }() // an error means that the child is gone, which watch detects
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

// child is a started process.
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

// watch waits until the child ends, and kills it if necessary. It reports whether the child was killed because of its memory.
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

// The memory of a child is checked after the time that it would need to fill the rest of it at fillRate, within these limits.
const (
	shortest = time.Millisecond
	longest  = 50 * time.Millisecond
	fillRate = 16 << 30 // bytes per second
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

// head keeps the beginning of the written text.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 16 << 10
	h.text = append(h.text, p[:min(len(p), most-len(h.text))]...)
	return len(p), nil
}

// Crash means that a child ended without an answer.
type Crash struct {
	Signal string // signal that ended it, such as SIGSEGV; empty: none
	Stderr string // the first line of its standard error, if no signal ended it
}

func (c *Crash) Error() string {
	switch {
	case c.Signal != "":
		return "it crashed (" + c.Signal + ")"
	case c.Stderr != "":
		return "it crashed (" + c.Stderr + ")"
	}
	return "it ended without an answer"
}

// signals are the names of signals that end a crashed process.
var signals = map[syscall.Signal]string{
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGILL: "SIGILL",
	syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGSYS: "SIGSYS",
}
