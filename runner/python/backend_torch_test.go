package python

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTorchPrecisions: builtin:tiny_linear is a torch.nn.Linear whose parameters have the precision asked for.
func TestTorchPrecisions(t *testing.T) {
	for _, precision := range []string{"fp32", "fp16", "bf16", "int8"} {
		o := runModel(t, t.TempDir(), Settings{Backend: "torch", Model: "builtin:tiny_linear"}, sized("2", "3", precision))
		check(t, o, schema.StatusOK, "", "", "")
		output := precision
		if precision == "int8" {
			output = "fp32"
		}
		checkApplied(t, o, map[string]string{
			"precision": precision, "compute": precision, "output_precision": output, "device": "cpu", "threads": "1",
			"batch_size": "2", "seq_len": "3", "input.x": "[2,3,64]", "timing": "perf_counter",
		})
		if strings.Contains(o.StderrTail, "profiler") {
			t.Errorf("%s: standard error %q", precision, o.StderrTail)
		}
		if samples(o) != 40 || o.BackendVersion == "" || o.Work.Flops == nil || *o.Work.Flops != 6*64*129 {
			t.Errorf("%s: %d samples, version %q, work %+v", precision, samples(o), o.BackendVersion, o.Work)
		}
	}
	ran := runModel(t, t.TempDir(), Settings{Backend: "torch", Model: "builtin:tiny_linear"}, nil)
	for _, c := range []struct{ model, precision, kind, text string }{
		{"tiny_linear", "fp8", "not_implemented", "precision fp8: torch runs builtin:tiny_linear on cpu in fp64 fp32 fp16 bf16 int8"},
		{"tiny_linear", "tf32", "not_applied", "precision tf32 was requested, but cpu does not support it"},
		{"add", "int8", "not_implemented", "precision int8: torch runs builtin:add on cpu in fp64 fp32 fp16 bf16"},
	} {
		settings := Settings{Backend: "torch", Model: "builtin:" + c.model, Worker: sweep.Worker{Device: "cpu"}}
		o := runModel(t, t.TempDir(), settings, sized("2", "3", c.precision))
		check(t, o, schema.StatusUnsupported, "setup", c.kind, c.text)
		if !strings.HasSuffix(o.Error, c.text) {
			t.Errorf("%q: want no more than %q", o.Error, c.text)
		}
		if o.BackendVersion == "" || o.BackendVersion != ran.BackendVersion {
			t.Errorf("%s is of version %q, what ran of %q", c.precision, o.BackendVersion, ran.BackendVersion)
		}
	}
}

// TestTorchScript: a file runs in its own precision unless another one is asked for.
func TestTorchScript(t *testing.T) {
	dir := t.TempDir()
	make := exec.Command(interpreter(t, "torch").Path, "-c", `
import sys, torch
from torch import nn
torch.jit.script(nn.Sequential(nn.Linear(32, 16), nn.ReLU()).to(torch.float64)).save(sys.argv[1])`, filepath.Join(dir, "model.pt"))
	valuetest.Run(t, make)
	for _, c := range []struct {
		config map[string]string
		want   map[string]string
	}{
		{nil, map[string]string{"precision": "fp64", "compute": "fp64", "input.x": "[1,1,32]"}},
		{sized("2", "3", "bf16"), map[string]string{"precision": "bf16", "output_precision": "bf16", "input.x": "[2,3,32]"}},
	} {
		o := runModel(t, dir, Settings{Backend: "torch", Model: "model.pt"}, c.config)
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, c.want)
	}
	o := runModel(t, dir, Settings{Backend: "torch", Model: "model.pt"}, map[string]string{"param.dim": "31"})
	check(t, o, schema.StatusError, "setup", "setup", "mat1 and mat2 shapes cannot be multiplied")
}

func TestTorchRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		settings Settings
		config   map[string]string
		text     string
	}{
		"absent device":     {Settings{Worker: sweep.Worker{Device: "cuda:99"}}, nil, "device cuda:99 was requested, but torch "},
		"provider":          {Settings{Worker: sweep.Worker{Provider: "CPUExecutionProvider"}}, nil, "provider CPUExecutionProvider was requested, but torch has no providers: use device"},
		"unknown parameter": {Settings{}, map[string]string{"param.heads": "8"}, "torch has no parameter heads"},
		"used, and taken":   {Settings{Used: []string{"heads"}}, map[string]string{"param.heads": "8", "param.x": "1"}, "torch has no parameter x"},
		"wrong profiler":    {Settings{Profile: "ort"}, nil, "profiler ort was requested, but torch has torch"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := c.settings
			settings.Backend, settings.Model = "torch", "builtin:tiny_linear"
			o := runModel(t, t.TempDir(), settings, c.config)
			check(t, o, schema.StatusUnsupported, "setup", "not_applied", c.text)
		})
	}
}

