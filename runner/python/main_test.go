package python

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestMain(m *testing.M) {
	if code, handled := task.Main(os.Args, nil); handled {
		os.Exit(code)
	}
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil { // each process would linger for a second
		panic(err)
	}
	os.Exit(m.Run())
}

// pythonKey names the interpreter of the tests.
const pythonKey = "NEUROLENS_TEST_PYTHON"

var resolved = sync.OnceValues(func() (Interpreter, error) {
	return Resolve(context.Background(), os.Getenv(pythonKey), os.Environ())
})

// interpreter returns the Python of the tests, with those modules.
func interpreter(t testing.TB, modules ...string) Interpreter {
	t.Helper()
	i, err := resolved()
	if err != nil {
		valuetest.Have(t, "python", err)
	}
	for _, module := range modules {
		if i.Packages[module] == "" {
			valuetest.Have(t, module, fmt.Errorf("%s has it not", i.Path))
		}
	}
	return i
}

var thePool = sync.OnceValues(task.New)

// patient are deadlines that no test means to meet.
var patient = task.Deadlines{
	Setup: 120 * time.Second, Warmup: 60 * time.Second, Measure: 60 * time.Second, Validate: 60 * time.Second,
	Teardown: 60 * time.Second, Profile: 120 * time.Second,
}

// specOf returns a Spec of a worker with these settings, whose samples are single iterations.
func specOf(t testing.TB, settings Settings, config map[string]string) task.Spec {
	t.Helper()
	settings.Level = schema.LevelIteration
	return specOfAny(t, settings, config)
}

// specOfAny returns a Spec whose samples are what the settings say.
func specOfAny(t testing.TB, settings Settings, config map[string]string) task.Spec {
	t.Helper()
	spec := valuetest.Must(interpreter(t).Spec(settings))
	spec.Config, spec.Warmup, spec.Iterations, spec.Deadlines = config, 5, 40, patient
	return spec
}

// benchmark returns a Spec of a benchmark with this text. Dir is a new one; the file is bench.py in it.
func benchmark(t testing.TB, text string, config map[string]string) task.Spec {
	t.Helper()
	spec := specOf(t, Settings{File: "bench.py"}, config)
	spec.Dir = folder(t, map[string]string{"bench.py": text})
	return spec
}

// specIn returns a Spec of a worker with these settings, in a new folder with these files.
func specIn(t testing.TB, settings Settings, files map[string]string) task.Spec {
	t.Helper()
	spec := specOf(t, settings, nil)
	spec.Dir = folder(t, files)
	return spec
}

// folder returns a new folder with these files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	valuetest.Files(t, dir, files)
	return dir
}

const markKey = "NEUROLENS_TEST_MARK"

// runSpec runs and checks that nothing is left, no file and no process.
func runSpec(t testing.TB, spec task.Spec) task.Outcome {
	t.Helper()
	pool := valuetest.Must(thePool())
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	mark := strconv.FormatInt(time.Now().UnixNano(), 10)
	spec.Env = append(slices.Clone(spec.Env), markKey+"="+mark)
	o := valuetest.Must(pool.Run(t.Context(), spec, nil))
	if err := pool.Close(); err != nil { // it lets the supervisor go that waits for another run, with the directory it has made
		t.Fatal(err)
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "neurolens-*")); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	return o
}

// runOK runs what has to end well.
func runOK(t testing.TB, spec task.Spec) task.Outcome {
	t.Helper()
	o := runSpec(t, spec)
	check(t, o, schema.StatusOK, "", "", "")
	return o
}

// survivors returns the processes whose environment has the mark, zombies excepted.
func survivors(mark string) (pids []string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		if text, err := os.ReadFile(file); err == nil && bytes.Contains(text, []byte(markKey+"="+mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// check compares how a run ended. The text has to be in its error.
func check(t testing.TB, o task.Outcome, status schema.Status, stage schema.Stage, kind, text string) {
	t.Helper()
	if o.Status != status || o.Stage != stage || o.ErrorKind != kind || !strings.Contains(o.Error, text) {
		t.Fatalf("%s in %q, kind %q: %q; want %s in %q, kind %q: %q; standard error: %s",
			o.Status, o.Stage, o.ErrorKind, o.Error, status, stage, kind, text, o.StderrTail)
	}
	if strings.ContainsAny(o.Error, "\n\r") {
		t.Errorf("error of several lines: %q", o.Error)
	}
}

// metric returns the metric of that name; without it there are no samples of it.
func metric(o task.Outcome, name string) schema.Metric {
	for _, m := range o.Metrics {
		if m.Name == name {
			return m
		}
	}
	return schema.Metric{}
}

// samples counts the latencies of a run.
func samples(o task.Outcome) int { return len(metric(o, schema.PrimaryMetric).Ticks) }
