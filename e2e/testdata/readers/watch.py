"""watch.py MODULE PAGE STOP: reads the store in the working directory again and again while others append and seal,
until there is a file STOP, and then once more. After the first time it makes the file STOP.MODULE. A run has in `bytes` the sum of the ticks of its samples."""

import hashlib
import os
import sys

import tables

module, page, stop = sys.argv[1:]
exec(tables.block(page, module))


def sealed():
    """How many runs are sealed, by the names of the files."""
    return sum(int(name.split("-")[3].split(".")[0]) for _, _, names in os.walk("runs_store/runs") for name in names)


before, rounds, last = set(), 0, False
while not last:
    last = os.path.exists(stop)
    least = sealed()
    _, runs = tables.rows(read("runs"), ["run_id", "bytes"])  # noqa: F821: the block defines it
    _, samples = tables.rows(read("samples"), ["run_id", "ticks"])  # noqa: F821
    ids = {run_id for run_id, _ in runs}
    if len(ids) != len(runs):
        sys.exit(f"{len(runs) - len(ids)} of {len(runs)} runs are there twice")
    if len(ids) < least:
        sys.exit(f"{len(ids)} runs, and {least} were sealed before")
    if before - ids:
        sys.exit(f"{len(before - ids)} runs are gone, {min(before - ids)} is one")
    sums = {}
    for run_id, ticks in samples:
        if run_id in sums:
            sys.exit(f"the samples of run {run_id} are there twice")
        sums[run_id] = sum(ticks)
    for run_id, total in runs:
        if sums.get(run_id) != total:
            sys.exit(f"run {run_id}: its samples make {sums.get(run_id)}, want {total}")
    if not rounds:
        open(f"{stop}.{module}", "w").close()
    before, rounds = ids, rounds + 1
print(rounds, len(before), hashlib.sha256("\n".join(sorted(before)).encode()).hexdigest())
