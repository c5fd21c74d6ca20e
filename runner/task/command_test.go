package task

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestCommandOK(t *testing.T) {
	spec := shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo out; echo err >&2")
	spec.Warmup, spec.Iterations = 2, 4
	o := runOK(t, spec)
	latency := metric(t, o, "latency")
	if len(latency.Ticks) != 4 || len(latency.WarmupTicks) != 2 || latency.Level != schema.LevelProcess {
		t.Errorf("latency: %+v", latency)
	}
	user, system := metric(t, o, "cpu_user"), metric(t, o, "cpu_system")
	if len(user.Ticks) != 4 || user.Tick != 1000 || len(system.Ticks) != 4 {
		t.Errorf("cpu: %+v %+v", user, system)
	}
	cpu := (sumOf(user.Ticks) + sumOf(system.Ticks)) * 1000
	if wall := sumOf(latency.Ticks); cpu < int64(len(user.Ticks))*int64(time.Millisecond) || cpu > wall*11/10 { // no shell loops faster
		t.Errorf("%d ns of CPU in %d ns of a busy loop", cpu, wall)
	}
	for _, m := range o.Metrics {
		if kind, known := schema.KindOfMetric(m.Name); !known || m.Unit != kind.Unit || m.Better != kind.Better {
			t.Errorf("%s in %s, better %s: want what the registry says, %+v", m.Name, m.Unit, m.Better, kind)
		}
	}
	if o.StderrTail != "err\n" || !strings.HasSuffix(o.Facts["command.path"], "/sh") {
		t.Errorf("tail %q, facts %v", o.StderrTail, o.Facts)
	}
}

func TestCommandIterations(t *testing.T) {
	spec := commandSpec("true")
	spec.Iterations, spec.Budget = 0, time.Nanosecond
	o := runSpec(t, t.Context(), spec, nil)
	valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), 1)
}

func TestCommandEnds(t *testing.T) {
	counter := filepath.Join(t.TempDir(), "count")
	crlf := filepath.Join(t.TempDir(), "crlf.sh")
	valuetest.OK(t, os.WriteFile(crlf, []byte("#!/bin/sh\r\nexit 0\r\n"), 0o700))
	third := "echo >> " + counter + "; [ $(wc -l < " + counter + ") -lt 3 ] || " // from the third process on
	for _, c := range []struct {
		name    string
		spec    Spec
		status  schema.Status
		stage   schema.Stage
		kind    string
		samples int
		text    string
	}{
		{"exit", shell(third + "exit 7"), schema.StatusError, schema.StageMeasure, "exit", 2, "process 3 of measure: exit status 7"},
		{"signal", shell(third + "kill -SEGV $$"), schema.StatusCrashed, schema.StageMeasure, "signal", 2, "SIGSEGV"},
		{"flood", shell(third + "head -c 9000000 /dev/zero"), schema.StatusOutputLimit, schema.StageMeasure, "output_limit", 2, "more than the limit of 8388608 B; --output null ("},
		{"flood of errors", shell(third + "head -c 9000000 /dev/zero >&2"), schema.StatusOutputLimit, schema.StageMeasure, "output_limit", 2, "more than the limit of 8388608 B"},
		{"hang", shell(third + "sleep 600"), schema.StatusTimeout, schema.StageMeasure, "timeout", 2, "one process of measure took more than 1s; raise timeouts.measure"},
		{"absent", commandSpec("no-such-program"), schema.StatusError, schema.StageSetup, "start", -1, "no-such-program"},
		{"not executable", commandSpec("/etc/passwd"), schema.StatusError, schema.StageSetup, "start", -1, "permission denied"},
		{"no interpreter", commandSpec(crlf), schema.StatusError, schema.StageSetup, "start", -1, `: its interpreter /bin/sh\r does not exist: the script has Windows line ends`},
		{"usage", shell("echo cause >&2; echo 'Try it --help' >&2; exit 2"), schema.StatusError, schema.StageMeasure, "exit", -1, "exit status 2: cause"},
		{"no directory", Spec{Launch: Launch{Executor: schema.ExecutorCommand, Command: []string{"true"}, Dir: filepath.Join(t.TempDir(), "none")}, Deadlines: patient}, schema.StatusError, schema.StageSetup, "start", -1, "no such file"},
		{"NUL", commandSpec("true", "a\x00b"), schema.StatusError, schema.StageSetup, "start", -1, "invalid argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(counter)
			c.spec.Iterations, c.spec.OutputLimit = 5, 8<<20
			c.spec.Deadlines.Measure = time.Second
			o := runSpec(t, t.Context(), c.spec, nil)
			check(t, o, c.status, c.stage, c.kind)
			if !strings.Contains(o.Error, c.text) {
				t.Errorf("error %q: want %q in it", o.Error, c.text)
			}
			if c.name == "exit" && (o.ExitCode == nil || *o.ExitCode != 7) {
				t.Errorf("exit code %v: want 7", o.ExitCode)
			}
			if c.samples >= 0 {
				valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), c.samples)
			} else if len(o.Metrics) > 0 {
				t.Errorf("metrics without a measurement: %+v", o.Metrics)
			}
		})
	}
}

