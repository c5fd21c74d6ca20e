"""Versions of the frameworks that matter to a benchmark, as recorded by their installers. Nothing is imported.

As a program, this file describes its interpreter as one JSON object. Every Python version can parse it, so that one that is too
old can report that.
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
    "onnxconverter_common": ["onnxconverter-common"],
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
    """The versions of the frameworks among the given modules."""
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


def distributions_of(module):
    """The distributions that may have installed a module."""
    from importlib import metadata

    brought = getattr(metadata, "packages_distributions", dict)()  # Python 3.10
    return DISTRIBUTIONS.get(module, []) + [module] + brought.get(module, [])


def installed_from(chosen):
    """The real paths of the files that were copied by an installer from a folder that is chosen, as by `pip install .`. The installer
    records the folder in direct_url.json. chosen is called with its real path, with a separator at the end."""
    files = set()
    try:
        import json
        import os
        from importlib import metadata
        from urllib.parse import unquote, urlsplit

        distributions = list(metadata.distributions())
    except Exception:  # the benchmark may have left no file to open
        return files
    for distribution in distributions:
        try:
            origin = json.loads(distribution.read_text("direct_url.json") or "{}")
            url = urlsplit(origin.get("url", ""))
            if "dir_info" in origin and url.scheme == "file" and chosen(os.path.join(os.path.realpath(unquote(url.path)), "")):
                files.update(os.path.realpath(str(distribution.locate_file(file))) for file in distribution.files or ())
        except Exception:  # a damaged installation, which is no reason to fail
            pass
    return files


def version(module):
    """The version of a module; None if it is not installed or its installer recorded none."""
    from importlib import metadata

    for distribution in distributions_of(module):
        try:
            return str(metadata.version(distribution))
        except Exception:
            pass
    return None


def main():
    import json

    supported = sys.version_info >= (3, 8)
    found = versions(DISTRIBUTIONS) if supported else {}
    for module in sys.argv[1:] if supported else []:
        found.update({module: text for text in [version(module)] if text})
    sys.stdout.write(json.dumps({
        "path": sys.executable,
        "version": ".".join(str(n) for n in sys.version_info[:3]),
        "implementation": getattr(getattr(sys, "implementation", None), "name", "cpython"),
        "packages": found,
    }) + "\n")


if __name__ == "__main__":
    main()
