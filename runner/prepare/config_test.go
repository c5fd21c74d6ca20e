package prepare

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestConfigHash: what the command line decided is another configuration than what a benchmark may decide.
func TestConfigHash(t *testing.T) {
	p := sweep.Point{Launch: task.Launch{Executor: schema.ExecutorPython, Iterations: 20}, File: "b.py"}
	fixed := p
	fixed.Fixed = []string{"iterations"}
	if configHash(&p) == configHash(&fixed) {
		t.Error("a benchmark may change its iterations, or not: the hash is the same")
	}
}

// TestConfigHashIsFrozen: a session of an older version is gone on from, so the hashes of settings may never change.
func TestConfigHashIsFrozen(t *testing.T) {
	models := "backend: [onnxrt, builtin]\nmodel: builtin:tiny_linear\n"
	for text, want := range map[string][]string{
		models + "provider: A\nthreads: 4\ntiming: torch_timer\nmin_run_time: 1s\nseed: 3\nreproducible: true\n" +
			"flush_l2: true\npython: /usr/bin/python3": {
			"60de3c1ac56431508d0c1185013f4310ecbc514988d8ac2adf84123c49a12742",
			"cc8409836ff20abffd44caee21d5abaa1bb9ec028fb1a9c91db4e1133dbd4a47",
		},
		"file: b.py:Name\nseed: 4\nenv: {A: b}\ncwd: sub\nrel_error: 1%\ngrid: {k: [1.0], device: [cpu]}\n": {
			"63cc528b9e253e57cad9784a3dd984d39b445ae92fa091a0ea0fd4e4b517934c",
		},
		"command: [echo, '{seed}', '{k}']\nseed: 8\ngrid: {k: [1]}\nbuild: [[make, a], [make, b]]\ncold_start: true\n": {
			"006bf8306da575b6fc93b0e7f852c9cb9bd0d2b41e5a3f37156df3afb569cee9",
		},
		"command: [echo]\nwarmup: 2\ntimeout_multiplier: 2\nbudget: 4s\n": {
			"200b87656c3c3b260a6435afaf8aadbb9f244929718622e0dc2b48cd60b10977",
		},
	} {
		s := valuetest.Must(sweep.Read("test.yaml", strings.NewReader(text), sweep.Overrides{}))
		for i := range s.Points {
			valuetest.DeepEqual(t, configHash(&s.Points[i]), want[i], "point", i, text)
		}
	}
}

// TestProfileDeadline: the pass of a profiler with a deadline of its own has that one, others have that of the stage.
func TestProfileDeadline(t *testing.T) {
	point := sweep.Point{
		Launch: task.Launch{Executor: schema.ExecutorTorch}, Timeouts: sweep.Timeouts{Deadlines: task.Deadlines{Profile: time.Minute}},
		ProfileTimeouts: map[string]time.Duration{"torch": time.Second},
	}
	target := newTarget("s.yaml", &point, Side{})
	for profile, want := range map[string]time.Duration{"torch": time.Second, "ort": time.Minute, "": time.Minute} {
		if got := target.SpecOf(sweep.Launch{Point: &point, Profile: profile}, "").Deadlines.Profile; got != want {
			t.Errorf("the deadline with profiler %q is %v, want %v", profile, got, want)
		}
	}
}

// TestJSONListOfBytes: lists that differ in bytes that are not UTF-8 alone differ.
func TestJSONListOfBytes(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, word := range []string{"\xe9", "\xe8", "\ufffd", `"$(printf '\351')"`, "\xed\xb3\xa9", `\351`} {
		text := JSONList([]string{"a", word})
		if other, twice := seen[text]; twice {
			t.Errorf("%q and %q are both %s", word, other, text)
		}
		seen[text] = word
	}
}