// TestDeadlineIsOfOneProcess: together the processes take longer than the deadline.
func TestDeadlineIsOfOneProcess(t *testing.T) {
	spec := commandSpec("sleep", "0.3")
	spec.Iterations, spec.Deadlines.Measure = 6, time.Second
	runOK(t, spec)
}

func TestCommandEnvironment(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tell")
	valuetest.OK(t, os.WriteFile(program, []byte("#!/bin/sh\necho $A $B $(pwd -P) >&2\n"), 0o700))
	real := valuetest.Must(filepath.EvalSymlinks(dir))
	t.Setenv("A", "old")
	for _, argv0 := range []string{"tell", "./tell"} { // by the PATH of the command, and in its directory
		spec := commandSpec(argv0)
		spec.Env = []string{"A=first", "B=b", "A=new", "PATH=" + dir + ":" + os.Getenv("PATH")}
		spec.Dir = dir
		o := runOK(t, spec)
		valuetest.DeepEqual(t, o.StderrTail, "new b "+real+"\n")
	}
}

// TestCommandInheritsNothing: a command has no descriptor that another child of the test has not, but that for events,
// and standard input is empty.
func TestCommandInheritsNothing(t *testing.T) {
	script := "ls /proc/self/fd | tr '\\n' ' ' >&2; cat >&2"
	var want strings.Builder
	plain := exec.Command("sh", "-c", script)
	plain.Stderr, plain.ExtraFiles = &want, []*os.File{os.Stdin}
	valuetest.OK(t, plain.Run())
	o := runOK(t, shell(script))
	valuetest.DeepEqual(t, o.StderrTail, want.String(), "descriptors")
}

func TestPeakMemory(t *testing.T) {
	python := valuetest.Program(t, "python3")
	big := commandSpec(python, "-I", "-S", "-c", "x = bytearray(200 << 20)")
	big.Warmup, big.Iterations = 1, 3
	o := runOK(t, big)
	peak := metric(t, o, "peak_memory")
	if len(peak.Ticks) != 3 || slices.Min(peak.Ticks) < 200<<20 || slices.Max(peak.Ticks) > 300<<20 {
		t.Errorf("peak_memory of 200 MiB: %v", peak.Ticks)
	}
	valuetest.DeepEqual(t, o.Facts["peak_memory.source"], "wait4", "facts", o.Facts)
}

