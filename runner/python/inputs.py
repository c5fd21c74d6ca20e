"""The inputs of a model: what each holds, and how it is made.

The key inputs of a sweep says what an input holds: an array in a file, one value, a range, or a distribution. What it does not
say is decided by the type and by the graph. read() makes the arrays, with numpy, and says what is in them.
"""
import re
import zipfile

# What an input may hold by the kind of its numbers: the words of the key inputs.
WORDS = {
    "real": ("value", "low", "high", "mean", "std"), "integer": ("value", "low", "high"), "bool": ("value",), "text": ("value",),
}
TEXT = "text"  # what an input of strings holds by itself
FLAGS = {"true": True, "false": False, "1": True, "0": False}


class Input:
    """An input as its model declares it. kind: what numpy calls its numbers, bfloat16 or str; shape: with None or names for
    free dimensions, or None if the model declares neither shape nor kind, which is then that of its reals; optional: it may
    be absent; sequence: it is a list of tensors."""

    def __init__(self, name, kind, shape, optional=False, sequence=False):
        self.name, self.kind, self.optional, self.sequence = name, kind, optional, sequence
        self.shape = None if shape is None else list(shape)

    @property
    def number(self):
        kind = self.kind
        return "text" if kind == "str" else "bool" if kind == "bool" else "integer" if "int" in kind else "real"


def tensor(torch, array, kind):
    """An array as a tensor of torch, which has bfloat16 itself."""
    if kind == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