// TestWhatWasNotAppliedIsNotMeasured: the samples of another configuration are not stored under this one.
func TestWhatWasNotAppliedIsNotMeasured(t *testing.T) {
	p := &sweep.Point{Benchmark: "b", Precision: "fp32", BatchSize: new(int64(8)), Params: map[string]string{"dim": "64"}, Launch: task.Launch{Executor: schema.ExecutorBuiltin}}
	for name, c := range map[string]struct {
		applied map[string]string
		want    schema.Status
	}{
		"all":            {map[string]string{"batch_size": "8", "precision": "fp32", "param.dim": "64", "compute": "fp64"}, schema.StatusOK},
		"nothing said":   {nil, schema.StatusOK},
		"another batch":  {map[string]string{"batch_size": "4"}, schema.StatusUnsupported},
		"another param":  {map[string]string{"param.dim": "32"}, schema.StatusUnsupported},
		"not said of it": {map[string]string{"seq_len": "1"}, schema.StatusOK},
	} {
		o := task.Outcome{Status: schema.StatusOK, StartedAt: time.Now(), Applied: c.applied, Metrics: []schema.Metric{{Name: "latency"}}, Ops: []schema.Op{{Name: "a"}}}
		checkApplied(configOf(p), &o)
		if o.Status != c.want || (o.Metrics == nil) != (c.want != schema.StatusOK) || (o.Ops == nil) != (o.Metrics == nil) {
			t.Errorf("%s: %s (%s), %d metrics, %d operators", name, o.Status, o.Error, len(o.Metrics), len(o.Ops))
		}
	}
}

// TestCachedBytecode: Python writes its cache anew whenever it likes, so that only its source says whether a build has written the code.
func TestCachedBytecode(t *testing.T) {
	dir := t.TempDir()
	source, cached := filepath.Join(dir, "m.py"), filepath.Join(dir, "__pycache__", "m.cpython-312.pyc")
	valuetest.OK(t, os.Mkdir(filepath.Dir(cached), 0o700))
	for _, path := range []string{source, cached} {
		valuetest.OK(t, os.WriteFile(path, nil, 0o600))
	}
	targets := New(Options{Sweep: &sweep.Sweep{}, Sides: []Side{{Root: t.TempDir()}, {Root: t.TempDir()}}})
	around := time.Now()
	targets.builds.times[1] = []span{{around.Add(-time.Hour), around.Add(time.Hour)}}
	sub, read := Subject{&sweep.Point{}, 0}, task.File{Path: cached}
	if !targets.isOverwritten(sub, read) {
		t.Error("bytecode whose source a build has written is not overwritten")
	}
	valuetest.OK(t, os.Remove(source))
	if targets.isOverwritten(sub, read) {
		t.Error("bytecode whose source no build has written is overwritten")
	}
}

// TestCheckOutput: a file that would be emptied before it is read is refused, by any of its names, and one without a folder.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600))
	valuetest.OK(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "link")))
	for _, c := range []struct {
		stdin, stdout string
		setup         []string
		want          string
	}{
		{"a", "b", nil, ""},
		{"", "a", nil, ""},
		{"a", "./a", nil, "is also the file of stdin"},
		{"a", "link", nil, "is also the file of stdin"},
		{"gone", "gone", []string{"x"}, "is also the file of stdin"},
		{os.DevNull, os.DevNull, nil, ""},
		{"", "gone/x", nil, "the folder of output gone/x"},
		{"", "gone/x", []string{"mkdir", "gone"}, ""},
		{"", ".", nil, "is a folder"},
	} {
		err := checkOutput(&task.Spec{Launch: task.Launch{Dir: dir, Stdin: c.stdin, Stdout: c.stdout, Hooks: task.Hooks{Setup: c.setup}}})
		valuetest.ErrorText(t, err, "…"+c.want+"…", c)
	}
}

// TestSameFile: a file that is replaced, written or removed is another one; one that is read is not.
func TestSameFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	h := New(Options{Sweep: &sweep.Sweep{}})
	write := func(text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, c := range []struct {
		name    string
		do      func() error
		changed bool
	}{
		{"made", write("one"), true},
		{"read", func() error { _, err := os.ReadFile(path); return err }, false},
		{"longer", write("four"), true},
		{"replaced", func() error {
			info := infoOf(path)
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			if err := write("FOUR")(); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		}, true},
		{"removed", func() error { return os.Remove(path) }, true},
	} {
		if _, err := h.sha256(path); (err == nil) != (infoOf(path) != nil) {
			t.Fatal(err)
		}
		valuetest.OK(t, c.do())
		valuetest.DeepEqual(t, h.forgetChanged(), c.changed, c.name)
	}
}

// TestHashFile: a pipe is not waited for, and a device without an end is not read.
func TestHashFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	valuetest.OK(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		valuetest.ErrorText(t, valuetest.Error(hashFile(path)), "…not a regular file…", path)
	}
	valuetest.DeepEqual(t, len(valuetest.Must(hashFile(os.Args[0]))), 64)
}
