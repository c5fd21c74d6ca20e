"""equal.py HOW TABLE WANT TYPES [PAGE]: reads a table and compares it with what neurolens query printed as JSON lines.

HOW is a module, whose block of docs/notebooks.md reads the store in the working directory, or arrow-pyarrow and arrow-polars,
which read a stream on standard input. TYPES is a JSON object of the columns and their types."""

import json
import sys

import tables

how, table, want, types = sys.argv[1:5]
if how == "arrow-pyarrow":
    import pyarrow

    got = pyarrow.ipc.open_stream(sys.stdin.buffer).read_all()
elif how == "arrow-polars":
    import polars

    got = polars.read_ipc_stream(sys.stdin.buffer)
else:
    exec(tables.block(sys.argv[5], how))
    got = read(table)  # noqa: F821: the block defines it

types = json.loads(types)


def integer(text):
    return -0.0 if text == "-0" else int(text)


names, rows = tables.rows(got)
if list(names) != list(types):
    sys.exit(f"the columns are {names}, want {list(types)}")
key = [i for i, name in enumerate(names) if name in ("run_id", "metric", "op", "i")]
rows.sort(key=lambda row: [row[i] for i in key])
with open(want, encoding="utf-8") as lines:
    wanted = [[tables.expected(v, types[k]) for k, v in json.loads(line, parse_int=integer).items()] for line in lines]
wanted.sort(key=lambda row: [row[i] for i in key])
if len(rows) != len(wanted):
    sys.exit(f"{len(rows)} rows, want {len(wanted)}")
for row, want_row in zip(rows, wanted):
    for name, got_value, want_value in zip(names, row, want_row):
        if not tables.same(got_value, want_value):
            sys.exit(f"run {row[key[0]]}, {name}: {got_value!r} ({type(got_value)}), want {want_value!r} ({type(want_value)})")
print(len(rows), "rows are equal")
