package python

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// inputModels makes models that give back what they got, with the onnx package:
//   - echo.onnx: one input [n] of each type, and each is an output as fp64
//   - loop.onnx: counts the trips of a loop of steps; steps is a scalar
//   - branch.onnx: 10 where flag is true, else 20
//   - ids.onnx: ids that index tables of 7 and, through Reshape, Cast and Add of 2, of 9 rows, in a loop of 5 and in a branch
//     of 3, one of computed rows, and spots that GatherND selects from a table
//   - shapes.onnx: the shape of x [M,K], of past [batch,past_sequence_length,8], image [N,3,H] and sum [batch,a + b]
//   - lists.onnx: a sequence, and an optional tensor
func inputModels(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(interpreter(t, "onnxruntime", "onnx").Path, "-c", `
import sys, numpy as np, onnx
from onnx import helper as h, numpy_helper as nh, TensorProto as T
v, n = h.make_tensor_value_info, h.make_node
def save(name, nodes, ins, outs, inits=()):
    model = h.make_model(h.make_graph(nodes, "g", ins, outs, inits), opset_imports=[h.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.save(model, name)
def table(name, rows): return nh.from_array(np.zeros((rows, 2), np.float32), name)
types = "UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 BOOL FLOAT16 BFLOAT16 FLOAT DOUBLE STRING".split()
save("echo.onnx", [n("Cast", [k.lower()], ["o" + k], to=T.DOUBLE) for k in types],
     [v(k.lower(), getattr(T, k), ["n"]) for k in types], [v("o" + k, T.DOUBLE, ["n"]) for k in types])
one = nh.from_array(np.array(1, np.int64), "one")
body = h.make_graph([n("Add", ["sum", "one"], ["more"]), n("Identity", ["on"], ["still"])], "b",
    [v("i", T.INT64, []), v("on", T.BOOL, []), v("sum", T.INT64, [])], [v("still", T.BOOL, []), v("more", T.INT64, [])])
save("loop.onnx", [n("Loop", ["steps", "", "start"], ["trips"], body=body)], [v("steps", T.INT64, [])], [v("trips", T.INT64, [])],
    [one, nh.from_array(np.array(0, np.int64), "start")])
def constant(name, x): return h.make_graph([n("Constant", [], [name], value=nh.from_array(np.array(x, np.float32)))], name, [], [v(name, T.FLOAT, [])])
save("branch.onnx", [n("If", ["flag"], ["y"], then_branch=constant("yes", 10), else_branch=constant("no", 20))], [v("flag", T.BOOL, [])], [v("y", T.FLOAT, [])])
inner = h.make_graph([n("Gather", ["t5", "at"], ["row"]), n("Identity", ["on"], ["still"]), n("Identity", ["at"], ["next"])], "b",
    [v("i", T.INT64, []), v("on", T.BOOL, []), v("at", T.INT64, ["n"])], [v("still", T.BOOL, []), v("next", T.INT64, ["n"]), v("row", T.FLOAT, ["n", 2])])
pick = h.make_graph([n("Gather", ["t3", "chosen"], ["p"])], "t", [], [v("p", T.FLOAT, ["n", 2])])
none = h.make_graph([n("Constant", [], ["q"], value=nh.from_array(np.zeros((1, 2), np.float32)))], "e", [], [v("q", T.FLOAT, [1, 2])])
save("ids.onnx", [n("Gather", ["t7", "ids"], ["a"]),
    n("Reshape", ["places", "flat"], ["p0"]), n("Cast", ["p0"], ["p1"], to=T.INT64), n("Add", ["p1", "two"], ["p2"]), n("Gather", ["t9", "p2"], ["b"]),
    n("Loop", ["trips", "", "looped"], ["end", "rows"], body=inner), n("If", ["flag"], ["branch"], then_branch=pick, else_branch=none),
    n("Relu", ["a"], ["computed"]), n("Gather", ["computed", "last"], ["c"]), n("GatherND", ["t7", "spots"], ["d"]), n("Cast", ["mask"], ["m"], to=T.FLOAT)],
    [v("ids", T.INT64, ["n"]), v("places", T.INT32, ["n"]), v("looped", T.INT64, ["n"]), v("chosen", T.INT64, ["n"]), v("last", T.INT64, ["n"]), v("spots", T.INT64, ["n", 2]),
     v("mask", T.INT64, ["n"]), v("trips", T.INT64, []), v("flag", T.BOOL, [])],
    [v(k, T.FLOAT, None) for k in ("a", "b", "rows", "branch", "c", "d", "m")],
    [table("t7", 7), table("t9", 9), table("t5", 5), table("t3", 3), nh.from_array(np.array([-1]), "flat"), nh.from_array(np.array(2), "two")])
def shape(name, *dims):
    save(name, [n("Shape", ["x"], ["y"])], [v("x", T.FLOAT, dims)], [v("y", T.INT64, None)])
shape("matrix.onnx", "M", "K"); shape("past.onnx", "batch", "past_sequence_length", 8); shape("image.onnx", "N", 3, "H")
shape("sum.onnx", "batch_size", "past_sequence_length + 2 * sequence_length"); shape("torch.onnx", "s77", 3); shape("tf.onnx", "unk__12", "unk__13")
shape("half.onnx", "s0", "((s0 - 1)//2) + 1", "floor(s0/2)", "Max(1, s0)", "s0**2", "Min(s0, 4)", "-1 + s0", "Mod(s0, 4)")
shape("odd.onnx", 1, "ModularIndexing(s0, 2, 3)"); shape("third.onnx", 1, "s0/2"); shape("deep.onnx", 1, "9**9**9**9"); shape("hw.onnx", "s77", 3, "s5", "s6")
shape("legacy.onnx", "batch_dynamic_axes_1", "batch_dynamic_axes_2"); shape("matrices.onnx", "b", 3); shape("none.onnx", "-1", 2)
save("shared.onnx", [n("Shape", ["x"], ["y"]), n("Shape", ["z"], ["w"])], [v("z", T.FLOAT, ["s77 + 1", 2, 3, "s77"]), v("x", T.FLOAT, ["s77", 3])],
    [v("y", T.INT64, None), v("w", T.INT64, None)])
shape("nameless.onnx", None, None, None, None); shape("second.onnx", 2, "N")
seq = h.make_value_info("s", h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, ["n"])))
opt = h.make_value_info("o", h.make_optional_type_proto(h.make_tensor_type_proto(T.FLOAT, ["k"])))
save("lists.onnx", [n("ConcatFromSequence", ["s"], ["y"], axis=0), n("OptionalHasElement", ["o"], ["z"])], [seq, opt], [v("y", T.FLOAT, None), v("z", T.BOOL, [])])
def bf16(name, ins, outs, *more):
    save(name, [n("Identity", [i.name], [o.name]) for i, o in zip(ins, outs)] + list(more), ins, outs)
bf16("bf16.onnx", [v("x", T.BFLOAT16, ["batch", 2]), v("w", T.FLOAT, ["batch"])], [v("y", T.BFLOAT16, ["batch", 2]), v("z", T.FLOAT, ["batch"])])
bf16("bf16text.onnx", [v("x", T.BFLOAT16, [1]), v("s", T.STRING, [1])], [v("y", T.BFLOAT16, [1]), v("t", T.STRING, [1])])
listed = h.make_value_info("r", h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, [1])))
save("bf16list.onnx", [n("Identity", ["x"], ["y"]), n("SequenceConstruct", ["w"], ["r"])], [v("x", T.BFLOAT16, [1]), v("w", T.FLOAT, [1])], [v("y", T.BFLOAT16, [1]), listed])
save("bf16word.onnx", [n("Identity", ["x"], ["y"]), n("Identity", ["words"], ["t"])], [v("x", T.BFLOAT16, [1])], [v("y", T.BFLOAT16, [1]), v("t", T.STRING, [1])],
    [h.make_tensor("words", T.STRING, [1], [b"word"])])
np.save("ids.npy", np.array([7, 0, 3])); np.save("matrix.npy", np.zeros((3, 4), np.float32))
np.savez("list.npz", np.array([1, 2], np.float32), np.array([3], np.float32))
`)
	cmd.Dir = dir
	valuetest.Run(t, cmd)
	return dir
}