// TestOOM: the cgroup here is a file that the benchmark itself writes before it ends.
func TestOOM(t *testing.T) {
	p := testPool(t)
	root := t.TempDir()
	events := filepath.Join(root, "sys/fs/cgroup/memory.events")
	for _, file := range []string{events, filepath.Join(root, "proc/self/cgroup")} {
		valuetest.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
		valuetest.OK(t, os.WriteFile(file, []byte("0::/\n"), 0o600))
	}
	old := p.root
	p.root = os.DirFS(root)
	defer func() { p.root = old }()
	for _, c := range []struct {
		count, end string
		status     schema.Status
		kind       string
	}{
		{"1", "kill -KILL $$", schema.StatusOOM, "oom"},
		{"1", "exit 137", schema.StatusOOM, "oom"},
		{"1", "exit 1", schema.StatusError, "exit"},
		{"1", "kill -SEGV $$", schema.StatusCrashed, "signal"},
		{"0", "kill -KILL $$", schema.StatusCrashed, "signal"},
	} {
		valuetest.OK(t, os.WriteFile(events, []byte("oom_kill 0\n"), 0o600))
		o := runSpec(t, t.Context(), shell("echo oom_kill "+c.count+" > "+events+"; "+c.end), nil)
		check(t, o, c.status, schema.StageMeasure, c.kind)
	}
}

// TestPeakMemoryOfSmallPrograms: the peak of each process is its own, without a warm-up, and not that of the supervisor.
func TestPeakMemoryOfSmallPrograms(t *testing.T) {
	for _, spec := range []Spec{commandSpec("true"), shell("(true; true) | cat; true")} {
		spec.Warmup, spec.Iterations = 0, 2
		o := runOK(t, spec)
		peak := metric(t, o, "peak_memory")
		if len(peak.Ticks) != 2 || slices.Min(peak.Ticks) < 100<<10 || slices.Max(peak.Ticks) > 6<<20 {
			t.Errorf("peak_memory of %v: %v", spec.Command, peak.Ticks)
		}
	}
	python := valuetest.Program(t, "python3")
	last := int64(0)
	for _, size := range []string{"0", "4", "8", "16"} {
		spec := commandSpec(python, "-I", "-S", "-c", "x = b'x' * ("+size+" << 20)")
		spec.Warmup, spec.Iterations = 0, 1
		peak := metric(t, runSpec(t, t.Context(), spec, nil), "peak_memory").Ticks
		if len(peak) != 1 || peak[0]-last < 3<<20 || peak[0] > 40<<20 {
			t.Errorf("peak_memory with %s MiB: %v, before %d", size, peak, last)
		}
		last = slices.Max(append(peak, 0))
	}
}

// TestSetupChangesWhatIsInherited: what a setup changes of the supervisor the measured processes inherit.
func TestSetupChangesWhatIsInherited(t *testing.T) {
	valuetest.Program(t, "prlimit")
	spec := shell("test $(ulimit -Sn) = 777")
	spec.Warmup, spec.Iterations = 0, 2
	spec.Hooks.Setup = []string{"sh", "-c", "prlimit --pid $PPID --nofile=777"}
	o := runOK(t, spec)
	if peak := metric(t, o, "peak_memory").Ticks; len(peak) != 2 {
		t.Errorf("peaks %v", peak)
	}
}

// refusedTrace skips a test where a process may not be traced.
func refusedTrace(t *testing.T, o Outcome) {
	t.Helper()
	if strings.Contains(o.Facts["runner.ptrace_error"], "operation not permitted") {
		t.Skip("ptrace is refused here")
	}
}

