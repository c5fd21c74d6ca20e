package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// total ends the names of counters. Only the difference between two readings of a counter is meaningful.
const total = ".total"

// volatile reads the changing facts of the host. Unknown facts are left out. If root is nil, it reads this system.
func volatile(root fs.FS) map[string]string {
	if root == nil {
		root = systemRoot()
	}
	f := newFacts()
	readFiles(root, volatileFiles, f)
	f.put("cpu.temperature")(temperature(root))
	readCounters(root, f)
	return f.known
}

// counters reads the counters among the facts of volatile. After a run, Between needs no other facts of the host.
func counters(root fs.FS) map[string]string {
	f := newFacts()
	readCounters(root, f)
	return f.known
}

func readCounters(root fs.FS, f *facts) {
	f.put("cpu.throttles" + total)(throttles(root))
	if text, err := readText(root, "proc/stat"); err == nil {
		if stolen, all, err := processorTime(text); err == nil {
			f.set("cpu.steal"+total, strconv.FormatUint(stolen, 10))
			f.set("cpu.time"+total, strconv.FormatUint(all, 10))
		}
	}
}

// Between returns the facts of a run from a reading before and one after it: the state at its beginning, and the increase of counters in
// the meantime. The counters are cpu.throttles (how often a core was slowed down by heat), cpu.steal (the share of processor time that the
// host of a virtual machine gave to others, in percent), gpu.N.throttled_power and gpu.N.throttled_thermal (ns during which its clock was
// lowered). Facts about what slows down or shares a GPU are joined from both readings, since the benchmark does not run during either.
func Between(before, after map[string]string) map[string]string {
	facts := map[string]string{}
	for name, value := range before {
		if !strings.HasSuffix(name, total) {
			facts[name] = value
		}
	}
	for name, value := range after {
		if deviceFact(name, "throttle") || deviceFact(name, "foreign") {
			facts[name] = both(facts[name], value)
		}
	}
	grown := map[string]uint64{}
	for name := range before {
		first, err1 := strconv.ParseUint(before[name], 10, 64)
		last, err2 := strconv.ParseUint(after[name], 10, 64)
		short, counter := strings.CutSuffix(name, total)
		if counter && err1 == nil && err2 == nil && last >= first {
			grown[short] = last - first
			facts[short] = strconv.FormatUint(last-first, 10)
		}
	}
	delete(facts, "cpu.time")
	delete(facts, "cpu.steal")
	if stolen, known := grown["cpu.steal"]; known && grown["cpu.time"] > 0 {
		facts["cpu.steal"] = percentage(stolen, grown["cpu.time"])
	}
	if watch := after["gpu.watch"]; watch != "" {
		facts["gpu.watch"] = watch
	}
	return facts
}

// IsVolatile reports whether a fact differs from run to run, or from boot to boot, so that it cannot show a change of the machine.
func IsVolatile(name string) bool {
	for _, beginning := range []string{"cpu.temperature", "gpu.watch", "cpu.throttles", "cpu.steal", throttleShare, energyFact} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	for _, fact := range []string{
		"clock_sm", "temperature", "throttle", "throttled_power", "throttled_thermal", "processes", "foreign",
	} {
		if deviceFact(name, fact) {
			return true
		}
	}
	return slices.ContainsFunc(volatileFiles, func(row file) bool { return row.name == name })
}

// none is the value of an empty list.
const none = "none"

// both returns the union of two lists of words.
func both(a, b string) string {
	words := slices.Concat(strings.Fields(a), strings.Fields(b))
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(word string) bool { return word == none })
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, " ")
}

// throttles counts how often cores were slowed down because of heat. It counts the threads of a core once.
func throttles(root fs.FS) (string, error) {
	cpus, err := subdirs(root, cpuDir, "cpu")
	if err != nil {
		return "", err
	}
	count, found := uint64(0), false
	for _, dir := range cpus {
		text, err := readText(root, dir+"/thermal_throttle/core_throttle_count")
		if errors.Is(err, fs.ErrNotExist) && dir == cpus[0] {
			return "", err // a processor that does not count; no need to ask each
		}
		if n, notNumber := strconv.ParseUint(text, 10, 52); err == nil && notNumber == nil {
			count, found = count+n, true
		}
	}
	if !found {
		return "", malformed("the counts of slowed down cores", "")
	}
	return strconv.FormatUint(count, 10), nil
}

