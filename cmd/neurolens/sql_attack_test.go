//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// attacks returns the lines of a file of testdata/sql, without comments; a part ends at an empty line.
func attacks(t *testing.T, name string) (parts [][]string) {
	t.Helper()
	text := valuetest.Must(os.ReadFile(filepath.Join("testdata", "sql", name)))
	for part := range strings.SplitSeq(string(text), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(part, "\n"), func(line string) bool { return line == "" || line[0] == '#' })
		parts = append(parts, lines)
	}
	return parts
}

// The contents of the file that no text may read, and the name of a file beside it.
const (
	canary = "canary-7f3c"
	listed = "listed-5d1e"
)

// prison is a directory for texts that try to get out of a store in it.
type prison struct {
	dir, store string
	words      *strings.Replacer
	before     string // the state of all files
}

func newPrison(t *testing.T) *prison {
	dir := t.TempDir()
	p := &prison{dir: dir, store: filepath.Join(dir, "store")}
	programtest.FillStore(t, p.store, 1, 3)
	for _, name := range []string{"secret", "tmp", "cwd"} {
		valuetest.OK(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	secret := filepath.Join(dir, "secret", "canary.csv")
	programtest.WriteFile(t, dir, "secret/canary.csv", "a,b\n"+canary+",2\n")
	programtest.WriteFile(t, dir, "secret/"+listed, "")
	programtest.Program(t, dir, "export", "parquet", "--store", p.store).MustRun(t)
	valuetest.OK(t, os.Symlink(secret, filepath.Join(dir, "link")))
	live := valuetest.Must(filepath.Glob(filepath.Join(p.store, "live", "*", "*.parquet")))
	valuetest.Equal(t, len(live), 1, live)
	p.words = strings.NewReplacer("{SECRET}", secret, "{DIR}", filepath.Dir(secret), "{PARQUET}", filepath.Join(dir, "parquet", "runs.parquet"),
		"{LINK}", filepath.Join(dir, "link"), "{LIVE}", live[0], "{STORE}", p.store, "{OUT}", filepath.Join(dir, "out"), "{LF}", "\n", "{RLO}", "\u202e")
	p.before = p.state(t)
	return p
}

// state returns a line for every file, TMPDIR's among them.
func (p *prison) state(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	valuetest.OK(t, filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && d.IsDir() {
			fmt.Fprintln(&lines, path, info.Mode())
		} else if err == nil {
			fmt.Fprintln(&lines, path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}))
	return lines.String()
}

func (p *prison) query(t *testing.T, args ...string) *programtest.Process {
	q := programtest.Program(t, filepath.Join(p.dir, "cwd"), append([]string{"query", "--store", p.store}, args...)...)
	q.Env = append(q.Env, "TMPDIR="+filepath.Join(p.dir, "tmp"), "HOME="+filepath.Join(p.dir, "secret"), "NEUROLENS_CANARY="+canary)
	return q
}

// TestEscapes: no text reads a file other than those of the store, writes one, tells the environment, or leaves
// anything in the directory for temporary files.
func TestEscapes(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	p := newPrison(t)
	for _, line := range slices.Concat(attacks(t, "escapes.txt")...) {
		code, text, _ := strings.Cut(line, " ")
		q := p.query(t, p.words.Replace(text))
		_ = q.Run() // its exit code is looked at
		said := q.Printed.String() + q.Messages.String()
		switch {
		case strconv.Itoa(q.ProcessState.ExitCode()) != code || code != "0" && strings.Count(q.Messages.String(), "\n") != 1:
			t.Errorf("%s\n%v, want %s, in a line\n%.600s", text, q.ProcessState, code, said)
		case strings.Contains(said, canary) || strings.Contains(said, listed):
			t.Errorf("%s\ntells\n%.600s", text, said)
		}
		valuetest.Equal(t, p.state(t), p.before, text, "changes")
	}
}

// bombLimit is the --memory-limit of the bombs.
const bombLimit = 256 << 20

// TestQueryBombs: no text takes more memory than its limit and a third, or goes on after an interrupt; nothing stays in the
// directory for temporary files.
func TestQueryBombs(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	p := newPrison(t)
	var longest, largest float64
	for _, text := range slices.Concat(attacks(t, "bombs.txt")...) {
		peak, after := p.bomb(t, text)
		for try := 1; peak > bombLimit*1.3 && try < 3; try++ { // the machine was too busy to look in time
			t.Logf("%s: %.0f MiB", text, peak/(1<<20))
			peak, after = p.bomb(t, text)
		}
		if peak > bombLimit*1.3 {
			t.Errorf("%s\ntook %.0f MiB", text, peak/(1<<20))
		}
		longest, largest = max(longest, after), max(largest, peak)
		valuetest.Equal(t, p.state(t), p.before, text, "leaves")
	}
	t.Logf("the last ended %.2f s after the interrupt; the largest took %.2f times the limit", longest, largest/bombLimit)
}

// bomb runs a text, interrupts it once it has worked for a while, and gives its peak memory in bytes and the seconds
// from the interrupt to its end.
func (p *prison) bomb(t *testing.T, text string) (peak, after float64) {
	t.Helper()
	q := p.query(t, "--memory-limit", strconv.Itoa(bombLimit)+"B", text)
	q.Args, q.Env = append([]string{q.Path, q.Path}, q.Args[1:]...), append(q.Env, peakRole+"=1")
	valuetest.OK(t, q.Start())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = q.Wait() }()
	interrupted := time.Time{}
	if worked(q.Process.Pid, ended) {
		interrupted = time.Now()
		if err := q.Process.Signal(os.Interrupt); err != nil && !isClosed(ended) {
			t.Fatal(err)
		}
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		_ = q.Process.Kill()
		t.Fatalf("%s\ngoes on", text)
	}
	if !interrupted.IsZero() {
		after = time.Since(interrupted).Seconds()
	}
	code := q.ProcessState.ExitCode()
	if !slices.Contains([]int{exitOK, exitInput, exitOther, 130}, code) || strings.Count(q.Messages.String(), "\n") > 1 {
		t.Errorf("%s\n%v\n%.600s", text, q.ProcessState, q.Messages.String())
	}
	valuetest.OK(t, valuetest.Error(fmt.Sscan(q.Printed.String(), &peak)), text, q.Printed.String())
	return peak * 1024, after
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// worked waits until a process that one has started, or one of theirs, has used the processor for a while, and tells whether
// that came before the end.
func worked(pid int, ended <-chan struct{}) bool {
	const ticks = 50 // of 10 ms
	for {
		select {
		case <-ended:
			return false
		case <-time.After(5 * time.Millisecond):
		}
		for _, child := range descendants(pid) {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
			_, after, _ := strings.Cut(string(stat), ") ")
			if fields := strings.Fields(after); len(fields) > 12 {
				user, _ := strconv.Atoi(fields[11])
				system, _ := strconv.Atoi(fields[12])
				if user+system >= ticks {
					return true
				}
			}
		}
	}
}

// descendants returns the processes that one has started, and those that they have.
func descendants(pid int) (all []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(text)) {
			child, _ := strconv.Atoi(field)
			all = append(append(all, child), descendants(child)...)
		}
	}
	return all
}

