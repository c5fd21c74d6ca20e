package task

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// keeping runs a spec and gives what was kept of it, as "process name: text".
func keeping(t *testing.T, spec Spec, keep ...string) (Outcome, []string) {
	t.Helper()
	var got []string
	spec.Keep = keep
	spec.Read = func(kept Kept) Reading {
		for _, o := range kept.Outputs {
			text, err := io.ReadAll(io.NewSectionReader(kept.File, o.Offset, o.Size))
			if err != nil || o.Process >= kept.Processes {
				t.Errorf("output %+v of %d: %v", o, kept.Processes, err)
			}
			got = append(got, fmt.Sprintf("%d %s: %s%s", o.Process, o.Name, text, o.Missing))
		}
		return Reading{}
	}
	return runSpec(t, t.Context(), spec, nil), got
}

// TestKept: of each measured process its outputs are kept, and none of the warm-up.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	count := `echo >> n; n=$(wc -l < n); echo out $n; echo err $n >&2; `
	spec := shell(count + `[ $n = 4 ] || echo file $n > out.txt`)
	spec.Dir, spec.Warmup, spec.Iterations = dir, 1, 3
	old := filepath.Join(dir, "old.txt")
	valuetest.OK(t, os.WriteFile(old, []byte("old"), 0o600))
	before := valuetest.Must(os.Stat(old))
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	o, got := keeping(t, spec, stdoutFile, stderrFile, "out.txt", "old.txt", "folder", filepath.Join(dir, "none"))
	check(t, o, schema.StatusOK, "", "")
	var want []string
	const first = 2
	for p := range 3 {
		n := first + p
		file := fmt.Sprintf("file %d\n", n)
		if n == 4 {
			file = "absent" // that of the process before lies there
		}
		for _, text := range []string{
			fmt.Sprintf("stdout: out %d\n", n), fmt.Sprintf("stderr: err %d\n", n), "out.txt: " + file, "old.txt: absent",
			"folder: it is a folder, a pipe or a device", filepath.Join(dir, "none") + ": absent",
		} {
			want = append(want, fmt.Sprintf("%d %s", p, text))
		}
	}
	valuetest.DeepEqual(t, got, want, "kept")
	after, err := os.Stat(old)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a file that no process wrote is of %v, was of %v: %v", after.ModTime(), before.ModTime(), err)
	}
}

// TestQuickFiles: processes that follow within a tick of the file system's clock, and write as many bytes, are told apart.
func TestQuickFiles(t *testing.T) {
	dir := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "other.txt"), []byte("x"), 0o600))
	spec := shell("echo 1 > f.txt")
	spec.Dir, spec.Iterations = dir, 20
	_, got := keeping(t, spec, "f.txt", "other.txt")
	for i, text := range got {
		if want := []string{"f.txt: 1\n", "other.txt: absent"}[i%2]; text != fmt.Sprintf("%d %s", i/2, want) {
			t.Errorf("%q: want %q", text, want)
		}
	}
	valuetest.DeepEqual(t, len(got), 40)
}

// TestCoarseClock: a file of the same size counts as written where the clock of the file system has not moved on since an
// earlier process wrote it.
func TestCoarseClock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.txt")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func() fs.FileInfo {
		valuetest.OK(t, os.WriteFile(path, []byte("1"), 0o600))
		valuetest.OK(t, os.Chtimes(path, time.Time{}, at))
		return valuetest.Must(os.Stat(path))
	}
	write()
	o := keptOutput{path: path, own: true}
	o.mark()
	if !o.written(write()) {
		t.Error("what was written within a tick of the clock counts as old")
	}
	o.mark()
	info, err := os.Stat(path)
	if err != nil || o.written(info) {
		t.Errorf("what nobody wrote counts as new: %v", err)
	}
	if info, err = os.Stat(path); err != nil || !info.ModTime().Equal(at) {
		t.Errorf("it is of %v now: %v", info.ModTime(), err)
	}
}

// TestKeptLimits: what is too large is not kept, and said to be so.
func TestKeptLimits(t *testing.T) {
	dir := t.TempDir()
	spec := shell("head -c 2000000 /dev/zero > big; echo small > small")
	spec.Dir, spec.Iterations, spec.OutputLimit = dir, 1, 1<<20
	o, got := keeping(t, spec, "big", "small")
	check(t, o, schema.StatusOK, "", "")
	valuetest.DeepEqual(t, got, []string{"0 big: more than 1048576 B", "0 small: small\n"})
	k := keeper{outputs: []keptOutput{{path: filepath.Join(dir, "small")}}, limit: 100, room: 10, buffer: make([]byte, 4)}
	k.to = valuetest.Must(os.Create(filepath.Join(dir, keptFile)))
	defer k.close()
	for row := range 3 {
		valuetest.OK(t, k.keep(row))
	}
	r := run{spec: Spec{Launch: Launch{Executor: schema.ExecutorCommand}, Keep: []string{"small"}}, measured: 3, folder: &folder{kept: k.to}}
	kept, _ := r.keptOutputs()
	if len(kept.Outputs) != 3 || kept.Outputs[0].Missing != "" || !strings.HasPrefix(kept.Outputs[1].Missing, "more than 512 MiB of all processes") {
		t.Errorf("%+v", kept.Outputs)
	}
}

