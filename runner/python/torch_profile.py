"""PyTorch's own profiler, for the backend and for benchmarks that use torch."""
import time

from neurolens_profiled import Profile, durations

FIRST = "neurolens::first"  # marks the first iteration


def operators(torch, call, iterations, device, path):
    """The Profile of several calls, whose operators are added up by name: the time in an operator itself, without those that it calls,
    and of an operator that has kernels on a device (cuda:0) the time of these. One call before them is left out. The
    whole trace goes to path, in Chrome's format."""
    profiler, on_cuda = torch.profiler, device.startswith("cuda")
    wait = torch.cuda.synchronize if on_cuda else None
    began = time.monotonic_ns()
    activities = [profiler.ProfilerActivity.CPU] + [profiler.ProfilerActivity.CUDA] * on_cuda
    with profiler.profile(activities=activities, with_flops=True) as trace:
        offset = time.monotonic_ns() - began
        with profiler.record_function(FIRST):
            durations(call, 1, wait)
        times = durations(call, iterations, wait)
    trace.export_chrome_trace(path)
    events = trace.events()
    first = next(event.time_range for event in events if event.name == FIRST)
    ops = {}
    for event in events:
        if event.time_range.start >= first.end and "::" in event.name and "CPU" in str(event.device_type):
            on_device = sum(kernel.duration for kernel in event.kernels)
            op = ops.setdefault(event.name, {
                "name": event.name, "type": event.name, "device": device if event.kernels else "cpu",
                "start_ns": offset + round((event.time_range.start - first.start) * 1000),
                "duration_ns": 0, "count": 0, "kernels": [], "counters": {"self_cpu_ns": 0.0}})
            add(op, event, on_device)
    return Profile(ops.values(), times)


def add(op, event, on_device):
    """Adds an event and the time of its kernels, in µs, to its operator."""
    op["duration_ns"] += round((on_device if event.kernels else event.self_cpu_time_total) * 1000)
    op["count"] += 1
    op["counters"]["self_cpu_ns"] += round(event.self_cpu_time_total * 1000)
    op["kernels"] += sorted({kernel.name for kernel in event.kernels} - set(op["kernels"]))
    if event.flops:
        op["counters"]["flops"] = op["counters"].get("flops", 0.0) + event.flops
