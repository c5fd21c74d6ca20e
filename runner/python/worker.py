"""The NeuroLens worker: measures one point once, in the user's own interpreter.

A supervisor starts it with the run directory as its argument. It follows job.json in that directory: it prepares a benchmark,
warms up, measures, validates and tears down. Each of these is a stage with a deadline that the runner enforces. Samples are
written into a mapped file, which survives if this process dies. Everything else is sent as one JSON object per line on
descriptor 3. PROTOCOL.md describes both.

Only a small part of the standard library is imported before the benchmark imports more. Parts that not every point needs are in
separate files: benchmark.py (files of users), backends.py (models), timing.py (clocks and loops), inner.py (many iterations per
sample), returned.py (values that calls return), frameworks.py (support for torch, JAX and others), packages.py (versions).
"""
import time

BEGAN = time.monotonic_ns()  # the zero of every `at`

import atexit  # noqa: E402
import faulthandler  # noqa: E402
import fcntl  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import mmap  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import types  # noqa: E402

PROTO = 1
FD_EVENTS = 3
FD_COUNTERS = 4  # the first of the counters of the job
INSIDE = ("ort", "torch")  # profilers within this process; others have started it
STAGES = ("build", "setup", "warmup", "measure", "validate", "teardown", "profile")  # numbered from 1
MAX_ROWS = 1 << 26
MAX_MESSAGE = 2000  # characters
MAX_TRACEBACK = 64000  # characters
HELPER_WAIT = 0.5  # s
MAX_LINE = 1 << 20  # B of an event
MAX_VALUES = 16384  # in one event, so that its line stays far below 1 MiB

# The file of samples, in words of 8 B and in bytes.
WORD_CAPACITY, WORD_WARMUP, WORD_PROGRESS, WORD_PEAK, WORD_BEGINS, WORD_STOP, WORD_ROWS = 2, 3, 4, 6, 504, 511, 512
BYTE_STATE, BYTE_LENGTH, BYTE_TEXT, BYTE_BEGINS, BYTE_ROWS = 56, 60, 64, 4032, 4096
UNSET = -(1 << 63)  # a row that nobody measured
RESULT, ERROR, UNSUPPORTED, SKIPPED = 1, 2, 3, 4

# The most iterations after the measurement whose operators are reported, and the part of the time of the run that they may take, at most 5 s.
MOST_PROFILED, PROFILED_SHARE, MOST_PROFILED_NS = 10, 10, 5000000000

# A first call that takes so long, and so many times as long as the later ones at their median, has done work that they have not.
FIRST_CALL_NS, FIRST_CALL_TIMES = 1000000, 10

SKIPS = {("unittest.case", "SkipTest"), ("_pytest.outcomes", "Skipped")}  # exceptions with which a test skips itself
SKIP_WORDS = ("SKIPPED:", "HARDWARE/SOFTWARE LIMITATION:")  # at the beginning of a last line, or of the text of an exception

BUDGET_SHARE = 0.8  # of an own deadline for measuring, so that the budget ends the measurement first

LABELS = ("benchmark", "model", "backend", "variant")  # of config: names, which choose no size and no type


class Unsupported(Exception):
    """The point does not exist here, which is not a failure: a word for selecting runs, and one line."""

    def __init__(self, kind, message):
        super().__init__(kind, message)
        self.kind, self.message = kind, message


class Skipped(Exception):
    """The benchmark cannot run here, by its own statement or because it is optional: a word, and one line."""

    def __init__(self, kind, message):
        super().__init__(kind, message)
        self.kind, self.message = kind, message


class Failure(Exception):
    """An error with our own message, if that of the exception is not clear enough: a word, and one line."""

    def __init__(self, kind, message):
        super().__init__(kind, message)
        self.kind, self.message = kind, message


def text_of(error):
    """The text of an exception; empty if it cannot be converted to text."""
    try:
        return str(error)
    except BaseException:
        return ""


def is_bool(value):
    """Whether a value is true or false, also in the form of a framework's array without dimensions."""
    if isinstance(value, bool):
        return True
    return getattr(value, "shape", None) == () and str(getattr(value, "dtype", "")).endswith("bool")


def one_line(text):
    """The text without line breaks, cut to a readable length."""
    return " ".join(str(text).split())[:MAX_MESSAGE]


