package task

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// forker starts a process.
type forker func(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error)

// testSpawner returns a spawner of the test's thread.
func testSpawner(t testing.TB) *spawner {
	t.Helper()
	runtime.LockOSThread()
	restoreOpenFiles()
	s := valuetest.Must(newSpawner())
	t.Cleanup(s.close)
	return s
}

// started starts a process and waits for it.
func started(t testing.TB, fork forker, path string, argv []string, attr *syscall.ProcAttr) (status syscall.WaitStatus, usage syscall.Rusage, err error) {
	t.Helper()
	pid, err := fork(path, argv, attr)
	if err != nil {
		return 0, usage, err
	}
	valuetest.DeepEqual(t, valuetest.Must(syscall.Wait4(pid, &status, 0, &usage)), pid, "waiting for")
	return status, usage, nil
}

// TestSpawnerLikeRuntime: a process gets from a spawner what it gets from the runtime: arguments, environment, folder, files, group, parent,
// signals and limits.
func TestSpawnerLikeRuntime(t *testing.T) {
	s := testSpawner(t)
	const script = `printf '%s|' "$@"; env | sort; pwd; ulimit -a; echo $PPID; grep -E '^(Sig[BIC]|Threads|Seccomp|NoNewPrivs|Cpus_allowed|Umask)' /proc/self/status
ps -o pgid= -p $$ | grep -qx " *$$" && echo group; ls /proc/self/fd; for fd in 0 1 2 3; do readlink /proc/$$/fd/$fd; done; cat /proc/self/oom_score_adj; exit 7`
	var texts []string
	for _, fork := range []forker{syscall.ForkExec, s.start} {
		dir := t.TempDir()
		shared := filepath.Join(filepath.Dir(dir), "shared")
		valuetest.OK(t, os.MkdirAll(shared, 0o700))
		out := valuetest.Must(os.Create(filepath.Join(shared, "out")))
		null := valuetest.Must(os.Open(os.DevNull))
		attr := &syscall.ProcAttr{
			Dir: shared, Env: []string{"A=b c", "EMPTY=", "PATH=" + os.Getenv("PATH"), "LINES=x\ny"},
			Files: []uintptr{null.Fd(), out.Fd(), out.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
		}
		status, _, err := started(t, fork, "/bin/sh", []string{"sh", "-c", script, "zero", "", "two words", "line\nbreak", "\xff"}, attr)
		if err != nil || status.ExitStatus() != 7 {
			t.Fatalf("status %v, error %v", status, err)
		}
		texts = append(texts, string(valuetest.Must(os.ReadFile(out.Name()))))
		_, _ = out.Close(), null.Close()
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], "two words|line\nbreak|") || !strings.Contains(texts[0], "group\n") {
		t.Errorf("of the runtime:\n%s\nof the spawner:\n%s", texts[0], texts[1])
	}
}

// TestSpawnerErrors: what cannot be started has the error of the runtime, and the next start works.
func TestSpawnerErrors(t *testing.T) {
	s := testSpawner(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	valuetest.OK(t, os.WriteFile(plain, nil, 0o600))
	for _, c := range []struct {
		path, dir string
		argv      []string
		files     []uintptr
	}{
		{path: filepath.Join(dir, "none"), argv: []string{"x"}},
		{path: dir, argv: []string{"x"}},
		{path: plain, argv: []string{"x"}},
		{path: "/bin/true", argv: []string{"x"}, dir: filepath.Join(dir, "none")},
		{path: "/bin/true", argv: []string{"x", strings.Repeat("x", 200<<10)}},
		{path: "/bin/true", argv: slices.Repeat([]string{strings.Repeat("x", 100<<10)}, 90)},
		{path: "/bin/true", argv: []string{"nul\x00"}},
		{path: "/bin/true", argv: []string{"x"}, files: []uintptr{0, 1, 1 << 20}},
	} {
		attr := &syscall.ProcAttr{Dir: c.dir, Env: []string{}, Files: c.files, Sys: &syscall.SysProcAttr{Setpgid: true}}
		_, _, want := started(t, syscall.ForkExec, c.path, c.argv, attr)
		_, _, err := started(t, s.start, c.path, c.argv, attr)
		if want == nil || err != want {
			t.Errorf("%.40v: error %v, want %v", c, err, want)
		}
		if status, _, err := started(t, s.start, "/bin/true", []string{"true"}, plainAttr()); err != nil || status != 0 {
			t.Errorf("the start after %.40v: status %v, error %v", c, status, err)
		}
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil {
		t.Errorf("the copy is gone: %v", err)
	}
	s.close()
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a process was left: %d, %v", pid, err)
	}
}

// plainAttr returns what any process needs.
func plainAttr() *syscall.ProcAttr {
	return &syscall.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setpgid: true}}
}

