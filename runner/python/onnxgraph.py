"""What the graph of an ONNX file says of the values of its inputs: into which tables integers index.

An input is followed through operators that leave its values as they are, or add a constant, into the bodies of loops and
branches, until it selects from something. Weights are skipped, so a model of many GB takes little time.
"""
import mmap

# Operators that hand on values of the inputs at these places; all those of EXACT hand on every value.
EXACT = {name: (0,) for name in "Cast Expand Flatten Identity Reshape Squeeze Tile Transpose Unsqueeze".split()}
PARTLY = {"Concat": range(1 << 31), "Where": (1, 2)}
PARTLY.update({name: (0,) for name in "Gather GatherElements GatherND Slice Split".split()})
SAME_SIZE = ("Cast", "DequantizeLinear", "Identity")  # of a table, by their first input

# Operators that select: the place of the integers, that of the table, and the attribute with the axis that they index.
SELECT = {
    "Gather": ((1, 0, "axis"),), "GatherElements": ((1, 0, "axis"),), "GatherND": ((1, 0, None),),
    "GatherBlockQuantized": ((1, 0, "gather_axis"),),
    "EmbedLayerNormalization": ((0, 2, ""), (1, 4, ""), (8, 3, "")),
}
INTEGERS = {6: (5, 4), 7: (7, 8)}  # of TensorProto.DataType: the field of its numbers, and their size in raw_data


class Bound:
    """The integers that are valid for an input because it indexes a table, with a number added to it: from low to high, which is
    not included. Negative ones count from the end of the table; least is the first of them."""

    def __init__(self, rows, offset, table, exact):
        self.low, self.high, self.least = max(0, -offset), rows - offset, -rows - offset
        self.rows, self.table = rows, table
        self.exact = exact  # every value reaches the table


class Graph:
    """The main graph of an ONNX file."""

    def __init__(self, top):
        self.top = top

    def dimensions(self):
        """The names of the free dimensions of the inputs."""
        return {name for names in self.top.inputs.values() for name in names}

    def bound(self, name):
        """The Bound of an input; None if the graph shows none. True: the input selects from something that is computed."""
        found, computed = [], False
        todo, seen = [(self.top, name, 0, True)], set()
        while todo:
            at = todo.pop()
            if at[:3] in seen:
                continue
            seen.add(at[:3])
            scope, name, offset, exact = at
            todo += scope.leaving(name, offset)
            for inner, node in scope.users(name):
                for place, each in enumerate(node.inputs):
                    if each != name:
                        continue
                    for integers, table, axis in SELECT.get(node.op, ()):
                        if integers == place:
                            rows = inner.rows(node, table, axis)
                            found += [Bound(rows, offset, node.inputs[table], exact and inner is self.top)] if rows else []
                            computed = computed or not rows
                    todo += node.passed(inner, place, offset, exact)
        found = [bound for bound in found if bound.low < bound.high]
        return min(found, key=lambda bound: bound.high) if found else computed or None