// TestDimensionParameter: the parameter of tiny_linear has the two spellings that package builtin has.
func TestDimensionParameter(t *testing.T) {
	o := runModel(t, t.TempDir(), Settings{Backend: "torch", Model: "builtin:tiny_linear"}, map[string]string{"param.dim": "16"})
	check(t, o, schema.StatusOK, "", "", "")
	checkApplied(t, o, map[string]string{"param.dim": "16", "input.x": "[1,1,16]"})
	const long = "param.tensor_dimension"
	o = runModel(t, models(t), Settings{
		Backend: "onnxrt", Model: "builtin:tiny_linear", ModelFile: "tiny_linear.onnx",
	}, map[string]string{long: "64"})
	check(t, o, schema.StatusOK, "", "", "")
	checkApplied(t, o, map[string]string{long: "64", "input.x": "[1,1,64]"})
}

// TestProfileOfFile: a benchmark that uses torch has a profile as the backend has; another has none.
func TestProfileOfFile(t *testing.T) {
	interpreter(t, "torch")
	var trace []byte
	profile := func(text string) task.Outcome {
		spec := specIn(t, Settings{File: "bench.py", Profile: "torch"}, map[string]string{"bench.py": text})
		spec.Leave = func(l task.Left) { trace, _ = os.ReadFile(l.Profile) }
		return runSpec(t, spec)
	}
	o := profile("import torch\na = torch.ones(64, 64)\ndef run_benchmark(): return a @ a\n")
	check(t, o, schema.StatusOK, "", "", "")
	if i := slices.IndexFunc(o.Ops, func(op schema.Op) bool { return op.Name == "aten::mm" }); i < 0 || *o.Ops[i].Count != 40 {
		t.Errorf("ops %+v, want 40 aten::mm", o.Ops)
	}
	if samples(o) > 0 {
		t.Errorf("%d samples of a profiled run", samples(o))
	}
	checkTrace(t, trace, "aten::mm")
	o = profile("def run_benchmark(): pass\n")
	check(t, o, schema.StatusUnsupported, schema.StageProfile, "not_applied", "profiler torch was requested, but nothing imported torch")
}

// TestProfileTorch: operators by name with the time in themselves, so that nested ones are not counted twice.
func TestProfileTorch(t *testing.T) {
	o := runModel(t, t.TempDir(), Settings{Backend: "torch", Model: "builtin:tiny_linear", Profile: "torch"}, sized("8", "128", "fp32"))
	check(t, o, schema.StatusOK, "", "", "")
	ops := map[string]schema.Op{}
	var total int64
	for _, op := range o.Ops {
		ops[op.Name] = op
		total += *op.DurationNS
		if op.Device != "cpu" || *op.Count%40 != 0 || *op.StartNS <= 0 {
			t.Errorf("op %+v", op)
		}
	}
	outer, inner := ops["aten::linear"], ops["aten::addmm"]
	if outer.DurationNS == nil || inner.DurationNS == nil || float64(*outer.DurationNS) != outer.Counters["self_cpu_ns"] {
		t.Fatalf("aten::linear %+v, aten::addmm %+v: the time of the product is the inner one's", outer, inner)
	}
	valuetest.DeepEqual(t, inner.Counters["flops"], 40*2*8*128*64*64)
	if o.Stages.Profile == nil || total > *o.Stages.Profile {
		t.Errorf("operators took %d ns of the stage, %v", total, o.Stages.Profile)
	}
}

// checkTrace wants what a profiler recorded in the format of Chrome's trace viewer, with an event of a name.
func checkTrace(t *testing.T, text []byte, name string) {
	t.Helper()
	type traceEvent struct{ Name string }
	var trace struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(text, &trace); err != nil { // ONNX Runtime writes the events alone
		if err := json.Unmarshal(text, &trace.TraceEvents); err != nil {
			t.Fatalf("%.60q: %v", text, err)
		}
	}
	if !slices.Contains(trace.TraceEvents, traceEvent{name}) {
		t.Errorf("%d events, none of %s", len(trace.TraceEvents), name)
	}
}
