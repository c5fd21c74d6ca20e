package python

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// models returns a folder with tiny models: add.onnx and tiny_linear.onnx in fp32, NAME.PRECISION.onnx, and of add two.onnx
// (its first dimension is 2), wide.onnx (its second one is 8) and named.onnx (they have other names).
func models(t testing.TB) string {
	t.Helper()
	files := map[string]string{}
	for _, name := range onnx.Names() {
		for _, precision := range onnx.Precisions() {
			model := valuetest.Must(onnx.Generate(name, precision))
			files[name+"."+precision+".onnx"] = string(model)
			if precision == "fp32" {
				files[name+".onnx"] = string(model)
			}
			if name == "add" && precision == "fp32" {
				fixed := strings.NewReplacer("\x12\x0abatch_size", "\x08\x02\x1a\x08........") // 2, and a remark
				files["two.onnx"] = fixed.Replace(string(model))
				files["wide.onnx"] = strings.NewReplacer("\x12\x07seq_len", "\x08\x08\x1a\x05.....").Replace(string(model))
				files["named.onnx"] = strings.NewReplacer("batch_size", "batch_rows", "seq_len", "columns").Replace(string(model))
			}
		}
	}
	return folder(t, files)
}

// runModel runs a backend in a folder on the CPU. ModelFile is one of the folder, which the run is given.
func runModel(t *testing.T, dir string, settings Settings, config map[string]string) task.Outcome {
	t.Helper()
	return runSpec(t, modelSpec(t, dir, settings, config))
}

// modelSpec returns how runModel runs a model.
func modelSpec(t *testing.T, dir string, settings Settings, config map[string]string) task.Spec {
	t.Helper()
	module := map[string]string{"onnxrt": "onnxruntime", "torch": "torch"}[settings.Backend]
	interpreter(t, module)
	if settings.Device == "" && settings.Provider == "" {
		settings.Device = "cpu"
	}
	if settings.Threads == 0 {
		settings.Threads = 1
	}
	settings.Described = described(dir, cmp.Or(settings.ModelFile, settings.Model))
	spec := specOf(t, settings, config)
	spec.Dir = dir
	if settings.ModelFile != "" {
		spec.Program.Files[settings.ModelFile] = valuetest.Must(os.ReadFile(filepath.Join(dir, settings.ModelFile)))
	}
	return spec
}

// described returns what a file says of itself; nil where it is no ONNX file.
func described(dir, path string) *Described {
	file, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		return nil
	}
	defer file.Close()
	d, err := onnx.Describe(file)
	if err != nil {
		return nil
	}
	return &Described{Precision: d.Precision, AccuracyLevels: d.AccuracyLevels}
}

// sized returns a configuration of batch_size, seq_len and precision; empty is not asked for.
func sized(batch, seq, precision string) map[string]string {
	config := map[string]string{"benchmark": "add", "model": "add", "backend": "onnxrt"}
	for key, text := range map[string]string{"batch_size": batch, "seq_len": seq, "precision": precision} {
		if text != "" {
			config[key] = text
		}
	}
	return config
}

func checkApplied(t *testing.T, o task.Outcome, want map[string]string) {
	t.Helper()
	for key, text := range want {
		valuetest.DeepEqual(t, o.Applied[key], text, "applied", key, o.Applied)
	}
}

// TestGuideGrid runs the grid of the bench guide on ./tmp/add.onnx: what is fp32 runs at its size, and nothing pretends
// to be fp16.
func TestGuideGrid(t *testing.T) {
	dir := models(t)
	for _, batch := range []string{"1", "2", "4"} {
		for _, seq := range []string{"64", "128"} {
			for _, precision := range []string{"fp32", "fp16"} {
				o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "./add.onnx"}, sized(batch, seq, precision))
				if precision == "fp16" {
					check(t, o, schema.StatusUnsupported, "setup", "not_applied", "precision fp16 was requested, but ./add.onnx is fp32")
					continue
				}
				check(t, o, schema.StatusOK, "", "", "")
				shape := fmt.Sprintf("[%s,%s]", batch, seq)
				checkApplied(t, o, map[string]string{
					"batch_size": batch, "seq_len": seq, "precision": "fp32", "compute": "fp32", "threads": "1",
					"provider": "CPUExecutionProvider", "nodes.CPUExecutionProvider": "1", "input.a": shape, "input.b": shape,
					"execution_mode": "sequential", "graph_optimization": "all",
				})
				if samples(o) != 40 || o.BackendVersion == "" {
					t.Errorf("%d samples, version %q", samples(o), o.BackendVersion)
				}
			}
		}
	}
}

