"""Whether the outputs of a model are finite numbers. They are looked at outside the measurement, with bounded work."""
import math
import sys

from neurolens_returned import walk

MOST_OBJECTS = 10000
MOST_VALUES = 1 << 24  # of more, as many are looked at, evenly spaced
PART = 1 << 18  # values that are looked at together: what that takes is small beside a model


def tensors(value):
    """The tensors of torch in a value."""
    torch = sys.modules["torch"]
    return [entry for _, entry in walk(value, MOST_OBJECTS) if isinstance(entry, torch.Tensor)]


def note(worker, value):
    """Warns if numbers in a value are infinite or not a number, and reports how many of how many."""
    count, checked = not_finite(value)
    if count:
        worker.warning("output_not_finite")
        worker.fact("output.not_finite", count)
        worker.fact("output.checked", checked)


def not_finite(value):
    """How many numbers in a value are infinite or not a number, and how many numbers were looked at."""
    arrays = [array for array in (floats(entry) for _, entry in walk(value, MOST_OBJECTS)) if array is not None]
    size = sum(math.prod(values.shape) for values, _ in arrays)
    count = checked = 0
    for values, bad in arrays:
        own = math.prod(values.shape)
        values = thinned(values, own * MOST_VALUES // size if size > MOST_VALUES else own).reshape(-1)
        try:
            count += sum(int(bad(values[start:start + PART]).sum()) for start in range(0, len(values), PART))
        except (NotImplementedError, RuntimeError, TypeError):  # a type that its own framework cannot look at
            continue
        checked += len(values)
    return count, checked


def thinned(values, most):
    """A view of an array with at most that many values, or one, evenly spaced."""
    while math.prod(values.shape) > max(1, most):
        widest = max(range(len(values.shape)), key=lambda axis: values.shape[axis])
        values = values[(slice(None),) * widest + (slice(None, None, 2),)]
    return values


def floats(leaf):
    """An object as an array, with the function that finds what is not finite in a part of it; None: all its numbers are finite, or it has
    none."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if numpy is not None and isinstance(leaf, (float, complex)):
        leaf = numpy.asarray(leaf)
    if numpy is not None and isinstance(leaf, numpy.ndarray):
        return (leaf, lambda part: ~numpy.isfinite(part)) if leaf.dtype.kind in "fc" else None
    if torch is None or not isinstance(leaf, torch.Tensor):
        return None
    values = leaf.detach()
    values = values.coalesce().values() if values.layout == torch.sparse_coo else values
    if values.layout != torch.strided or values.is_nested or values.is_meta or not values.is_floating_point() and not values.is_complex():
        return None
    return values, lambda part: ~torch.isfinite(part.float() if part.element_size() == 1 else part)
