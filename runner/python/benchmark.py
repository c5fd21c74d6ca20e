"""Benchmarks in Python files of users: finds the benchmark, passes it the parameters of its point, and reads back what it
applied.

A benchmark is a class with benchmark_fn (and optionally setup, teardown, get_config, validate_result, output and applied), or a
function that does the work once, such as run_benchmark(**problem_size), optionally with a function validate_result(result).
"""
import functools
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys

from neurolens_worker import LABELS, Failure, Skipped, Unsupported

PREFIX = "param."
FACTORY = "get_benchmark"  # a function of this name makes the benchmark
LAZY = 0x20 | 0x80 | 0x200  # flags of code: generator, coroutine, asynchronous generator
TIMINGS = {"custom": "auto", "pytorch": "torch_timer"}  # words of others for ours
OWN_TIMINGS = ("auto", "perf_counter", "cuda_event", "triton", "torch_timer")
# Keys of get_config: those that are supported; those that are always fulfilled, because every run is a separate process whose memory
# is measured on the device of the benchmark; and those that have no effect, with the setting to use instead.
OWN_KEYS = frozenset("iterations iterations_per_sample warmup seed deterministic reproducible timing mode min_run_time_ms".split())
ALWAYS = frozenset(("enable_memory_tracking", "enable_cleanup", "device"))
PROFILERS = {"enable_profiling": "torch", "enable_nsys": "nsys", "enable_ncu": "ncu"}
INSTEAD = {
    "enable_nvtx": "NVTX ranges are not made",
    "profiling_output_dir": "profiles are in the store",
    "regression_threshold_pct": "set thresholds in the sweep: thresholds: {latency: 5%}",
    "suite_timeout_seconds": "set it in the sweep: timeouts: {suite: 4h}",
    "nsys_timeout_seconds": "set it in the sweep: profile: [{tool: nsys, timeout: 120s}]",
    "ncu_timeout_seconds": "set it in the sweep: profile: [{tool: ncu, timeout: 180s}]",
}
STAGES = {"setup": "setup", "warmup": "warmup", "measure": "measure", "validat": "validate", "teardown": "teardown", "profil": "profile",
          "timeout_s": "measure"}  # of a key with a deadline, the sweep's word by how it begins
PERCENTILES = (25, 50, 75, 90, 95, 99)
PRECISIONS = {
    "float64": "fp64", "double": "fp64", "float32": "fp32", "float": "fp32", "single": "fp32", "float16": "fp16",
    "half": "fp16", "bfloat16": "bf16",
}


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a file as Python loads a program, without reading or writing a compiled copy."""

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)


def import_file(path):
    """The module of a file, under its own name, so that processes that the benchmark starts can import it too. A file of a package that
    imports relative to itself is that module of the package."""
    stem = os.path.splitext(os.path.basename(path))[0]
    sys.path[:0] = [os.path.dirname(os.path.realpath(path)), os.getcwd()]
    sys.argv[:] = [path]
    package, root = package_of(path)
    if package:
        sys.path.insert(0, root)
        importlib.import_module(package)
        name = package + "." + stem
        if getattr(sys.modules.get(name), "__file__", None) == path:  # its package has imported it
            return sys.modules[name]
    else:
        name = stem if stem not in sys.modules else stem + "_benchmark"
    spec = importlib.util.spec_from_file_location(name, path, loader=Loader(name, path))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package_of(path):
    """The package of a file that imports relative to itself, and the folder in which the package is; else None twice."""
    names, folder = [], os.path.dirname(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    if not names:
        return None, None
    import ast

    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
    return (".".join(names), folder) if relative else (None, None)


def find(module, stem):
    """The benchmark in a file, if the sweep does not name one."""
    own = {k: v for k, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__}
    functions = [k for k, v in own.items() if inspect.isfunction(v) or hasattr(v, "__wrapped__") and not inspect.isclass(v)]
    classes = [
        k for k, v in own.items() if inspect.isclass(v) and hasattr(v, "benchmark_fn") and not inspect.isabstract(v)
    ]
    if "run_benchmark" in functions:
        return "run_benchmark"
    if len(classes) == 1:
        return classes[0]
    for name in (FACTORY, stem + "_kernel", "benchmark", "solve"):
        if name in functions:
            return name
    several = sorted(classes) + [name for name in functions if name.startswith("bench_")]
    if len(several) == 1:
        return several[0]
    if several:
        raise Failure("setup", "%s.py has the benchmarks %s: choose one with file: %s.py:%s" % (
            stem, ", ".join(several), stem, several[0]))
    others = [name for name in functions if name[:1] != "_"]
    raise Failure("setup", "%s.py has no bench_* function and no class with benchmark_fn; %s" % (
        stem, "it has %s: choose one with file: %s.py:%s" % (", ".join(others), stem, others[0])
        if others else "it has no function either"))


def value_of(text):
    """The value of a canonical text: a number, true, false, a list, a map; else the text itself."""
    if text[:1] not in '-0123456789tf[{' or text != text.strip():
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(value):
    """The canonical text of a value; None if a parameter cannot have it."""
    return value if isinstance(value, str) else json_of(value)


def json_of(value):
    """The value in the form of RFC 8785; None if that is impossible."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.generic, numpy.ndarray)) and value.ndim == 0:
        value = number_of(numpy, value[()])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return json_of_float(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        parts = [json_of(item) for item in value]
        return None if None in parts else "[%s]" % ",".join(parts)
    if isinstance(value, dict):
        parts = [(json.dumps(str(key), ensure_ascii=False), json_of(value[key])) for key in sorted(value, key=utf_16)]
        return None if any(text is None for _, text in parts) else "{%s}" % ",".join("%s:%s" % part for part in parts)
    return None


def number_of(numpy, number):
    """A number of numpy as Python has it: of a type with fewer digits than a float the shortest decimal that it reads back, 0.1
    for a float32 of 0.1. The module neurolens gives the values of a sweep in the same way."""
    value = number.item()
    if not isinstance(value, float) or isinstance(number, float):
        return value
    with numpy.errstate(over="ignore"):
        for digits in range(1, 17):
            short = float("%.*g" % (digits, value))
            if type(number)(short) == number:
                return short
    return value


def utf_16(key):
    """The sort key of RFC 8785 for the keys of a map. It differs from Python's order for characters beyond 16 bits."""
    return str(key).encode("utf-16-be", "surrogatepass")


def json_of_float(value):
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2] if value else "0"  # minus zero too
    if "e" not in text:
        return text
    if 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal

        return format(Decimal(text), "f")
    mantissa, exponent = text.split("e")
    return "%se%s%s" % (mantissa, exponent[0], exponent[1:].lstrip("0"))


