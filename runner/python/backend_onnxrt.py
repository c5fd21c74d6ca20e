"""ONNX Runtime: a model file, or a model that the runner generated, on one execution provider.

The provider, the threads, the model's own precision and the shapes are read back from the session. The precision in which
the kernels compute is read from the profile of one run. The session's assignment of nodes to providers is not enough: it
shows the graph before optimisation, without the casts around fp16 nodes that are computed in fp32. A session whose profile
has ended is as fast as any other.
"""
import ctypes
import json
import math
import os
import platform
import re
import time

from neurolens_backends import Dimensions, framework, work

CPU, CUDA, TENSORRT = "CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"
HIDDEN = "AzureExecutionProvider"  # in every wheel; it calls a service
ON_CUDA = (CUDA, TENSORRT)

# The types of tensors: what numpy calls them, and the precision. numpy has no bf16: its bits go by uint16.
TYPES = {
    "float": ("float32", "fp32"), "double": ("float64", "fp64"), "float16": ("float16", "fp16"),
    "bfloat16": ("uint16", "bf16"), "int8": ("int8", "int8"), "uint8": ("uint8", "int8"), "int16": ("int16", None),
    "int32": ("int32", None), "int64": ("int64", None), "bool": ("bool", None), "uint16": ("uint16", None),
    "uint32": ("uint32", None), "uint64": ("uint64", None), "string": ("str", None),
}
ONNX_BFLOAT16 = 16

# Kernels that compute nothing, so that their type says nothing, and kernels that compute with int8 whatever the type of
# their first input is.
MOVES = frozenset(
    "Cast QuantizeLinear DequantizeLinear DynamicQuantizeLinear Reshape Transpose Gather Concat Slice Split Squeeze "
    "Unsqueeze Expand Identity Shape Flatten Pad Tile Where MemcpyFromHost MemcpyToHost GatherBlockQuantized If Loop Scan".split())
INTEGER = re.compile("Integer|^QLinear|^QGemm|^QAttention|^DynamicQuantize(MatMul|LSTM)")

MADE_LEVEL = "session.qdq_matmulnbits_accuracy_level"  # of MatMulNBits nodes that the optimiser makes
X86 = ("x86_64", "AMD64")


