package python

import (
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// made runs a Python program that writes files to a new folder.
func made(t *testing.T, script string, modules ...string) (dir string) {
	t.Helper()
	python := interpreter(t, modules...).Path
	dir = folder(t, map[string]string{"made.py": script})
	program := exec.Command(python, "made.py")
	program.Dir = dir
	valuetest.Run(t, program)
	return dir
}

// onnxModels are quantised models, models with bodies and models whose outputs are not finite. A name says what it is: nbits.BITS.LEVEL of
// MatMulNBits, qdq.BITS with weights that the optimiser makes into it, loop of 20 turns.
const onnxModels = `
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

def save(name, nodes, inputs, initializers=(), output=T.FLOAT):
    inputs = [h.make_tensor_value_info(*each) for each in inputs]
    graph = h.make_graph(nodes, "g", inputs, [h.make_tensor_value_info("y", output, None)], list(initializers))
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 21), h.make_opsetid("com.microsoft", 1)], ir_version=10), name + ".onnx")

random = np.random.default_rng(0)
K = N = 512
def nbits(name, bits, kind, *levels):
    nodes, weights = [], [nh.from_array(random.random(N * K // 32).astype(kind), "S")]
    for i, level in enumerate(levels):
        more = {} if level is None else {"accuracy_level": level}
        weights.append(nh.from_array(random.integers(0, 256, (N, K // 32, 4 * bits), "uint8"), "B%d" % i))
        nodes.append(h.make_node("MatMulNBits", ["x" if i == 0 else "t%d" % i, "B%d" % i, "S"], ["y" if i == len(levels) - 1 else "t%d" % (i + 1)],
            domain="com.microsoft", K=K, N=N, bits=bits, block_size=32, **more))
    real = T.FLOAT if kind == "float32" else T.FLOAT16
    save(name, nodes, [("x", real, ["batch", K])], weights, real)
nbits("nbits.4.none", 4, "float32", None)
nbits("nbits.4.0", 4, "float32", 0)
nbits("nbits.4.4", 4, "float32", 4)
nbits("nbits.4.mixed", 4, "float32", 0, 4)
nbits("nbits.4.half", 4, "float16", 0)
for bits, kind in ((4, T.INT4), (8, T.INT8)):
    weights = h.make_tensor("W", kind, [K, N], random.integers(-8, 8, K * N))
    save("qdq.%d" % bits, [h.make_node("DequantizeLinear", ["W", "S"], ["D"], axis=0, block_size=32), h.make_node("MatMul", ["x", "D"], ["y"])],
        [("x", T.FLOAT, ["batch", K])], [weights, nh.from_array(random.random((K // 32, N)).astype("float32"), "S")])
save("constant", [h.make_node("Constant", [], ["table"], value=nh.from_array(np.ones((64, 4), "float16"))), h.make_node("Gather", ["table", "i"], ["y"])],
    [("i", T.INT64, ["batch", 3])], output=T.FLOAT16)
body = h.make_graph([h.make_node("MatMul", ["v", "W"], ["w"]), h.make_node("Identity", ["c"], ["d"])], "body",
    [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("c", T.BOOL, []), h.make_tensor_value_info("v", T.FLOAT, None)],
    [h.make_tensor_value_info("d", T.BOOL, []), h.make_tensor_value_info("w", T.FLOAT, None)], [nh.from_array(np.eye(64, dtype="float32"), "W")])
save("loop", [h.make_node("Loop", ["n", "", "x"], ["v"], body=body), h.make_node("Relu", ["v"], ["u"]), h.make_node("Relu", ["u"], ["y"])],
    [("x", T.FLOAT, [64, 64])], [nh.from_array(np.array(20), "n")])
save("nan", [h.make_node("Log", ["x"], ["y"])], [("x", T.FLOAT, ["batch", 64])])
save("infinite", [h.make_node("Div", ["x", "zero"], ["y"])], [("x", T.FLOAT, ["batch", 64])], [nh.from_array(np.zeros(1, "float32"), "zero")])
save("finite", [h.make_node("Cast", ["x"], ["y"], to=T.INT32)], [("x", T.FLOAT, ["batch", 64])], output=T.INT32)
`

// TestQuantisedModels: a model is of the precision of its weights, and what it computes in is what its kernels do.
func TestQuantisedModels(t *testing.T) {
	dir := made(t, onnxModels, "onnxruntime", "onnx")
	for _, c := range []struct{ model, precision, compute, warning string }{
		{"nbits.4.none", "int4", "fp32", "computed_in_fp32"},
		{"nbits.4.0", "int4", "fp32", "computed_in_fp32"},
		{"nbits.4.4", "int4", "int8", "computed_in_int8"},
		{"nbits.4.mixed", "int4", "fp32+int8", "computed_in_fp32_int8"},
		{"nbits.4.half", "int4", "fp32", "computed_in_fp32"},
		{"qdq.4", "int4", "int8", "computed_in_int8"},
		{"qdq.8", "int8", "int8", ""},
		{"constant", "fp16", "", ""},
		{"loop", "fp32", "fp32", ""},
	} {
		asked := map[string]string{"precision": c.precision}
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: c.model + ".onnx"}, asked)
		check(t, o, schema.StatusOK, "", "", "")
		compute := c.compute
		if c.model == "nbits.4.half" && o.Applied["compute"] == "fp16" { // of processors that have it
			compute, c.warning = "fp16", "computed_in_fp16"
		}
		checkApplied(t, o, map[string]string{"precision": c.precision, "compute": compute})
		valuetest.DeepEqual(t, strings.Join(o.Warnings, " "), c.warning, c.model)
	}
	o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "nbits.4.0.onnx"}, map[string]string{"precision": "int8"})
	check(t, o, schema.StatusUnsupported, "setup", "not_applied", "precision int8 was requested, but nbits.4.0.onnx is int4")
}