// TestWatch: the files that a process and its children read, and those that they execute, of which a script is none. It is in the warm-up,
// or after the measurement.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"script.sh": "read word < read.txt; (cat late.txt); echo > written.txt", "read.txt": "x\n", "late.txt": "", "other.txt": ""} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cat := valuetest.Must(filepath.EvalSymlinks(valuetest.Program(t, "cat")))
	dir = valuetest.Must(filepath.EvalSymlinks(dir))
	for _, warmup := range []int{0, 1} {
		spec := commandSpec("sh", "script.sh")
		spec.Dir, spec.Warmup, spec.Iterations, spec.Watch = dir, warmup, 2, true
		o := runOK(t, spec)
		refusedTrace(t, o)
		for file, want := range map[File]bool{
			{dir + "/script.sh", false}: true, {dir + "/read.txt", false}: true, {dir + "/late.txt", false}: true, {cat, true}: true,
			{dir + "/written.txt", false}: false, {dir + "/other.txt", false}: false, {dir + "/script.sh", true}: false,
		} {
			valuetest.DeepEqual(t, slices.Contains(o.Files, file), want, "warm-up", warmup, file, !want, o.Files)
		}
		library := func(f File) bool { return f.Executed && strings.Contains(filepath.Base(f.Path), ".so") }
		if !slices.ContainsFunc(o.Files, library) {
			t.Errorf("warm-up %d: no shared library is executed: %v", warmup, o.Files)
		}
		valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), 2, "warm-up", warmup)
		if spec.Watch = false; runSpec(t, t.Context(), spec, nil).Files != nil {
			t.Errorf("warm-up %d: files were reported that nobody asked for", warmup)
		}
	}
}

// TestWatchOfManyCalls: a process that has had the time to load its code is not slowed down at each of many system calls. What it executes
// later is known all the same.
func TestWatchOfManyCalls(t *testing.T) {
	valuetest.Program(t, "dd")
	tail := valuetest.Must(filepath.EvalSymlinks(valuetest.Program(t, "tail")))
	dir := valuetest.Must(filepath.EvalSymlinks(t.TempDir()))
	for _, name := range []string{"early.txt", "late.txt"} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	spec := shell("cat early.txt; sleep 0.4; dd if=/dev/zero of=/dev/null bs=1 count=20000 2>&-; tail late.txt")
	spec.Dir, spec.Warmup, spec.Watch = dir, 1, true
	o := runOK(t, spec)
	refusedTrace(t, o)
	for file, want := range map[File]bool{{dir + "/early.txt", false}: true, {tail, true}: true, {dir + "/late.txt", false}: false} {
		valuetest.DeepEqual(t, slices.Contains(o.Files, file), want, file, !want)
	}
}

// TestTraceIsDiscarded: what does not bear ptrace is measured without.
func TestTraceIsDiscarded(t *testing.T) {
	spec := shell("grep -q '^TracerPid:.0$' /proc/$$/status")
	spec.Warmup, spec.Watch = 1, true
	o := runOK(t, spec)
	valuetest.DeepEqual(t, len(metric(t, o, "latency").WarmupTicks), 1)
	if detail := o.Facts["runner.ptrace_error"]; !strings.Contains(detail, "exit status 1") {
		t.Errorf("why no file is known: %q", detail)
	}
	valuetest.Program(t, "setsid")
	spec = shell(daemon)
	spec.Warmup, spec.Watch = 1, true
	o = runOK(t, spec)
	if !strings.Contains(o.Facts["runner.ptrace_error"], "left processes") || !slices.Equal(o.Warnings, []string{"left_running"}) {
		t.Errorf("facts: %v, warnings: %v", o.Facts, o.Warnings)
	}
}

// TestTimeoutWhileTracing: the supervisor cannot reap then, and the runner does it.
func TestTimeoutWhileTracing(t *testing.T) {
	valuetest.Program(t, "setsid")
	spec := shell(daemon + "; sleep 600")
	spec.Warmup, spec.Deadlines.Warmup, spec.Watch = 1, 500*time.Millisecond, true
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusTimeout, schema.StageWarmup, "timeout")
}

// TestNothingStartsAfterTheKill: a process that the loop started during the kill would sleep on.
func TestNothingStartsAfterTheKill(t *testing.T) {
	for range 15 {
		stop := filepath.Join(t.TempDir(), "stop")
		spec := shell("[ ! -e " + stop + " ] || sleep 600")
		spec.Iterations = 100_000
		ctx, cancel := context.WithCancel(t.Context())
		o := runSpec(t, ctx, spec, func(p Progress) {
			if p.Done > 5 && ctx.Err() == nil {
				time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Millisecond))))
				cancel()
				if err := os.WriteFile(stop, nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
		check(t, o, schema.StatusCancelled, schema.StageMeasure, "cancelled")
	}
}

