package device

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMain lets the test binary be another process that locks: hold DIR DEVICE... says so and keeps the locks until
// its standard input ends.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "hold" {
		if _, err := Lock(context.Background(), os.Args[2], os.Args[3:], nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0) // without Release: the kernel has to do it
	}
	os.Exit(m.Run())
}

// holder starts a process that locks devices; what it says first is returned.
func holder(t *testing.T, prepare func(*exec.Cmd), dir string, devices ...string) (cmd *exec.Cmd, says string) {
	t.Helper()
	self := valuetest.Must(os.Executable())
	cmd = exec.Command(self, append([]string{"hold", dir}, devices...)...)
	if prepare != nil {
		prepare(cmd)
	}
	stdin := valuetest.Must(cmd.StdinPipe())
	stdout := valuetest.Must(cmd.StdoutPipe())
	valuetest.OK(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); cmd.Process.Kill(); cmd.Wait() })
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	return cmd, strings.TrimSpace(line)
}

func lock(t *testing.T, dir string, devices ...string) *Held {
	t.Helper()
	held := valuetest.Must(Lock(t.Context(), dir, devices, nil))
	t.Cleanup(held.Release)
	return held
}

func TestTwoProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	cmd, says := holder(t, nil, dir, "gpu-a", "cpu")
	if says != "held" {
		t.Fatalf("the first process says %q", says)
	}
	for _, device := range []string{"cpu", "gpu-a"} {
		_, err := Lock(t.Context(), dir, []string{"gpu-b", device}, nil)
		busy, ok := errors.AsType[*BusyError](err)
		want := fmt.Sprintf("%s is being measured by pid %d (%s hold %s", device, cmd.Process.Pid, filepath.Base(cmd.Path), dir)
		if !ok || busy.Device != device || !strings.HasPrefix(err.Error(), want[:min(len(want), 80)]) ||
			!strings.Contains(err.Error(), " since ") || !strings.HasSuffix(err.Error(), "; use --wait to wait for it") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	lock(t, dir, "gpu-b") // was let go when the other was not to be had
	if _, says := holder(t, nil, dir, "gpu-b"); !strings.HasPrefix(says, "gpu-b is being measured by pid") {
		t.Errorf("a process takes what this one holds: %q", says)
	}
}

func TestOwnerThatDies(t *testing.T) {
	dir := t.TempDir()
	cmd, says := holder(t, nil, dir, "cpu")
	if says != "held" {
		t.Fatal(says)
	}
	var told []string
	died := make(chan error, 1)
	held := valuetest.Must(Lock(t.Context(), dir, []string{"cpu"}, func(device, owner string) {
		told = append(told, device+" "+owner)
		go func() {
			time.Sleep(2 * pause)
			died <- cmd.Process.Signal(syscall.SIGKILL)
		}()
	}))
	defer held.Release()
	if err := <-died; err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("cpu pid %d ", cmd.Process.Pid); len(told) != 1 || !strings.HasPrefix(told[0], want) {
		t.Errorf("told %q, want once %q", told, want)
	}
}

// A lock is that of its Held, not of the process: two sessions in one process are two.
func TestReleaseAndAgain(t *testing.T) {
	dir := t.TempDir()
	held := lock(t, dir, "cpu", "cpu")
	if _, err := Lock(t.Context(), dir, []string{"cpu"}, nil); err == nil {
		t.Error("locked twice")
	}
	held.Release()
	held.Release()
	if text, err := os.ReadFile(filepath.Join(dir, "cpu.lock")); err != nil || len(text) > 0 {
		t.Errorf("left behind: %q, %v", text, err)
	}
	lock(t, dir, "cpu")
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	lock(t, dir, "gpu-b")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Lock(ctx, dir, []string{"gpu-b", "cpu"}, func(string, string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	lock(t, dir, "cpu")
}

// Two that want the same devices in another order take them in the same one.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	first := lock(t, dir, "cpu")
	var asked []string
	got := make(chan error, 1)
	go func() {
		held, err := Lock(t.Context(), dir, []string{"gpu-z", "gpu-a", "cpu"}, func(device, _ string) {
			asked = append(asked, device)
			first.Release()
		})
		if err == nil {
			held.Release()
		}
		got <- err
	}()
	if err := <-got; err != nil || strings.Join(asked, " ") != "cpu" {
		t.Errorf("waited for %v, %v, want cpu before anything is held", asked, err)
	}
}

func TestFilesAreForEverybody(t *testing.T) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	dir := filepath.Join(t.TempDir(), "locks")
	lock(t, dir, "cpu")
	for path, want := range map[string]os.FileMode{
		dir:                            os.ModeDir | os.ModeSticky | 0o777,
		filepath.Join(dir, "cpu.lock"): 0o666,
	} {
		valuetest.DeepEqual(t, valuetest.Must(os.Stat(path)).Mode(), want, filepath.Base(path))
	}
}

