package python

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// made runs a Python program that writes files to a new folder.
func made(t *testing.T, script string, modules ...string) (dir string) {
	t.Helper()
	python := interpreter(t, modules...).Path
	dir = folder(t, map[string]string{"made.py": script})
	program := exec.Command(python, "made.py")
	program.Dir = dir
	if out, err := program.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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
		if got := strings.Join(o.Warnings, " "); got != c.warning {
			t.Errorf("%s: warnings %q, want %q", c.model, got, c.warning)
		}
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
