package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// roleRunner makes the test binary a runner that can be killed.
const roleRunner = "__runner"

// roleTurns makes the test binary a runner of one run after the other.
const roleTurns = "__turns"

func TestMain(m *testing.M) {
	if code, handled := Main(os.Args, testWorker); handled {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == roleRunner {
		os.Exit(runnerRole(os.Args[2], os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == roleTurns {
		os.Exit(turnsRole(os.Args[2], os.Stdout))
	}
	if len(os.Args) == 3 && os.Args[1] == roleProgram {
		os.Exit(playProgram(os.Args[2]))
	}
	// the race detector makes each process linger for a second at its end
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// markKey marks all processes of a test.
const markKey = "NEUROLENS_TEST_MARK"

// daemon starts a process that is double-forked, leads a session of its own and ignores SIGTERM.
const daemon = `(trap "" TERM HUP INT; setsid sleep 600 >/dev/null 2>&1 &) `

var (
	applied   = map[string]string{"precision": "fp32"}
	errRefuse = errors.New("no such thing")
)

func hang() { time.Sleep(time.Hour) }

func startDaemon() { _ = exec.Command("sh", "-c", daemon).Run() }

// misdeeds are what the test worker does in its iteration 21, warm-up included.
var misdeeds = map[string]func(){
	"ok":    func() {},
	"hang":  hang,
	"exit":  func() { os.Exit(0) },
	"kill":  func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"segv":  func() { _ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, os.Environ()) },
	"panic": func() { panic("oh no") },
	"flood": func() {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 1 << 10 {
			_, _ = os.Stdout.Write(chunk)
		}
	},
	"garbage":       func() { writeEvents("\x00\x01 not an event\n"); hang() },
	"last garbage":  func() { writeEvents("{}\n"); os.Exit(0) },
	"long line":     func() { writeEvents(strings.Repeat("x", maxLine+1)); hang() },
	"unknown event": func() { writeEvents(`{"event":"moon","phase":"full"}` + "\n") },
	"half a line": func() {
		writeEvents(`{"event":"res`)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	},
	"close":           func() { _ = syscall.Close(fdWorkerEvents) },
	"daemon":          startDaemon,
	"daemon and hang": func() { startDaemon(); hang() },
	"stderr": func() {
		fmt.Fprint(os.Stderr, "first line\n"+strings.Repeat("é\xff", 4000)+"last line\n")
		os.Exit(3)
	},
}

// testWorker misbehaves as config["do"] says.
func testWorker(config map[string]string) (*Work, error) {
	n, do := 0, config["do"]
	work := &Work{Applied: applied, Work: schema.Work{Items: new(4.0)}}
	work.Iterate = func() {
		if n++; n == 21 {
			misdeeds[do]()
		}
		time.Sleep(200 * time.Microsecond)
	}
	if _, ok := misdeeds[do]; ok {
		return work, nil
	}
	switch do {
	case "touch":
		work.Iterate = touch
		return work, nil
	case "slow", "invalid", "hang in validate":
		work.Iterate = func() { time.Sleep(time.Millisecond) }
		if do == "invalid" {
			work.Validate = func() error { return errors.New("result 3: want 4") }
		} else if do == "hang in validate" {
			work.Validate = func() error { hang(); return nil }
		}
		return work, nil
	case "torture":
		work.Iterate = func() {
			if n++; n == 1 {
				startDaemon()
			}
			time.Sleep(time.Millisecond)
		}
		return work, nil
	case "hang in setup":
		hang()
	case "refuse":
		return nil, fmt.Errorf("preparing: %w", errRefuse)
	case "unsupported":
		return nil, fmt.Errorf("preparing: %w", &Unsupported{"precision", "no fp16 here"})
	}
	return nil, fmt.Errorf("do %q: want one of the above", do)
}

func writeEvents(text string) { _, _ = syscall.Write(fdWorkerEvents, []byte(text)) }

// thePool is the one Pool of the test process.
var thePool = sync.OnceValues(New)

func testPool(t testing.TB) *Pool {
	t.Helper()
	return valuetest.Must(thePool())
}

// patient are deadlines that no test means to meet.
var patient = Deadlines{
	Setup: 30 * time.Second, Warmup: 15 * time.Second, Measure: 15 * time.Second, Validate: 15 * time.Second,
	Teardown: 10 * time.Second,
}

// builtin returns a Spec of the test worker.
func builtin(do string) Spec {
	return Spec{
		Launch: Launch{Executor: schema.ExecutorBuiltin, Warmup: 5, Iterations: 40}, Config: map[string]string{"do": do}, Deadlines: patient,
	}
}

func commandSpec(argv ...string) Spec {
	return Spec{Launch: Launch{Executor: schema.ExecutorCommand, Command: argv, Iterations: 3}, Deadlines: patient}
}

func shell(script string) Spec { return commandSpec("sh", "-c", script) }

// runOK runs what has to end well.
func runOK(t testing.TB, spec Spec) Outcome {
	t.Helper()
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusOK, "", "")
	return o
}

// runSpec runs in a temporary directory of its own and checks that nothing is left, no file and no process.
func runSpec(t testing.TB, ctx context.Context, spec Spec, progress func(Progress)) Outcome {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	mark := newMark()
	spec.Env = append(spec.Env, markKey+"="+mark)
	pool := testPool(t)
	o, err := pool.Run(ctx, spec, progress)
	if err == nil {
		err = pool.Close() // ends the supervisor, and with it the directory of a next run
	}
	if err != nil {
		t.Fatal(err)
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("survivors: %v", left)
	}
	checkEmpty(t, dir)
	return o
}

// untilItHangs runs with an ever longer deadline until the run came to where it hangs, which on a busy machine can take longer than any.
func untilItHangs(deadline *time.Duration, run func() (o Outcome, came bool)) Outcome {
	o, came := run()
	for !came && *deadline < patient.Measure {
		*deadline *= 4
		o, came = run()
	}
	return o
}

func checkEmpty(t testing.TB, dir string) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v %v", left, err)
	}
}

func newMark() string { return fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano()) }

