"""notebook.py NOTEBOOK WANT OUT: executes a copy of a notebook of the fixtures, whose store NEUROLENS_STORE names, and compares its tables
and charts with the answers of `neurolens query` in the JSON file WANT. The copy with its outputs goes to OUT."""

import json
import sys

import drawn

path, want, out = sys.argv[1:]
with open(want, encoding="utf-8") as f:
    want = json.load(f)

ROWS = "(lambda table: table.to_dicts() if hasattr(table, 'to_dicts') else table.to_dict('records'))"
marks = ", 'marks': [row for rows in chart.to_dict()['datasets'].values() for row in rows if row['part'] == 'mark']" if "marks" in want else ""
charts, tables, pictures = drawn.execute(path, out, f"{{'overview': {ROWS}(overview), 'contents': {ROWS}(contents){marks}}}")

if not want:  # that it can be executed is enough
    print(pictures, "pictures")
    sys.exit()
(overview,) = tables["overview"]
drawn.same("overview", [overview[name] for name in want["overview"]], list(want["overview"].values()))
drawn.same("contents", sorted(map(list, (row.values() for row in tables["contents"]))), want["contents"])

by_batch, history, distribution, order = charts
day = 24 * 60 * 60
drawn.same("by batch size", sorted(by_batch["bars"]), want["by_batch"])
drawn.same("history", sorted([label, round(x * day, 3), y, low, high] for label, x, y, low, high in history["bars"]), want["history"])
samples = want["samples"]
((_, x, y),) = distribution["lines"]
drawn.same("distribution", x[1:], sorted(samples))
drawn.same("shares", y[1:], [(i + 1) / len(samples) for i in range(len(samples))])
((_, x, y),) = order["lines"]
drawn.same("samples", y, samples)
drawn.same("their order", x, [float(i) for i in range(len(samples))])

if marks:
    drawn.same("marks of Altair", [[m["series"], float(m["x"]), float(m["y"])] for m in tables["marks"]], want["marks"])
drawn.same("pictures", pictures, 4 if marks else 3)
print(pictures, "pictures,", len(want["by_batch"]), "and", len(want["history"]), "bars and", len(samples), "samples are those of query")
