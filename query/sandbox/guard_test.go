package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/sandbox"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// parentRole makes the test binary a parent whose child writes into a directory and never ends.
const parentRole = "NEUROLENS_TEST_PARENT"

// enough is memory that no test needs but the one that takes all it gets.
const enough = 512 << 20

func TestMain(m *testing.M) {
	if code, handled := sandbox.Main(os.Args, play); handled {
		os.Exit(code)
	}
	if dir := os.Getenv(parentRole); dir != "" {
		err := sandbox.Run(context.Background(), sandbox.Job{Argument: "deaf", Stdout: os.Stdout, Memory: enough, Scratch: dir}, new(string))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// play returns what the child does.
func play(ctx context.Context, argument []byte) any {
	var what string
	if err := json.Unmarshal(argument, &what); err != nil {
		return err.Error()
	}
	switch what {
	case "answer":
		fmt.Println("printed")
		return "answered"
	case "panic":
		panic("on purpose")
	case "eat":
		var eaten [][]byte
		for {
			p := make([]byte, 1<<20)
			for i := range p {
				p[i] = 1
			}
			eaten = append(eaten, p)
			_ = eaten
		}
	case "obey":
		fmt.Println("began")
		<-ctx.Done()
		return "obeyed"
	case "deaf":
		fmt.Println("began")
		select {}
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "segv":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	}
	os.Exit(0)
	return nil
}

func run(ctx context.Context, what string, stdout io.Writer) (answer string, err error) {
	err = sandbox.Run(ctx, sandbox.Job{Argument: what, Stdout: stdout, Grace: 10 * time.Millisecond, Memory: enough}, &answer)
	return answer, err
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	answer, err := run(t.Context(), "answer", &out)
	if answer != "answered" || err != nil || out.String() != "printed\n" {
		t.Errorf("%q, %v, printed %q", answer, err, out.String())
	}
}

// TestCrash: a child that ends without an answer, in any way, gives an error of one line with the reason.
func TestCrash(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"segv": "it crashed (SIGSEGV)", "kill": "it crashed (SIGKILL)", "panic": "it crashed (panic: on purpose)", "end": "it ended without an answer",
	} {
		_, err := run(t.Context(), what, io.Discard)
		if _, ok := errors.AsType[*sandbox.Crash](err); !ok || err.Error() != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	if _, err := run(t.Context(), "eat", io.Discard); !errors.Is(err, sandbox.ErrMemory) {
		t.Errorf("got %v", err)
	}
}

// begins returns a context that ends as soon as a child prints something.
func begins(t *testing.T) (context.Context, io.Writer) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestInterrupt: a child is asked to stop, and killed if it does not.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"obey", "deaf"} {
		ctx, began := begins(t)
		if _, err := run(ctx, what, began); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestOrphan: a child whose parent was killed ends too, and removes the temporary files.
func TestOrphan(t *testing.T) {
	t.Parallel()
	self := valuetest.Must(os.Executable())
	dir := filepath.Join(t.TempDir(), "scratch")
	valuetest.OK(t, os.MkdirAll(filepath.Join(dir, "spill", "more"), 0o700))
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentRole+"="+dir)
	out := valuetest.Must(parent.StdoutPipe())
	valuetest.OK(t, parent.Start())
	valuetest.Must(io.ReadFull(out, make([]byte, len("began\n"))))
	valuetest.OK(t, parent.Process.Kill())
	if _, err := io.ReadAll(out); err != nil { // both have it open
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}