// TestStoppedSupervisor: a supervisor that does not answer is killed, and its work is done by the runner.
func TestStoppedSupervisor(t *testing.T) {
	p := testPool(t)
	p.killWait = 4 * time.Second // half of it for the supervisor to answer, and half for it to be gone
	defer func() { p.killWait = killWait }()
	spec := builtin("hang")
	spec.Deadlines.Measure = time.Second
	o := untilItHangs(&spec.Deadlines.Measure, func() (Outcome, bool) {
		stopped := false
		o := runSpec(t, t.Context(), spec, func(progress Progress) {
			if progress.Stage == schema.StageMeasure && !stopped {
				stopped = true
				p.mu.Lock()
				defer p.mu.Unlock()
				for pid := range p.known {
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
		})
		return o, len(latencies(o)) == 15
	})
	check(t, o, schema.StatusTimeout, schema.StageMeasure, "timeout")
	valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), 15)
}

// TestCrashedSupervisor: what its runtime says at the end is in standard error of the run.
func TestCrashedSupervisor(t *testing.T) {
	p := testPool(t)
	o := runSpec(t, t.Context(), builtin("hang"), func(progress Progress) {
		if progress.Stage == schema.StageMeasure {
			p.mu.Lock()
			defer p.mu.Unlock()
			for pid := range p.known {
				_ = syscall.Kill(pid, syscall.SIGABRT)
			}
		}
	})
	check(t, o, schema.StatusLost, schema.StageMeasure, "lost")
	if !strings.Contains(o.StderrTail, "runtime.") {
		t.Errorf("standard error: %q", o.StderrTail)
	}
}

// TestSeveralAtOnce: the death of one supervisor concerns neither another run nor a child that others started.
func TestSeveralAtOnce(t *testing.T) {
	valuetest.Program(t, "setsid")
	p := testPool(t)
	dir, mark := t.TempDir(), newMark()
	t.Setenv("TMPDIR", dir)
	bystander := exec.Command("sleep", "1.5")
	valuetest.OK(t, bystander.Start())
	var all sync.WaitGroup
	outcomes := make([]Outcome, 4)
	for i := range outcomes {
		spec := builtin("torture")
		spec.Iterations, spec.Env = 500, []string{markKey + "=" + mark}
		if i == 0 {
			spec.Env = append(spec.Env, "VICTIM=1")
			spec.Iterations = 1_000_000 // it does not end before it is killed
		}
		all.Go(func() {
			var err error
			if outcomes[i], err = p.Run(t.Context(), spec, nil); err != nil {
				t.Error(err)
			}
		})
	}
	awaitDaemon(t, mark)
	victim := 0
	await(t, "the victim", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for pid := range p.known {
			argv := strings.Split(cmdline(pid), "\x00")
			if j, err := loadJob(argv[min(2, len(argv)-1)]); err == nil && slices.Contains(j.Env, "VICTIM=1") {
				victim = pid
			}
		}
		return victim != 0
	})
	_ = syscall.Kill(victim, syscall.SIGKILL)
	all.Wait()
	for i, o := range outcomes {
		want := schema.StatusOK
		if i == 0 {
			want = schema.StatusLost
		}
		valuetest.DeepEqual(t, o.Status, want, "run", i, o.Error)
	}
	if err := bystander.Wait(); err != nil {
		t.Errorf("bystander: %v", err)
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
	checkEmpty(t, dir)
}

// TestLookPath: the last PATH of the environment counts, and what is no program is passed over.
func TestLookPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Chdir(t.TempDir())
	for path, mode := range map[string]os.FileMode{first + "/x": 0o644, second + "/x": 0o755, "here": 0o755} {
		valuetest.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"), mode))
	}
	for name, c := range map[string]struct {
		name string
		env  []string
		want string
		err  error
	}{
		"of the environment":      {"x", []string{"PATH=" + first + ":" + second}, second + "/x", nil},
		"the last one counts":     {"x", []string{"PATH=" + second, "PATH=" + first}, "", exec.ErrNotFound},
		"none":                    {"sh", nil, "", exec.ErrNotFound},
		"with a slash":            {"./x", []string{"PATH=" + second}, "./x", nil},
		"in the folder of a call": {"here", []string{"PATH=" + first + "::" + second}, "", exec.ErrDot},
	} {
		if got, err := LookPath(c.name, c.env); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
}

