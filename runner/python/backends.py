"""Backends: a model that ONNX Runtime, PyTorch or TensorRT runs, in the form that the worker measures.

load() returns an object with setup, benchmark_fn, teardown, applied, work, version and, except for TensorRT, profile. It has
no validate_result, because a model comes without an expected result. A backend never measures something other than what was
requested: a setting that it cannot apply is worker.Unsupported, an error in a model is worker.Failure, and applied() reads
back what really ran.

Each backend is in its own file, backend_NAME.py. inputs.py makes the inputs, onnxgraph.py reads what a graph says of them, and
ort_session.py has the options of ONNX Runtime. This file has what they share: reading the request, importing a framework,
the dimensions of the inputs, and the work of the models that the runner generates.
"""
import ast
import fractions
import importlib
import math
import operator
import os
import re
import sys

from neurolens_worker import LABELS

NAMES = ("onnxrt", "torch", "tensorrt")
PROFILERS = {"onnxrt": "ort", "torch": "torch"}
BUILTIN = "builtin:"
DIM = 64  # of tiny_linear as the runner makes it
SEED = 42  # of the inputs, where none is asked for
SIZES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "int8": 1}  # B of a number


def load(settings, config, worker):
    """The backend and model that the settings name."""
    name = settings["backend"]
    if name not in NAMES:
        raise worker.Failure("setup", "backend %s: want one of %s" % (name, " ".join(NAMES)))
    profiler = settings.get("profile")
    if profiler in PROFILERS.values() and profiler != PROFILERS.get(name):
        raise worker.Unsupported("not_applied", "profiler %s was requested, but %s has %s" % (
            profiler, name, PROFILERS.get(name, "none")))
    return worker.part("backend_" + name).Backend(Request(name, settings, config, worker))


class Request:
    """The request to a backend. An axis that nothing uses is refused, so that no axis is only a label."""

    def __init__(self, backend, settings, config, worker):
        self.backend, self.settings, self.config, self.worker = backend, settings, config, worker
        self.taken = {}  # the axes that the backend used, in the text of config
        self.model = settings.get("model", "")
        self.builtin = self.model[len(BUILTIN):] if self.model.startswith(BUILTIN) else None
        made = settings.get("model_file")  # by the runner, for builtin:NAME
        self.file = os.path.join(worker.run_dir, made) if made else self.model
        self.seed = SEED if settings.get("seed") is None else settings["seed"]

    def axis(self, key):
        """The text of an axis, which then counts as applied; None if it is not set."""
        if key in self.config:
            self.taken[key] = self.config[key]
        return self.config.get(key)

    def size(self, key, least=1):
        """An axis that is an integer of at least 1, or 0; None if it is not set."""
        text = self.axis(key)
        if text is None:
            return None
        if not re.match("(0|[1-9][0-9]*)$", text) or int(text) < least:
            raise self.failure("%s: %s is not %s" % (
                key.replace("param.", ""), text, "a positive integer" if least else "an integer of at least 0"))
        return int(text)

    def option(self, name):
        """A setting, which an axis of that name overrides; None if neither is set."""
        text = self.axis("param." + name)
        return self.settings.get(name) or None if text is None else text

    def threads(self):
        """The requested threads, else the number of processors that this process may use: a library's default is unknown."""
        asked = self.size("param.threads") or self.settings.get("threads")
        if asked:
            return asked
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:  # not on Linux
            return os.cpu_count()

    def flush_l2(self, on_cuda, auto):
        """on or off: whether the worker's timing empties the L2 cache of a CUDA device before each iteration. Timing with CUDA
        events can do it, that of Triton always does. auto: the worker would choose CUDA events itself."""
        asked, timing = self.settings.get("flush_l2"), self.settings.get("timing") or "auto"
        if asked and not on_cuda:
            raise self.not_applied("flush_l2 was requested, but works only on a CUDA device")
        if asked and timing not in ("cuda_event", "triton") and not (auto and timing == "auto"):
            raise self.not_applied("flush_l2 was requested, but needs timing cuda_event")
        return "on" if asked or timing == "triton" else "off"

    def refuse_unused(self):
        """Refuses axes that neither the backend nor a text of the sweep uses."""
        unused = {name.replace("param.", "") for name in set(self.config) - set(self.taken) - set(LABELS)}
        unused -= set(self.settings.get("used") or ())
        if unused:
            raise self.not_applied("%s has no parameter %s" % (self.backend, ", ".join(sorted(unused))))

    def check_precision(self, of_inputs, tf32=False):
        """The precision of an ONNX model: what its file says, else, for another format, the first of its inputs that has one. Refuses
        the model if another precision is asked for. tf32: that is how fp32 is computed."""
        described = self.settings.get("described")
        precision = described["precision"] if described is not None else next(filter(None, of_inputs), None)
        if precision == "fp32" and tf32:
            precision = "tf32"
        asked = self.axis("precision")
        if asked and asked != precision:
            raise self.not_applied("precision %s was requested, but %s is %s" % (
                asked, self.model, precision or "of unknown precision"))
        return precision or None

    def note_computed(self, applied, precision, found):
        """Adds the precisions, a set, in which the kernels computed, and warns if that of the model is not among them."""
        if not found:
            return
        applied["compute"] = "+".join(sorted(found))
        if precision and precision not in found:
            self.worker.warning("computed_in_" + "_".join(sorted(found)))

    def note_load(self, took):
        """Reports how long the model took to load, in ns. A profiler's pass has no samples."""
        if not self.settings.get("profile"):
            self.worker.metric("load_time", "ns", [took], better="lower", clock="perf_counter", level="process")

    # Errors that end a point.

    def failure(self, text):
        return self.worker.Failure("setup", text)

    def model_failure(self, text):
        return self.failure("model %s: %s" % (self.model, " ".join(text.split())))

    def input_failure(self, name, text):
        return self.failure("inputs.%s of %s: %s" % (name, self.model, text))

    def not_applied(self, text):
        return self.worker.Unsupported("not_applied", text)

    def not_implemented(self, text):
        return self.worker.Unsupported("not_implemented", text)

    def find_file(self):
        """The path of the model. Errors are short, unlike those of the frameworks."""
        if self.builtin and not self.settings.get("model_file"):
            raise self.model_failure("no such model")
        if not os.path.exists(self.file):
            raise self.model_failure("no such file")
        if os.path.isdir(self.file):
            raise self.model_failure("is a directory")
        return self.file


