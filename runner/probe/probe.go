// Package probe reads the environment in which benchmarks run: the processor and its settings, memory, container limits, kernel, GPUs,
// the state of the code, and the variables that libraries react to.
//
// Every fact is a text with a dotted name. An unknown fact is missing, with a reason: absent (this machine has no such thing),
// permission, unsupported (this system cannot report it, or reported something invalid), timeout or lost (the driver has lost the device).
// Nothing is guessed. Values have the stored units of the metrics: bytes, mW, MHz, Cel. cgroup.cpu_max is a number of processors.
//
// The package changes no settings and writes no files. It starts no process except git and this program itself, and reports only
// environment variables from a fixed list. It supports NVIDIA GPUs through their driver. On a machine without that driver it supports
// AMD GPUs through the files of Linux. It supports no other GPUs.
//
// A Watcher reads what changes: before and after each run, and many times while it measures.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Options of Read.
type Options struct {
	Root    fs.FS                             // holds proc, sys, etc; nil is this system's
	Machine string                            // the name that the user gave this machine; empty: a fingerprint
	Dir     string                            // directory whose git state is read; empty: the working directory
	Environ []string                          // key=value, as os.Environ gives them
	Version string                            // of NeuroLens
	GPU     func(ctx context.Context) Devices // normally GPU; nil: GPUs are not detected
}

// Read describes this machine, and names the commit in opts.Dir. It takes some milliseconds, and at most a few seconds. It starts
// processes, so it must not be called while another goroutine reaps all children.
func Read(ctx context.Context, opts Options) schema.Env {
	if opts.Root == nil {
		opts.Root = systemRoot()
	}
	host, code, devices := newFacts(), newFacts(), newFacts()
	var wait sync.WaitGroup
	wait.Go(func() { readGit(ctx, opts.Dir, code) })
	wait.Go(func() {
		readDevices(ctx, opts.GPU, devices)
		if opts.GPU != nil {
			readAMD(opts.Root, devices)
		}
	})
	readHost(opts, host)
	wait.Wait()
	host.merge(code)
	host.merge(devices)
	readMachine(opts.Machine, host)
	return host.env()
}

// readHost reads all that files and this process know.
func readHost(opts Options, f *facts) {
	readFiles(opts.Root, files, f)
	readFiles(opts.Root, volatileFiles, f)
	readDistinct(opts.Root, f)
	readCPU(opts.Root, f)
	readCgroup(opts.Root, f)
	readContainer(opts, f)
	readVirtualization(opts.Root, f)
	readEnviron(opts.Environ, f)
	f.put("cpu.temperature")(temperature(opts.Root))
	f.put("cpu.throttles_since_boot")(throttles(opts.Root))
	f.put("power.battery")(battery(opts.Root))
	f.put("cpu.architecture")(architecture())
	f.put("host.name")(os.Hostname())
	f.put("host.id")(hostID(opts.Root))
	f.set("os.name", runtime.GOOS)
	f.set("go.version", runtime.Version())
	f.set("neurolens.version", opts.Version)
	if runtime.GOOS != "linux" {
		f.set("cpu.threads", strconv.Itoa(runtime.NumCPU()))
	}
}

// env returns the facts as an environment. Facts that have a column are also set there.
func (f *facts) env() schema.Env {
	env := schema.Env{
		HostID:        f.known["host.id"],
		Machine:       f.known["machine"],
		Hostname:      f.known["host.name"],
		OS:            f.known["os.name"],
		OSKernel:      f.known["os.kernel"],
		CPUModel:      f.known["cpu.model"],
		CPUCount:      f.integer("cpu.threads"),
		MemoryBytes:   f.integer("memory.total"),
		GPUName:       strings.Join(slices.Compact(f.deviceNames()), ", "), // each name once
		GPUCount:      f.integer("gpu.count"),
		DriverVersion: f.known["gpu.driver"],
		CUDAVersion:   f.known["gpu.cuda"],
		GitCommit:     f.known["git.commit"],
		GitBranch:     f.known["git.branch"],
		Facts:         f.known,
		Missing:       f.missing,
	}
	return env
}

// The reasons why a fact is unknown.
const (
	absent      = "absent"
	permission  = "permission"
	unsupported = "unsupported"
	timeout     = "timeout"
	lost        = "lost"
)

