package python

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// outputOf runs a benchmark and gives what it left as its output.
func outputOf(t *testing.T, text string, seed int64) (output.Array, task.Outcome) {
	t.Helper()
	spec := specOf(t, Settings{File: "bench.py", Output: &Output{Seed: seed}}, nil)
	spec.Dir, spec.Iterations, spec.Warmup = folder(t, map[string]string{"bench.py": text}), 1, 0
	return runForOutput(t, spec)
}

// runForOutput runs a worker and gives what it left as its output.
func runForOutput(t *testing.T, spec task.Spec) (output.Array, task.Outcome) {
	t.Helper()
	spec.Keep = []string{task.Output}
	var got output.Array
	spec.Read = func(kept task.Kept) task.Reading {
		for _, o := range kept.Outputs {
			var err error
			if got, err = output.Read(io.NewSectionReader(kept.File, o.Offset, o.Size), "npy", 0); err != nil && o.Missing == "" {
				t.Error(err)
			}
		}
		return task.Reading{}
	}
	outcome := runSpec(t, spec)
	return got, outcome
}

// TestOutputs: what a benchmark computed is what the runner reads, whatever it is made of.
func TestOutputs(t *testing.T) {
	plain := "def run_benchmark():\n    return "
	for _, c := range []struct {
		text  string
		shape string
		want  []float64
	}{
		{plain + "[1, 2.5, True]", "[3]", []float64{1, 2.5, 1}},
		{plain + "3", "[]", []float64{3}},
		{plain + "{'metrics': {'m': 1}, 'output': (4, 5)}", "[2]", []float64{4, 5}},
		{plain + "{'b': [3, 4], 'a': 2}", "[3]", []float64{2, 3, 4}},
		{plain + "[[1, 2], [3, 4]]", "[4]", []float64{1, 2, 3, 4}},
		{"class Bench:\n    def benchmark_fn(self): self.y = [7]\n    def output(self): return self.y", "[1]", []float64{7}},
		{"class Bench:\n    output = [8, 9]\n    def benchmark_fn(self): pass", "[2]", []float64{8, 9}},
	} {
		got, o := outputOf(t, c.text, 0)
		if check(t, o, schema.StatusOK, "", "", ""); !slices.Equal(got.Values, c.want) || o.Facts["output.shape"] != c.shape && c.shape != "[1]" {
			t.Errorf("%s: got %v of shape %s, want %v of %s", c.text, got.Values, o.Facts["output.shape"], c.want, c.shape)
		}
		valuetest.DeepEqual(t, len(o.Facts["output.sha256"]), 64, "the hash", o.Facts["output.sha256"])
	}
	_, o := outputOf(t, plain+"'text'", 0)
	check(t, o, schema.StatusError, schema.StageValidate, "no_result", "an output of type str cannot be compared: want an array or numbers")
	_, o = outputOf(t, plain+"None", 0)
	check(t, o, schema.StatusError, schema.StageValidate, "no_result", "no output to compare: None")
}

// TestOutputsOfOneSeed: what a benchmark draws for its output does not depend on how often it was called before.
func TestOutputsOfOneSeed(t *testing.T) {
	hashes := map[string]bool{}
	for _, iterations := range []int{1, 3} {
		spec := specOf(t, Settings{File: "bench.py", Output: &Output{}, Worker: sweep.Worker{Seed: new(int64(42))}}, nil)
		spec.Dir, spec.Iterations, spec.Warmup = folder(t, map[string]string{"bench.py": "import random\ndef run_benchmark():\n    return random.random()"}), iterations, 0
		o := runOK(t, spec)
		hashes[o.Facts["output.sha256"]] = true
	}
	valuetest.DeepEqual(t, len(hashes), 1, "after three iterations the output is another than after one")
}

// TestOutputsOfFrameworks: arrays are read as they are, in their shape, and a hash tells types apart.
func TestOutputsOfFrameworks(t *testing.T) {
	interpreter(t, "numpy")
	hashes := map[string]bool{}
	for text, want := range map[string][]float64{
		"numpy.arange(6, dtype='i2').reshape(2, 3).T": {0, 3, 1, 4, 2, 5},
		"numpy.array([[1.5], [2.5]], dtype='f2')":     {1.5, 2.5},
		"numpy.array([[1.5], [2.5]], dtype='f4')":     {1.5, 2.5},
	} {
		got, o := outputOf(t, "import numpy\ndef run_benchmark():\n    return "+text, 0)
		if !slices.Equal(got.Values, want) || len(got.Shape) != 2 {
			t.Errorf("%s: got %v of shape %v, want %v", text, got.Values, got.Shape, want)
		}
		hashes[o.Facts["output.sha256"]] = true
	}
	valuetest.DeepEqual(t, len(hashes), 3, "three outputs have")
	_, o := outputOf(t, "import numpy\ndef run_benchmark():\n    return numpy.array([1j])", 0)
	check(t, o, schema.StatusError, schema.StageValidate, "no_result", "an output of type complex128 cannot be compared: want real numbers")
}