def precision_of(value):
    """The word for a precision given as text or as a framework's type; None for anything else."""
    word = str(value).rpartition(".")[2].lower()
    return PRECISIONS.get(word, word if isinstance(value, str) else None)


def bare(key):
    """An axis under the name that the benchmark uses."""
    return key[len(PREFIX):] if key.startswith(PREFIX) else key


def made_already():
    """Marks an object that exists already and takes no parameters."""


def taken_as(key, names, settings):
    """The name by which one of the names of parameters takes an axis: the one that the user wrote, that of the axis, or another spelling.
    None if none does."""
    return next((name for name in settings.get("spellings", {}).get(key, (bare(key),)) if name in names), None)


def argument(key, text, name, settings):
    """The value of an axis for the parameter of a name, as the user wrote it. The name of an axis that the user has not written gets the
    stored text: fp32 for float32."""
    if key in LABELS:
        return text
    if key == "precision":
        written = settings.get("spellings", {}).get(key, (key,))[0]
        return settings.get("texts", {}).get(key, text) if name != key or written == key else text
    values = settings.get("values") or {}
    return values[name] if name in values else value_of(text)


def arguments(target, title, config, settings, used=(), prepared=False):
    """The arguments with which a class or a function is called. An axis that it does not take is refused, unless it is a label
    or has been used already. prepared: a hook may give those that lack."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # compiled, without a signature
        parameters = ()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_all = any(p.kind == p.VAR_KEYWORD for p in parameters)
    passed = {}
    for key, text in config.items():
        name = taken_as(key, names, settings)
        if name is None and takes_all and key not in LABELS:
            name = settings.get("spellings", {}).get(key, (bare(key),))[0]
        if name is not None:
            passed[name] = argument(key, text, name, settings)
        elif key not in LABELS and bare(key) not in used:
            raise Unsupported("not_applied", "%s takes no parameter %s: it takes %s" % (
                title, settings.get("spellings", {}).get(key, (bare(key),))[0], ", ".join(names) or "none"))
    lacking = [
        p.name for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name not in passed
    ]
    if lacking and not prepared:
        given = " ".join("-P %s=..." % name for name in lacking if name in names)
        hint = "; to set it, add an axis: %s" % given if given else ""
        raise Failure("setup", "%s needs %s, which the point does not have%s" % (title, ", ".join(lacking), hint))
    return passed


class Benchmark:
    """A user's benchmark, with the interface of a backend."""

    def __init__(self, target, title, worker, module):
        self.worker, self.config, self.module = worker, worker.config, module
        self.object = self.function = None
        made = hasattr(target, "benchmark_fn") and not inspect.isclass(target)
        settings = worker.settings
        function = not made and not inspect.isclass(target) and getattr(target, "__name__", "") != FACTORY
        hook = self.hook_of(module, settings["prepare"]) if function and "prepare" in settings else None
        used = tuple(settings.get("used") or ())
        if hook is not None:
            names = inspect.signature(hook).parameters
            used += tuple(bare(key) for key in self.config if taken_as(key, names, settings))
        passed = arguments(made_already if made else target, title, worker.config, settings, used, hook is not None)
        self.names = {key: taken_as(key, passed, settings) or bare(key) for key in self.config}
        if made:
            self.object = target
        elif not function:
            self.object = target(**passed)
        else:
            self.function = functools.partial(target, **passed) if passed else target
            self.target, self.passed = target, passed
        if self.function is None and not callable(getattr(self.object, "benchmark_fn", None)):
            raise Failure("setup", "%s has no benchmark_fn" % title)
        self.title = title if self.object is None else type(self.object).__name__ + ".benchmark_fn"
        work = target if self.object is None else self.object.benchmark_fn
        if getattr(getattr(work, "__code__", None), "co_flags", 0) & LAZY:
            raise Failure("setup", "%s is asynchronous or a generator, so calling it would not run it" % self.title)
        self.prepared, self.hooked = None, {}
        if hook is not None:
            self.hooked = self.arguments_of(hook, settings["prepare"])
            self.prepared = self.preparation(hook, settings["prepare"], self.hooked)
        elif "prepare" in settings:
            name = settings["prepare"]
            self.prepared = self.preparation(self.hook_of(self.object, name), "%s.%s" % (type(self.object).__name__, name), {})

    def hook_of(self, where, name):
        """The function of the file, or the method of the object, that prepares an iteration."""
        hook = getattr(where, name, None)
        if not callable(hook):
            raise Failure("setup", "prepare: %s has no function %s" % (
                os.path.basename(self.worker.file) if where is self.module else type(where).__name__, name))
        return hook

    def arguments_of(self, hook, title):
        """The arguments of a hook: the axes of the point that it takes."""
        names = inspect.signature(hook).parameters
        taken = {key: text for key, text in self.config.items() if taken_as(key, names, self.worker.settings)}
        return arguments(hook, title, taken, self.worker.settings)

    def preparation(self, hook, title, taken):
        """The function that calls the hook and returns an iteration: the measured function, with the arguments that the hook returned
        as a dict."""
        axes = {bare(key) for key in self.config}.union(*self.worker.settings.get("spellings", {}).values())

        def prepared():
            given = self.hook(lambda: hook(**taken), title)
            if not isinstance(given, dict):
                if given is not None and self.function is not None:
                    raise Failure("setup", "%s returned a %s: want a dict of arguments, or nothing" % (title, type(given).__name__))
                return self.benchmark_fn
            for name in given:
                if name in axes:
                    raise Failure("setup", "%s returned the argument %s, which is an axis of the point" % (title, name))
            return functools.partial(self.benchmark_fn, **given)

        return prepared

    @property
    def benchmark_fn(self):
        """The measured function after setup, which may have compiled it."""
        return self.function or self.object.benchmark_fn

    def check_ran(self, result):
        """Refuses a benchmark whose result says that its work did not run, or still runs."""
        returned = self.worker.part("returned")
        self.refuse(self.title, result, returned.unrun)
        if returned.ask(returned.may_be_lazy, result):
            self.worker.warning("lazy_result")

    def refuse(self, title, value, question):
        """Ends the point if the question about a returned value has an answer."""
        returned = self.worker.part("returned")
        why = returned.ask(question, value)
        if why:
            returned.ask(returned.close, value)
            raise Failure("setup", "%s returned %s" % (title, why))

    def called(self):
        """The measured function and its arguments: as benchmark_fn, without an additional call."""
        return (self.target, self.passed) if self.function is not None else (self.object.benchmark_fn, {})

    def optional(self, name):
        """Calls a method that the benchmark may have."""
        method = getattr(self.object, name, None)
        return self.hook(method, "%s.%s" % (type(self.object).__name__, name)) if callable(method) else None

    def hook(self, method, title):
        """Calls a method or function beside the measured one, which has to do its work before it returns."""
        value = method()
        returned = self.worker.part("returned")
        self.refuse(title, value, lambda value: returned.unstarted(value) or returned.lazy(value))
        return value

    def setup(self):
        self.optional("setup")

    def teardown(self):
        self.optional("teardown")

    def output(self):
        """The output to compare with a reference: the method or attribute output, else the result of one more call. If that is
        a dict with a key output, its value."""
        own = getattr(self.object, "output", None)
        value = self.optional("output") if callable(own) else own
        if value is None:
            value = self.prepared()() if self.prepared else self.benchmark_fn()
        return value["output"] if isinstance(value, dict) and "output" in value else value

    @property
    def validate_result(self):
        """The check of the result, or None: a method or, for a function, a function named validate_result in its file. It gets
        the result of one more call, and those arguments of the call and of its preparation that it takes."""
        if self.function is None:
            return (lambda: self.optional("validate_result")) if callable(getattr(self.object, "validate_result", None)) else None
        check = getattr(self.module, "validate_result", None)
        if not inspect.isfunction(check):
            return None
        names = list(inspect.signature(check).parameters)
        taken = {name: value for name, value in dict(self.hooked, **self.passed).items() if name in names[1:]}
        for key, text in self.config.items():  # those that it takes by another spelling
            name = taken_as(key, names[1:], self.worker.settings)
            if name is not None and key not in LABELS and key in self.worker.settings.get("spellings", {}):
                taken.setdefault(name, argument(key, text, name, self.worker.settings))

        def validate():
            results = (self.prepared()() if self.prepared else self.function(),) if names else ()
            return self.hook(lambda: check(*results, **taken), "validate_result")

        return validate

    def profile(self, iterations):
        """The PyTorch operators in the given number of iterations."""
        if self.prepared:
            raise Unsupported("not_applied", "profiler torch was requested, but it would see what prepare does")
        torch = sys.modules.get("torch")
        if torch is None:
            raise Unsupported("not_applied", "profiler torch was requested, but nothing imported torch")
        device = "cuda:%d" % torch.cuda.current_device() if torch.cuda.is_initialized() else "cpu"
        return self.worker.part("torch_profile").operators(
            torch, self.benchmark_fn, iterations, device, self.worker.profile_path)

    def get_config(self):
        own, notes = own_settings(self.optional("get_config"), self.worker)
        if notes:
            self.worker.warning("config_ignored")
            self.worker.fact("runner.config_ignored", "; ".join(notes))
        return own

    def applied(self):
        """The axes for which the benchmark has another value than requested, and those that it reports itself."""
        applied = {}
        for key, text in self.config.items():
            if key not in LABELS and self.object is not None:
                value = getattr(self.object, self.names[key], None)
                found = precision_of(value) if key == "precision" and value is not None else text_of(value)
                if found is not None and found != text and value != value_of(text):
                    applied[key] = found
        told = self.optional("applied")
        for name, value in (told if isinstance(told, dict) else {}).items():
            key = name if name in self.config or PREFIX + str(name) not in self.config else PREFIX + name
            text = text_of(value)
            for axis, names in self.worker.settings.get("spellings", {}).items():
                if name in names and name != axis:
                    key, text = axis, precision_of(value) if axis == "precision" else text
            applied[str(key)] = str(value) if text is None else text
        return applied


