"""What the frameworks of a benchmark need: seeding, synchronizing a device, its memory, recognising out of memory.

No framework is imported here. Only those that the benchmark has imported are used.
"""
import os
import sys

from neurolens_worker import text_of

DEFAULT_SEED = 42  # of a benchmark whose get_config asks for reproducible and names none; package sweep has it too

SEEDERS = {
    "cupy": lambda module, seed: module.random.seed(seed),
    "numpy": lambda module, seed: module.random.seed(seed % (1 << 32)),
    "tensorflow": lambda module, seed: module.random.set_seed(seed),
    "torch": lambda module, seed: module.manual_seed(seed),  # of all its devices
}

seeded = set()  # the frameworks that seed has met


def fresh_caches(run_dir):
    """Makes kernel compilers start with empty caches. Must be called before they are imported."""
    for variable in ("CUDA_CACHE_PATH", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        folder = os.path.join(run_dir, "cache", variable.lower())
        os.makedirs(folder, exist_ok=True)
        os.environ[variable] = folder


def seed(settings, only_new=False):
    """Seeds all random number generators that exist, and requests deterministic algorithms."""
    if settings.get("reproducible"):
        settings.setdefault("seed", DEFAULT_SEED)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    number = settings.get("seed")
    if number is not None and not only_new:
        import random

        random.seed(number)
    for name, seeder in SEEDERS.items():
        module = sys.modules.get(name)
        if module is None or only_new and name in seeded:
            continue
        seeded.add(name)
        if number is not None:
            seeder(module, number)
        if name == "torch" and settings.get("reproducible"):
            module.use_deterministic_algorithms(True)
            module.backends.cudnn.deterministic = True
            module.backends.cudnn.benchmark = False


def cuda():
    """torch.cuda if the benchmark uses it. A query before that would initialise it."""
    module = getattr(sys.modules.get("torch"), "cuda", None)
    return module if module is not None and module.is_initialized() else None


def synchronizer():
    """The function that waits for the device that torch uses; None if there is none."""
    if cuda() is not None:
        return cuda().synchronize
    backends = getattr(sys.modules.get("torch"), "backends", None)
    if hasattr(backends, "mps") and backends.mps.is_available():
        return sys.modules["torch"].mps.synchronize
    return None


def device_memory():
    """The memory of torch's allocator on the current device, in B."""
    device = cuda()
    if device is None:
        return {}
    return {
        "device_memory_peak": device.max_memory_allocated(),
        "device_memory_allocated": device.memory_allocated(),
        "device_memory_reserved": device.memory_reserved(),
    }


def is_oom(error):
    """Whether an exception says that host or device is out of memory."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, MemoryError) or "OutOfMemoryError" in names:
        return True
    text = text_of(error)
    return isinstance(error, RuntimeError) and ("out of memory" in text.lower() or "RESOURCE_EXHAUSTED" in text)


class Settle:
    """Waits until the return value of an iteration is computed, also inside containers. How to wait for a type is determined
    once, so that a value that needs no waiting costs one look-up."""

    KEYS = ("ttft_times_ms", "tpot_times_ms", "metrics")  # numbers that a benchmark measured itself

    def __init__(self, torch=True):
        self.torch = torch
        self.waits = {}

    def __call__(self, value):
        kind = type(value)
        try:
            wait = self.waits[kind]
        except KeyError:
            wait = self.waits[kind] = self.find(kind)
        if wait is not None:
            wait(value)

    def find(self, kind):
        if hasattr(kind, "block_until_ready"):  # arrays of JAX
            return kind.block_until_ready
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        if self.torch and torch is not None and issubclass(kind, torch.Tensor):
            return self.tensor
        if cupy is not None and issubclass(kind, cupy.ndarray):
            return lambda array: array.device.synchronize()
        if issubclass(kind, dict):
            return self.mapping
        if issubclass(kind, (list, tuple, set, frozenset)):
            return self.sequence
        if hasattr(kind, "__dataclass_fields__"):
            return lambda value: self.sequence(vars(value).values())
        return None

    def tensor(self, tensor):
        device = tensor.device
        if device.type == "cuda":
            sys.modules["torch"].cuda.synchronize(device)
        elif device.type in ("mps", "xpu"):
            getattr(sys.modules["torch"], device.type).synchronize()

    def mapping(self, values):
        for key, value in values.items():
            if key not in self.KEYS:
                self(value)

    def sequence(self, values):
        if "torch" in sys.modules or "jax" in sys.modules or "cupy" in sys.modules:
            for value in values:
                self(value)
