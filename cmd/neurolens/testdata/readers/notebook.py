"""notebook.py NOTEBOOK WANT OUT: executes a copy of a notebook, whose store NEUROLENS_STORE names, and compares its table
by_batch with JSON lines. The copy with its outputs goes to OUT."""

import base64
import io
import json
import sys

import matplotlib.image
import nbclient
import nbformat

path, want, out = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
nbformat.validate(notebook)
if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells):
    sys.exit("the notebook has outputs: clear them")
notebook.cells.append(nbformat.v4.new_code_cell("print(by_batch.to_json(orient='records', double_precision=15))"))
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, out)

outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
noise = [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
if noise:
    sys.exit(f"the notebook says {noise}")
pictures = [o.data["image/png"] for o in outputs if "image/png" in o.get("data", {})]
if len(pictures) != 3:
    sys.exit(f"{len(pictures)} pictures, want 3")
for picture in pictures:
    if matplotlib.image.imread(io.BytesIO(base64.b64decode(picture)))[:, :, :3].std() < 0.02:
        sys.exit("a picture is blank")
got = json.loads(outputs[-1].text)
with open(want, encoding="utf-8") as lines:
    wanted = [json.loads(line) for line in lines]
if len(got) != len(wanted) or not wanted:
    sys.exit(f"{len(got)} rows, want {len(wanted)}")
for row, want_row in zip(got, wanted):
    if row.keys() != want_row.keys() or any(isinstance(v, str) and v != row[k] or not isinstance(v, str) and abs(v - row[k]) > 1e-9 * abs(v) for k, v in want_row.items()):
        sys.exit(f"{row}, want {want_row}")
print(len(pictures), "pictures,", len(got), "rows are equal")
