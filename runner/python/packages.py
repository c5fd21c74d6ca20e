"""Versions of the frameworks that matter to a benchmark, as their installers recorded them: nothing is imported.

As a program it describes the interpreter it runs in as one JSON object. It is written so that every Python parses it:
one that is too old has to be able to say so.
"""
import sys

# Modules, and the distributions that may have brought them.
DISTRIBUTIONS = {
    "cupy": ["cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-rocm-5-0"],
    "jax": ["jax"],
    "jaxlib": ["jaxlib"],
    "keras": ["keras"],
    "mlx": ["mlx"],
    "numba": ["numba"],
    "numpy": ["numpy"],
    "onnx": ["onnx"],
    "onnxruntime": [
        "onnxruntime", "onnxruntime-gpu", "onnxruntime-training", "onnxruntime-openvino", "onnxruntime-directml",
    ],
    "openvino": ["openvino"],
    "scipy": ["scipy"],
    "sglang": ["sglang"],
    "tensorflow": ["tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel"],
    "tensorrt": ["tensorrt", "tensorrt-cu12", "tensorrt-cu13"],
    "torch": ["torch"],
    "torchvision": ["torchvision"],
    "transformers": ["transformers"],
    "triton": ["triton", "pytorch-triton", "pytorch-triton-rocm", "triton-windows"],
    "vllm": ["vllm"],
}


def versions(modules):
    """The versions of those frameworks that are among the names of modules."""
    names = [name for name in sorted(DISTRIBUTIONS) if name in modules]
    if not names:
        return {}
    from importlib import metadata

    found = {}
    for name in names:
        for distribution in DISTRIBUTIONS[name]:
            try:
                found[name] = str(metadata.version(distribution))
                break
            except Exception:  # not this one, or a damaged installation, which is no reason to fail
                pass
    return found


def main():
    import json

    found = versions(DISTRIBUTIONS) if sys.version_info >= (3, 8) else {}
    sys.stdout.write(json.dumps({
        "path": sys.executable,
        "version": ".".join(str(n) for n in sys.version_info[:3]),
        "implementation": getattr(getattr(sys, "implementation", None), "name", "cpython"),
        "packages": found,
    }) + "\n")


if __name__ == "__main__":
    main()