func TestWhatIsNoLockFile(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	path := filepath.Join(dir, "cpu.lock")
	const linked = "is not a regular file with a single link"
	for what, plant := range map[string]func() error{
		"too many levels of symbolic links": func() error { return os.Symlink(victim, path) },
		linked:                              func() error { return os.Link(victim, path) },
		linked + ";":                        func() error { return unix.Mkfifo(path, 0o666) },
		"is a directory":                    func() error { return os.Mkdir(path, 0o777) },
	} {
		valuetest.OK(t, os.WriteFile(victim, []byte("precious"), 0o666))
		valuetest.OK(t, plant())
		_, err := Lock(t.Context(), dir, []string{"cpu"}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "locking cpu in "+dir+": ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
		valuetest.DeepEqual(t, string(valuetest.Must(os.ReadFile(victim))), "precious", what)
		os.Remove(path)
	}
	link := filepath.Join(t.TempDir(), "link")
	valuetest.OK(t, os.Symlink(dir, link))
	if _, err := Lock(t.Context(), link, []string{"cpu"}, nil); err == nil {
		t.Error("a link was taken for the directory of the locks")
	}
}

func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	valuetest.OK(t, os.WriteFile(file, nil, 0o666))
	for _, dir := range []string{file, filepath.Join(file, "locks"), filepath.Join(t.TempDir(), "a", "b")} {
		_, err := Lock(t.Context(), dir, []string{"cpu"}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "locking cpu in "+dir+": ") ||
			!strings.HasSuffix(err.Error(), "; NEUROLENS_LOCKS sets another directory") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", dir, err)
		}
	}
}

// Another user waits for, and gets, what this one has locked, and cannot use a directory that is not for him.
func TestAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user too")
	}
	dir, other := asNobody(t)
	held := lock(t, dir, "cpu")
	if _, says := holder(t, other, dir, "cpu"); !strings.HasPrefix(says, "cpu is being measured by pid ") {
		t.Errorf("while locked: %q", says)
	}
	held.Release()
	if _, says := holder(t, other, dir, "cpu"); says != "held" {
		t.Errorf("after release: %q", says)
	}
	if _, says := holder(t, other, dir, "gpu-a"); says != "held" {
		t.Errorf("a file of its own: %q", says)
	}
	valuetest.ErrorText(t, valuetest.Error(Lock(t.Context(), dir, []string{"gpu-a"}, nil)), "…is being measured…", "a file of nobody's")
	closed := t.TempDir()
	valuetest.OK(t, os.Chmod(closed, 0o700))
	if _, says := holder(t, other, closed, "cpu"); !strings.Contains(says, "permission denied; NEUROLENS_LOCKS") {
		t.Errorf("a directory of another user's: %q", says)
	}
}

// asNobody gives a directory for locks that everybody reaches, and what makes a command one of the user nobody, who
// cannot read what go test builds.
func asNobody(t *testing.T) (dir string, prepare func(*exec.Cmd)) {
	t.Helper()
	base := valuetest.Must(os.MkdirTemp("", "neurolens-device-test"))
	t.Cleanup(func() { os.RemoveAll(base) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	program := filepath.Join(base, "program")
	for _, err := range []error{os.Chmod(base, 0o755), os.WriteFile(program, self, 0o755), os.Chmod(program, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	return filepath.Join(base, "locks"), func(cmd *exec.Cmd) {
		cmd.Path = program
		cmd.Env = []string{"TMPDIR=" + base}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

func TestDefaultDir(t *testing.T) {
	for setting, want := range map[string]string{"": "/tmp/neurolens-locks", "/x": "/x"} {
		valuetest.DeepEqual(t, DefaultDir(func(string) string { return setting }), want, setting)
	}
}

func TestOwner(t *testing.T) {
	for text, want := range map[string]string{
		``:                                "another process",
		`{"pid":12`:                       "another process",
		`{"pid":-1,"command":"x"}`:        "another process",
		`{"pid":12}`:                      "pid 12",
		`{"pid":12,"command":"a\u001bb"}`: "pid 12 (a b)",
		`{"pid":12,"command":"a","since":"2026-01-02T03:04:05Z"}`: "pid 12 (a) since " +
			time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Local().Format("2006-01-02 15:04"),
	} {
		valuetest.DeepEqual(t, parseOwner([]byte(text)).String(), want, text)
	}
}

func FuzzOwner(f *testing.F) {
	f.Add([]byte(`{"pid":12,"since":"2026-01-02T03:04:05Z","command":"neurolens bench x.yaml"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if says := parseOwner(text).String(); says == "" || len(says) > 600 || strings.ContainsAny(says, "\n\x1b") {
			t.Errorf("%q: %q", text, says)
		}
	})
}