// inputs returns the settings of a run with these inputs, whose output is written down.
func inputs(model string, given map[string]sweep.Input) Settings {
	return Settings{Backend: "onnxrt", Model: model, Output: &Output{}, Worker: sweep.Worker{Inputs: given}}
}

// TestInputsReachModel: what is chosen for an input is what the model gets, for every type that ONNX Runtime takes.
func TestInputsReachModel(t *testing.T) {
	dir := inputModels(t)
	type in = map[string]sweep.Input
	for _, c := range []struct {
		name, model string
		given       in
		axes        map[string]string
		want        []float64
		values      map[string]string
	}{
		{"steps", "loop.onnx", in{"steps": {Value: "50"}}, nil, []float64{50}, map[string]string{"steps": "int64 constant 50"}},
		{"no steps", "loop.onnx", in{"steps": {Value: "0"}}, nil, []float64{0}, nil},
		{"steps by default", "loop.onnx", nil, nil, []float64{1}, map[string]string{"steps": "int64 constant 1 by default"}},
		{"axis", "loop.onnx", nil, map[string]string{"param.steps": "7"}, []float64{7}, map[string]string{"steps": "int64 constant 7"}},
		{"true", "branch.onnx", in{"flag": {Value: "true"}}, nil, []float64{10}, map[string]string{"flag": "bool constant true"}},
		{"false", "branch.onnx", nil, map[string]string{"param.flag": "false"}, []float64{20}, nil},
		{"flag by default", "branch.onnx", nil, nil, []float64{10}, map[string]string{"flag": "bool constant true by default"}},
		{"zero", "past.onnx", nil, map[string]string{"param.past_sequence_length": "0"}, []float64{1, 0, 8}, map[string]string{"x": "float32 uniform -1..1 by default"}},
		{"shape", "nameless.onnx", in{"x": {Shape: []string{"1", "3", "5", "4"}}}, nil, []float64{1, 3, 5, 4}, nil},
		{"shape of what cannot be computed", "odd.onnx", in{"x": {Shape: []string{"1", "6"}}}, nil, []float64{1, 6}, nil},
		{"file with a generated name", "shared.onnx", in{"x": {Shape: []string{"4", "3"}}}, nil, []float64{4, 3, 5, 2, 3, 4}, nil},
		{"shape of a file", "matrix.onnx", in{"x": {File: "matrix.npy"}}, nil, []float64{3, 4}, map[string]string{"x": "float32 file matrix.npy"}},
		{"sequence", "lists.onnx", in{"s": {File: "list.npz"}, "o": {Value: "absent"}}, nil, []float64{1, 2, 3, 0}, map[string]string{"s": "float32 2 arrays of list.npz", "o": "float32 absent"}},
		{"optional", "lists.onnx", in{"s": {File: "list.npz"}, "o": {Value: "4", Shape: []string{"2"}}}, nil, []float64{1, 2, 3, 1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, o := runForOutput(t, modelSpec(t, dir, inputs(c.model, c.given), c.axes))
			check(t, o, schema.StatusOK, "", "", "")
			valuetest.DeepEqual(t, got.Values, c.want, "the model")
			for name, text := range c.values {
				checkApplied(t, o, map[string]string{"values." + name: text})
			}
		})
	}
}

