"""A benchmark of pytest-benchmark, for TestReadTools."""
import pytest


@pytest.mark.parametrize("size", [64, 256])
def test_sum(benchmark, size):
    benchmark.pedantic(sum, args=(range(size),), rounds=5, iterations=10)