def given_keys(config):
    """The keys of a get_config with their values. For an object only attributes that differ from the defaults of its class
    count, because such classes have many settings."""
    if isinstance(config, dict):
        return {str(key): value for key, value in config.items()}
    try:
        given = vars(config)
    except TypeError:
        return {}
    try:
        plain = vars(type(config)())
    except Exception:  # it cannot be made without arguments
        plain = {}
    return {k: v for k, v in given.items() if k[:1] != "_" and not (k in plain and plain[k] == v)}


def ignored(config, worker):
    """What get_config asks for and the run does not have, each with the setting to use instead: lines of text. It is no error, because
    the measurement is the same without it."""
    notes = []
    for key, value in given_keys(config).items():
        why = None
        if key in OWN_KEYS or value is None or key in ALWAYS or key == "timeout_multiplier" or deadline_of(key):
            continue
        if key in PROFILERS:
            if value and PROFILERS[key] not in (worker.settings.get("passes") or ()):
                why = "profilers run in an extra pass: set profile: [%s] in the sweep" % PROFILERS[key]
        elif key == "percentiles":
            beyond = [p for p in value if p not in PERCENTILES] if isinstance(value, (list, tuple)) else [value]
            if beyond:
                why = "%s are stored; compute others from the samples with neurolens query" % " ".join(map(str, PERCENTILES))
        elif key in ("use_subprocess", "execution_mode"):
            if value is not True and str(getattr(value, "value", value)).lower() != "subprocess":
                why = "every run is a separate process"
        elif key not in INSTEAD:
            why = "not a setting of a benchmark: want %s" % ", ".join(sorted(OWN_KEYS))
        elif value:
            why = INSTEAD[key]
        if why:
            notes.append("%s: %s" % (key, why))
    return notes


