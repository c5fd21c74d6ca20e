// Package probe reads the environment in which benchmarks run: the processor and its settings, memory, container limits, kernel,
// GPUs, the state of the code, and the variables that libraries react to.
//
// Every fact is a text with a dotted name. A fact that is not known is missing, with a reason: absent (this machine has no such
// thing), permission, unsupported (this system cannot report it, or reported something invalid) or timeout. Nothing is guessed.
// Values have the stored units of the metrics: bytes, mW, MHz, Cel. cgroup.cpu_max is a number of processors.
//
// The package changes no settings and writes no files. It starts no process except git and this program itself, and reports only
// environment variables from a fixed list. It knows NVIDIA GPUs by their driver. On a machine without that driver it knows AMD
// GPUs by the files of Linux, without any state that changes during a measurement. It knows no other GPUs.
package probe

import (
	"context"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/neurolens/neurolens/schema"
)

// Options of Read.
type Options struct {
	Root    fs.FS                             // holds proc, sys, etc; nil is this system's
	Machine string                            // the name that the user gave this machine; empty: a fingerprint
	Dir     string                            // whose state in git is read; empty: the working directory
	Environ []string                          // key=value, as os.Environ gives them
	Version string                            // of NeuroLens
	GPU     func(ctx context.Context) Devices // normally GPU; nil: GPUs are not looked for
}

// Read describes this machine and the code in opts.Dir. It takes some milliseconds plus a git status, and at most a few seconds. It starts
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

// env returns the facts, those with a column of their own also there.
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
		GPUName:       deviceName(f.deviceNames()),
		GPUCount:      f.integer("gpu.count"),
		DriverVersion: f.known["gpu.driver"],
		CUDAVersion:   f.known["gpu.cuda"],
		GitCommit:     f.known["git.commit"],
		GitBranch:     f.known["git.branch"],
		Facts:         f.known,
		Missing:       f.missing,
	}
	if dirty, err := strconv.ParseBool(f.known["git.dirty"]); err == nil {
		env.GitDirty = &dirty
	}
	return env
}
