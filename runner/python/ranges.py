"""Ranges (NVTX) that tell a profiler which part of the process to record."""
import contextlib
import sys


def choose(worker):
    """A context manager of a name: a range of torch, if the benchmark uses that, or of the package nvtx. Without either there are none, and
    the missing fact profile.ranges says so."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch._C, "_nvtx"):
        worker.fact("profile.ranges", "torch")
        return torch.cuda.nvtx.range
    try:
        import nvtx
    except ImportError:
        worker.missing("profile.ranges", "absent: import torch, or pip install nvtx (nvtx==0.2.11 for nsys 2023.4)")
        return lambda name: contextlib.nullcontext()
    worker.fact("profile.ranges", "nvtx")
    return lambda name: nvtx.annotate(name, domain="neurolens")