// TestONNXRuntimePrecisions: what a model of each precision is computed in on a CPU.
func TestONNXRuntimePrecisions(t *testing.T) {
	dir := models(t)
	for _, c := range []struct{ name, precision, compute, warning string }{
		{"add", "fp32", "fp32", ""},
		{"add", "fp64", "fp64", ""},
		{"add", "fp16", "fp32", "computed_in_fp32"},
		{"add", "int8", "int8", ""},
		{"tiny_linear", "fp32", "fp32", ""},
		{"tiny_linear", "fp64", "fp64", ""},
		{"tiny_linear", "fp16", "fp32", "computed_in_fp32"},
		{"tiny_linear", "int8", "int8", ""},
	} {
		t.Run(c.name+" "+c.precision, func(t *testing.T) {
			for _, cold := range []bool{false, true} { // the way to find out differs
				spec := modelSpec(t, dir, Settings{Backend: "onnxrt", Model: "builtin:" + c.name, ModelFile: c.name + "." + c.precision + ".onnx", Worker: sweep.Worker{ColdStart: cold}}, sized("2", "3", c.precision))
				if cold {
					spec.Warmup, spec.Iterations = 0, 1
				}
				o := runOK(t, spec)
				checkApplied(t, o, map[string]string{"precision": c.precision, "compute": c.compute})
				valuetest.DeepEqual(t, strings.Join(o.Warnings, " "), c.warning, "warnings")
			}
		})
	}
	o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "builtin:add", ModelFile: "add.bf16.onnx"}, sized("2", "3", "bf16"))
	check(t, o, schema.StatusUnsupported, "setup", "not_implemented", "builtin:add on CPUExecutionProvider: Could not find an implementation for Add")
	o = runModel(t, dir, Settings{Backend: "onnxrt", Model: "builtin:add", ModelFile: "add.tf32.onnx"}, sized("2", "3", "tf32"))
	check(t, o, schema.StatusUnsupported, "setup", "not_applied", "precision tf32 was requested, but builtin:add is fp32")
}

// TestONNXRuntimeWork: the runner's own models say what an iteration processes, as package builtin does.
func TestONNXRuntimeWork(t *testing.T) {
	dir := models(t)
	for _, c := range []struct {
		name, precision string
		bytes           int64
		flops           float64
	}{
		{"add", "fp32", 3 * 6 * 4, 6},
		{"tiny_linear", "fp64", (2*6*64 + 64*64 + 64) * 8, 6 * 64 * 129},
		{"tiny_linear", "int8", (2*6*64+64)*4 + 64*64, 6 * 64 * 129},
	} {
		o := runModel(t, dir, Settings{
			Backend: "onnxrt", Model: "builtin:" + c.name, ModelFile: c.name + "." + c.precision + ".onnx",
		}, sized("2", "3", c.precision))
		check(t, o, schema.StatusOK, "", "", "")
		if w := o.Work; w.Bytes == nil || *w.Bytes != c.bytes || w.Flops == nil || *w.Flops != c.flops || w.Items == nil || *w.Items != 2 {
			t.Errorf("%s %s: work %+v", c.name, c.precision, w)
		}
	}
	o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "add.onnx"}, sized("2", "3", ""))
	if w := o.Work; w.Bytes != nil || w.Flops != nil || w.Items == nil || *w.Items != 2 {
		t.Errorf("work of a file: %+v", w)
	}
}

