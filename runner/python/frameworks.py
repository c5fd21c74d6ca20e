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


def waiting(arrays, devices=True):
    """The function that waits until the result of a call is computed, and returns True: for each device in use, and for the arrays of
    JAX in the result, which arrays finds. None if nothing has to be waited for."""
    waits = ([arrays] if "jax" in sys.modules else []) + (device_waits() if devices else [])
    if not waits:
        return None

    def wait(result):
        for one in waits:
            one(result)
        return True

    return wait


def device_waits():
    """The functions that wait for the devices that torch and CuPy use. Their argument is not used."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    waits = []
    if cuda() is not None:
        waits.append(lambda _: torch.cuda.synchronize())
    if hasattr(torch, "xpu") and torch.xpu.is_initialized():
        waits.append(lambda _: torch.xpu.synchronize())
    if hasattr(getattr(torch, "backends", None), "mps") and torch.backends.mps.is_available():
        waits.append(lambda _: torch.mps.synchronize())
    if hasattr(cupy, "is_available") and cupy.is_available():
        waits.append(lambda _: cupy.cuda.Device().synchronize())
    return waits


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
