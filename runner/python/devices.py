"""The device on which a file of a user ran, read back from the frameworks that it has imported and from the process.

A backend that names a device (cpu, cuda, rocm, mps) is a claim about what ran. This file imports none of the frameworks, and
queries nothing unless such a device is named.
"""
import os
import sys

WORDS = ("cpu", "cuda", "rocm", "mps")
DRIVERS = {"/dev/nvidia-uvm": "cuda", "/dev/kfd": "rocm"}  # opened by what computes; a tool that only looks opens others
DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # a machine with a GPU has one of them


def asked(worker):
    """The device that the backend of a point names; None if it names none, or no file runs."""
    word = worker.config.get("backend", "").partition(":")[0].lower()
    return word if worker.settings.get("file") and word in WORDS else None


def torch_has(torch, word):
    if word == "mps":
        return torch.backends.mps.is_available()
    return torch.cuda.is_available() and (getattr(torch.version, "hip", None) is not None) == (word == "rocm")


def torch_used(torch):
    used = set()
    if torch.cuda.is_initialized():
        counts = range(torch.cuda.device_count())
        if any(torch.cuda.max_memory_allocated(index) > 0 for index in counts):
            used.add("cuda" if getattr(torch.version, "hip", None) is None else "rocm")
    mps = getattr(torch.backends, "mps", None)
    if mps is not None and mps.is_available() and torch.mps.driver_allocated_memory() > 0:
        used.add("mps")
    return used


def cupy_kind(cupy):
    return "rocm" if cupy.cuda.runtime.is_hip else "cuda"


def cupy_has(cupy, word):
    return cupy_kind(cupy) == word and cupy.cuda.is_available()


def cupy_used(cupy):
    return {cupy_kind(cupy)} if cupy.get_default_memory_pool().total_bytes() > 0 else set()


def jax_kind(device):
    """The word for a device of JAX; None for other accelerators."""
    platform = device.platform.lower()
    if platform == "gpu":
        return "rocm" if "rocm" in str(getattr(device.client, "platform_version", "")).lower() else "cuda"
    return {"metal": "mps"}.get(platform, platform if platform in WORDS else None)


def jax_has(jax, word):
    return any(jax_kind(device) == word for device in jax.devices())


def jax_used(jax):
    used = set()
    for device in jax.devices():
        kind = jax_kind(device)
        memory = device.memory_stats() if kind not in (None, "cpu") else {"peak_bytes_in_use": 0}
        if memory is None or memory.get("peak_bytes_in_use", 1) > 0:
            used.add(kind)
    return used


FRAMEWORKS = {"torch": (torch_has, torch_used), "cupy": (cupy_has, cupy_used), "jax": (jax_has, jax_used)}


def imported():
    return [(name, sys.modules[name]) for name in FRAMEWORKS if sys.modules.get(name) is not None]


def absent(word):
    """Why a device is missing: no imported framework has it. None if one has it, or none was imported."""
    without = []
    for name, module in imported() if word not in (None, "cpu") else ():
        try:
            if FRAMEWORKS[name][0](module, word):
                return None
        except Exception:  # of a version that has other names; a device that is not there raises elsewhere
            if name != "cupy" and name != "jax":
                return None
        without.append("%s %s" % (name, getattr(module, "__version__", "")))
    return "no %s device is available to %s" % (word, " and ".join(without).strip()) if without else None


def used():
    """The devices, apart from the CPU, that computed in this process, and whether the list is complete."""
    found, sure = set(), True
    for name, module in imported():
        try:
            found |= FRAMEWORKS[name][1](module) - {None}
        except Exception:
            sure = False
    try:
        for fd in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink("/proc/self/fd/" + fd)
            except OSError:
                continue
            if target in DRIVERS:
                found.add(DRIVERS[target])
    except OSError:
        pass  # not on Linux
    return found, sure


def had_children():
    """Whether this process had child processes, which may have used other devices."""
    if "multiprocessing" in sys.modules:
        return True
    try:
        import resource
    except ImportError:
        return True
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 0


def ran(word):
    """The device on which a point ran, given the requested one; None if that is unknown."""
    found, sure = used()
    if word == "cpu":
        return "+".join(sorted(found)) or ("cpu" if sure else None)
    if word in found:
        return word
    if found:
        return "+".join(sorted(found))
    elsewhere = had_children() and (sys.platform == "darwin" or any(os.path.exists(path) for path in DEVICES))
    if not sure or elsewhere or word == "mps" and "mlx" in sys.modules:
        return None
    return "cpu"
