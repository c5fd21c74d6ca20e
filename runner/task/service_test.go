//go:build linux

package task

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// turns runs one Spec after the other in one Pool and checks that nothing is left after each.
type turns struct {
	t    *testing.T
	pool *Pool
	tmp  string
}

func newTurns(t *testing.T) *turns {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	pool := valuetest.Must(New())
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return &turns{t, pool, tmp}
}

// run runs a Spec and returns its standard output too.
func (u *turns) run(ctx context.Context, spec Spec) (o Outcome, printed string) {
	u.t.Helper()
	mark := newMark()
	spec.Env = append(spec.Env, markKey+"="+mark)
	spec.Leave = func(left Left) {
		text, err := io.ReadAll(io.NewSectionReader(left.Stdout, 0, 1<<20))
		if err != nil {
			u.t.Error(err)
		}
		printed = strings.TrimSpace(string(text))
	}
	o, err := u.pool.Run(ctx, spec, nil)
	if err != nil {
		u.t.Fatal(err)
	}
	if left := survivors(mark); len(left) > 0 {
		u.t.Errorf("survivors: %v", left)
	}
	left, err := filepath.Glob(filepath.Join(u.tmp, "*"))
	if next := u.pool.idle; err != nil || len(left) > 1 || len(left) == 1 && (next == nil || left[0] != next.nextFolder.dir) {
		u.t.Errorf("left in the temporary directory: %v %v", left, err)
	}
	return o, printed
}

// parent returns the number of the supervisor of a run that ends well.
func (u *turns) parent() string {
	u.t.Helper()
	o, pid := u.run(u.t.Context(), shell("echo $PPID"))
	check(u.t, o, schema.StatusOK, "", "")
	return pid
}

// TestSupervisorServesCommands: commands in turn have one supervisor, each with its own files and its own samples, however the
// one before has ended, whether or not the supervisor was given files.
func TestSupervisorServesCommands(t *testing.T) {
	for name, share := range map[string]func() *shared{"shared": newShared, "named": func() *shared { return nil }} {
		t.Run(name, func(t *testing.T) {
			u := newTurns(t)
			u.pool.share = share
			supervisorServesCommands(t, u)
		})
	}
}

func supervisorServesCommands(t *testing.T, u *turns) {
	t.Helper()
	supervisor, folders := u.parent(), map[string]bool{}
	input := filepath.Join(t.TempDir(), "input")
	valuetest.OK(t, os.WriteFile(input, []byte("some input\n"), 0o600))
	withInput := commandSpec("cat")
	withInput.Stdin = input
	written := shell("echo to a file")
	written.Stdout = filepath.Join(t.TempDir(), "output")
	hooked := shell("true")
	hooked.Hooks = Hooks{Setup: []string{"true"}, Prepare: []string{"true"}, Cleanup: []string{"true"}}
	traced := shell("echo traced")
	traced.Warmup = 2
	for _, c := range []struct {
		name    string
		spec    Spec
		status  schema.Status
		printed string
	}{
		{"fails", shell("exit 3"), schema.StatusError, ""},
		{"crashes", shell("kill -SEGV $$"), schema.StatusCrashed, ""},
		{"missing", commandSpec("/no/such/program"), schema.StatusError, ""},
		{"leaves a daemon", shell(daemon), schema.StatusOK, ""},
		{"reads", withInput, schema.StatusOK, "some input"},
		{"reads nothing", commandSpec("cat"), schema.StatusOK, ""},
		{"writes elsewhere", written, schema.StatusOK, ""},
		{"writes", shell("echo here"), schema.StatusOK, "here"},
		{"has hooks", hooked, schema.StatusOK, ""},
		{"is traced", traced, schema.StatusOK, "traced"},
	} {
		o, printed := u.run(t.Context(), c.spec)
		if o.Status != c.status || printed != c.printed {
			t.Errorf("%s: %s %q: want %s %q: %s", c.name, o.Status, printed, c.status, c.printed, o.Error)
		}
		if n := len(latencies(o)); o.Status == schema.StatusOK && n != c.spec.Iterations {
			t.Errorf("%s: %d samples, want %d", c.name, n, c.spec.Iterations)
		}
		o, folder := u.run(t.Context(), shell("ls -A $NEUROLENS_RUN_DIR; echo $NEUROLENS_RUN_DIR"))
		if check(t, o, schema.StatusOK, "", ""); folders[folder] || strings.Contains(folder, "\n") {
			t.Errorf("after %s: run directory %q again, or with something in it", c.name, folder)
		}
		folders[folder] = true
		if after := u.parent(); after != supervisor && !raced() {
			t.Errorf("after %s: supervisor %s, want %s again", c.name, after, supervisor)
		}
	}
}