// TestOutputsOfBF16: a model with outputs of bf16 is measured, its output compared, and what is not finite found.
func TestOutputsOfBF16(t *testing.T) {
	dir := inputModels(t)
	type in = map[string]sweep.Input
	for _, c := range []struct {
		batch, x string
		want     []float64
		warning  string
	}{
		{"2", "-1.5", []float64{-1.5, -1.5, -1.5, -1.5, 3, 3}, ""},
		{"1", "inf", []float64{math.Inf(1), math.Inf(1), 3}, "output_not_finite"},
		{"0", "1", nil, ""},
	} {
		settings := inputs("bf16.onnx", in{"x": {Value: c.x}, "w": {Value: "3"}})
		axes := map[string]string{"param.batch": c.batch}
		if c.batch == "0" { // there is nothing to compare
			settings.Output = nil
			check(t, runModel(t, dir, settings, axes), schema.StatusOK, "", "", "")
			continue
		}
		got, o := runForOutput(t, modelSpec(t, dir, settings, axes))
		check(t, o, schema.StatusOK, "", "", "")
		if !slices.Equal(got.Values, c.want) || slices.Contains(o.Warnings, "output_not_finite") != (c.warning != "") {
			t.Errorf("%s: %v, want %v; %v", c.x, got.Values, c.want, o.Warnings)
		}
		checkApplied(t, o, map[string]string{"precision": "bf16", "input.x": "[" + c.batch + ",2]"})
	}
	check(t, runModel(t, dir, Settings{Backend: "onnxrt", Model: "bf16word.onnx"}, nil), schema.StatusOK, "", "", "")
	for model, text := range map[string]string{
		"bf16text.onnx": "input s of bf16text.onnx is tensor(string), which ONNX Runtime does not take from Python beside an output of bf16",
		"bf16list.onnx": "output r of bf16list.onnx is seq(tensor(float)), which ONNX Runtime does not take from Python beside an output of bf16",
	} {
		check(t, runModel(t, dir, inputs(model, nil), nil), schema.StatusUnsupported, "setup", "not_implemented", text)
	}
}

