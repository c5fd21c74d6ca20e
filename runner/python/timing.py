"""Clocks, and the loops that read them. Only the benchmark runs between the two readings for an iteration. Its return value is
awaited before the second reading, so that asynchronous work of a framework is included."""
import importlib
import sys
from time import perf_counter_ns

from neurolens_worker import MAX_VALUES, WORD_STOP, Failure, Unsupported, one_line

FOREVER = 1 << 62  # ns
FLOOR_PAIRS = 1001
FLUSH_BYTES = 256 << 20  # more than any level-2 cache
TRITON_REP_MS = 20  # between two looks at the budget
TORCH_TIMER_ROWS = 4096  # blocked_autorange takes about 1,000 blocks
TORCH_TIMER_MIN_RUN_NS = 200000000  # the default of torch
FLUSH_INTERVAL_NS = 250000000


def floor_ns():
    """The median time between two consecutive readings of the clock."""
    pairs = []
    for _ in range(FLOOR_PAIRS):
        start = perf_counter_ns()
        pairs.append(perf_counter_ns() - start)
    return sorted(pairs)[FLOOR_PAIRS // 2]


def perf_counter_loop(timing, words, first, end, limit):
    """Times iterations into the rows from first to before end. With a limit it ends early, after at least one row, when the clock
    passes the limit or the runner has enough samples. Returns whether all rows are filled.

    A row is the time of the call, and then that of releasing its result, as with timeit. The result is looked at in between, untimed."""
    clock, call, wait, look, prepare = perf_counter_ns, timing.call, timing.wait, timing.look, timing.prepare
    for row in range(first, end):
        if prepare is not None:
            call = prepare()
        start = clock()
        result = call()
        stop = clock()
        if wait is not None and wait(result):
            stop = clock()
        took = stop - start
        if result is not None:
            look(result)
            start = clock()
            result = None
            stop = clock()
            took += stop - start
        words[row] = took
        if limit < FOREVER and (stop >= limit or words[WORD_STOP]):
            return False
    return True


def inner_loop(inner, words, first, end, limit):
    """The same with inner loops: a row is the time of all calls of a sample."""
    for row in range(first, end):
        words[row] = inner.sample()
        if limit < FOREVER and (perf_counter_ns() >= limit or words[WORD_STOP]):
            return


METRIC_KEYS = ("ttft_times_ms", "tpot_times_ms", "metrics")


def own_metrics(result):
    """The entries of a result that are numbers which the benchmark measured itself."""
    if not issubclass(type(result), dict):
        return {}
    try:
        return {key: dict.get(result, key) for key in METRIC_KEYS if dict.__contains__(result, key)}
    except Exception:  # a key of the user whose comparison fails
        return {}


class Collector:
    """Sends metrics that an iteration returned: ttft_times_ms, tpot_times_ms, and its own names under "metrics". It works between
    iterations and sends from time to time, so that little is lost if the run is killed."""

    def __init__(self, worker):
        self.worker = worker
        self.metrics = {}  # name -> (unit, about, values)
        self.not_finite = {}  # name -> how many values were left out
        self.units = {}  # name -> unit of its values so far
        self.pending = 0
        self.used = False  # an iteration returned metrics
        self.sent_at = perf_counter_ns()

    def __call__(self, result):
        returned = own_metrics(result)
        if not returned:
            return
        self.used = True
        for key, name, level in (("ttft_times_ms", "ttft", "request"), ("tpot_times_ms", "tpot", "token")):
            if returned.get(key) is not None:
                self.add(name, "ns", self.ticks(key, returned[key]), better="lower", level=level, clock="perf_counter")
        metrics = returned.get("metrics")
        if metrics is not None and not isinstance(metrics, dict):
            raise Failure("raise", one_line("benchmark_fn returned metrics %.80r: want a dict" % (metrics,)))
        for name, value in (metrics or {}).items():
            self.add_own(str(name), value)
        if self.pending > MAX_VALUES or self.pending and perf_counter_ns() - self.sent_at > FLUSH_INTERVAL_NS:
            self.send()

    def add(self, name, unit, values, **about):
        self.metrics.setdefault(name, (unit, about, []))[2].extend(values)
        self.pending += len(values)

    def ticks(self, key, times):
        """Milliseconds as whole nanoseconds."""
        try:
            return [round(float(ms) * 1e6) for ms in (times if hasattr(times, "__iter__") else [times])]
        except (TypeError, ValueError, OverflowError) as error:
            raise Failure("raise", one_line("benchmark_fn returned %s %.80r: %s" % (key, times, error)))

    def add_own(self, name, value):
        about = {}
        if isinstance(value, dict):
            about = {k: str(value[k]) for k in ("unit", "better") if value.get(k) is not None}
            value = value.get("value")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise Failure("raise", one_line("benchmark_fn returned the metric %s %.80r: want a number" % (name, value)))
        if name == "latency":
            raise Failure("raise", "benchmark_fn returned the metric latency, which NeuroLens measures itself")
        if number - number != 0:  # infinite, or none
            self.worker.warning("not_finite")
            self.not_finite[name] = self.not_finite.get(name, 0) + 1
            return
        unit, known = about.pop("unit", ""), self.units.get(name)
        if known is not None and known != unit:
            raise Failure("raise", one_line("benchmark_fn returned the metric %s in %s, and before in %s: want one unit" % (name, unit or "no unit", known or "no unit")))
        self.units[name] = unit
        self.add(name, unit, [number], level="iteration", **about)

    def send(self):
        for name, (unit, about, values) in self.metrics.items():
            self.worker.metric(name, unit, values, **about)
        if self.worker.stage == "warmup":
            self.not_finite.clear()
        for name, count in self.not_finite.items():
            self.worker.fact("runner.not_finite." + name, count)
        self.metrics, self.pending, self.sent_at = {}, 0, perf_counter_ns()


class PerfCounter:
    """time.perf_counter_ns around each iteration."""

    mode = clock = "perf_counter"

    def __init__(self, worker):
        self.worker = worker
        self.frameworks, self.returned = worker.part("frameworks"), worker.part("returned")
        self.arrays = self.returned.Arrays()
        self.collect = Collector(worker)
        self.call = self.prepare = None  # an iteration, and what prepares and returns it
        self.wait = None  # waits for the result of an iteration
        self.called = self.looked = False  # an iteration has been, and its result was looked at
        self.inner = None  # where a sample has several iterations

    def rows(self, iterations, budget):
        """The number of rows that are needed for the measurement."""
        return iterations

    def applied(self):
        return {"timing": self.mode}

    def warm_up(self, words, first, end):
        self.loop(words, first, end, FOREVER)
        self.collect.send()

    def calibrate(self, words, first, end):
        """Decides after the warm-up, whose rows are those from first to before end, how many iterations a sample has."""
        if self.mode != "perf_counter" or not self.worker.settings.get("file"):
            return
        self.inner = self.worker.part("inner").choose(self.worker, self, words[first:end].tolist())
        if self.inner is not None:
            self.worker.send_latency(self.inner.count)
            for row in range(first, end):  # these were single iterations, and have the tick of the samples
                words[row] *= self.inner.count

    def measure(self, words, first, end, budget):
        limit = perf_counter_ns() + budget if budget else FOREVER
        if self.inner is not None:
            inner_loop(self.inner, words, first, end, limit)
        else:
            self.loop(words, first, end, limit)

    def look(self, result):
        """Looks at the result of an iteration, outside of the timed region."""
        if not self.looked:
            self.looked = True
            if hasattr(self.worker.subject, "check_ran"):
                self.worker.subject.check_ran(result)
        self.collect(result)

    def loop(self, words, first, end, limit):
        self.call, self.prepare = self.worker.subject.benchmark_fn, self.preparation()
        if not self.called and first < end:
            self.called, self.wait = True, self.find_and_wait
            if not perf_counter_loop(self, words, first, first + 1, limit):
                return
            first += 1
        self.find_and_wait(None)  # what is still under way belongs to no iteration
        self.wait = self.frameworks.waiting(self.arrays)
        perf_counter_loop(self, words, first, end, limit)

    def try_once(self):
        """Runs one iteration that is no sample, and looks at its result."""
        self.called = True
        result = (self.preparation() or (lambda: self.worker.subject.benchmark_fn))()()
        self.find_and_wait(result)
        if result is not None:
            self.look(result)

    def find_and_wait(self, result):
        """Waits for what is in use now. The first call may be what imports a framework or starts its device."""
        wait = self.frameworks.waiting(self.arrays)
        return wait is not None and wait(result)

    def preparation(self):
        """The function that prepares an iteration, waits until that is done, and returns the iteration; None if nothing is prepared."""
        prepared = getattr(self.worker.subject, "prepared", None)
        if prepared is None:
            return None

        def prepare():
            call = prepared()
            self.find_and_wait(None)
            return call

        return prepare

    def end(self):
        """Sends the remaining values after the measurement."""
        self.collect.send()


class CudaEvent(PerfCounter):
    """A pair of torch.cuda.Event around each iteration, on the current stream."""

    mode = clock = "cuda_event"

    def __init__(self, worker):
        super().__init__(worker)
        self.cuda = sys.modules["torch"].cuda
        self.cache = None
        if worker.settings.get("flush_l2"):
            torch = sys.modules["torch"]
            self.cache = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def applied(self):
        return {"timing": self.mode, "flush_l2": "off" if self.cache is None else "on"}

    def loop(self, words, first, end, limit):
        call, cache, prepare = self.worker.subject.benchmark_fn, self.cache, self.preparation()
        start, stop = self.cuda.Event(enable_timing=True), self.cuda.Event(enable_timing=True)
        self.called = True
        self.cuda.synchronize()
        for row in range(first, end):
            if prepare is not None:
                call = prepare()
            if cache is not None:
                cache.zero_()
            start.record()
            result = call()
            stop.record()
            stop.synchronize()
            words[row] = round(start.elapsed_time(stop) * 1e6)
            if result is not None:
                self.look(result)
                result = None  # the next iteration has its memory
            if limit < FOREVER and (perf_counter_ns() >= limit or words[WORD_STOP]):
                return


class Triton(CudaEvent):
    """triton.testing.do_bench, which empties the level-2 cache before each iteration."""

    mode = "triton"

    def applied(self):
        return {"timing": self.mode, "flush_l2": "on"}

    def measure(self, words, first, end, budget):
        if not self.called:
            self.try_once()
        do_bench = importlib.import_module("triton.testing").do_bench
        limit = perf_counter_ns() + budget if budget else FOREVER
        row = first
        while row < end:
            for ms in do_bench(self.worker.subject.benchmark_fn, warmup=0, rep=TRITON_REP_MS, return_mode="all")[:end - row]:
                words[row] = round(ms * 1e6)
                row += 1
            if limit < FOREVER and (perf_counter_ns() >= limit or words[WORD_STOP]):
                return


class Enough(Exception):
    """Ends blocked_autorange from its callback."""


class TorchTimer(PerfCounter):
    """torch.utils.benchmark.Timer: a sample is the mean of a block of iterations. It ends after min_run_time or, if the number of
    iterations is set, after that many blocks."""

    mode = "torch_timer"

    def __init__(self, worker):
        super().__init__(worker)
        self.blocks = []

    def rows(self, iterations, budget):
        return TORCH_TIMER_ROWS if budget else iterations

    def measure(self, words, first, end, budget):
        if not self.called:
            self.try_once()
        torch, call = sys.modules["torch"], self.worker.subject.benchmark_fn
        wait = self.frameworks.waiting(self.arrays, devices=False)  # the timer itself waits for torch's device, once a block

        def awaited():
            wait(call())

        def keep(number, seconds):
            words[first + len(self.blocks)] = round(seconds / number * 1e9)
            self.blocks.append(number)
            if first + len(self.blocks) == end or budget and words[WORD_STOP]:
                raise Enough

        timer = importlib.import_module("torch.utils.benchmark").Timer(
            "call()", globals={"call": call if wait is None else awaited}, num_threads=torch.get_num_threads())
        run_time = (self.worker.settings.get("min_run_time_ns") or TORCH_TIMER_MIN_RUN_NS) / 1e9
        try:
            timer.blocked_autorange(keep, run_time)
            while not budget:
                timer.blocked_autorange(keep, run_time)
        except Enough:
            pass

    def end(self):
        if self.blocks:
            same = len(set(self.blocks)) == 1
            self.worker.send_latency(iterations_per_sample=self.blocks[:1] if same else self.blocks)
        super().end()


def need(module, mode):
    """Imports a module for a timing mode."""
    try:
        importlib.import_module(module)
    except ImportError:
        raise Failure("not_installed", "timing %s needs %s: %s -m pip install %s" % (
            mode, module, sys.executable, module))


def choose(worker):
    """The requested timing, or the best one for the frameworks of the benchmark."""
    mode = worker.settings.get("timing") or "auto"
    if mode == "auto":
        mode = "cuda_event" if worker.part("frameworks").cuda() is not None else "perf_counter"
    modes = {kind.mode: kind for kind in (PerfCounter, CudaEvent, Triton, TorchTimer)}
    if mode not in modes:
        raise Failure("setup", "timing %r: want auto, %s" % (mode, ", ".join(sorted(modes))))
    if mode != "perf_counter":
        need("torch", mode)
    if mode == "triton":
        need("triton", mode)
    if mode in ("cuda_event", "triton") and not sys.modules["torch"].cuda.is_available():
        raise Unsupported("not_applied", "timing %s: torch %s finds no CUDA device" % (
            mode, sys.modules["torch"].__version__))
    if worker.settings.get("flush_l2") and mode not in ("cuda_event", "triton"):
        raise Unsupported("not_applied", "flush_l2 was requested, but timing %s cannot empty the level-2 cache" % mode)
    if worker.settings.get("iterations_per_sample", 1) > 1 and mode != "perf_counter":
        raise Unsupported("not_applied", "iterations_per_sample %d was requested, but timing %s chooses it itself" % (
            worker.settings["iterations_per_sample"], mode))
    if worker.settings.get("prepare") and mode in ("triton", "torch_timer"):
        raise Unsupported("not_applied", "prepare was requested, but timing %s has its own loop" % mode)
    if worker.settings.get("cold_start") and mode in ("triton", "torch_timer"):
        raise Unsupported("not_applied", "cold_start was requested, but timing %s does not measure the first call" % mode)
    worker.fact("timer.floor_ns", floor_ns())
    return modes[mode](worker)
