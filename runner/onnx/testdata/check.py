"""Runs the models MODEL.PRECISION.onnx of a folder with onnxruntime and compares them with numpy.

Prints a line for each model: its file, and `ok`, `not implemented`, or what is wrong.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoImplementation

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int8)": np.int8}


def weights():
    i, j = np.arange(64)[:, None], np.arange(64)[None, :]
    return ((37 * i + 11 * j) % 31 - 15) / 64, ((5 * np.arange(64)) % 17 - 8) / 16


def quantised(x):
    """x as DynamicQuantizeLinear sees it: steps from a zero point, and the step."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    step = np.float32(high - low) / np.float32(255)
    zero = np.clip(np.rint(-low / step), 0, 255)
    return np.clip(np.rint(x / step) + zero, 0, 255) - zero, np.float64(step)


def expected(name, precision, inputs):
    exact = [x.astype(np.float64) for x in inputs]
    if name == "add":
        a, b = exact
        return np.rint((a + b) / 2) if precision == "int8" else a + b
    w, bias = weights()
    if precision == "int8":
        steps, step = quantised(inputs[0])
        return steps @ (w * 64) * step / 64 + bias
    return exact[0] @ w + bias


def check(path, shape):
    name, precision = path.name.split(".")[:2]
    try:
        session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except NoImplementation:
        return "not implemented"
    rng = np.random.default_rng(7)
    feed = {}
    for info in session.get_inputs():
        size = shape + tuple(info.shape[2:])
        dtype = TYPES[info.type]
        feed[info.name] = rng.integers(-128, 128, size, dtype) if dtype is np.int8 else rng.uniform(-1, 1, size).astype(dtype)
    (got,) = session.run(None, feed)
    want = expected(name, precision, list(feed.values()))
    if got.shape != want.shape:
        return f"shape {got.shape}, want {want.shape}"
    # fp16: half a unit in the last place of the largest result
    bound = {np.float16: 2**-11, np.float64: 1e-14}.get(got.dtype.type, 1e-6) * max(1, np.abs(want).max())
    error = np.abs(got.astype(np.float64) - want).max()
    return "ok" if error <= bound else f"error {error}, at most {bound} expected"


for path in sorted(Path(sys.argv[1]).glob("*.onnx")):
    results = {check(path, shape) for shape in [(1, 1), (2, 3), (8, 128)]}
    print(path.name, ", ".join(sorted(results)))