// endless goes on until it is ended.
const endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b"

// TestKilled: an answer whose process was killed is an error of a line, and leaves nothing.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	q := p.query(t, endless)
	valuetest.OK(t, q.Start())
	if !worked(q.Process.Pid, nil) {
		t.Fatal("it ended")
	}
	for _, child := range descendants(q.Process.Pid) {
		valuetest.OK(t, syscall.Kill(child, syscall.SIGKILL))
	}
	_ = q.Wait() // its exit code is looked at
	if q.ProcessState.ExitCode() != exitOther || !strings.HasSuffix(q.Messages.String(), "was killed, as the system does when memory runs out\n") {
		t.Errorf("%v: %s", q.ProcessState, q.Messages.String())
	}
	valuetest.Equal(t, p.state(t), p.before, "left")
}

// TestParentKilled: an answer whose parent was killed ends too, and what the two left goes with the next question.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	q := p.query(t, endless)
	q.Stdout = nil
	out := valuetest.Must(q.StdoutPipe())
	valuetest.OK(t, q.Start())
	if !worked(q.Process.Pid, nil) {
		t.Fatal("it ended")
	}
	valuetest.OK(t, q.Process.Kill())
	if _, err := out.Read(make([]byte, 1)); err == nil { // both have it open
		t.Error("it answered")
	}
	_ = q.Wait() // it was killed
	p.query(t, "SELECT 1").MustRun(t)
	valuetest.Equal(t, p.state(t), p.before, "left")
}

// TestReaderGone: a reader of the output who goes away leaves nothing behind in the directory for temporary files.
func TestReaderGone(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	p := newPrison(t)
	for _, argv := range [][]string{
		{"export", "-", "--format", "csv"},
		{"export", "-", "--format", "jsonl"},
		{"export", "-", "--format", "parquet"},
		{"export", "-", "--format", "arrow", "--table", "samples"},
		{"query", "FROM range(300000)", "--format", "arrow"},
		{"query", "FROM range(300000)", "--format", "csv"},
		{"ls", "--format", "jsonl"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		q := programtest.Program(t, p.dir, append(argv, "--store", p.store)...)
		q.Env, q.Stdout = append(q.Env, "TMPDIR="+filepath.Join(p.dir, "tmp")), w
		valuetest.OK(t, r.Close())
		_ = q.Run() // its exit code is looked at
		_ = w.Close()
		if q.ProcessState.ExitCode() != exitPipe || q.Messages.Len() > 0 {
			t.Errorf("%v: %v\n%s", argv, q.ProcessState, q.Messages.String())
		}
		valuetest.Equal(t, p.state(t), p.before, argv, "leaves")
	}
}