// TestInputTypes: every type of a tensor holds a value, what a file or a range says, and something by default.
func TestInputTypes(t *testing.T) {
	dir := inputModels(t)
	integers := strings.Fields("uint8 uint16 uint32 uint64 int8 int16 int32 int64")
	reals := strings.Fields("float16 bfloat16 float double")
	run := func(given map[string]sweep.Input) []float64 {
		t.Helper()
		given["string"] = sweep.Input{Value: "9"} // which the model makes a number
		settings := inputs("echo.onnx", given)
		got, o := runForOutput(t, modelSpec(t, dir, settings, map[string]string{"param.n": "3"}))
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{"values.string": "string constant 9", "input.string": "[3]"})
		return got.Values
	}
	constant, ranged, file := map[string]sweep.Input{"bool": {Value: "false"}}, map[string]sweep.Input{}, map[string]sweep.Input{}
	for _, name := range slices.Concat(integers, reals) {
		constant[name], ranged[name] = sweep.Input{Value: "5"}, sweep.Input{Low: "40", High: "60"}
		file[name] = sweep.Input{File: "ids.npy"}
	}
	for _, name := range reals {
		file[name] = sweep.Input{Mean: "50", Std: "0"}
	}
	wrong := func(name string, values []float64, right func(int, float64) bool) {
		t.Helper()
		for i, x := range values {
			kind := i / 3
			if kind == 8 && x != 0 && x != 1 || kind == 13 && x != 9 || kind != 8 && kind != 13 && !right(i, x) { // a flag, a text
				t.Errorf("%s: the model got %v", name, values)
				return
			}
		}
		valuetest.DeepEqual(t, len(values), 14*3, name)
	}
	wrong("value", run(constant), func(_ int, x float64) bool { return x == 5 })
	wrong("range", run(ranged), func(_ int, x float64) bool { return x >= 40 && x < 60 })
	wrong("file", run(file), func(i int, x float64) bool { return x == []float64{7, 0, 3}[i%3] || i/3 > 8 && x == 50 })
	wrong("default", run(map[string]sweep.Input{}), func(i int, x float64) bool {
		return i/3 == 0 || i/3 == 4 || i/3 > 8 && x >= -1 && x < 1 || x == 1 // of 8 bits, all; reals; other integers
	})
}

// TestTables: integers that index a table are its rows, as far as the graph tells; others are the same for every seed.
func TestTables(t *testing.T) {
	dir := inputModels(t)
	for _, seed := range []int64{1, 2, 3} {
		settings := inputs("ids.onnx", nil)
		settings.Seed, settings.Output = &seed, nil
		o := runModel(t, dir, settings, map[string]string{"param.n": "200"})
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{
			"values.ids": "int64 uniform 0..6 rows of t7", "values.places": "int32 uniform 0..6 rows of t9", "values.looped": "int64 uniform 0..4 rows of t5",
			"values.chosen": "int64 uniform 0..2 rows of t3", "values.last": "int64 constant 0 by default", "values.spots": "int64 constant 0 by default", "values.mask": "int64 constant 1 by default",
			"values.trips": "int64 constant 1 by default", "values.flag": "bool constant true by default", "input.ids": "[200]",
		})
	}
}

// TestInputsRefused: an input that the model does not have is unsupported; what does not fit one is an error in set-up.
func TestInputsRefused(t *testing.T) {
	dir := inputModels(t)
	for _, c := range []struct {
		model, name string
		given       sweep.Input
		kind, text  string
	}{
		{"loop.onnx", "step", sweep.Input{Value: "1"}, "not_applied", "inputs.step was requested, but loop.onnx has steps"},
		{"loop.onnx", "steps", sweep.Input{Value: "1.5"}, "setup", "inputs.steps of loop.onnx: 1.5 does not fit int64"},
		{"ids.onnx", "places", sweep.Input{File: "ids.npy"}, "setup", "inputs.places of ids.onnx: 7 is beyond the 9 rows of t9"},
		{"ids.onnx", "ids", sweep.Input{File: "list.npz"}, "setup", "list.npz has no array ids: it has arr_0, arr_1"},
		{"lists.onnx", "o", sweep.Input{Value: "absent"}, "not_implemented", "input s of lists.onnx is a sequence: give it a .npz file in inputs"},
		{"tf.onnx", "x", sweep.Input{File: "matrix.npy"}, "not_applied", "batch_size 4 was requested, but input x of tf.onnx has 3"},
	} {
		axes := map[string]string{}
		if c.model == "tf.onnx" {
			axes["batch_size"] = "4"
		}
		status := schema.StatusUnsupported
		if c.kind == "setup" {
			status = schema.StatusError
		}
		check(t, runModel(t, dir, inputs(c.model, map[string]sweep.Input{c.name: c.given}), axes), status, "setup", c.kind, c.text)
	}
}