func latencies(o Outcome) []int64 {
	for _, m := range o.Metrics {
		if m.Name == schema.PrimaryMetric {
			return m.Ticks
		}
	}
	return nil
}

// TestSupervisorIsNew: a run gets a new supervisor where that of the run before was ended, is of another kind, or would
// pass on to the processes what a new one does not have.
func TestSupervisorIsNew(t *testing.T) {
	impatient := shell("sleep 600")
	impatient.Deadlines.Measure = 50 * time.Millisecond
	large := commandSpec("false")
	large.Iterations = 1 << 18 // all of the columns together take 8 MiB
	for name, between := range map[string]func(*turns){
		"timeout": func(u *turns) { u.run(t.Context(), impatient) },
		"worker":  func(u *turns) { u.run(t.Context(), builtin("ok")) },
		"memory":  func(u *turns) { u.run(t.Context(), large) },
		"cancelled": func(u *turns) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			u.run(ctx, shell("sleep 600"))
		},
		"priority":   changes(t, "renice", "-n", "5", "-p"),
		"processors": changes(t, "taskset", "-a", "-c", "-p", "0"),
		"limit":      changes(t, "prlimit", "--core=4096", "--pid"),
		"disk":       changes(t, "ionice", "-c", "3", "-p"),
		"score":      changes(t, "choom", "-n", "7", "-p"),
		"mode":       func(u *turns) { u.run(t.Context(), shell("chmod 400 /proc/self/fd/1")) },
		"variable":   func(u *turns) { u.t.Setenv("NEUROLENS_TEST_VARIABLE", "1") },
		"folder":     func(u *turns) { u.t.Chdir(u.t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			u := newTurns(t)
			before := u.parent()
			if again := u.parent(); again != before {
				t.Fatalf("supervisors %s and %s", before, again)
			}
			between(u)
			after := u.parent()
			if after == before {
				t.Errorf("supervisor %s again", after)
			}
			valuetest.DeepEqual(t, u.parent(), after, "supervisor")
		})
	}
}

// changes has a program change something of the supervisor that runs it.
func changes(t *testing.T, program ...string) func(*turns) {
	t.Helper()
	return func(u *turns) {
		valuetest.Program(u.t, program[0])
		o, _ := u.run(u.t.Context(), shell(strings.Join(program, " ")+" $PPID"))
		check(u.t, o, schema.StatusOK, "", "")
	}
}

// TestIdleSupervisorKilled: who kills a supervisor that has nothing to do harms no run.
func TestIdleSupervisorKilled(t *testing.T) {
	u := newTurns(t)
	before := u.parent()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		valuetest.OK(t, syscall.Kill(u.pool.idle.cmd.Process.Pid, signal))
		u.pool.idle.exited <- <-u.pool.idle.exited // it is dead
		after := u.parent()
		if after == before {
			t.Errorf("supervisor %s again", after)
		}
		before = after
	}
}

// TestSupervisorKeepsItsSize: a supervisor of many runs serves all of them, so its memory, the floor of theirs, does not grow.
func TestSupervisorKeepsItsSize(t *testing.T) {
	u := newTurns(t)
	spec := commandSpec("true")
	spec.Iterations = 1
	supervisor := u.parent()
	for range 300 {
		o := valuetest.Must(u.pool.Run(t.Context(), spec, nil))
		check(t, o, schema.StatusOK, "", "")
	}
	if again := u.parent(); again != supervisor && !raced() {
		t.Errorf("supervisor %s after %s", again, supervisor)
	}
}