def deadline_of(key):
    """The stage of which a key of get_config is the deadline; None if it is none."""
    if "timeout" not in key or key in INSTEAD:
        return None
    return next((stage for word, stage in STAGES.items() if key.startswith(word)), None)


def own_deadlines(config, worker):
    """The deadlines in ns, by stage, that get_config makes shorter than those of the sweep; and a line of text for each that is longer,
    which would let a benchmark stop a suite, and is capped."""
    shorter, notes = {}, []
    if "timeouts" in (worker.settings.get("fixed") or ()):
        return shorter, notes
    given = given_keys(config)
    factor = given.get("timeout_multiplier")
    if factor is not None:
        factor = seconds_of("timeout_multiplier", factor, "a factor")
        if factor > 1:
            notes.append("timeout_multiplier: %g is capped at 1: use timeout_multiplier in the sweep" % factor)
        for stage, limit in worker.deadlines.items():
            if factor < 1:
                shorter[stage] = max(1, int(limit * factor))
    for key, value in given.items():
        stage = deadline_of(key)
        if stage is None or value is None or stage not in worker.deadlines:
            continue
        own, limit = max(1, int(seconds_of(key, value, "seconds") * 1e9)), worker.deadlines[stage]
        if own <= limit:
            shorter[stage] = own
        else:
            notes.append("%s: %gs is capped at the %gs of the sweep: raise timeouts.%s there" % (key, own / 1e9, limit / 1e9, stage))
    return {stage: own for stage, own in shorter.items() if own < worker.deadlines[stage]}, notes