// TestONNXRuntimeRefusals: what cannot be applied ends as unsupported before anything is timed.
func TestONNXRuntimeRefusals(t *testing.T) {
	dir := models(t)
	for name, c := range map[string]struct {
		settings Settings
		config   map[string]string
		text     string
	}{
		"absent provider": {
			Settings{Worker: sweep.Worker{Provider: "CUDAExecutionProvider"}}, nil, "CUDAExecutionProvider was requested, but onnxruntime ",
		},
		"unknown provider":  {Settings{Worker: sweep.Worker{Provider: "NopeExecutionProvider"}}, nil, "NopeExecutionProvider was requested"},
		"hidden provider":   {Settings{Worker: sweep.Worker{Provider: "AzureExecutionProvider"}}, nil, "AzureExecutionProvider was requested"},
		"device":            {Settings{Worker: sweep.Worker{Device: "cuda:1"}}, nil, "CUDAExecutionProvider was requested"},
		"odd device":        {Settings{Worker: sweep.Worker{Device: "abacus"}}, nil, "abacus was requested"},
		"contradiction":     {Settings{Worker: sweep.Worker{Device: "cuda", Provider: "CPUExecutionProvider"}}, nil, "device cuda and provider CPUExecutionProvider were requested"},
		"flush":             {Settings{Worker: sweep.Worker{FlushL2: true}}, nil, "flush_l2 was requested"},
		"unknown parameter": {Settings{}, map[string]string{"param.heads": "8", "param.layers": "2"}, "onnxrt has no parameter heads, layers"},
		"dimension": {
			Settings{Model: "builtin:tiny_linear", ModelFile: "tiny_linear.onnx"},
			map[string]string{"param.dim": "32"},
			"dim 32 was requested, but builtin:tiny_linear has 64",
		},
		"fixed batch":    {Settings{Model: "two.onnx"}, sized("4", "", ""), "batch_size 4 was requested, but input a of two.onnx has 2"},
		"fixed sequence": {Settings{Model: "wide.onnx"}, sized("", "64", ""), "seq_len 64 was requested, but no input of wide.onnx has that dimension"},
		"wrong profiler": {Settings{Profile: "torch"}, nil, "profiler torch was requested, but onnxrt has ort"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := c.settings
			settings.Backend = "onnxrt"
			if settings.Model == "" {
				settings.Model = "add.onnx"
			}
			o := runModel(t, dir, settings, c.config)
			check(t, o, schema.StatusUnsupported, "setup", "not_applied", c.text)
			if samples(o) > 0 || strings.Contains(o.Error, "Azure") != (name == "hidden provider") {
				t.Errorf("%d samples: %s", samples(o), o.Error)
			}
		})
	}
}

// TestProviderDoesNotStart: a provider that the wheel has and that does not start leaves a session on the CPU, without
// an error; the default is no exception.
func TestProviderDoesNotStart(t *testing.T) {
	interpreter(t, "onnxruntime")
	dir := folder(t, map[string]string{"sitecustomize.py": `
import onnxruntime
onnxruntime.get_available_providers = lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
`})
	for _, provider := range []string{"", "CUDAExecutionProvider"} {
		spec := specOf(t, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{Provider: provider}}, nil)
		spec.Dir, spec.Env = models(t), append(spec.Env, "PYTHONPATH="+dir)
		o := runSpec(t, spec)
		check(t, o, schema.StatusUnsupported, "setup", "not_applied",
			"CUDAExecutionProvider was requested, but the session has CPUExecutionProvider")
	}
}