// TestKeptOfFailures: the processes before the one that failed have their outputs, and the run keeps its status.
func TestKeptOfFailures(t *testing.T) {
	dir := t.TempDir()
	spec := shell("echo >> n; echo out; [ $(wc -l < n) -lt 3 ] || exit 7")
	spec.Dir, spec.Iterations = dir, 5
	o, got := keeping(t, spec, stdoutFile)
	check(t, o, schema.StatusError, schema.StageMeasure, "exit")
	valuetest.DeepEqual(t, len(got), 2, got)
}

// TestReading: what is read becomes part of the outcome, and what is wrong with it the error of a run that was well.
func TestReading(t *testing.T) {
	spec := shell("true")
	spec.Read = func(Kept) Reading {
		return Reading{
			Metrics: []schema.Metric{{Name: "m", Reals: []float64{1, 2, 3}}}, Missing: map[string]string{"o": "absent"},
			Error: "metric x: no match",
		}
	}
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusError, schema.StageValidate, "metric")
	if o.Error != "metric x: no match" || o.Missing["o"] != "absent" || len(metric(t, o, "m").Reals) != 3 || len(metric(t, o, "latency").Ticks) != 3 || o.Stages.Validate == nil {
		t.Errorf("%+v", o)
	}
	spec.Read = func(Kept) Reading { return Reading{Cancelled: true} }
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusCancelled, schema.StageValidate, "cancelled")
}

// TestTruncatedOutput: a program that empties its standard output harms nothing that was kept before.
func TestTruncatedOutput(t *testing.T) {
	spec := shell("echo one; echo two > /dev/stdout")
	spec.Iterations = 2
	_, got := keeping(t, spec, stdoutFile)
	for i, text := range got {
		if !strings.HasPrefix(text, fmt.Sprintf("%d stdout: ", i)) || !strings.Contains(text, "two\n") {
			t.Errorf("%q", got)
		}
	}
	valuetest.DeepEqual(t, len(got), 2, got)
}

// TestEvents: each process of a command may tell metrics on its descriptor for events.
func TestEvents(t *testing.T) {
	const metric = `{"event":"metric","metric":{"name":"%s"%s},"reals":[%s]}\n`
	tell := func(name, more, values string) string {
		return fmt.Sprintf(`printf '`+metric+`' >&$NEUROLENS_EVENTS; `, name, more, values)
	}
	run := func(script string) Outcome {
		spec := shell(script)
		spec.Warmup = 1
		return runSpec(t, t.Context(), spec, nil)
	}
	o := run(tell("accuracy", `,"unit":"%%"`, "97.88") + tell("loss", `,"better":"lower"`, "0.5,0.25") + `echo '{"event":"moon"}' >&3`)
	check(t, o, schema.StatusOK, "", "")
	for _, m := range o.Metrics {
		switch m.Name {
		case "accuracy":
			if m.Unit != "ratio" || m.Level != schema.LevelProcess || !slices.Equal(m.Reals, []float64{0.9788, 0.9788, 0.9788}) {
				t.Errorf("%+v", m)
			}
		case "loss":
			if m.Better != "lower" || m.Level != "" || len(m.Reals) != 6 {
				t.Errorf("%+v", m)
			}
		}
	}
	if len(o.Metrics) < 5 {
		t.Errorf("%d metrics", len(o.Metrics))
	}
	for script, want := range map[string]string{
		"echo hello >&3":                          `events of process 1: event "hello": invalid character 'h' looking for beginning of value`,
		tell("latency", "", "1"):                  "events of process 1: metric latency: its samples belong in the file of samples",
		tell("accuracy", `,"unit":"ms"`, "1"):     "events of process 1: accuracy is in ratio, not in ms",
		tell("a b", "", "1"):                      `metric "a b": a name must begin with a letter`,
		`printf '{"event":"metric"}\n' >&3`:       "events of process 1: event metric without a name",
		"yes '{\"event\":\"x\"}' | head -n 1 >&3": "",
	} {
		o := run(script)
		if (o.Status == schema.StatusOK) != (want == "") || !strings.HasPrefix(o.Error, want) || want != "" && o.ErrorKind != "protocol" {
			t.Errorf("%s: %s, %s, %q: want %q", script, o.Status, o.ErrorKind, o.Error, want)
		}
	}
	if o := run("head -c 70000000 /dev/zero >&3"); o.Status != schema.StatusOutputLimit {
		t.Errorf("%s: %s", o.Status, o.Error)
	}
}