def framework(worker, module, package):
    """Imports a framework. If it is missing, the run fails with the command that installs it."""
    python = sys.executable or "python3"
    install = "%s -m pip install %s" % (python, package)
    try:
        return importlib.import_module(module)
    except Exception as error:  # a wheel without its libraries raises OSError, ValueError and others
        text = "%s is not installed for %s: %s" % (module, python, install)
        if not isinstance(error, ModuleNotFoundError) or error.name != module:
            why = (str(error).strip().splitlines() or [type(error).__name__])[0]
            text = "%s does not load in %s (%s): %s" % (module, python, why, install)
        if worker.settings.get("optional"):
            raise worker.Skipped("absent", text)
        raise worker.Failure("not_installed", text)


class Dimensions:
    """Fills in the free dimensions of a model's inputs.

    A free dimension with the name of an axis is that axis. One called batch... or bs is batch_size, and so is N, n, B, b or bsz as
    the first of a tensor; one called seq... is seq_len. Both are 1 where they are not asked for. An expression such as
    past_sequence_length + 1 or s0//2 is computed. Any other name needs an axis. Of the dimensions without a name, or with one that
    an exporter generated, the first of a tensor is batch_size, the second of one of rank 2 or 3 is seq_len. A generated name has the
    same size in all inputs.

    A dimension that the model fixes cannot be chosen. The first of a tensor, and the second of one of rank 3 or of
    integers of rank 2, are what they may be asked for as. An array of the user's fixes the free dimensions too.
    """

    def __init__(self, request):
        self.request = request
        self.asked = {"batch_size": request.size("batch_size"), "seq_len": request.size("seq_len")}
        self.applied = {}  # batch_size and seq_len as the inputs have them, text
        self.fixed = {}  # the same of inputs that leave no choice: input and size
        self.given = {}  # sizes that arrays of the user have, by the name of the dimension, or batch_size and seq_len
        self.missing = {}  # names without a size -> the input that needs it
        self.roles = {}  # batch_size or seq_len, by the names that are one of them because of a place that they have

    def learn(self, shapes):
        """Notes the names that are batch_size or seq_len because of their place in one of the shapes; batch_size comes first."""
        for role in ("batch_size", "seq_len"):
            for shape in shapes:
                for axis, title in enumerate(shape):
                    if isinstance(title, str) and has_place(title) and role_of(title, axis, len(shape)) == role:
                        self.roles.setdefault(title, role)

    def role(self, title, axis, rank):
        return self.roles.get(title) or role_of(title, axis, rank)

    def observe(self, name, shape, array):
        """Notes the shape of an array of the user's, which has to fit the model's input."""
        if len(shape) != len(array):
            raise self.request.input_failure(name, "its shape is %s, and the model wants %s" % (spell(array), spell(shape)))
        for axis, (size, given) in enumerate(zip(shape, array)):
            title = size if isinstance(size, str) else ""
            known, role = size, None
            if not isinstance(size, int) or size < 0:
                known = self.request.size("param." + title, 0) if title else None
                if known is None and (is_name(title) or is_generated(title)):
                    known = self.given.setdefault(title, given)
                role = self.role(title, axis, len(shape))
            if known not in (None, given):
                raise self.request.input_failure(name, "its shape is %s, and the model wants %s%s" % (
                    spell(array), spell(shape), " with %s %d" % (title, known) if title else ""))
            if role:
                self.given.setdefault(role, given)
                self.take(role, name, given)

    def fill(self, name, shape, tokens):
        """The shape of an input, with integers instead of names, None or -1. tokens: it holds integers."""
        filled = []
        for axis, size in enumerate(shape):
            if isinstance(size, int) and size >= 0:
                if axis == 0 or axis == 1 and (len(shape) == 3 or tokens and len(shape) == 2):
                    self.fixed.setdefault(("batch_size", "seq_len")[axis], (name, size))
                filled.append(size)
            else:
                filled.append(self.choose(name, axis, size if isinstance(size, str) else "", shape))
        return filled

    def choose(self, name, axis, title, shape):
        """The size of the free dimension called title, which may be empty. axis: its place, if it has one."""
        size = self.request.size("param." + title, 0) if title else None
        if size is None and (is_name(title) or is_generated(title)):
            size = self.given.get(title)
        if size is None and operation(title):
            size = self.computed(name, operation(title), shape)
        role = self.role(title, axis, len(shape))
        if size is None and role:
            size = self.asked[role] or self.given.get(role, 1)
        if size is None:
            self.missing.setdefault("" if is_nameless(title) else title, (name, shape))
            return 1
        if role:
            self.take(role, name, size)
        return size

    def take(self, role, name, size):
        """Notes batch_size or seq_len of an input, which has to be what was asked for."""
        if self.asked[role] not in (None, size):
            raise self.request.not_applied("%s %d was requested, but input %s of %s has %d" % (
                role, self.asked[role], name, self.request.model, size))
        self.applied.setdefault(role, str(size))

    def computed(self, name, node, shape):
        """The value of an expression, at least 0; None if it is no integer, or too large. 1 if one of its names has no size, which is then
        among the missing ones."""
        try:
            value = self.value(name, node, shape)
        except (ArithmeticError, TypeError, RecursionError):  # TypeError: a function with too few or too many arguments
            value = None
        if any(isinstance(each, ast.Name) and each.id in self.missing for each in ast.walk(node)):
            return 1
        return max(0, int(value)) if value is not None and value == int(value) else None

    def value(self, name, node, shape):
        """The value of a part of an expression. Fractions are exact, as in floor(s0/2)."""
        if isinstance(node, ast.Name):
            return self.choose(name, None, node.id, shape)
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.Call):
            value = FUNCTIONS[node.func.id](*(self.value(name, each, shape) for each in node.args))
        elif isinstance(node, ast.UnaryOp):
            value = -self.value(name, node.operand, shape)
        else:
            value = OPERATIONS[type(node.op)](*(self.value(name, side, shape) for side in (node.left, node.right)))
        if abs(value) > MOST:
            raise OverflowError
        return value

    def check(self):
        """Refuses free dimensions without a size, and a requested size if no input has such a dimension, or if an input has
        another size there."""
        if self.missing:
            raise self.request.model_failure(self.unknown())
        if self.request.builtin == "tiny_linear":
            for key in ("param.dim", "param.tensor_dimension"):
                if self.request.size(key) not in (None, DIM):
                    raise self.request.not_applied("%s %s was requested, but %s has %d" % (
                        key.replace("param.", ""), self.request.config[key], self.request.model, DIM))
        for role, asked in self.asked.items():
            if asked is None or role in self.applied:
                continue
            if role not in self.fixed and self.request.settings.get("inputs") and role in (self.request.settings.get("used") or ()):
                self.applied[role] = str(asked)  # in the shape or the file of an input
                continue
            if role not in self.fixed:
                raise self.request.not_applied("%s %d was requested, but no input of %s has that dimension" % (
                    role, asked, self.request.model))
            name, size = self.fixed[role]
            if size != asked:
                raise self.request.not_applied("%s %d was requested, but input %s of %s has %d" % (
                    role, asked, name, self.request.model, size))
            self.applied[role] = str(size)

    def unknown(self):
        """Says how to set the dimensions without a size."""
        where = {name: spell(shape) for name, shape in self.missing.values()}
        where = ", ".join("input %s is %s" % each for each in where.items())
        for title, (name, _) in self.missing.items():
            if not is_name(title):
                what = "%s cannot be computed" % title if title else "a size is not known"
                return "%s, and %s: set inputs.%s.shape" % (where, what, name)
        return "%s: set %s, such as with %s" % (
            where, ", ".join(self.missing), " ".join("-P %s=4" % name for name in self.missing))


