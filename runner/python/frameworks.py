"""What the frameworks of a benchmark need: seeding, synchronizing a device, its memory, recognising out of memory.

No framework is imported here. Only those that the benchmark has imported are used.
"""
import functools
import os
import sys
from _thread import get_ident

from neurolens_worker import text_of

DEFAULT_SEED = 42  # of a benchmark whose get_config asks for reproducible and names none; package sweep has it too

# What seeds the global generators of a framework.
SEEDERS = {
    "cupy": lambda module, seed: module.random.seed(seed),
    "numpy": lambda module, seed: module.random.seed(seed % (1 << 32)),
    "tensorflow": lambda module, seed: module.random.set_seed(seed),
    "torch": lambda module, seed: module.manual_seed(seed),  # of all its devices
}

seeded = {"random"}  # whose global generators have the seed
unseeded = set()  # generators and settings that do not have what was asked for


def fresh_caches(run_dir):
    """Makes kernel compilers start with empty caches. Must be called before they are imported."""
    for variable in ("CUDA_CACHE_PATH", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        folder = os.path.join(run_dir, "cache", variable.lower())
        os.makedirs(folder, exist_ok=True)
        os.environ[variable] = folder


class Seeding:
    """A finder that seeds a framework when its import is complete, before the code that imports it goes on."""

    def __init__(self, settings):
        self.settings, self.finding = settings, set()

    def find_spec(self, name, path=None, target=None):
        if name not in SEEDERS or (name, get_ident()) in self.finding:  # another finder that asks all of them
            return None
        self.finding.add((name, get_ident()))
        try:
            for finder in sys.meta_path:
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec = find and find(name, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = SeedingLoader(spec.loader, self.settings)
                    return spec
        finally:
            self.finding.discard((name, get_ident()))
        return None


class SeedingLoader:
    """The loader of a framework. Code that looks at the module while it loads finds the real one."""

    def __init__(self, loader, settings):
        self.loader, self.settings = loader, settings

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec) if hasattr(self.loader, "create_module") else None

    def exec_module(self, module):
        name = module.__spec__.name
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        seed_one(name, sys.modules.get(name, module), self.settings)  # a module may put another one in its place


def seed(settings, again=False):
    """Seeds the global random number generators that exist, requests deterministic algorithms, and does the same for each framework
    that is imported later. Without a seed it does nothing. again: benchmark code has run since frameworks were seeded."""
    if settings.get("reproducible"):
        settings.setdefault("seed", DEFAULT_SEED)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    number = settings.get("seed")
    if number is None:
        return
    import random

    random.seed(number)
    if not any(isinstance(finder, Seeding) for finder in sys.meta_path):
        sys.meta_path.insert(0, Seeding(settings))
    for name in SEEDERS:
        if sys.modules.get(name) is not None:
            late = again and name not in seeded
            seed_one(name, sys.modules[name], settings)
            if late:
                unseeded.add(name)


def seed_one(name, module, settings):
    """Seeds a framework. One without the functions of the real one is noted as unseeded."""
    try:
        SEEDERS[name](module, settings["seed"])
        if name in ("numpy", "cupy"):
            watch_generators(name, module.random)
        seeded.add(name)
        unseeded.discard(name)
    except Exception:
        unseeded.add(name)
        return
    if name in DETERMINISTIC and settings.get("reproducible"):
        try:
            DETERMINISTIC[name](module)
        except Exception:
            unseeded.add("deterministic " + name)


def watch_generators(name, random):
    """Notes calls of default_rng of numpy or CuPy without a seed, which take one from the operating system."""
    real = getattr(random, "default_rng", None)
    if real is None or hasattr(real, "__wrapped__"):
        return

    @functools.wraps(real)
    def default_rng(seed=None):
        if seed is None:
            unseeded.add(name + ".random.default_rng")
        return real(seed)

    default_rng.__module__ = random.__name__  # where pickle finds it
    random.default_rng = default_rng


def torch_deterministic(torch):
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


# What makes the algorithms of a framework deterministic.
DETERMINISTIC = {
    "tensorflow": lambda module: module.config.experimental.enable_op_determinism(),
    "torch": torch_deterministic,
}


def without_seed():
    """The names of what does not have the seed that was asked for: also what was imported past the finder."""
    late = {name for name in SEEDERS if sys.modules.get(name) is not None} - seeded
    return sorted(late | unseeded)


def report_seeds(worker):
    """Reports what has the seed, and warns of what has not."""
    if worker.settings.get("seed") is None:
        return
    lacking = without_seed()
    worker.fact("runner.seeded", " ".join(sorted(seeded.difference(lacking))))
    if lacking:
        worker.fact("runner.unseeded", ", ".join(lacking))
        worker.warning("unseeded")


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
