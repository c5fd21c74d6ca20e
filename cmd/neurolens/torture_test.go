//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// tortureSweep measures a script that leaves a daemon behind in every iteration: double-forked, in a session of its
// own, deaf to SIGTERM.
const tortureSweep = `suite: torture
benchmark: torture
command: [sh, daemon.sh, "{n}"]
grid:
  n: [1, 2, 3]
repeats: 2
warmup: 0
iterations: 3
`

const tortureScript = `(setsid sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' &)
sleep 0.02
`

// TestTorture kills one of runner, supervisor and worker with SIGKILL at a random moment of a sweep, again and again on
// one store. Afterwards no process of the sweep is left, every run that the runner had reported is in the store, every
// run of the store can be read, and a run whose supervisor was killed before it was done is lost. It kills each of them
// five times, and with NEUROLENS_LONG=all 200 times in all.
func TestTorture(t *testing.T) {
	programtest.NeedsLong(t)
	_, err := exec.LookPath("setsid")
	programtest.Needs(t, "setsid", err)
	rounds := 15
	if os.Getenv("NEUROLENS_LONG") == "all" {
		rounds = 200
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"sweep.yaml": tortureSweep, "daemon.sh": tortureScript} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	acknowledged := map[string]bool{}
	killed := map[string]int{}
	lost := 0
	for round := range rounds {
		victim := []string{"runner", "supervisor", "worker"}[round%3]
		tortured := newTortured(t, dir, random)
		// Every other supervisor is killed while it measures: on a busy machine all others may have nothing to do yet.
		hit := tortured.kill(victim, victim == "supervisor" && round%6 == 1)
		if hit {
			killed[victim]++
		}
		tortured.wait()
		for _, id := range tortured.acknowledged() {
			acknowledged[id] = true
		}
		if hit && victim == "supervisor" {
			n := tortured.reported("lost")
			// One that had said that its run was done, with nothing left below it, has lost nothing.
			if n != 1 && (n != 0 || tortured.reported("[0-9.]+ ms  median of 3") != 6) {
				t.Errorf("round %d: the supervisor was killed and %d runs are lost:\n%s", round, n, tortured.stderr.String())
			}
			lost += n
		}
		tortured.checkNothingLeft(round)
	}
	t.Logf("killed %v, %d runs acknowledged", killed, len(acknowledged))
	if killed["supervisor"] > 3 && lost == 0 { // each time when its run was done
		t.Errorf("%d supervisors were killed, and no run is lost", killed["supervisor"])
	}
	checkStore(t, filepath.Join(dir, "runs_store"), acknowledged, lost)
}

// tortured is one sweep that is going to lose a process.
type tortured struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr bytes.Buffer
	mark   string // in the environment of every process of the sweep
	random *rand.Rand
}

func newTortured(t *testing.T, dir string, random *rand.Rand) *tortured {
	t.Helper()
	s := &tortured{t: t, random: random, mark: fmt.Sprintf("NEUROLENS_TORTURE_MARK=%d", random.Uint64())}
	self := programtest.Binary(t)
	s.cmd = exec.Command(self, "bench", "sweep.yaml", "--rerun", "all")
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), s.mark, programtest.RoleVariable+"=1")
	s.cmd.Stderr = &s.stderr
	valuetest.OK(t, s.cmd.Start())
	return s
}

// kill waits a random while, as it is to hit at any moment, and kills the process of that role, which may be gone by then: false. If it is
// to be measuring, kill waits for its worker too.
func (s *tortured) kill(role string, measuring bool) bool {
	time.Sleep(time.Duration(100+s.random.IntN(500)) * time.Millisecond)
	for patience := time.Now().Add(10 * time.Second); measuring && s.pid("worker") == 0 && time.Now().Before(patience); {
		time.Sleep(time.Millisecond)
	}
	for range 200 {
		if pid := s.pid(role); pid > 0 {
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// pid finds the process of a role below the runner, by a word of its command line.
func (s *tortured) pid(role string) int {
	word, below := map[string]string{"supervisor": "__supervise", "worker": "daemon.sh"}[role]
	if !below {
		return s.cmd.Process.Pid
	}
	for _, pid := range descendants(s.cmd.Process.Pid) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte(word)) {
			return pid
		}
	}
	return 0
}

func (s *tortured) wait() {
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		s.t.Fatalf("the sweep hangs:\n%s", s.stderr.String())
	}
}

var reportedRun = regexp.MustCompile(`^ *\d+/\d+  ([0-9A-Z]{8})  .*  repeat \d+  (.*)$`)

// acknowledged returns the ids of the runs that the runner reported as kept.
func (s *tortured) acknowledged() []string {
	var ids []string
	lines := bufio.NewScanner(bytes.NewReader(s.stderr.Bytes()))
	for lines.Scan() {
		if m := reportedRun.FindStringSubmatch(lines.Text()); m != nil {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// reported counts the runs that were reported with a status.
func (s *tortured) reported(status string) int {
	return len(regexp.MustCompile(`(?m)  repeat \d+  `+status+`(\b|$)`).FindAll(s.stderr.Bytes(), -1))
}

// checkNothingLeft waits for the end of every process that has the mark in its environment.
func (s *tortured) checkNothingLeft(round int) {
	s.t.Helper()
	for patience := 1500; ; patience-- {
		left := s.marked()
		if len(left) == 0 {
			return
		}
		if patience == 0 {
			s.t.Fatalf("round %d: these survive: %v", round, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *tortured) marked() []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte(s.mark)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func checkStore(t *testing.T, dir string, acknowledged map[string]bool, lost int) {
	t.Helper()
	ctx := context.Background()
	db := valuetest.Must(query.Open(ctx, []string{dir}, query.Options{}))
	defer db.Close()
	runs := valuetest.Must(sql.Select(ctx, db, "SELECT run_id, status FROM runs"))
	valuetest.Must(sql.Select(ctx, db, "SELECT count(*), sum(value) FROM samples_long"))
	statuses := map[string]int{}
	for _, row := range runs.Rows {
		delete(acknowledged, views.ShortRun(row[0].(string)))
		statuses[row[1].(string)]++
	}
	if len(acknowledged) > 0 {
		t.Errorf("acknowledged, but not in the store: %v", slices.Sorted(maps.Keys(acknowledged)))
	}
	t.Logf("%d runs in the store: %v", len(runs.Rows), statuses)
	valuetest.Equal(t, statuses["lost"], lost)
}
