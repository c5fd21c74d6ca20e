package task

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// runnerRole runs one Spec and writes its Outcome.
func runnerRole(spec string, w io.Writer) int {
	var s Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := New()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o, err := p.Run(context.Background(), s, nil)
	if err == nil {
		err = p.Close()
	}
	if err == nil {
		err = json.NewEncoder(w).Encode(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// turnsRole runs a Spec over and over and writes each status, until it cannot.
func turnsRole(spec string, w io.Writer) int {
	var s Spec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p, err := New()
	for err == nil {
		var o Outcome
		if o, err = p.Run(context.Background(), s, nil); err == nil {
			_, err = fmt.Fprintln(w, o.Status)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// The processes of a tree that the torture kills.
const (
	victimRunner     = "runner"
	victimSupervisor = "supervisor"
	victimWorker     = "worker"
)

// TestTorture kills one of runner, supervisor and worker at a random moment, with a daemon present, and then nothing
// may be left. NEUROLENS_LONG=all does it 200 times, and else 30 times.
func TestTorture(t *testing.T) {
	valuetest.Program(t, "setsid")
	rounds := 30
	if os.Getenv("NEUROLENS_LONG") == "all" {
		rounds = 200
	}
	victims := []string{victimRunner, victimSupervisor, victimWorker}
	partial := 0
	for i := range rounds {
		spec := builtin("torture")
		spec.Warmup, spec.Iterations = 5, 1_000_000 // it does not end before it is killed
		if i%2 == 1 {
			spec = shell("sleep 0.01")
			spec.Warmup, spec.Iterations = 0, 100_000 // a traced warm-up would kill the daemon
		}
		partial += torture(t, spec, victims[i%len(victims)])
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
	if partial < rounds/3 {
		t.Errorf("%d of %d rounds kept samples, want more", partial, rounds)
	}
}

// TestTortureWhileTracing kills while the only warm-up process runs under ptrace.
func TestTortureWhileTracing(t *testing.T) {
	valuetest.Program(t, "setsid")
	for range 3 {
		for _, victim := range []string{victimRunner, victimSupervisor} {
			spec := shell("sleep 5")
			spec.Warmup, spec.Watch = 1, true
			torture(t, spec, victim)
		}
	}
}

// TestRunnerKilledWhilePreparing kills the runner while it writes the file of samples, before anything is measured.
func TestRunnerKilledWhilePreparing(t *testing.T) {
	spec := builtin("ok")
	spec.Iterations = 8_000_000 // 64 MB
	text := valuetest.Must(json.Marshal(spec))
	self := valuetest.Must(os.Executable())
	for range 10 {
		dir, mark := t.TempDir(), newMark()
		cmd := exec.Command(self, roleRunner, string(text))
		cmd.Env = append(os.Environ(), markKey+"="+mark, "TMPDIR="+dir)
		valuetest.OK(t, cmd.Start())
		await(t, "the run directory", func() bool {
			made, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
			return len(made) > 0
		})
		time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		awaitNone(t, mark)
		awaitEmpty(t, dir)
	}
}

// torture returns one round. It returns 1 if the run ended with samples.
func torture(t *testing.T, spec Spec, victim string) int {
	dir, mark := t.TempDir(), newMark()
	if spec.Executor == schema.ExecutorCommand {
		// the first process starts the daemon
		spec.Command[2] = "[ -e " + dir + "/../daemon-" + mark + " ] || { touch " + dir + "/../daemon-" + mark + "; " +
			daemon + "; }; " + spec.Command[2]
	}
	text := valuetest.Must(json.Marshal(spec))
	self := valuetest.Must(os.Executable())
	var out, errs bytes.Buffer
	cmd := exec.Command(self, roleRunner, string(text))
	cmd.Env = append(os.Environ(), markKey+"="+mark, "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = &out, &errs
	valuetest.OK(t, cmd.Start())
	awaitDaemon(t, mark)
	time.Sleep(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	waitErr := killUntil(t, ended, cmd.Process.Pid, victim)
	awaitNone(t, mark)
	if victim == victimRunner {
		awaitEmpty(t, dir)
		return 0
	}
	checkEmpty(t, dir)
	if waitErr != nil {
		t.Fatalf("runner: %v: %s", waitErr, errs.String())
	}
	var o Outcome
	if err := json.Unmarshal(out.Bytes(), &o); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if want := map[string]schema.Status{victimSupervisor: schema.StatusLost, victimWorker: schema.StatusCrashed}[victim]; o.Status != want {
		t.Fatalf("%s of %s killed: %s %s %s, want %s; standard error: %s",
			victim, spec.Executor, o.Status, o.Error, o.Signal, want, o.StderrTail)
	}
	if victim == victimWorker && o.Signal != "SIGKILL" {
		t.Errorf("signal %q: want SIGKILL", o.Signal)
	}
	for _, m := range o.Metrics {
		if m.Name == "latency" && len(m.Ticks) > 0 {
			return 1
		}
	}
	return 0
}

// awaitDaemon waits for a process with the mark that runs sleep.
func awaitDaemon(t *testing.T, mark string) {
	await(t, "the daemon to start", func() bool {
		for _, pid := range survivors(mark) {
			if line := cmdline(pid); strings.HasPrefix(line, "sleep\x00600") {
				return true
			}
		}
		return false
	})
}

func awaitNone(t *testing.T, mark string) {
	await(t, "all processes to be gone", func() bool { return len(survivors(mark)) == 0 })
}

func awaitEmpty(t *testing.T, dir string) {
	await(t, "the run directory to be removed", func() bool {
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		return len(left) == 0
	})
}

func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

func cmdline(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(text)
}

// killUntil kills the victim below a runner until the runner ends: the process of a command may have ended just
// before, and then the next one is the victim.
func killUntil(t *testing.T, ended <-chan error, runner int, victim string) error {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		kill(runner, victim)
		select {
		case err := <-ended:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("the runner did not end after %s was killed", victim)
	return nil
}

// kill finds the victim and kills it.
func kill(runner int, victim string) {
	if victim == victimRunner {
		_ = syscall.Kill(runner, syscall.SIGKILL)
		return
	}
	for _, supervisor := range childrenOf(runner) {
		if !strings.Contains(cmdline(supervisor), roleSupervise) {
			continue
		}
		if victim == victimSupervisor {
			_ = syscall.Kill(supervisor, syscall.SIGKILL)
			return
		}
		for _, worker := range childrenOf(supervisor) {
			line := cmdline(worker)
			if strings.Contains(line, roleWorker) || strings.HasPrefix(line, "sh\x00") {
				_ = syscall.Kill(worker, syscall.SIGKILL)
				return
			}
		}
	}
}

// childrenOf returns the children of all threads of another process.
func childrenOf(pid int) (pids []int) {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			pids = append(pids, child)
		}
	}
	return pids
}