class Maker:
    """Makes the values of inputs. bound(name): what the graph says of an input of integers, see Graph.bound."""

    def __init__(self, request, numpy, dimensions, bound):
        self.request, self.np, self.dimensions, self.bound = request, numpy, dimensions, bound
        self.given = dict(request.settings.get("inputs") or {})
        self.random = numpy.random.default_rng(request.seed)
        self.held = {}  # by input, what it holds, as text

    def make(self, inputs):
        """The values by input: an array, a list of arrays, or None for an optional one that is absent."""
        names = [each.name for each in inputs]
        unknown = [name for name in self.given if name not in names]
        if unknown:
            raise self.request.not_applied("inputs.%s was requested, but %s has %s" % (
                unknown[0], self.request.model, ", ".join(names) or "no inputs"))
        dimensions = {title for each in inputs for title in each.shape or () if isinstance(title, str)}
        for name in names:
            if name not in self.given and name not in dimensions and "param." + name in self.request.config:
                self.given[name] = {"value": self.request.axis("param." + name)}
        self.dimensions.learn([each.shape for each in inputs if each.shape and not each.sequence and not self.is_absent(each)])
        read = {each.name: self.read(each) for each in inputs if "file" in self.given.get(each.name, {})}
        shapes = {}
        for each in inputs:
            if not each.sequence and not self.is_absent(each):
                shapes[each.name] = self.shape(each, read.get(each.name))
        for each in inputs:
            if each.name in shapes and shapes[each.name] is None:
                shapes[each.name] = self.dimensions.fill(each.name, each.shape, each.kind in ("int32", "int64"))
        self.dimensions.check()
        return {each.name: self.value(each, read.get(each.name), shapes.get(each.name)) for each in inputs}

    def is_absent(self, each):
        return self.given.get(each.name) == {"value": "absent"} and each.optional

    def shape(self, each, array):
        """The shape that the user gives an input; None if it is left to the dimensions."""
        given = self.given.get(each.name, {})
        shape = [int(size) for size in given["shape"]] if "shape" in given else None if array is None else list(array.shape)
        if array is not None and list(array.shape) != shape:
            raise self.failure(each, "its shape is %s, and shape is %s" % (list(array.shape), shape))
        if each.shape is None:
            if shape is None:
                raise self.failure(each, "the model does not say its shape: set inputs.%s.shape" % each.name)
            if array is None:
                each.kind = self.guessed(each)
        elif shape is not None:
            self.dimensions.observe(each.name, each.shape, shape)
        return shape

    def guessed(self, each):
        """The kind of an input whose model declares none, by what it is to hold."""
        texts = [text for word, text in self.given.get(each.name, {}).items() if word in ("value", "low", "high")]
        if texts and all(text in ("true", "false") for text in texts):
            return "bool"
        return "int64" if texts and all(re.match(r"-?\d+$", text) for text in texts) else each.kind

    # Files.

    def read(self, each):
        """The array in a file, or the list of those of a sequence, of the type of the input."""
        given = self.given[each.name]
        path = given["file"]
        try:
            loaded = self.np.load(path, allow_pickle=False)
            if not isinstance(loaded, self.np.ndarray):
                with loaded:
                    return self.chosen(each, loaded, path)
        except OSError as error:
            raise self.failure(each, "%s: %s" % (path, (error.strerror or "it does not load").lower()))
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise self.failure(each, "%s: numpy does not load it: %s" % (path, " ".join(str(error).split())))
        if "name" in given or each.sequence:
            raise self.failure(each, "%s holds one array: want a .npz file" % path)
        return self.converted(each, loaded, path)

    def chosen(self, each, loaded, path):
        """The arrays of a .npz file that an input holds: all for a sequence, else the one of the name."""
        if each.sequence:
            return [self.converted(each, loaded[name], path) for name in loaded.files]
        name = self.given[each.name].get("name", loaded.files[0] if len(loaded.files) == 1 else each.name)
        if name not in loaded.files:
            raise self.failure(each, "%s has no array %s: it has %s" % (path, name, ", ".join(loaded.files) or "none"))
        return self.converted(each, loaded[name], path)

    def converted(self, each, array, path):
        """An array of a file in the type of the input. Numbers of the same kind are converted if they stay what they are;
        reals are rounded."""
        kinds = {"f": "real", "i": "integer", "u": "integer", "b": "bool", "U": "text", "S": "text"}
        kind = kinds.get(array.dtype.kind)
        if each.shape is None and kind in ("integer", "bool"):
            each.kind = str(array.dtype)
        if kind != each.number:
            raise self.failure(each, "%s is %s, and the model wants %s" % (path, array.dtype, each.kind))
        if kind == "integer" and array.size:
            self.check_limits(each, int(array.min()), int(array.max()))
        return self.typed(each, array)

    # Values.

    def value(self, each, array, shape):
        given, np = self.given.get(each.name, {}), self.np
        if self.is_absent(each):
            self.hold(each, "absent")
            return None
        if each.sequence:
            if array is None:
                raise self.request.not_implemented("input %s of %s is a sequence: give it a .npz file in inputs" % (
                    each.name, self.request.model))
            self.hold(each, "%d arrays of %s" % (len(array), given["file"]))
            return array
        odd = [word for word in given if word not in ("file", "name", "shape") + WORDS[each.number]]
        if odd:
            raise self.failure(each, "%s is not for %s, which it is: want %s" % (odd[0], each.kind, " ".join(WORDS[each.number])))
        if array is not None:
            self.check_table(each, array)
            self.hold(each, "file " + given["file"] + (" " + given["name"] if "name" in given else ""))
            return array
        if "value" in given:
            value = self.parsed(each, given["value"])
            array = self.typed(each, np.full(shape, value, dtype=object if each.number in ("integer", "text") else None))
            self.check_table(each, array)
            self.hold(each, "constant " + given["value"])
            return array
        if "mean" in given or "std" in given:
            mean, std = (self.parsed(each, given.get(word, default)) for word, default in (("mean", "0"), ("std", "1")))
            self.hold(each, "normal, mean %s, std %s" % (given.get("mean", "0"), given.get("std", "1")))
            return self.typed(each, self.random.normal(mean, std, shape))
        if "high" in given:
            low, high = self.parsed(each, given.get("low", "0")), self.parsed(each, given["high"])
            array = self.uniform(each, low, high, shape)
            self.check_table(each, array)
            return array
        return self.usual(each, shape)

    def usual(self, each, shape):
        """What an input holds of which the sweep says nothing: reals from -1 to 1; integers that index a table, valid ones;
        integers that select from something computed, 0; of 8 bits, all; other integers 1; true; a text."""
        if each.number == "real":
            return self.uniform(each, -1.0, 1.0, shape, "by default")
        bound = self.bound(each.name) if each.number == "integer" else None
        if bound is not None and bound is not True:
            return self.uniform(each, bound.low, min(bound.high, self.limits(each).max + 1), shape, "rows of " + bound.table)
        if each.kind in ("int8", "uint8"):
            limits = self.limits(each)
            return self.uniform(each, limits.min, limits.max + 1, shape, "by default")
        value = {"text": TEXT, "bool": True}.get(each.number, 0 if bound else 1)
        self.hold(each, "constant %s by default" % str(value).lower())
        return self.typed(each, self.np.full(shape, value, dtype=object if each.number == "text" else None))

    def uniform(self, each, low, high, shape, why=""):
        """Numbers from low to high, which is not included."""
        why = " " + why if why else ""
        if each.number == "integer":
            if low >= high:
                raise self.failure(each, "low %d is not below high %d" % (low, high))
            self.check_limits(each, low, high - 1)
            self.hold(each, "uniform %d..%d%s" % (low, high - 1, why))
            return self.random.integers(low, high, shape, each.kind)
        if not self.np.isfinite(high - low):
            raise self.failure(each, "the range from %s to %s is too wide for numbers of 64 bits" % (short(low), short(high)))
        self.hold(each, "uniform %s..%s%s" % (short(low), short(high), why))
        return self.typed(each, self.random.uniform(low, high, shape))

    def parsed(self, each, text):
        """A number, flag or text of the sweep."""
        try:
            return {"real": float, "integer": int, "bool": FLAGS.__getitem__, "text": str}[each.number](text)
        except (ValueError, KeyError):
            raise self.failure(each, "%s does not fit %s" % (text, each.kind))

    def typed(self, each, array):
        """The array with the type of the input."""
        np = self.np
        if each.number == "text":
            return array.astype(str).astype(object)
        if each.number == "integer" and array.size:
            self.check_limits(each, int(array.min()), int(array.max()))
        if each.number != "real":
            return np.ascontiguousarray(array, each.kind).reshape(array.shape)
        with np.errstate(over="ignore"):
            made = np.ascontiguousarray(array, "float32" if each.kind == "bfloat16" else each.kind).reshape(array.shape)
        if np.isinf(made).sum() > np.isinf(array).sum():
            raise self.failure(each, "%s does not fit %s" % (short(float(np.abs(array[np.isfinite(array)]).max())), each.kind))
        if each.kind == "bfloat16":
            return (made.view("uint32") >> 16).astype("uint16")
        return made

    # Limits.

    def limits(self, each):
        return self.np.iinfo(each.kind)

    def check_limits(self, each, low, high):
        limits = self.limits(each)
        for number in (low, high):
            if not limits.min <= number <= limits.max:
                raise self.failure(each, "%d does not fit %s" % (number, each.kind))

    def check_table(self, each, array):
        """Refuses integers beyond the table that they index. Not all frameworks do, and the values are no rows of it."""
        bound = self.bound(each.name) if each.number == "integer" and array.size else None
        if bound is None or bound is True or not bound.exact:
            return
        for number in (int(array.max()), int(array.min())):
            if not bound.least <= number < bound.high:
                raise self.failure(each, "%d is beyond the %d rows of %s" % (number, bound.rows, bound.table))

    def hold(self, each, text):
        self.held[each.name] = ("string" if each.number == "text" else each.kind) + " " + text

    def failure(self, each, text):
        return self.request.input_failure(each.name, text)


def short(number):
    return "%.6g" % number