// TestComputeOfMatMulNBits: the products are those that are claimed: with another accuracy level than 4 they are of fp32.
func TestComputeOfMatMulNBits(t *testing.T) {
	made(t, onnxModels+`
import onnxruntime
def product(name, weights):
    x = np.random.default_rng(1).uniform(-1, 1, (4, K)).astype("float32")
    y = onnxruntime.InferenceSession(name + ".onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    want = x.astype("float64") @ weights.T
    return abs(y - want).max() / abs(want).max()
def weights(name):
    B, S = (nh.to_array(next(t for t in onnx.load(name + ".onnx").graph.initializer if t.name == n)) for n in ("B0", "S"))
    numbers = np.stack([B & 15, B >> 4], -1).reshape(N, K // 32, 32).astype("float64") - 8
    return (numbers * S.reshape(N, K // 32, 1)).reshape(N, K)
for name, exact in (("nbits.4.none", True), ("nbits.4.0", True), ("nbits.4.4", False)):
    error = product(name, weights(name))
    assert (error < 1e-5) == exact, (name, error)
`, "onnxruntime", "onnx")
}

// TestNodes: nodes are counted once however often they run, and their times are their own.
func TestNodes(t *testing.T) {
	dir := made(t, onnxModels, "onnxruntime", "onnx")
	for _, profiler := range []string{"", "ort"} {
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "loop.onnx", Profile: profiler}, nil)
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{"nodes.CPUExecutionProvider": "5"}) // Loop, MatMul, Identity and twice Relu
		if profiler == "" {
			continue
		}
		counts, total := map[string]int64{}, int64(0)
		for _, op := range o.Ops {
			counts[op.Type] += *op.Count
			total += *op.DurationNS
		}
		valuetest.DeepEqual(t, counts, map[string]int64{"Loop": 40, "MatMul": 800, "Identity": 800, "Relu": 80}, "executions")
		latency, err := strconv.ParseInt(o.Facts["profile.latency_ns"], 10, 64)
		plain, err2 := strconv.ParseInt(o.Facts["profile.unprofiled_ns"], 10, 64)
		if err != nil || err2 != nil || latency <= 0 || plain <= 0 {
			t.Errorf("%v %v: %v", err, err2, o.Facts)
		}
		if stage := *o.Stages.Profile; total <= 0 || total > stage {
			t.Errorf("the times of the nodes are %d ns of a stage of %d ns", total, stage)
		}
	}
}

