"""The wire format of an ONNX file."""


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