def seconds_of(key, value, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise Failure("setup", "get_config: %s %r: want %s" % (key, value, what))
    return value


def own_settings(config, worker):
    """The settings of a benchmark's get_config, a map or an object with attributes, under our names; and lines of text about those that
    have no effect."""
    if config is None:
        return {}, []
    notes = ignored(config, worker)
    read = config.get if isinstance(config, dict) else lambda name: getattr(config, name, None)
    own = {}
    for name, least in (("iterations", 1), ("iterations_per_sample", 1), ("warmup", 0), ("seed", 0)):
        value = read(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise Failure("setup", "get_config: %s %r: want a whole number from %d" % (name, value, least))
        own[name] = value
    if read("deterministic") or read("reproducible"):
        own["reproducible"] = True
    timing = read("timing") if isinstance(read("timing"), str) else read("mode")
    if timing is not None:
        word = str(getattr(timing, "value", timing)).lower()  # of an enumeration
        own["timing"] = TIMINGS.get(word, word)
        if own["timing"] not in OWN_TIMINGS:
            raise Failure("setup", "get_config: timing %r: want one of %s" % (word, ", ".join(OWN_TIMINGS)))
    run_time = read("min_run_time_ms")
    if run_time is not None:
        if isinstance(run_time, bool) or not isinstance(run_time, (int, float)) or not 0 < run_time < 1e9:
            raise Failure("setup", "get_config: min_run_time_ms %r: want milliseconds" % (run_time,))
        own["min_run_time_ns"] = int(run_time * 1e6)
    own["deadlines"], capped = own_deadlines(config, worker)
    return own, notes + capped


def load(worker):
    """Imports the file of the point and creates its benchmark."""
    named = worker.settings["file"]
    path = worker.file = os.path.abspath(named)
    optional = worker.settings.get("optional")
    if not os.path.isfile(path):
        raise Failure("import", "benchmark file %s: %s" % (
            named, "not a file" if os.path.exists(path) else "no such file"))
    try:
        module = import_file(path)
    except ImportError as error:
        if not optional:
            raise
        raise Skipped("absent", "%s: %s: %s" % (named, type(error).__name__, error))
    stem = os.path.splitext(os.path.basename(path))[0]
    name = worker.settings.get("object") or find(module, stem)
    if not hasattr(module, name):
        raise (Skipped("absent", "%s has no %s" % (named, name)) if optional else Failure("setup", "%s has no %s" % (named, name)))
    target = getattr(module, name)
    if not callable(target) and not hasattr(target, "benchmark_fn"):
        raise Failure("setup", "%s in %s is neither a class nor a function" % (name, named))
    worker.part("frameworks").seed(worker.settings)  # those that the file imported, before __init__ draws an input
    return Benchmark(target, name, worker, module)
