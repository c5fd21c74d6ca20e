"""Benchmarks on one CUDA device: matrices to multiply, work of a given duration, and a kernel that takes minutes.

PROVE_DEVICE=cpu rehearses the work of a given duration without one.
"""

import os
import time

import torch

DEVICE = os.environ.get("PROVE_DEVICE", "cuda")
if DEVICE == "cuda" and not torch.cuda.is_available():
    raise RuntimeError("SKIPPED: torch sees no CUDA device")
BUSY = 4096 if DEVICE == "cuda" else 64  # rows of the matrices of Busy


def wait():
    """Waits for the device."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


class Matmul:
    """Multiplies two square matrices. With n=64 the launch takes longer than the kernel."""

    def __init__(self, n):
        self.n = n

    def setup(self):
        self.a = torch.randn(self.n, self.n, device=DEVICE, dtype=torch.float16)

    def benchmark_fn(self):
        torch.mm(self.a, self.a)
        wait()


class Busy:
    """Keeps the device busy for some milliseconds."""

    def __init__(self, ms):
        self.ms = ms

    def setup(self):
        self.a = torch.randn(BUSY, BUSY, device=DEVICE, dtype=torch.float16)

    def benchmark_fn(self):
        end = time.perf_counter() + self.ms / 1e3
        while time.perf_counter() < end:
            torch.mm(self.a, self.a)
            wait()


class Endless:
    """Starts kernels that take minutes, and waits for them."""

    def setup(self):
        self.a = torch.randn(20000, 20000, device=DEVICE, dtype=torch.float64)

    def benchmark_fn(self):
        b = self.a
        for _ in range(1000):
            b = torch.mm(b, self.a)
        wait()