// TestSelfTimes: what events of ONNX Runtime say, in numbers: times without those of bodies, in bodies too, by thread.
func TestSelfTimes(t *testing.T) {
	runPart(t, `
import json, sys
from neurolens_ort_profile import nodes, operators, place, room, runs

def node(name, ts, dur, tid=1, index=0):
    return {"cat": "Node", "name": name + "_kernel_time", "ts": ts, "dur": dur, "tid": tid,
            "args": {"op_name": name, "provider": "CPU", "node_index": str(index), "output_size": "8"}}

def run(ts, dur):
    return {"cat": "Session", "name": "model_run", "ts": ts, "dur": dur, "tid": 1, "args": {}}

start = [{"cat": "Session", "name": "session_initialization", "ts": 0, "dur": 9, "tid": 1, "args": {}}]
def once(at, slow):
    return [node("MatMul", at + 2, 10 * slow), node("If", at + 30, 0, index=1), node("MatMul", at + 32, 5, 2, index=9), node("Loop", at + 1, 60),
            node("Loop", at + 62, 7, index=3), node("Relu", at + 69, 0), run(at, 70)]
events = start + once(100, 3) + once(200, 1) + once(300, 2)
assert [e["self"] for e in nodes(events)] == [30, 0, 5, 30, 7, 0, 10, 0, 5, 50, 7, 0, 20, 0, 5, 40, 7, 0], [e["self"] for e in nodes(events)]
assert len({place(e) for e in nodes(events)}) == 6
ops = {op["name"]: op for op in operators(events, 5000)}
assert ops["MatMul"]["duration_ns"] == 40000 and ops["MatMul"]["count"] == 4, ops
assert ops["Loop"]["duration_ns"] == 104000 and ops["Loop"]["count"] == 4 and ops["Loop"]["start_ns"] == 206000, ops
assert ops["If"]["count"] == 2 and ops["Loop"]["counters"] == {"output_size": 8.0}

# What comes after the last whole run is of one that the profile has in part.
cut = operators(events + once(400, 1)[:3], 0)
assert {op["name"]: op["count"] for op in cut} == {name: op["count"] for name, op in ops.items()}, cut
assert room(start + once(100, 3)) == (1000000 - 1) // 7 and room(start + once(100, 1)[:3]) == 0
assert [e["ts"] for e in runs(events)] == [100, 200, 300]
`, "ort_profile")
}

// TestProfiled: a pass reports the iterations that the profiler saw, what they took with it and without it, and a factor of 2.
func TestProfiled(t *testing.T) {
	runPart(t, `
import neurolens_profiled as profiled

class Worker:
    def __init__(self): self.facts, self.warnings = {}, []
    def fact(self, key, value): self.facts[key] = value
    def warning(self, word): self.warnings.append(word)

def note(plain, times, iterations):
    worker = Worker()
    profiled.note(worker, plain, profiled.Profile([], times), iterations)
    return [worker.facts["profile." + key] for key in ("iterations", "latency_ns", "unprofiled_ns")], worker.warnings
assert note([5, 90, 6], [11, 12, 800], 3) == ([3, 12, 6], ["profiler_overhead"])
assert note([5, 90, 6], [11, 11, 800], 4) == ([3, 11, 6], ["profile_cut"])
calls = []
assert len(profiled.plain(lambda: calls.append("call"), 7, lambda: calls.append("wait"))) == 7 and calls == ["call", "wait"] * 7
assert len(profiled.plain(int, 1000, None)) == 100
profiled.MOST_PLAIN_NS = 1
assert len(profiled.plain(lambda: sum(range(1000)), 9, None)) == 1
`, "profiled")
}

// runPart runs a program that imports parts of the worker.
func runPart(t *testing.T, script string, parts ...string) {
	t.Helper()
	files := valuetest.Must(workerFiles())
	texts := map[string]string{}
	for _, part := range parts {
		texts["neurolens_"+part+".py"] = string(files[part+".py"])
	}
	program := exec.Command(interpreter(t).Path, "-c", script)
	program.Dir = folder(t, texts)
	valuetest.Run(t, program)
}