// TestInputsThatDoNotFit: what is wrong with an input is one line, whatever its type. One process reads all of them.
func TestInputsThatDoNotFit(t *testing.T) {
	type input struct {
		Kind  string      `json:"kind"`
		Shape []any       `json:"shape"`
		Given sweep.Input `json:"given"`
		Rows  int         `json:"rows"` // of the table that it indexes
		List  bool        `json:"list"` // it is a sequence
	}
	free := []any{"n"}
	cases := []struct {
		input
		want string
	}{
		{input{"int64", free, sweep.Input{Value: "9223372036854775808"}, 0, false}, "9223372036854775808 does not fit int64"},
		{input{"uint64", free, sweep.Input{Value: "18446744073709551615"}, 0, false}, ""},
		{input{"int64", free, sweep.Input{Mean: "1"}, 0, false}, "mean is not for int64, which it is: want value low high"},
		{input{"bool", free, sweep.Input{Value: "2"}, 0, false}, "2 does not fit bool"},
		{input{"bool", free, sweep.Input{High: "2"}, 0, false}, "high is not for bool, which it is: want value"},
		{input{"int64", free, sweep.Input{Value: "7"}, 7, false}, "7 is beyond the 7 rows of t"},
		{input{"int64", free, sweep.Input{Value: "6"}, 7, false}, ""},
		{input{"int64", free, sweep.Input{Value: "-7"}, 7, false}, ""},
		{input{"int64", free, sweep.Input{Value: "-8"}, 7, false}, "-8 is beyond the 7 rows of t"},
		{input{"int64", []any{}, sweep.Input{File: "ids.npy"}, 0, false}, "its shape is [3], and the model wants []"},
		{input{"int64", free, sweep.Input{File: "reals.npy"}, 0, false}, "reals.npy is float64, and the model wants int64"},
		{input{"int64", free, sweep.Input{File: "flags.npy"}, 0, false}, "flags.npy is bool, and the model wants int64"},
		{input{"float32", free, sweep.Input{File: "ids.npy"}, 0, false}, "ids.npy is int64, and the model wants float32"},
		{input{"float32", free, sweep.Input{File: "texts.npy"}, 0, false}, "texts.npy is <U1, and the model wants float32"},
		{input{"int64", free, sweep.Input{File: "nosuch.npy"}, 0, false}, "nosuch.npy: no such file or directory"},
		{input{"int64", free, sweep.Input{File: "text.npy"}, 0, false}, "text.npy: numpy does not load it: "},
		{input{"int64", free, sweep.Input{File: "objects.npy"}, 0, false}, "objects.npy: numpy does not load it: Object arrays cannot be loaded"},
		{input{"int64", free, sweep.Input{File: "two.npz", Name: "third"}, 0, false}, "two.npz has no array third: it has x, other"},
		{input{"int64", free, sweep.Input{File: "two.npz"}, 0, false}, ""},
		{input{"int64", free, sweep.Input{File: "ids.npy", Name: "x"}, 0, false}, "ids.npy holds one array: want a .npz file"},
		{input{"float32", free, sweep.Input{File: "ids.npy"}, 0, true}, "ids.npy holds one array: want a .npz file"},
		{input{"int64", free, sweep.Input{File: "two.npz", Shape: []string{"3"}}, 0, false}, "its shape is [2], and shape is [3]"},
		{input{"uint8", free, sweep.Input{File: "big.npy"}, 0, false}, "300 does not fit uint8"},
		{input{"uint8", free, sweep.Input{High: "300"}, 0, false}, "299 does not fit uint8"},
		{input{"float16", free, sweep.Input{File: "reals.npy"}, 0, false}, "70000 does not fit float16"},
		{input{"float32", free, sweep.Input{File: "reals.npy"}, 0, false}, ""},
		{input{"float64", free, sweep.Input{Low: "-1e308", High: "1e308"}, 0, false}, "the range from -1e+308 to 1e+308 is too wide for numbers of 64 bits"},
		{input{"float64", free, sweep.Input{Low: "-1e307", High: "1e308"}, 0, false}, ""},
		{input{"uint64", free, sweep.Input{Low: "18446744073709551615", High: "18446744073709551616"}, 0, false}, ""},
		{input{"float32", []any{"M", "K"}, sweep.Input{Shape: []string{"1"}}, 0, false}, "its shape is [1], and the model wants [M,K]"},
		{input{"float32", []any{"batch", 8}, sweep.Input{Shape: []string{"1", "9"}}, 0, false}, "its shape is [1,9], and the model wants [batch,8]"},
		{input{"float32", []any{"n", "n"}, sweep.Input{File: "matrix.npy"}, 0, false}, "its shape is [3,4], and the model wants [n,n] with n 3"},
	}
	asked := make([]input, len(cases))
	for i, c := range cases {
		asked[i] = c.input
	}
	stdin := valuetest.Must(json.Marshal(asked))
	here := valuetest.Must(os.Getwd())
	cmd := exec.Command(interpreter(t, "numpy").Path, "-B", "-c", `
import json, sys, types
import numpy as np
np.save("ids.npy", np.array([6, 0, 3])); np.save("reals.npy", np.array([0.5, 70000])); np.save("big.npy", np.array([1, 300])); np.save("flags.npy", np.array([True]))
np.save("texts.npy", np.array(["x"])); np.save("matrix.npy", np.zeros((3, 4), np.float32)); np.save("objects.npy", np.array([None]), allow_pickle=True)
np.savez("two.npz", x=np.array([1, 2]), other=np.array([5, 4, 3]))
open("text.npy", "w").write("1 2 3\n")
worker = types.ModuleType("neurolens_worker")
worker.LABELS, worker.run_dir = (), "."
class Error(Exception):
    def __init__(self, kind, message): self.message = message
worker.Failure = worker.Unsupported = Error
sys.modules["neurolens_worker"] = worker
def part(name):
    module = sys.modules["neurolens_" + name] = types.ModuleType("neurolens_" + name)
    exec(open(sys.argv[1] + "/" + name + ".py").read(), module.__dict__)
    return module
backends, inputs = part("backends"), part("inputs")
graph, answers = part("onnxgraph"), []
for case in json.load(sys.stdin):
    request = backends.Request("onnxrt", {"model": "m", "inputs": {"x": case["given"]}}, {"param.n": "3"} if "file" not in case["given"] else {}, worker)
    bound = lambda name: graph.Bound(case["rows"], 0, "t", True) if case["rows"] else None
    try:
        inputs.Maker(request, np, backends.Dimensions(request), bound).make([inputs.Input("x", case["kind"], case["shape"], sequence=case["list"])])
        answers.append("")
    except Error as error:
        answers.append(error.message)
print(json.dumps(answers))
`, here)
	cmd.Dir, cmd.Stdin, cmd.Stderr = t.TempDir(), strings.NewReader(string(stdin)), os.Stderr
	out, err := cmd.Output()
	var answers []string
	if err == nil {
		err = json.Unmarshal(out, &answers)
	}
	if err != nil || len(answers) != len(cases) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, c := range cases {
		got := strings.TrimPrefix(answers[i], "inputs.x of m: ")
		if got != c.want && !(strings.HasPrefix(got, c.want) && c.want != "") {
			t.Errorf("%+v: %q, want %q", c.input, answers[i], c.want)
		}
	}
}