// TestCommandBytes: a program gets its words, its environment and its folder with bytes that are not UTF-8, however long they are.
func TestCommandBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d\xe9r")
	valuetest.OK(t, os.Mkdir(dir, 0o700))
	for _, word := range []string{"caf\xe9\n", "\"$(printf 'a')\"", strings.Repeat("\xff\x01", maxOrder)} {
		spec := shell("printf %s \"$1$X\" >out\xe9")
		spec.Command = append(spec.Command, "sh", word)
		spec.Dir, spec.Env, spec.Iterations = dir, []string{"X=\xe9"}, 1
		runOK(t, spec)
		valuetest.DeepEqual(t, string(valuetest.Must(os.ReadFile(filepath.Join(dir, "out\xe9")))), word+"\xe9", word)
	}
}

// TestCommandSaysItIsSkipped: a program that fails with a last line that says why it cannot run here is skipped, without samples. One
// that ends well is not, and neither is one that goes on to say more.
func TestCommandSaysItIsSkipped(t *testing.T) {
	for script, want := range map[string]struct {
		status schema.Status
		text   string
	}{
		"echo SKIPPED: no GPU; exit 3":                          {schema.StatusSkipped, "no GPU"},
		"echo HARDWARE/SOFTWARE LIMITATION: SM 9 >&2; exit 1":   {schema.StatusSkipped, "SM 9"},
		"echo SKIPPED: >&2; exit 1":                             {schema.StatusSkipped, "SKIPPED:"},
		"echo SKIPPED: 1 of 9":                                  {schema.StatusOK, ""},
		"echo SKIPPED: 1 of 9; echo failed: 1 of 9 >&2; exit 1": {schema.StatusError, "process 1 of measure: exit status 1: failed: 1 of 9"},
		"echo 3 tests; echo SKIPPED: no GPU >&2; exit 1":        {schema.StatusSkipped, "no GPU"},
		"echo SKIPPED: 1 of 9; echo failed: 1 of 9; exit 1":     {schema.StatusError, "process 1 of measure: exit status 1"},
		"echo SKIPPED: no GPU; kill -TERM $$":                   {schema.StatusCrashed, "killed by SIGTERM"},
		"echo 'skipping: SKIPPED: x' >&2; exit 1":               {schema.StatusError, "exit status 1"},
	} {
		spec := shell(script)
		spec.Warmup, spec.Iterations = 0, 2
		o := runSpec(t, t.Context(), spec, nil)
		if o.Status != want.status || !strings.Contains(o.Error, want.text) || o.Status == schema.StatusSkipped && (o.Error != want.text || len(o.Metrics) > 0) {
			t.Errorf("%s: %s %q, %d metrics; want %s %q", script, o.Status, o.Error, len(o.Metrics), want.status, want.text)
		}
	}
}

// hooked returns a command whose hooks and processes each write a word into a file, and the file.
func hooked(t *testing.T, script string) (spec Spec, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	word := func(text string) []string { return []string{"sh", "-c", "echo " + text + " >> " + log} }
	spec = shell("echo p >> " + log + "; " + script)
	spec.Hooks = Hooks{Setup: word("setup"), Prepare: word("prepare"), Cleanup: word("cleanup")}
	spec.Warmup, spec.Iterations = 1, 2
	return spec, log
}