// TestProfileThatIsFull: a pass has as many iterations as the profile of ONNX Runtime has room for, says so, and counts what it has. Here the
// room is that of a few iterations: the real one takes minutes to fill.
func TestProfileThatIsFull(t *testing.T) {
	dir := made(t, onnxModels, "onnxruntime", "onnx")
	spec := modelSpec(t, dir, Settings{Backend: "onnxrt", Model: "loop.onnx", Profile: "ort"}, nil)
	full := func(events string) task.Outcome {
		part := string(spec.Program.Files["ort_profile.py"])
		small := strings.Replace(part, "MOST_EVENTS = 1000000", "MOST_EVENTS = "+events, 1)
		if small == part {
			t.Fatal("no such constant")
		}
		cut := spec
		program := *spec.Program
		program.Files = maps.Clone(spec.Program.Files)
		program.Files["ort_profile.py"] = []byte(small)
		cut.Program = &program
		return runSpec(t, cut)
	}
	o := full("500") // of a run with 3 + 2 * 20 nodes, as many events of its executor, and itself; the first is left out
	check(t, o, schema.StatusOK, "", "", "")
	i := slices.IndexFunc(o.Ops, func(op schema.Op) bool { return op.Type == "Loop" })
	if n := o.Facts["profile.iterations"]; i < 0 || n != "6" || strconv.FormatInt(*o.Ops[i].Count, 10) != n || !slices.Contains(o.Warnings, "profile_cut") {
		t.Errorf("%s iterations, warnings %v, ops %+v", n, o.Warnings, o.Ops)
	}
	check(t, full("50"), schema.StatusUnsupported, schema.StageProfile, "not_applied", "profiler ort was requested, but a run of loop.onnx has more events than the 50 that ONNX Runtime keeps")
}

// TestOutputsThatAreNotFinite: outputs of models are looked at, without any reference too.
func TestOutputsThatAreNotFinite(t *testing.T) {
	dir := made(t, onnxModels, "onnxruntime", "onnx")
	for _, c := range []struct {
		model       string
		cold        bool
		least, most int
	}{{"nan.onnx", false, 1, 127}, {"infinite.onnx", false, 128, 128}, {"infinite.onnx", true, 128, 128}, {"finite.onnx", false, 0, 0}} {
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: c.model, Worker: sweep.Worker{ColdStart: c.cold}}, map[string]string{"batch_size": "2"})
		check(t, o, schema.StatusOK, "", "", "")
		count, _ := strconv.Atoi(o.Facts["output.not_finite"])
		checked, noted := o.Facts["output.checked"], slices.Contains(o.Warnings, "output_not_finite")
		if noted != (c.most > 0) || (checked == "128") != noted || count < c.least || count > c.most {
			t.Errorf("%s: %d of %s, warnings %v", c.model, count, checked, o.Warnings)
		}
	}
}