class Backend:
    """A session with its inputs, and the settings read back from it."""

    def __init__(self, request):
        self.request, self.worker = request, request.worker
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when it is loaded; otherwise it leaves a data base in ~/.cache
        self.ort = framework(self.worker, "onnxruntime", "onnxruntime")
        self.np = framework(self.worker, "numpy", "numpy")
        self.session = self.evidence = self.told = None

    def setup(self):
        request = self.request
        self.path = request.find_file()
        self.threads = request.threads()
        self.provider, self.device_id = self.choose_provider()
        self.on_cuda = self.provider in ON_CUDA
        self.flush_l2 = request.flush_l2(self.on_cuda, auto=False)
        cold = request.settings.get("cold_start")
        self.options = self.worker.part("ort_session").Options(request, self.ort)
        self.options.check(self.graph() if self.options.sizes else None)
        self.open(profiled=not cold)
        load_time = self.load_time
        self.make_inputs()
        self.precision = request.check_precision(TYPES[kind][1] for kind in self.kinds.values())
        request.refuse_unused()
        self.binding = self.bind()
        if not cold:  # the first run is to be measured there
            self.read_run()
        request.note_load(load_time)

    # The session.

    def choose_provider(self):
        """The requested provider and its device; else that of CUDA, if there is one."""
        there = [name for name in self.ort.get_available_providers() if name != HIDDEN]
        asked, device = self.request.option("provider"), self.request.option("device") or ""
        kind, _, number = device.partition(":")
        if not asked:
            asked = {"": CUDA if CUDA in there else CPU, "cuda": CUDA, "cpu": CPU}.get(kind, kind)
        elif kind and (kind == "cuda") != (asked in ON_CUDA):
            raise self.request.not_applied("device %s and provider %s were requested" % (device, asked))
        if asked not in there:
            raise self.request.not_applied("%s was requested, but onnxruntime %s in %s has %s" % (
                asked, self.ort.__version__, os.path.dirname(self.ort.__file__), " ".join(there)))
        if number and not number.isdigit():
            raise self.request.failure("device %s: want cpu, cuda or cuda:N" % device)
        return asked, number or "0"

    def open(self, profiled):
        """Creates the session. If a provider exists but does not start, ONNX Runtime silently uses the CPU."""
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        self.options.set(options, self.threads)
        if profiled:
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(self.worker.run_dir, "ort")
        provider = self.provider
        if self.on_cuda:
            provider = (self.provider, {"device_id": self.device_id})
        if self.provider == CUDA:
            provider[1]["use_tf32"] = "0"  # fp32 is fp32
        try:
            began = time.perf_counter_ns()
            session = self.ort.InferenceSession(self.path, options, providers=[provider])
            self.load_time = time.perf_counter_ns() - began
        except Exception as error:
            raise self.translated(error, "setup")
        if session.get_providers()[:1] != [self.provider]:
            raise self.request.not_applied("%s was requested, but the session has %s" % (
                self.provider, " ".join(session.get_providers())))
        self.session = session

    def reopen(self):
        """Replaces the session by one with a profile: the memory of two sessions would be counted."""
        self.session = self.binding = None
        self.open(profiled=True)
        self.binding = self.bind()

    def translated(self, error, kind):
        """The error for an exception of ONNX Runtime, without its code and the repeated name of the file."""
        text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", " ".join(str(error).split()))
        text = text.replace("Load model from %s failed:" % self.path, "")
        if type(error).__name__ == "NotImplemented":
            return self.request.not_implemented("%s on %s: %s" % (self.request.model, self.provider, text))
        if isinstance(error, MemoryError) or "out of memory" in text or "Failed to allocate memory" in text:
            kind = "oom"
        return self.worker.Failure(kind, "model %s: %s" % (self.request.model, text))

    # The inputs.

    def make_inputs(self):
        """Inputs made from the session's own description. The same seed gives the same numbers."""
        parts = self.worker.part("inputs")
        given = self.request.settings.get("inputs") or {}
        infos = self.session.get_inputs()
        infos += [info for info in self.session.get_overridable_initializers() if info.name in given]
        self.kinds = {}
        inputs = [self.declared(parts, info) for info in infos]
        dimensions = Dimensions(self.request)
        graph = self.graph() if any(each.number == "integer" for each in inputs) else None
        maker = parts.Maker(self.request, self.np, dimensions, graph.bound if graph else lambda name: None)
        self.feed = {name: self.fed(name, value) for name, value in maker.make(inputs).items()}
        self.sizes, self.held = dimensions.applied, maker.held
        self.choose_outputs()

    def choose_outputs(self):
        """The names of the outputs. One of bf16 reaches Python only as an OrtValue, and then the inputs have to be OrtValues too."""
        infos = self.session.get_outputs()
        self.outputs, self.values = [info.name for info in infos], None
        self.has_bf16 = any("bfloat16" in info.type for info in infos)
        if not self.has_bf16:
            return
        for info in infos:
            if not info.type.startswith("tensor("):
                raise self.unfit("output", info)
        if self.on_cuda:
            return
        self.values = {}
        for info in self.session.get_inputs() + self.session.get_overridable_initializers():
            value = self.feed.get(info.name)
            if value is None:
                continue
            if isinstance(value, list) or self.kinds[info.name] == "string":
                raise self.unfit("input", info)
            bound = self.kinds[info.name] == "bfloat16"
            self.values[info.name] = value if bound else self.ort.OrtValue.ortvalue_from_numpy(value)

    def unfit(self, what, info):
        return self.request.not_implemented("%s %s of %s is %s, which ONNX Runtime does not take from Python beside an output of bf16" % (
            what, info.name, self.request.model, info.type))

    def declared(self, parts, info):
        """An input as the session describes it."""
        found = re.match(r"(optional\()?(seq\()?tensor\((\w+)\)+$", info.type)
        optional, sequence, kind = found.groups() if found else (None, None, None)
        if kind not in TYPES or kind == "bfloat16" and sequence or self.on_cuda and (optional or sequence or kind == "string"):
            raise self.request.not_implemented("input %s of %s is %s" % (info.name, self.request.model, info.type))
        self.kinds[info.name] = kind
        return parts.Input(info.name, kind if kind == "bfloat16" else TYPES[kind][0], info.shape, bool(optional), bool(sequence))

    def graph(self):
        """The graph of the model's file; None if it is not ONNX."""
        return self.worker.part("onnxgraph").read_graph(self.path)

    def fed(self, name, value):
        """An input as the session takes it: numpy has no bf16."""
        if self.kinds[name] != "bfloat16" or value is None:
            return value
        return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(value, ONNX_BFLOAT16)

    def bind(self, outputs="cuda"):
        """Inputs and outputs in the memory of the device, so that no iteration copies. None on a CPU. outputs: cuda or cpu."""
        if not self.on_cuda:
            return None
        binding, device = self.session.io_binding(), int(self.device_id)
        for name, value in self.feed.items():
            if self.kinds[name] != "bfloat16":  # which binding copies to the device
                value = self.ort.OrtValue.ortvalue_from_numpy(value, "cuda", device)
            binding.bind_ortvalue_input(name, value)
        for name in self.outputs:
            binding.bind_output(name, outputs, device if outputs == "cuda" else 0)
        return binding

    def benchmark_fn(self):
        """One run. It returns when the outputs are available."""
        try:
            if self.binding is None:
                self.run()
            else:
                self.session.run_with_iobinding(self.binding)
                self.binding.synchronize_outputs()
        except Exception as error:
            raise self.translated(error, "raise")

    def run(self):
        """The outputs of one run on a CPU."""
        if self.values is None:
            return self.session.run(self.outputs, self.feed)
        return self.session.run_with_ort_values(self.outputs, self.values)

    def output(self):
        """The outputs of the model from one more run, as arrays."""
        if self.binding is not None and not self.has_bf16:
            self.benchmark_fn()
            return self.binding.copy_outputs_to_cpu()
        try:
            if self.binding is None:
                outputs = self.run()
            else:
                binding = self.bind("cpu")
                self.session.run_with_iobinding(binding)
                outputs = binding.get_outputs()
        except Exception as error:
            raise self.translated(error, "raise")
        return [self.array(value) for value in outputs] if self.has_bf16 else outputs

    def array(self, value):
        """An OrtValue in the memory of the CPU as an array; bf16 as float32, which holds the same numbers."""
        if value.data_type() != "tensor(bfloat16)":
            return value.numpy()
        shape = tuple(value.shape())
        size = math.prod(shape)
        if not size:
            return self.np.zeros(shape, "float32")
        bits = self.np.array((ctypes.c_uint16 * size).from_address(value.data_ptr()), "uint32")
        return (bits << 16).view("float32").reshape(shape)

    def teardown(self):
        self.session = self.binding = None

    # The applied settings.

    def read_run(self):
        """Keeps the nodes of one run, each once, with their providers and types, from the profile of the session, which ends."""
        self.worker.part("finite").note(self.worker, self.output())
        events, ort_profile = self.end_profile(), self.worker.part("ort_profile")
        self.room = ort_profile.room(events)
        self.evidence = {ort_profile.place(event): event["args"] for event in ort_profile.nodes(events)}
        providers = {node["provider"] for node in self.evidence.values()}
        if providers and self.provider not in providers:
            raise self.request.not_applied("%s was requested, but every node ran on %s" % (
                self.provider, " ".join(sorted(providers))))

    def end_profile(self, keep=""):
        """The events of the profile, which ends. Its file is removed, or has the path keep from then on."""
        path = self.session.end_profiling()
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        if keep:
            os.rename(path, keep)
        else:
            os.remove(path)
        return events

    def computed(self):
        """The precisions in which the kernels of the run computed; empty if no kernel computes."""
        found, packed = set(), []
        for node in self.evidence.values():
            types = [TYPES.get(kind, ("", None))[1] for shape in node.get("input_type_shape", ()) for kind in shape]
            if node["op_name"] == "MatMulNBits":
                packed.append(types[0])
            elif INTEGER.search(node["op_name"]):
                found.add("int8")
            elif node["op_name"] not in MOVES and types and types[0]:
                found.add(types[0])
        return found | self.computed_packed(packed)

    def computed_packed(self, types):
        """The precisions in which MatMulNBits multiplies by weights of few bits. types are the precisions of what is multiplied, for each
        node. On a CPU an accuracy level of 4 makes it int8, and another one fp32, which ONNX Runtime has there for fp16 as well
        unless the processor has fp16. Its other providers compute in the type of the input. The optimiser makes more of these
        nodes than are in the file."""
        if not types or self.provider != CPU:
            return set(types)
        levels = (self.request.settings.get("described") or {}).get("accuracy_levels") or {}
        found = set()
        if "4" in levels or len(types) > sum(levels.values()) and self.config_entry(MADE_LEVEL, "4") == "4":
            found.add("int8")
        if set(levels) - {"4"} or not found:
            found |= {"fp32" if kind == "fp16" and platform.machine() in X86 else kind for kind in types}
        return found

    def config_entry(self, key, default):
        """A setting of the session, which may not be set."""
        try:
            return self.session.get_session_options().get_session_config_entry(key)
        except RuntimeError:
            return default

    def applied(self):
        if self.told is not None:
            return self.told
        if self.evidence is None:
            self.reopen()
            self.read_run()
        options = self.session.get_session_options()
        applied = dict(self.request.taken, **self.sizes)
        applied.update({
            "provider": self.session.get_providers()[0],
            "threads": str(options.intra_op_num_threads),
            "execution_mode": options.execution_mode.name.replace("ORT_", "").lower(),
            "graph_optimization": options.graph_optimization_level.name.replace("ORT_ENABLE_", "").lower(),
        })
        applied.update(self.options.applied(self.session))
        if self.on_cuda:
            applied["flush_l2"] = self.flush_l2
        if self.precision:
            applied["precision"] = self.precision
        for name, value in self.feed.items():
            shape = value.shape() if self.kinds[name] == "bfloat16" and value is not None else getattr(value, "shape", None)
            if shape is not None:
                applied["input." + name] = json.dumps(list(shape), separators=(",", ":"))
            applied["values." + name] = self.held[name]
        for node in self.evidence.values():
            key = "nodes." + node["provider"]
            applied[key] = str(int(applied.get(key, 0)) + 1)
        self.request.note_computed(applied, self.precision, self.computed())
        return applied

    def work(self):
        return work(self.request, self.sizes, self.precision)

    def version(self):
        return self.ort.__version__

    # A profile.

    def operators(self, iterations):
        """The nodes of a few runs. What was applied to the measured session, which ends, is asked before."""
        self.told = self.applied()
        return self.nodes_of(min(iterations, self.room - 1))

    def profile(self, iterations):
        """The nodes of several runs, in a separate session: of as many as its profile has room for."""
        if self.evidence is None:
            self.reopen()
            self.read_run()
        profile = self.nodes_of(min(iterations, self.room - 1), self.worker.profile_path)
        if not profile.times:
            raise self.request.not_applied("profiler ort was requested, but a run of %s has more events than the %d that ONNX Runtime keeps" % (
                self.request.model, self.worker.part("ort_profile").MOST_EVENTS))
        return profile

    def nodes_of(self, iterations, keep=""):
        """The nodes of so many runs in a session of their own, whose first run is left out; none if there is no room for one."""
        ort_profile, profiled = self.worker.part("ort_profile"), self.worker.part("profiled")
        if iterations < 1:
            return profiled.Profile([], [])
        began = time.time_ns()
        self.reopen()
        times = profiled.durations(self.benchmark_fn, iterations + 1)
        zero = self.session.get_profiling_start_time_ns() - began
        events = self.end_profile(keep)
        times = times[1:len(ort_profile.runs(events))]
        self.worker.fact("profile.tick_ns", 1000)
        return profiled.Profile(ort_profile.operators(events, zero) if times else [], times)
