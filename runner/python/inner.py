"""Inner loops: a sample of a short function is the mean of many calls, as in timeit.

Reading the clock twice takes about 0.1 us, which would dominate a function of 50 ns. Measured with such a function on a busy
machine with 2 cores, the median of samples of 1 us was 20 to 30 % too high, of 10 us 2 to 5 %, of 30 us 0 to 2 %, of 100 us 0.
Samples of 1 ms were interrupted by other work so often that one in ten was 6 times too high. This is the reason for SAMPLE_NS.
"""
import keyword
import sys
from functools import partial
from itertools import repeat
from time import perf_counter_ns

from neurolens_worker import Unsupported

SHORT_NS = 10000  # a call that takes less has an inner loop: reading the clock is 1 % of it
SAMPLE_NS = 100000  # what a sample takes at least
MANY = 10000  # who asks for more iterations means single ones, and does not expect to wait for a second or more
TRIES = 3  # of each count; the best one tells, for other work may have interrupted the others
FRAMEWORKS = ("jax", "cupy", "tensorflow")  # what they compute may still be on its way; torch is waited for where it uses a device

# The loop of timeit: nothing but the call stands in it, and every name is local.
SOURCE = """
def loop(counter, clock, call%s):
    start = clock()
    for _ in counter:
        call(%s)
    return clock() - start
"""


class Inner:
    """Several calls of a benchmark between two readings of the clock."""

    def __init__(self, call, arguments):
        if any(not name.isidentifier() or keyword.iskeyword(name) for name in arguments):
            call, arguments = partial(call, **arguments), {}
        names = ["argument_%d" % i for i in range(len(arguments))]
        scope = {}
        exec(SOURCE % (  # the arguments are written into the call, as a user would write it
            "".join(", " + n for n in names), ", ".join("%s=%s" % pair for pair in zip(arguments, names))), scope)
        self.loop, self.given = scope["loop"], (call,) + tuple(arguments.values())
        self.count = 1

    def sample(self):
        """Times the calls of one sample, in ns."""
        return self.loop(repeat(None, self.count), perf_counter_ns, *self.given)

    def calibrate(self):
        """Finds the number of calls per sample: 1, 2, 5, 10, 20, 50 ..., as timeit does."""
        scale = 1
        while True:
            for self.count in (scale, 2 * scale, 5 * scale):
                if min(self.sample() for _ in range(TRIES)) >= SAMPLE_NS:
                    return
            scale *= 10


def choose(worker, timing, warmup):
    """The inner loop for a benchmark whose warm-up iterations took these ns; None if a sample is one iteration."""
    asked = worker.settings.get("iterations_per_sample", 0)
    if asked == 1 or not asked and not wanted(worker, warmup):
        return None
    if not timing.called:
        timing.try_once()
    why = single(worker, timing)
    if why and asked:
        raise Unsupported("not_applied", "iterations_per_sample %d was requested, but %s" % (asked, why))
    if why:
        return None
    inner = Inner(*worker.subject.called())
    if asked:
        inner.count = asked
    else:
        inner.calibrate()
    return inner


def wanted(worker, warmup):
    """Whether a benchmark gets an inner loop if iterations_per_sample is not set: if earlier runs of its point had one, because
    samples of two kinds cannot be compared; else if its calls are short."""
    exact = worker.own_iterations or not worker.budget and worker.iterations > MANY
    level = worker.settings.get("level")
    if exact or not warmup or level == "iteration" or any(name in sys.modules for name in FRAMEWORKS):
        return False
    return level == "mean" or min(warmup) < SHORT_NS


def single(worker, timing):
    """Why each iteration must be measured separately; None if several can be measured together."""
    if worker.settings.get("prepare"):
        return "each iteration is prepared"
    if worker.part("frameworks").device_waits():
        return "the device must be synchronized after each iteration"
    if timing.collect.used:
        return "each iteration returns its own metrics"
    if "jax" in sys.modules:
        return "the return value of each iteration must be awaited"
    return None