// TestDimensions: free dimensions are filled in by name and place, fixed ones may be asked for as they are.
func TestDimensions(t *testing.T) {
	dir := models(t)
	for _, c := range []struct {
		model  string
		config map[string]string
		shape  string
	}{
		{"add.onnx", sized("", "", ""), "[1,1]"},
		{"add.onnx", sized("3", "5", ""), "[3,5]"},
		{"two.onnx", sized("2", "7", ""), "[2,7]"},
		{"two.onnx", sized("", "7", ""), "[2,7]"},
		{"wide.onnx", sized("3", "", ""), "[3,8]"},
		{"named.onnx", map[string]string{"batch_size": "3", "param.columns": "9"}, "[3,9]"},
	} {
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: c.model}, c.config)
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{"input.a": c.shape})
		for key, text := range c.config {
			if text != "add" && text != "onnxrt" && o.Applied[key] != text {
				t.Errorf("%s: applied %s is %q, want %s", c.model, key, o.Applied[key], text)
			}
		}
	}
	o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "named.onnx"}, sized("3", "5", ""))
	check(t, o, schema.StatusError, "setup", "setup", "model named.onnx: input a is [batch_rows,columns]: set columns, such as with -P columns=4")
	o = runModel(t, dir, Settings{Backend: "onnxrt", Model: "add.onnx"}, map[string]string{"batch_size": "many"})
	check(t, o, schema.StatusError, "setup", "setup", "batch_size: many is not a positive integer")
}

// TestThreads: they are always set, so that what is read back is a number; an axis of that name is one.
func TestThreads(t *testing.T) {
	dir := models(t)
	for _, c := range []struct {
		threads int
		config  map[string]string
		want    int
	}{
		{0, nil, runtime.NumCPU()}, {3, nil, 3}, {3, map[string]string{"param.threads": "2"}, 2},
	} {
		interpreter(t, "onnxruntime")
		spec := specOf(t, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{Device: "cpu", Threads: c.threads}}, c.config)
		spec.Dir = dir
		o := runOK(t, spec)
		checkApplied(t, o, map[string]string{"threads": strconv.Itoa(c.want), "param.threads": c.config["param.threads"]})
	}
}

// TestBadModels: a model that cannot be loaded is an error in one line that names it.
func TestBadModels(t *testing.T) {
	dir := models(t)
	good := valuetest.Must(os.ReadFile(filepath.Join(dir, "tiny_linear.onnx")))
	before, after, _ := strings.Cut(string(good), "\x0a\x01x\x12") // where the input is declared
	for name, content := range map[string]string{
		"empty.onnx": "", "text.onnx": "this is no model\n", "cut.onnx": string(good[:len(good)/2]),
		"short.onnx": string(good[:len(good)-1]), "unknown.onnx": strings.ReplaceAll(string(good), "\x22\x06MatMul", "\x22\x06NoSuch"),
		"dtype.onnx": before + "\x0a\x01x\x12" + strings.Replace(after, "\x08\x01", "\x08\x0b", 1), // x is fp64, W is not
		"text.pt":    "this is no model\n",
		"Cut.ONNX":   "",
	} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for _, c := range []struct{ backend, model, text string }{
		{"onnxrt", "missing.onnx", "model missing.onnx: no such file"},
		{"onnxrt", ".", "model .: is a directory"},
		{"onnxrt", "empty.onnx", "model empty.onnx: No graph was found in the protobuf."},
		{"onnxrt", "./text.onnx", "model ./text.onnx: Protobuf parsing failed."},
		{"onnxrt", "cut.onnx", "model cut.onnx: Protobuf parsing failed."},
		{"onnxrt", "short.onnx", "model short.onnx: Protobuf parsing failed."},
		{"onnxrt", "unknown.onnx", "No Op registered for NoSuch"},
		{"onnxrt", "dtype.onnx", "model dtype.onnx: Type Error: Type parameter (T) of Optype (MatMul) bound to different types"},
		{"onnxrt", "builtin:resnet", "model builtin:resnet: no such model"},
		{"torch", "missing.pt", "model missing.pt: no such file"},
		{"torch", "text.pt", "model text.pt: not TorchScript: PytorchStreamReader failed"},
		{"torch", "cut.onnx", "model cut.onnx: torch reads TorchScript only: for an ONNX file, use backend: onnxrt"},
		{"torch", "Cut.ONNX", "for an ONNX file, use backend: onnxrt"},
		{"torch", "builtin:resnet", "model builtin:resnet: torch has builtin:add and builtin:tiny_linear"},
	} {
		t.Run(c.backend+" "+c.model, func(t *testing.T) {
			o := runModel(t, dir, Settings{Backend: c.backend, Model: c.model}, nil)
			check(t, o, schema.StatusError, "setup", "setup", c.text)
			if c.backend == "torch" && strings.Contains(o.Error, ". ") {
				t.Errorf("%q: want one sentence", o.Error)
			}
		})
	}
}