func wordsIn(t *testing.T, file string) string {
	t.Helper()
	text := valuetest.Must(os.ReadFile(file))
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestHooks: each runs when it is due, however the run ends, and a run whose hook fails says which and why.
func TestHooks(t *testing.T) {
	fails := []string{"sh", "-c", "echo so >&2; exit 3"}
	for name, c := range map[string]struct {
		script string
		change func(*Spec)
		status schema.Status
		stage  schema.Stage
		kind   string
		text   string // of the error
		ran    string
	}{
		"ok": {"true", nil, schema.StatusOK, "", "", "", "setup prepare p prepare p prepare p cleanup"},
		"fails": {
			"exit 4", nil, schema.StatusError, schema.StageWarmup, "exit", "process 1 of warmup: exit status 4", "setup prepare p cleanup",
		},
		"hangs": {
			"sleep 600", func(s *Spec) { s.Deadlines.Warmup = 300 * time.Millisecond },
			schema.StatusTimeout, schema.StageWarmup, "timeout", "one process of warmup, or its prepare, took more than WARMUP", "setup prepare p cleanup",
		},
		"setup": {
			"true", func(s *Spec) { s.Hooks.Setup = fails }, schema.StatusError, schema.StageSetup, "exit", "setup: exit status 3: so", "cleanup",
		},
		"no setup": {
			"true", func(s *Spec) { s.Hooks.Setup = []string{"no-such-program"} }, schema.StatusError, schema.StageSetup, "start", `setup: starting "no-such-program"`, "cleanup",
		},
		"prepare": {
			"true", func(s *Spec) { s.Hooks.Prepare = fails }, schema.StatusError, schema.StageWarmup, "exit", "prepare: exit status 3: so", "setup cleanup",
		},
		"cleanup": {
			"echo mine >&2", func(s *Spec) { s.Hooks.Cleanup = fails },
			schema.StatusError, schema.StageTeardown, "cleanup", "cleanup: exit status 3: so", "setup prepare p prepare p prepare p",
		},
		"cleanup hangs": {
			"true", func(s *Spec) {
				s.Hooks.Cleanup, s.Deadlines.Teardown = []string{"sleep", "600"}, 200*time.Millisecond
			},
			schema.StatusTimeout, schema.StageTeardown, "timeout", "cleanup: took more than 200ms; raise timeouts.teardown", "setup prepare p prepare p prepare p",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec, log := hooked(t, c.script)
			if c.change != nil {
				c.change(&spec)
			}
			o := untilItHangs(&spec.Deadlines.Warmup, func() (Outcome, bool) {
				valuetest.OK(t, os.WriteFile(log, nil, 0o600))
				return runSpec(t, t.Context(), spec, nil), wordsIn(t, log) == c.ran
			})
			check(t, o, c.status, c.stage, c.kind)
			if text := strings.Replace(c.text, "WARMUP", short(spec.Deadlines.Warmup), 1); !strings.Contains(o.Error, text) || strings.Contains(o.Error, "mine") {
				t.Errorf("error %q, want %q in it", o.Error, text)
			}
			valuetest.DeepEqual(t, wordsIn(t, log), c.ran, "ran")
		})
	}
}

// TestCleanupAfterCancel: the cleanup of a run that is cancelled runs, and what the setup has left is gone after it.
func TestCleanupAfterCancel(t *testing.T) {
	spec, log := hooked(t, "sleep 600")
	pid := filepath.Join(t.TempDir(), "pid")
	spec.Hooks.Setup = []string{"sh", "-c", "setsid sleep 600 & echo $! > " + pid}
	spec.Hooks.Cleanup = []string{"sh", "-c", "kill -0 $(cat " + pid + ") && echo cleanup >> " + log}
	ctx, cancel := context.WithCancel(t.Context())
	o := runSpec(t, ctx, spec, func(p Progress) {
		if p.Stage == schema.StageWarmup {
			cancel()
		}
	})
	check(t, o, schema.StatusCancelled, schema.StageWarmup, "cancelled")
	if got := wordsIn(t, log); !strings.HasSuffix(got, "cleanup") {
		t.Errorf("ran %q, want the cleanup, while what the setup has started runs; %v", got, o.Facts)
	}
}

