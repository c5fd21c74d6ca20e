"""evolve.py MODULE PAGE OLD: makes of the sealed files in the working directory some of a version that had no column
purpose, and others of one that has a column later, and reads them together. OLD is 0 where the first file is an old one."""

import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet

import tables

module, page, old = sys.argv[1:]
files = sorted(Path("runs_store/runs").rglob("*.parquet"))
if len(files) < 4:
    sys.exit(f"{len(files)} files")
want = {}
for i, file in enumerate(files):
    table = pyarrow.parquet.ParquetFile(file).read()
    if i % 2 == int(old):
        table = table.drop_columns("purpose")
        want |= {run_id: None for run_id in table["run_id"].to_pylist()}
    else:
        later = range(i, i + table.num_rows)
        table = table.append_column("later", pyarrow.array(later, pyarrow.int64()))
        want |= dict(zip(table["run_id"].to_pylist(), later))
    pyarrow.parquet.write_table(table, file)

exec(tables.block(page, module))
names, rows = tables.rows(read("runs"), ["run_id", "later", "purpose"])  # noqa: F821: the block defines it
got = {run_id: later for run_id, later, _ in rows}
if len(rows) != len(want) or got != want:
    sys.exit(f"{len(rows)} rows of {len(want)}; {sum(got.get(k) != v for k, v in want.items())} have another value of a column that came later")
if any((purpose is None) != (later is None) for _, later, purpose in rows):
    sys.exit("purposes are not what they were")
print(len(rows), "rows of", len(files), "files")