// errLost is that a driver has lost a device, which answers nothing until it is reset.
var errLost = errors.New("the driver has lost the device")

// longest is the maximum number of bytes of a value; the rest adds no information.
const longest = 4096

// facts collects the known facts and, for the others, the reason why they are missing. A name is in one of the two.
type facts struct{ known, missing map[string]string }

func newFacts() *facts {
	return &facts{known: map[string]string{}, missing: map[string]string{}}
}

// set notes a value unless the fact is known. An empty text is no value.
func (f *facts) set(name, value string) {
	if _, ok := f.known[name]; ok {
		return
	}
	value = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", " "), "\uFFFD"))
	if value == "" {
		f.miss(name, absent)
		return
	}
	if len(value) > longest {
		value = strings.TrimSpace(strings.ToValidUTF8(value[:longest], ""))
	}
	f.known[name] = value
	delete(f.missing, name)
}

// miss records why a fact is unknown, unless it is known or has a reason already.
func (f *facts) miss(name, why string) {
	if f.known[name] == "" && f.missing[name] == "" {
		f.missing[name] = why
	}
}

// put returns a function that notes the result of a reader: f.put("name")(read()).
func (f *facts) put(name string) func(value string, err error) {
	return func(value string, err error) {
		if err != nil {
			f.miss(name, reason(err))
			return
		}
		f.set(name, value)
	}
}

// merge adds the facts of other, which has none of f's names.
func (f *facts) merge(other *facts) {
	maps.Copy(f.known, other.known)
	maps.Copy(f.missing, other.missing)
}

// integer returns a fact as a number; nil where it is not known.
func (f *facts) integer(name string) *int64 {
	n, err := strconv.ParseInt(f.known[name], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// reason puts an error into one of these words.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent
	case errors.Is(err, fs.ErrPermission):
		return permission
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return timeout
	case errors.Is(err, errLost):
		return lost
	}
	return unsupported
}

// malformed returns the error for a source whose content this program cannot read.
func malformed(what, text string) error {
	if len(text) > 40 {
		text = text[:40]
	}
	return fmt.Errorf("reading %s: unexpected value %q", what, text)
}

// patience is how long a process that is asked for facts may take.
const patience = 5 * time.Second

// readGit reads the commit and the branch in dir.
func readGit(ctx context.Context, dir string, f *facts) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f.put("git.commit")(git(ctx, dir, "rev-parse", "--verify", "HEAD"))
	branch, err := git(ctx, dir, "symbolic-ref", "--short", "HEAD")
	f.put("git.branch")(NewMask(os.Environ()).Text(branch), err)
}

// git runs git without locking the repository. Variables of the environment that select a repository are removed.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	// A file system monitor would be started, and outlive this process. A folder of a clone may look like a bare repository, and its
	// configuration may name programs.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Dir = dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	out, err := output(ctx, cmd)
	return strings.TrimSpace(string(out)), gitError(err)
}

// gitError returns the kind of an error from the message of git, because its exit code is always 128.
func gitError(err error) error {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fs.ErrNotExist
	case !errors.As(err, &exit):
		return err
	}
	says := string(exit.Stderr)
	for _, known := range []struct {
		words string
		err   error
	}{
		{"not a git repository", fs.ErrNotExist},
		{"Needed a single revision", fs.ErrNotExist}, // no commit yet
		{"not a symbolic ref", fs.ErrNotExist},       // on no branch
		{"dubious ownership", fs.ErrPermission},
		{"cannot use bare repository", fs.ErrPermission},
		{"Permission denied", fs.ErrPermission},
	} {
		if strings.Contains(says, known.words) {
			return known.err
		}
	}
	return err
}

// output runs cmd, which ctx stops, and returns its output. A process that cannot be killed, such as one that hangs in a driver or a
// network file system, is left behind.
func output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	const grace = 200 * time.Millisecond
	cmd.WaitDelay = grace
	type result struct {
		out []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := cmd.Output()
		done <- result{out, err}
	}()
	finished := func(r result) ([]byte, error) {
		if r.err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("waiting for %s: %w", cmd.Args[0], ctx.Err())
		}
		return r.out, r.err
	}
	select {
	case r := <-done:
		return finished(r)
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return finished(r)
	case <-time.After(2 * grace):
		return nil, fmt.Errorf("waiting for %s: %w", cmd.Args[0], ctx.Err())
	}
}