def read_graph(path):
    """The Graph of an ONNX file; None if the file has another format."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            with memoryview(memory) as view:
                return main_graph(view)
    except (OSError, ValueError, IndexError, TypeError, AttributeError, BufferError):  # as far as it was read, it made no sense
        return None


def main_graph(view):
    return next((Graph(Scope(value, None, None)) for number, value in fields(view) if number == 7), None)


class Scope:
    """A graph, or the body of a node."""

    def __init__(self, view, parent, owner):
        self.parent, self.owner = parent, owner
        self.nodes, self.bodies, self.inputs, self.outputs, self.tensors = [], [], {}, [], {}
        for number, value in fields(view):
            if number == 1:
                self.nodes.append(Node(value, self))
            elif number == 5:
                name, tensor = read_tensor(value)
                self.tensors[name] = tensor
            elif number == 11:
                name, names = read_input(value)
                self.inputs[name] = names
            elif number == 12:
                self.outputs.append(text(dict(fields(value)).get(1)))
        self.makers, self.taken = {}, {}
        for node in self.nodes:
            for name in node.outputs:
                self.makers[name] = node
            for name in set(node.inputs):
                self.taken.setdefault(name, []).append(node)

    def users(self, name):
        """The nodes that take a value, also those of bodies inside, with their scopes."""
        for node in self.taken.get(name, ()):
            yield self, node
        for body in self.bodies:
            if name not in body.inputs and name not in body.makers:
                yield from body.users(name)

    def leaving(self, name, offset):
        """Where a value goes that is an output of this body."""
        if self.owner is None:
            return
        for place, each in enumerate(self.outputs):
            place -= self.owner.op == "Loop"  # whose body has the condition first
            if each == name and 0 <= place < len(self.owner.outputs):
                yield self.parent, self.owner.outputs[place], offset, False

    def find(self, name):
        """The tensor of that name, or the node that makes it; None if it is an input."""
        scope = self
        while scope is not None:
            for known in scope.tensors, scope.makers:
                if name in known:
                    return known[name]
            if name in scope.inputs:
                return None
            scope = scope.parent
        return None

    def shape(self, name):
        """The shape of a constant; None if it is computed."""
        found = self.find(name)
        if isinstance(found, Node):
            if found.op in SAME_SIZE:
                return self.shape(found.inputs[0])
            if found.op == "Transpose":
                shape = self.shape(found.inputs[0])
                order = found.lists.get("perm") or range(len(shape or ()))[::-1]
                return shape and [shape[at] for at in order]
            found = found.constant if found.op == "Constant" else None
        return found and found[0]

    def rows(self, node, table, axis):
        """How many integers index the table of a node; None if that is not known."""
        shape = self.shape(node.inputs[table]) if table < len(node.inputs) else None
        if not shape or axis is None:
            return None
        return shape[node.numbers.get(axis, 0)]

    def scalar(self, name):
        """The value of a constant integer; None if it is none."""
        found = self.find(name)
        if isinstance(found, Node):
            found = found.constant
        return found and found[1]


class Node:
    def __init__(self, view, scope):
        self.op, self.inputs, self.outputs = "", [], []
        self.numbers, self.lists, self.bodies, self.constant = {}, {}, [], None
        for number, value in fields(view):
            if number == 1:
                self.inputs.append(text(value))
            elif number == 2:
                self.outputs.append(text(value))
            elif number == 4:
                self.op = text(value)
            elif number == 5:
                self.read_attribute(value, scope)

    def read_attribute(self, view, scope):
        name, listed = "", []
        for number, value in fields(view):
            if number == 1:
                name = text(value)
            elif number == 3:
                self.numbers[name] = signed(value)
            elif number == 5:
                self.constant = read_tensor(value)[1]
            elif number in (6, 11):
                body = Scope(value, scope, self)
                self.bodies.append(body)
                scope.bodies.append(body)
            elif number == 8:
                listed += [signed(n) for n in ([value] if isinstance(value, int) else varints(value))]
        if listed:
            self.lists[name] = listed

    def passed(self, scope, place, offset, exact):
        """Where the value at a place of the inputs goes on to."""
        if self.op in ("Loop", "Scan"):
            for body in self.bodies:
                names = list(body.inputs)
                if place < len(names) and (self.op == "Scan" or place > 1):
                    yield body, names[place], offset, False
        elif place in EXACT.get(self.op, ()) or place in PARTLY.get(self.op, ()):
            for name in self.outputs:
                yield scope, name, offset, exact and self.op in EXACT
        elif self.op in ("Add", "Sub") and len(self.inputs) == 2 and (self.op == "Add" or place == 0):
            other = scope.scalar(self.inputs[1 - place])
            if other is not None:
                yield scope, self.outputs[0], offset + (other if self.op == "Add" else -other), exact


def read_tensor(view):
    """The name of a tensor, and its shape with its value, if that is one integer."""
    name, shape, kind, value, raw = "", [], None, None, None
    for number, part in fields(view):
        if number == 1:
            shape += [part] if isinstance(part, int) else varints(part)
        elif number == 2:
            kind = part
        elif number == 8:
            name = text(part)
        elif number == 9:
            raw = part
        elif number in (5, 7) and INTEGERS.get(kind, ())[:1] == (number,):
            value = [part] if isinstance(part, int) else part
    size = 1
    for dim in shape:
        size *= dim
    if size != 1 or kind not in INTEGERS:
        return name, (shape, None)
    if raw is not None and len(raw) == INTEGERS[kind][1]:
        return name, (shape, int.from_bytes(raw, "little", signed=True))
    numbers = value if isinstance(value, list) else list(varints(value)) if value is not None else []
    return name, (shape, signed(numbers[0]) if len(numbers) == 1 else None)


def read_input(view):
    """The name of an input, and the names of its free dimensions."""
    parts = dict(fields(view))
    names = []
    for number, tensor in fields(parts.get(2, b"")):
        shape = dict(fields(tensor)).get(2, b"") if number == 1 else b""
        names += [text(dict(fields(dim)).get(2)) for _, dim in fields(shape)]
    return text(parts.get(1)), [name for name in names if name]


def text(view):
    return bytes(view or b"").decode("utf-8", "replace")


def signed(number):
    """The 64-bit integer of a varint."""
    return number - (1 << 64) if number >> 63 else number


# The wire format of protocol buffers.


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
