"""The output of a benchmark, for the runner to compare: its numbers as a .npy file of float64, and a hash of the original.

An output is an array of NumPy, PyTorch, JAX or CuPy, a number, or lists, tuples, dicts and data classes of these. Their numbers
are joined in order; those of a dict are ordered by key. NumPy is used only if the benchmark has imported it.
"""
import array
import ctypes
import hashlib
import os
import sys

from neurolens_worker import Failure, one_line

FILE = "output.npy"
MOST = 1 << 20  # values: of more the runner compares a sample; package output has it too
MASK = (1 << 64) - 1


def save(run_dir, value, seed):
    """Writes the output to the run directory. Returns the hash of the whole output, its shape and, if only a sample was written,
    how many of its values are not a number and infinite; else None."""
    arrays = list(flat(value))
    if not arrays:
        raise Failure("no_result", "no output to compare: %s" % one_line("%.200r" % (value,)))
    digest, numbers = hashlib.sha256(), array.array("d")
    size = sum(a.size for a in arrays)
    chosen = positions(size, seed) if size > MOST else None
    before, odd = 0, None if chosen is None else [0, 0]
    for a in arrays:
        if odd is not None:
            odd = [n + more for n, more in zip(odd, a.odd())]
        digest.update(("%s%s;" % (a.kind, list(a.shape))).encode())
        digest.update(a.bytes())
        own = None if chosen is None else [i - before for i in chosen if before <= i < before + a.size]
        numbers.extend(a.numbers(own))
        before += a.size
    shape = tuple(arrays[0].shape) if len(arrays) == 1 else (size,)
    write(os.path.join(run_dir, FILE), numbers, shape if chosen is None else (len(numbers),))
    return digest.hexdigest(), shape, odd


def positions(size, seed):
    """The positions of the compared values. Package output selects the same ones."""
    chosen = []
    for i in range(MOST):
        start, end = i * size // MOST, (i + 1) * size // MOST
        z = (seed + i + 1) * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        chosen.append(start + (z ^ z >> 31) % (end - start))
    return chosen


def write(path, numbers, shape):
    """A .npy file of version 1."""
    if sys.byteorder == "big":
        numbers.byteswap()
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % n for n in shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + numbers.tobytes())


def flat(value):
    """The arrays in an output."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if isinstance(value, getattr(torch, "Tensor", ())):
        yield Tensor(torch, value)
    elif isinstance(value, (bool, int, float)):
        yield Numbers([value])
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from flat(value[key])
    elif hasattr(value, "__dataclass_fields__"):
        yield from flat(vars(value))
    elif isinstance(value, (list, tuple)):
        if value and all(isinstance(item, (bool, int, float)) for item in value):
            yield Numbers(value)
        else:
            for item in value:
                yield from flat(item)
    elif callable(getattr(value, "get", None)) and hasattr(value, "dtype"):  # of CuPy
        yield from flat(value.get())
    elif numpy is not None and hasattr(value, "__array__"):
        yield NumPy(numpy, value)
    elif value is not None:
        raise Failure("no_result", one_line("an output of type %s cannot be compared: want an array or numbers" % type(value).__name__))


PART = 1 << 22  # values that are looked at together: what that takes is freed before the next


def odd_of(values, size, isnan, isinf):
    """The number of values of a flat array that are not a number, and of those that are infinite."""
    odd = [0, 0]
    for start in range(0, size, PART):
        part = values[start:start + PART]
        odd[0] += int(isnan(part).sum())
        odd[1] += int(isinf(part).sum())
    return odd


class Numbers:
    """Numbers of Python."""

    kind = "number"

    def __init__(self, values):
        self.values = array.array("d", [float(v) for v in values])
        self.size = len(self.values)
        self.shape = () if self.size == 1 else (self.size,)

    def bytes(self):
        return self.values.tobytes()

    def odd(self):
        return [sum(v != v for v in self.values), sum(v - v != 0 and v == v for v in self.values)]

    def numbers(self, places):
        return self.values if places is None else array.array("d", [self.values[i] for i in places])


class NumPy:
    def __init__(self, numpy, value):
        self.numpy, self.values = numpy, numpy.ascontiguousarray(numpy.asarray(value))
        self.shape, self.size, self.kind = numpy.shape(value), self.values.size, str(self.values.dtype)
        try:  # bfloat16 of JAX is a type of its own, which NumPy can convert and not name
            real = not numpy.iscomplexobj(self.values) and self.values.dtype.kind not in "OSUMm"
        except TypeError:
            real = False
        if not real:
            raise Failure("no_result", "an output of type %s cannot be compared: want real numbers" % self.kind)

    def bytes(self):
        """Without a copy, because the array may be large."""
        return self.values.reshape(-1).view("uint8")

    def odd(self):
        if self.values.dtype.kind in "biu":
            return [0, 0]
        return odd_of(self.values.reshape(-1), self.size, self.numpy.isnan, self.numpy.isinf)

    def numbers(self, places):
        values = self.values.reshape(-1)
        if places is not None:
            values = values[self.numpy.asarray(places, dtype="int64")]
        return array.array("d", values.astype("float64").tobytes())


class Tensor:
    def __init__(self, torch, value):
        self.torch, self.values = torch, value.detach().to_dense().contiguous().cpu()
        self.shape, self.size, self.kind = tuple(value.shape), value.numel(), str(value.dtype)
        if value.is_complex() or value.is_quantized:
            raise Failure("no_result", "an output of type %s cannot be compared: want real numbers" % self.kind)

    def bytes(self):
        """The bytes as they are, without NumPy and without a copy."""
        if not self.size:
            return b""
        size = self.size * self.values.element_size()
        return memoryview((ctypes.c_char * size).from_address(self.values.data_ptr()))

    def odd(self):
        return odd_of(self.values.reshape(-1), self.size, self.torch.isnan, self.torch.isinf)

    def numbers(self, places):
        values = self.values.reshape(-1)
        if places is not None:
            values = values[self.torch.tensor(places, dtype=self.torch.int64)]
        return array.array("d", values.double().tolist())
