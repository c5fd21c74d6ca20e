"""Benchmarks on one CUDA device: matrices to multiply, work of a given duration, and a kernel that takes minutes."""

import time

import torch

if not torch.cuda.is_available():
    raise RuntimeError("SKIPPED: torch sees no CUDA device")


class Matmul:
    """Multiplies two square matrices. With n=64 the launch takes longer than the kernel."""

    def __init__(self, n):
        self.n = n

    def setup(self):
        self.a = torch.randn(self.n, self.n, device="cuda", dtype=torch.float16)

    def benchmark_fn(self):
        torch.mm(self.a, self.a)
        torch.cuda.synchronize()


class Busy:
    """Keeps the device busy for some milliseconds."""

    def __init__(self, ms):
        self.ms = ms

    def setup(self):
        self.a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)

    def benchmark_fn(self):
        end = time.perf_counter() + self.ms / 1e3
        while time.perf_counter() < end:
            torch.mm(self.a, self.a)
            torch.cuda.synchronize()


class Endless:
    """Starts kernels that take minutes, and waits for them."""

    def setup(self):
        self.a = torch.randn(20000, 20000, device="cuda", dtype=torch.float64)

    def benchmark_fn(self):
        b = self.a
        for _ in range(1000):
            b = torch.mm(b, self.a)
        torch.cuda.synchronize()
