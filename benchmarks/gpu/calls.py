"""Measures what each call of NVIDIA's management library takes that telemetry uses, while the GPU is idle and while it works."""

import ctypes
import json
import statistics
import subprocess
import sys
import time

WORK = """
import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
while True:
    torch.mm(a, a)
    torch.cuda.synchronize()
"""

try:
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
except OSError as error:
    raise SystemExit(f"no driver: {error}") from error


class Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class Memory(ctypes.Structure):
    _fields_ = [
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


class Field(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_uint),
        ("scope", ctypes.c_uint),
        ("timestamp", ctypes.c_longlong),
        ("latency", ctypes.c_longlong),
        ("type", ctypes.c_int),
        ("code", ctypes.c_int),
        ("value", ctypes.c_ulonglong),
    ]


class Sample(ctypes.Structure):
    _fields_ = [("timestamp", ctypes.c_ulonglong), ("value", ctypes.c_ulonglong)]


POWER_INSTANT = 186  # NVML_FI_DEV_POWER_INSTANT


FUNCTION_NOT_FOUND = 13  # NVML_ERROR_FUNCTION_NOT_FOUND


def ask(name, *arguments):
    """Calls a function of the library, which an old one may not have, and returns its code."""
    try:
        function = getattr(nvml, name)
    except AttributeError:
        return FUNCTION_NOT_FOUND
    return function(*arguments)


def check(code, what):
    if code != 0:
        raise SystemExit(f"{what}: code {code}")


check(nvml.nvmlInit_v2(), "nvmlInit")
device = ctypes.c_void_p()
check(
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)),
    "nvmlDeviceGetHandleByIndex",
)

number, large = ctypes.c_uint(), ctypes.c_ulonglong()
field = Field(id=POWER_INSTANT)
calls = {
    "clock_sm": lambda: ask("nvmlDeviceGetClockInfo", device, 1, ctypes.byref(number)),
    "clock_memory": lambda: ask("nvmlDeviceGetClockInfo", device, 2, ctypes.byref(number)),
    "throttle": lambda: ask("nvmlDeviceGetCurrentClocksEventReasons", device, ctypes.byref(large)),
    "utilization": lambda: ask("nvmlDeviceGetUtilizationRates", device, ctypes.byref(Utilization())),
    "power_instant": lambda: ask("nvmlDeviceGetFieldValues", device, 1, ctypes.byref(field)) or field.code,
    "power_average": lambda: ask("nvmlDeviceGetPowerUsage", device, ctypes.byref(number)),
    "energy": lambda: ask("nvmlDeviceGetTotalEnergyConsumption", device, ctypes.byref(large)),
    "temperature": lambda: ask("nvmlDeviceGetTemperature", device, 0, ctypes.byref(number)),
    "memory": lambda: ask("nvmlDeviceGetMemoryInfo", device, ctypes.byref(Memory())),
}


def timed(call, seconds=1.0):
    """Returns the median and the 99th percentile of a call in microseconds, or the code of its error."""
    took, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter_ns()
        code = call()
        took.append((time.perf_counter_ns() - began) / 1e3)
        if code != 0:
            return {"code": code}
        time.sleep(0.002)
    return {
        "median_us": statistics.median(took),
        "p99_us": statistics.quantiles(took, n=100)[98],
        "calls": len(took),
    }


def energy_steps(seconds=2.0):
    """Returns the median time in ms and the median size in mJ of a step of the energy counter."""
    times, sizes, last, at = [], [], None, None
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if ask("nvmlDeviceGetTotalEnergyConsumption", device, ctypes.byref(large)) != 0:
            return None
        now = time.perf_counter()
        if last is not None and large.value != last:
            if at is not None:
                times.append((now - at) * 1e3)
                sizes.append(large.value - last)
            at = now
        last = large.value
    return (
        {
            "ms": statistics.median(times),
            "mj": statistics.median(sizes),
            "steps": len(times),
        }
        if times
        else None
    )


def buffered():
    """Returns how many readings the driver's own buffers have, and how far they are apart in ms."""
    found = {}
    for name, kind in {
        "power": 0,
        "gpu_utilization": 1,
        "clock_sm": 5,
        "clock_memory": 6,
    }.items():
        count, kind_of_value = ctypes.c_uint(0), ctypes.c_int()
        code = ask(
            "nvmlDeviceGetSamples",
            device,
            kind,
            ctypes.c_ulonglong(0),
            ctypes.byref(kind_of_value),
            ctypes.byref(count),
            None,
        )
        if code != 0 or count.value == 0:
            found[name] = {"code": code}
            continue
        samples = (Sample * count.value)()
        code = ask(
            "nvmlDeviceGetSamples",
            device,
            kind,
            ctypes.c_ulonglong(0),
            ctypes.byref(kind_of_value),
            ctypes.byref(count),
            samples,
        )
        times = [s.timestamp for s in samples[: count.value] if s.timestamp]
        gaps = [(b - a) / 1e3 for a, b in zip(times, times[1:]) if b > a]
        found[name] = {
            "code": code,
            "readings": count.value,
            "gap_ms": statistics.median(gaps) if gaps else None,
        }
    return found


def measure():
    return {
        "calls": {name: timed(call) for name, call in calls.items()},
        "energy_step": energy_steps(),
        "buffers": buffered(),
    }


result = {"idle": measure()}
worker = subprocess.Popen([sys.executable, "-c", WORK])
try:
    time.sleep(8)  # torch starts
    result["working"] = measure() if worker.poll() is None else None
finally:
    worker.kill()
    worker.wait()
with open(sys.argv[1], "w") as file:
    json.dump(result, file, indent=1)
print(json.dumps(result, indent=1))