// TestSpawnerPeak: wait4 tells the peak of a small program, and of one below it, although this process is larger.
func TestSpawnerPeak(t *testing.T) {
	s := testSpawner(t)
	held := make([]byte, 64<<20)
	for i := range held {
		held[i] = 1
	}
	for _, script := range []string{":", "(sh -c :)"} {
		_, usage, err := started(t, s.start, "/bin/sh", []string{"sh", "-c", script}, plainAttr())
		if peak := maxRSS(&usage); err != nil || peak < 200<<10 || peak > 4<<20 {
			t.Errorf("%s: peak %d, error %v", script, peak, err)
		}
	}
	runtime.KeepAlive(held)
}

// TestSpawnerMany: the copy starts many processes, while other goroutines allocate and collect.
func TestSpawnerMany(t *testing.T) {
	s := testSpawner(t)
	done := make(chan bool)
	go func() {
		for text := ""; ; text += "x" {
			select {
			case <-done:
				return
			default:
				_ = fmt.Sprint(text)
				runtime.GC()
			}
		}
	}()
	defer close(done)
	for range 300 {
		if status, _, err := started(t, s.start, "/bin/true", []string{"true"}, plainAttr()); err != nil || status != 0 {
			t.Fatalf("status %v, error %v", status, err)
		}
	}
}

// BenchmarkStart is the time from before the start of a process that does nothing until it is reaped.
func BenchmarkStart(b *testing.B) {
	attr := &syscall.ProcAttr{Env: []string{}, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}}
	s := testSpawner(b)
	for name, fork := range map[string]forker{"runtime": syscall.ForkExec, "spawner": s.start} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := started(b, fork, "/bin/true", []string{"true"}, attr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzParsePeak(f *testing.F) {
	f.Add([]byte("Name:\tx\nVmPeak:\t  100 kB\nVmHWM:\t    1176 kB\nVmRSS:\t 9 kB\n"))
	f.Add([]byte("\nVmHWM:-1 kB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if peak, ok := parsePeak(text); ok && peak < 0 {
			t.Errorf("%q: %d", text, peak)
		}
	})
}

func TestParsePeak(t *testing.T) {
	for text, want := range map[string]int64{
		"Name:\tx\nVmHWM:\t    1176 kB\nVmRSS:\t 9 kB\n": 1176 << 10,
		"Name:\tkthread\n":  -1,
		"\nVmHWM:\t-1 kB\n": -1,
		"\nVmHWM:\t12 MB\n": -1,
	} {
		got, ok := parsePeak([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d %t, want %d", text, got, ok, want)
		}
	}
}

// TestTraceOfShortThreads: a thread whose end is seen before the stop in which another one started it is not waited for. A thread that gets
// its number later is.
func TestTraceOfShortThreads(t *testing.T) {
	const parent, child = 7, 8
	r := &tracer{pid: parent, live: map[int]bool{parent: true}, early: map[int]bool{}}
	want := func(step string, live ...int) {
		t.Helper()
		for _, pid := range live {
			if _, is := r.live[pid]; !is {
				t.Errorf("%s: %d is not waited for", step, pid)
			}
		}
		valuetest.DeepEqual(t, len(r.live), len(live), step, r.live, live)
	}
	r.seen(child)
	want("it stops", parent, child)
	r.ended(child)
	r.began(child)
	want("its parent stops after its end", parent)
	r.began(child)
	want("another one begins", parent, child)
	r.seen(child)
	r.ended(child)
	r.began(child)
	want("a third one begins", parent, child)
	r.ended(child)
	r.ended(parent)
	want("all end")
}