// raced reports whether this is built with the race detector, whose own memory makes supervisors grow.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestEndBeforeTheJobIsRead: the supervisor of a runner that dies right after the order to start removes the run directory, although it
// has not read the job yet.
func TestEndBeforeTheJobIsRead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	pool := testPool(t)
	for range 20 {
		f := newFolder()
		valuetest.OK(t, f.make(true))
		l := valuetest.Must(pool.newLink(f.dir, nil))
		l.order(orderStart + " " + string(valuetest.Must(json.Marshal(shell("true").job(pool.killWait)))))
		valuetest.OK(t, l.orders.Close()) // both are there before the supervisor begins
		status := <-l.exited
		l.exited <- status
		l.release(true, pool.killWait)
		if _, err := os.Lstat(f.dir); status.ExitStatus() != 0 || !os.IsNotExist(err) {
			f.remove()
			t.Fatalf("the supervisor ended with %d, signal %d; run directory: %v", status.ExitStatus(), status.Signal(), err)
		}
	}
}

// TestTortureOfTurns kills the supervisor of short runs that follow one another, ever again at a random moment, and then the runner. Each
// kill loses the run that was going on, at most, and nothing is left.
func TestTortureOfTurns(t *testing.T) {
	rounds, kills := 3, 20
	if os.Getenv("NEUROLENS_LONG") == "all" {
		rounds = 30
	}
	text := valuetest.Must(json.Marshal(shell(daemon + "; true")))
	self := valuetest.Must(os.Executable())
	for range rounds {
		dir, mark := t.TempDir(), newMark()
		out := valuetest.Must(os.Create(filepath.Join(t.TempDir(), "statuses")))
		statuses := func() []string {
			text, _ := os.ReadFile(out.Name())
			return strings.Fields(string(text))
		}
		var errs bytes.Buffer
		cmd := exec.Command(self, roleTurns, string(text))
		cmd.Env = append(os.Environ(), markKey+"="+mark, "TMPDIR="+dir)
		cmd.Stdout, cmd.Stderr = out, &errs
		valuetest.OK(t, cmd.Start())
		for range kills {
			time.Sleep(time.Duration(rand.Int64N(int64(150 * time.Millisecond))))
			kill(cmd.Process.Pid, victimSupervisor)
		}
		// The run directory would stay if both were killed at once: the supervisor of the second run from now is alive.
		before := len(statuses())
		await(t, "another run", func() bool { return len(statuses()) > before+1 })
		time.Sleep(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		awaitNone(t, mark)
		awaitEmpty(t, dir)
		_ = out.Close()
		lost := 0
		for _, status := range statuses() {
			if status == string(schema.StatusLost) {
				lost++
			} else {
				valuetest.DeepEqual(t, status, string(schema.StatusOK), "status")
			}
		}
		t.Logf("%d runs, %d lost in %d kills", len(statuses()), lost, kills)
		if lost > kills || !slices.Contains(statuses(), string(schema.StatusOK)) {
			t.Errorf("%d runs lost in %d kills: %s", lost, kills, errs.String())
		}
	}
}

// TestStageIsReportedAtOnce: the beginning of a stage is reported before its first process starts, not when that ends.
func TestStageIsReportedAtOnce(t *testing.T) {
	pool, dir := testPool(t), t.TempDir()
	spec := shell("i=0; while [ ! -e go ]; do sleep 0.01; i=$((i+1)); [ $i -lt 1000 ] || exit 1; done")
	spec.Dir, spec.Iterations = dir, 1
	spec.Deadlines.Setup, spec.Deadlines.Measure = time.Hour, time.Hour // at which the runner looks for itself
	o := valuetest.Must(pool.Run(t.Context(), spec, func(p Progress) {
		if p.Stage == schema.StageMeasure {
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}))
	check(t, o, schema.StatusOK, "", "")
}