// TestNamedDimensions: a dimension is what its name says; a name that says nothing needs a size of its own, and no name leaves
// its place.
func TestNamedDimensions(t *testing.T) {
	dir := inputModels(t)
	for _, c := range []struct {
		model string
		axes  map[string]string
		want  map[string]string // of what is applied; nil: refused
		text  string
		items float64
	}{
		{"matrix.onnx", map[string]string{"param.M": "64"}, nil, "model matrix.onnx: input x is [M,K]: set K, such as with -P K=4", 0},
		{"matrix.onnx", nil, nil, "input x is [M,K]: set M, K, such as with -P M=4 -P K=4", 0},
		{"matrix.onnx", map[string]string{"param.M": "64", "param.K": "2"}, map[string]string{"input.x": "[64,2]", "batch_size": "", "seq_len": ""}, "", 0},
		{"past.onnx", map[string]string{"seq_len": "16"}, nil, "set past_sequence_length, such as with -P past_sequence_length=4", 0},
		{"past.onnx", map[string]string{"batch_size": "2", "param.past_sequence_length": "3"}, map[string]string{"input.x": "[2,3,8]", "batch_size": "2", "seq_len": ""}, "", 2},
		{"image.onnx", map[string]string{"param.N": "2", "param.H": "4"}, map[string]string{"input.x": "[2,3,4]", "batch_size": "2"}, "", 2},
		{"image.onnx", map[string]string{"batch_size": "3", "param.H": "4"}, map[string]string{"input.x": "[3,3,4]", "batch_size": "3"}, "", 3},
		{"image.onnx", map[string]string{"batch_size": "3", "param.N": "2", "param.H": "4"}, nil, "batch_size 3 was requested, but input x of image.onnx has 2", 0},
		{"sum.onnx", map[string]string{"batch_size": "2", "seq_len": "3", "param.past_sequence_length": "0"}, map[string]string{"input.x": "[2,6]", "seq_len": "3"}, "", 2},
		{"sum.onnx", nil, nil, "set past_sequence_length, such as", 0},
		{"torch.onnx", nil, map[string]string{"input.x": "[1,3]", "batch_size": "1"}, "", 1},
		{"torch.onnx", map[string]string{"batch_size": "2"}, map[string]string{"input.x": "[2,3]", "batch_size": "2"}, "", 2},
		{"torch.onnx", map[string]string{"param.s77": "5"}, map[string]string{"input.x": "[5,3]", "batch_size": "5"}, "", 5},
		{"torch.onnx", map[string]string{"param.s77": "5", "batch_size": "2"}, nil, "batch_size 2 was requested, but input x of torch.onnx has 5", 0},
		{"legacy.onnx", map[string]string{"batch_size": "2", "seq_len": "3"}, map[string]string{"input.x": "[2,3]", "batch_size": "2", "seq_len": "3"}, "", 2},
		{"legacy.onnx", map[string]string{"param.batch_dynamic_axes_2": "5"}, map[string]string{"input.x": "[1,5]", "seq_len": "5"}, "", 1},
		{"shared.onnx", map[string]string{"batch_size": "4"}, map[string]string{"input.x": "[4,3]", "input.z": "[5,2,3,4]", "batch_size": "4"}, "", 4},
		{"hw.onnx", nil, nil, "input x is [s77,3,s5,s6]: set s5, s6, such as with -P s5=4 -P s6=4", 0},
		{"matrices.onnx", map[string]string{"batch_size": "4"}, map[string]string{"input.x": "[4,3]"}, "", 4},
		{"none.onnx", map[string]string{"batch_size": "4"}, map[string]string{"input.x": "[4,2]"}, "", 4},
		{"half.onnx", map[string]string{"param.s0": "7"}, map[string]string{"input.x": "[7,4,3,7,49,4,6,3]", "seq_len": ""}, "", 7},
		{"odd.onnx", nil, nil, "input x is [1,ModularIndexing(s0, 2, 3)], and ModularIndexing(s0, 2, 3) cannot be computed: set inputs.x.shape", 0},
		{"odd.onnx", map[string]string{"param.s0": "7"}, nil, "ModularIndexing(s0, 2, 3) cannot be computed: set inputs.x.shape", 0},
		{"third.onnx", map[string]string{"param.s0": "8"}, map[string]string{"input.x": "[1,4]", "seq_len": ""}, "", 0},
		{"third.onnx", nil, nil, "input x is [1,s0/2]: set s0, such as with -P s0=4", 0},
		{"third.onnx", map[string]string{"param.s0": "7"}, nil, "s0/2 cannot be computed: set inputs.x.shape", 0},
		{"deep.onnx", nil, nil, "9**9**9**9 cannot be computed: set inputs.x.shape", 0},
		{"tf.onnx", map[string]string{"batch_size": "2", "seq_len": "3"}, map[string]string{"input.x": "[2,3]", "batch_size": "2", "seq_len": "3"}, "", 2},
		{"second.onnx", nil, nil, "input x is [2,N]: set N, such as with -P N=4", 0},
		{"nameless.onnx", nil, nil, "input x is [?,?,?,?], and a size is not known: set inputs.x.shape", 0},
		{"past.onnx", map[string]string{"param.past_sequence_length": "-1"}, nil, "past_sequence_length: -1 is not an integer of at least 0", 0},
	} {
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: c.model}, c.axes)
		switch {
		case c.want != nil:
			check(t, o, schema.StatusOK, "", "", "")
			checkApplied(t, o, c.want)
			items := 0.0
			if o.Work.Items != nil {
				items = *o.Work.Items
			}
			valuetest.DeepEqual(t, items, c.items, c.model, c.axes)
		case strings.Contains(c.text, "was requested"):
			check(t, o, schema.StatusUnsupported, "setup", "not_applied", c.text)
		default:
			check(t, o, schema.StatusError, "setup", "setup", c.text)
		}
	}
}