// battery returns the state of the battery of this machine, in the kernel's words but lower case: none, discharging, charging, full, not
// charging. The batteries of mice and pens do not count.
func battery(root fs.FS) (string, error) {
	const dir = "sys/class/power_supply"
	supplies, err := fs.ReadDir(root, dir)
	if err != nil {
		return "", err
	}
	state := none
	for _, supply := range supplies {
		path := dir + "/" + supply.Name()
		kind, err := readText(root, path+"/type")
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", supply.Name(), err)
		}
		if scope, _ := readText(root, path+"/scope"); kind != "Battery" || scope == "Device" {
			continue
		}
		says, err := readText(root, path+"/status")
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", supply.Name(), err)
		}
		if state = strings.ToLower(says); state == "discharging" {
			break
		}
	}
	return state, nil
}

// Watcher reads the facts that change from run to run. GPUs are queried through a permanent process, because opening the driver may take
// longer than a run. The process sleeps between queries. Between Begin and End it takes readings.
type Watcher struct {
	root  fs.FS
	child *child // nil: nothing to ask it, or no more
	lost  string // why it cannot be asked any more

	began    time.Time // the last call of Begin
	measured []string  // its devices
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

// ReadAfter returns the facts that Between needs after a run: for the host only the counters.
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
	return &child{cmd: cmd, to: to, from: from, answer: bufio.NewReader(from), patience: patience}, nil
}

// query asks for the state of the devices.
func (c *child) query() (Devices, error) {
	if err := c.order(""); err != nil {
		return Devices{}, err
	}
	line, err := c.line(longestState)
	if err != nil {
		return Devices{}, err
	}
	return parseDevices(line)
}

// The longest answers, in B: the state of the devices, and the readings of a run (an hour of eight GPUs).
const (
	longestState    = 256 << 10
	longestReadings = 256 << 20
)

// order sends an order, for which the pipe has room.
func (c *child) order(text string) error {
	if _, err := c.to.WriteString(text + "\n"); err != nil {
		return fmt.Errorf("asking the GPU driver: %w", err)
	}
	return nil
}

// line reads an answer.
func (c *child) line(longest int) (line []byte, err error) {
	if err := c.from.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	for {
		part, err := c.answer.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, fmt.Errorf("asking the GPU driver: %w", err)
		case len(line) > longest:
			return nil, malformed("the answer of the GPU driver", string(line[:longestState]))
		}
	}
}

// end closes the pipes, after which the process should end by itself, and kills it if it does not.
func (c *child) end() {
	c.to.Close()
	c.from.Close()
	done := make(chan struct{})
	go func() {
		_ = c.cmd.Wait() // its exit status does not matter any more
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

// foreign lists the processes that are neither runner nor below it: 12 345, or none. The ids come from the driver. In a container they
// may be meaningless; then the process counts as foreign.
func foreign(root fs.FS, pids []int, runner int) string {
	var others []string
	pids = slices.Clone(pids)
	slices.Sort(pids)
	for _, pid := range slices.Compact(pids) {
		if !below(root, pid, runner) {
			others = append(others, strconv.Itoa(pid))
		}
	}
	if len(others) == 0 {
		return none
	}
	return strings.Join(others, " ")
}

// below reports whether a process is another one or descends from it.
func below(root fs.FS, pid, ancestor int) bool {
	const deepest = 1000 // ids are used again while they are read: no circle may hold this up
	for range deepest {
		if pid == ancestor {
			return true
		}
		text, err := readText(root, fmt.Sprintf("proc/%d/stat", pid))
		if err != nil {
			return false
		}
		// 12 (name, which may contain anything) S 1 ...
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 0 {
			return false
		}
	}
	return false
}
