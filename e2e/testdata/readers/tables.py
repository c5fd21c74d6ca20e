"""What the readers of docs/notebooks.md give, as rows of plain Python values. A block of that page defines read(table)."""

import datetime
import math
import re
import struct
import sys


def block(page, module):
    """The text of the page's code block for a module."""
    text = open(page, encoding="utf-8").read()
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if re.search(rf"^import {module}\b", code, re.MULTILINE):
            return code
    sys.exit(f"the page has no block for {module}")


def rows(table, names=None):
    """The rows of a table of any of the readers as tuples, of named columns or all, and the names."""
    kind = type(table).__module__.split(".")[0]
    if kind == "polars":
        table = table.lazy().collect()
        names = names or table.columns
        return names, list(zip(*(table[name].to_list() for name in names)))
    if kind == "pyarrow":
        names = names or table.column_names
        return names, list(zip(*(table[name].to_pylist(maps_as_pydicts="strict") for name in names)))
    if kind == "pandas":
        names = names or list(table.columns)
        return names, list(zip(*(pandas_values(table[name]) for name in names)))
    if "duckdb" in kind:
        names = names or table.columns
        return names, table.select(", ".join(f'"{name}"' for name in names)).fetchall()
    sys.exit(f"a table of {type(table)}")


def pandas_values(series):
    """The values of a column: its types come from Arrow, in which a map is a list of pairs."""
    import pandas

    def plain(value):
        if value is None or value is pandas.NA:
            return None
        if isinstance(value, pandas.Timestamp):
            return value.to_pydatetime()
        if hasattr(value, "tolist"):
            value = value.tolist()
        return dict(value) if str(series.dtype).startswith("map<") else value

    return [plain(value) for value in series.array]


def expected(value, kind):
    """A value of JSON as one of a type of SQL."""
    if value is None:
        return None
    if kind.endswith("[]"):
        return [expected(v, kind[:-2]) for v in value]
    if kind.startswith("MAP("):
        inner = kind[len("MAP(VARCHAR, "):-1]
        return {k: expected(v, inner) for k, v in value.items()}
    if kind.startswith("STRUCT("):
        fields = re.findall(r'"(\w+)" (\w+)', kind)
        return {name: expected(value[name], inner) for name, inner in fields}
    if kind.startswith("TIMESTAMP"):
        return datetime.datetime.fromisoformat(value)
    return {"VARCHAR": str, "BIGINT": int, "DOUBLE": float, "BOOLEAN": bool}[kind](value)


def same(a, b):
    """Whether two values are equal to the bit, and of the same type."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b) or math.isnan(a) and math.isnan(b)
    if isinstance(a, datetime.datetime):
        return a == b and a.utcoffset() == b.utcoffset() == datetime.timedelta(0)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b
