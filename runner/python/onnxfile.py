"""Facts about an ONNX file that a session does not report: its operator set and the type of its weights.

The file is mapped and weights are skipped, so a model of many GB takes little time.
"""
import mmap

# Of TensorProto.DataType, what a precision has a word for.
PRECISIONS = {
    1: "fp32", 2: "int8", 3: "int8", 10: "fp16", 11: "fp64", 16: "bf16",
    17: "fp8", 18: "fp8", 19: "fp8", 20: "fp8", 21: "int4", 22: "int4",
}


def model_facts(path):
    """opset, the version of the default operators; parameters, the number of weights; precision, the type of most of them.
    Unknown values are left out; all of them, if the file has another format."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            with memoryview(memory) as view:
                return read_model(view)
    except (OSError, ValueError, IndexError):
        return {}


def read_model(view):
    facts, counts = {}, {}
    for number, value in fields(view):
        if number == 8:  # opset_import
            operators = dict(fields(value))
            if not bytes(operators.get(1, b"")):
                facts["opset"] = operators.get(2)
        elif number == 7:  # graph
            for inner, part in fields(value):
                if inner == 5:  # initializer
                    count_tensor(part, counts)
    if counts:
        facts["parameters"] = sum(counts.values())
        facts["precision"] = max(counts, key=counts.get)
    return {key: value for key, value in facts.items() if value is not None}


def count_tensor(view, counts):
    """Counts the numbers of a tensor, unless it is a scalar or its type is not a precision."""
    size, kind = 1, None
    for number, value in fields(view):
        if number == 1:  # dims, packed or one by one
            for dim in [value] if isinstance(value, int) else varints(value):
                size *= dim
        elif number == 2:
            kind = PRECISIONS.get(value)
    if kind and size > 1:
        counts[kind] = counts.get(kind, 0) + size


def fields(view):
    """The fields of a protobuf message: number, and an integer or a view. Numbers of fixed size are skipped."""
    at = 0
    while at < len(view):
        tag, at = varint(view, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(view, at)
            yield tag >> 3, value
        elif kind == 2:
            size, at = varint(view, at)
            if at + size > len(view):
                raise ValueError("a field is longer than its message")
            yield tag >> 3, view[at:at + size]
            at += size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("wire type %d" % kind)


def varints(view):
    at = 0
    while at < len(view):
        value, at = varint(view, at)
        yield value


def varint(view, at):
    value = shift = 0
    while True:
        byte = view[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
