"""TensorRT: an engine built from an ONNX file, run on the current stream of torch.

Networks are strongly typed, which is the only kind that TensorRT 11 supports: a layer computes in the type that the model
gives it, and no flag turns an fp32 model into an fp16 one. Building the engine is part of the set-up. Buffers and the
stream belong to torch, so that the worker can time with CUDA events and knows the memory of the device.
"""
import json
import time

from neurolens_backends import Dimensions, framework, work

AMPERE = 8  # the first compute capability with tf32
# The types of tensors: what torch calls them, and the precision.
TYPES = {
    "FLOAT": ("float32", "fp32"), "HALF": ("float16", "fp16"), "BF16": ("bfloat16", "bf16"), "INT8": ("int8", "int8"),
    "INT32": ("int32", None), "INT64": ("int64", None), "BOOL": ("bool", None), "UINT8": ("uint8", "int8"),
}


class Backend:
    """An engine, its execution context and its buffers."""

    def __init__(self, request):
        self.request, self.worker = request, request.worker
        self.trt = framework(self.worker, "tensorrt", "tensorrt")
        self.torch = framework(self.worker, "torch", "torch")
        self.np = framework(self.worker, "numpy", "numpy")
        self.engine = self.context = None

    def setup(self):
        request, torch = self.request, self.torch
        path = request.find_file()
        self.choose_device()
        self.flush_l2 = request.flush_l2(True, auto=True)
        self.tf32 = request.axis("precision") == "tf32"
        if self.tf32 and torch.cuda.get_device_capability()[0] < AMPERE:
            raise request.not_applied("precision tf32 was requested, but %s does not support it" % torch.cuda.get_device_name())
        torch.manual_seed(request.seed)
        self.build(path)
        kinds = [self.engine.get_tensor_dtype(name).name for name in self.shapes]
        self.precision = request.check_precision((TYPES.get(kind, ("", None))[1] for kind in kinds), self.tf32)
        request.refuse_unused()
        self.context = self.engine.create_execution_context()
        self.make_buffers()
        torch.cuda.synchronize()
        request.note_load(self.load_time)

    def choose_device(self):
        request, torch = self.request, self.torch
        if request.option("provider"):
            raise request.not_applied("provider %s was requested, but tensorrt has no providers: use device" %
                                      request.option("provider"))
        there = ["cuda:%d" % index for index in range(torch.cuda.device_count())]
        asked = request.option("device") or "cuda"
        if asked not in there and asked + ":0" not in there:
            raise request.not_applied("device %s was requested, but torch %s has %s" % (
                asked, torch.__version__, " ".join(there) or "no CUDA device"))
        torch.cuda.set_device(torch.device(asked).index or 0)

    # The engine.

    def build(self, path):
        """An engine for exactly the requested shapes."""
        trt, request = self.trt, self.request
        logger = trt.Logger(trt.Logger.WARNING)
        builder = trt.Builder(logger)
        flag = getattr(trt.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
        if flag is None:
            raise request.not_implemented("tensorrt %s does not support strongly typed networks: version 10 does" % trt.__version__)
        network = builder.create_network(1 << int(flag))
        parser = trt.OnnxParser(network, logger)
        if not parser.parse_from_file(path):
            raise request.model_failure(parser.get_error(0).desc() if parser.num_errors else "it does not parse")
        config = builder.create_builder_config()
        if not self.tf32:  # it is on by default, and fp32 is fp32
            config.clear_flag(trt.BuilderFlag.TF32)
        profile = builder.create_optimization_profile()
        self.make_inputs(path, [network.get_input(index) for index in range(network.num_inputs)])
        for name, shape in self.shapes.items():
            profile.set_shape(name, shape, shape, shape)
        config.add_optimization_profile(profile)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise request.not_implemented("tensorrt %s cannot build an engine from %s: its log is on standard error" % (
                trt.__version__, request.model))
        began = time.perf_counter_ns()
        self.engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        self.load_time = time.perf_counter_ns() - began

    def make_inputs(self, path, tensors):
        """The inputs of the network, still as arrays."""
        parts, dimensions = self.worker.part("inputs"), Dimensions(self.request)
        graph = self.worker.part("onnxgraph").read_graph(path)
        maker = parts.Maker(self.request, self.np, dimensions, graph.bound if graph else lambda name: None)
        inputs = []
        for tensor in tensors:
            if tensor.dtype.name not in TYPES:
                raise self.request.not_implemented("tensor %s of %s is %s" % (tensor.name, self.request.model, tensor.dtype.name))
            shape = [tensor.get_dimension_name(axis) or size if size < 0 else size for axis, size in enumerate(tensor.shape)]
            inputs.append(parts.Input(tensor.name, TYPES[tensor.dtype.name][0], shape))
        self.arrays = maker.make(inputs)
        self.shapes = {name: list(array.shape) for name, array in self.arrays.items()}
        self.sizes, self.held = dimensions.applied, maker.held

    def make_buffers(self):
        """Inputs and outputs on the device, at addresses that are registered with the context."""
        trt, engine, context = self.trt, self.engine, self.context
        self.buffers = {}
        for name, shape in self.shapes.items():
            context.set_input_shape(name, shape)
        for index in range(engine.num_io_tensors):
            name = engine.get_tensor_name(index)
            kind = engine.get_tensor_dtype(name).name
            if kind not in TYPES:
                raise self.request.not_implemented("tensor %s of %s is %s" % (name, self.request.model, kind))
            if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
                buffer = self.worker.part("inputs").tensor(self.torch, self.arrays.pop(name), TYPES[kind][0]).to("cuda")
            else:
                shape = tuple(context.get_tensor_shape(name))
                if min(shape, default=1) < 0:
                    raise self.request.not_implemented("output %s has a shape that depends on the data" % name)
                buffer = self.torch.empty(shape, dtype=getattr(self.torch, TYPES[kind][0]), device="cuda")
            self.buffers[name] = buffer
            context.set_tensor_address(name, buffer.data_ptr())

    # The measured function.

    def benchmark_fn(self):
        """Puts one inference on the stream; the worker's timing waits for it."""
        if not self.context.execute_async_v3(self.torch.cuda.current_stream().cuda_stream):
            raise self.worker.Failure("raise", "model %s: execute_async_v3 failed" % self.request.model)

    def teardown(self):
        self.context = self.engine = self.buffers = None

    def applied(self):
        outputs = [buffer for name, buffer in self.buffers.items() if name not in self.shapes]
        self.worker.part("finite").note(self.worker, outputs)
        applied = dict(self.request.taken, **self.sizes)
        applied.update(device="cuda:%d" % self.torch.cuda.current_device(), flush_l2=self.flush_l2)
        if self.precision:
            applied["precision"] = self.precision
        for name, buffer in self.buffers.items():
            if name in self.shapes:
                applied["input." + name] = json.dumps(list(buffer.shape), separators=(",", ":"))
                applied["values." + name] = self.held[name]
        return applied

    def work(self):
        return work(self.request, self.sizes, self.precision)

    def version(self):
        return self.trt.__version__