MOST = 1 << 63  # of a value in an expression: models come from others


def divide(a, b):
    return fractions.Fraction(a) / b


def power(a, b):
    if not 0 <= b <= 64 or b != int(b):
        raise OverflowError
    return a ** int(b)


OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: divide, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: power,
}
FUNCTIONS = {
    "floor": math.floor, "ceil": math.ceil, "ceiling": math.ceil, "Max": max, "Min": min, "max": max, "min": min,
    "FloorDiv": operator.floordiv, "Mod": operator.mod,
}
FIRST = ("N", "n", "B", "b", "bsz")  # the batch, as the first dimension of a tensor


def is_nameless(title):
    """Whether a dimension has no name, also as exporters write it."""
    return title in ("", "?", "None", "-1")


def is_generated(title):
    """Whether a dimension has a name that an exporter made up: s77 and u0, image_dynamic_axes_1, unk__12, x.0."""
    return bool(re.match(r"([su]\d+|.*_dynamic_axes_\d+|unk__\d+|\w+\.\d+)$", title, re.ASCII))


def is_name(title):
    """Whether a dimension can be an axis by its name."""
    return bool(re.match(r"[A-Za-z_][\w-]*$", title, re.ASCII)) and not is_nameless(title)


def operation(title):
    """The expression that a dimension is called; None if it is none that can be computed."""
    if is_name(title) or is_generated(title) or is_nameless(title):
        return None
    try:
        node = ast.parse(title, mode="eval").body
        return node if readable(node) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def readable(node):
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATIONS and readable(node.left) and readable(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and readable(node.operand)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords and all(map(readable, node.args))
    return isinstance(node, ast.Name) or isinstance(node, ast.Constant) and type(node.value) is int


def has_place(title):
    """Whether the place of a named dimension says what it is."""
    return is_generated(title) or title in FIRST


def role_of(title, axis, rank):
    """batch_size or seq_len, if a free dimension is one of them, else None. axis: its place, if it has one."""
    if is_nameless(title) or is_generated(title):
        return "batch_size" if axis == 0 else "seq_len" if axis == 1 and rank in (2, 3) else None
    if not is_name(title):
        return None
    word = title.lower()
    if word.startswith("seq"):
        return "seq_len"
    return "batch_size" if word.startswith("batch") or word == "bs" or title in FIRST and axis == 0 else None


def spell(shape):
    """A shape as text: [batch,3,224]."""
    return "[%s]" % ",".join(str(size) if size is not None else "?" for size in shape)


def work(request, applied, precision, dim=DIM):
    """The work of one iteration. Bytes and flops are known for the models that the runner generates, by the formulas of its own
    backend: every input read once and every output written once, additions and multiplications."""
    batch, seq = (int(applied[key]) if key in applied else None for key in ("batch_size", "seq_len"))
    done = {"items": float(batch)} if batch else {}
    if request.builtin not in ("add", "tiny_linear") or not batch or not seq:
        return done
    tokens, size = batch * seq, SIZES[precision]
    if request.builtin == "add":
        done.update(bytes=3 * tokens * size, flops=float(tokens))
    else:
        outside = 4 if precision == "int8" else size  # only the matrix is int8
        done["bytes"] = 2 * tokens * dim * outside + dim * dim * size + dim * outside
        done["flops"] = float(tokens * dim * (2 * dim + 1))
    return done
