package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Watcher reads the facts that change from run to run. GPUs are queried through a permanent process, because opening the driver may take
// longer than a run. The process sleeps between queries.
type Watcher struct {
	root  fs.FS
	child *child // nil: no GPU, or no more
	lost  string // why the GPUs cannot be asked any more
}

// Watch starts watching a machine that env describes. If it has NVIDIA GPUs, another process of this program is started, whose main must
// call Main.
func Watch(env schema.Env) *Watcher {
	w := &Watcher{root: systemRoot()}
	if env.GPUCount != nil && *env.GPUCount > 0 && env.Facts["gpu.0.gfx"] == "" { // it asks NVIDIA's driver
		w.start(watchRole)
	}
	return w
}

// Read returns the facts that change from run to run, which takes some tenths of a millisecond. For the host these are load, pressure,
// swap, frequency, temperature, and counters whose names end in .total (see Between). For GPUs they are clock_sm, temperature, throttle
// (words for what lowers the clock, or none), processes, foreign (the ids of processes that this one did not start, or none) and counters.
// Unknown facts are left out. If the driver does not answer within a few seconds, it is not queried again, and the fact gpu.watch has the
// reason.
func (w *Watcher) Read() map[string]string { return w.withDevices(volatile(w.root)) }

// ReadAfter returns what Between needs to know after a run: of the host only the counters.
func (w *Watcher) ReadAfter() map[string]string { return w.withDevices(counters(w.root)) }

// withDevices adds the facts of the GPUs.
func (w *Watcher) withDevices(facts map[string]string) map[string]string {
	if w.child != nil {
		devices, err := w.child.query()
		if err != nil {
			w.lost = reason(err)
			w.Close()
		}
		delete(devices.Facts, "gpu.count")
		maps.Copy(facts, devices.Facts)
	}
	if w.lost != "" {
		facts["gpu.watch"] = w.lost
	}
	return facts
}

// Close ends the process that queries the driver. If it hangs there, it is killed and left behind.
func (w *Watcher) Close() {
	if w.child != nil {
		w.child.end()
		w.child = nil
	}
}

func (w *Watcher) start(args ...string) {
	child, err := startChild(args)
	if err != nil {
		w.lost = reason(err)
		return
	}
	w.child = child
}

// child is a process that answers each line it reads with a document in one line.
type child struct {
	cmd    *exec.Cmd
	to     *os.File
	from   *os.File
	answer *bufio.Reader
	// patience is how long an answer may take.
	patience time.Duration
}

func startChild(args []string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	stdin, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer stdin.Close()
	from, stdout, err := os.Pipe()
	if err != nil {
		to.Close()
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer stdout.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout = stdin, stdout
	if err := cmd.Start(); err != nil {
		to.Close()
		from.Close()
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	const longestAnswer = 256 << 10
	return &child{
		cmd: cmd, to: to, from: from, answer: bufio.NewReaderSize(from, longestAnswer), patience: patience,
	}, nil
}

func (c *child) query() (Devices, error) {
	deadline := time.Now().Add(c.patience)
	if err := c.from.SetReadDeadline(deadline); err != nil {
		return Devices{}, fmt.Errorf("setting a deadline: %w", err)
	}
	if _, err := c.to.Write([]byte("\n")); err != nil { // one byte: there is room for it
		return Devices{}, fmt.Errorf("asking the GPU driver: %w", err)
	}
	line, err := c.answer.ReadSlice('\n')
	if err != nil {
		return Devices{}, fmt.Errorf("asking the GPU driver: %w", err)
	}
	return parseDevices(line)
}

// end closes the pipes, at which the process ends by itself, and makes sure.
func (c *child) end() {
	c.to.Close()
	c.from.Close()
	done := make(chan struct{})
	go func() {
		_ = c.cmd.Wait() // whatever it says, nobody asks it any more
		close(done)
	}()
	const grace = time.Second
	select {
	case <-done:
		return
	case <-time.After(grace):
	}
	_ = c.cmd.Process.Kill()
	select {
	case <-done:
	case <-time.After(grace):
	}
}

// answer is the other side: it prints a state for each line that it reads. It outlives an interrupt at the terminal,
// which is meant for the process that asks, and ends with it.
func answer(state func() Devices) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	encoder := json.NewEncoder(os.Stdout)
	lines := bufio.NewReader(os.Stdin)
	for {
		if _, err := lines.ReadSlice('\n'); err != nil {
			return nil // the other side is gone
		}
		if err := encoder.Encode(state()); err != nil {
			return err
		}
	}
}