def out_of_the_way(fd):
    """A copy of the descriptor with a high number, so that benchmarks that close unknown descriptors rarely reach it."""
    for number in (400, 200, 100):  # fewer may be allowed
        try:
            high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, number)
        except OSError:
            continue
        os.close(fd)
        return high
    os.set_inheritable(fd, False)
    return fd


class Events:
    """Events for the runner. If one cannot be written, because the benchmark closed the descriptor, it is dropped: the header of
    the samples repeats the essential ones."""

    def __init__(self, fd):
        self.fd = out_of_the_way(fd)

    def send(self, event, **fields):
        fields["event"] = event
        line = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise Failure("protocol", "event %s of %d B: want at most %d" % (event, len(line), MAX_LINE))
        try:
            while line:
                line = line[os.write(self.fd, line):]
        except OSError:
            pass


class Samples:
    """The mapped file of samples: a header of 4096 B, then rows of int64."""

    def __init__(self, path):
        self.path = path
        self.map()

    def map(self):
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        if hasattr(mmap, "MADV_DONTFORK"):  # a process that the benchmark forks writes no samples
            self.memory.madvise(mmap.MADV_DONTFORK)
        self.words = memoryview(self.memory).cast("q")

    def reshape(self, warmup, iterations):
        """Changes the numbers of iterations. Must be called before the first sample."""
        had, want = self.words[WORD_CAPACITY], warmup + iterations
        self.words.release()
        self.memory.close()
        with open(self.path, "r+b") as file:
            file.truncate(BYTE_ROWS + 8 * min(had, want))
            file.seek(0, os.SEEK_END)
            unset = UNSET.to_bytes(8, sys.byteorder, signed=True)
            for rows in range(had, want, 1 << 17):  # written, so that a full disk is an error here and no SIGBUS later
                file.write(unset * min(1 << 17, want - rows))
        self.map()
        self.words[WORD_CAPACITY], self.words[WORD_WARMUP] = want, warmup

    def begin(self, stage, at):
        index = STAGES.index(stage)
        self.words[WORD_BEGINS + index] = at
        self.words[WORD_PROGRESS] = (index + 1) << 56 | at

    def finish(self, state, kind="", message=""):
        """Notes the end, in the stage that runs; the text first, so that whoever sees the state sees the whole text."""
        text = (kind + "\n" + message).encode("utf-8", "replace")[:BYTE_BEGINS - BYTE_TEXT]
        text = text.decode("utf-8", "ignore").encode()
        self.memory[BYTE_TEXT:BYTE_TEXT + len(text)] = text
        self.memory[BYTE_LENGTH:BYTE_TEXT] = len(text).to_bytes(4, "little")
        state |= self.words[WORD_PROGRESS] >> 56 << 16
        self.memory[BYTE_STATE:BYTE_LENGTH] = state.to_bytes(4, "little")


