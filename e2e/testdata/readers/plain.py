"""Values of Python as `query --format jsonl` prints them."""

import datetime
import math


def plain(value):
    if hasattr(value, "asDict"):  # a row of Spark
        value = value.asDict()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, datetime.datetime):
        text = value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
        return text.rstrip("0").rstrip(".") + "Z"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
