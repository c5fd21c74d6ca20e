"""PyTorch: torch.nn.Linear as builtin:tiny_linear, an addition as builtin:add, or a TorchScript file.

The model is converted to the requested precision. The resulting type of its parameters is read back, and the precision in
which its operators compute is read from the profile of one more run. A TorchScript file does not describe its input, so it
gets one tensor [batch_size, seq_len, dim]. dim is an axis of that name, else the second dimension of its first parameter
that has two. A model that needs others gets what the key inputs and the axes say, by the names of the arguments of forward.
"""
import contextlib
import json
import os
import time
import warnings

from neurolens_backends import DIM, Dimensions, framework, work

DTYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16"}
REALS = {"double": "fp64", "float": "fp32", "c10::Half": "fp16", "c10::BFloat16": "bf16"}  # as the profiler has them
MOVES = frozenset((  # operators that compute nothing
    "_reshape_alias _to_copy _unsafe_view alias as_strided cat chunk clone contiguous copy_ detach empty_like expand "
    "expand_as flatten index_select narrow permute reshape resolve_conj resolve_neg select slice split squeeze stack t to "
    "transpose unsqueeze unsafe_split view view_as zeros_like").split())
AMPERE = 8  # the first compute capability with tf32


class Backend:
    """A module with its inputs, and the settings read back from it."""

    def __init__(self, request):
        self.request, self.worker = request, request.worker
        self.torch = framework(self.worker, "torch", "torch")
        self.load_time = None  # of a file, in ns

    def setup(self):
        request, torch = self.request, self.torch
        self.device = self.choose_device()
        self.on_cuda = self.device.type == "cuda"
        self.flush_l2 = request.flush_l2(self.on_cuda, auto=True)
        self.asked_precision = request.axis("precision")
        self.allow_tf32()
        # Devices draw numbers of their own: outputs that are compared need the same weights and inputs on each of them.
        self.source = self.device if request.settings.get("output") is None else "cpu"
        torch.manual_seed(request.seed)
        torch.set_num_threads(request.threads())
        self.inference = torch.inference_mode()  # for the whole of the run: entering it takes time
        self.inference.__enter__()
        with warnings.catch_warnings():  # TorchScript and quantisation are deprecated, which is no news here
            warnings.simplefilter("ignore")
            self.model, shapes = self.build()
        if shapes is None:
            self.make_inputs()
        else:
            self.inputs = {name: self.numbers(shape) for name, shape in shapes.items()}
            self.held = {name: "%s uniform -1..1 by default" % str(t.dtype).replace("torch.", "") for name, t in self.inputs.items()}
        request.refuse_unused()
        self.result = None
        if not request.settings.get("cold_start"):  # the first run is to be measured there
            self.benchmark_fn()
        if self.load_time is not None:
            request.note_load(self.load_time)

    def choose_device(self):
        """The requested device, else CUDA if there is one, else the CPU."""
        torch, request = self.torch, self.request
        if request.option("provider"):
            raise request.not_applied("provider %s was requested, but torch has no providers: use device" %
                                      request.option("provider"))
        there = ["cpu"] + ["cuda:%d" % index for index in range(torch.cuda.device_count())]
        if hasattr(torch.backends, "mps") and torch.backends.mps.is_available():
            there.append("mps:0")
        asked = request.option("device") or ("cuda" if len(there) > 1 and there[1] == "cuda:0" else "cpu")
        if asked not in there and asked + ":0" not in there:
            raise request.not_applied("device %s was requested, but torch %s has %s" % (
                asked, torch.__version__, " ".join(there)))
        device = torch.device(asked)
        if device.type == "cuda":
            torch.cuda.set_device(device.index or 0)  # what the worker waits for is the current one
        return device

    def allow_tf32(self):
        """Allows tf32 only if it is requested: fp32 means fp32."""
        asked = self.asked_precision == "tf32"
        if asked and not self.has_tf32():
            raise self.request.not_applied("precision tf32 was requested, but %s does not support it" % self.device)
        if self.on_cuda:
            self.torch.backends.cuda.matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = asked

    def has_tf32(self):
        return self.on_cuda and self.torch.cuda.get_device_capability()[0] >= AMPERE

    # The model.

    def build(self):
        """The model on its device in its precision, and the shapes of its inputs by name."""
        request, torch = self.request, self.torch
        self.sizes, self.dim = {}, DIM
        given = request.settings.get("inputs")
        if given and request.builtin:
            raise request.not_applied("inputs.%s was requested, but %s has inputs of its own" % (next(iter(given)), request.model))
        model = None if request.builtin else self.loaded()
        if model is not None and self.named(model):
            return self.converted(model.eval()), None
        if not given:
            batch, seq = request.size("batch_size") or 1, request.size("seq_len") or 1
            self.sizes = {"batch_size": str(batch), "seq_len": str(seq)}
        if request.builtin == "add":
            model = self.converted(addition(torch))
            return model, {"a": [batch, seq], "b": [batch, seq]}
        if request.builtin == "tiny_linear":
            key = "param.tensor_dimension" if "param.tensor_dimension" in request.config else "param.dim"
            self.dim = request.size(key) or DIM
            model = torch.nn.Sequential(torch.nn.Linear(self.dim, self.dim, device=self.source)).to(self.device)
        elif request.builtin is None:
            self.dim = self.last_dimension(model)
        else:
            raise request.model_failure("torch has builtin:add and builtin:tiny_linear")
        return self.converted(model.eval()), {"x": [batch, seq, self.dim]}

    def loaded(self):
        path = self.request.find_file()
        if path.lower().endswith(".onnx"):
            raise self.request.model_failure("torch reads TorchScript only: for an ONNX file, use backend: onnxrt")
        try:
            began = time.perf_counter_ns()
            model = self.torch.jit.load(path, map_location=self.device)
            self.load_time = time.perf_counter_ns() - began
            return model
        except (RuntimeError, ValueError, EOFError) as error:
            raise self.request.model_failure("not TorchScript: " + first_line(error).partition(". ")[0])

    def named(self, model):
        """The names of the inputs that the key inputs or an axis says something of; an axis dim is the last dimension."""
        names = dict.fromkeys(self.request.settings.get("inputs") or ())
        schema = getattr(getattr(model, "forward", None), "schema", None)  # without one, calling the model says what is wrong
        arguments = [argument.name for argument in schema.arguments[1:]] if schema else []
        names.update((name, None) for name in arguments if name != "dim" and "param." + name in self.request.config)
        return list(names)

    def make_inputs(self):
        """The arguments of forward that the key inputs or an axis names. Those between them that are left out have their defaults."""
        request, parts = self.request, self.worker.part("inputs")
        numpy = framework(self.worker, "numpy", "numpy")
        arguments = self.model.forward.schema.arguments[1:]
        given = self.named(self.model)
        plain = {"int": "int64", "float": "float64", "bool": "bool"}
        inputs = []
        for argument in arguments:
            kind = plain.get(str(argument.type))
            if argument.name in given:
                inputs.append(parts.Input(argument.name, kind or str(self.real()).replace("torch.", ""), [] if kind else None))
            elif not argument.has_default_value():
                raise request.model_failure("set inputs.%s too: forward needs it" % argument.name)
        dimensions = Dimensions(request)
        maker = parts.Maker(request, numpy, dimensions, lambda name: None)
        made = maker.make(inputs)
        self.sizes, self.held, self.inputs = dimensions.applied, maker.held, {}
        last = max(place for place, argument in enumerate(arguments) if argument.name in made)
        for argument in arguments[:last + 1]:
            value = made.get(argument.name)
            if value is None:
                value = argument.default_value
            elif str(argument.type) in plain:
                value = value.item()
            else:
                kind = next(each.kind for each in inputs if each.name == argument.name)
                value = parts.tensor(self.torch, value, kind).to(self.device)
            self.inputs[argument.name] = value

    def last_dimension(self, model):
        asked = self.request.size("param.dim")
        if asked is None:
            asked = next((p.shape[1] for p in model.parameters() if p.dim() == 2), None)
        if asked is None:
            raise self.request.model_failure("set the last dimension of its input with an axis dim")
        return asked

    def converted(self, model):
        """The model in the requested precision, else in its own."""
        precision, request = self.asked_precision, self.request
        if precision == "int8" and request.builtin == "tiny_linear":
            return self.quantised(model)
        if precision and precision not in DTYPES:
            raise request.not_implemented("precision %s: torch runs %s on %s in %s" % (
                precision, request.model, self.device, " ".join(self.precisions())))
        return model.to(getattr(self.torch, DTYPES[precision])) if precision else model

    def precisions(self):
        """The precisions in which the model can run here."""
        own = [name for name in DTYPES if name != "tf32" or self.has_tf32()]
        return own + ["int8"] * (self.request.builtin == "tiny_linear" and self.device.type == "cpu")

    def quantised(self, model):
        """Dynamic quantisation: int8 weights, activations quantised as they come. The product of two int8 tensors is no
        substitute: it wraps."""
        if self.device.type != "cpu":
            raise self.request.not_implemented("precision int8: torch quantises on the CPU only")
        try:
            return self.torch.ao.quantization.quantize_dynamic(model, {self.torch.nn.Linear}, dtype=self.torch.qint8)
        except (AttributeError, ImportError, RuntimeError) as error:
            raise self.request.not_implemented("precision int8: torch %s: %s" % (
                self.torch.__version__, first_line(error)))

    def numbers(self, shape):
        """Numbers in [-1, 1) of the type of the model's parameters."""
        return self.torch.rand(shape, device=self.source).mul_(2).sub_(1).to(self.device, self.real())

    def real(self):
        """The type of the model's parameters, else that of the requested precision."""
        dtype = next((p.dtype for p in self.model.parameters() if p.is_floating_point()), None)
        return dtype or getattr(self.torch, DTYPES.get(self.asked_precision, "float32"))

    # The measured function.

    def benchmark_fn(self):
        self.result = None  # so that its memory is there for the next one
        try:
            self.result = self.model(*self.inputs.values())  # the worker's timing waits for the device
        except RuntimeError as error:
            raise self.translated(error)

    def output(self):
        """The output of one more run."""
        self.benchmark_fn()
        return self.result

    def translated(self, error):
        """The error for an exception. A missing kernel makes the point unsupported. The last line of TorchScript is the error."""
        lines = str(error).strip().splitlines() or [""]
        text = lines[-1 if "TorchScript" in lines[0] else 0]
        if isinstance(error, NotImplementedError) or "not implemented for" in str(error):
            return self.request.not_implemented("%s on %s: %s" % (self.request.model, self.device, text))
        if "out of memory" in str(error):
            return error
        kind = "setup" if self.worker.stage == "setup" else "raise"
        return self.worker.Failure(kind, "model %s: %s" % (self.request.model, text))

    def teardown(self):
        self.model = self.inputs = self.result = None
        self.inference.__exit__(None, None, None)

    # The applied settings.

    def precision(self):
        """The type of most weights, else of the inputs."""
        torch = self.torch
        if self.request.builtin == "tiny_linear" and callable(self.model[0].weight):  # a quantised layer
            return {torch.qint8: "int8"}.get(self.model[0].weight().dtype)
        counts = {}
        for p in self.model.parameters():
            if p.is_floating_point():
                counts[p.dtype] = counts.get(p.dtype, 0) + p.numel()
        if counts:
            return self.word(max(counts, key=counts.get))
        types = [t.dtype for t in self.inputs.values() if isinstance(t, torch.Tensor)]
        return self.word(types[0]) if types else None

    def word(self, dtype):
        """The precision of a type; fp32 is tf32 if that is allowed."""
        words = {getattr(self.torch, name): word for word, name in DTYPES.items() if word != "tf32"}
        word = words.get(dtype, str(dtype).replace("torch.", ""))
        return "tf32" if word == "fp32" and self.asked_precision == "tf32" else word

    def computed(self):
        """The precisions that the operators of one more run computed in: of each the type of its first tensor of reals;
        int8 of those that multiply quantised tensors."""
        with silence(), self.torch.autograd.profiler.profile(record_shapes=True) as trace:
            self.benchmark_fn()
        found = set()
        for event in trace.function_events:
            space, _, name = event.name.rpartition("::")
            reals = [REALS[kind] for kind in getattr(event, "input_dtypes", ()) if kind in REALS]
            if space == "quantized":
                found.add("int8")
            elif space and reals and name not in MOVES:
                found.add("tf32" if reals[0] == "fp32" and self.asked_precision == "tf32" else reals[0])
        return found

    def applied(self):
        torch, finite = self.torch, self.worker.part("finite")
        outputs = finite.tensors(self.result)  # it may be a tuple, a dict, or nothing
        finite.note(self.worker, self.result)
        applied = dict(self.request.taken, **self.sizes)
        applied.update(precision=self.precision(), threads=str(torch.get_num_threads()))
        applied["device"] = str(outputs[0].device if outputs else self.device)
        if outputs:
            applied["output_precision"] = "+".join(sorted({self.word(tensor.dtype) for tensor in outputs}))
        self.request.note_computed(applied, applied["precision"], self.computed())
        for name, value in self.inputs.items():
            if isinstance(value, torch.Tensor):
                applied["input." + name] = json.dumps(list(value.shape), separators=(",", ":"))
        applied.update(("values." + name, text) for name, text in self.held.items())
        if self.on_cuda:
            applied["flush_l2"] = self.flush_l2
            applied["tf32"] = "on" if torch.backends.cuda.matmul.allow_tf32 else "off"
        return applied

    def work(self):
        return work(self.request, self.sizes, self.precision(), self.dim)

    def version(self):
        return self.torch.__version__

    def profile(self, iterations):
        operators = self.worker.part("torch_profile").operators
        return operators(self.torch, self.benchmark_fn, iterations, str(self.device), self.worker.profile_path)


def addition(torch):
    class Add(torch.nn.Module):
        def forward(self, a, b):
            return a + b

    return Add()


@contextlib.contextmanager
def silence():
    """Keeps messages of the torch profiler about itself from standard error."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