// TestProfileONNXRuntime: the nodes of a profile, added up over the runs but for the first.
func TestProfileONNXRuntime(t *testing.T) {
	spec := modelSpec(t, models(t), Settings{
		Backend: "onnxrt", Model: "builtin:tiny_linear", ModelFile: "tiny_linear.fp16.onnx", Profile: "ort",
	}, sized("8", "128", "fp16"))
	var trace []byte
	spec.Leave = func(l task.Left) { trace, _ = os.ReadFile(l.Profile) }
	o := runOK(t, spec)
	checkTrace(t, trace, "MatMul/product_kernel_time")
	var names []string
	for i, op := range o.Ops {
		names = append(names, op.Name)
		if op.Count == nil || *op.Count != 40 || op.Device != "CPUExecutionProvider" || op.StartNS == nil || *op.StartNS <= 0 {
			t.Errorf("op %+v", op)
		}
		if i > 0 && *op.StartNS < *o.Ops[i-1].StartNS {
			t.Errorf("%s starts before %s", op.Name, o.Ops[i-1].Name)
		}
		if op.Name == "MatMul/product" && (op.Type != "MatMul" || op.DurationNS == nil || *op.DurationNS <= 0 || op.Counters["output_size"] != 8*128*64*4) {
			t.Errorf("op %+v", op)
		}
	}
	want := []string{"InsertedPrecisionFreeCast_x", "MatMul/product", "Add/y", "InsertedPrecisionFreeCast_y"}
	valuetest.DeepEqual(t, names, want, "ops")
	if samples(o) > 0 || o.Applied["compute"] != "fp32" || o.Stages.Profile == nil {
		t.Errorf("%d samples, applied %v", samples(o), o.Applied)
	}
}

// oneSession makes a second session of ONNX Runtime fail.
const oneSession = `import importlib.abc, importlib.util, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "onnxruntime": return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            make, made = module.InferenceSession, []
            def session(*args, **named):
                made.append(1)
                if len(made) > 1: raise RuntimeError("no room for another session")
                return make(*args, **named)
            module.InferenceSession = session
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, Finder())
`

// TestOperatorsAfterMeasurement: a measured run reports its operators. A run in which that fails is whole without them.
func TestOperatorsAfterMeasurement(t *testing.T) {
	for _, fails := range []bool{false, true} {
		spec := modelSpec(t, models(t), Settings{
			Backend: "onnxrt", Model: "builtin:tiny_linear", ModelFile: "tiny_linear.fp16.onnx", Operators: true,
		}, sized("8", "128", "fp16"))
		spec.Warmup, spec.Iterations = 2, 100
		if fails {
			spec.Env = append(spec.Env, "PYTHONPATH="+folder(t, map[string]string{"sitecustomize.py": oneSession}))
		}
		o := runOK(t, spec)
		checkApplied(t, o, map[string]string{"provider": "CPUExecutionProvider", "compute": "fp32"})
		if samples(o) != 100 || o.Stages.Profile != nil {
			t.Errorf("%d samples, stages %+v", samples(o), o.Stages)
		}
		seen, why := o.Facts["profile.iterations"], o.Facts["runner.operators_error"]
		if fails {
			if len(o.Ops) > 0 || seen != "" || !strings.Contains(why, "no room for another session") {
				t.Errorf("%d operators, facts %v", len(o.Ops), o.Facts)
			}
			continue
		}
		n, err := strconv.ParseInt(seen, 10, 64)
		if err != nil || n < 1 || n > 10 || o.Facts["profile.latency_ns"] == "" || len(o.Ops) == 0 || why != "" {
			t.Errorf("%d operators, facts %v", len(o.Ops), o.Facts)
		}
		for _, op := range o.Ops {
			if op.Count == nil || *op.Count != n || op.DurationNS == nil {
				t.Errorf("op %+v of %d iterations", op, n)
			}
		}
	}
}

