"""What a call of a benchmark or of one of its hooks returned: whether the work behind it ran, and which arrays are still being computed.

A value belongs to the user, so looking at it is bounded and cannot fail: subclasses with methods of their own, cycles and values without
end are walked with the methods of the built-in types, up to LIMIT entries.
"""
from itertools import islice
from types import FunctionType

LIMIT = 1000  # entries of a value that are looked at

# Types whose values stand for work that somebody else has to ask for, by the first part of their module and their name.
DEFERRED = {("polars", "LazyFrame"), ("duckdb", "DuckDBPyRelation"), ("pyspark", "DataFrame"), ("pyspark", "RDD")}

LAZY = (map, filter, zip, enumerate, type(iter(int, 1)))  # iterators that compute; the last one is of re.finditer too


def entries(value):
    """The entries of a container, each with the step that leads to it: a function and its second argument."""
    kind = type(value)
    if issubclass(kind, dict):
        for key, entry in dict.items(value):
            yield (dict.__getitem__, key), entry
    elif issubclass(kind, (list, tuple)):
        base = list if issubclass(kind, list) else tuple
        for index, entry in enumerate(base.__iter__(value)):
            yield (base.__getitem__, index), entry
    else:
        for name in getattr(kind, "__dataclass_fields__", ()):
            try:
                entry = getattr(value, name)
            except Exception:  # not set, or computed by code that fails
                continue
            yield (getattr, name), entry


def walk(value, limit=LIMIT):
    """The value and at most limit entries that it contains, level by level, each with its path: the steps that lead to it."""
    level, seen, left = [((), value)], set(), limit
    while level:
        yield from level
        deeper = []
        for path, container in level:
            if id(container) in seen:
                continue
            seen.add(id(container))
            try:
                found = [(path + (step,), entry) for step, entry in islice(entries(container), left)]
            except Exception:  # it changed meanwhile
                continue
            left -= len(found)
            deeper += found
        level = deeper


def ask(question, value):
    """The answer to a question about a value; None if the value has a class that fails when it is looked at."""
    try:
        return question(value)
    except Exception:
        return None


def unrun(value):
    """Why the work behind the result of an iteration has not ended, for an error: what it is, and what to do. None if nothing says so."""
    for path, entry in walk(value):
        why = unstarted(entry) or goes_on(entry) or (None if path else lazy(entry))
        if why:
            return why
    return None


def unstarted(value):
    """The same for what has to be awaited."""
    kind = type(value)
    if hasattr(kind, "__await__") and not hasattr(kind, "add_done_callback"):
        return "%s %s, which nothing has awaited: run it, as with asyncio.run" % (article(kind.__name__), kind.__name__)
    if hasattr(kind, "__anext__"):
        return "an asynchronous iterator, which nothing has consumed: consume it, as with asyncio.run"
    return None


def goes_on(value):
    """The same for what runs in another thread, process or place."""
    kind = type(value)
    if hasattr(kind, "add_done_callback") or has(kind, "ready", "successful") or has(kind, "is_completed", "wait"):
        return "%s %s, whose work may still be running: return its result" % (article(kind.__name__), kind.__name__)
    names = {c.__name__ for c in kind.__mro__}
    try:
        running = value.is_alive() if names & {"Thread", "BaseProcess"} else "Popen" in names and value.poll() is None
    except Exception:
        return None
    return "%s %s that is still running: wait for its end" % (article(kind.__name__), kind.__name__) if running else None


def lazy(value):
    """The same for what computes its entries only when it is consumed."""
    kind = type(value)
    names = {(c.__module__.partition(".")[0].lstrip("_"), c.__name__) for c in kind.__mro__ if isinstance(c.__module__, str)}
    if names & DEFERRED or hasattr(kind, "__dask_graph__"):
        return "a %s, which computes nothing before it is asked to: compute it" % kind.__name__
    if kind in LAZY or kind.__module__ == "itertools" or has(kind, "__next__", "throw"):
        return "%s %s, which nothing has consumed: consume it, as with list" % (article(kind.__name__), kind.__name__)
    return None


def may_be_lazy(value):
    """Whether work may be left in iterators, in a value of a class that is not known or in what is directly in a container, or in a function
    that the benchmark made. Files have none left, nor have the iterators of built-in containers."""
    for path, entry in walk(value):
        kind = type(entry)
        if isinstance(entry, FunctionType) and "<locals>" in entry.__qualname__:
            return True
        if len(path) < 2 and hasattr(kind, "__next__") and not hasattr(kind, "readline"):
            if kind.__module__ != "builtins" or lazy(entry):
                return True
    return False


def close(value):
    """Ends the coroutines in a value that nobody will run, so that Python does not warn of them."""
    for _, entry in walk(value):
        if has(type(entry), "__await__", "throw", "close"):
            entry.close()


def has(kind, *names):
    return all(hasattr(kind, name) for name in names)


def article(word):
    return "an" if word[:1].lower() in "aeiou" else "a"


class Arrays:
    """Waits for the arrays of JAX in the results of a benchmark. Where they are is found once, in its first result, and again where a
    later one is of another form."""

    def __init__(self):
        self.kind, self.paths = None, ()

    def __call__(self, result):
        if result is None:  # nothing was returned, or the wait is for devices alone
            return
        arrays = self.follow(result)
        if arrays is None:
            self.kind = type(result)
            self.paths = [path for path, entry in walk(result) if hasattr(type(entry), "block_until_ready")]
            arrays = self.follow(result) or ()
        for array in arrays:
            array.block_until_ready()

    def follow(self, result):
        """The arrays of a result; None if it is of another form."""
        if type(result) is not self.kind:
            return None
        arrays = []
        try:
            for path in self.paths:
                value = result
                for get, key in path:
                    value = get(value, key)
                arrays.append(value.block_until_ready and value)
        except Exception:
            return None
        return arrays
