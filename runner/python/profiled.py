"""The iterations of a profiler's pass: how long they take with the profiler and without it."""
from time import perf_counter_ns

MOST_PLAIN, MOST_PLAIN_NS = 100, 1000000000  # iterations without the profiler, and the time after which no more begin


class Profile:
    """What a profiler recorded: operators, as events have them, and the durations in ns of the iterations that it saw."""

    def __init__(self, ops, times):
        self.ops, self.times = ops, times


def durations(call, iterations, wait=None, limit_ns=None):
    """The duration of each iteration in ns, with what its device has to do. wait waits for the device. After limit_ns no further one
    begins."""
    times, began = [], perf_counter_ns()
    for _ in range(iterations):
        if limit_ns and times and perf_counter_ns() - began > limit_ns:
            break
        start = perf_counter_ns()
        call()
        if wait is not None:
            wait()
        times.append(perf_counter_ns() - start)
    return times


def within(ranges, call, iterations, wait):
    """The durations of iterations in ns, each in a range, and all of them in one."""
    times = []
    with ranges("neurolens:measure"):
        for _ in range(iterations):
            with ranges("neurolens:iteration"):
                times += durations(call, 1, wait)
    return times


def plain(call, iterations, wait):
    """The durations of iterations before the profiler is there: of as many, as far as there is time."""
    return durations(call, min(iterations, MOST_PLAIN), wait, MOST_PLAIN_NS)


def note(worker, plain, profile, iterations):
    """Reports what became of the iterations that were asked for. plain are durations without the profiler."""
    with_it, without = median(profile.times), median(plain)
    worker.fact("profile.iterations", len(profile.times))  # durations of operators are sums over them
    worker.fact("profile.latency_ns", with_it)
    worker.fact("profile.unprofiled_ns", without)
    if with_it >= 2 * without:
        worker.warning("profiler_overhead")
    if len(profile.times) < iterations:
        worker.warning("profile_cut")


def median(times):
    return sorted(times)[len(times) // 2]
