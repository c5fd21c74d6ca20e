"""generated.py NOTEBOOK OUT: executes a copy of a notebook that `neurolens notebook` wrote, and prints as JSON which runs it is about and what
its charts show. The copy with its outputs goes to OUT."""

import json
import sys

import drawn
import nbformat

path, out = sys.argv[1:]
with open(path, encoding="utf-8") as f:
    text = f.read()
if nbformat.writes(nbformat.reads(text, as_version=4)).rstrip("\n") != text.rstrip("\n"):
    sys.exit("Jupyter would save the notebook in another way")
charts, ids, pictures = drawn.execute(path, out, "[row[0] for row in runs.select('run_id').fetchall()]")
print(json.dumps({"runs": ids, "charts": charts, "pictures": pictures}))