// TestTorchOutputs: a model may return anything: what was measured is a result, and its tensors are what is looked at.
func TestTorchOutputs(t *testing.T) {
	dir := made(t, `
import torch
from typing import Dict, List, NamedTuple, Optional, Tuple
from torch import Tensor, nn

class Pair(NamedTuple):
    a: Tensor
    n: int

class Two(nn.Module):
    def __init__(self): super().__init__(); self.l = nn.Linear(8, 8)
class Tuples(Two):
    def forward(self, x): y = self.l(x); return y, y.argmax(-1)
class Nested(Two):
    def forward(self, x) -> Tuple[List[Tensor], Dict[str, List[Tensor]], Optional[Tensor]]:
        y = self.l(x); return [y, y], {"z": [y / 0]}, None
class Named(Two):
    def forward(self, x): return Pair(self.l(x), 3)
class Nothing(Two):
    def forward(self, x) -> None: self.l(x)
class Mixed(nn.Module):
    def __init__(self): super().__init__(); self.l = nn.Linear(8, 8); self.big = nn.Linear(8, 80, dtype=torch.float64)
    def forward(self, x): return self.big(self.l(x).double())
for model in (Tuples, Nested, Named, Nothing, Mixed):
    torch.jit.script(model()).save(model.__name__ + ".pt")
`, "torch")
	for model, want := range map[string]struct{ output, finite string }{
		"Tuples": {"fp32+int64", ""}, "Nested": {"fp32", "8 of 24"}, "Named": {"fp32", ""}, "Nothing": {"", ""},
	} {
		o := runModel(t, dir, Settings{Backend: "torch", Model: model + ".pt"}, nil)
		check(t, o, schema.StatusOK, "", "", "")
		checkApplied(t, o, map[string]string{"device": "cpu", "output_precision": want.output, "precision": "fp32"})
		finite := ""
		if n := o.Facts["output.not_finite"]; n != "" {
			finite = n + " of " + o.Facts["output.checked"]
		}
		if finite != want.finite || slices.Contains(o.Warnings, "output_not_finite") != (finite != "") {
			t.Errorf("%s: %q not finite, want %q; warnings %v", model, finite, want.finite, o.Warnings)
		}
	}
	o := runModel(t, dir, Settings{Backend: "torch", Model: "Mixed.pt"}, nil)
	check(t, o, schema.StatusOK, "", "", "")
	checkApplied(t, o, map[string]string{"precision": "fp64", "compute": "fp32+fp64"})
}

// TestFiniteness: outputs of every kind are looked at with bounded work, without an exception.
func TestFiniteness(t *testing.T) {
	interpreter(t, "torch")
	runPart(t, `
import dataclasses
import numpy, torch
import neurolens_finite as finite

nan, inf = float("nan"), float("inf")
@dataclasses.dataclass
class Output:
    logits: object
    rest: object = None
@dataclasses.dataclass
class Slots:
    __slots__ = ("a",)
    a: object
def f(value): return finite.not_finite(value)
assert f(None) == (0, 0) and f("text") == (0, 0) and f(object()) == (0, 0)
assert f(nan) == (1, 1) and f([1.0, inf, 2]) == (1, 2)
assert f({"a": numpy.array([nan, 1], "float16"), "b": (torch.tensor([inf, -inf, 0]),)}) == (3, 5)
assert f(Output(torch.tensor(nan), [numpy.float64(1)])) == (1, 2) and f(Slots(numpy.array(inf))) == (1, 1)
assert f(torch.tensor([1, 2])) == (0, 0) and f(numpy.array(["a"])) == (0, 0)
assert f(torch.tensor([nan, 1], dtype=torch.bfloat16)) == (1, 2) and f(torch.tensor([complex(nan, 1)])) == (1, 1)
assert f(torch.tensor([[0, nan], [0, 0]]).to_sparse()) == (1, 1)
assert f(torch.tensor([nan, 1]).to(torch.float8_e5m2)) == (1, 2)
assert f(torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.qint8)) == (0, 0)
assert f(torch.empty(0)) == (0, 0) and f(numpy.ones((2, 3)).T) == (0, 6) and f(torch.ones(2, 3, requires_grad=True)) == (0, 6)
assert f(torch.nested.nested_tensor([torch.ones(2)])) == (0, 0) and f(torch.eye(3).to_sparse_csr()) == (0, 0)
assert f(torch.ones(2, device="meta")) == (0, 0)
loop = [nan]; loop.append(loop); assert f(loop) == (1, 1)
deep = nan
for _ in range(9000): deep = [deep]
assert f(deep) == (1, 1)
assert f([nan] * 100000) == (10000, 10000)
finite.MOST_VALUES = 1000
assert f(numpy.full((300, 300), nan)) == (900, 900) or f(numpy.full((300, 300), nan))[1] <= 1000
assert 0 < f(torch.tensor(nan).expand(1 << 20, 1 << 20))[0] <= 1000
values = numpy.ones(5000); values[::2] = nan
count, checked = f([values, torch.ones(5000)])
assert 0 < count <= checked <= 1000, (count, checked)
`, "returned", "finite")
}