// survivors returns the processes whose environment has the mark, zombies excepted.
func survivors(mark string) (pids []int) {
	want := []byte(markKey + "=" + mark)
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, want) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		pids = append(pids, pid)
	}
	return pids
}

// metric returns the metric of that name; the test fails without it.
func metric(t testing.TB, o Outcome, name string) schema.Metric {
	t.Helper()
	for _, m := range o.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no metric %s: %+v", name, o)
	return schema.Metric{}
}

// check compares the parts of an Outcome that say how a run ended.
func check(t testing.TB, o Outcome, status schema.Status, stage schema.Stage, kind string) {
	t.Helper()
	if o.Status != status || o.Stage != stage || o.ErrorKind != kind {
		t.Fatalf("%s in %s, kind %q, want %s in %s, kind %q: %s; standard error: %s",
			o.Status, o.Stage, o.ErrorKind, status, stage, kind, o.Error, o.StderrTail)
	}
}

// TestFilesSurviveCollector collects garbage between the opening of the files of what a supervisor starts and a start:
// a file that is known by its number alone would be closed by then, and its number somebody else's.
func TestFilesSurviveCollector(t *testing.T) {
	dir := t.TempDir()
	names := []string{os.DevNull, filepath.Join(dir, stdoutFile), filepath.Join(dir, stderrFile)}
	for _, name := range names[1:] {
		valuetest.OK(t, os.WriteFile(name, nil, 0o600))
	}
	s := &supervisor{dir: dir, job: &job{}}
	valuetest.OK(t, s.openFiles())
	t.Cleanup(func() {
		if err := debug.SetCrashOutput(nil, debug.CrashOptions{}); err != nil {
			t.Error(err)
		}
		for _, f := range s.files {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	s.attr = s.procAttr()
	collect()
	for i, name := range names {
		var got, want syscall.Stat_t
		valuetest.OK(t, syscall.Stat(name, &want))
		if err := syscall.Fstat(int(s.attr.Files[i]), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Dev != want.Dev || got.Ino != want.Ino {
			t.Errorf("%s: its number is another file's", name)
		}
	}
}

// collect collects garbage and returns when all finalizers of it have run. They run one after the other, but those of
// one collection in any order: only when the second one has found something to run are those of the first done.
func collect() {
	for range 2 {
		done := make(chan struct{})
		runtime.SetFinalizer(&struct{ link *int }{new(int)}, func(any) { close(done) })
		runtime.GC()
		<-done
	}
}