class Worker:
    """Runs one point through the stages. Backends get this object: they may use fact, missing, warning, run_dir, Unsupported,
    Skipped and Failure."""

    Unsupported, Skipped, Failure = Unsupported, Skipped, Failure

    def __init__(self, run_dir):
        self.run_dir = run_dir
        self.profile_path = os.path.join(run_dir, "profile.json")  # where a profiler leaves what it recorded
        self.pid = os.getpid()
        self.stage = None
        self.subject = None  # the benchmark, of a user or of a backend
        self.ready = False  # it was set up
        self.refused = False  # it was found unsupported
        self.peak_noted = False
        self.own_iterations = False  # its get_config says how many there are
        self.own_counts = {}  # warmup and iterations where its get_config changed them, text
        self.file = None  # the user's file, as tracebacks name it
        self.events = Events(FD_EVENTS)
        stack = os.open(os.path.join(run_dir, "stack"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.stack = out_of_the_way(stack)
        faulthandler.enable(self.stack)
        faulthandler.register(signal.SIGUSR1, self.stack)
        self.events.send("hello", proto=PROTO, at=self.now(), dumps=True)
        try:
            with open(os.path.join(run_dir, "job.json"), encoding="utf-8") as file:
                job = json.load(file)
            self.samples = Samples(os.path.join(run_dir, "samples"))
        except (OSError, ValueError) as error:
            self.events.send("error", kind="start", message=one_line("starting the worker: %s" % error))
            raise SystemExit(1)
        self.config, self.settings = job.get("config", {}), job.get("settings") or {}
        self.warmup, self.iterations, self.budget = job["warmup"], job["iterations"], job.get("budget", 0)
        self.watch = job.get("watch", False)
        self.counters = {name: out_of_the_way(FD_COUNTERS + i) for i, name in enumerate(job.get("counters", ()))}
        self.deadlines = job.get("deadlines", {})  # in ns, by stage

    # Messages to the runner.

    def now(self):
        return time.monotonic_ns() - BEGAN

    def fact(self, key, value):
        self.events.send("fact", key=key, value=str(value))

    def missing(self, key, reason):
        """Reports a fact that is not known: absent, permission, unsupported or timeout."""
        self.events.send("fact", key=key, missing=reason)

    def warning(self, word):
        self.events.send("warning", value=word)

    def metric(self, name, unit, values, **about):
        """Appends values to a metric: integers as ticks of 1, else reals. about may have better, clock, level."""
        kind = "ticks" if all(type(v) is int for v in values) else "reals"
        metric = dict(about, name=name, unit=unit)
        if kind == "ticks":
            metric["tick"] = 1
        if self.stage == "warmup":
            metric["warmup"] = True
        for at in range(0, len(values), MAX_VALUES):
            self.events.send("metric", metric=metric, **{kind: values[at:at + MAX_VALUES]})

    def begin(self, stage):
        """Begins a stage. It is written to the header first, which stays readable if the event is lost."""
        self.stage = stage
        at = self.now()
        self.samples.begin(stage, at)
        self.events.send("stage", stage=stage, at=at)

    def part(self, name):
        """The module in the file NAME.py in the run directory."""
        title = "neurolens_" + name
        if title not in sys.modules:
            module = types.ModuleType(title)
            with open(os.path.join(self.run_dir, name + ".py"), "rb") as file:
                code = compile(file.read(), title + ".py", "exec")
            sys.modules[title] = module
            exec(code, module.__dict__)
        return sys.modules[title]

    # The stages.

    def run(self):
        """Runs the stages of the point and returns the exit status: 0 only after a result or unsupported."""
        try:
            self.begin("setup")
            self.set_up()
            if self.settings.get("profile"):
                self.profile()
            else:
                self.measure()
                self.validate()
                self.operators()
            status = self.result()
        except BaseException as error:
            if os.getpid() != self.pid:
                raise  # a process that the benchmark forked and that came back here
            status = self.fail(error)
        self.send_facts()
        return self.tear_down(status)

    def set_up(self):
        for name in ("packages", "timing", "inner", "returned", "devices"):
            self.part(name)  # while files can be opened
        frameworks = self.part("frameworks")
        if self.settings.get("cold_start"):
            frameworks.fresh_caches(self.run_dir)
        frameworks.seed(self.settings)  # before anything draws a number while it is imported
        self.subject = self.load()
        if hasattr(self.subject, "version"):  # before it may find that the point does not exist here
            self.events.send("version", backend_version=str(self.subject.version()))
        frameworks.seed(self.settings)
        self.configure()
        frameworks.seed(self.settings)
        self.check_device()
        self.subject.setup()
        self.ready = True
        self.check_device()  # setup may have imported what knows
        self.timing = self.part("timing").choose(self)
        self.fit_samples()

    def check_device(self):
        """Ends a point whose backend names a device that is missing here."""
        devices = self.part("devices")
        why = devices.absent(devices.asked(self))
        if why:
            raise Unsupported("not_applied", "backend %s was requested, but %s" % (self.config["backend"], why))

    def load(self):
        if self.settings.get("backend"):
            return self.part("backends").load(self.settings, self.config, self)
        return self.part("benchmark").load(self)

    def configure(self):
        """Applies the benchmark's own get_config, except for settings of the command line."""
        if not hasattr(self.subject, "get_config"):
            return
        own, fixed = self.subject.get_config(), set(self.settings.get("fixed") or ())
        if self.settings.get("cold_start"):
            fixed.add("warmup")
        if "timing" in fixed:
            fixed.add("min_run_time_ns")
        own = {name: value for name, value in own.items() if name not in fixed}
        asked = {"warmup": self.warmup, "iterations": None if self.budget else self.iterations}
        self.own_counts = {name: str(own[name]) for name in asked if own.get(name, asked[name]) != asked[name]}
        self.warmup = own.pop("warmup", self.warmup)
        if "iterations" in own:
            self.iterations, self.budget, self.own_iterations = own.pop("iterations"), 0, True
        self.shorten(own.pop("deadlines", {}))
        self.settings.update(own)

    def shorten(self, deadlines):
        """Makes deadlines shorter, in ns by stage. A budget that would not end before that for measuring becomes shorter too."""
        if not deadlines:
            return
        self.events.send("deadlines", deadlines=deadlines)
        self.fact("runner.own_timeouts", " ".join(
            "%s=%gs" % (stage, deadlines[stage] / 1e9) for stage in STAGES if stage in deadlines))
        within = int(deadlines.get("measure", self.budget) * BUDGET_SHARE)
        if self.budget > within and "measure" in deadlines:
            self.budget = max(1, within)
            self.own_counts["budget"] = "%gs" % (self.budget / 1e9)

    def fit_samples(self):
        """Resizes the file of samples for the benchmark's own numbers, and reports the clock."""
        iterations = self.timing.rows(self.iterations, self.budget)
        words = self.samples.words
        if (self.warmup, iterations) != (words[WORD_WARMUP], words[WORD_CAPACITY] - words[WORD_WARMUP]):
            if self.warmup + iterations > MAX_ROWS:
                raise Failure("setup", "warmup %d and iterations %d: want at most %d together" % (
                    self.warmup, iterations, MAX_ROWS))
            self.samples.reshape(self.warmup, iterations)
            self.events.send("shape", warmup=self.warmup, iterations=iterations)
        self.iterations = iterations
        self.send_latency()

    def send_latency(self, count=0, **about):
        """Reports what a row of samples is: one iteration, or the mean of several that are timed together."""
        metric = {"name": "latency", "unit": "ns", "better": "lower", "level": "iteration", "tick": 1}
        if count:
            metric.update(level="mean", tick=1 / count)
            about["iterations_per_sample"] = [count]
        self.events.send("metric", metric=dict(metric, clock=self.timing.clock), **about)

    def measure(self):
        words, first = self.samples.words, WORD_ROWS + self.warmup
        collecting = gc.isenabled()
        gc.collect()  # before the warm-up: it leaves the processor's caches cold
        gc.disable()
        self.fact("python.gc", "off while measuring")
        first_call = 0
        try:
            if self.warmup or self.settings.get("iterations_per_sample", 1) > 1:
                self.begin("warmup")
                self.timing.warm_up(words, WORD_ROWS, first)
                first_call = words[WORD_ROWS] if self.warmup and self.file else 0
                self.timing.calibrate(words, WORD_ROWS, first)
            self.begin("measure")
            before = self.read_counters()
            self.timing.measure(words, first, first + self.iterations, self.budget)
            self.send_counts(before, self.read_counters())
        finally:
            if collecting:
                gc.enable()
            self.timing.end()
        if first_call > FIRST_CALL_NS:
            self.compare_first_call(first_call, [row for row in words[first:first + self.iterations] if row != UNSET])
        self.send_device_memory()

    def read_counters(self):
        """The bytes of a reading of each counter, which are three numbers; less of one that does not count here."""
        return [os.read(fd, 24) for fd in self.counters.values()]

    def send_counts(self, before, after):
        if not self.counters:
            return
        counts = {}
        for name, first, last in zip(self.counters, before, after):
            if len(first) == len(last) == 24:
                numbers = [b - a for a, b in zip(memoryview(first).cast("q"), memoryview(last).cast("q"))]
                counts[name] = dict(zip(("count", "enabled", "running"), numbers))
        self.events.send("counts", counts=counts)

    def compare_first_call(self, took, rows):
        """Warns where the first call, which was a warm-up iteration, did work that the measured ones did not."""
        count = self.timing.inner.count if self.timing.inner else 1
        if rows and took > FIRST_CALL_TIMES * sorted(rows)[len(rows) // 2] / count:
            self.warning("first_call")
            self.fact("runner.first_call_ns", took)

    def profile(self):
        """A profiler pass: it has operations, and no samples."""
        if self.warmup:
            self.begin("warmup")
            self.timing.warm_up(self.samples.words, WORD_ROWS, WORD_ROWS + self.warmup)
        wait = self.part("frameworks").waiting(self.part("returned").Arrays())
        if self.settings["profile"] not in INSIDE:
            ranges = self.part("ranges").choose(self)  # a profiler that knows no ranges ignores them
            self.begin("profile")
            times = self.part("profiled").within(ranges, self.subject.benchmark_fn, self.iterations, wait and (lambda: wait(None)))
            self.fact("profile.iterations", len(times))
            self.fact("profile.latency_ns", self.part("profiled").median(times))
            self.send_device_memory()
            return
        self.begin("profile")
        profiled = self.part("profiled")
        plain = profiled.plain(self.subject.benchmark_fn, self.iterations, wait and (lambda: wait(None)))
        profile = self.subject.profile(self.iterations)
        for op in profile.ops:
            self.events.send("op", op=op)
        profiled.note(self, plain, profile, self.iterations)
        self.send_device_memory()

    def operators(self):
        """The operators of a few more iterations, if these and what they need take less than a tenth of the time of the run so far. Without
        them the run is whole."""
        if not self.settings.get("operators"):
            return
        first = WORD_ROWS + self.warmup
        rows = sorted(row for row in self.samples.words[first:first + self.iterations] if row != UNSET)
        left = min(self.now() // PROFILED_SHARE, MOST_PROFILED_NS) - self.subject.load_time
        iterations = min(MOST_PROFILED, left // max(1, rows[len(rows) // 2]) - 1) if rows else 0  # one is left out
        if iterations < 1:
            return
        self.note_peak()
        self.peak_noted = True
        if self.stage != "validate":
            self.begin("validate")
        try:
            profile = self.subject.operators(iterations)
        except Exception as error:
            self.fact("runner.operators_error", one_line("%s: %s" % (type(error).__name__, text_of(error))))
            return
        for op in profile.ops:
            self.events.send("op", op=op)
        if profile.times:
            self.fact("profile.iterations", len(profile.times))
            self.fact("profile.latency_ns", self.part("profiled").median(profile.times))

    def validate(self):
        check = getattr(self.subject, "validate_result", None)
        if self.settings.get("output") is None and not callable(check):
            return
        self.begin("validate")
        if self.settings.get("output") is not None:
            self.save_output()
        if not callable(check):
            return
        verdict = check()
        if isinstance(verdict, str):
            if verdict:
                raise Failure("validate", one_line(verdict))
        elif verdict is not None and not is_bool(verdict):
            raise Failure("validate", one_line(
                "validate_result returned %.200r: want True, False, None, or a text that says what is wrong" % (verdict,)))
        elif verdict is not None and not verdict:
            raise Failure("validate", one_line("validate_result returned %r" % (verdict,)))

    def save_output(self):
        """Writes the output, which the runner compares. It is written before the check, so that a wrong output can be examined.
        Random numbers drawn for it do not depend on the number of iterations."""
        self.part("frameworks").seed(self.settings, again=True)
        self.note_peak()
        self.peak_noted = True
        value = self.subject.output() if hasattr(self.subject, "output") else self.subject.benchmark_fn()
        wait = self.part("frameworks").waiting(self.part("returned").Arrays())
        if wait is not None:
            wait(value)
        digest, shape, odd = self.part("output").save(self.run_dir, value, self.settings["output"]["seed"])
        self.fact("output.sha256", digest)
        self.fact("output.shape", json.dumps(list(shape), separators=(",", ":")))
        if odd is not None:
            self.fact("output.nan", odd[0])
            self.fact("output.infinite", odd[1])

    def result(self):
        """Reports the result before the teardown, so that an error there does not lose it."""
        self.check_modules()
        applied = dict(self.timing.applied(), **self.own_counts)
        applied.update(self.subject.applied())
        devices = self.part("devices")
        asked = devices.asked(self)
        ran = devices.ran(asked) if asked else None
        if ran:
            applied["backend"] = self.config["backend"] if ran == asked else ran
        if self.settings.get("seed") is not None and not self.part("frameworks").without_seed():
            applied["seed"] = str(self.settings["seed"])
            if self.settings.get("reproducible"):
                applied["reproducible"] = "true"
        fields = {"applied": applied}
        if hasattr(self.subject, "work"):
            fields.update((k, v) for k, v in (self.subject.work() or {}).items() if v is not None)
        self.note_peak()
        self.check_installed()  # looking at what is installed takes memory
        self.send_modules()
        self.samples.finish(RESULT)
        self.events.send("result", at=self.now(), **fields)
        return 0

    def tear_down(self, status):
        """Runs the teardown. Its exception counts only if nothing failed before."""
        if not self.ready:
            return status
        if not self.settings.get("profile"):
            self.begin("teardown")
        try:
            self.subject.teardown()
        except BaseException as error:
            if os.getpid() != self.pid:
                raise
            if status == 0 and not self.refused:
                return self.fail(error)
            self.print_traceback(error)
        return status

    def fail(self, error):
        """Reports how the point ended and returns the exit status."""
        self.note_peak()
        error = self.explained(self.skipped(error) or error)
        for kind, state, event in (Unsupported, UNSUPPORTED, "unsupported"), (Skipped, SKIPPED, "skipped"):
            if isinstance(error, kind):
                self.refused = True
                self.samples.finish(state, error.kind, one_line(error.message))
                self.events.send(event, stage=self.stage, kind=error.kind, message=one_line(error.message))
                return 0
        kind, message = self.describe(error)
        self.samples.finish(ERROR, kind, message)
        self.events.send("error", stage=self.stage, kind=kind, message=message)
        if kind == "oom":
            self.send_device_memory()
        if not isinstance(error, Failure):
            self.fact("runner.traceback", self.print_traceback(error)[-MAX_TRACEBACK:])
        return 1

    def skipped(self, error):
        """Skipped, if the benchmark says that the point cannot run here; else None."""
        if self.file is None or self.stage == "teardown":
            return None
        names = {(c.__module__, c.__qualname__) for c in type(error).__mro__}
        if names & SKIPS or not self.iterated() and isinstance(error, NotImplementedError):
            return Skipped("skip", text_of(error) or "the benchmark raised %s" % type(error).__name__)
        texts = [error.message if isinstance(error, Failure) else text_of(error)]
        if isinstance(error, SystemExit):
            texts.append(self.last_line())
        for text in map(str.strip, texts):
            for word in SKIP_WORDS:
                if text.startswith(word):
                    return Skipped("skip", text[len(word):].strip() or word)
        return None

    def iterated(self):
        """Whether an iteration has ended."""
        return self.samples.words[BYTE_ROWS // 8] != UNSET

    def last_line(self):
        """The last line on standard output."""
        try:
            sys.stdout.flush()
            with open(os.path.join(self.run_dir, "stdout"), "rb") as file:
                file.seek(max(0, os.path.getsize(file.name) - 4096))
                lines = file.read().decode("utf-8", "replace").split("\n")
        except (OSError, ValueError, AttributeError):  # the benchmark closed it
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def explained(self, error):
        """If the requested device is missing, that is the reason why the benchmark failed."""
        if "neurolens_devices" in sys.modules and isinstance(error, Exception) and not isinstance(
                error, (Failure, Skipped)):
            try:
                self.check_device()
            except Unsupported as why:
                return why
            except Exception:
                pass
        return error

    def describe(self, error):
        """The kind of an error, and one line with the innermost line of the user's file."""
        if isinstance(error, Failure):
            return error.kind, one_line(error.message)
        if isinstance(error, SyntaxError) and error.filename:
            return "syntax", one_line("%s:%s: %s" % (os.path.basename(error.filename), error.lineno, error.msg))
        text = text_of(error)
        message = type(error).__name__ + (": " + text if text else "")
        place, trace = "", error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == self.file:
                function = "" if code.co_name == "<module>" else " in " + code.co_name
                place = " (%s:%d%s)" % (os.path.basename(self.file), trace.tb_lineno, function)
            trace = trace.tb_next
        kind = {"setup": "setup", "validate": "validate"}.get(self.stage, "raise")
        if self.part("frameworks").is_oom(error):
            kind = "oom"
        elif isinstance(error, ImportError):
            kind = "import"
        return kind, one_line(message)[:MAX_MESSAGE - len(place)] + place

    def print_traceback(self, error):
        """Prints the traceback on standard error, without the worker's own frames, and returns it."""
        import traceback

        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith("neurolens_"):
            trace = trace.tb_next
        try:
            text = "".join(traceback.format_exception(type(error), error, trace))
        except BaseException:  # what the benchmark made of its exception raises itself
            text = "".join(traceback.format_tb(trace)) + type(error).__name__ + "\n"
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # the benchmark closed it
            pass
        return text

    # Facts at the end.

    def note_peak(self):
        """Records the peak resident size of this process, before writing an output, teardown or clean-up can raise it."""
        if self.peak_noted:
            return
        try:
            with open("/proc/self/status", "rb") as file:
                for line in file:
                    if line.startswith(b"VmHWM:"):
                        self.samples.words[WORD_PEAK] = int(line.split()[1]) << 10
        except OSError:
            pass  # not on Linux

    def send_device_memory(self):
        for name, size in self.part("frameworks").device_memory().items():
            self.metric(name, "B", [size], better="lower", level="process")

    def send_facts(self):
        implementation, version = sys.implementation.name, ".".join(map(str, sys.version_info[:3]))
        self.fact("python.version", version)
        self.fact("python.implementation", implementation)
        self.fact("python.executable", sys.executable)
        self.part("frameworks").report_seeds(self)
        for name, version in self.part("packages").versions(sys.modules).items():
            self.fact("python.package." + name, version)

    def check_modules(self):
        """Refuses the run if it loaded code of the other side, or of the tree from which the sides were made. The interpreter's
        own folders, even of a virtual environment in such a tree, and shared folders belong to no side."""
        foreign = inside(self.settings.get("foreign") or ())
        if not foreign:
            return
        own = inside((sys.prefix, sys.exec_prefix, sys.base_prefix))
        own = tuple(p for p in own if p.startswith(foreign)) + inside(self.settings.get("exempt") or ())
        folders = {}  # as modules name them -> where they really are
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if not isinstance(path, str):
                continue
            folder = os.path.dirname(path)
            if folder not in folders:
                folders[folder] = inside((folder,))[0]
            if folders[folder].startswith(foreign) and not folders[folder].startswith(own):
                raise Unsupported("not_applied", "module %s was loaded from %s, not from the side under test" % (
                    name, folder))

    def check_installed(self):
        """Refuses the run if it loaded a copy that was installed from the other side, or from the tree from which the sides were
        made: it would be the same code on both sides."""
        foreign = inside(self.settings.get("foreign") or ())
        if not foreign:
            return
        exempt = inside(self.settings.get("exempt") or ())
        installed = self.part("packages").installed_from(lambda path: path.startswith(foreign) and not path.startswith(exempt))
        for name, module in list(sys.modules.items()) if installed else ():
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and os.path.realpath(path) in installed:
                raise Unsupported("not_applied", "module %s was loaded from %s, not from the side under test: it is a copy, "
                                  "installed from the repository" % (name, os.path.dirname(path)))


    def send_modules(self):
        """Reports the files of modules, if the runner looks for files that a build has overwritten."""
        if not self.watch:
            return
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str):
                self.events.send("read", value=os.path.realpath(path))


def inside(folders):
    """The real paths of folders with a separator at the end, so that they are prefixes of the paths inside."""
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


def end_helpers(pid):
    """Ends the helper processes of multiprocessing. By themselves they end only after this process, and would be reported as left
    running by the benchmark. One that does not end now is left to the supervisor."""
    if os.getpid() != pid:
        return
    for module, name, fd, child in (
        ("forkserver", "_forkserver", "_forkserver_alive_fd", "_forkserver_pid"),
        ("resource_tracker", "_resource_tracker", "_fd", "_pid"),
    ):
        helper = getattr(sys.modules.get("multiprocessing." + module), name, None)
        if getattr(helper, fd, None) is None or getattr(helper, child, None) is None:
            continue
        try:
            os.close(getattr(helper, fd))  # it lives as long as this is open
            setattr(helper, fd, None)
            until = time.monotonic() + HELPER_WAIT
            while os.waitpid(getattr(helper, child), os.WNOHANG) == (0, 0) and time.monotonic() < until:
                time.sleep(0.001)
        except OSError:
            pass  # somebody else ended it


def main():
    sys.modules["neurolens_worker"] = sys.modules["__main__"]  # by this name the other files import it
    run_dir = os.path.abspath(sys.argv[1])
    sys.argv[1:] = []
    atexit.register(end_helpers, os.getpid())  # registered first, it comes last
    return Worker(run_dir).run()


if __name__ == "__main__":
    sys.exit(main())
