package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
)

// TestMain makes the test binary the program: testscript runs it as `neurolens`, and the runner starts it again as
// supervisor, worker, GPU probe and what answers SQL.
func TestMain(m *testing.M) {
	if code, handled := runChild(os.Args); handled {
		os.Exit(code)
	}
	if how := os.Getenv(asks); how != "" {
		answerSignals(how)
	}
	if os.Getenv(peakRole) != "" {
		os.Exit(printPeak(os.Args[1:]))
	}
	if os.Getenv(programtest.RoleVariable) != "" {
		main()
	}
	// Scripts wait for benchmarks that sleep: more of them run side by side than there are cores.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(withLocks{runtest.InMemory{M: m}}, map[string]func(){"neurolens": main})
}

// withLocks are tests that have locks of their own: the devices of this machine are not theirs to lock.
type withLocks struct{ runtest.InMemory }

// Run gives the exit code of the tests.
func (m withLocks) Run() int {
	if os.Getenv(programtest.LocksVariable) != "" {
		return m.InMemory.Run()
	}
	locks, err := os.MkdirTemp("", "neurolens-locks-")
	if err == nil {
		err = os.Setenv(programtest.LocksVariable, locks)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "locks of the tests:", err)
		return 1
	}
	defer os.RemoveAll(locks)
	return m.InMemory.Run()
}

// TestScripts runs testdata/script: commands with their output on both streams and their exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv("NEUROLENS_MACHINE", "lab3")
			e.Setenv("COLUMNS", "80")
			e.Setenv(programtest.LocksVariable, e.Getenv("WORK")+"/.locks") // scripts run side by side
			e.Setenv("XDG_CACHE_HOME", e.Getenv("WORK")+"/.cache")          // the user's own stays as it is
			e.Setenv("FIXTURES", programtest.Fixtures(t))
			e.Setenv("SWEEPS", referenceSweeps())
			e.Setenv("PYTHON", programtest.Interpreter())
			return nil
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   cmdExits,
			"same":    cmdSame,
			"lines":   cmdLines,
			"without": cmdWithout,
		},
		UpdateScripts: os.Getenv("NEUROLENS_UPDATE") != "",
	})
}

// referenceSweeps returns where the sweeps of five other harnesses lie, which are not in the repository: beside the samples.
func referenceSweeps() string {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		return ""
	}
	return filepath.Join(samples, "..", "sweeps")
}

// condition holds for long where tests do all that they can, for sweeps where the reference sweeps are there, and for
// needs:PROGRAM where the program is there, or, of needs:onnxruntime and needs:onnx, the module of $PYTHON. NEUROLENS_TEST_REQUIRE
// makes its lack an error.
func condition(text string) (bool, error) {
	switch text {
	case "long":
		return programtest.Long(), nil
	case "sweeps":
		_, err := os.Stat(referenceSweeps())
		return err == nil, nil
	}
	what, ok := strings.CutPrefix(text, "needs:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", text)
	}
	_, err := exec.LookPath(what)
	if what == "onnxruntime" || what == "onnx" {
		err = exec.Command(programtest.Interpreter(), "-c", "import "+what).Run()
	}
	if err != nil && slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), what) {
		return false, err
	}
	return err == nil, nil
}