func TestOutputsOfTorch(t *testing.T) {
	interpreter(t, "torch")
	for text, want := range map[string][]float64{
		"torch.arange(6).reshape(2, 3).T":                     {0, 3, 1, 4, 2, 5},
		"torch.tensor([1.5, 3.0], dtype=torch.bfloat16)":      {1.5, 3},
		"[torch.ones(2, requires_grad=True), torch.zeros(1)]": {1, 1, 0},
	} {
		got, o := outputOf(t, "import torch\ndef run_benchmark():\n    return "+text, 0)
		if check(t, o, schema.StatusOK, "", "", ""); !slices.Equal(got.Values, want) {
			t.Errorf("%s: got %v, want %v", text, got.Values, want)
		}
	}
}

// TestOutputsOfBackends: what a model computes of the inputs of a seed is the same in every precision, but for its rounding.
func TestOutputsOfBackends(t *testing.T) {
	dir := models(t)
	for _, c := range []struct {
		backend, model, precise, rough string
	}{
		{"torch", "builtin:tiny_linear", "fp64", "fp32"}, {"onnxrt", "tiny_linear.PRECISION.onnx", "fp32", "fp16"},
	} {
		run := func(precision string) output.Array {
			model := strings.Replace(c.model, "PRECISION", precision, 1)
			spec := modelSpec(t, dir, Settings{Backend: c.backend, Model: model, Output: &Output{}, Worker: sweep.Worker{Seed: new(int64(42))}}, sized("2", "3", precision))
			spec.Iterations, spec.Warmup = 1, 0
			got, o := runForOutput(t, spec)
			check(t, o, schema.StatusOK, "", "", "")
			return got
		}
		precise, rough := run(c.precise), run(c.rough)
		e, err := output.Compare(rough, precise, output.Tolerance{Relative: 1e-2, Absolute: 1e-2})
		if err != nil || !slices.Equal(precise.Shape, []int{2, 3, 64}) || e.Mismatched > 0 || e.MaxError == 0 {
			t.Errorf("%s: shape %v, %+v, %v", c.backend, precise.Shape, e, err)
		}
	}
}

// TestValidateFunction: a function has a check of its result beside it, which is given what it returns, and what of the point it
// takes.
func TestValidateFunction(t *testing.T) {
	const work = "def run_benchmark(n):\n    return {'y': 2 * n}\n"
	for text, want := range map[string]string{
		"def validate_result(result): return result['y'] == 6\n":                     "",
		"def validate_result(result, n): return result['y'] == 2 * n\n":              "",
		"def validate_result(): return True\n":                                       "",
		"validate_result = 7\n":                                                      "",
		"def validate_result(result, n): return 'got %d of %d' % (result['y'], n)\n": "got 6 of 3",
		"def validate_result(result): return result['y'] == 7\n":                     "validate_result returned False",
		"def validate_result(result): assert result == 7, 'no 7'\n":                  "AssertionError: no 7 (bench.py:3 in validate_result)",
	} {
		o := runSpec(t, benchmark(t, work+text, map[string]string{"param.n": "3"}))
		if want == "" {
			check(t, o, schema.StatusOK, "", "", "")
		} else if check(t, o, schema.StatusError, schema.StageValidate, "validate", want); len(o.Metrics) == 0 {
			t.Errorf("%s: the samples are gone", text)
		}
	}
}

// TestPeakWithoutOutput: what it takes to write down an output is no memory of the benchmark.
func TestPeakWithoutOutput(t *testing.T) {
	_, o := outputOf(t, "class Bench:\n    def benchmark_fn(self): pass\n    def output(self): return [len(bytearray(150 << 20))]", 0)
	check(t, o, schema.StatusOK, "", "", "")
	at := slices.IndexFunc(o.Metrics, func(m schema.Metric) bool { return m.Name == "peak_memory" })
	if at < 0 || o.Metrics[at].Values()[0] > 100<<20 {
		t.Errorf("%+v", o.Metrics)
	}
}

// TestLargeOutputs: of a large output the worker writes down the values that package output chooses too.
func TestLargeOutputs(t *testing.T) {
	const size = 1<<20 + 12_345
	got, o := outputOf(t, "def run_benchmark():\n    return list(range(1048576 + 12345))", 7)
	check(t, o, schema.StatusOK, "", "", "")
	var all strings.Builder
	for i := range size {
		fmt.Fprintln(&all, i)
	}
	want, err := output.Read(strings.NewReader(all.String()), "text", 7)
	if err != nil || !slices.Equal(got.Values, want.Values) || len(got.Values) == size {
		t.Errorf("%d values, want %d, %v", len(got.Values), len(want.Values), err)
	}
	valuetest.DeepEqual(t, o.Facts["output.shape"], "[1060921]", "the shape")
}