// TestStdin: each process reads the file from its first byte on, and standard output goes to a file that has that of the last one.
func TestStdin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"in": "some text\n", "out": "what was there before, and is longer"} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	spec := commandSpec("cat")
	spec.Dir, spec.Stdin, spec.Stdout, spec.Warmup, spec.Iterations = dir, "in", "out", 2, 3
	runOK(t, spec)
	valuetest.DeepEqual(t, wordsIn(t, filepath.Join(dir, "out")), "some text", "the file")
	spec.Stdin = "absent"
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusError, schema.StageWarmup, "start")
}

// TestIgnoredExits: an exit status that counts as well is no failure, and is told.
func TestIgnoredExits(t *testing.T) {
	spec := shell("exit 3")
	spec.Iterations, spec.Exits = 2, []int{4, 3}
	o := runOK(t, spec)
	if o.Facts[factExits] != "3" || len(metric(t, o, "latency").Ticks) != 2 {
		t.Errorf("facts %v, metrics %v", o.Facts, o.Metrics)
	}
	spec.Exits = []int{4}
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusError, schema.StageMeasure, "exit")
	spec.AnyExit = true
	runOK(t, spec)
}

// TestStartReadsNothing: the starts of a shell after the processes that read a file are as those before them.
func TestStartReadsNothing(t *testing.T) {
	dir := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "in"), []byte("some text\n"), 0o600))
	spec := shell("cat >/dev/null; sleep 0.05")
	spec.Dir, spec.Stdin, spec.Warmup, spec.Iterations = dir, "in", 1, 2
	spec.Start = []string{"sh", "-c", "readlink /proc/$$/fd/0 >> log"}
	_ = runSpec(t, t.Context(), spec, nil) // whether these starts can be told from the processes is another matter
	got := strings.Fields(wordsIn(t, filepath.Join(dir, "log")))
	valuetest.DeepEqual(t, got, slices.Repeat([]string{"/dev/null"}, 2*(startsWarmup+starts)), "starts read")
}

// TestShellStart: what a shell takes to start is no part of the latency; the whole time stands beside it.
func TestShellStart(t *testing.T) {
	spec := shell("sleep 0.05; :")
	spec.Start, spec.Warmup, spec.Iterations = []string{"sh", "-c", ""}, 1, 3
	o := runOK(t, spec)
	latency, wall := metric(t, o, "latency"), metric(t, o, "wall_time")
	median, err := strconv.ParseInt(o.Facts[factStart], 10, 64)
	if err != nil || median <= 0 || o.Facts[factStarts] != strconv.Itoa(2*starts) {
		t.Fatalf("facts %v", o.Facts)
	}
	for i, ticks := range wall.Ticks {
		valuetest.DeepEqual(t, latency.Ticks[i], ticks-median, "latency", ticks, median)
	}
	spec.Start = []string{"sh", "-c", "exit 3"}
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusError, schema.StageSetup, "exit")
}

// TestSubtract: where wall times cannot be told from the start, there is no latency.
func TestSubtract(t *testing.T) {
	s := start{median: 1000, spread: 10}
	for _, c := range []struct {
		wall []int64
		want []int64
	}{
		{[]int64{1031, 1035, 1040}, []int64{31, 35, 40}},
		{[]int64{1030, 1030, 1040}, nil}, // within three spreads
		{[]int64{1000, 2000, 2000}, nil}, // one is no longer than the start
		{[]int64{900}, nil},
		{nil, nil},
	} {
		got, ok := s.subtract(c.wall)
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.wall, got, ok, c.want)
		}
	}
}

// TestNoHashBang: of a file that can be executed and begins with no #! the error says what is missing.
func TestNoHashBang(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	valuetest.OK(t, os.WriteFile(file, []byte("echo\n"), 0o700))
	spec := shell("")
	spec.Command, spec.Iterations = []string{file}, 1
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusError, schema.StageSetup, kindStart)
	if want := "nor a script with a first line like #!/bin/sh"; !strings.Contains(o.Error, want) {
		t.Errorf("%s, want %q in it", o.Error, want)
	}
}