// TestNotInstalled: a missing framework is one line that says what to install.
func TestNotInstalled(t *testing.T) {
	i := interpreter(t)
	for _, c := range []struct{ backend, module string }{
		{"onnxrt", "onnxruntime"}, {"torch", "torch"}, {"tensorrt", "tensorrt"},
	} {
		if i.Packages[c.module] != "" {
			continue
		}
		o := runSpec(t, specOf(t, Settings{Backend: c.backend, Model: "builtin:add", ModelFile: "add.onnx"}, nil))
		want := fmt.Sprintf("%s is not installed for %s: %s -m pip install %s", c.module, i.Path, i.Path, c.module)
		check(t, o, schema.StatusError, "setup", "not_installed", want)
	}
	// one that is there and lacks a library of its own
	spec := specOf(t, Settings{Backend: "tensorrt", Model: "builtin:add", ModelFile: "add.onnx"}, nil)
	dir := folder(t, map[string]string{"tensorrt/__init__.py": "raise ImportError('libnvonnxparser.so.11: cannot open shared object file\\nmore')\n"})
	spec.Env = append(spec.Env, "PYTHONPATH="+dir)
	o := runSpec(t, spec)
	check(t, o, schema.StatusError, "setup", "not_installed", "tensorrt does not load in "+i.Path+" (libnvonnxparser.so.11: cannot open shared object file): ")
}

// TestNoNetwork: where there is no network, not even a loopback that is up, a model runs, and nothing complains.
func TestNoNetwork(t *testing.T) {
	interpreter(t, "onnxruntime")
	unshare := valuetest.Program(t, "unshare")
	if out, err := exec.Command(unshare, "-n", "true").CombinedOutput(); err != nil {
		valuetest.Have(t, "unshare", fmt.Errorf("%w: %s", err, out))
	}
	dir := models(t)
	spec := specOf(t, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{Provider: "CPUExecutionProvider"}}, sized("2", "3", "fp32"))
	spec.Dir = dir
	spec.Program.Args = append([]string{"-n", spec.Program.Path}, spec.Program.Args...)
	spec.Program.Path = unshare
	runOK(t, spec)
}

// TestNothingLeft: ONNX Runtime, whose telemetry is off, leaves no file in the home folder and in that of temporary files.
func TestNothingLeft(t *testing.T) {
	interpreter(t, "onnxruntime")
	home := t.TempDir()
	spec := specOf(t, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{Provider: "CPUExecutionProvider"}}, sized("2", "3", "fp32"))
	spec.Dir, spec.Env = models(t), append(spec.Env, "HOME="+home, "XDG_CACHE_HOME=", "TMPDIR="+home)
	runOK(t, spec)
	if left := valuetest.Must(os.ReadDir(home)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSilence: a provider that nobody knows makes ONNX Runtime print on standard output if it is asked for.
func TestSilence(t *testing.T) {
	interpreter(t, "onnxruntime")
	spec := specOf(t, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{Provider: "NopeExecutionProvider"}}, nil)
	spec.Dir, spec.OutputLimit = models(t), 1 // of standard output; the other one is of no interest
	spec.Program.Args = append([]string{"-c", `exec "$0" "$@" 2>/dev/null`, spec.Program.Path}, spec.Program.Args...)
	spec.Program.Path = valuetest.Program(t, "sh")
	o := runSpec(t, spec)
	check(t, o, schema.StatusUnsupported, "setup", "not_applied", "NopeExecutionProvider was requested")
}