// TestSessionOptions: options of the session are set by their names, and read back.
func TestSessionOptions(t *testing.T) {
	dir := inputModels(t)
	settings := Settings{Backend: "onnxrt", Model: "matrix.onnx", Worker: sweep.Worker{Session: &sweep.Session{
		Options: map[string]string{"execution_mode": "parallel", "graph_optimization_level": "basic", "enable_mem_pattern": "false", "optimized_model_filepath": "made.onnx"},
		Sizes:   map[string]string{"M": "5"}, Entries: map[string]string{"session.intra_op.allow_spinning": "0"},
	}}}
	o := runModel(t, dir, settings, map[string]string{"param.K": "2", "param.inter_op_num_threads": "2"})
	check(t, o, schema.StatusOK, "", "", "")
	checkApplied(t, o, map[string]string{
		"execution_mode": "parallel", "session.execution_mode": "parallel", "graph_optimization": "basic", "session.enable_mem_pattern": "false",
		"session.inter_op_num_threads": "2", "session.session.intra_op.allow_spinning": "0", "session.free_dimension_overrides.M": "5",
		"session.optimized_model_filepath": "made.onnx", "input.x": "[5,2]",
	})
	o = runModel(t, dir, Settings{Backend: "onnxrt", Model: "made.onnx"}, map[string]string{"param.K": "2"})
	check(t, o, schema.StatusOK, "", "", "")
	plain := runModel(t, dir, Settings{Backend: "onnxrt", Model: "loop.onnx"}, nil)
	for key := range maps.Keys(plain.Applied) {
		if strings.HasPrefix(key, "session.") {
			t.Errorf("%s is applied, and nobody asked for it", key)
		}
	}
	for _, c := range []struct {
		session sweep.Session
		axes    map[string]string
		kind    string
		text    string
	}{
		{sweep.Session{Sizes: map[string]string{"Q": "5"}}, nil, "not_applied", "session.free_dimension_overrides.Q was requested, but matrix.onnx has K, M"},
		{sweep.Session{Libraries: []string{"ids.npy"}}, nil, "setup", "session.custom_ops_library ids.npy: Failed to load library"},
		{sweep.Session{}, map[string]string{"param.graph_optimization_level": "most"}, "not_applied", "graph_optimization_level most was requested, but onnxruntime has disable_all basic extended "},
		{sweep.Session{}, map[string]string{"param.inter_op_num_threads": "few"}, "setup", "inter_op_num_threads: few is not an integer of at least 0"},
	} {
		status := map[string]schema.Status{"setup": schema.StatusError, "not_applied": schema.StatusUnsupported}[c.kind]
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "matrix.onnx", Worker: sweep.Worker{Session: &c.session}}, c.axes)
		check(t, o, status, "setup", c.kind, c.text)
	}
}

// TestTorchInputs: a TorchScript file gets what is chosen for the arguments of forward, by name.
func TestTorchInputs(t *testing.T) {
	dir := folder(t, map[string]string{"make.py": `
import sys, torch, numpy as np
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))
    def forward(self, ids: torch.Tensor, steps: int, scale: float = 2.0, flag: bool = True):
        y = self.w[ids] * 0
        for _ in range(steps): y = y + scale
        return y if flag else -y
torch.jit.script(M()).save("m.pt")
class Count(torch.nn.Module):
    def forward(self, n: int): return torch.ones(n)
torch.jit.script(Count()).save("count.pt")
np.save("ids.npy", np.array([[2, 0], [1, 1]]))
`})
	make := exec.Command(interpreter(t, "torch", "numpy").Path, "-W", "ignore", "make.py")
	make.Dir = dir
	valuetest.Run(t, make)
	type in = map[string]sweep.Input
	for _, c := range []struct {
		given in
		want  []float64
		text  string
	}{
		{in{"ids": {File: "ids.npy"}, "steps": {Value: "3"}}, []float64{6, 6, 6, 6}, ""},
		{in{"ids": {High: "3", Shape: []string{"2"}}, "steps": {Value: "3"}, "flag": {Value: "false"}}, []float64{-6, -6}, ""},
		{in{"ids": {Value: "1", Shape: []string{"1"}}, "steps": {Value: "0"}, "scale": {Value: "0.5"}}, []float64{0}, ""},
		{in{"steps": {Value: "0"}}, nil, "model m.pt: set inputs.ids too: forward needs it"},
		{in{"ids": {High: "3"}, "steps": {Value: "0"}}, nil, "inputs.ids of m.pt: the model does not say its shape: set inputs.ids.shape"},
		{in{"ids": {File: "ids.npy"}, "steps": {Value: "0.5"}}, nil, "inputs.steps of m.pt: 0.5 does not fit int64"},
	} {
		got, o := runForOutput(t, modelSpec(t, dir, Settings{Backend: "torch", Model: "m.pt", Output: &Output{}, Worker: sweep.Worker{Inputs: c.given}}, nil))
		if c.text != "" {
			check(t, o, schema.StatusError, "setup", "setup", c.text)
			continue
		}
		check(t, o, schema.StatusOK, "", "", "")
		if !slices.Equal(got.Values, c.want) || len(metric(o, "load_time").Ticks) != 1 {
			t.Errorf("%v: got %v, want %v; load_time %+v", c.given, got.Values, c.want, metric(o, "load_time"))
		}
	}
	o := runModel(t, dir, Settings{Backend: "torch", Model: "count.pt"}, map[string]string{"param.n": "3"})
	check(t, o, schema.StatusOK, "", "", "")
	checkApplied(t, o, map[string]string{"values.n": "int64 constant 3", "n": "", "param.n": "3"})
	got, o := runForOutput(t, modelSpec(t, dir, Settings{Backend: "torch", Model: "m.pt", Output: &Output{}, Worker: sweep.Worker{Inputs: in{"ids": {File: "ids.npy"}}}},
		map[string]string{"param.steps": "3"}))
	check(t, o, schema.StatusOK, "", "", "")
	valuetest.DeepEqual(t, got.Values, []float64{6, 6, 6, 6}, "the axis steps")
	check(t, runModel(t, dir, Settings{Backend: "torch", Model: "m.pt"}, map[string]string{"param.steps": "3"}), schema.StatusError, "setup", "setup", "model m.pt: set inputs.ids too: forward needs it")
	o = runModel(t, dir, Settings{Backend: "torch", Model: "m.pt", Worker: sweep.Worker{Inputs: in{"ids": {File: "ids.npy"}, "steps": {Value: "1"}}}}, sized("2", "", ""))
	check(t, o, schema.StatusUnsupported, "setup", "not_applied", "batch_size 2 was requested, but no input of m.pt has that dimension")
}
